"""``anchorwords edit``: rename, merge, drop, split, reduce and reorder topics of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._printable import printable
from .console import remark
from .options import loaded


def edit(
    model: Annotated[Path, typer.Argument(help="Model folder, as fit writes it.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the new model.")],
    merge: Annotated[
        list[str] | None, typer.Option(help="Merge topics into one, such as 3,7. May be repeated.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave topics out, such as 5 or 5,6. May be repeated.")] = None,
    rename: Annotated[
        list[str] | None, typer.Option(help="Name a topic, such as 2='space flight'. May be repeated.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Name topics by a JSON file of labels, as the explorer's page exports it.")
    ] = None,
    reduce: Annotated[int | None, typer.Option(help="Merge similar topics until N are left.", metavar="N")] = None,
    order: Annotated[str | None, typer.Option(help="Put these topics first, in this order, such as 4,1.")] = None,
    words: Annotated[int, typer.Option(help="Words listed per topic.", min=1)] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="Print the topics as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Edit the topics of a model and write a new one.

    Topics are given by the ids that "anchorwords topics" lists. Edits are applied in this order: labels, merge, drop,
    reduce, order, rename. A merged topic has the id of the first topic listed.
    """
    from ..edit.labels import read_labels
    from ..edit.topics import drop_topics, merge_topics, reduce_topics, rename_topics, reorder_topics
    from ..storage.model_folder import require_writable_target

    if not (merge or drop or rename or labels is not None or reduce is not None or order):
        raise typer.BadParameter("nothing to edit: give --merge, --drop, --rename, --labels, --reduce or --order.")
    groups = [_topics(text, "--merge") for text in merge or ()]
    dropped = [topic for text in drop or () for topic in _topics(text, "--drop")]
    first = None if order is None else _topics(order, "--order")
    names = dict(_name(text) for text in rename or ())
    require_writable_target(output)
    edited: Any = loaded(model)
    if labels is not None:
        edited = rename_topics(edited, read_labels(labels))
    if groups:
        edited = merge_topics(edited, groups)
    if dropped:
        edited = drop_topics(edited, dropped)
    if reduce is not None:
        edited = reduce_topics(edited, reduce)
    if first is not None:
        edited = reorder_topics(edited, first)
    if names:
        edited = rename_topics(edited, names)
    edited.save(output)
    _show(edited, output, words, as_json, quiet)


def _topics(text: str, option: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{option} takes topic ids such as 3,7, but got {text!r}.") from None


def _name(text: str) -> tuple[int, str]:
    number, between, label = text.partition("=")
    if not between or not number.strip().isdecimal():
        raise typer.BadParameter(f"--rename takes a topic id and a name, such as 2='space flight', but got {text!r}.")
    return int(number), label


def _show(edited: Any, output: Path, words: int, as_json: bool, quiet: bool) -> None:
    from ..interpret.naming import ranking_for, topic_names
    from ..interpret.topic_words import by_prevalence, top_words
    from .output import print_json

    record = edited.model_
    names, listed = topic_names(record), top_words(record, words, ranking=ranking_for(record))
    rows = [
        {
            "topic": record.ids[k],
            "label": names[k],
            "prevalence": float(record.prevalence[k]),
            "words": listed[k],
        }
        for k in by_prevalence(record)
    ]
    if as_json:
        print_json({"model": str(output), "topics": rows})
    elif not quiet:
        for row in rows:
            line = f"{row['topic']:>4}  {row['prevalence']:6.1%}  {row['label']}: {' '.join(row['words'])}"
            typer.echo(printable(line))
    remark(f"{record.n_components} topics written to {output}", quiet)

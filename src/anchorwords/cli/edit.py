"""``anchorwords edit``: rename, merge, drop, split, reduce and reorder topics of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._markdown import separator_of
from .._printable import printable
from ..records.table import counted
from .console import remark
from .options import Jobs, given_options, loaded, opened, record_of, with_reading

if TYPE_CHECKING:
    from ..model import TopicModel


@with_reading
def edit(
    model: Annotated[Path, typer.Argument(help="Model folder, as fit writes it.")],
    reading: dict[str, Any],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the new model.")],
    labels: Annotated[
        Path | None, typer.Option(help="Name topics by a JSON file of labels, as the explorer's page exports it.")
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TOPIC[:N]",
            help="Split a topic into N sub-topics, such as 4:3; into 2 without a number. Needs --corpus. May be repeated.",
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Documents that --split learns sub-topics from, usually those of the fit: whatever fit reads, or a corpus "
            "folder; - is standard input.",
        ),
    ] = None,
    merge: Annotated[
        list[str] | None, typer.Option(help="Merge topics into one, such as 3,7. May be repeated.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave topics out, such as 5 or 5,6. May be repeated.")] = None,
    reduce: Annotated[
        int | None,
        typer.Option(min=1, help="Merge similar topics until N are left; topics --tree draws which ones.", metavar="N"),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="Put these topics first, in this order, such as 4,1. This orders the columns that transform and "
            "export write; tables list topics by prevalence."
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(
            help="Name a topic, such as 2='space flight'; an empty name, such as 2=, brings the automatic name back. May be "
            "repeated."
        ),
    ] = None,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words to show per topic.")] = 8,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the topics as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
) -> None:
    """Edit the topics of a model and write a new one.

    Topics are given by the ids that "anchorwords topics" lists. Edits are applied in this order: labels, split, merge, drop,
    reduce, order, rename. A merged topic has the id of the first topic listed. Sub-topics get ids that no topic ever had,
    counted up from the largest one: split topic 4 of a model with topics 0 to 19, and its sub-topics are 20 and 21, which
    later edits of the same command can name. "anchorwords topics --history" lists the edits of a model.

    Example: anchorwords edit news-model -o news-edited --merge 3,7 --drop 5 --rename 2='space flight'

    Example: anchorwords edit news-model -o news-split --split 4:3 --corpus news.csv --text-column text
    """
    from ..edit.labels import read_labels
    from ..edit.topics import drop_topics, merge_topics, reduce_topics, rename_topics, reorder_topics
    from ..model import as_topic_model
    from ..storage.model_folder import require_writable_target, write_model
    from .console import working

    if not (merge or drop or rename or labels is not None or split or reduce is not None or order):
        raise typer.BadParameter(
            "nothing to edit: give --merge, --drop, --rename, --labels, --split, --reduce or --order."
        )
    splits = [_split(text) for text in split or ()]
    _check_documents(bool(splits), corpus, reading)
    groups = [_topics(text, "--merge") for text in merge or ()]
    dropped = [topic for text in drop or () for topic in _topics(text, "--drop")]
    first = None if order is None else _topics(order, "--order")
    names = dict(_name(text) for text in rename or ())
    require_writable_target(output)
    if model.exists() and output.exists() and output.samefile(model):
        raise typer.BadParameter(f"--output {output} is the model to edit, which stays as it is: name another folder.")
    replacing = (output / "model.json").exists()
    fitted: Any = loaded(model, corpus, quiet) if splits else record_of(model)
    edited = fitted
    if labels is not None:
        edited = rename_topics(edited, read_labels(labels))
    if splits and corpus is not None:
        from .. import split_topic  # imports what a fit needs, which the other edits do not

        as_topic_model(fitted).position(splits[0][0])  # an id that is not there is reported before documents are read
        with opened(corpus, reading, quiet, jobs, like=fitted) as documents, working("Splitting", quiet):
            for topic, into in splits:
                edited = split_topic(edited, topic, documents, into, n_jobs=jobs)
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
    before, after = as_topic_model(fitted), as_topic_model(edited)
    write_model(output, after)
    for one in after.edits[len(before.edits) :]:
        remark(one.sentence(), quiet)
    _show(after, output, replacing, words, as_json, quiet)


def _check_documents(splitting: bool, corpus: str | None, reading: dict[str, Any]) -> None:
    """Raise BadParameter unless there are documents if, and only if, a topic is to be split."""
    if splitting and corpus is None:
        raise typer.BadParameter("--split learns sub-topics from documents: name them with --corpus")
    if not splitting and corpus is not None:
        raise typer.BadParameter("--corpus is read for --split only: give both, or none")
    if not splitting and (given := given_options(reading)):
        raise typer.BadParameter(
            f"{', '.join(given)}: options that say how to read documents, which only --split needs: leave them out"
        )


def _split(text: str) -> tuple[int, int]:
    """The topic to split, and the number of sub-topics."""
    topic, between, number = text.partition(":")
    parts = (topic, number) if between else (topic,)
    if not all(part.strip().isdecimal() for part in parts) or (between and int(number) < 2):
        raise typer.BadParameter(
            f"--split takes a topic id and a number of sub-topics from 2 on, such as 4:3, but got {text!r}."
        )
    return int(topic), int(number) if between else 2


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


def _show(record: TopicModel, output: Path, replacing: bool, words: int, as_json: bool, quiet: bool) -> None:
    from ..interpret.naming import topic_names
    from ..interpret.topic_words import by_prevalence, ranking_for, top_words
    from ..records.text import shortened
    from .output import print_json, written_to

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
            # An automatic name would repeat the words after it.
            label = shortened(record.labels[record.position(row["topic"])]) if record.labels is not None else ""
            text = separator_of(row["words"]).join(row["words"])
            line = f"{row['topic']:>4}  {row['prevalence']:6.1%}  {f'{label}: ' if label else ''}{text}"
            typer.echo(printable(line))
    remark(f"{counted(record.n_components, 'topic')} {written_to(output, replacing)}", quiet)

"""``anchorwords groups``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.table import counted
from .drawing import draw, require_drawable
from .options import (
    Jobs,
    Json,
    Quiet,
    Source,
    Spreadsheet,
    TopicIds,
    given_options,
    loaded,
    opened,
    parsed_ids,
    record_of,
    with_reading,
)
from .output import print_json, suffix_of, table_lines

if TYPE_CHECKING:
    from ..interpret.given_proportions import SavedProportions
    from ..model import TopicModel

# Options of reading that also say how a table of topic proportions is read, or do no harm.
_OF_TABLES = ("format", "separator", "list_columns", "columns", "header")


@with_reading
def groups(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Column of the documents, or of the table of topic proportions, that names their group; documents without "
            "a value are left out, and those with a list of values count in each group.",
        ),
    ],
    reading: dict[str, Any],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write all groups and topics to this .csv or .tsv file, whole or not at all."
        ),
    ] = None,
    topics: TopicIds = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Topics to show per group: those that stand out most. Default: 3, or all topics of --topics.",
            show_default=False,
        ),
    ] = None,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words to show per topic.")] = 6,
    split: Annotated[
        str | None,
        typer.Option(
            help="Split the values of the column at this separator, such as ';': a document counts in each group."
        ),
    ] = None,
    min_docs: Annotated[
        int, typer.Option("--min-docs", min=1, help="Leave out groups with fewer documents; 1 keeps them all.")
    ] = 5,
    order: Annotated[
        str,
        typer.Option(
            help="Order of the groups: size, natural (by label), or auto, which is natural for numbers and dates."
        ),
    ] = "auto",
    level: Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.")] = 0.9,
    by_tokens: Annotated[bool, typer.Option("--by-tokens", help="Weight documents by their number of tokens.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw groups and topics to this .svg, .png or .pdf file; needs matplotlib."),
    ] = None,
    spreadsheet: Spreadsheet = False,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how prevalent topics are in groups of documents: by year, by author, by any label.

    The share of a topic in a group is its mean over the documents, with an interval that says how far the mean of other
    such documents might lie. Shown are the topics whose share in the group exceeds that in all groups together most;
    --json and --output hold all of them.

    The source may also be a table of topic proportions that anchorwords transform has written with --columns (.csv, .tsv,
    .jsonl or .parquet), which takes no text to be read again. It has a column topic_N for each topic N of the model;
    .jsonl has a list of the topics in their order. Rows that equal the prevalence of the topics are taken for documents
    without a known word and left out. Such a table does not hold numbers of tokens, so that --by-tokens needs the documents.

    Example: anchorwords groups news-model news.csv --text-column text --by year

    Example: anchorwords groups news-model news-corpus --by section --plot sections.svg

    Example: anchorwords groups papers-model papers.csv --text-column abstract --by subjects --split ';'

    Example: anchorwords groups news-model news-topics.csv --by year
    """
    from .. import prevalence_by, top_words
    from ..export.lines import write_lines
    from ..interpret.given_proportions import blocks_of
    from ..interpret.prevalence import ORDERS, grouped
    from ..interpret.topic_words import ranking_for
    from ..storage.writing import file_written_whole, require_writable_file
    from .console import remark, remark_on_left_out, working
    from .listings import groups_as_listing
    from .tables import print_listing

    wanted = None if topics is None else parsed_ids(topics)
    suffix = None if output is None else suffix_of(output, (".csv", ".tsv"))
    if spreadsheet and output is None:
        raise typer.BadParameter("--spreadsheet is about the table that --output writes: give both")
    if order not in ORDERS:
        raise typer.BadParameter(f"--order must be one of {', '.join(ORDERS)}, but is {order}")
    if split == "":
        raise typer.BadParameter("--split must be at least one character, such as ';', but is empty")
    if not 0.0 < level < 1.0:
        raise typer.BadParameter(f"--level must be between 0 and 1, such as 0.9, but is {level}")
    require_drawable(plot)
    if output is not None:
        require_writable_file(output)
    options: dict[str, Any] = {"separator": split, "min_docs": min_docs, "order": order, "level": level}
    record: TopicModel
    if (saved := _saved(source, reading, by_tokens)) is not None:
        record = record_of(model)
        _require_topics(record, wanted)
        saved.require_topics_of(record)
        with working("Topic proportions", quiet):
            labels = saved.labels(by, (reading["list_columns"] or {}).get(by))
            parts = blocks_of(saved.blocks(record), record, saved.where)
            found = grouped(record, labels, parts, column=by, **options)
        remark(f"topic proportions are those of {source}", quiet)
    else:
        fitted = loaded(model, source, quiet)
        record = fitted.model_
        _require_topics(record, wanted)
        with opened(source, reading, quiet, jobs, like=fitted, column=by) as corpus, working("Documents", quiet):
            found = prevalence_by(fitted, corpus, by, by_tokens=by_tokens, n_jobs=jobs, **options)
    rows = [row for row in found.rows() if wanted is None or row["topic"] in wanted]
    if output is not None and suffix is not None:
        with file_written_whole(output) as partial:
            write_lines(partial, table_lines(rows, suffix, spreadsheet))
        remark(
            f"{counted(len(found.groups), 'group')} x {counted(len(rows) // len(found.groups), 'topic')} written to "
            f"{output}",
            quiet,
        )
    if plot is not None:
        from ..plot.groups import groups as figure

        draw(lambda: figure(found, wanted), plot, quiet)
    if as_json:
        about = {"level": found.level, "documents_without_label": found.n_without_group,
                 "documents_without_known_words": found.n_without_words, "min_docs": found.min_docs,
                 "small_groups": found.n_small_groups, "documents_in_small_groups": found.n_in_small_groups}  # fmt: skip
        print_json(about | {"rows": rows})
    elif output is None:
        listed = top_words(record, words, ranking=ranking_for(record))
        words_of = dict(zip(record.ids, listed, strict=True))
        shown = top or (3 if wanted is None else len(wanted))
        print_listing(groups_as_listing(found, words_of, shown, by_tokens, wanted), apart=False)
    remark_on_left_out({"without a group": found.n_without_group, "without a known word": found.n_without_words}, quiet)
    if found.n_small_groups:
        remark(
            f"left out: {counted(found.n_small_groups, 'group')} of fewer than {min_docs} documents, with "
            f"{counted(found.n_in_small_groups, 'document')} in no other group; --min-docs 1 keeps them",
            quiet,
        )


def _saved(source: str, reading: dict[str, Any], by_tokens: bool) -> SavedProportions | None:
    """The table of topic proportions that a source is, or None if it is documents."""
    from ..interpret.given_proportions import saved_proportions

    if source == "-" or reading["text_column"] is not None or reading["header"] is False:
        return None
    saved = saved_proportions(source, reading["format"], reading["separator"])
    if saved is None:
        return None
    given = given_options({name: value for name, value in reading.items() if name not in _OF_TABLES})
    if given:
        raise typer.BadParameter(
            f"{source} holds topic proportions, but {', '.join(given)} says how documents are read: leave it out"
        )
    if by_tokens:
        raise typer.BadParameter(
            f"--by-tokens needs the documents, because {source} does not hold their numbers of tokens: leave it out"
        )
    return saved


def _require_topics(model: TopicModel, wanted: list[int] | None) -> None:
    """Report an unknown id before documents are read."""
    for topic in wanted or ():
        model.position(topic)

"""``anchorwords groups``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Jobs, Json, Quiet, Source, Spreadsheet, opened, with_reading
from .output import print_json, suffix_of, table_lines


@with_reading
def groups(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    labels: Annotated[
        Path,
        typer.Option(
            help="File with one label per document, in their order: one per line, or a column of a .csv or .tsv table. "
            "Documents with an empty label are left out.",
        ),
    ],
    reading: dict[str, Any],
    label_column: Annotated[
        str | None,
        typer.Option(
            help="Column of labels in a table: by number from 1, or by name where the first line has the names."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write all groups and topics to this .csv or .tsv file, whole or not at all."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Topics to show per group: those that stand out most.")] = 3,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words to show per topic.")] = 6,
    level: Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.")] = 0.9,
    by_tokens: Annotated[bool, typer.Option("--by-tokens", help="Weight documents by their number of tokens.")] = False,
    spreadsheet: Spreadsheet = False,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say how prevalent topics are in groups of documents: by year, by author, by any label.

    The share of a topic in a group is its mean over the documents, with an interval that says how far the mean of other
    such documents might lie. Shown are the topics whose share in the group exceeds that in all groups together most;
    --json and --output hold all of them.

    Example: anchorwords groups news-model news.txt --labels years.txt

    Example: anchorwords groups 20ng-model docword.20ng.txt.gz --labels labels.20ng.tsv --label-column 2 -o shares.csv
    """
    from .. import load_model, prevalence_by, top_words
    from ..export.lines import write_lines
    from ..presets import ranking_for
    from ..storage.writing import file_written_whole, require_writable_file
    from .console import remark, working
    from .listings import groups_as_listing
    from .tables import print_listing

    suffix = None if output is None else suffix_of(output, (".csv", ".tsv"))
    if spreadsheet and output is None:
        raise typer.BadParameter("--spreadsheet is about the table that --output writes: give both")
    if not 0.0 < level < 1.0:
        raise typer.BadParameter(f"--level must be between 0 and 1, such as 0.9, but is {level}")
    if output is not None:
        require_writable_file(output)
    fitted = load_model(model)
    given = read_labels(labels, label_column)
    with opened(source, reading, quiet, jobs, like=fitted) as corpus, working("Documents", quiet):
        _require_as_many(labels, len(given), corpus.n_docs)
        found = prevalence_by(fitted, corpus, given, level=level, by_tokens=by_tokens, n_jobs=jobs)
    if output is not None and suffix is not None:
        with file_written_whole(output) as partial:
            write_lines(partial, table_lines(found.rows(), suffix, spreadsheet))
        remark(f"{len(found.groups)} groups x {fitted.n_components} topics written to {output}", quiet)
    if as_json:
        about = {"level": found.level, "documents_without_label": found.n_without_group,
                 "documents_without_known_words": found.n_without_words}  # fmt: skip
        print_json(about | {"rows": found.rows()})
    elif output is None:
        listed = top_words(fitted, words, ranking=ranking_for(fitted))
        print_listing(groups_as_listing(found, listed, top, by_tokens), apart=False)
    remark(
        f"left out: {found.n_without_group:,} documents without a label, {found.n_without_words:,} without a known word",
        quiet,
    )


def read_labels(path: Path, column: str | None) -> list[Any]:
    """Labels in the order of the file, None where empty; whole numbers, such as years, where all are."""
    from ..corpus.files import bare_name
    from ..corpus.readers import columns_of_csv, columns_of_tsv, lines_of
    from ..exceptions import InputError

    name = bare_name(path)
    if name.endswith((".csv", ".tsv")):
        if column is None:
            raise typer.BadParameter(f"{path} is a table: say which column holds the labels, with --label-column")
        comma = name.endswith(".csv")
        found = (columns_of_csv if comma else columns_of_tsv)(path, column, None, None, "," if comma else "\t")
    elif column is not None:
        raise typer.BadParameter(f"--label-column belongs to a table, but {path} does not end in .csv or .tsv")
    else:
        found = lines_of(path)
    try:
        labels = [str(label).strip() for _, label in found]
    except InputError as error:
        raise type(error)(str(error).replace("text_column", "--label-column")) from None
    if all(not label or (label.isdecimal() and str(int(label)) == label) for label in labels):
        return [int(label) if label else None for label in labels]
    return [label or None for label in labels]


def _require_as_many(labels: Path, n_labels: int, n_docs: int) -> None:
    from ..exceptions import InputError

    if n_labels != n_docs:
        hint = (
            ": does its first line name the columns? Then call the column by its name"
            if n_labels == n_docs + 1
            else ": there must be one for each document, in their order, empty where a document has none"
        )
        raise InputError(f"{labels} has {n_labels:,} labels for {n_docs:,} documents{hint}.")

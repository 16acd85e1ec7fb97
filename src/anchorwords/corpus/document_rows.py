"""The documents of a source of any kind that has documents, row by row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import readers, tables
from .files import Watch
from .parquet import rows_of_parquet
from .readers import Rows
from .reading_options import ReadingOptions, ReadProgress
from .selection import TableShape


def rows_in(source: Any, kind: str, options: ReadingOptions, shape: TableShape, watch: Watch) -> Rows:
    """Return the documents of a source of any kind, each with its id and the values of the columns to keep."""
    choice, separator = options.choice, options.separator
    if kind == "frame":
        return tables.rows_of_frame(source, choice, shape)
    if kind == "iterable":
        return tables.rows_of_items(source, choice, shape)
    path = Path(source)
    if kind == "folder":
        return readers.files_of(path, options.pattern, watch)
    if kind == "baskets":
        return readers.baskets_of(path, separator or "\t", watch)
    if kind == "csv":
        return tables.rows_of_csv(path, choice, shape, options.header, separator or ",", watch)
    if kind == "tsv":
        return tables.rows_of_tsv(path, choice, shape, options.header, separator or "\t", watch)
    if kind == "jsonl":
        return tables.rows_of_json_lines(path, choice, shape, watch)
    if kind == "parquet":
        return rows_of_parquet(path, choice, shape, watch)
    return readers.lines_of(path, watch)


def watchers(progress: ReadProgress | None) -> tuple[Watch, Callable[[int], None]]:
    """What the reader of bytes and the counter of documents call: together they make the progress."""
    share: list[float | None] = [None]

    def watch(value: float) -> None:
        share[0] = value

    def report(n_docs: int) -> None:
        if progress is not None:
            progress(n_docs, share[0])

    return watch, report

"""A table of documents in a file of its own, for sources that have no columns: counts, plain text and baskets."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import CorpusFormatError, InputError
from .columns import Column
from .document_rows import rows_in
from .files import short, shown
from .formats import TABLE_FORMATS, format_of
from .parts import Part, hashes_of, require_distinct
from .readers import batches
from .reading_options import ReadingOptions
from .selection import TableShape
from .table_builder import TableBuilder

# Said of a table that has one row too many or too few.
_HEADER = " Say whether its first line names the columns (header, --header or --no-header)."


@dataclass(frozen=True)
class Attached:
    """The columns of a table of documents, or nothing.

    Attributes
    ----------
    columns : dict
        The columns to keep.
    title : str or None
        The column that names documents.
    ids : sequence of str or None
        The id of each row.
    n_rows : int or None
        Number of rows; None if there is no table.
    name : str
        What to call the table in a message.
    by_id : bool
        Whether rows are matched to documents by id; otherwise they are in the order of the documents.
    """

    columns: Mapping[str, Column]
    title: str | None = None
    ids: Sequence[str] | None = None
    n_rows: int | None = None
    name: str = ""
    by_id: bool = False

    def to(self, part: Part, first: int) -> Part:
        """Return a part, whose first document has this number, with the ids of the table."""
        if self.ids is None or self.by_id:
            return part
        return part._replace(ids=self.ids[first : first + len(part.lengths)])

    def columns_for(self, n_docs: int, doc_ids: Sequence[str] | None) -> Mapping[str, Column]:
        """Return the columns for the documents that were read; InputError if they do not fit."""
        if self.n_rows is None:
            return {}
        if not self.by_id:
            if self.n_rows != n_docs:
                raise InputError(
                    f"{self.name} has {self.n_rows:,} rows for {n_docs:,} documents: there must be one for each, in their "
                    f"order.{_HEADER if abs(self.n_rows - n_docs) == 1 else ''}"
                )
            return self.columns
        rows = {name: row for row, name in enumerate(self.ids or ())}
        missing = [name for name in doc_ids or () if name not in rows]
        if missing:
            raise InputError(
                f"{self.name} has no row with the id {short(missing[0])}, and {len(missing) - 1:,} further documents have "
                "none either: add them, or check the column of ids (id_column, --id-column)."
            )
        places = np.array([rows[name] for name in doc_ids or ()], dtype=np.int64)
        return {name: column.take(places) for name, column in self.columns.items()}


def attached_table(options: ReadingOptions, kind: str) -> Attached:
    """Return the table that was given as ``table``.

    Parameters
    ----------
    options : ReadingOptions
    kind : str
        The format of the documents. Those of a folder are matched by the names of their files; others are in order.
    """
    table, choice = options.table, options.choice
    if table is None:
        return Attached({})
    by_id = kind == "folder"
    if by_id and choice.ids is None:
        raise InputError(
            "documents in a folder are found in their table by the names of the files: name the column that holds these "
            "(id_column, --id-column)."
        )
    choice = choice._replace(text=None, columns=choice.columns or (None if not choice.separators else ()))
    name = shown(table) if isinstance(table, (str, os.PathLike)) else "the table of documents"
    if isinstance(table, Mapping):
        table = _items(table, name)
    shape = TableShape()
    builder = TableBuilder(shape, choice.separators)
    ids: list[str] = []
    n_rows = 0
    kind_of_table = format_of(table)
    if kind_of_table not in (*TABLE_FORMATS, "iterable"):
        raise InputError(
            f"table must be a table (.csv, .tsv, .jsonl, .parquet or a data frame), but {name} is {kind_of_table}."
        )
    plain = options._replace(choice=choice, separator=None)  # which would be that of the documents
    for batch in batches(rows_in(table, kind_of_table, plain, shape, lambda _: None)):
        builder.add_values(len(batch.documents), batch.values)
        ids += batch.ids or ()
        n_rows += len(batch.documents)
    if n_rows == 0:
        raise CorpusFormatError(f"{name} holds no rows.")
    require_distinct([hashes_of(ids)], lambda: ids, name)
    return Attached(builder.finish(), shape.title, ids if choice.ids is not None else None, n_rows, name, by_id)


def _items(table: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the rows of columns that are in memory."""
    columns = {str(column): list(values) for column, values in table.items()}
    lengths = {column: len(values) for column, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns of {name} must have one value for each document, but have {lengths}.")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

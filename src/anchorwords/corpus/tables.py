"""Documents of tables: CSV, TSV, JSON lines, data frames and Arrow batches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ..exceptions import CorpusFormatError, InputError
from .arrow_values import values_of
from .csv_rows import csv_rows
from .files import Watch, lines, sentence, short
from .readers import BATCH_DOCUMENTS, Rows, as_document, as_id
from .selection import ColumnChoice, Selection, TableShape, as_number, joined, select

# Characters of a line of JSON from which on its values are counted before they are made, and how many there may be: an empty
# list takes three characters, and twenty times as many bytes of memory.
_LONG_JSON = 1 << 24
_JSON_VALUES = 1 << 23
_JSON_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)

# What may separate the columns of a table that seems to have but one.
_SEPARATORS = (";", "\t", "|")


def rows_of_tsv(
    path: Path, choice: ColumnChoice, shape: TableShape, header: bool | None, separator: str, watch: Watch | None = None
) -> Rows:
    """Read a table whose fields are separated by tabs and never quoted."""
    rows = ((number, line.split(separator)) for number, line in lines(path, watch))
    return _rows_of_fields(path, rows, choice, shape, header)


def rows_of_csv(
    path: Path, choice: ColumnChoice, shape: TableShape, header: bool | None, separator: str, watch: Watch | None = None
) -> Rows:
    """Read a table whose fields are separated by commas and may be quoted, line ends included."""
    return _rows_of_fields(path, csv_rows(path, lines(path, watch), separator), choice, shape, header)


def _rows_of_fields(
    path: Path, rows: Iterator[tuple[int, list[str]]], choice: ColumnChoice, shape: TableShape, header: bool | None
) -> Rows:
    _, first = next(rows, (0, []))
    if not first:
        raise CorpusFormatError(f"{path} holds no documents: its first line is empty.")
    if len(first) == 1 and (other := next((mark for mark in _SEPARATORS if mark in first[0]), None)) is not None:
        raise InputError(
            f"{path} has one column, but its first line holds {other!r}: is that what separates columns? Say so (separator, "
            "--separator), or read it as text (format='text', --format text)."
        )
    if header is None:
        numbers = [as_number(key) is not None for key in choice.given]
        header = not all(numbers) or (choice.columns is None and not numbers) or (not choice.text and "text" in first)
    shape.typed = False
    found = select(f"the first line of {path}", first, choice, shape, named=header)
    if not header:
        rows = chain([(1, first)], rows)
    one = found.text[0] if len(found.text) == 1 else None
    for number, row in rows:
        if not row:  # a blank line
            continue
        if not found.n_needed <= len(row) <= len(first):
            raise CorpusFormatError(
                f"{path}, line {number}: {len(row)} columns, but the first line has {len(first)}: check the line, its "
                "quotes, and what separates the columns (separator, --separator)."
            )
        document = row[one] if one is not None else joined([row[at] for at in found.text], "")
        values = tuple([row[at] for at in found.kept]) if found.kept else ()
        yield None if found.ids is None else row[found.ids], document, values


# ---- JSON lines.


def rows_of_json_lines(path: Path, choice: ColumnChoice, shape: TableShape, watch: Watch | None = None) -> Rows:
    """Read one JSON value per line: an object with members, a text, or a list of tokens."""
    keep = MemberRows(choice, shape)
    for number, line in lines(path, watch):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        if len(line) > _LONG_JSON and _values_at_most(line) > _JSON_VALUES:
            raise CorpusFormatError(
                f"{where}: more than {_JSON_VALUES} values in one line: expected one document per line."
            )
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusFormatError(f"{where}: not JSON ({sentence(error)}): expected one value per line.") from None
        if isinstance(value, dict):
            yield keep.row(value, where)
            continue
        if choice.names_a_column:
            wanted = short(str(next(iter(choice.given), "text")))
            raise CorpusFormatError(f"{where}: no member {wanted}, as it is no object (text_column, --text-column).")
        yield None, as_document(value, where), ()
    keep.require_seen(str(path))


class MemberRows:
    """Documents that are objects with named members: those of JSON lines, or dicts.

    Columns are found by name; a member that an object lacks is missing in its row. Text must be there.
    """

    def __init__(self, choice: ColumnChoice, shape: TableShape) -> None:
        self._text = [] if choice.text is None else [str(key) for key in choice.text] or ["text"]
        self._ids = None if choice.ids is None else str(choice.ids)
        self._all = choice.columns is None
        self._shape = shape
        title = [] if choice.title is None else [str(choice.title)]
        self._given = [*map(str, choice.columns or ()), *choice.separators, *title]
        self._unseen = set(self._given)
        for name in self._given:
            shape.place(name)
        shape.title = title[0] if title else None

    def row(self, value: Mapping[str, Any], where: str) -> tuple[str | None, Any, tuple[Any, ...]]:
        """Return the id, the document and the values of an object."""
        for column in (*self._text, *([] if self._ids is None else [self._ids])):
            if column not in value:
                option = "id_column, --id-column" if column == self._ids else "text_column, --text-column"
                raise CorpusFormatError(
                    f"{where}: no member {short(column)}: it has {', '.join(map(short, list(value)[:12])) or 'none'} "
                    f"({option})."
                )
        if self._unseen:
            self._unseen.difference_update(value)
        if self._all:
            for member in value:
                if member not in self._text and member != self._ids:
                    self._shape.place(str(member))
        document = joined_columns([value[name] for name in self._text], where)
        name = None if self._ids is None else as_id(value[self._ids], where)
        return name, document, tuple(value.get(kept) for kept in self._shape.names)

    def require_seen(self, where: str) -> None:
        """Raise InputError if a column was named that no object has."""
        if self._unseen:
            there = ", ".join(map(short, self._shape.names[:12]))
            raise InputError(
                f"no document of {where} has a member {short(min(self._unseen))}: check its name (columns, --columns); "
                f"named were {there}."
            )


def joined_columns(values: Sequence[Any], where: str) -> Any:
    """Return the document that the values of the columns of text make."""
    if len(values) == 1:
        return as_document(values[0], where)
    return joined([as_document(value, where) for value in values], where)


def _values_at_most(line: str) -> int:
    """How many values a line of JSON has at most: what is in texts does not count."""
    bare = _JSON_TEXT.sub("", line)
    return sum(bare.count(mark) for mark in ",[{")


# ---- Frames.


def is_lazy(source: Any) -> bool:
    """Whether this is a frame of polars that has not been computed; asking it for its columns would be slow."""
    return hasattr(source, "collect_schema") and hasattr(source, "collect")


def is_frame(source: Any) -> bool:
    """Whether this is a data frame (pandas, polars) or an arrow table."""
    return (
        is_lazy(source)
        or hasattr(source, "column_names")
        or (hasattr(source, "columns") and hasattr(source, "__getitem__"))
    )


def rows_of_frame(frame: Any, choice: ColumnChoice, shape: TableShape) -> Rows:
    """Read the rows of a data frame of pandas or polars, or of an arrow table."""
    if hasattr(frame, "column_names"):
        yield from _rows_of_arrow(frame, choice, shape)
        return
    keys = list(frame.columns)
    names = [str(key) for key in keys]  # those of pandas may be numbers
    found = select("the frame", names, _by_label(choice, keys), shape)
    series = [frame[keys[at]] for at in used_columns(found)]
    for number, cells in enumerate(zip(*series, strict=True), start=1):
        # A cell of polars may be a series of its own.
        plain = [cell.to_list() if hasattr(cell, "to_list") else cell for cell in cells]
        yield row_of_cells(found, plain, f"row {number}")


def _by_label(choice: ColumnChoice, labels: Sequence[Any]) -> ColumnChoice:
    """Return the choice with names in place of numbers that are labels of the frame itself."""
    numbers = {label for label in labels if isinstance(label, int)}

    def name(key: Any) -> Any:
        return str(key) if isinstance(key, int) and key in numbers else key

    text, columns = (keys if keys is None else tuple(map(name, keys)) for keys in (choice.text, choice.columns))
    return choice._replace(text=text, columns=columns, ids=name(choice.ids), title=name(choice.title))


def _rows_of_arrow(table: Any, choice: ColumnChoice, shape: TableShape) -> Rows:
    found = select("the table", list(table.column_names), choice, shape)
    part = table.select(list(dict.fromkeys(table.column_names[at] for at in used_columns(found))))
    done = 0
    for batch in part.to_batches(BATCH_DOCUMENTS) if hasattr(part, "to_batches") else [part]:
        columns = [batch.column(table.column_names[at]) for at in used_columns(found)]
        yield from arrow_rows(columns, found, "the table", done)
        done += batch.num_rows


def arrow_rows(columns: Iterable[Any], found: Selection, where: str, before: int = 0) -> Rows:
    """Read the rows of an Arrow batch, given its columns in use, numbered after those of the batches before it."""
    for number, cells in enumerate(zip(*map(values_of, columns), strict=True), start=before + 1):
        yield row_of_cells(found, cells, f"{where}, row {number}")


def used_columns(found: Selection) -> list[int]:
    """Return the positions of the columns in use: text, ids if there are any, and those kept."""
    return [*found.text, *([] if found.ids is None else [found.ids]), *found.kept]


def row_of_cells(found: Selection, cells: Sequence[Any], where: str) -> tuple[str | None, Any, tuple[Any, ...]]:
    """Return the id, the document and the values of a row, whose cells are in the order of :func:`used_columns`."""
    n_text, has_ids = len(found.text), found.ids is not None
    name = as_id(cells[n_text], where) if has_ids else None
    return name, joined_columns(cells[:n_text], where), tuple(cells[n_text + has_ids :])


# ---- Iterables.


def rows_of_items(items: Iterable[Any], choice: ColumnChoice, shape: TableShape) -> Rows:
    """Read texts, lists of tokens, or dicts with named members, from any iterable."""
    keep, has_columns = MemberRows(choice, shape), choice.names_a_column
    for number, value in enumerate(items, start=1):
        if type(value) is str and not has_columns:  # nearly always
            yield None, value, ()
            continue
        where = f"document {number}"
        if isinstance(value, Mapping):
            yield keep.row(value, where)
            continue
        if has_columns:
            raise InputError(f"{where} must be a dict with named members to have columns, but is {short(value)}.")
        yield None, as_document(value, where), ()
    keep.require_seen("the source")

"""Documents of files, frames and iterables: the text or the tokens of each, and its id.

Formats differ in how they find the documents, and in nothing else: each is an iterator of ``(id, document)``, a document
a string or a list of tokens, gathered into batches by :func:`batches`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..exceptions import CorpusFormatError, InputError
from .arrow_values import values_of
from .csv_rows import csv_rows
from .files import Watch, lines, refuse_bomb, sentence, short, shown, whole_text

# A batch is closed at so many documents or characters (tokens count as eight).
_DOCUMENTS = 1 << 13
_CHARACTERS = 1 << 22

# Characters of a line of JSON from which on its values are counted before they are made, and how many there may be: an empty
# list takes three characters, and twenty times as many bytes of memory.
_LONG_JSON = 1 << 24
_JSON_VALUES = 1 << 23
_JSON_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)

# What pandas puts in place of a missing value, by the names of their types.
_MISSING = ("NAType", "NaTType")

# What may separate the columns of a table that seems to have but one.
_SEPARATORS = (";", "\t", "|")

Document: TypeAlias = "str | list[Any]"
Documents: TypeAlias = Iterator[tuple[str | None, Document]]
Column: TypeAlias = "str | int | None"


class Batch(NamedTuple):
    """Documents that are worked on together: all strings, or all lists of tokens."""

    documents: list[Any]
    ids: list[str] | None


def batches(documents: Documents) -> Iterator[Batch]:
    """Gather documents, in their order; text and tokens do not mix."""
    ids: list[str] = []
    gathered: list[Any] = []
    size = 0
    kind: type | None = None
    for number, (name, document) in enumerate(documents, start=1):
        if document == "" and kind is list:
            document = []  # a missing value
        if kind is None and document != "":
            kind = type(document)
            gathered = [kind() for _ in gathered]
        if kind is not None and type(document) is not kind:
            raise InputError(
                f"documents must be all texts or all lists of tokens, but document {number} is a {type(document).__name__} "
                f"after a {kind.__name__}."
            )
        gathered.append(document)
        if name is not None:
            ids.append(name)
        size += 8 * len(document) if kind is list else len(document)
        if len(gathered) >= _DOCUMENTS or size >= _CHARACTERS:
            yield Batch(gathered, ids or None)
            ids, gathered, size = [], [], 0
    if gathered:
        yield Batch(gathered, ids or None)


def as_document(value: Any, where: str) -> Document:
    """A text, or a list of tokens; missing values are empty."""
    if isinstance(value, str):
        return str(value)  # not a subclass: documents must be of one type
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _MISSING:
        return ""
    if isinstance(value, (list, tuple, set, frozenset)) or (
        hasattr(value, "tolist") and getattr(value, "ndim", 1) == 1
    ):
        tokens = value.tolist() if hasattr(value, "tolist") else list(value)
        if any(isinstance(token, (list, tuple, dict, bytes)) for token in tokens):
            raise CorpusFormatError(f"{where}: tokens must be words or numbers, but one is {short(tokens)}.")
        return tokens
    what = (
        "bytes, which must be decoded first" if isinstance(value, bytes) else f"{type(value).__name__} {short(value)}"
    )
    raise CorpusFormatError(f"{where}: expected a text or a list of tokens, but found {what}.")


def as_id(value: Any, where: str) -> str:
    """An id, or a word, written as text."""
    try:
        return str(value)
    except Exception as error:  # as in short
        raise CorpusFormatError(f"{where}: {short(value)} cannot be written as text ({sentence(error)}).") from error


# ---- Files.


def lines_of(path: Path, watch: Watch | None = None) -> Documents:
    """One document a line."""
    for _, line in lines(path, watch):
        yield None, line


def baskets_of(path: Path, separator: str, watch: Watch | None = None) -> Documents:
    """One document a line, its items between separators and kept exactly as they are."""
    for _, line in lines(path, watch):
        yield None, [name for item in line.split(separator) if (name := item.strip())]


def files_of(folder: Path, pattern: str | None, watch: Watch | None = None) -> Documents:
    """One document a file, by the order of their names."""
    patterns = [pattern] if pattern else ["*.txt", "*.txt.gz", "*.txt.zst"]
    if pattern and ".." in Path(pattern).parts:
        raise InputError(f"pattern must name files inside of the folder, but is {pattern!r}: leave '..' out.")
    try:
        found = _each_once(sorted({path for one in patterns for path in folder.rglob(one) if path.is_file()}))
    except (ValueError, NotImplementedError, OSError) as error:
        raise InputError(f"pattern {pattern!r} cannot be used in {folder} ({error}): try '*.txt'.") from None
    if not found:
        endings = sorted({shown(path.suffix or path.name) for path in folder.rglob("*") if path.is_file()})
        raise CorpusFormatError(
            f"{folder} holds no file {' or '.join(patterns)}: "
            + (f"its files end in {', '.join(endings[:8])}; name a pattern that fits." if endings else "it is empty.")
        )
    packed = unpacked = 0
    for number, path in enumerate(found, start=1):
        text = whole_text(path)
        packed, unpacked = packed + path.stat().st_size, unpacked + len(text)
        refuse_bomb(folder, packed, unpacked)  # many small ones make a large one
        yield path.relative_to(folder).as_posix(), text
        if watch is not None:
            watch(number / len(found))


def _each_once(paths: list[Path]) -> list[Path]:
    """Files that are not reached a second time by a link to a folder, such as one that leads back to where it is."""
    homes: dict[Path, str] = {}
    first: dict[tuple[str, str], Path] = {}
    for path in paths:
        home = homes.get(path.parent) or homes.setdefault(path.parent, os.path.realpath(path.parent))
        known = first.setdefault((home, path.name), path)
        if len(path.parts) < len(known.parts):  # the shortest way is the one without the link
            first[home, path.name] = path
    return sorted(first.values())


def columns_of_tsv(
    path: Path, text: Column, name: Column, header: bool | None, separator: str, watch: Watch | None = None
) -> Documents:
    """Columns of a table whose fields are separated by tabs and never quoted."""
    rows = ((number, line.split(separator)) for number, line in lines(path, watch))
    return _columns_of_rows(path, rows, text, name, header)


def columns_of_csv(
    path: Path, text: Column, name: Column, header: bool | None, separator: str, watch: Watch | None = None
) -> Documents:
    """Columns of a table whose fields are separated by commas and may be quoted, line ends included."""
    return _columns_of_rows(path, csv_rows(path, lines(path, watch), separator), text, name, header)


def _columns_of_rows(
    path: Path, rows: Iterator[tuple[int, list[str]]], text: Column, name: Column, header: bool | None
) -> Documents:
    _, first = next(rows, (0, []))
    if not first:
        raise CorpusFormatError(f"{path} holds no documents: its first line is empty.")
    if len(first) == 1 and (other := next((mark for mark in _SEPARATORS if mark in first[0]), None)) is not None:
        raise InputError(
            f"{path} has one column, but its first line holds {other!r}: is that what separates columns? Say so (separator, "
            "--separator), or read it as text (format='text', --format text)."
        )
    if header is None:
        by_name = [column for column in (text, name) if isinstance(column, str) and not column.isdecimal()]
        header = bool(by_name) or (text is None and "text" in first)
    at, named = _places(path, first, header, text, name)
    fewest = max(at, -1 if named is None else named) + 1
    if not header and first:
        rows = chain([(1, first)], rows)
    for number, row in rows:
        if not row:  # a blank line
            continue
        if not fewest <= len(row) <= len(first):
            raise CorpusFormatError(
                f"{path}, line {number}: {len(row)} columns, but the first line has {len(first)}: check the line, its "
                "quotes, and what separates the columns (separator, --separator)."
            )
        yield None if named is None else row[named], row[at]


def _places(path: Path, first: list[str], header: bool, text: Column, name: Column) -> tuple[int, int | None]:
    """Positions of the columns of text and of ids."""
    shown = ", ".join(f"{i} {short(cell)}" for i, cell in enumerate(first[:12], start=1)) or "nothing"

    def place(column: str | int, what: str) -> int:
        if column not in first and (number := _as_number(column)) is not None:
            column = number
        if isinstance(column, int):
            if not 1 <= column <= len(first):
                raise InputError(
                    f"{what} must be a column of {path} from 1 to {len(first)}, but is {column}: its first line has {shown}."
                )
            return column - 1
        if column not in first or not header:
            raise InputError(f"{path} has no column {short(column)}: its first line has {shown}.")
        return first.index(column)

    if text is None:
        if header and "text" in first:
            text = "text"
        elif len(first) <= 1:
            text = 1 if first else None
        if text is None:
            raise InputError(
                f"{path} has several columns: say which holds the text (text_column, --text-column); its first line has "
                f"{shown}."
            )
    return place(text, "text_column"), None if name is None else place(name, "id_column")


def _values_at_most(line: str) -> int:
    """How many values a line of JSON has at most: what is in texts does not count."""
    bare = _JSON_TEXT.sub("", line)
    return sum(bare.count(mark) for mark in ",[{")


def _as_number(column: str | int) -> int | None:
    """The number that a column is called by, if it is one; Python refuses to read those of thousands of digits."""
    if isinstance(column, int):
        return column
    return int(column) if column.isdecimal() and len(column) < 20 else None


def objects_of_json_lines(path: Path, text: Column, name: Column, watch: Watch | None = None) -> Documents:
    """One JSON value a line: an object with a member of text or tokens, a text, or a list of tokens."""
    for number, line in lines(path, watch):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        if len(line) > _LONG_JSON and _values_at_most(line) > _JSON_VALUES:
            raise CorpusFormatError(
                f"{where}: more than {_JSON_VALUES} values in one line: expected one document a line."
            )
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusFormatError(f"{where}: not JSON ({sentence(error)}): expected one value a line.") from None
        if not isinstance(value, dict):
            if name is not None:
                raise CorpusFormatError(
                    f"{where}: no member {short(name)}, as it is no object (id_column, --id-column)."
                )
            yield None, as_document(value, where)
            continue
        wanted = "text" if text is None else str(text)
        for column in (wanted, *([] if name is None else [str(name)])):
            if column not in value:
                raise CorpusFormatError(
                    f"{where}: no member {short(column)}: it has {', '.join(map(short, list(value)[:12])) or 'none'} "
                    "(text_column, --text-column)."
                )
        yield None if name is None else str(value[str(name)]), as_document(value[wanted], where)


def named_columns(where: str, names: list[str], text: Column, name: Column) -> tuple[str, str | None]:
    """Columns of text and of ids, given by name or by number from 1."""
    shown = ", ".join(map(short, names[:12])) or "none"

    def resolved(column: str | int) -> str:
        number = _as_number(column) or 0
        if column not in names and not 1 <= number <= len(names):
            raise InputError(f"{where} has no column {short(column)}: it has {shown}.")
        found = str(column) if column in names else names[number - 1]
        if names.count(found) > 1:
            raise InputError(f"{where} has several columns called {short(found)}: give them distinct names.")
        return found

    if text is None:
        if "text" not in names and len(names) != 1:
            raise InputError(
                f"{where} has several columns: say which holds the text or the tokens (text_column, --text-column); it has "
                f"{shown}."
            )
        text = "text" if "text" in names else names[0]
    return resolved(text), None if name is None else resolved(name)


# ---- What is in memory.


def arrow_rows(batch: Any, wanted: str, named: str | None, where: str, before: int = 0) -> Documents:
    """Rows of an Arrow batch, numbered after those of the batches before it."""
    ids = [None] * batch.num_rows if named is None else map(str, values_of(batch.column(named)))
    for number, (label, value) in enumerate(zip(ids, values_of(batch.column(wanted)), strict=True), start=before + 1):
        yield label, as_document(value, f"{where}, row {number}")


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


def rows_of_frame(frame: Any, text: Column, name: Column) -> Documents:
    """A column of a frame: texts or lists of tokens."""
    if hasattr(frame, "column_names"):
        wanted, named = named_columns("the table", list(frame.column_names), text, name)
        done = 0
        part = frame.select([wanted] if named in (None, wanted) else [wanted, named])
        for batch in part.to_batches(_DOCUMENTS) if hasattr(part, "to_batches") else [part]:
            yield from arrow_rows(batch, wanted, named, "the table", done)
            done += batch.num_rows
        return
    columns = {str(column): column for column in frame.columns}  # those of pandas may be numbers
    wanted, named = named_columns("the frame", [str(column) for column in frame.columns], text, name)
    ids: Iterable[Any] = iter(lambda: None, 0) if named is None else frame[columns[named]]
    for number, (value, label) in enumerate(zip(frame[columns[wanted]], ids, strict=False), start=1):
        # A cell of polars may be a series of its own.
        value = value.to_list() if hasattr(value, "to_list") else value
        yield None if named is None else as_id(label, f"row {number}"), as_document(value, f"row {number}")


def items_of(documents: Iterable[Any]) -> Documents:
    """Texts or lists of tokens from any iterable."""
    for number, value in enumerate(documents, start=1):
        yield None, as_document(value, f"document {number}")

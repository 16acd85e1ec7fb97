"""Documents x topics in every format that holds them, written block by block, with columns of the documents if asked."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from .._printable import json_text
from ..exceptions import InputError
from ..interpret.topic_columns import is_topic_column, topic_columns
from ..storage.arrays import put_npy, write_npy
from .lines import separated, write_lines

if TYPE_CHECKING:
    from ..corpus.columns import Column

SUFFIXES = (".csv", ".tsv", ".jsonl", ".npy", ".npz", ".parquet")
TABLES = (".csv", ".tsv")
# Formats that can hold columns of the documents.
WITH_COLUMNS = (".csv", ".tsv", ".jsonl", ".parquet")
# Between the values of a list, in a cell of a table.
LIST_SEPARATOR = ";"
# Whole numbers up to this are exact as floating-point numbers.
_EXACT = 1 << 53
_DIGITS = 6
# Names and values that are made at a time.
_NAMES = 1 << 14


def require_table(suffix: str, spreadsheet: bool) -> None:
    """Raise unless what is written is a table, where it is to be one for a spreadsheet."""
    if spreadsheet and suffix not in TABLES:
        raise InputError(f"spreadsheet is about tables, {' and '.join(TABLES)}, but a {suffix} file is to be written.")


def require_columns(names: Iterable[str], suffix: str) -> None:
    """Raise unless a file with this suffix can hold columns with these names next to those of the topics."""
    own = ("document", "topics") if suffix == ".jsonl" else ("document",)
    for name in names:
        if suffix not in WITH_COLUMNS:
            raise InputError(
                f"a {suffix} file holds topic proportions only, not columns of the documents: write "
                f"{', '.join(WITH_COLUMNS[:-1])} or {WITH_COLUMNS[-1]}, or leave the columns out."
            )
        if name in own or (suffix != ".jsonl" and is_topic_column(name)):
            raise InputError(
                f"the column {name!r} of the documents cannot be written, because a column of the file itself has that "
                "name: rename it, or leave it out (columns, --columns)."
            )


def require_writer(suffix: str) -> None:
    """Raise unless what writes such files is there."""
    if suffix != ".parquet":
        return
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError("Parquet files need one more package: pip install 'anchorwords[io]', or write .npz.") from None


def write_weights(
    path: Path,
    suffix: str,
    weights: Iterator[Any],
    names: Callable[[], Iterator[str]],
    shape: tuple[int, int],
    *,
    topics: Sequence[int] | None = None,
    columns: Mapping[str, Column] | None = None,
    spreadsheet: bool = False,
) -> None:
    """Write documents x topics as the suffix says.

    Parameters
    ----------
    path : Path
    suffix : str
        One of SUFFIXES. Tables and JSON lines have one row per document, named, with six digits; ``.npy`` is the array
        alone, ``.npz`` (compressed) holds it as ``weights``, with the ``ids`` of the documents and those of the ``topics``,
        ``.parquet`` has the columns document, topic_0, ...
    weights : iterator of (m, K) arrays
        Consecutive documents.
    names : callable
        Gives the names of all documents, anew at each call.
    shape : (int, int)
        Documents and topics.
    topics : sequence of int, optional
        Ids of the topics, which name the columns; by default their positions.
    columns : mapping of str to Column, optional
        Columns of the documents, which come after their names, in formats that can hold them (WITH_COLUMNS).
    spreadsheet : bool
        Write an apostrophe before text in a table that a spreadsheet would compute as formulas.
    """
    topics = range(shape[1]) if topics is None else topics
    columns = columns or {}
    require_columns(columns, suffix)
    if suffix == ".npy":
        write_npy(path, "<f8", shape, weights)
    elif suffix == ".npz":
        _write_archive(path, weights, names, shape, topics)
    elif suffix == ".parquet":
        _write_parquet(path, weights, names(), topics, columns)
    else:
        write_lines(path, weight_lines(weights, names(), topics, suffix, columns=columns, spreadsheet=spreadsheet))


def weight_lines(
    weights: Iterator[Any],
    names: Iterator[str],
    topics: Sequence[int],
    suffix: str,
    *,
    columns: Mapping[str, Column] | None = None,
    spreadsheet: bool = False,
) -> Iterator[str]:
    """Lines of a table whose columns are named by the ids of topics, or of JSON."""
    columns = columns or {}
    values = _rows_of_values(list(columns.values()))
    if suffix != ".jsonl":
        yield separated(["document", *columns, *topic_columns(topics)], suffix, spreadsheet=spreadsheet)
    for block in weights:
        for row in block:
            name, own = next(names), next(values)
            if suffix == ".jsonl":
                known = dict(zip(columns, map(_json_value, own), strict=True))
                record = {"document": name} | known | {"topics": [round(float(w), _DIGITS) for w in row]}
                yield json_text(record) + "\n"
            else:
                cells = [name, *map(_cell, own), *(f"{w:.{_DIGITS}f}" for w in row)]
                yield separated(cells, suffix, spreadsheet=spreadsheet)


def _rows_of_values(columns: Sequence[Column]) -> Iterator[tuple[Any, ...]]:
    """The values of each document, a tuple for each."""
    if not columns:
        yield from repeat(())
    for first in range(0, len(columns[0]), _NAMES):
        yield from zip(*(column.between(first, first + _NAMES) for column in columns), strict=True)


def _cell(value: Any) -> Any:
    """A value as a table has it: nothing for a missing one, and lists as one text."""
    if value is None:
        return ""
    if isinstance(value, list):
        return LIST_SEPARATOR.join(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)  # a year is no fraction because that of another document is missing
    return value.isoformat() if isinstance(value, dt.date) else value


def _json_value(value: Any) -> Any:
    """A value as JSON has it."""
    if value is None or isinstance(value, list):
        return value
    return None if isinstance(value, float) and not math.isfinite(value) else _cell(value)


def _write_archive(
    path: Path,
    weights: Iterator[Any],
    names: Callable[[], Iterator[str]],
    shape: tuple[int, int],
    topics: Sequence[int],
) -> None:
    """As numpy.savez_compressed, but without ever holding an array whole."""

    def batches() -> Iterator[Any]:
        rest = names()
        while batch := list(islice(rest, _NAMES)):
            yield np.array(batch, dtype=kind)

    kind = np.dtype(f"<U{max((len(name) for name in names()), default=1) or 1}")
    parts: dict[str, tuple[Any, tuple[int, ...], Any]] = {
        "weights": (np.dtype("<f8"), shape, weights),
        "ids": (kind, shape[:1], batches()),
        "topics": (np.dtype("<i8"), shape[1:], iter([np.array(topics, dtype="<i8")])),
    }
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, (dtype, size, blocks) in parts.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                put_npy(stream, dtype, size, blocks)


def _write_parquet(
    path: Path, weights: Iterator[Any], names: Iterator[str], topics: Sequence[int], columns: Mapping[str, Column]
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_(), "date": pa.date32(),
        "time": pa.timestamp("us"), "text": pa.string(), "list": pa.list_(pa.string()),
    }  # fmt: skip
    schema = pa.schema([
        ("document", pa.string()),
        *((_whole(name), types[column.kind]) for name, column in columns.items()),
        *((name, pa.float64()) for name in topic_columns(topics)),
    ])  # fmt: skip
    done = 0
    with pq.ParquetWriter(path, schema) as writer:
        for block in weights:
            arrays = [pa.array(list(map(_whole, islice(names, len(block)))), pa.string())]
            for column in columns.values():
                values = map(_whole, column.between(done, done + len(block)))
                arrays.append(pa.array(list(values), types[column.kind]))
            arrays += [pa.array(np.ascontiguousarray(shares)) for shares in block.T]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            done += len(block)


def _whole(value: Any) -> Any:
    """A value with a question mark for half a character, which arrow refuses."""
    if isinstance(value, list):
        return list(map(_whole, value))
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value

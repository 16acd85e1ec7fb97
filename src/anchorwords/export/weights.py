"""Documents x topics in every format that holds them, written block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from .._printable import json_text
from ..exceptions import InputError
from ..storage.arrays import put_npy, write_npy
from .lines import separated, write_lines

SUFFIXES = (".csv", ".tsv", ".jsonl", ".npy", ".npz", ".parquet")
TABLES = (".csv", ".tsv")
_DIGITS = 6
# Names that are written at a time.
_NAMES = 1 << 14


def require_table(suffix: str, spreadsheet: bool) -> None:
    """Raise unless what is written is a table, where it is to be one for a spreadsheet."""
    if spreadsheet and suffix not in TABLES:
        raise InputError(f"spreadsheet is about tables, {' and '.join(TABLES)}, but a {suffix} file is to be written.")


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
    spreadsheet : bool
        Write an apostrophe before names in a table that a spreadsheet would compute as formulas.
    """
    topics = range(shape[1]) if topics is None else topics
    if suffix == ".npy":
        write_npy(path, "<f8", shape, weights)
    elif suffix == ".npz":
        _write_archive(path, weights, names, shape, topics)
    elif suffix == ".parquet":
        _write_parquet(path, weights, names(), topics)
    else:
        write_lines(path, weight_lines(weights, names(), topics, suffix, spreadsheet=spreadsheet))


def weight_lines(
    weights: Iterator[Any], names: Iterator[str], topics: Sequence[int], suffix: str, *, spreadsheet: bool = False
) -> Iterator[str]:
    """Lines of a table whose columns are named by the ids of topics, or of JSON."""
    if suffix != ".jsonl":
        yield separated(["document", *_columns(topics)], suffix)
    for block in weights:
        for row in block:
            name = next(names)
            if suffix == ".jsonl":
                record = {"document": name, "topics": [round(float(w), _DIGITS) for w in row]}
                yield json_text(record) + "\n"
            else:
                yield separated([name, *(f"{w:.{_DIGITS}f}" for w in row)], suffix, spreadsheet=spreadsheet)


def _columns(topics: Sequence[int]) -> list[str]:
    return [f"topic_{topic}" for topic in topics]


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


def _write_parquet(path: Path, weights: Iterator[Any], names: Iterator[str], topics: Sequence[int]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("document", pa.string()), *((name, pa.float64()) for name in _columns(topics))])
    with pq.ParquetWriter(path, schema) as writer:
        for block in weights:
            # Half a character, which arrow refuses, becomes a question mark.
            own = [name.encode("utf-8", "replace").decode() for name in islice(names, len(block))]
            columns = [pa.array(own, pa.string()), *(pa.array(np.ascontiguousarray(column)) for column in block.T)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))

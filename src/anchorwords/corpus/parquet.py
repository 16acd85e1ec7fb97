"""Parquet files: columns of texts or of lists of tokens, and of values, in the memory of a batch of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..exceptions import CorpusFormatError, InputError
from .arrow_values import is_list
from .files import Watch, refuse_bomb, refuse_holes, require_file, sentence, short, shown, unchanged
from .parquet_footer import require_sound_footer
from .parquet_pages import Announced, announced_by_pages, most_repeated
from .readers import Rows
from .selection import ColumnChoice, Selection, TableShape, select
from .tables import arrow_rows, used_columns

# Rows of a batch, and what one may take in memory: rows are fewer where they are long.
_ROWS = 1 << 13
_BATCH_BYTES = 1 << 26
# What a value takes beside its own bytes: a document, or an item of a list with its place in it.
_PER_DOCUMENT, _PER_ITEM = 8, 16
# Bytes that the items of a page may take where each may be as long as the page.
_REPEATED_ITEMS = 1 << 28


def rows_of_parquet(path: Path, choice: ColumnChoice, shape: TableShape, watch: Watch | None = None) -> Rows:
    """Read columns of texts or of lists of tokens, and the columns to keep."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise CorpusFormatError(
            f"{shown(path)} is a Parquet file, which needs one more package: pip install 'anchorwords[io]'."
        ) from None
    try:
        require_file(path)
        refuse_holes(path)
        with unchanged(path):
            with pq.ParquetFile(path) as file:
                found = select(shown(path), file.schema_arrow.names, choice, shape)
                leaves, rows = _within_limits(path, file, found)
            # Texts as dictionaries: a value that is repeated is in memory once. The buffer keeps a column, which may be most
            # of a file, from being loaded at once.
            with pq.ParquetFile(path, read_dictionary=leaves, buffer_size=1 << 20) as file:
                yield from _rows(path, file, found, rows, watch)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # of another package, about bytes that may be anything
        raise CorpusFormatError(
            f"{shown(path)} is not a whole Parquet file ({sentence(error)}): write it again."
        ) from error


def _rows(path: Path, file: Any, found: Selection, rows: int, watch: Watch | None) -> Rows:
    packed, unpacked = path.stat().st_size, 0
    done, total = 0, max(file.metadata.num_rows, 1)
    used = [file.schema_arrow.names[at] for at in used_columns(found)]
    # One group of rows after the other: lists of several dictionaries cannot be in one batch.
    for group in range(file.metadata.num_row_groups):
        for batch in file.iter_batches(rows, row_groups=[group], columns=list(dict.fromkeys(used))):
            columns = [batch.column(name) for name in used]
            for label, document, values in arrow_rows(columns, found, shown(path), done):
                unpacked += _size(document) + len(label or "") + sum(map(_size, values)) + _PER_DOCUMENT
                refuse_bomb(path, packed, unpacked)
                yield label, document, values
            done += batch.num_rows
            if watch is not None:
                watch(min(done / total, 1.0))


def _size(value: Any) -> int:
    """Bytes that a value takes, about."""
    if isinstance(value, str):
        return len(value)
    return _PER_ITEM * len(value) if isinstance(value, list) else _PER_DOCUMENT


def _within_limits(path: Path, file: Any, found: Selection) -> tuple[list[str], int]:
    """Columns to read as dictionaries, and rows to read at once; CorpusFormatError if it would take too much memory."""
    packed, metadata = path.stat().st_size, file.metadata
    texts: list[str] = []
    rows, unpacked = _ROWS, 0
    with path.open("rb") as stream:
        require_sound_footer(stream, metadata)
        for at in dict.fromkeys(used_columns(found)):
            name = file.schema_arrow.names[at]
            what = "texts or lists of tokens" if at in found.text else "ids" if at == found.ids else "values or lists"
            has_lists = _check_type(path, file.schema_arrow.field(name).type, name, what)
            for number, leaf in _leaves(metadata, name):
                announced = announced_by_pages(stream, metadata, number)
                unpacked += announced.unpacked + (_PER_ITEM if has_lists else _PER_DOCUMENT) * announced.values
                refuse_bomb(path, packed, unpacked)
                column = metadata.schema.column(number)
                largest = announced.shared
                if announced.dictionary and column.physical_type == "BYTE_ARRAY":
                    if not announced.is_delta and not (has_lists and announced.is_mixed):
                        texts.append(leaf)
                    elif has_lists:
                        refuse_bomb(path, packed, most_repeated(stream, metadata, number))
                    else:
                        largest = max(largest, announced.dictionary)
                largest = max(largest, column.length or 0)
                rows = min(rows, max(int(_BATCH_BYTES // _row_bytes(path, announced, largest, has_lists, metadata)), 1))
    return texts, rows


def _leaves(metadata: Any, name: str) -> Iterator[tuple[int, str]]:
    """Numbers and paths of what pyarrow reads when a column is asked for by name."""
    for number in range(metadata.num_columns):
        leaf = metadata.schema.column(number).path
        if leaf == name or leaf.startswith(f"{name}."):
            yield number, leaf


def _check_type(path: Path, kind: Any, name: str, what: str) -> bool:
    """Whether a column has lists; CorpusFormatError for types that it must not have."""
    import pyarrow as pa

    def holds(test: str, one: Any) -> bool:
        return getattr(pa.types, test, lambda _: False)(one)

    has_lists = is_list(kind)
    inner = kind.value_type if has_lists else kind
    inner = inner.value_type if pa.types.is_dictionary(inner) else inner
    raw = ("is_binary", "is_large_binary", "is_binary_view", "is_fixed_size_binary")
    if pa.types.is_nested(inner) or (has_lists and (what == "ids" or any(holds(test, inner) for test in raw))):
        raise CorpusFormatError(f"{shown(path)}: the column {short(name)} must hold {what}, but is {short(str(kind))}.")
    return has_lists


def _row_bytes(path: Path, announced: Announced, largest: int, has_lists: bool, metadata: Any) -> float:
    """Bytes that a row takes in a batch, if any value of a page may take the largest number of bytes."""
    if not has_lists:
        return max(announced.per_value, largest, _PER_DOCUMENT)
    # A row may have any number of items, so that no number of rows is small enough.
    if largest * announced.most_values > _REPEATED_ITEMS:
        raise CorpusFormatError(
            f"{shown(path)} holds lists of tokens in the encoding DELTA_BYTE_ARRAY, which may unpack to any size: write it "
            "again in pyarrow's default encoding."
        )
    return max(announced.per_value, _PER_ITEM) * max(announced.values / max(metadata.num_rows, 1), 1)

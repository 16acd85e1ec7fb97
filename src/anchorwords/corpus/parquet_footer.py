"""The footer of a Parquet file, checked for what ends the process in pyarrow.

pyarrow reads the description of a column in a function that must not fail: an error in it, which any damaged file may cause,
is no exception but ends the process (in version 26, ``RowGroupMetaData.column``). What can fail there is little: statistics
of sizes that do not fit the column, and columns that are encrypted. Both are looked for here, before pyarrow is asked.
"""

from __future__ import annotations

from typing import IO, Any

from .thrift import LIST, STRUCT, Thrift

_MARK = b"PAR1"
# Numbers of fields: row groups of a file, columns of a group, of a column its description and the mark of encryption, of the
# description the statistics of sizes, and of these the bytes of all texts and two histograms.
_GROUPS, _COLUMNS, _DESCRIPTION, _ENCRYPTION, _SIZES = 4, 1, 3, 8, 16
_TEXT_BYTES, _REPETITIONS, _DEFINITIONS = 1, 2, 3


def require_sound_footer(stream: IO[bytes], metadata: Any) -> None:
    """Raise ValueError if pyarrow could not describe the columns of a file.

    Parameters
    ----------
    stream : binary file
    metadata : pyarrow.parquet.FileMetaData
    """
    footer = Thrift(_footer(stream))
    leaves = [metadata.schema.column(number) for number in range(metadata.num_columns)]
    try:
        for _ in footer.items(_GROUPS):
            for column in footer.items(_COLUMNS):
                _check_column(footer, leaves[column] if column < len(leaves) else None)
    except IndexError:
        raise ValueError("its footer ends too soon") from None


def _footer(stream: IO[bytes]) -> bytes:
    size = stream.seek(0, 2)
    stream.seek(max(size - 8, 0))
    length, mark = int.from_bytes(stream.read(4), "little"), stream.read(4)
    if mark != _MARK or length > size - 8:
        raise ValueError("it has no footer, or one that is encrypted")
    stream.seek(size - 8 - length)
    return stream.read(length)


def _check_column(footer: Thrift, leaf: Any) -> None:
    for number, kind in footer.fields():
        if number == _ENCRYPTION:
            raise ValueError("it has columns that are encrypted")
        if number != _DESCRIPTION or kind != STRUCT:
            footer.skip(kind)
            continue
        for own, what in footer.fields():
            if own == _SIZES and what == STRUCT:
                _check_sizes(footer, leaf)
            else:
                footer.skip(what)


def _check_sizes(footer: Thrift, leaf: Any) -> None:
    for number, kind in footer.fields():
        fits = True
        if number in (_REPETITIONS, _DEFINITIONS) and kind == LIST:
            length, items = footer.list_head()
            for _ in range(length):
                footer.skip(items)
            levels = leaf and (leaf.max_repetition_level if number == _REPETITIONS else leaf.max_definition_level)
            fits = leaf is None or length in (0, levels + 1)
        else:
            footer.skip(kind)
            fits = number != _TEXT_BYTES or leaf is None or leaf.physical_type == "BYTE_ARRAY"
        if not fits:
            raise ValueError("its statistics of sizes do not fit its columns")

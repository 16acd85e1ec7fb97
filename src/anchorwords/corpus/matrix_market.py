"""Matrix Market files: every line is checked here before SciPy's compiled reader sees it.

That reader takes 5.5 for 5 where whole numbers are announced, and ignores what follows the number it expects.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from .._typing import SparseLike
from ..exceptions import CorpusFormatError
from .files import Unpacked, line_chunks, most_unpacked, short, shown

_WHOLE = rb"-?\d++"
_REAL = rb"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|[nN][aA][nN]|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
_VALUES = {
    "integer": (_WHOLE, "a whole number"),
    "unsigned-integer": (rb"\d++", "a whole number"),
    "real": (_REAL, "a number"),
    "double": (_REAL, "a number"),
}
_SPACE = rb"[ \t]++"


def read_matrix_market(path: Path, available: int) -> SparseLike:
    """The matrix of a file, plain or compressed; ValueError, or CorpusFormatError, where it is none.

    Parameters
    ----------
    path : path
    available : int
        Bytes of memory: what announces more is refused.
    """
    pieces = line_chunks(path)
    first = next(pieces, b"")
    body = _end_of_header(first)
    from scipy.io import mminfo, mmread  # slow to import, and few need it

    rows, columns, entries, layout, field, _ = mminfo(io.BytesIO(first[:body]))
    dense = layout == "array"
    require_plausible(rows, columns, rows * columns if dense else entries)
    _require_room(path, rows, columns if dense else None, entries, available)
    lines = chain([first[body:]], pieces)
    checked = lines if field == "complex" else _checked(path, lines, dense, field, first.count(b"\n", 0, body) + 1)
    # SciPy's reader crashes where a file does not end in a line end.
    return mmread(io.BufferedReader(Unpacked(_without_nulls(path, chain([first[:body]], checked, [b"\n"])))))


def require_plausible(n_docs: int, n_words: int, n_entries: int) -> None:
    """Raise ValueError for a shape that takes memory out of proportion to what is in the matrix.

    A document takes some 20 bytes in memory, a column without a word, whose number becomes its name, some 150.
    """
    if n_docs > 100 * n_entries + (1 << 20) or n_words > 16 * n_entries + (1 << 21):
        raise ValueError(f"{n_docs} documents and {n_words} words for {n_entries} entries")


def _end_of_header(text: bytes) -> int:
    """Where the line of sizes ends, which follows the first line and comments."""
    at = text.find(b"\n") + 1
    while at:
        end = text.find(b"\n", at) + 1
        line = text[at:end] if end else text[at:]
        if line.strip() and not line.startswith(b"%"):
            if not re.fullmatch(rb"\s*\d+(?:\s+\d+){1,2}\s*", line):
                raise ValueError(f"{short(line.decode('utf-8', 'replace'))} in place of its sizes")
            return end or len(text)
        at = end
    raise ValueError("it has no line of sizes")


def _require_room(path: Path, rows: int, columns: int | None, entries: int, available: int) -> None:
    """Refuse what announces more than there is memory, or than the file has room for, before it is asked for."""
    announced = 8 * rows + (16 * entries if columns is None else 8 * rows * columns)
    if announced > available:
        raise CorpusFormatError(
            f"{shown(path)} announces {announced >> 20} MiB, but {available >> 20} MiB of memory are available: is it "
            "damaged?"
        )
    # The shortest entries are "1 1" and a line end, and one digit and a line end; of a symmetric array half are there.
    if (4 * entries if columns is None else rows * columns) > most_unpacked(path) + 4:
        raise ValueError(f"it announces {entries} entries, more than it has room for")


def _checked(path: Path, pieces: Iterable[bytes], dense: bool, field: str, line: int) -> Iterator[bytes]:
    """Pieces of whole lines, each of which holds an entry, or nothing."""
    value, what = _VALUES.get(field, (b"", ""))
    if not dense:
        place = rb"\d++" + _SPACE + rb"\d++"
        value, what = (place + _SPACE + value, f"row, column and {what}") if value else (place, "row and column")
    wrong = re.compile(rb"^(?![ \t]*+(?:" + value + rb")?[ \t\r]*+$)[^\n]*", re.MULTILINE)
    for piece in pieces:
        if (found := wrong.search(piece)) is not None:
            number = line + piece.count(b"\n", 0, found.start())
            text = found[0][:60].decode("utf-8", "replace")
            raise CorpusFormatError(f"{shown(path)}, line {number}: expected {what}, but found {short(text)}.")
        line += piece.count(b"\n")
        yield piece


def _without_nulls(path: Path, pieces: Iterable[Any]) -> Iterator[bytes]:
    for piece in pieces:
        if b"\0" in piece:
            raise CorpusFormatError(f"{shown(path)} holds a null byte, which text does not have: is it a binary file?")
        yield piece

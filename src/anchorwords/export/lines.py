"""Text files of lines: tables with commas or tabs, and whatever else is written a line at a time."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


# What makes a spreadsheet compute a cell, as OWASP lists it (CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
            "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip


def separated(cells: Sequence[Any], suffix: str, *, spreadsheet: bool = False) -> str:
    """A line of a table: with commas for .csv, with tabs for .tsv; with ``spreadsheet``, no cell of it is a formula."""
    buffer = io.StringIO()
    # Before Python 3.13 a writer quotes those line ends only that it writes itself, but a reader ends a row at any.
    writer = csv.writer(buffer, delimiter="," if suffix == ".csv" else "\t", lineterminator="\r\n")
    writer.writerow([_as_text(cell) for cell in cells] if spreadsheet else cells)
    return buffer.getvalue().removesuffix("\r\n") + "\n"


def _as_text(cell: Any) -> Any:
    """A cell that a spreadsheet shows and does not compute: an apostrophe goes before what could be a formula."""
    if not isinstance(cell, str) or not cell.startswith(_FORMULA) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write text as UTF-8; names of documents may hold half a character, which becomes a question mark."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as stream:
        stream.writelines(lines)

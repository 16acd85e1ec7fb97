"""Text files of lines: tables with commas or tabs, and whatever else is written a line at a time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def separated(cells: Sequence[Any], suffix: str) -> str:
    """A line of a table: with commas for .csv, with tabs for .tsv."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write text as UTF-8; names of documents may hold half a character, which becomes a question mark."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as stream:
        stream.writelines(lines)

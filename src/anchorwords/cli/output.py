"""Results for other programs: JSON that any reader takes, and tables of CSV."""

from __future__ import annotations

import datetime as dt
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from .._printable import json_text


def print_json(value: Any, indent: int | None = None) -> None:
    """Print as JSON: arrays as lists, null for what is not a number, and invisible characters as escape sequences."""
    typer.echo(json_text(as_plain(value), indent=indent))


def as_plain(value: Any) -> Any:
    """A value as JSON holds it."""
    if isinstance(value, dict):
        return {key: as_plain(part) for key, part in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [as_plain(part) for part in value]
    if isinstance(value, dt.date):
        return value.isoformat()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def table_lines(rows: list[dict[str, Any]], suffix: str, spreadsheet: bool) -> Iterator[str]:
    """Rows with the same columns as lines of a table, names first; what is not a number is left empty."""
    from ..export.lines import separated

    yield separated(list(rows[0]), suffix)
    for row in rows:
        cells = ["" if cell is None else cell for cell in map(as_plain, row.values())]
        yield separated(cells, suffix, spreadsheet=spreadsheet)


@contextmanager
def errors_not_lost() -> Iterator[None]:
    """Raise a MemoryError that a library has only reported as ignored: matplotlib then draws without some letters.

    For a process of its own: what is reported as ignored is so for all threads.
    """
    lost: list[bool] = []
    usual = sys.unraisablehook

    def note(found: Any) -> None:
        lost.append(isinstance(found.exc_value, MemoryError))
        if not lost[-1]:
            usual(found)

    sys.unraisablehook = note
    try:
        yield
    finally:
        sys.unraisablehook = usual
    if any(lost):
        raise MemoryError


def written_to(folder: Path, replacing: bool) -> str:
    """Where a model was written, and whether another one was there before."""
    return f"written to {folder}{' in place of the model that was there' if replacing else ''}"


def suffix_of(output: Path, known: Sequence[str], option: str = "--output") -> str:
    """How a file is to be written, by its name; BadParameter where that does not say."""
    suffix = output.suffix.lower()
    if suffix not in known:
        raise typer.BadParameter(f"{option} must end in {', '.join(known[:-1])} or {known[-1]}, but is {output}")
    return suffix

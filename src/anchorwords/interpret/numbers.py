"""Numbers and values as tables show them."""

from __future__ import annotations

from typing import Any


def number(value: float) -> int | float:
    """A count as an int where it is whole: tokens are, weights of words need not be."""
    return int(value) if float(value).is_integer() else float(value)


def value_as_text(value: Any) -> str:
    """Return a value of the documents table for a reader; a missing one is empty."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

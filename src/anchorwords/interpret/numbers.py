"""Numbers as tables show them."""

from __future__ import annotations


def number(value: float) -> int | float:
    """A count as an int where it is whole: tokens are, weights of words need not be."""
    return int(value) if float(value).is_integer() else float(value)

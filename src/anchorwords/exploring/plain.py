"""Numbers and texts as they stand in the page: short, bounded, printable."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import numpy as np

from .._printable import printable

# Characters of a word, a name or a label: longer ones end in an ellipsis. Names of songs with their artists fit.
LONGEST_NAME = 80
# Characters of the beginning of a document.
LONGEST_TEXT = 320


def number(value: Any, digits: int = 5) -> float | int | None:
    """A number to so many digits; None where it is none."""
    rounded = float(f"{float(value):.{digits}g}")
    if not math.isfinite(rounded):
        return None
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def numbers(values: Iterable[Any], digits: int = 5) -> list[float | int | None]:
    """Each of them, as :func:`number`."""
    return [number(value, digits) for value in np.asarray(values, dtype=np.float64).tolist()]


def name(text: Any, longest: int = LONGEST_NAME) -> str:
    """A text in one line without control characters, lone surrogates and what turns the direction of a page around.

    At most so many characters, and half as many bytes again: a page of letters that take many is no larger than others.
    """
    shown = printable(str(text)[: longest + 1])
    sizes = list(accumulate(map(_size, shown), initial=0))
    most = 3 * longest // 2
    if len(shown) <= longest and sizes[-1] <= most:
        return shown
    end = min(longest - 1, bisect_right(sizes, most - _size("…")) - 1)
    return shown[:end].rstrip() + "…"


def _size(char: str) -> int:
    """Bytes of a character in the page, where what could be markup is escaped."""
    return 6 if char in "<>&" else len(char.encode("utf-8"))


def left_out(n: int, noun: str, which: str) -> str:
    """A sentence such as "3 documents without a time were left out."."""
    return f"{n:,} {noun} {which} was left out." if n == 1 else f"{n:,} {noun}s {which} were left out."


def beginning(text: Any) -> str:
    """How a document begins, white space run together."""
    letters = str(text)
    # White space is run together in a part that surely holds enough, so that a book is not split into words.
    return name(" ".join(letters[: 20 * LONGEST_TEXT].split()), LONGEST_TEXT)

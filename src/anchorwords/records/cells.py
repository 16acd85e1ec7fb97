"""Values as a reader sees them: rounded numbers, percentages, intervals, words.

A :class:`Cell` holds text, never markup: :mod:`anchorwords.records.html` and :mod:`anchorwords.records.text` make what is
shown of it harmless.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._markdown import separator_of

# Shown instead of a number that is missing.
MISSING = "–"
# Significant digits of small percentages, and the most decimals that these are given.
_DIGITS = 2
_MOST_DECIMALS = 4


# Characters of a name, such as a label, that is not running text: an automatic label has fewer.
LONGEST_NAME = 60


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    text : str
    detail : str
        Less important text after it, such as an interval.
    bar : float or None
        Length of a bar behind the text, from 0 to 1.
    curve : tuple of float
        Values to draw as a small curve; nan leaves a gap.
    strong : bool
        Whether the text is emphasised.
    """

    text: str = ""
    detail: str = ""
    bar: float | None = None
    curve: tuple[float, ...] = ()
    strong: bool = False

    @property
    def line(self) -> str:
        """Text and detail together."""
        return f"{self.text} {self.detail}".strip() if self.detail else self.text


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def plain_number(value: Any, digits: int = 3) -> str:
    """Return a number with so many significant digits; whole numbers are written out, with separators."""
    if is_missing(value):
        return MISSING
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if math.isinf(value) or value == 0.0:
        return f"{value:.{max(digits - 1, 0)}f}".replace("-", "\N{MINUS SIGN}")
    if abs(value) < 1e-4 or abs(value) >= 1e15:
        return f"{value:.{digits - 1}e}".replace("-", "\N{MINUS SIGN}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def percent(share: Any, decimals: int = 1) -> str:
    """Return a share as a percentage."""
    return MISSING if is_missing(share) else f"{_fixed(100.0 * share, decimals)}%"


def small_percent(share: Any) -> str:
    """Return a share of any size as a percentage with two significant digits."""
    return MISSING if is_missing(share) else f"{plain_number(100.0 * share, _DIGITS)}%"


def share_cell(share: Any, low: Any = None, high: Any = None, *, bar: float | None = None, decimals: int = 1) -> Cell:
    """Return a share with its interval: 12.3 % (11.0 to 13.6)."""
    if is_missing(share):
        return Cell(MISSING)
    text = percent(share, decimals)
    if is_missing(low) or is_missing(high):
        return Cell(text, bar=bar)
    return Cell(text, f"({_fixed(100.0 * low, decimals)} to {_fixed(100.0 * high, decimals)})", bar=bar)


def points_cell(value: Any, low: Any = None, high: Any = None, *, decimals: int = 1) -> Cell:
    """Return a difference of shares in percentage points, with a sign and its interval: +1.2 (0.8 to 1.6)."""
    if is_missing(value):
        return Cell(MISSING)
    text = _fixed(100.0 * value, decimals)
    sign = "+" if value > 0.0 and text.strip("0.") else ""
    if is_missing(low) or is_missing(high):
        return Cell(sign + text)
    return Cell(sign + text, f"({_fixed(100.0 * low, decimals)} to {_fixed(100.0 * high, decimals)})")


def decimals_of(size: float) -> int:
    """Return the decimals at which a percentage of this size has two significant digits: one at least, four at most."""
    if not size > 0.0 or not math.isfinite(size):
        return 1
    return min(max(_DIGITS - 1 - math.floor(math.log10(100.0 * size)), 1), _MOST_DECIMALS)


def p_value(value: Any) -> str:
    """Return a p-value to three decimals."""
    if is_missing(value):
        return MISSING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def words_text(words: Sequence[Any]) -> str:
    """Return words in one line; those with spaces in them are kept apart by dots."""
    found = [str(word) for word in words]
    return separator_of(found).join(found)


def value_text(value: Any) -> str:
    """Return a value that names something, such as a year or a group, without separators of thousands."""
    if is_missing(value):
        return MISSING
    if isinstance(value, float):
        return f"{value:g}"
    return words_text(value) if isinstance(value, (list, tuple)) else str(value)


def any_cell(value: Any) -> Cell:
    """Return the cell of a value of any kind."""
    if is_missing(value):
        return Cell(MISSING)
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, (int, float)):
        return Cell(plain_number(value))
    if isinstance(value, (list, tuple)):
        return Cell(words_text(value))
    return Cell(str(value))


def _fixed(value: float, decimals: int) -> str:
    """A number with so many decimals; what rounds to zero has no sign."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "\N{MINUS SIGN}" if text.strip("-0.") else "")

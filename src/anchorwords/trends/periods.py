"""Periods of time: which period each document belongs to.

Dates are divided by the calendar, numbers by their distinct values or a width, and both by quantiles. Periods without a
document are left out; ``starts`` and ``ends`` tell where there is a gap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..corpus.column_builder import column_of, kind_of_text
from ..corpus.columns import Column
from ..corpus.files import short
from ..exceptions import InputError

# Most periods that are chosen without being asked for: more do not fit on a page.
MOST_CHOSEN = 40
# Fewest documents per period, on average, of a calendar unit that is chosen: the interval of fewer says little.
FEWEST_DOCS = 10
# Most periods at all: word counts are kept for each of them.
MOST_PERIODS = 5000
# Aliases of pandas, and how many units of NumPy each one is.
ALIASES = {
    "YE": (1, "Y"), "Y": (1, "Y"), "YS": (1, "Y"), "A": (1, "Y"), "QE": (3, "M"), "Q": (3, "M"), "QS": (3, "M"),
    "ME": (1, "M"), "M": (1, "M"), "MS": (1, "M"), "W": (7, "D"), "D": (1, "D"),
}  # fmt: skip
# Tried from the finest to the coarsest.
_CALENDAR = ("D", "W", "ME", "QE", "YE", "5YE", "10YE", "50YE", "100YE")
_FREQ = re.compile(r"(\d*)([A-Z]+)")
_QUANTILES = re.compile(r"quantiles:(\d+)")
# Weeks begin on Monday: 1970-01-05 was one.
_MONDAY = 4
_DAYS_PER_YEAR = 365.2425
_NO_VALUE = "no document has a value in {name}, so that there is no period: check the column."


@dataclass(frozen=True, eq=False)
class Periods:
    """Periods and the documents in them.

    Attributes
    ----------
    codes : (M,) int array
        Period of each document, -1 if its time is missing.
    names : tuple
        Each period as it is shown: a number, or a string such as "2003", "2003-Q2", "2003-04" or "1990 to 1994".
    starts, ends : (T,) arrays
        Dates or numbers. A period holds the times from its start up to, but not including, its end; for distinct values
        and quantiles, the smallest and the largest time of its documents.
    times : (M,) array
        Time of each document in units of the trend: years for dates, the number itself for numbers; nan if missing.
    freq : str
        What the periods are, such as "YE", "width 5", "quantiles:8" or "distinct".
    unit : str
        Unit of ``times``: "year" for dates, "1" for numbers.
    """

    codes: IntArray
    names: tuple[Any, ...]
    starts: npt.NDArray[Any]
    ends: npt.NDArray[Any]
    times: FloatArray
    freq: str
    unit: str

    @property
    def midpoints(self) -> npt.NDArray[Any]:
        """The middle of each period, as a date or a number."""
        return self.starts + (self.ends - self.starts) / 2


def periods_of(
    values: Any, freq: Any = None, n_bins: int | None = None, name: str = "by", ids: Sequence[str] | None = None
) -> Periods:
    """Divide documents into periods.

    Parameters
    ----------
    values : sequence of M dates or numbers
    freq, n_bins
        As in :func:`anchorwords.topics_over_time`.
    name : str
        What to call the values in messages.
    ids : sequence of str, optional
        Ids of the documents, for messages.

    Returns
    -------
    Periods
    """
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputError(f"{name} must be a column or a sequence of one date or number per document.")
    column = column_of(name, values)
    # A column without any value has no kind of its own, and counts as text.
    if column.kind == "text" and not any(value is not None for value in column.values):
        raise InputError(_NO_VALUE.format(name=name))
    if column.kind not in {"integer", "number", "date", "time"}:
        raise InputError(_without_time(column, name, ids))
    found = column.values
    dated = found.dtype.kind == "M"
    found = found.astype("M8[D]") if dated else found.astype(np.float64)
    missing = np.isnat(found) if dated else np.isnan(found)
    if missing.all():
        raise InputError(_NO_VALUE.format(name=name))
    if not dated and np.isinf(found).any():
        raise InputError(f"{name} must hold finite numbers, but holds an infinite one.")
    known = found[~missing]
    number_of_bins = _bins_asked(freq, n_bins)
    if number_of_bins is not None:
        own, names, starts, ends, used = _by_quantiles(known, number_of_bins)
    elif dated:
        own, names, starts, ends, used = _by_calendar(known, freq)
    else:
        own, names, starts, ends, used = _by_number(known, freq, name)
    if len(names) > MOST_PERIODS:
        raise InputError(f"{len(names):,} periods are too many (more than {MOST_PERIODS:,}): choose a coarser freq.")
    codes = np.full(found.size, -1, dtype=np.intp)
    codes[~missing] = own
    times = np.full(found.size, np.nan)
    times[~missing] = 1970.0 + known.astype(np.int64) / _DAYS_PER_YEAR if dated else known
    return Periods(codes, tuple(names), starts, ends, times, used, "year" if dated else "1")


def _without_time(column: Column, name: str, ids: Sequence[str] | None) -> str:
    """Say why a column is not one of dates or numbers: it holds groups, or a few of its values are neither."""
    groups = (
        f"{name} must hold dates or numbers, but is of the kind {column.kind!r}: prevalence_by and 'anchorwords groups' "
        "compare groups of any kind."
    )
    if column.kind != "text":
        return groups
    values = column.values
    kinds = {text: kind_of_text(text) for text in set(values.tolist()) - {None}}
    found = np.array(["missing" if text is None else kinds[text] for text in values], dtype=object)
    known = np.flatnonzero(found != "missing")
    dated, numbered = np.isin(found, ("date", "time")), np.isin(found, ("integer", "number"))
    what, convert = ("dates", "to_datetime") if dated.sum() >= numbered.sum() else ("numbers", "to_numeric")
    wrong = known[~(dated if what == "dates" else numbered)[known]]
    if 2 * wrong.size > known.size:
        return groups
    if not wrong.size:
        return f"{name} holds {what} that are written as text: convert them first, for example with pandas.{convert}."
    first = int(wrong[0])
    document = "" if ids is None or ids[first] == str(first + 1) else f" (document {short(ids[first])})"
    several = wrong.size > 1
    return (
        f"{name} must hold dates or numbers, but {wrong.size:,} of its {known.size:,} values "
        f"{f'are not {what}; the first is' if several else f'is not a {what[:-1]}:'} {short(values[first])} in row "
        f"{first + 1:,}{document}. Correct or empty {'these values' if several else 'this value'}, for example with "
        f'pandas.{convert}(values, errors="coerce"): documents with an empty value are left out and counted.'
    )


_Found = tuple[IntArray, list[Any], npt.NDArray[Any], npt.NDArray[Any], str]


def _bins_asked(freq: Any, n_bins: Any) -> int | None:
    """The number of quantile bins, if these are asked for."""
    if n_bins is not None and freq is not None:
        raise InputError("freq and n_bins both say how to divide the documents: give one of them.")
    if n_bins is not None:
        return check_positive_integer(n_bins, "n_bins")
    asked = _QUANTILES.fullmatch(freq) if isinstance(freq, str) else None
    return None if asked is None else check_positive_integer(int(asked[1]), "the number of quantiles")


def _by_quantiles(known: npt.NDArray[Any], n_bins: int) -> _Found:
    """Periods of about as many documents each; equal times are never divided, so that there may be fewer periods."""
    distinct, place, counts = np.unique(known, return_inverse=True, return_counts=True)
    # A value belongs to the bin that the middle of its documents falls into.
    middle = (np.cumsum(counts) - counts / 2.0) / known.size
    bins = np.unique(np.floor(middle * n_bins).astype(np.intp), return_inverse=True)[1]
    first = np.flatnonzero(np.diff(bins, prepend=-1))
    last = np.append(first[1:], distinct.size) - 1
    starts, ends = distinct[first], distinct[last]
    names = [_range(_shown(a), _shown(b)) for a, b in zip(starts, ends, strict=True)]
    return bins[place], names, starts, ends, f"quantiles:{n_bins}"


def _by_calendar(known: npt.NDArray[Any], freq: Any) -> _Found:
    if freq is None:
        freq = _chosen_unit(known)
    steps, unit, days = _parsed(freq)
    at = _unit_numbers(known, steps, unit)
    numbers, own = np.unique(at, return_inverse=True)
    starts, ends = (_start_of(numbers + more, steps, unit) for more in (0, 1))
    names = [_period_name(a, b, steps, unit, days) for a, b in zip(starts, ends, strict=True)]
    return own, names, starts, ends, str(freq).upper()


def _chosen_unit(known: npt.NDArray[Any]) -> str:
    """The finest unit with few enough periods and, on average, enough documents in each."""
    for freq in _CALENDAR:
        steps, unit, _ = _parsed(freq)
        n_periods = np.unique(_unit_numbers(known, steps, unit)).size
        if n_periods <= MOST_CHOSEN and (known.size >= FEWEST_DOCS * n_periods or n_periods == 1):
            return freq
    # Few documents: the finest unit with few enough periods among those of at least a year.
    return next(
        (f for f in _CALENDAR[4:] if np.unique(_unit_numbers(known, *_parsed(f)[:2])).size <= MOST_CHOSEN), "100YE"
    )


def _parsed(freq: Any) -> tuple[int, str, bool]:
    """Units per period, the unit of NumPy, and whether the alias is one of days or weeks."""
    found = _FREQ.fullmatch(freq.upper()) if isinstance(freq, str) else None
    if found is None or found[2] not in ALIASES or found[1] in {"0", "00"}:
        raise InputError(
            f"freq must be 'YE', 'QE', 'ME', 'W' or 'D' for dates, also with a number as in '5YE', or 'quantiles:8', but is "
            f"{freq!r}."
        )
    steps, unit = ALIASES[found[2]]
    return steps * int(found[1] or 1), unit, unit == "D"


def _unit_numbers(dates: npt.NDArray[Any], steps: int, unit: str) -> npt.NDArray[np.int64]:
    """The number of the period of each date; years and months are counted from the year 0, so that decades are decades."""
    return (dates.astype(f"M8[{unit}]").astype(np.int64) + _offset(steps, unit)) // steps


def _start_of(numbers: npt.NDArray[np.int64], steps: int, unit: str) -> npt.NDArray[Any]:
    return (numbers * steps - _offset(steps, unit)).astype(f"M8[{unit}]").astype("M8[D]")


def _offset(steps: int, unit: str) -> int:
    if unit == "D":
        return -_MONDAY if steps % 7 == 0 else 0
    return 1970 if unit == "Y" else 1970 * 12


def _period_name(start: Any, end: Any, steps: int, unit: str, days: bool) -> str:
    """A period as it is shown."""
    if days:
        return str(start)
    if unit == "Y":
        return _range(str(start.astype("M8[Y]")), str(end.astype("M8[Y]") - 1))
    if steps == 3:
        month = int(start.astype("M8[M]").astype(np.int64) % 12)
        return f"{start.astype('M8[Y]')}-Q{month // 3 + 1}"
    return _range(str(start.astype("M8[M]")), str(end.astype("M8[M]") - 1))


def _by_number(known: FloatArray, freq: Any, name: str) -> _Found:
    whole = bool((known == np.floor(known)).all())
    if isinstance(freq, str):
        if not (freq.upper() in {"YE", "Y", "A", "YS"} and whole and known.min() >= 1000 and known.max() < 3000):
            raise InputError(
                f"{name} holds numbers, for which freq must be a width such as 5, 'quantiles:8' or None, but is {freq!r}: "
                "'YE' and the like are for dates, 'YE' also for years."
            )
        freq = 1
    if freq is None:
        distinct, own = np.unique(known, return_inverse=True)
        if distinct.size <= MOST_CHOSEN:
            return own, [_shown(value) for value in distinct], distinct, distinct, "distinct"
        freq = _round_width(float(known.max() - known.min()))
        freq = max(freq, 1.0) if whole else freq
    if isinstance(freq, bool) or not isinstance(freq, (int, float, np.number)) or not 0.0 < freq < np.inf:
        raise InputError(f"freq must be a positive width, 'quantiles:8' or None for numbers, but is {freq!r}.")
    width = float(freq)
    numbers, own = np.unique(np.floor(known / width), return_inverse=True)
    starts, ends = numbers * width, (numbers + 1) * width
    if whole and width == 1.0:
        return own, [_shown(value) for value in starts], starts, starts, "width 1"
    inclusive = whole and width.is_integer()
    names = [_range(_shown(a), _shown(b - 1 if inclusive else b)) for a, b in zip(starts, ends, strict=True)]
    return own, names, starts, ends, f"width {width:g}"


def _round_width(span: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that divides the span into few enough periods."""
    exponent = int(np.floor(np.log10(span / MOST_CHOSEN)))
    widths = [digit * 10.0**power for power in (exponent, exponent + 1) for digit in (1.0, 2.0, 5.0)]
    # One period more than the span has widths: it need not begin at a multiple.
    return next(width for width in widths if span / width <= MOST_CHOSEN - 1)


def _shown(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return str(value)
    return int(value) if float(value).is_integer() else float(f"{value:.12g}")


def _range(first: Any, last: Any) -> Any:
    return first if first == last else f"{first} to {last}"

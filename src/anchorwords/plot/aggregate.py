"""Lines of a figure out of records: means, how far they spread, and which of them dwarf the others."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError

Record = Mapping[str, Any]


class Line(NamedTuple):
    """One series: means over the records at each x, and a band around them."""

    x: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray


def number(record: Record, name: str) -> float:
    """Finite number under a name, or NaN where there is none; text of a CSV file is read as a number."""
    value = record.get(name)
    if value is None or (isinstance(value, str) and not value.strip()):
        return math.nan
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number in every record, but one holds {value!r}.") from None
    return found if math.isfinite(found) else math.nan


def distinct(records: Iterable[Record], key: str | Callable[[Record], Any]) -> list[Hashable]:
    """Values under a key in order of first appearance; records without one are passed over."""
    values = (key(r) if callable(key) else r.get(key) for r in records)
    return list(dict.fromkeys(value for value in values if value is not None))


def range_band(values: FloatArray) -> tuple[float, float]:
    """Smallest and largest value: of seeds, all there is to see."""
    return float(values.min()), float(values.max())


def error_band(values: FloatArray) -> tuple[float, float]:
    """Mean less and plus its standard error; of one value no band."""
    error = float(values.std(ddof=1)) / math.sqrt(values.size) if values.size > 1 else 0.0
    return float(values.mean()) - error, float(values.mean()) + error


def line(
    records: Iterable[Record],
    metric: str,
    x: str,
    band: Callable[[FloatArray], tuple[float, float]] = range_band,
    *,
    positive: bool = False,
) -> Line:
    """Mean of a metric over the records of each x; missing values, and with ``positive`` those up to zero, are skipped."""
    found: dict[float, list[float]] = defaultdict(list)
    for record in records:
        place, value = number(record, x), number(record, metric)
        if not math.isnan(place) and not math.isnan(value) and (value > 0.0 or not positive):
            found[place].append(value)
    places = sorted(found)
    groups = [np.array(found[place]) for place in places]
    bands = np.array([band(group) for group in groups]).reshape(-1, 2)
    return Line(np.array(places), np.array([group.mean() for group in groups]), bands[:, 0], bands[:, 1])


def dwarfing(lines: Sequence[Line]) -> list[int]:
    """Series beside which the others could not be told apart, at most half of them and at most all but two.

    A series dwarfs the others where it gets farther from their range than five times that range and 2.5 times their
    largest absolute value: by a factor of about 4 at the very least.
    """
    used = [i for i, one in enumerate(lines) if one.x.size]
    middle = float(np.median([np.median(lines[i].mean) for i in used])) if used else 0.0
    reach = {i: float(max(abs(lines[i].low - middle).max(), abs(lines[i].high - middle).max())) for i in used}
    by_reach = sorted(used, key=lambda i: -reach[i])
    for count in range(len(used) // 2, 0, -1):
        out, rest = by_reach[:count], by_reach[count:]
        low, high = extent([lines[i] for i in rest])
        unit = 5.0 * max(high - low, 0.5 * max(abs(low), abs(high)))
        if len(rest) > 1 and all(max(lines[i].high.max() - high, low - lines[i].low.min()) > unit for i in out):
            return sorted(out)
    return []


def extent(lines: Sequence[Line]) -> tuple[float, float]:
    """Smallest and largest value of any of the lines, bands included."""
    return min(float(one.low.min()) for one in lines), max(float(one.high.max()) for one in lines)

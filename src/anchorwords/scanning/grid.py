"""Numbers of topics to scan if none are given: a first grid that suits the data, then what it turns out to need.

The first grid grows geometrically. It is extended if a level lies at its end, and filled around the end of the spectrum
if that is found, so that neighbouring numbers can be compared there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .recommend import narrow

if TYPE_CHECKING:
    from .directions import Directions

_FIRST = (5, 10, 15, 20, 30, 40, 60, 80)
# If the data have no room for twenty topics.
_SMALL = (2, 3, 4, 5, 6, 8, 10, 12, 15)
# Fewest documents per topic: each half of the documents has five.
_DOCUMENTS = 10
# The grid is not extended beyond this number without being asked. Finer levels exist (cve has one beyond 320), but such a
# scan takes minutes: 193 s for cve up to 320, two thirds of it for the two largest numbers.
_LARGEST = 160
# Numbers on either side of the end of the spectrum.
_AROUND = 2


def first_numbers(n_docs: int, n_possible: int) -> list[int]:
    """The first grid for so many documents, and at most so many topics."""
    most = max(1, min(n_possible, n_docs // _DOCUMENTS))
    grid = _FIRST if most >= _FIRST[3] else _SMALL
    return [K for K in grid if most >= K] or [most]


def extended(numbers: Sequence[int], n_docs: int, n_possible: int) -> list[int]:
    """The grid with one and a half times, and twice, its largest number; unchanged if the data or the limit forbid it."""
    last = numbers[-1]
    more = [3 * last // 2, 2 * last]
    most = min(_LARGEST, n_possible, n_docs // _DOCUMENTS)
    return [*numbers, *more] if last >= _FIRST[-1] and more[-1] <= most else list(numbers)


def refined(numbers: Sequence[int], directions: Directions | None) -> list[int]:
    """The grid with the neighbours of the end of the spectrum, and without numbers far beyond it, if there is an end."""
    if directions is None or not narrow(directions):
        return list(numbers)
    near = range(max(1, directions.n - _AROUND), min(directions.n_most + _AROUND, numbers[-1]) + 1)
    last = 2 * directions.n_most + _AROUND
    return sorted({K for K in numbers if last >= K} | set(near))

"""How the words of one topic change from period to period.

Notation
--------
phi_ti = (n_ti + s B_i) / (n_t + s)   probability of word i in the topic in period t, from expected counts n (see
                                      :mod:`anchorwords.trends.word_sums`) and s pseudo-counts of the topic's own B
variance of phi_ti = max(sum_m (n_mi - phi_ti n_m)^2, n_t phi_ti) / (n_t + s)^2

The variance is that of a ratio of sums over documents, and at least that of Poisson counts, as a word that happens not to
occur in a period is not certain to be absent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from .._typing import FloatArray
from ..exceptions import InputError
from ..interpret.ranking import largest
from ..records import TableRecord
from ..records.table import Table
from .shown import words_tables


@dataclass(frozen=True, eq=False, repr=False)
class TopicWords(TableRecord):
    """The words of one topic in each period.

    Attributes
    ----------
    topic : int
    label : str
    periods : tuple
        The T periods.
    tokens : (T,) array
        Expected tokens of the topic in each period.
    words : tuple of C str
        The words that were followed, most probable first.
    probability, error : (T, C) arrays
        Smoothed probability of each word in the topic in each period, and its standard error.
    top : list of T lists of str
        The best words of each period.
    rising, falling : list of dict
        Words whose probability in the topic changes most: word, early and late probability, log2_ratio, lower, upper.
    smoothing : float
        Pseudo-counts.
    level : float
        Level of the intervals.
    """

    topic: int
    label: str
    periods: tuple[Any, ...]
    tokens: FloatArray
    words: tuple[str, ...]
    probability: FloatArray
    error: FloatArray
    top: list[list[str]]
    rising: list[dict[str, Any]]
    falling: list[dict[str, Any]]
    smoothing: float
    level: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per period and top word: period, rank (from 1), word, probability, lower, upper."""
        column = {word: c for c, word in enumerate(self.words)}
        z = float(ndtri((1.0 + self.level) / 2.0))
        found = []
        for t, period in enumerate(self.periods):
            for rank, word in enumerate(self.top[t], start=1):
                p, half = self.probability[t, column[word]], z * self.error[t, column[word]]
                lower, upper = max(0.0, float(p - half)), min(1.0, float(p + half))
                found.append(
                    {
                        "period": period,
                        "rank": rank,
                        "word": word,
                        "probability": float(p),
                        "lower": lower,
                        "upper": upper,
                    }
                )
        return found

    def _tables(self, max_rows: int | None) -> list[Table]:
        return words_tables(self, max_rows)


@dataclass(frozen=True, eq=False)
class FollowedWords:
    """Sums over the documents of each period for one topic: rows of :class:`anchorwords.trends.word_sums.PeriodWords`."""

    own: FloatArray  # (C,) B of the words
    counts: FloatArray  # (T, C)
    squares: FloatArray
    cross: FloatArray
    tokens: FloatArray  # (T,)
    token_squares: FloatArray
    smoothing: float

    def pooled(self, chosen: list[int]) -> FollowedWords:
        """Return the sums of these periods together, as one period."""
        names = ("counts", "squares", "cross", "tokens", "token_squares")
        return replace(self, **{name: getattr(self, name)[chosen].sum(axis=0, keepdims=True) for name in names})

    def estimates(self) -> tuple[FloatArray, FloatArray]:
        """Return phi and its standard error, (T, C) each."""
        size = (self.tokens + self.smoothing)[:, None]
        phi = (self.counts + self.smoothing * self.own) / np.where(size > 0.0, size, 1.0)
        robust = self.squares - 2.0 * phi * self.cross + phi**2 * self.token_squares[:, None]
        variance = np.maximum(robust, self.tokens[:, None] * phi)
        return phi, np.sqrt(variance) / np.where(size > 0.0, size, 1.0)

    def changes(self, early: list[int], late: list[int], level: float) -> dict[str, FloatArray]:
        """Return log2 of the ratio of late to early probabilities, with an interval, by word; nan if either is zero."""
        (before, before_error), (after, after_error) = (self.pooled(part).estimates() for part in (early, late))
        known = (before[0] > 0.0) & (after[0] > 0.0)
        one, other = np.where(known, before[0], 1.0), np.where(known, after[0], 1.0)
        ratio = np.log2(other / one)
        error = np.sqrt((before_error[0] / one) ** 2 + (after_error[0] / other) ** 2) / np.log(2.0)
        half = float(ndtri((1.0 + level) / 2.0)) * error
        found = {
            "early": before[0], "late": after[0], "log2_ratio": ratio, "lower": ratio - half, "upper": ratio + half,
        }  # fmt: skip
        return {name: np.where(known, values, np.nan) for name, values in found.items()}


def largest_changes(changes: dict[str, FloatArray], words: tuple[str, ...], n: int) -> tuple[list[Any], list[Any]]:
    """Words that rise and those that fall, largest first by the end of their interval that is nearer to no change.

    Words whose interval includes no change are not listed: a large ratio of rare words alone is no evidence.
    """

    def listed(score: FloatArray) -> list[dict[str, Any]]:
        score = np.where(np.isnan(score) | (score <= 0.0), -np.inf, score)
        places = [c for c in largest(score, n).tolist() if score[c] > 0.0]
        return [{"word": words[c]} | {name: float(values[c]) for name, values in changes.items()} for c in places]

    return listed(changes["lower"]), listed(-changes["upper"])


def compared_periods(names: tuple[Any, ...], between: Any) -> tuple[list[int], list[int]]:
    """The periods to compare: two that are named, else the first third with the last third."""
    if between is None:
        third = max(1, len(names) // 3)
        return list(range(third)), list(range(len(names) - third, len(names)))
    if not isinstance(between, (tuple, list)) or len(between) != 2:
        raise InputError(f"between must be two periods, such as {(names[0], names[-1])!r}, but is {between!r}.")
    for name in between:
        if name not in names:
            raise InputError(f"there is no period {name!r}: periods run from {names[0]!r} to {names[-1]!r}.")
    return [names.index(between[0])], [names.index(between[1])]

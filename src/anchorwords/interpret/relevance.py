"""The words that a topic can list at any place of the relevance slider.

Notation
--------
s_i(w) = log B_ik - (1 - w) log p_i   relevance of word i at weight w (LDAvis): a straight line in w
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, IntArray
from .ranking import columns_of, largest, word_probabilities

# Steps of the slider, and the ends of the stretches that are looked at one by one.
STEP = 0.01
_STRETCHES = np.array([0.0, 0.1, 0.25, 0.45, 0.7, 1.0])
# As anchorwords.interpret.ranking: scores that agree to so many digits are ties.
_DIGITS = 12


def words_at_any_weight(B: FloatArray, prevalence: FloatArray, n: int) -> list[IntArray]:
    """Of each topic the words that are among its n most relevant at some step of the slider.

    On a stretch of weights a line is nowhere above the higher of its ends. The words that lead at one end are nowhere
    below the lower of theirs, so that there are always n words at least as good as the least of these: whoever does not
    reach it at either end of the stretch leads nowhere on it. The few that do are put in order at every step.

    Returns
    -------
    list of K arrays
        Columns, in order.
    """
    log_p = np.log(np.maximum(word_probabilities(B, prevalence), np.finfo(np.float64).tiny))
    weights = np.linspace(0.0, 1.0, round(1.0 / STEP) + 1)
    found = []
    for column in columns_of(B):
        words = np.flatnonzero(column > 0.0)
        log_b, own_p = np.log(column[words]), log_p[words]
        able = _able(log_b, own_p, n)
        scores = log_b[able] - (1.0 - weights[:, None]) * own_p[able]
        best = [able[largest(np.round(row, _DIGITS), n)] for row in scores]
        found.append(words[np.unique(np.concatenate(best))])
    return found


def _able(log_b: FloatArray, log_p: FloatArray, n: int) -> IntArray:
    """Places of words that may be among the n best at some weight."""
    ends = [log_b - (1.0 - weight) * log_p for weight in _STRETCHES]
    leading = [largest(np.round(scores, _DIGITS), n) for scores in ends]
    able = np.zeros(log_b.size, dtype=bool)
    for i in range(len(ends) - 1):
        low, high = np.minimum(ends[i], ends[i + 1]), np.maximum(ends[i], ends[i + 1])
        bar = max(low[leading[i]].min(initial=np.inf), low[leading[i + 1]].min(initial=np.inf))
        able |= high >= bar - 1e-9  # rounding to digits must not lose a tie
    return np.flatnonzero(able)

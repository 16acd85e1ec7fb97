"""Match the topics of two models: topics have no order, so compare them after the best pairing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import InputError

# Words compared at a time: a tile of either model's topics stays in the cache.
_WORDS = 1024


class Matching(NamedTuple):
    """Best pairing of topics.

    Attributes
    ----------
    other : (K,) int array
        Topic of the second model paired with each topic of the first, -1 where it has none.
    total_variation : (K,) array
        sum_i |B_ik - B'_ik'| / 2 of each pair, between 0 and 1; nan where there is none.
    """

    other: IntArray
    total_variation: FloatArray


def match_topics(B: Any, other: Any) -> Matching:
    """Pair the columns of two N x K matrices of topics so that the total variation summed over pairs is least.

    :func:`anchorwords.align_topics` pairs models of different size or vocabulary.
    """
    if np.shape(B) != np.shape(other) or np.ndim(B) != 2:
        raise InputError(
            f"both must be words x topics of the same shape, but are {np.shape(B)} and {np.shape(other)}: align_topics "
            "compares models of different size."
        )
    return best_pairing(topic_distances(B, other))


def topic_distances(B: Any, other: Any) -> FloatArray:
    """Total variation between each topic of one model and each of another over the same words, (K, K')."""
    from scipy.spatial.distance import cdist

    first, second = np.asarray(B, dtype=np.float64), np.asarray(other, dtype=np.float64)
    cost = np.zeros((first.shape[1], second.shape[1]))
    for start in range(0, first.shape[0], _WORDS):
        words = slice(start, start + _WORDS)
        cost += cdist(first[words].T, second[words].T, "cityblock")
    return cost / 2.0


def best_pairing(distances: FloatArray, farthest: float = np.inf) -> Matching:
    """Pair rows and columns so that the sum of distances is least; pairs at ``farthest`` or beyond are no better than none.

    A topic without a partner counts as one at that distance, so that a pair is made only where it brings topics nearer.
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(np.minimum(distances, farthest))
    near = distances[rows, columns] < farthest
    other = np.full(distances.shape[0], -1, dtype=np.intp)
    variation = np.full(distances.shape[0], np.nan)
    other[rows[near]] = columns[near]
    variation[rows[near]] = distances[rows[near], columns[near]]
    return Matching(other, variation)

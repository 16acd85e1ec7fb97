"""Match the topics of two models: topics have no order, so compare them after the best pairing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._typing import FloatArray, IntArray
from ..exceptions import InputError


class Matching(NamedTuple):
    """Best pairing of topics.

    Attributes
    ----------
    other : (K,) int array
        Topic of the second model paired with each topic of the first.
    total_variation : (K,) array
        sum_i |B_ik - B'_ik'| / 2 of each pair, between 0 and 1.
    """

    other: IntArray
    total_variation: FloatArray


def match_topics(B: Any, other: Any) -> Matching:
    """Pair the columns of two N x K matrices of topics so that the total variation summed over pairs is least."""
    first, second = np.asarray(B, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 2 or first.shape != second.shape:
        raise InputError(f"both must be words x topics of the same shape, but are {first.shape} and {second.shape}.")
    cost = np.stack([np.abs(first - second[:, [k]]).sum(axis=0) for k in range(second.shape[1])], axis=1) / 2.0
    rows, columns = linear_sum_assignment(cost)
    return Matching(columns.astype(np.intp), cost[rows, columns])

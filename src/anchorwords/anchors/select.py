"""Choice of anchors: pivots among the rows of the normalised co-occurrence."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._namespace import array_namespace, like, to_numpy
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_n_components
from ..exceptions import DegenerateWarning, InputError
from ..linalg.pivoted import pivot_rows
from ..linalg.tall import squared_lengths


def select_anchors(rows: Any, K: int, candidates: BoolArray, frequency: FloatArray, fixed: IntArray) -> IntArray:
    """K anchors: those given, then the rows farthest from the span of the chosen ones.

    Parameters
    ----------
    rows : (N, D) array
        Normalised co-occurrence, or its coordinates in any orthonormal basis (Lemma 2: same pivots).
    K : int
    candidates : (N,) bool array
        Words that may be chosen.
    frequency : (N,) array
        Probability of each word. Where the rows span fewer than K dimensions, the missing anchors are the most
        frequent candidates left, with a warning: the model stays valid, but these topics add nothing.
    fixed : (at most K,) int array
        Words taken first, candidates or not.
    """
    eligible = candidates.copy()
    eligible[fixed] = True
    check_n_components(K, int(eligible.sum()), "usable words that may be anchors")
    chosen = pivot_rows(rows, K, candidates=candidates, first=fixed).indices
    lengths = to_numpy(squared_lengths(array_namespace(rows).take(rows, like(fixed, rows), axis=0)))
    if not lengths.all():
        lost = fixed[lengths == 0.0][0]
        raise InputError(f"the given anchor in column {lost} co-occurs with no word: leave it out.")
    if chosen.size < fixed.size:
        raise InputError(
            f"the given anchors must be independent of each other, but number {chosen.size + 1} of them "
            f"(column {fixed[chosen.size]}) occurs with the same words as those before it: leave it out."
        )
    if chosen.size < K:
        warnings.warn(
            f"n_components={K} exceeds the numerical rank {chosen.size} of the co-occurrence statistics: the last "
            f"{K - chosen.size} topic(s) add nothing; ask for at most {chosen.size} or give more varied documents.",
            DegenerateWarning,
            stacklevel=4,
        )
        left = np.where(eligible, frequency, -np.inf)
        left[chosen] = -np.inf
        chosen = np.concatenate([chosen, np.argsort(-left, kind="stable")[: K - chosen.size]])
    return chosen

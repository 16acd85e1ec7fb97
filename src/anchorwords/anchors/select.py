"""Choice of anchors: pivots among the rows of the normalised co-occurrence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_n_components
from ..exceptions import InputError, RankError
from ..linalg.pivoted import pivot_rows


def select_anchors(rows: FloatArray, K: int, candidates: BoolArray, anchors: Any = None) -> IntArray:
    """K anchors: those given, then the rows farthest from the span of the chosen ones.

    Parameters
    ----------
    rows : (N, D) array
        Normalised co-occurrence, or its coordinates in any orthonormal basis (Lemma 2: same pivots).
    K : int
    candidates : (N,) bool array
        Words that may become anchors.
    anchors : sequence of int, optional
        Up to K words taken first.
    """
    fixed = check_anchors(anchors, rows.shape[0], K)
    eligible = candidates.copy()
    eligible[fixed] = True
    check_n_components(K, int(eligible.sum()))
    chosen = pivot_rows(rows, K, candidates=candidates, first=fixed).indices
    if chosen.size < fixed.size:
        raise InputError(
            f"the given anchors must be independent of each other, but number {chosen.size + 1} of them "
            f"(column {fixed[chosen.size]}) occurs with the same words as those before it: leave it out."
        )
    if chosen.size < K:
        raise RankError(
            f"n_components={K} exceeds the numerical rank {chosen.size} of the co-occurrence statistics: ask for at "
            f"most {chosen.size} topic(s) or give more varied documents."
        )
    return chosen


def check_anchors(anchors: Sequence[int] | IntArray | None, n_words: int, K: int) -> IntArray:
    """Anchors as distinct column indices, at most K, or InputError."""
    if anchors is None:
        return np.zeros(0, dtype=np.intp)
    index = np.asarray(anchors)
    if index.size == 0:
        return np.zeros(0, dtype=np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise InputError(f"anchors must be a sequence of column indices, but got {anchors!r}.")
    if index.size > K:
        raise InputError(f"at most n_components={K} anchors can be given, but there are {index.size}.")
    if index.min() < 0 or index.max() >= n_words:
        raise InputError(f"anchors must be column indices from 0 to {n_words - 1}, but got {anchors!r}.")
    if np.unique(index).size != index.size:
        raise InputError(f"anchors must be distinct words, but got {anchors!r}.")
    return index.astype(np.intp)

"""Row pivots: the first K steps of column-pivoted QR on X', without the rest of the factorisation.

Notation
--------
X : (N, D)   rows among which pivots are chosen
Q : (D, k)   orthonormal basis of the span of the pivots chosen so far
rho : (N,)   squared distance of each row from that span, or a bound on it

Distances only shrink as the span grows, so one computed for a smaller span is a bound for the present one. The next
pivot is found by looking at the largest bounds alone, a block of rows at a time: once the largest is up to
date, it is the largest of all. Most rows are looked at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._namespace import array_namespace, like, to_numpy
from .._typing import BoolArray, FloatArray, IntArray
from .tall import squared_lengths

# Rows brought up to date together; doubled as long as the pivot is not found.
_BLOCK = 64


class Pivots(NamedTuple):
    """Chosen rows in order, and the distance of each from the span of those before it."""

    indices: IntArray
    residuals: FloatArray


def pivot_rows(X: Any, n_pivots: int, *, candidates: BoolArray | None = None, first: IntArray | None = None) -> Pivots:
    """Greedily choose rows of X that are farthest from the span of those already chosen.

    Parameters
    ----------
    X : (N, D) array
        Of any array namespace.
    n_pivots : int
        How many to choose.
    candidates : (N,) bool array, optional
        Rows that may be chosen; all by default.
    first : int array, optional
        Rows taken, in this order, before any is chosen.

    Returns
    -------
    Pivots
        Fewer than ``n_pivots`` where the remaining candidates lie in the span of the chosen ones to rounding.
        Ties go to the lowest index.
    """
    N, D = X.shape
    fixed = np.zeros(0, dtype=np.intp) if first is None else np.asarray(first, dtype=np.intp)
    squares = to_numpy(squared_lengths(X))
    rho = squares.copy() if candidates is None else np.where(candidates, squares, -1.0)
    largest = max(float(rho.max(initial=0.0)), float(squares[fixed].max(initial=0.0)))
    rounding = (D * np.finfo(np.float64).eps) ** 2 * largest
    age = np.zeros(N, dtype=np.intp)  # size of the span that rho was computed for
    Q = np.zeros((D, n_pivots))
    indices: list[int] = []
    residuals: list[float] = []
    for k in range(n_pivots):
        pivot = int(fixed[k]) if k < fixed.size else _farthest(X, Q[:, :k], rho, age)
        q = to_numpy(X[pivot, :]).copy()
        for _ in range(2):  # once is not enough to be orthogonal to rounding
            q -= Q[:, :k] @ (Q[:, :k].T @ q)
        distance = float(np.linalg.norm(q))
        if distance * distance <= rounding or (k >= fixed.size and rho[pivot] < 0.0):
            break
        Q[:, k] = q / distance
        rho[pivot] = -1.0
        indices.append(pivot)
        residuals.append(distance)
    return Pivots(np.array(indices, dtype=np.intp), np.array(residuals))


def _farthest(X: Any, Q: FloatArray, rho: FloatArray, age: IntArray) -> int:
    """Row of largest rho, after bringing as many bounds up to date as that takes; -1 marks rows that are out."""
    k = Q.shape[1]
    size = _BLOCK
    while True:
        pivot = int(np.argmax(rho))
        if rho[pivot] < 0.0 or age[pivot] == k:
            return pivot
        stale = np.argpartition(-rho, size)[:size] if size < rho.size else np.arange(rho.size)
        stale = stale[(age[stale] < k) & (rho[stale] >= 0.0)]
        rows = array_namespace(X).take(X, like(stale, X), axis=0)
        basis = like(np.ascontiguousarray(Q), X)
        rho[stale] = to_numpy(squared_lengths(rows - (rows @ basis) @ basis.T))
        age[stale] = k
        size *= 2

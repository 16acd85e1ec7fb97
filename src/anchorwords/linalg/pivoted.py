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

from .._namespace import array_namespace, is_numpy, like, to_numpy
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
    D = X.shape[1]
    fixed = np.zeros(0, dtype=np.intp) if first is None else np.asarray(first, dtype=np.intp)
    rows = _LazyRows(X, candidates, n_pivots) if is_numpy(X) else _DeflatedRows(X, candidates)
    of_fixed = to_numpy(squared_lengths(array_namespace(X).take(X, like(fixed, X), axis=0)))
    largest = max(0.0, rows.farthest()[1], float(of_fixed.max(initial=0.0)))
    rounding = (D * np.finfo(np.float64).eps) ** 2 * largest
    Q = np.zeros((D, n_pivots))
    indices: list[int] = []
    residuals: list[float] = []
    for k in range(n_pivots):
        pivot, bound = (int(fixed[k]), 0.0) if k < fixed.size else rows.farthest()
        q = to_numpy(X[pivot, :]).copy()
        for _ in range(2):  # once is not enough to be orthogonal to rounding
            q -= Q[:, :k] @ (Q[:, :k].T @ q)
        distance = float(np.linalg.norm(q))
        if distance * distance <= rounding or bound < 0.0:
            break
        Q[:, k] = q / distance
        rows.take_out(pivot, Q[:, k])
        indices.append(pivot)
        residuals.append(distance)
    return Pivots(np.array(indices, dtype=np.intp), np.array(residuals))


class _LazyRows:
    """Squared distances of rows from the span of the pivots, as bounds that are brought up to date where it matters."""

    def __init__(self, X: FloatArray, candidates: BoolArray | None, n_pivots: int) -> None:
        self._X, self._Q, self._k = X, np.zeros((X.shape[1], n_pivots)), 0
        squares = squared_lengths(X)
        self._rho = squares.copy() if candidates is None else np.where(candidates, squares, -1.0)
        self._age = np.zeros(X.shape[0], dtype=np.intp)  # size of the span that rho was computed for

    def farthest(self) -> tuple[int, float]:
        """Row of largest rho, and rho, after bringing as many bounds up to date as that takes; rows that are out have -1."""
        rho, age, Q = self._rho, self._age, self._Q[:, : self._k]
        size = _BLOCK
        while True:
            pivot = int(np.argmax(rho))
            if rho[pivot] < 0.0 or age[pivot] == self._k:
                return pivot, float(rho[pivot])
            stale = np.argpartition(-rho, size)[:size] if size < rho.size else np.arange(rho.size)
            stale = stale[(age[stale] < self._k) & (rho[stale] >= 0.0)]
            rows = self._X[stale]
            rho[stale] = squared_lengths(rows - (rows @ Q) @ Q.T)
            age[stale] = self._k
            size *= 2

    def take_out(self, pivot: int, q: FloatArray) -> None:
        """Take a row as a pivot, the next direction of the span being q."""
        self._Q[:, self._k] = q
        self._k += 1
        self._rho[pivot] = -1.0


class _DeflatedRows:
    """The same by the definition, for libraries that work best on whole arrays: all rows lose their part along q."""

    def __init__(self, X: Any, candidates: BoolArray | None) -> None:
        self._rows = X
        self._numbers = like(np.arange(X.shape[0]), X)
        self._out = like(np.zeros(X.shape[0], dtype=bool) if candidates is None else ~candidates, X)
        self._refresh()

    def _refresh(self) -> None:
        xp, squares = array_namespace(self._rows), squared_lengths(self._rows)
        self._rho = xp.where(self._out, -xp.ones_like(squares), squares)

    def farthest(self) -> tuple[int, float]:
        """Row of largest distance, and that squared."""
        pivot = int(array_namespace(self._rho).argmax(self._rho))
        return pivot, float(self._rho[pivot])

    def take_out(self, pivot: int, q: FloatArray) -> None:
        """Take a row as a pivot, the next direction of the span being q."""
        direction = like(q, self._rows)[:, None]
        self._rows = self._rows - (self._rows @ direction) @ direction.T
        self._out = self._out | (self._numbers == pivot)
        self._refresh()

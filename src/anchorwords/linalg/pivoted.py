"""Row pivots: the first K steps of column-pivoted QR on X', without the rest of the factorisation.

Notation
--------
X : (N, D)   rows among which pivots are chosen
Q : (D, k)   orthonormal basis of the span of the pivots chosen so far
rho : (N,)   squared distance of each row from that span
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray

# Squared distances are downdated, which loses digits as they shrink; below this share of their value at the
# last fresh computation they are computed afresh.
_REFRESH = 1e-6


class Pivots(NamedTuple):
    """Chosen rows in order, and the distance of each from the span of those before it."""

    indices: IntArray
    residuals: FloatArray


def pivot_rows(
    X: FloatArray, n_pivots: int, *, candidates: BoolArray | None = None, first: IntArray | None = None
) -> Pivots:
    """Greedily choose rows of X that are farthest from the span of those already chosen.

    Parameters
    ----------
    X : (N, D) array
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
    barred = np.zeros(N, dtype=bool) if candidates is None else ~candidates
    rho = np.einsum("ij,ij->i", X, X)
    allowed_rho = np.where(barred, 0.0, rho)
    allowed_rho[fixed] = rho[fixed]
    largest = float(allowed_rho.max(initial=0.0))
    rounding = (D * np.finfo(np.float64).eps) ** 2 * largest
    fresh = largest
    Q = np.zeros((D, n_pivots))
    indices: list[int] = []
    residuals: list[float] = []
    for k in range(n_pivots):
        if k < fixed.size:
            pivot = int(fixed[k])
        else:
            open_rho = np.where(barred, -1.0, rho)
            pivot = int(np.argmax(open_rho))
            if open_rho[pivot] < _REFRESH * fresh:
                rho = _squared_distances(X, Q[:, :k])
                open_rho = np.where(barred, -1.0, rho)
                pivot = int(np.argmax(open_rho))
                fresh = float(open_rho[pivot])
        q = X[pivot].copy()
        for _ in range(2):  # once is not enough to be orthogonal to rounding
            q -= Q[:, :k] @ (Q[:, :k].T @ q)
        distance = float(np.linalg.norm(q))
        if distance * distance <= rounding or (k >= fixed.size and barred[pivot]):
            break
        Q[:, k] = q / distance
        rho = np.maximum(rho - (X @ Q[:, k]) ** 2, 0.0)
        barred[pivot] = True
        indices.append(pivot)
        residuals.append(distance)
    return Pivots(np.array(indices, dtype=np.intp), np.array(residuals))


def _squared_distances(X: FloatArray, Q: FloatArray) -> FloatArray:
    remainder = X - (X @ Q) @ Q.T
    return np.einsum("ij,ij->i", remainder, remainder)

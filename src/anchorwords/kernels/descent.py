"""Non-negative least squares by coordinate descent, row by row, and the products with sparse matrices that it needs.

Notation is that of :mod:`anchorwords.refine.least_squares`.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..linalg.parallel import for_each_block
from .compiled import CSR, INT, MATRIX, READ_MATRIX, VOID, compiled
from .protocol import CsrParts

# Rows that a thread takes at a time.
_ROWS = 256


def sparse_product(rows: CsrParts, V: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """X V for X (M, N) given by its rows and V (N, k)."""
    V = np.ascontiguousarray(V)
    out = np.empty((rows[0].size - 1, V.shape[1]))
    for_each_block(lambda start, stop: _add_rows(*rows, V, start, out[start:stop]), out.shape[0], _ROWS, n_jobs)
    return out


def descend(P: FloatArray, G: FloatArray, W: FloatArray, rounds: int, n_jobs: int | None = None) -> FloatArray:
    """Improve the rows of W, in place where they can be written to."""
    W = np.require(W, requirements=["C", "W"])
    P, G = np.ascontiguousarray(P), np.ascontiguousarray(G)
    for_each_block(
        lambda start, stop: _descend_rows(P[start:stop], G, rounds, W[start:stop]), W.shape[0], _ROWS, n_jobs
    )
    return W


@compiled(VOID, *CSR, READ_MATRIX, INT, MATRIX, reorder=True)
def _add_rows(indptr, indices, data, V, first, out):  # type: ignore[no-untyped-def]
    """Fill out with rows of X V; four entries go together, so that a row of the result is read and written less often."""
    k_all = V.shape[1]
    for row in range(out.shape[0]):
        begin, end = indptr[first + row], indptr[first + row + 1]
        for k in range(k_all):
            out[row, k] = 0.0
        whole = begin + (end - begin) // 4 * 4
        for q in range(begin, whole, 4):
            a0, a1, a2, a3 = data[q], data[q + 1], data[q + 2], data[q + 3]
            v0, v1, v2, v3 = V[indices[q]], V[indices[q + 1]], V[indices[q + 2]], V[indices[q + 3]]
            for k in range(k_all):
                out[row, k] += (a0 * v0[k] + a1 * v1[k]) + (a2 * v2[k] + a3 * v3[k])
        for q in range(whole, end):
            a0, v0 = data[q], V[indices[q]]
            for k in range(k_all):
                out[row, k] += a0 * v0[k]


@compiled(VOID, READ_MATRIX, READ_MATRIX, INT, MATRIX, reorder=True)
def _descend_rows(P, G, rounds, W):  # type: ignore[no-untyped-def]
    """The slope P - W G is kept up to date, so that a coordinate that stays costs nothing."""
    K = G.shape[0]
    slope = np.empty(K)
    for row in range(W.shape[0]):
        for k in range(K):
            slope[k] = P[row, k]
        for k in range(K):
            w = W[row, k]
            if w != 0.0:
                for j in range(K):
                    slope[j] -= w * G[k, j]
        for _ in range(rounds):
            moved = False
            for k in range(K):
                old = W[row, k]
                if G[k, k] <= 0.0 or (old == 0.0 and slope[k] <= 0.0):
                    continue
                new = max(0.0, old + slope[k] / G[k, k])
                change = new - old
                if change != 0.0:
                    moved = True
                    W[row, k] = new
                    for j in range(K):
                        slope[j] -= change * G[k, j]
            if not moved:
                break

"""Least squares on the probability simplex by a primal active-set method.

Notation
--------
G : (K, K)   Gram matrix of the vertices, scaled and shifted: see :mod:`anchorwords.linalg.simplex`
b : (K,)     inner products of one target with the vertices
w : (K,)     weights, w >= 0, sum w = 1
L : (K, K)   Cholesky factor of G on the current face

In the manner of Lawson and Hanson: the face of the simplex that carries w grows by the vertex that violates the
optimality conditions most and shrinks when a weight would turn negative; each face is solved exactly by a Cholesky
factor that is updated, not recomputed, as the face grows.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..linalg.parallel import for_each_block
from .compiled import FLOAT, INT, MATRIX, READ_MATRIX, VOID, compiled, inner

# Violations of the optimality conditions below this are rounding: entries are scaled to at most 2, and a sum of
# K such terms carries an error of a few units in the last place.
KKT_TOLERANCE = 1e-13
# A vertex closer than this (squared, relative) to the affine hull of the face is taken to lie in it: the factor cannot
# tell. What such a vertex could still gain is its distance, 3e-8 of its norm, times the residual.
_DEPENDENT = 1e-15
# A face this narrow (squared, relative) is solved with iterative refinement.
_NARROW = 1e-6
_BLOCK = 128


def simplex_least_squares(G: FloatArray, rhs: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Minimise w'Gw/2 - rhs_i'w on the simplex for every row of ``rhs``."""
    G, rhs = np.ascontiguousarray(G), np.ascontiguousarray(rhs)
    weights = np.zeros_like(rhs)
    steps = 10 * G.shape[0] + 100

    def work(start: int, stop: int) -> None:
        _solve_rows(G, rhs[start:stop], weights[start:stop], KKT_TOLERANCE, steps)

    for_each_block(work, rhs.shape[0], _BLOCK, n_jobs)
    return weights


@inner
def _append(G, L, face, size, vertex):  # type: ignore[no-untyped-def]
    """Add a row to the Cholesky factor of G on the face; False where the vertex is dependent."""
    for p in range(size):
        s = G[vertex, face[p]]
        for q in range(p):
            s -= L[size, q] * L[p, q]
        L[size, p] = s / L[p, p]
    s = G[vertex, vertex]
    for q in range(size):
        s -= L[size, q] * L[size, q]
    if s <= _DEPENDENT * G[vertex, vertex]:
        return False
    L[size, size] = np.sqrt(s)
    face[size] = vertex
    return True


@inner
def _remove(G, L, face, w, size, position):  # type: ignore[no-untyped-def]
    """Take one vertex out of the face and refactor the rows behind it."""
    for p in range(position, size - 1):
        face[p] = face[p + 1]
        w[p] = w[p + 1]
    size -= 1
    for p in range(position, size):
        for q in range(p):
            s = G[face[p], face[q]]
            for r in range(q):
                s -= L[p, r] * L[q, r]
            L[p, q] = s / L[q, q]
        s = G[face[p], face[p]]
        for r in range(p):
            s -= L[p, r] * L[p, r]
        L[p, p] = np.sqrt(max(s, _DEPENDENT * G[face[p], face[p]]))
    return size


@inner
def _saddle_solve(L, size, z, u, total):  # type: ignore[no-untyped-def]
    """Solve L L' x + nu e = z, e'x = total in place for u = L^-1 e; returns nu."""
    zu = 0.0
    uu = 0.0
    for p in range(size):
        s = z[p]
        for q in range(p):
            s -= L[p, q] * z[q]
        z[p] = s / L[p, p]
        zu += z[p] * u[p]
        uu += u[p] * u[p]
    nu = (zu - total) / uu
    for p in range(size):
        z[p] -= nu * u[p]
    for p in range(size - 1, -1, -1):
        s = z[p]
        for q in range(p + 1, size):
            s -= L[q, p] * z[q]
        z[p] = s / L[p, p]
    return nu


@inner
def _face_optimum(G, b, L, face, size, z, u):  # type: ignore[no-untyped-def]
    """Minimise over the affine hull of the face: G z + nu e = b, e'z = 1."""
    narrow = False
    for p in range(size):  # u = L^-1 e
        narrow |= L[p, p] * L[p, p] < _NARROW * G[face[p], face[p]]
        t = 1.0
        for q in range(p):
            t -= L[p, q] * u[q]
        u[p] = t / L[p, p]
        z[p] = b[face[p]]
    nu = _saddle_solve(L, size, z, u, 1.0)
    if not narrow:
        return
    r = np.empty(size)
    for _ in range(3):  # the factor has lost digits: refine with the residual of the equations themselves
        total = 1.0
        for p in range(size):
            s = b[face[p]] - nu
            for q in range(size):
                s -= G[face[p], face[q]] * z[q]
            r[p] = s
            total -= z[p]
        nu += _saddle_solve(L, size, r, u, total)
        for p in range(size):
            z[p] += r[p]


@inner
def _solve_one(G, b, L, face, inside, barred, w, z, u, tol, max_steps):  # type: ignore[no-untyped-def]
    """Active set for one target; returns the size of the optimal face (vertices in face, weights in w)."""
    K = G.shape[0]
    start = 0
    for j in range(K):
        inside[j] = False
        barred[j] = False
        if 0.5 * G[j, j] - b[j] < 0.5 * G[start, start] - b[start]:
            start = j
    face[0] = start
    inside[start] = True
    w[0] = 1.0
    L[0, 0] = np.sqrt(G[start, start])
    size = 1
    for _ in range(max_steps):
        # Gradient level on the face, then the vertex outside that violates optimality most.
        level = 0.0
        for p in range(size):
            g = -b[face[p]]
            for q in range(size):
                g += G[face[p], face[q]] * w[q]
            level += w[p] * g
        entering = -1
        lowest = level - tol
        for j in range(K):
            if inside[j] or barred[j]:
                continue
            g = -b[j]
            for q in range(size):
                g += G[j, face[q]] * w[q]
            if g < lowest:
                lowest = g
                entering = j
        if entering < 0:
            break
        if not _append(G, L, face, size, entering):
            barred[entering] = True  # in the affine hull of the face: cannot improve
            continue
        inside[entering] = True
        w[size] = 0.0
        size += 1
        moved = False
        while True:
            _face_optimum(G, b, L, face, size, z, u)
            step = 1.0
            leaving = -1
            for p in range(size):
                if z[p] <= 0.0:
                    ratio = w[p] / (w[p] - z[p]) if w[p] > 0.0 else 0.0
                    if ratio < step:
                        step = ratio
                        leaving = p
            if leaving < 0:
                for p in range(size):
                    w[p] = z[p]
                moved = True
                break
            if step > 0.0:
                moved = True
            for p in range(size):
                w[p] += step * (z[p] - w[p])
            dropped = face[leaving]
            inside[dropped] = False
            if dropped == entering and not moved:
                barred[entering] = True  # entered and left without a step: its violation was rounding
            size = _remove(G, L, face, w, size, leaving)
            if size == 1:
                w[0] = 1.0
                break
            if dropped == entering and not moved:
                break
        if moved:
            for j in range(K):
                barred[j] = False
    total = 0.0
    for p in range(size):
        total += w[p]
    for p in range(size):
        w[p] /= total
    return size


@compiled(VOID, READ_MATRIX, READ_MATRIX, MATRIX, FLOAT, INT)
def _solve_rows(G, rhs, weights, tol, max_steps):  # type: ignore[no-untyped-def]
    K = G.shape[0]
    L = np.empty((K, K))
    face = np.empty(K, np.int64)
    inside = np.empty(K, np.bool_)
    barred = np.empty(K, np.bool_)
    w = np.empty(K)
    z = np.empty(K)
    u = np.empty(K)
    for row in range(rhs.shape[0]):
        b = rhs[row]
        size = _solve_one(G, b, L, face, inside, barred, w, z, u, tol, max_steps)
        for p in range(size):
            weights[row, face[p]] = w[p]

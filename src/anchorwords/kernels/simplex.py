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
def _face_optimum(G, b, L, face, size, z, u, r):  # type: ignore[no-untyped-def]
    """Minimise over the affine hull of the face: G z + nu e = b, e'z = 1."""
    narrow = False
    for p in range(size):  # u = L^-1 e
        narrow |= L[p, p] * L[p, p] < _NARROW * G[face[p], face[p]]
        t = 1.0
        for q in range(p):
            t -= L[p, q] * u[q]
        u[p] = t / L[p, p]
        z[p] = 0.0
    nu = 0.0
    # On a narrow face the factor has lost digits: the residual of the equations themselves is solved for, three times.
    for attempt in range(4 if narrow else 1):
        total = 1.0
        for p in range(size):
            s = b[face[p]] - nu
            if attempt > 0:
                for q in range(size):
                    s -= G[face[p], face[q]] * z[q]
            r[p] = s
            total -= z[p]
        nu += _saddle_solve(L, size, r, u, total)
        for p in range(size):
            z[p] += r[p]


@inner
def _nearest_vertex(G, b):  # type: ignore[no-untyped-def]
    """The vertex at which w'Gw/2 - b'w is least."""
    start = 0
    for j in range(G.shape[0]):
        if 0.5 * G[j, j] - b[j] < 0.5 * G[start, start] - b[start]:
            start = j
    return start


@inner
def _entering_vertex(G, b, face, size, inside, barred, w, tol):  # type: ignore[no-untyped-def]
    """The vertex outside of the face that violates optimality most, or -1."""
    level = 0.0  # of the gradient on the face
    for p in range(size):
        g = -b[face[p]]
        for q in range(size):
            g += G[face[p], face[q]] * w[q]
        level += w[p] * g
    entering = -1
    lowest = level - tol
    for j in range(G.shape[0]):
        if inside[j] or barred[j]:
            continue
        g = -b[j]
        for q in range(size):
            g += G[j, face[q]] * w[q]
        if g < lowest:
            lowest = g
            entering = j
    return entering


@inner
def _move(w, z, size):  # type: ignore[no-untyped-def]
    """Go from w towards z as far as no weight turns negative; returns the position that stops it, or -1, and how far."""
    step = 1.0
    leaving = -1
    for p in range(size):
        if z[p] <= 0.0:
            ratio = w[p] / (w[p] - z[p]) if w[p] > 0.0 else 0.0
            if ratio < step:
                step = ratio
                leaving = p
    for p in range(size):
        w[p] = z[p] if leaving < 0 else w[p] + step * (z[p] - w[p])
    return leaving, step


@compiled(VOID, READ_MATRIX, READ_MATRIX, MATRIX, FLOAT, INT)
def _solve_rows(G, rhs, weights, tol, max_steps):  # type: ignore[no-untyped-def]
    """Active set for each row. All functions are called from here: one within another is compiled once more."""
    K = G.shape[0]
    L = np.empty((K, K))
    face = np.empty(K, np.int64)
    inside = np.empty(K, np.bool_)
    barred = np.empty(K, np.bool_)
    w, z, u, r = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    for row in range(rhs.shape[0]):
        b = rhs[row]
        for j in range(K):
            inside[j] = False
            barred[j] = False
        entering = _nearest_vertex(G, b)
        face[0] = entering
        inside[entering] = True
        w[0] = 1.0
        L[0, 0] = np.sqrt(G[entering, entering])
        size = 1
        for _ in range(max_steps):
            entering = _entering_vertex(G, b, face, size, inside, barred, w, tol)
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
                _face_optimum(G, b, L, face, size, z, u, r)
                leaving, step = _move(w, z, size)
                moved = moved or step > 0.0
                if leaving < 0:
                    break
                dropped = face[leaving]
                inside[dropped] = False
                rounding = dropped == entering and not moved  # entered and left without a step
                if rounding:
                    barred[entering] = True
                size = _remove(G, L, face, w, size, leaving)
                if size == 1:
                    w[0] = 1.0
                    break
                if rounding:
                    break
            if moved:
                for j in range(K):
                    barred[j] = False
        total = 0.0
        for p in range(size):
            total += w[p]
        for p in range(size):
            weights[row, face[p]] = w[p] / total

"""Newton steps for the composition of one document: see :mod:`anchorwords.infer.penalised`.

Notation
--------
rows : (K, T)  p(word | topic) of the document's types, topic by topic: loops run along types, in vector lanes
w : (K,)       composition
p : (T,)       rows' w
root : (T,)    square roots of share / p^2: the likelihood's curvature is U U' with U = rows root
D : (K,)       the prior's curvature
order : (K,)   topics, those that depend on each other first

A topic along which the likelihood curves much less than the prior moves by itself. The others move together, and
take note of what these did.
"""

from __future__ import annotations

import numpy as np

from ..linalg.compiled import inner

# A topic moves by itself where the likelihood's curvature along it is less than this share of the prior's.
_COUPLED = 0.2
# A step takes no weight below this share of what it was.
_KEEP = 0.2


@inner
def add_topics(rows, topics, w, p):  # type: ignore[no-untyped-def]
    """Add sum_k w_k rows_k over these topics to p, four at a time."""
    T, n = rows.shape[1], topics.size
    fours = n - n % 4
    for i in range(0, fours, 4):
        k0, k1, k2, k3 = topics[i], topics[i + 1], topics[i + 2], topics[i + 3]
        r0, r1, r2, r3 = rows[k0], rows[k1], rows[k2], rows[k3]
        w0, w1, w2, w3 = w[k0], w[k1], w[k2], w[k3]
        for t in range(T):
            p[t] += w0 * r0[t] + w1 * r1[t] + w2 * r2[t] + w3 * r3[t]
    for i in range(fours, n):
        r0, w0 = rows[topics[i]], w[topics[i]]
        for t in range(T):
            p[t] += w0 * r0[t]


@inner
def topic_products(rows, r, g):  # type: ignore[no-untyped-def]
    """Fill g = rows r, four topics at a time."""
    K, T = rows.shape
    fours = K - K % 4
    for k in range(0, fours, 4):
        r0, r1, r2, r3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        s0 = s1 = s2 = s3 = 0.0
        for t in range(T):
            s0 += r0[t] * r[t]
            s1 += r1[t] * r[t]
            s2 += r2[t] * r[t]
            s3 += r3[t] * r[t]
        g[k], g[k + 1], g[k + 2], g[k + 3] = s0, s1, s2, s3
    for k in range(fours, K):
        s0, r0 = 0.0, rows[k]
        for t in range(T):
            s0 += r0[t] * r[t]
        g[k] = s0


@inner
def _split(rows, root, D, order):  # type: ignore[no-untyped-def]
    """Put the topics that depend on each other first; returns their number."""
    K, T = rows.shape
    size, rest = 0, K
    for k in range(0, K, 4):  # four at a time; those past the last are the last once more
        k1, k2, k3 = min(k + 1, K - 1), min(k + 2, K - 1), min(k + 3, K - 1)
        r0, r1, r2, r3 = rows[k], rows[k1], rows[k2], rows[k3]
        s0 = s1 = s2 = s3 = 0.0
        for t in range(T):
            s0 += (r0[t] * root[t]) * (r0[t] * root[t])
            s1 += (r1[t] * root[t]) * (r1[t] * root[t])
            s2 += (r2[t] * root[t]) * (r2[t] * root[t])
            s3 += (r3[t] * root[t]) * (r3[t] * root[t])
        for i in range(k, min(k + 4, K)):
            curvature = s0 if i == k else s1 if i == k1 else s2 if i == k2 else s3
            if curvature < _COUPLED * D[i]:
                rest -= 1
                order[rest] = i
            else:
                order[size] = i
                size += 1
    return size


@inner
def _gram(U, H):  # type: ignore[no-untyped-def]
    """Lower triangle of U U', in squares of two topics by two."""
    size, T = U.shape
    for i in range(0, size, 2):
        i1 = min(i + 1, size - 1)
        u0, u1 = U[i], U[i1]
        for j in range(0, i1 + 1, 2):
            j1 = min(j + 1, size - 1)
            v0, v1 = U[j], U[j1]
            s00 = s01 = s10 = s11 = 0.0
            for t in range(T):
                s00 += u0[t] * v0[t]
                s01 += u0[t] * v1[t]
                s10 += u1[t] * v0[t]
                s11 += u1[t] * v1[t]
            H[i, j], H[i, j1], H[i1, j], H[i1, j1] = s00, s01, s10, s11


@inner
def couple_topics(rows, root, D, order, U, H):  # type: ignore[no-untyped-def]
    """Split the topics and fill U and H, the curvature, of those that depend on each other; returns their number."""
    T = rows.shape[1]
    size = _split(rows, root, D, order)
    for i in range(size):
        row, u = rows[order[i]], U[i]
        for t in range(T):
            u[t] = row[t] * root[t]
    _gram(U[:size], H)
    for i in range(size):
        H[i, i] += D[order[i]]
    return size


@inner
def _factorise(H, L, free):  # type: ignore[no-untyped-def]
    """Cholesky factor of H on the free topics, its diagonal inverted; pivots lost to rounding are held up."""
    for i in range(free.size):
        row, source = L[i], H[free[i]]
        for j in range(i + 1):
            row[j] = source[free[j]]
        for j in range(i):
            other = L[j]
            s = row[j]
            for q in range(j):
                s -= row[q] * other[q]
            row[j] = s * other[j]
        s = row[i]
        for q in range(i):
            s -= row[q] * row[q]
        row[i] = 1.0 / np.sqrt(max(s, 1e-14 * row[i]))


@inner
def _back_solve(L, z):  # type: ignore[no-untyped-def]
    """Solve L L' z = z in place."""
    for i in range(z.size):
        row = L[i]
        s = z[i]
        for q in range(i):
            s -= row[q] * z[q]
        z[i] = s * row[i]
    for i in range(z.size - 1, -1, -1):
        row = L[i]
        s = z[i] * row[i]
        z[i] = s
        for q in range(i):
            z[q] -= s * row[q]


@inner
def _bounded_solve(H, y, w, move, order, L, factored):  # type: ignore[no-untyped-def]
    """Solve H move = y for the first topics in order; where that takes some too far they stop, and it starts anew."""
    n_free = size = y.size
    z, free = np.empty(size), np.arange(size)
    while n_free > 0:
        for i in range(n_free):
            z[i] = y[free[i]]
        if not factored:
            _factorise(H, L, free[:n_free])
        factored = False
        _back_solve(L, z[:n_free])
        kept = 0
        for i in range(n_free):
            j = free[i]
            low = (_KEEP - 1.0) * w[order[j]]
            move[order[j]] = max(z[i], low)
            if z[i] >= low:
                free[kept] = j
                kept += 1
            else:
                for q in range(size):
                    y[q] -= H[max(q, j), min(q, j)] * low
        if kept == n_free:
            break
        n_free = kept


@inner
def newton_moves(rows, root, slope, D, w, order, size, U, H, L, factored, move, q):  # type: ignore[no-untyped-def]
    """Fill the moves of all topics and q = rows' move; ``factored`` where L still is the factor of H."""
    K, T = rows.shape
    for i in range(size, K):
        k = order[i]
        move[k] = max(slope[k] / D[k], (_KEEP - 1.0) * w[k])
    q[:] = 0.0
    add_topics(rows, order[size:], move, q)
    v, y = np.empty(T), np.empty(size)
    for t in range(T):
        v[t] = root[t] * q[t]
    topic_products(U[:size], v, y)
    for i in range(size):
        y[i] = slope[order[i]] - y[i]
    _bounded_solve(H, y, w, move, order, L, factored)
    add_topics(rows, order[:size], move, q)

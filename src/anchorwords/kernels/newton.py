"""Newton steps for the composition of one document: see :mod:`anchorwords.kernels.proportions`.

Notation
--------
rows : (K, T)  p(word | topic) of the document's types, topic by topic: loops run along types, in vector lanes
w : (K,)       composition
p : (T,)       rows' w
root : (T,)    square roots of share / p^2: the likelihood's curvature is U U' with U = rows root
h : (K,)       its diagonal
D : (K,)       the prior's curvature
order : (K,)   topics, those that depend on each other first

A topic along which the likelihood curves much less than the prior moves by itself. The others move together, and
take note of what these did.

Vectors along types may be of single or double precision, and sums along types are of theirs.
"""

from __future__ import annotations

import numpy as np

from .compiled import inner

# A topic moves by itself where the likelihood's curvature along it is less than this share of the prior's.
_COUPLED = 0.2
# A step takes no weight below this share of what it was.
_KEEP = 0.05


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
    for k in range(0, K, 4):  # those past the last are the last once more
        k1, k2, k3 = min(k + 1, K - 1), min(k + 2, K - 1), min(k + 3, K - 1)
        r0, r1, r2, r3 = rows[k], rows[k1], rows[k2], rows[k3]
        s0 = s1 = s2 = s3 = r.dtype.type(0)
        for t in range(T):
            s0 += r0[t] * r[t]
            s1 += r1[t] * r[t]
            s2 += r2[t] * r[t]
            s3 += r3[t] * r[t]
        g[k], g[k1], g[k2], g[k3] = s0, s1, s2, s3


@inner
def slopes_and_curvatures(rows, r, root, g, h):  # type: ignore[no-untyped-def]
    """Fill g = rows r and h_k = sum_t (rows_kt root_t)^2, two topics at a time."""
    K, T = rows.shape
    for k in range(0, K, 2):
        k1 = min(k + 1, K - 1)
        r0, r1 = rows[k], rows[k1]
        s0 = s1 = r.dtype.type(0)
        c0 = c1 = root.dtype.type(0)
        for t in range(T):
            s0 += r0[t] * r[t]
            s1 += r1[t] * r[t]
            u0, u1 = r0[t] * root[t], r1[t] * root[t]
            c0 += u0 * u0
            c1 += u1 * u1
        g[k], g[k1], h[k], h[k1] = s0, s1, c0, c1


@inner
def _split(h, D, order):  # type: ignore[no-untyped-def]
    """Put the topics that depend on each other first; returns their number."""
    K = h.size
    size, rest = 0, K
    for k in range(K):
        if h[k] < _COUPLED * D[k]:
            rest -= 1
            order[rest] = k
        else:
            order[size] = k
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
            s00 = s01 = s10 = s11 = U.dtype.type(0)
            for t in range(T):
                s00 += u0[t] * v0[t]
                s01 += u0[t] * v1[t]
                s10 += u1[t] * v0[t]
                s11 += u1[t] * v1[t]
            H[i, j], H[i, j1], H[i1, j], H[i1, j1] = s00, s01, s10, s11


@inner
def couple_topics(rows, root, h, D, order, U, H):  # type: ignore[no-untyped-def]
    """Split the topics and fill U and H, the curvature, of those that depend on each other; returns their number."""
    T = rows.shape[1]
    size = _split(h, D, order)
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
    """Transposed Cholesky factor of H on the free topics, its diagonal inverted; pivots lost to rounding are held up."""
    n = free.size
    for j in range(n):
        row = L[j]
        for i in range(j, n):
            row[i] = H[free[i], free[j]]
        pivot = row[j]
        fours = j - j % 4
        for q in range(0, fours, 4):
            o0, o1, o2, o3 = L[q], L[q + 1], L[q + 2], L[q + 3]
            f0, f1, f2, f3 = o0[j], o1[j], o2[j], o3[j]
            for i in range(j, n):
                row[i] -= f0 * o0[i] + f1 * o1[i] + f2 * o2[i] + f3 * o3[i]
        for q in range(fours, j):
            o0 = L[q]
            f0 = o0[j]
            for i in range(j, n):
                row[i] -= f0 * o0[i]
        inverse = 1.0 / np.sqrt(max(row[j], 1e-14 * pivot))
        row[j] = inverse
        for i in range(j + 1, n):
            row[i] *= inverse


@inner
def _back_solve(L, z):  # type: ignore[no-untyped-def]
    """Solve L' L z = z in place."""
    n = z.size
    for i in range(n):
        row = L[i]
        s = z[i] * row[i]
        z[i] = s
        for q in range(i + 1, n):
            z[q] -= s * row[q]
    for i in range(n - 1, -1, -1):
        row = L[i]
        s = z[i]
        for q in range(i + 1, n):
            s -= row[q] * z[q]
        z[i] = s * row[i]


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
def newton_moves(rows, root, slope, D, w, order, size, U, H, L, factored, move, v, q):  # type: ignore[no-untyped-def]
    """Fill the moves of all topics, v with the same in q's precision, and q = rows' v; ``factored``: L is that of H."""
    K, T = rows.shape
    for i in range(size, K):
        k = order[i]
        move[k] = max(slope[k] / D[k], (_KEEP - 1.0) * w[k])
        v[k] = move[k]
    q[:] = 0
    add_topics(rows, order[size:], v, q)
    u, y = np.empty_like(root), np.empty(size)
    for t in range(T):
        u[t] = root[t] * q[t]
    topic_products(U[:size], u, y)
    for i in range(size):
        y[i] = slope[order[i]] - y[i]
    _bounded_solve(H, y, w, move, order, L, factored)
    for i in range(size):
        v[order[i]] = move[order[i]]
    add_topics(rows, order[:size], v, q)

"""Newton steps for the topic proportions of one document: see :mod:`anchorwords.kernels.proportions`.

Notation
--------
rows : (K, T)  p(word | topic) of the document's types, topic by topic: loops run along types, in vector lanes
w : (K,)       topic proportions
p : (T,)       rows' w
root : (T,)    square roots of share / p^2: the likelihood's curvature is U U' with U = rows root
h : (K,)       its diagonal
D : (K,)       the prior's curvature
order : (K,)   topics, those that depend on each other first

A topic along which the likelihood curves much less than the prior moves by itself. The others move together, and
take note of what these did.

The rows and the curvature are in single precision; what is certified (p, the slopes and the gap) is in double.

The compiler puts a copy of each function into the kernel for each place that calls it, and one within another is compiled
once more at each level. So that compilation takes four seconds and not thirteen, the kernel calls these functions itself,
those with one place are put there before anything is compiled, bounds are passed instead of slices, and loops are written
out instead of calling functions of arrays.
"""

from __future__ import annotations

import numpy as np

from .compiled import inlined, inner

# A topic moves by itself where the likelihood's curvature along it is less than this share of the prior's.
_COUPLED = 0.2
# A step takes no weight below this share of what it was.
KEEP = 0.05


@inner
def add_topics(rows, topics, first, last, w, p):  # type: ignore[no-untyped-def]
    """Add sum_k w_k rows_k over topics[first:last] to p, four at a time."""
    T, zero = rows.shape[1], p.dtype.type(0.0)
    for i in range(first, last, 4):  # those past the last are the last once more, of which nothing is added
        k0, k1 = topics[i], topics[min(i + 1, last - 1)]
        k2, k3 = topics[min(i + 2, last - 1)], topics[min(i + 3, last - 1)]
        r0, r1, r2, r3 = rows[k0], rows[k1], rows[k2], rows[k3]
        w0 = w[k0]
        w1 = w[k1] if i + 1 < last else zero
        w2 = w[k2] if i + 2 < last else zero
        w3 = w[k3] if i + 3 < last else zero
        for t in range(T):
            p[t] += w0 * r0[t] + w1 * r1[t] + w2 * r2[t] + w3 * r3[t]


@inner
def topic_products(rows, K, r, g):  # type: ignore[no-untyped-def]
    """Fill g = rows r for the first K rows, four at a time."""
    T = rows.shape[1]
    for k in range(0, K, 4):  # those past the last are the last once more
        k1, k2, k3 = min(k + 1, K - 1), min(k + 2, K - 1), min(k + 3, K - 1)
        r0, r1, r2, r3 = rows[k], rows[k1], rows[k2], rows[k3]
        s0 = s1 = s2 = s3 = np.float32(0.0)
        for t in range(T):
            s0 += r0[t] * r[t]
            s1 += r1[t] * r[t]
            s2 += r2[t] * r[t]
            s3 += r3[t] * r[t]
        g[k], g[k1], g[k2], g[k3] = s0, s1, s2, s3


@inlined
def slopes_and_curvatures(rows, share, a, w, p, damping, r, root, h, slope, D):  # type: ignore[no-untyped-def]
    """Fill the slopes and the curvatures of likelihood and prior, two topics at a time; returns the gap."""
    K, T = rows.shape
    for t in range(T):
        r[t] = share[t] / p[t]
        root[t] = np.sqrt(r[t] / p[t])
    for k in range(0, K, 2):
        k1 = min(k + 1, K - 1)
        r0, r1 = rows[k], rows[k1]
        s0 = s1 = 0.0
        c0 = c1 = np.float32(0.0)
        for t in range(T):
            s0 += r0[t] * r[t]
            s1 += r1[t] * r[t]
            u0, u1 = r0[t] * root[t], r1[t] * root[t]
            c0 += u0 * u0
            c1 += u1 * u1
        slope[k], slope[k1], h[k], h[k1] = s0, s1, c0, c1
    gap = total = 0.0
    for k in range(K):
        prior = a[k] / w[k]
        D[k] = (max(1.0 - slope[k], prior) + damping) / w[k]
        slope[k] += prior - 1.0
        gap = max(gap, slope[k])
        total += slope[k]
    return gap if np.isfinite(total) else np.inf


@inlined
def couple_topics(rows, root, h, D, order, U, H):  # type: ignore[no-untyped-def]
    """Put the topics that depend on each other first, fill U and H, their curvature; returns their number.

    H is the lower triangle of U U' and the prior's curvature, in squares of two topics by two.
    """
    K, T = rows.shape
    size, rest = 0, K
    for k in range(K):
        if h[k] < _COUPLED * D[k]:
            rest -= 1
            order[rest] = k
        else:
            order[size] = k
            size += 1
    for i in range(size):
        row, u = rows[order[i]], U[i]
        for t in range(T):
            u[t] = row[t] * root[t]
    for i in range(0, size, 2):
        i1 = min(i + 1, size - 1)
        u0, u1 = U[i], U[i1]
        for j in range(0, i1 + 1, 2):
            j1 = min(j + 1, size - 1)
            v0, v1 = U[j], U[j1]
            s00 = s01 = s10 = s11 = np.float32(0.0)
            for t in range(T):
                s00 += u0[t] * v0[t]
                s01 += u0[t] * v1[t]
                s10 += u1[t] * v0[t]
                s11 += u1[t] * v1[t]
            H[i, j], H[i, j1], H[i1, j], H[i1, j1] = s00, s01, s10, s11
    for i in range(size):
        H[i, i] += D[order[i]]
    return size


@inlined
def _factorise(H, L, free, n):  # type: ignore[no-untyped-def]
    """Transposed Cholesky factor of H on the free topics, its diagonal inverted; pivots lost to rounding are held up."""
    for j in range(n):
        row = L[j]
        for i in range(j, n):
            row[i] = H[free[i], free[j]]
        pivot = row[j]
        for q in range(0, j, 4):  # those past the last are the last once more, of which nothing is taken
            o0, o1, o2, o3 = L[q], L[min(q + 1, j - 1)], L[min(q + 2, j - 1)], L[min(q + 3, j - 1)]
            f0 = o0[j]
            f1 = o1[j] if q + 1 < j else 0.0
            f2 = o2[j] if q + 2 < j else 0.0
            f3 = o3[j] if q + 3 < j else 0.0
            for i in range(j, n):
                row[i] -= f0 * o0[i] + f1 * o1[i] + f2 * o2[i] + f3 * o3[i]
        inverse = 1.0 / np.sqrt(max(row[j], 1e-14 * pivot))
        row[j] = inverse
        for i in range(j + 1, n):
            row[i] *= inverse


@inlined
def bounded_solve(H, y, w, move, order, size, L, factored, z, free):  # type: ignore[no-untyped-def]
    """Solve H move = y for the first topics in order; where that takes some too far they stop, and it starts anew."""
    n = size
    for i in range(size):
        free[i] = i
    while n > 0:
        for i in range(n):
            z[i] = y[free[i]]
        if not factored:
            _factorise(H, L, free, n)
        factored = False
        for i in range(n):  # L' L z = z
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
        kept = 0
        for i in range(n):
            j = free[i]
            low = (KEEP - 1.0) * w[order[j]]
            move[order[j]] = max(z[i], low)
            if z[i] >= low:
                free[kept] = j
                kept += 1
            else:
                for q in range(size):
                    y[q] -= H[max(q, j), min(q, j)] * low
        if kept == n:
            break
        n = kept


@inlined
def advance(share, a, w, p, T, move, q, rise):  # type: ignore[no-untyped-def]
    """Go along the move, less far where the objective would fall more than half as steeply as it rose; returns how far."""
    K = w.size
    change, length, slope = 0.0, 1.0, 0.0
    for k in range(K):
        change += move[k]
    for _ in range(30):
        slope = -change
        for t in range(T):
            slope += share[t] * q[t] / (p[t] + length * q[t])
        for k in range(K):
            slope += a[k] * move[k] / (w[k] + length * move[k])
        if slope >= -0.5 * rise:
            break
        length *= rise / (rise - slope)  # where the line through both slopes is zero
    total = 0.0
    for k in range(K):
        w[k] += length * move[k]
    for k in range(K):
        total += w[k]
    for k in range(K):
        w[k] /= total
    scale = 1.0 / total
    for t in range(T):
        p[t] = (p[t] + length * q[t]) * scale
    return length

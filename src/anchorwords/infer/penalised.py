"""Compositions of greatest penalised likelihood: the default of ``transform``.

Notation
--------
x : (N,)      counts of one document, n their sum
alpha : (K,)  weights of the prior, alpha_0 their sum
w : (K,)      composition, on the simplex
p = B w       word probabilities
s = x / (n + alpha_0), a = alpha / (n + alpha_0)

Maximise sum_i s_i log p_i + sum_k a_k log w_k. The problem is strictly concave and its solution has no zero. It is the
mode of the Dirichlet posterior in the coordinates log w, where a mode is near the mean also of short documents; a
document without words has the prevalence.

With g_k = sum_i s_i B_ik / p_i the solution has g_k + a_k / w_k = 1 for every topic, the multiplier of the simplex being
one, and max_k (g_k + a_k / w_k) - 1 bounds what the objective can still gain: the gap. A few EM steps find the
topics that matter; Newton steps on log p and a primal-dual step on log w finish. For the curvature of the prior,
a_k / w_k^2, that step takes (1 - g_k) / w_k, equal at the solution, where it is larger: a topic that nothing depends on
then goes to its solution a_k / (1 - g_k) at once, however far away. Such topics move by themselves, the others
together, none below a fifth of its weight.

A document's rows of B are held topic by topic, (K, T) with T types filled up to a multiple of eight by types without a
count, so that all loops run along types in vector lanes.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, SparseLike
from ..exceptions import InputError
from ..linalg.compiled import CSR, INT, MATRIX, READ_MATRIX, READ_VECTOR, VECTOR, VOID, compiled, inner
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts
from .fold_in import Compositions, require_columns

# What the objective may still gain when a document counts as solved: compositions are then within some 1e-8 of the best.
GAP = 1e-7
_EM_STEPS = 5
_NEWTON_STEPS = 100
# A topic moves by itself where the likelihood's curvature along it is less than this share of the prior's.
_COUPLED = 0.1
# A step takes no weight below this share of what it was.
_KEEP = 0.2
# Words that no topic gives more than this are unknown: their logarithms would overflow.
_NEVER = 1e-200
_BLOCK = 64


def penalised_compositions(
    counts: SparseLike, B: FloatArray, alpha: FloatArray, *, n_jobs: int | None = None
) -> Compositions:
    """Compositions of greatest penalised likelihood; no document's answer depends on another's.

    Parameters
    ----------
    counts : (M, N) CSR
    B : (N, K) array
        Words with a zero row are unknown and ignored.
    alpha : (K,) array
        Positive weights of the prior; a document without any known word gets their shares.
    n_jobs : int or None
    """
    require_columns(counts, B)
    M, K = counts.shape[0], B.shape[1]
    alpha = np.ascontiguousarray(alpha, dtype=np.float64)
    if alpha.shape != (K,) or not (alpha > 0.0).all() or not np.isfinite(alpha).all():
        raise InputError(f"alpha must hold a positive number for each of the {K} topics.")
    weights = np.empty((M, K))
    likelihood, n_known, gap = np.zeros(M), np.zeros(M), np.zeros(M)
    B = np.ascontiguousarray(B, dtype=np.float64)
    parts = csr_parts(counts)

    def work(start: int, stop: int) -> None:
        _compose_rows(
            *parts, B, alpha, start,
            weights[start:stop], likelihood[start:stop], n_known[start:stop], gap[start:stop],
        )  # fmt: skip

    for_each_block(work, M, _BLOCK, n_jobs)
    return Compositions(weights, likelihood, n_known, gap)


@inner
def _add(rows, topics, w, p):  # type: ignore[no-untyped-def]
    """Have p += sum_k w_k rows_k over these topics, four at a time."""
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
def _products(rows, r, g):  # type: ignore[no-untyped-def]
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
def _em_steps(rows, share, a, w, p, every):  # type: ignore[no-untyped-def]
    """w_k <- w_k g_k + a_k once, then with g_k^2, which goes about twice as far a step; p = rows w at the end."""
    K, T = rows.shape
    g = np.empty(K)
    for step in range(_EM_STEPS + 1):
        p[:] = 0.0
        _add(rows, every, w, p)
        if step == _EM_STEPS:
            break
        for t in range(T):
            p[t] = share[t] / p[t]
        _products(rows, p, g)
        total = 0.0
        for k in range(K):
            w[k] = w[k] * g[k] * (1.0 if step == 0 else g[k]) + a[k]
            total += w[k]
        for k in range(K):
            w[k] /= total


@inner
def _split_topics(rows, root, D, h, order):  # type: ignore[no-untyped-def]
    """Put the topics that depend on each other first; returns their number."""
    K, T = rows.shape
    fours = K - K % 4
    for k in range(0, fours, 4):
        r0, r1, r2, r3 = rows[k], rows[k + 1], rows[k + 2], rows[k + 3]
        s0 = s1 = s2 = s3 = 0.0
        for t in range(T):
            s0 += (r0[t] * root[t]) * (r0[t] * root[t])
            s1 += (r1[t] * root[t]) * (r1[t] * root[t])
            s2 += (r2[t] * root[t]) * (r2[t] * root[t])
            s3 += (r3[t] * root[t]) * (r3[t] * root[t])
        h[k], h[k + 1], h[k + 2], h[k + 3] = s0, s1, s2, s3
    for k in range(fours, K):
        s0, r0 = 0.0, rows[k]
        for t in range(T):
            s0 += (r0[t] * root[t]) * (r0[t] * root[t])
        h[k] = s0
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
            s00 = s01 = s10 = s11 = 0.0
            for t in range(T):
                s00 += u0[t] * v0[t]
                s01 += u0[t] * v1[t]
                s10 += u1[t] * v0[t]
                s11 += u1[t] * v1[t]
            H[i, j], H[i, j1], H[i1, j], H[i1, j1] = s00, s01, s10, s11


@inner
def _solve(H, z, L, free, n_free):  # type: ignore[no-untyped-def]
    """Have z <- H^-1 z on the free topics, by Cholesky; pivots lost to rounding are held up."""
    for i in range(n_free):
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
        y = z[i]
        for q in range(i):
            s -= row[q] * row[q]
            y -= row[q] * z[q]
        row[i] = 1.0 / np.sqrt(max(s, 1e-14 * row[i]))
        z[i] = y * row[i]
    for i in range(n_free - 1, -1, -1):
        row = L[i]
        y = z[i] * row[i]
        z[i] = y
        for q in range(i):
            z[q] -= y * row[q]


@inner
def _bounded_solve(H, y, low, x, L, z, free):  # type: ignore[no-untyped-def]
    """Have x <- the minimiser of x'Hx / 2 - y'x, what would go below its bound held there and the rest solved anew."""
    n_free = size = y.size
    for i in range(size):
        free[i] = i
    while n_free > 0:
        for i in range(n_free):
            z[i] = y[free[i]]
        _solve(H, z, L, free, n_free)
        kept = 0
        for i in range(n_free):
            j = free[i]
            x[j] = max(z[i], low[j])
            if z[i] >= low[j]:
                free[kept] = j
                kept += 1
            else:
                for q in range(size):
                    y[q] -= H[max(q, j), min(q, j)] * low[j]
        if kept == n_free:
            break
        n_free = kept


@inner
def _newton_moves(rows, root, slope, D, w, move, q, v, U, H, L, y, low, x, z, order, free):  # type: ignore[no-untyped-def]
    """Moves of all topics and q = rows move: topics by themselves first, then the others, which take note of them."""
    K, T = rows.shape
    size = _split_topics(rows, root, D, x, order)
    for i in range(size, K):
        k = order[i]
        move[k] = max(slope[k] / D[k], (_KEEP - 1.0) * w[k])
    q[:] = 0.0
    _add(rows, order[size:], move, q)
    if size == 0:
        return
    U, y = U[:size], y[:size]
    for t in range(T):
        v[t] = root[t] * q[t]
    for i in range(size):
        row, u = rows[order[i]], U[i]
        for t in range(T):
            u[t] = row[t] * root[t]
    _gram(U, H)
    _products(U, v, y)
    for i in range(size):
        k = order[i]
        H[i, i] += D[k]
        y[i] = slope[k] - y[i]
        low[i] = (_KEEP - 1.0) * w[k]
    _bounded_solve(H, y, low, x, L, z, free)
    for i in range(size):
        move[order[i]] = x[i]
    _add(rows, order[:size], move, q)


@inner
def _advance(share, a, w, p, move, q, rise):  # type: ignore[no-untyped-def]
    """Go along the move, less far where the objective would fall more than half as steeply as it rose; returns how far."""
    K, T = w.size, p.size
    change = move.sum()
    length = 1.0
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
        total += w[k]
    for k in range(K):
        w[k] /= total
    for t in range(T):
        p[t] = (p[t] + length * q[t]) / total
    return length


@inner
def _solve_document(rows, share, a, w, p, U, H, L):  # type: ignore[no-untyped-def]
    """Maximise in place, p = rows w with it; returns the bound on what can still be gained."""
    K, T = rows.shape
    every = np.arange(K)
    g, slope, D, move = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    y, low, x, z = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    r, root, q, v = np.empty(T), np.empty(T), np.empty(T), np.empty(T)
    order, free = np.empty(K, np.int64), np.empty(K, np.int64)
    _em_steps(rows, share, a, w, p, every)
    damping = 0.0
    for step in range(_NEWTON_STEPS + 1):
        for t in range(T):
            r[t] = share[t] / p[t]
            root[t] = np.sqrt(share[t]) / p[t]
        _products(rows, r, g)
        gap = 0.0
        for k in range(K):
            prior = a[k] / w[k]
            slope[k] = g[k] + prior - 1.0
            gap = max(gap, slope[k])
            D[k] = (max(1.0 - g[k], prior) + damping) / w[k]
        if gap <= GAP or step == _NEWTON_STEPS:
            break
        _newton_moves(rows, root, slope, D, w, move, q, v, U, H, L, y, low, x, z, order, free)
        rise = 0.0
        for k in range(K):
            rise += slope[k] * move[k]
        if not rise > 0.0:  # rounding: the direction of an EM step always rises
            for k in range(K):
                move[k] = w[k] * slope[k]
                rise += slope[k] * move[k]
            q[:] = 0.0
            _add(rows, every, move, q)
        length = _advance(share, a, w, p, move, q, rise)
        damping = max(10.0 * damping, 0.1) if length < 0.5 else 0.1 * damping if damping > 0.01 else 0.0
    return gap


@compiled(VOID, *CSR, READ_MATRIX, READ_VECTOR, INT, MATRIX, VECTOR, VECTOR, VECTOR, reorder=True)
def _compose_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, B, alpha, first, weights, likelihood, n_known, gap
):
    K = B.shape[1]
    concentration = alpha.sum()
    longest = 0
    for row in range(weights.shape[0]):
        longest = max(longest, indptr[first + row + 1] - indptr[first + row] + 7)
    space = np.empty((2, K * longest))
    H, L = np.empty((K, K)), np.empty((K, K))
    for row in range(weights.shape[0]):
        begin, end = indptr[first + row], indptr[first + row + 1]
        words, share = np.empty(end - begin + 7, np.int64), np.empty(end - begin + 7)
        n_types = 0
        total = 0.0
        for j in range(begin, end):
            source = B[indices[j]]
            mass = 0.0
            for k in range(K):
                mass += source[k]
            if data[j] > 0.0 and mass > _NEVER:
                words[n_types] = indices[j]
                share[n_types] = data[j]
                total += data[j]
                n_types += 1
        n_known[row] = total
        w = weights[row]
        for k in range(K):
            w[k] = alpha[k] / concentration
        if n_types == 0:
            continue
        T = (n_types + 7) // 8 * 8
        for t in range(n_types, T):
            words[t] = words[0]
            share[t] = 0.0
        scale = 1.0 / (total + concentration)
        for t in range(n_types):
            share[t] *= scale
        for k in range(K):
            w[k] = 0.5 * w[k] + 0.5 / K
        rows, U = space[0, : K * T].reshape(K, T), space[1, : K * T].reshape(K, T)
        p = np.empty(T)
        for t in range(0, T, 4):
            r0, r1, r2, r3 = B[words[t]], B[words[t + 1]], B[words[t + 2]], B[words[t + 3]]
            for k in range(K):
                rows[k, t], rows[k, t + 1], rows[k, t + 2], rows[k, t + 3] = r0[k], r1[k], r2[k], r3[k]
        gap[row] = _solve_document(rows, share[:T], alpha * scale, w, p, U, H, L)
        value = 0.0
        for t in range(n_types):
            value += share[t] * np.log(p[t])
        likelihood[row] = value / scale

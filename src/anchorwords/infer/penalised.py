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

With g_k = sum_i s_i B_ik / p_i the solution has g_k + a_k / w_k = 1 for every topic, and max_k (g_k + a_k / w_k) - 1,
the gap, bounds what the objective can still gain. The multiplier of the simplex being one, the problem is also to
maximise sum_i s_i log p_i + sum_k a_k log w_k - sum_k w_k without a constraint: its slopes are g_k + a_k / w_k - 1.

A few EM steps find the topics that matter and Newton steps finish. For the curvature of the prior, a_k / w_k^2, they take
(1 - g_k) / w_k where that is larger; at the solution both are the same. A topic that nothing else depends on is then
at its solution a_k / (1 - g_k) after one step, from however far above.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray, SparseLike
from ..exceptions import InputError
from ..linalg.compiled import CSR, INT, MATRIX, READ_MATRIX, READ_VECTOR, VECTOR, VOID, compiled, inner
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts
from .fold_in import Compositions, require_columns
from .newton import add_topics, couple_topics, newton_moves, topic_products

# What the objective may still gain when a document counts as solved: compositions are then within some 1e-8 of the best.
GAP = 1e-7
_EM_STEPS = 6
_NEWTON_STEPS = 100
# The curvature is kept for the next step where no weight changes by more than this share of itself.
_NEAR = 0.1
# A word whose probabilities do not add up to more than this is unknown: squares of their inverses would overflow.
_NEVER = 1e-100
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
    if alpha.shape != (K,) or not (np.isfinite(alpha) & (alpha > 0.0)).all():
        raise InputError(f"alpha must hold one positive number for each of the {K} topics.")
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
def _em_steps(rows, share, a, w, p, every):  # type: ignore[no-untyped-def]
    """w_k <- w_k g_k + a_k, after the first time with g_k^2, which goes about twice as far."""
    K, T = rows.shape
    g = np.empty(K)
    for step in range(_EM_STEPS):
        p[:] = 0.0
        add_topics(rows, every, w, p)
        for t in range(T):
            p[t] = share[t] / p[t]
        topic_products(rows, p, g)
        total = 0.0
        for k in range(K):
            w[k] = w[k] * g[k] * (1.0 if step == 0 else g[k]) + a[k]
            total += w[k]
        for k in range(K):
            w[k] /= total


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
    return length


@inner
def _slopes(rows, share, a, w, p, every, damping, slope, D):  # type: ignore[no-untyped-def]
    """Fill p = rows' w, the slopes and the prior's curvatures; returns the gap."""
    K, T = rows.shape
    p[:] = 0.0
    add_topics(rows, every, w, p)
    r = np.empty(T)
    for t in range(T):
        r[t] = share[t] / p[t]
    topic_products(rows, r, slope)
    gap = 0.0
    for k in range(K):
        prior = a[k] / w[k]
        D[k] = (max(1.0 - slope[k], prior) + damping) / w[k]
        slope[k] += prior - 1.0
        gap = max(gap, slope[k])
    return gap


@inner
def _solve_document(rows, share, a, w, p, U, H, L):  # type: ignore[no-untyped-def]
    """Maximise in place, p = rows' w with it; returns the gap. U, H and L are room to work in."""
    K, T = rows.shape
    every, order = np.arange(K), np.arange(K)
    slope, D, move = np.empty(K), np.empty(K), np.empty(K)
    root, q = np.empty(T), np.empty(T)
    _em_steps(rows, share, a, w, p, every)
    gap, damping, size, near = np.inf, 0.0, 0, False
    for step in range(_NEWTON_STEPS + 1):
        last = gap
        gap = _slopes(rows, share, a, w, p, every, damping, slope, D)
        if gap <= GAP or step == _NEWTON_STEPS:
            break
        near = near and gap < 0.5 * last
        if not near:
            for t in range(T):
                root[t] = np.sqrt(share[t]) / p[t]
            size = couple_topics(rows, root, D, order, U, H)
        newton_moves(rows, root, slope, D, w, order, size, U, H, L, near, move, q)
        rise = largest = 0.0
        for k in range(K):
            rise += slope[k] * move[k]
            largest = max(largest, abs(move[k]) / w[k])
        rises = rise > 0.0
        if not rises:  # bounds or rounding have turned the move round: that of an EM step always rises
            rise = 0.0
            for k in range(K):
                move[k] = w[k] * slope[k]
                rise += slope[k] * move[k]
            q[:] = 0.0
            add_topics(rows, every, move, q)
        length = _advance(share, a, w, p, move, q, rise)
        near = rises and largest < _NEAR
        # Shorter steps where the model of the objective was no good.
        damping = 0.1 * damping if rises and length > 0.5 else max(10.0 * damping, gap)
    return gap


@inner
def _lay_out(B, words, rows):  # type: ignore[no-untyped-def]
    """Fill rows = B[words]', four words at a time."""
    K, T = rows.shape
    for t in range(0, T, 4):
        b0, b1, b2, b3 = B[words[t]], B[words[t + 1]], B[words[t + 2]], B[words[t + 3]]
        for k in range(K):
            rows[k, t], rows[k, t + 1], rows[k, t + 2], rows[k, t + 3] = b0[k], b1[k], b2[k], b3[k]


@compiled(VOID, *CSR, READ_MATRIX, READ_VECTOR, INT, MATRIX, VECTOR, VECTOR, VECTOR, reorder=True)
def _compose_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, B, alpha, first, weights, likelihood, n_known, gap
):
    M, K = weights.shape
    concentration = alpha.sum()
    longest = 0
    for row in range(M):
        longest = max(longest, indptr[first + row + 1] - indptr[first + row] + 7)
    words, counts, p = np.empty(longest, np.int64), np.empty(longest), np.empty(longest)
    space, H, L = np.empty((2, K * longest)), np.empty((K, K)), np.empty((K, K))
    for row in range(M):
        n_types = 0
        total = 0.0
        for j in range(indptr[first + row], indptr[first + row + 1]):
            if data[j] > 0.0 and B[indices[j]].sum() > _NEVER:
                words[n_types] = indices[j]
                counts[n_types] = data[j]
                total += data[j]
                n_types += 1
        n_known[row] = total
        w = weights[row]
        for k in range(K):
            w[k] = alpha[k] / concentration
        if n_types == 0:
            continue
        T = (n_types + 7) // 8 * 8  # whole vectors: the types past the last have no count
        words[n_types:T] = words[0]
        counts[n_types:T] = 0.0
        rows, U = space[0, : K * T].reshape(K, T), space[1, : K * T].reshape(K, T)
        _lay_out(B, words[:T], rows)
        scale = 1.0 / (total + concentration)
        for k in range(K):
            w[k] = 0.5 * w[k] + 0.5 / K
        gap[row] = _solve_document(rows, counts[:T] * scale, alpha * scale, w, p[:T], U, H, L)
        value = 0.0
        for t in range(n_types):
            value += counts[t] * np.log(p[t])
        likelihood[row] = value

"""Topic proportions of documents by penalised likelihood: EM steps, then Newton steps to a certificate.

Notation and the problem are those of :mod:`anchorwords.infer.penalised`. A few EM steps find the topics that matter and
Newton steps finish. For the curvature of the prior, a_k / w_k^2, they take (1 - g_k) / w_k where that is larger; at the
solution both are the same. A topic that nothing else depends on is then at its solution a_k / (1 - g_k) after one step,
from however far above. Steps are in single precision; what is certified is computed in double precision.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..linalg.parallel import for_each_block
from .compiled import CSR, INT, MATRIX, READ_SINGLE_MATRIX, READ_VECTOR, VECTOR, VOID, compiled, inner
from .newton import add_topics, couple_topics, newton_moves, slopes_and_curvatures, topic_products
from .protocol import PROPORTIONS_GAP as GAP
from .protocol import CsrParts, Proportions

# The gap up to which a document is solved in single precision, which gives g to some 1e-6.
_ROUGH = 1e-5
_EM_STEPS = 10
_NEWTON_STEPS, _ROUGH_STEPS = 100, 30
# The curvature is kept for the next step where no weight changes by more than this share of itself.
_NEAR = 0.1
# What a topic's probabilities are divided by, at most.
_DEAREST = 1e6
_BLOCK = 64


def compose(
    rows: CsrParts,
    topics: npt.NDArray[np.float32],
    chance: FloatArray,
    prior: tuple[FloatArray, FloatArray, FloatArray],
    n_jobs: int | None = None,
) -> Proportions:
    """Topic proportions; no document's answer depends on another's."""
    M, K = rows[0].size - 1, topics.shape[1]
    weights = np.empty((M, K))
    likelihood, n_known, gap = np.zeros(M), np.zeros(M), np.zeros(M)

    def work(start: int, stop: int) -> None:
        _compose_rows(
            *rows, topics, chance, *prior, start,
            weights[start:stop], likelihood[start:stop], n_known[start:stop], gap[start:stop],
        )  # fmt: skip

    for_each_block(work, M, _BLOCK, n_jobs)
    return Proportions(weights, likelihood, n_known, gap)


@inner
def _em_steps(rows, share, a, w, p, every):  # type: ignore[no-untyped-def]
    """w_k <- w_k g_k + a_k, after the first time twice with the same g; p = rows' w at the end."""
    K, T = rows.shape
    g, v = np.empty(K, p.dtype), np.empty(K, p.dtype)
    for k in range(K):
        v[k] = w[k]
    p[:] = 0
    add_topics(rows, every, v, p)
    for step in range(_EM_STEPS):
        for t in range(T):
            p[t] = share[t] / p[t]
        topic_products(rows, p, g)
        for k in range(K):
            w[k] = w[k] * g[k] + a[k]
            if step > 0:
                w[k] = w[k] * g[k] + a[k]
        total = w.sum()  # not in the loop that stores: see anchorwords.kernels.sweep
        for k in range(K):
            w[k] /= total
            v[k] = w[k]
        p[:] = 0
        add_topics(rows, every, v, p)


@inner
def _advance(share, a, w, p, move, q, rise):  # type: ignore[no-untyped-def]
    """Go along the move, less far where the objective would fall more than half as steeply as it rose; returns how far."""
    K, T = w.size, p.size
    change = move.sum()
    length = 1.0
    for _ in range(30):
        far, gain = p.dtype.type(length), p.dtype.type(0)
        for t in range(T):
            gain += share[t] * q[t] / (p[t] + far * q[t])
        slope = gain - change
        for k in range(K):
            slope += a[k] * move[k] / (w[k] + length * move[k])
        if slope >= -0.5 * rise:
            break
        length *= rise / (rise - slope)  # where the line through both slopes is zero
    for k in range(K):
        w[k] += length * move[k]
    total = w.sum()
    for k in range(K):
        w[k] /= total
    far, scale = p.dtype.type(length), p.dtype.type(1.0 / total)
    for t in range(T):
        p[t] = (p[t] + far * q[t]) * scale
    return length


@inner
def _slopes(rows, share, a, w, p, damping, r, root, h, slope, D):  # type: ignore[no-untyped-def]
    """Fill the slopes and the curvatures of likelihood and prior; returns the gap."""
    K, T = rows.shape
    for t in range(T):
        r[t] = share[t] / p[t]
        root[t] = np.sqrt(r[t] / p[t])
    slopes_and_curvatures(rows, r, root, slope, h)
    gap = 0.0
    for k in range(K):
        prior = a[k] / w[k]
        D[k] = (max(1.0 - slope[k], prior) + damping) / w[k]
        slope[k] += prior - 1.0
        gap = max(gap, slope[k])
    return gap if np.isfinite(slope.sum()) else np.inf


@inner
def _newton_steps(rows, share, a, w, p, root, U, H, L, order, size, near, every, tolerance, n_steps):  # type: ignore[no-untyped-def]
    """Maximise in place, p = rows' w with it, in the precision of p; returns the gap, and what the factor in L is of."""
    K, T = rows.shape
    slope, D, h, move = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    v, r, q = np.empty(K, p.dtype), np.empty(T, p.dtype), np.empty(T, p.dtype)
    gap, damping = np.inf, 0.0
    for step in range(n_steps + 1):
        last = gap
        gap = _slopes(rows, share, a, w, p, damping, r, root, h, slope, D)
        if gap <= tolerance or gap == np.inf or step == n_steps:
            break
        near = near and gap < 0.5 * last
        if not near:
            size = couple_topics(rows, root, h, D, order, U, H)
        newton_moves(rows, root, slope, D, w, order, size, U, H, L, near, move, v, q)
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
                v[k] = move[k]
            q[:] = 0
            add_topics(rows, every, v, q)
        length = _advance(share, a, w, p, move, q, rise)
        near = rises and largest < _NEAR
        # Shorter steps where the model of the objective was no good.
        damping = 0.1 * damping if rises and length > 0.5 else max(10.0 * damping, gap)
    return gap, size, near


@inner
def _begin(alpha, total, w):  # type: ignore[no-untyped-def]
    """Fill w with half the prior's shares, alpha of a total, and half an even composition."""
    for k in range(w.size):
        w[k] = 0.5 * alpha[k] / total + 0.5 / w.size


@inner
def _restart_unless_numbers(a, w):  # type: ignore[no-untyped-def]
    """Begin again where counts were beyond single precision; returns whether they were."""
    if np.isfinite(w).all() and w.min() > 0.0:
        return False
    _begin(a, a.sum(), w)
    return True


@inner
def _charge(rows, fees, tokens, w, d):  # type: ignore[no-untyped-def]
    """Divide the rows of topics by d_k = 1 + f_k / (their tokens so far)."""
    K, T = rows.shape
    for k in range(K):
        d[k] = min(1.0 + fees[k] / max(tokens * w[k], 1e-300), _DEAREST)
        factor = rows.dtype.type(1.0 / d[k])
        for t in range(T):
            rows[k, t] *= factor


@inner
def _solve_document(rows, share, a, w, p, U, H, L, fees, tokens, d):  # type: ignore[no-untyped-def]
    """Maximise in place, p = rows' w with it, and rows divided by d; returns the gap. U, H and L are room to work in."""
    K, T = rows.shape
    every, order = np.arange(K), np.arange(K)
    root, rough_p, rough_share = np.empty(T, rows.dtype), np.empty(T, rows.dtype), np.empty(T, rows.dtype)
    v = np.empty(K, rows.dtype)
    for t in range(T):
        rough_share[t] = share[t]
    _em_steps(rows, rough_share, a, w, rough_p, every)
    if fees.max() > 0.0:
        _restart_unless_numbers(a, w)
        _charge(rows, fees, tokens, w, d)
        for k in range(K):
            v[k] = w[k]
        rough_p[:] = 0
        add_topics(rows, every, v, rough_p)
    tolerance = max(_ROUGH, T * 2.0**-28)  # the rounding of long sums
    _, size, near = _newton_steps(
        rows, rough_share, a, w, rough_p, root, U, H, L, order, 0, False, every, tolerance, _ROUGH_STEPS
    )  # fmt: skip
    if _restart_unless_numbers(a, w):
        near = False
    p[:] = 0.0
    add_topics(rows, every, w, p)
    gap, _, _ = _newton_steps(rows, share, a, w, p, root, U, H, L, order, size, near, every, GAP, _NEWTON_STEPS)
    return gap


@inner
def _mean(alpha, parameters, tokens, w):  # type: ignore[no-untyped-def]
    """Fill w with the mean of the Dirichlet that has the tokens of each topic at the solution w, beside its parameters."""
    for k in range(w.size):
        w[k] = parameters[k] + max(tokens * w[k] - alpha[k], 0.0)
    total = w.sum()
    for k in range(w.size):
        w[k] /= total


@inner
def _lay_out(of_words, words, rows):  # type: ignore[no-untyped-def]
    """Fill rows = of_words[words]', four words at a time."""
    K, T = rows.shape
    for t in range(0, T, 4):
        b0, b1, b2, b3 = of_words[words[t]], of_words[words[t + 1]], of_words[words[t + 2]], of_words[words[t + 3]]
        for k in range(K):
            rows[k, t], rows[k, t + 1], rows[k, t + 2], rows[k, t + 3] = b0[k], b1[k], b2[k], b3[k]


@compiled(
    VOID, *CSR, READ_SINGLE_MATRIX, READ_VECTOR, READ_VECTOR, READ_VECTOR, READ_VECTOR, INT, MATRIX, VECTOR, VECTOR, VECTOR,
    reorder=True,
)  # fmt: skip
def _compose_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, of_words, chance, alpha, fees, parameters, first, weights, likelihood, n_known, gap
):
    M, K = weights.shape
    concentration = alpha.sum()
    longest = 0
    for row in range(M):
        longest = max(longest, indptr[first + row + 1] - indptr[first + row] + 7)
    words, counts, p = np.empty(longest, np.int64), np.empty(longest), np.empty(longest)
    room, more_room = np.empty(K * longest, of_words.dtype), np.empty(K * longest, of_words.dtype)
    H, L, d = np.empty((K, K)), np.empty((K, K)), np.empty(K)
    every = np.arange(K)
    before = parameters.sum()
    for row in range(M):
        n_types = 0
        total = 0.0
        for j in range(indptr[first + row], indptr[first + row + 1]):
            probabilities = of_words[indices[j]]
            known = of_words.dtype.type(0)
            for k in range(K):  # one, or zero; and the row is at hand when it is laid out
                known += probabilities[k]
            if data[j] > 0.0 and known > 0.5:
                words[n_types] = indices[j]
                counts[n_types] = data[j]
                total += data[j]
                n_types += 1
        n_known[row] = total
        w = weights[row]
        for k in range(K):
            w[k] = parameters[k] / before
        if n_types == 0:
            continue
        T = (n_types + 7) // 8 * 8  # whole vectors: the types past the last have no count
        words[n_types:T] = words[0]
        counts[n_types:T] = 0.0
        rows, U = room[: K * T].reshape(K, T), more_room[: K * T].reshape(K, T)
        _lay_out(of_words, words[:T], rows)
        scale = 1.0 / (total + concentration)
        _begin(alpha, concentration, w)
        gap[row] = _solve_document(
            rows, counts[:T] * scale, alpha * scale, w, p[:T], U, H, L, fees, total + concentration, d
        )  # fmt: skip
        if gap[row] == np.inf:  # no numbers to work with: the prior, and not solved
            for k in range(K):
                w[k] = parameters[k] / before
            likelihood[row] = -np.inf
            continue
        if fees.max() > 0.0:
            _mean(alpha, parameters, total + concentration, w)
            for k in range(K):  # rows are divided by d
                d[k] *= w[k]
            p[:T] = 0.0
            add_topics(rows, every, d, p[:T])
        value = 0.0
        for t in range(n_types):
            value += counts[t] * np.log(p[t] * chance[words[t]])
        likelihood[row] = value

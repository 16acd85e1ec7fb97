"""Topic proportions of documents by penalised likelihood: EM steps, then Newton steps to a certificate.

Notation and the problem are those of :mod:`anchorwords.infer.penalised`. A few EM steps find the topics that matter and
Newton steps finish. For the curvature of the prior, a_k / w_k^2, they take (1 - g_k) / w_k where that is larger; at the
solution both are the same. A topic that nothing else depends on is then at its solution a_k / (1 - g_k) after one step,
from however far above. EM steps are in single precision; what is certified is computed in double precision.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..linalg.parallel import for_each_block
from .compiled import CSR, INT, MATRIX, READ_SINGLE_MATRIX, READ_VECTOR, VECTOR, VOID, compiled, inlined
from .newton import KEEP, add_topics, advance, bounded_solve, couple_topics, slopes_and_curvatures, topic_products
from .protocol import PROPORTIONS_GAP as GAP
from .protocol import CsrParts, Proportions

_EM_STEPS, _NEWTON_STEPS = 10, 100
# The curvature is kept for the next step where no weight changes by more than this share of itself.
_NEAR = 0.1
# What a topic's probabilities are divided by, at most.
_LARGEST_DIVISOR = 1e6
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


@inlined
def _em_steps(rows, share, a, w, every):  # type: ignore[no-untyped-def]
    """w_k <- w_k g_k + a_k, after the first time twice with the same g; False where that leads out of single precision."""
    K, T = rows.shape
    g, v, p = np.empty(K), np.empty(K, np.float32), np.empty(T, np.float32)
    total = 0.0
    for step in range(_EM_STEPS):
        for k in range(K):
            v[k] = w[k]
        for t in range(T):
            p[t] = 0.0
        add_topics(rows, every, 0, K, v, p)
        for t in range(T):
            p[t] = share[t] / p[t]
        topic_products(rows, K, p, g)
        for k in range(K):
            w[k] = w[k] * g[k] + a[k]
            if step > 0:
                w[k] = w[k] * g[k] + a[k]
        total = 0.0
        for k in range(K):  # not in the loop that stores: see anchorwords.kernels.sweep
            total += w[k]
        for k in range(K):
            w[k] /= total
    least, total = 1.0, 0.0
    for k in range(K):
        least = min(least, w[k])
        total += w[k]
    return least > 0.0 and np.isfinite(total)


@inlined
def _penalise(rows, penalties, tokens, w, d):  # type: ignore[no-untyped-def]
    """Divide the rows of topics by d_k = 1 + f_k / (their tokens so far)."""
    K, T = rows.shape
    for k in range(K):
        d[k] = min(1.0 + penalties[k] / max(tokens * w[k], 1e-300), _LARGEST_DIVISOR)
        factor = np.float32(1.0 / d[k])
        row = rows[k]
        for t in range(T):
            row[t] *= factor


@inlined
def _mean(alpha, parameters, tokens, w, d):  # type: ignore[no-untyped-def]
    """Fill w with the mean of the Dirichlet that has the tokens of each topic at the solution w, beside its parameters.

    d is multiplied by it: rows are divided by d.
    """
    K = w.size
    total = 0.0
    for k in range(K):
        w[k] = parameters[k] + max(tokens * w[k] - alpha[k], 0.0)
    for k in range(K):
        total += w[k]
    for k in range(K):
        w[k] /= total
        d[k] *= w[k]


@inlined
def _lay_out(of_words, words, rows):  # type: ignore[no-untyped-def]
    """Fill rows = of_words[words]', four words at a time."""
    K, T = rows.shape
    for t in range(0, T, 4):
        b0, b1, b2, b3 = of_words[words[t]], of_words[words[t + 1]], of_words[words[t + 2]], of_words[words[t + 3]]
        for k in range(K):
            rows[k, t], rows[k, t + 1], rows[k, t + 2], rows[k, t + 3] = b0[k], b1[k], b2[k], b3[k]


@compiled(
    VOID, *CSR, READ_SINGLE_MATRIX, READ_VECTOR, READ_VECTOR, READ_VECTOR, READ_VECTOR, INT, MATRIX, VECTOR, VECTOR, VECTOR,
    reorder=True, apart=True,
)  # fmt: skip
def _compose_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, of_words, chance, alpha, penalties, parameters, first, weights, likelihood, n_known, gap
):
    M, K = weights.shape
    concentration = before = largest_penalty = 0.0
    for k in range(K):
        concentration += alpha[k]
        before += parameters[k]
        largest_penalty = max(largest_penalty, penalties[k])
    longest = 0
    for row in range(M):
        longest = max(longest, indptr[first + row + 1] - indptr[first + row] + 7)
    words, counts, share, p = np.empty(longest, np.int64), np.empty(longest), np.empty(longest), np.empty(longest)
    room, more_room = np.empty(K * longest, np.float32), np.empty(K * longest, np.float32)
    H, L, a, d = np.empty((K, K)), np.empty((K, K)), np.empty(K), np.empty(K)
    slope, D, h, move, y, z = np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    every, order, free = np.empty(K, np.int64), np.empty(K, np.int64), np.empty(K, np.int64)
    r, q, root, u = np.empty(longest), np.empty(longest), np.empty(longest, np.float32), np.empty(longest, np.float32)
    for k in range(K):
        every[k] = k
    for row in range(M):
        n_types = 0
        total = 0.0
        for j in range(indptr[first + row], indptr[first + row + 1]):
            probabilities = of_words[indices[j]]
            known = np.float32(0.0)
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
        for t in range(n_types, T):
            words[t] = words[0]
            counts[t] = 0.0
        rows, U = room[: K * T].reshape(K, T), more_room[: K * T].reshape(K, T)
        _lay_out(of_words, words, rows)
        tokens = total + concentration
        for t in range(T):
            share[t] = counts[t] / tokens
        for k in range(K):  # half the prior's shares, and half even ones
            a[k] = alpha[k] / tokens
            w[k] = 0.5 * alpha[k] / concentration + 0.5 / K
        if not _em_steps(rows, share, a, w, every):
            for k in range(K):
                w[k] = 0.5 * alpha[k] / concentration + 0.5 / K
        if largest_penalty > 0.0:
            _penalise(rows, penalties, tokens, w, d)
        # Newton steps, with p = rows' w.
        gain, damping, size, near = np.inf, 0.0, 0, False
        for t in range(T):
            p[t] = 0.0
        add_topics(rows, every, 0, K, w, p)
        for step in range(_NEWTON_STEPS + 1):
            last = gain
            gain = slopes_and_curvatures(rows, share, a, w, p, damping, r, root, h, slope, D)
            if gain <= GAP or gain == np.inf or step == _NEWTON_STEPS:
                break
            near = near and gain < 0.5 * last  # L is still the factor of H
            if not near:
                size = couple_topics(rows, root, h, D, order, U, H)
            for i in range(size, K):
                k = order[i]
                move[k] = max(slope[k] / D[k], (KEEP - 1.0) * w[k])
            for t in range(T):
                q[t] = 0.0
            add_topics(rows, order, size, K, move, q)
            for t in range(T):
                u[t] = root[t] * q[t]
            topic_products(U, size, u, y)
            for i in range(size):
                y[i] = slope[order[i]] - y[i]
            bounded_solve(H, y, w, move, order, size, L, near, z, free)
            rise = largest = 0.0
            for k in range(K):
                rise += slope[k] * move[k]
                largest = max(largest, abs(move[k]) / w[k])
            rises = rise > 0.0
            n_added = size
            if not rises:  # bounds or rounding have turned the move round: that of an EM step always rises
                rise = 0.0
                for k in range(K):
                    move[k] = w[k] * slope[k]
                    rise += slope[k] * move[k]
                for t in range(T):
                    q[t] = 0.0
                n_added = K
            add_topics(rows, order, 0, n_added, move, q)
            length = advance(share, a, w, p, T, move, q, rise)
            near = rises and largest < _NEAR
            # Shorter steps where the model of the objective was no good.
            damping = 0.1 * damping if rises and length > 0.5 else max(10.0 * damping, gain)
        gap[row] = gain if tokens < np.inf else np.inf
        if gap[row] == np.inf:  # no numbers to work with: the prior, and not solved
            for k in range(K):
                w[k] = parameters[k] / before
            likelihood[row] = -np.inf
            continue
        if largest_penalty > 0.0:
            _mean(alpha, parameters, tokens, w, d)
            for t in range(T):
                p[t] = 0.0
            add_topics(rows, every, 0, K, d, p)
        value = 0.0
        for t in range(n_types):
            value += counts[t] * np.log(p[t] * chance[words[t]])
        likelihood[row] = value

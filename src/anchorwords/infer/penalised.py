"""Compositions by penalised likelihood: the default of ``transform``, "map".

Notation
--------
x : (N,)      counts of one document, n their sum
alpha : (K,)  weights of the prior, alpha_0 their sum
b, f : (K,)   its parameters, b_0 their sum, and fees: see :mod:`anchorwords.infer.prior`
w : (K,)      composition, on the simplex
p = B w       word probabilities
s = x / (n + alpha_0), a = alpha / (n + alpha_0)

Maximise sum_i s_i log p_i + sum_k a_k log w_k. The problem is strictly concave and its solution has no zero. It is the
mode of the Dirichlet posterior in the coordinates log w, where a mode is near the mean also of short documents; a
document without words has the prevalence.

With g_k = sum_i s_i B_ik / p_i the solution has g_k + a_k / w_k = 1 for every topic, and max_k (g_k + a_k / w_k) - 1,
the gap, bounds what the objective can still gain. The multiplier of the simplex being one, the problem is also to
maximise sum_i s_i log p_i + sum_k a_k log w_k - sum_k w_k over w >= 0: its slopes are g_k + a_k / w_k - 1.

But the mode gives a little to topics that are not there. The prior's exponents are b - 1, and where b is small the -1, which
is not concave, would take that out. One step of a convex-concave procedure does it: in the second form -log w_k is replaced
by its tangent at a first estimate v, so that sum_k f_k / ((n + alpha_0) v_k) w_k is taken off as well. With
d_k = 1 + f_k / ((n + alpha_0) v_k) and u = d w that is the same problem with topics B_k / d_k: one that explains f_k tokens
or less has half of its say, or less. The first estimate are ten EM steps from half an even composition and half the prior's.
The answer is the mean of the Dirichlet with the tokens of each topic that this leaves,
w_k = (b_k + (n + alpha_0) (u_k - a_k)) / (n + b_0) for the solution u.

A few EM steps find the topics that matter and Newton steps finish. For the curvature of the prior, a_k / w_k^2, they take
(1 - g_k) / w_k where that is larger; at the solution both are the same. A topic that nothing else depends on is then
at its solution a_k / (1 - g_k) after one step, from however far above.

Rows of B count up to a factor, so each is divided by its sum, and then rounded to single precision: g changes by a share of
1.2e-7 at most. The way there is in single precision too; what is certified is computed in double.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._typing import BoolArray, FloatArray, SparseLike
from ..exceptions import InputError
from ..kernels.compiled import CSR, INT, MATRIX, READ_SINGLE_MATRIX, READ_VECTOR, VECTOR, VOID, compiled, inner
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts
from .fold_in import Compositions, require_columns
from .newton import add_topics, couple_topics, newton_moves, slopes_and_curvatures, topic_products
from .prior import Prior

# What the objective may still gain when a document counts as solved.
GAP = 1e-6
# And when it is solved in single precision, which gives g to some 1e-6.
_ROUGH = 1e-5
_EM_STEPS = 10
_NEWTON_STEPS, _ROUGH_STEPS = 100, 30
# The curvature is kept for the next step where no weight changes by more than this share of itself.
_NEAR = 0.1
# A word whose probabilities do not add up to more than this is unknown: their inverse would overflow.
_NEVER = 1e-100
# What a topic's probabilities are divided by, at most.
_DEAREST = 1e6
_BLOCK = 64


class ScaledTopics:
    """Rows of B divided by their sums, in single precision: made once for documents that come in blocks.

    Parameters
    ----------
    B : (N, K) array
        Words with a zero row are unknown.
    """

    def __init__(self, B: FloatArray) -> None:
        self.B = B
        self._all: tuple[FloatArray, npt.NDArray[np.float32]] | None = None

    def of(self, words: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], FloatArray, npt.NDArray[np.float32]]:
        """Sums and scaled rows, and where in them the words are; of few words, these alone."""
        if self._all is None and words.size < self.B.shape[0]:
            used, places = np.unique(words, return_inverse=True)
            return places.astype(np.int32), *_scaled(self.B[used])
        if self._all is None:
            self._all = _scaled(self.B)
        return words, *self._all


def known_words(B: FloatArray) -> BoolArray:
    """Which words the topics have any probability for, (N,)."""
    return np.asarray(B.sum(axis=1, dtype=np.float64) > _NEVER)


def _scaled(B: FloatArray) -> tuple[FloatArray, npt.NDArray[np.float32]]:
    """Sums of the rows of B, and the rows divided by them; zero where the word is unknown."""
    # The order in memory is that of the sums: the same for all words and for some.
    B = np.ascontiguousarray(B, dtype=np.float64)
    chance = B.sum(axis=1)
    known = chance > _NEVER
    chance[~known] = 0.0
    rows = np.empty(B.shape, np.float32)
    scale = np.divide(1.0, chance, out=np.zeros_like(chance), where=known)
    np.multiply(B, scale[:, np.newaxis], out=rows, casting="same_kind")
    return chance, rows


def penalised_compositions(
    counts: SparseLike, topics: FloatArray | ScaledTopics, prior: FloatArray | Prior, *, n_jobs: int | None = None
) -> Compositions:
    """Compositions by penalised likelihood; no document's answer depends on another's.

    Parameters
    ----------
    counts : (M, N) CSR
    topics : (N, K) array or ScaledTopics
        Words with a zero row are unknown and ignored.
    prior : Prior or (K,) array
        An array is alpha alone, positive: the answer is then the mode. A document without any known word gets the shares
        of the parameters, or of alpha.
    n_jobs : int or None
    """
    if not isinstance(topics, ScaledTopics):
        topics = ScaledTopics(topics)
    require_columns(counts, topics.B)
    M, K = counts.shape[0], topics.B.shape[1]
    if not isinstance(prior, Prior):
        prior = Prior(prior, np.zeros(K), prior)
    alpha, fees, parameters = (np.ascontiguousarray(part, dtype=np.float64) for part in prior)
    if alpha.shape != (K,) or not (np.isfinite(alpha) & (alpha > 0.0)).all():
        raise InputError(f"alpha must hold one positive number for each of the {K} topics.")
    if fees.shape != (K,) or not ((fees >= 0.0) & (fees <= 1.0)).all():
        raise InputError(f"fees must hold one number from 0 to 1 for each of the {K} topics.")
    if parameters.shape != (K,) or not (np.isfinite(parameters) & (parameters > 0.0)).all():
        raise InputError(f"parameters must hold one positive number for each of the {K} topics.")
    indptr, words, data = csr_parts(counts)
    places, chance, rows = topics.of(words)
    weights = np.empty((M, K))
    likelihood, n_known, gap = np.zeros(M), np.zeros(M), np.zeros(M)

    def work(start: int, stop: int) -> None:
        _compose_rows(
            indptr, places, data, rows, chance, alpha, fees, parameters, start,
            weights[start:stop], likelihood[start:stop], n_known[start:stop], gap[start:stop],
        )  # fmt: skip

    for_each_block(work, M, _BLOCK, n_jobs)
    return Compositions(weights, likelihood, n_known, gap)


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
        total = w.sum()  # not in the loop that stores: see anchorwords.refine.sweep
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

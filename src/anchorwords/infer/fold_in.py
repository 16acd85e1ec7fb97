"""Maximum-likelihood compositions of documents with the topics held fixed.

Notation
--------
x : (N,)    counts of one document, n their sum
B : (N, K)  p(word | topic)
w : (K,)    composition of the document, on the simplex
p = B w     word probabilities

Maximise sum_i x_i log(B w)_i / n over the simplex. The problem is concave. With g_k = sum_i x_i B_ik / (n p_i) the
likelihood a token can still gain is at most log max_k g_k, so max_k g_k - 1 is a certificate of optimality.
A few multiplicative (EM) steps find the topics that matter; Newton steps on those, each a quadratic programme
on the simplex solved exactly, finish. Since the Hessian H satisfies H w = g, that programme is
min v'Hv/2 - 2 g'v: the least-squares problem of :mod:`anchorwords.linalg.simplex`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, SparseLike
from ..exceptions import InputError
from ..kernels.compiled import (
    CSR,
    INT,
    MATRIX,
    READ_FLAGS,
    READ_MATRIX,
    READ_VECTOR,
    VECTOR,
    VOID,
    compiled,
    inner,
)
from ..linalg.parallel import for_each_block
from ..linalg.simplex import solve_scaled_simplex
from ..linalg.sparse import csr_parts

_EM_STEPS = 12
_NEWTON_STEPS = 60
# What a token's log-likelihood may still gain when a document counts as solved.
GAP = 1e-9
_BLOCK = 64


class Compositions(NamedTuple):
    """Compositions of documents and how well they explain them.

    Attributes
    ----------
    weights : (M, K) array
        Rows on the simplex.
    log_likelihood : (M,) array
        sum_i x_i log(B w)_i over the known words of each document.
    n_known : (M,) array
        Tokens of known words.
    gap : (M,) array
        Upper bound on what the objective, a token's log-likelihood or its penalised form, could still gain; of
        "map" that of the concave problem from whose solution the weights are made.
    """

    weights: FloatArray
    log_likelihood: FloatArray
    n_known: FloatArray
    gap: FloatArray


def fold_in(counts: SparseLike, B: FloatArray, prevalence: FloatArray, *, n_jobs: int | None = None) -> Compositions:
    """Maximum-likelihood compositions; no document's answer depends on another's.

    Parameters
    ----------
    counts : (M, N) CSR
    B : (N, K) array
        Words with a zero row are unknown and ignored.
    prevalence : (K,) array
        Composition of a document without any known word.
    n_jobs : int or None
    """
    require_columns(counts, B)
    M, K = counts.shape[0], B.shape[1]
    known = B.any(axis=1)
    weights = np.empty((M, K))
    likelihood, n_known, gap = np.zeros(M), np.zeros(M), np.zeros(M)
    B = np.ascontiguousarray(B, dtype=np.float64)
    prevalence = np.ascontiguousarray(prevalence)
    parts = csr_parts(counts)

    def work(start: int, stop: int) -> None:
        _fold_in_rows(
            *parts, B, known, prevalence, start,
            weights[start:stop], likelihood[start:stop], n_known[start:stop], gap[start:stop],
        )  # fmt: skip

    for_each_block(work, M, _BLOCK, n_jobs)
    return Compositions(weights, likelihood, n_known, gap)


def require_columns(counts: SparseLike, B: FloatArray) -> None:
    """Raise unless documents have a column for each word of the model."""
    if counts.shape[1] != B.shape[0]:
        raise InputError(f"the model knows {B.shape[0]} words, but the documents have {counts.shape[1]} columns.")


@inner
def _gradient(rows, share, w, p, g):  # type: ignore[no-untyped-def]
    g[:] = 0.0
    for i in range(rows.shape[0]):
        s = 0.0
        for k in range(rows.shape[1]):
            s += rows[i, k] * w[k]
        p[i] = s
        weight = share[i] / s
        for k in range(rows.shape[1]):
            g[k] += weight * rows[i, k]


@inner
def _newton_step(rows, share, w, p, g, active):  # type: ignore[no-untyped-def]
    """Move w towards the minimiser of the quadratic model on the active topics; False without progress."""
    n_types, n = rows.shape[0], active.size
    H = np.zeros((n, n))
    for i in range(n_types):
        weight = share[i] / (p[i] * p[i])
        for a in range(n):
            left = weight * rows[i, active[a]]
            for b in range(a + 1):
                H[a, b] += left * rows[i, active[b]]
    largest = 0.0
    for a in range(n):
        for b in range(a):
            H[b, a] = H[a, b]
        largest = max(largest, H[a, a])
    target = np.empty(n)
    for a in range(n):
        target[a] = 2.0 * g[active[a]] / largest + 1.0
    v = solve_scaled_simplex(H / largest + 1.0, target)
    slope = 0.0  # of the log-likelihood along v - w
    for a in range(n):
        slope += g[active[a]] * (v[a] - w[active[a]])
    if slope <= 0.0:
        return False
    q = np.zeros(n_types)  # rows v
    for i in range(n_types):
        for a in range(n):
            q[i] += rows[i, active[a]] * v[a]
    length = 1.0
    for _ in range(40):
        gain = 0.0
        for i in range(n_types):
            ratio = 1.0 + length * (q[i] - p[i]) / p[i]
            if ratio <= 0.0:
                gain = -np.inf
                break
            gain += share[i] * np.log(ratio)
        if gain >= 0.01 * length * slope:
            for a in range(n):
                k = active[a]
                w[k] = max(w[k] + length * (v[a] - w[k]), 0.0)
            return True
        length *= 0.5
    return False


@inner
def _drop_fading(rows, w, g):  # type: ignore[no-untyped-def]
    """Set topics that are fading to zero, but none that alone explains a word; they come back if they are wanted."""
    K = w.size
    fading = np.zeros(K, np.bool_)
    for k in range(K):
        fading[k] = w[k] < 1e-5 and g[k] < 0.9
    for i in range(rows.shape[0]):
        rest = 0.0
        for k in range(K):
            if not fading[k]:
                rest += rows[i, k] * w[k]
        if rest <= 0.0:
            for k in range(K):
                if rows[i, k] > 0.0:
                    fading[k] = False
    kept = 0.0
    for k in range(K):
        if fading[k]:
            w[k] = 0.0
        kept += w[k]
    for k in range(K):
        w[k] /= kept


@inner
def _maximise(rows, share, w):  # type: ignore[no-untyped-def]
    """Maximise sum share log(rows w) in place; returns the certificate max g - 1."""
    n_types, K = rows.shape
    p = np.empty(n_types)
    g = np.empty(K)
    active = np.empty(K, np.int64)
    gap = np.inf
    for step in range(_EM_STEPS + _NEWTON_STEPS):
        _gradient(rows, share, w, p, g)
        gap = g.max() - 1.0
        if gap <= GAP:
            break
        if step < _EM_STEPS:
            for k in range(K):
                w[k] *= g[k]
            continue
        if step == _EM_STEPS:
            _drop_fading(rows, w, g)
            _gradient(rows, share, w, p, g)
        n_active = 0
        for k in range(K):
            if w[k] > 0.0 or g[k] > 1.0:
                active[n_active] = k
                n_active += 1
        if not _newton_step(rows, share, w, p, g, active[:n_active]):
            # At the limit of rounding the model sees no descent: a multiplicative step never hurts.
            for k in range(K):
                w[k] *= g[k]
    total = 0.0
    for k in range(K):
        total += w[k]
    for k in range(K):
        w[k] /= total
    return max(gap, 0.0)


@compiled(VOID, *CSR, READ_MATRIX, READ_FLAGS, READ_VECTOR, INT, MATRIX, VECTOR, VECTOR, VECTOR)
def _fold_in_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, B, known, prevalence, first, weights, likelihood, n_known, gap
):
    K = B.shape[1]
    for row in range(weights.shape[0]):
        begin, end = indptr[first + row], indptr[first + row + 1]
        words = np.empty(end - begin, np.int64)
        share = np.empty(end - begin)
        n_types = 0
        total = 0.0
        for q in range(begin, end):
            if known[indices[q]] and data[q] > 0.0:
                words[n_types] = indices[q]
                share[n_types] = data[q]
                total += data[q]
                n_types += 1
        n_known[row] = total
        if n_types == 0:
            weights[row] = prevalence
            continue
        rows = np.empty((n_types, K))
        for i in range(n_types):
            rows[i] = B[words[i]]
            share[i] /= total
        w = np.full(K, 1.0 / K)
        gap[row] = _maximise(rows, share[:n_types], w)
        weights[row] = w
        value = 0.0
        for i in range(n_types):
            p = 0.0
            for k in range(K):
                p += rows[i, k] * w[k]
            value += share[i] * np.log(p)
        likelihood[row] = total * value

"""Posterior mean of topic proportions by collapsed variational inference, accurate for documents of a few tokens.

Notation
--------
b : (K,)         parameters of the Dirichlet prior, with sum b_0
g_i : (K,)       posterior probabilities of the topic of one token of word i
c_i              count of word i in the document, n tokens in all
N = sum_i c_i g_i

CVB0 (Asuncion, Welling, Smyth and Teh 2009): g_i is proportional to B_i (b + N - g_i), iterated from g_i proportional
to B_i b. The mean of the posterior is (b + N) / (b_0 + n). Proportions are integrated out, so that a single token
leaves its uncertainty in the result: there the formula is exact. The mode of the posterior, which the other methods
start from, settles on one of the topics that could have produced the token. In long documents both agree.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..linalg.sparse import csr_parts, rows_between
from .penalised import known_words

# Entries of g at a time: 32 MB.
_TOGETHER = 1 << 22
# Change of a proportion at which a document has converged, and the most steps. On ml1m, 1e-4 gives the same predictions.
_TOL, _STEPS = 1e-3, 200


def collapsed_proportions(counts: SparseLike, B: FloatArray, parameters: FloatArray) -> FloatArray:
    """Posterior mean of the topic proportions of each document.

    Parameters
    ----------
    counts : (M, N) sparse array
    B : (N, K) array
        p(word | topic).
    parameters : (K,) array
        b, positive.

    Returns
    -------
    (M, K) array
        Rows sum to one. A document without a word of the topics gets the mean of the prior.
    """
    known = sp.csr_array(counts[:, :])
    known.data = np.where(known_words(B)[known.indices], known.data, 0.0)
    known.eliminate_zeros()
    proportions = np.empty((known.shape[0], B.shape[1]))
    # Blocks of documents with a bounded number of entries.
    most = max(1, _TOGETHER // B.shape[1])
    start = 0
    while start < known.shape[0]:
        stop = max(start + 1, int(np.searchsorted(known.indptr, known.indptr[start] + most, side="right")) - 1)
        proportions[start:stop] = _of_block(rows_between(known, start, stop), B, parameters)
        start = stop
    return proportions


def _of_block(counts: SparseLike, B: FloatArray, b: FloatArray) -> FloatArray:
    found = np.tile(b / b.sum(), (counts.shape[0], 1))
    active = np.flatnonzero(np.diff(counts.indptr))
    if not active.size:
        return found
    L, rows, own, sums = _tokens(counts, active, B)
    g = _normalised(L * b)
    N = sums @ g
    for step in range(1, _STEPS + 1):
        g = _normalised(L * (b + N[rows] - own * g))
        before, N = N, sums @ g
        total = b.sum() + N.sum(axis=1, keepdims=True)
        moving = (np.abs(N - before) > _TOL * total).any(axis=1)
        if not moving.any() or step == _STEPS:
            found[active] = (b + N) / total
            break
        if 2 * np.count_nonzero(moving) < active.size:  # go on with those documents that have not converged
            found[active[~moving]] = ((b + N) / total)[~moving]
            g, N, active = g[moving[rows]], N[moving], active[moving]
            L, rows, own, sums = _tokens(counts, active, B)
    return found


def _tokens(
    counts: SparseLike, documents: IntArray, B: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray, SparseLike]:
    """p(word | topic) of each entry of these documents, its document, its own token, and the sums by document."""
    indptr, indices, data = csr_parts(sp.csr_array(counts[documents]))
    rows = np.repeat(np.arange(documents.size), np.diff(indptr))
    sums = sp.csr_array((data, np.arange(indices.size), indptr), shape=(documents.size, indices.size))
    return B[indices], rows, np.minimum(data, 1.0)[:, None], sums  # fractional counts have less than one token


def _normalised(g: FloatArray) -> FloatArray:
    # N is at least the token of g_i itself, up to rounding, and b is positive: no row sums to zero.
    return g / g.sum(axis=1, keepdims=True)

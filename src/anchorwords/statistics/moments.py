"""The unbiased joint-stochastic co-occurrence of Eq. 1, explicit.

Notation
--------
X : (M, N)   counts, documents x words (the paper's H transposed); n_m the length of document m
G : (M, N)   scaled counts, g_m = h_m / sqrt(n_m (n_m - 1) M) (the paper's H-hat transposed)
d : (N,)     diagonal of H-hat_diag, d_i = sum_m h_mi / (n_m (n_m - 1) M)
C : (N, N)   G'G - diag(d): symmetric, non-negative, e'Ce = 1
"""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._memory import require_dense
from .._typing import BoolArray, FloatArray, SparseLike
from .._validation import check_counts, has_fractions
from ..exceptions import FractionalCountsWarning, InputError
from ..kernels import kernels_for
from ..linalg.sparse import csr_parts

logger = logging.getLogger("anchorwords.statistics")


@dataclass(frozen=True)
class PairMoments:
    """The two pieces of Eq. 1, and what was left out.

    Attributes
    ----------
    G : (M, N) CSR
        Scaled counts of the documents kept.
    d : (N,) array
        What is taken from the diagonal.
    n_docs : int
        M, the documents with at least two tokens.
    n_skipped : int
        Documents with fewer than two tokens, which carry no pair.
    """

    G: SparseLike
    d: FloatArray
    n_docs: int
    n_skipped: int


def pair_moments(counts: SparseLike) -> PairMoments:
    """Scale counts, as check_counts returns them, in the way Eq. 1 asks.

    Fractional counts are accepted with a warning: diagonal entries of C that come out negative are clipped at
    zero and C is renormalised to sum to one.
    """
    kept = carries_a_pair(counts)
    n_docs = int(kept.sum())
    n_skipped = int(kept.size - n_docs)
    if n_skipped:
        logger.info("skipped %d of %d documents with fewer than two tokens", n_skipped, kept.size)
        counts = counts[kept]
    require_exact(float(counts.data.max()))
    lengths = document_lengths(counts)
    pairs = lengths * (lengths - 1.0) * n_docs
    G = sp.csr_array(sp.diags_array(1.0 / np.sqrt(pairs)) @ counts)
    d = np.asarray(counts.T @ (1.0 / pairs))
    if has_fractions(counts):
        warn_of_fractions(4)
        G, d = _clip_diagonal(G, d)
    return PairMoments(G, d, n_docs, n_skipped)


def warn_of_fractions(stacklevel: int) -> None:
    """Say what becomes of counts that are not whole."""
    warnings.warn(
        "counts are not whole numbers: Eq. 1 is unbiased for whole counts only, so negative diagonal entries "
        "are clipped and the statistics renormalised; give raw counts rather than weights if you can.",
        FractionalCountsWarning,
        stacklevel=stacklevel,
    )


def carries_a_pair(counts: SparseLike) -> BoolArray:
    """Which documents have the two tokens that a pair of words needs; InputError where none has."""
    kept = _has_pair(counts)
    if not kept.any():
        raise no_pair(*counts.shape)
    return kept


def with_pairs(counts: SparseLike) -> SparseLike:
    """The documents with two tokens or more, none where no document has."""
    kept = _has_pair(counts)
    return counts if kept.all() else counts[kept]


def words_with_pairs(counts: SparseLike) -> BoolArray:
    """Which words occur in a document with two tokens; InputError where no document has them."""
    kept = carries_a_pair(counts)
    indices = counts.indices if kept.all() else counts.indices[np.repeat(kept, np.diff(counts.indptr))]
    return np.bincount(indices, minlength=counts.shape[1]) > 0


def _has_pair(counts: SparseLike) -> BoolArray:
    return document_lengths(counts) >= 2.0


def require_exact(largest: float) -> None:
    """Raise InputError for a count that is too large to be exact."""
    if largest > 2.0**53:
        raise InputError(f"counts must be at most 2^53, where whole numbers are still exact, but one is {largest:g}.")


def no_pair(n_docs: int, n_words: int) -> InputError:
    """What to raise where no document carries a pair."""
    return InputError(
        f"a document needs two tokens to form a pair of words, but none has them (X has {n_docs} documents "
        f"and n_features = {n_words}): check that rows are documents and columns are words."
    )


def document_lengths(counts: SparseLike) -> FloatArray:
    """n_m, the tokens of each document."""
    return np.asarray(counts.sum(axis=1)).ravel()


def _clip_diagonal(G: SparseLike, d: FloatArray) -> tuple[SparseLike, FloatArray]:
    clipped = np.minimum(d, np.asarray(G.multiply(G).sum(axis=0)).ravel())
    document_sums = np.asarray(G.sum(axis=1)).ravel()
    total = float(document_sums @ document_sums - clipped.sum())
    return sp.csr_array(G / np.sqrt(total)), clipped / total


def cooccurrence(X: Any, *, n_jobs: int | None = None) -> FloatArray:
    """Co-occurrence matrix C of Eq. 1.

    Parameters
    ----------
    X : (M, N) sparse or array-like
        Non-negative counts, documents x words. Documents with fewer than two tokens are skipped.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    (N, N) array
        Symmetric, non-negative, sums to one.

    Raises
    ------
    TooLargeError
        When N x N does not fit in memory; :class:`CooccurrenceOperator` then serves.
    """
    counts = check_counts(X, copy=False)
    refuse_dense(counts.shape[1])
    moments = pair_moments(counts)
    return dense_cooccurrence(moments.G, moments.d, n_jobs)


def refuse_dense(n_words: int) -> None:
    """Raise TooLargeError where C does not fit in memory."""
    require_dense(
        n_words,
        1.0,
        "cooccurrence",
        "use CooccurrenceOperator, which never forms the matrix, with rectifier 'enn'.",
    )


def dense_cooccurrence(G: SparseLike, d: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """C from the two pieces of Eq. 1."""
    n_words = G.shape[1]
    C = kernels_for(d).gram_rows(csr_parts(sp.csr_array(G.T)), csr_parts(G), 0, n_words, n_words, n_jobs)
    C[np.diag_indices(n_words)] = diagonal_of(C.diagonal(), d)
    return C


def diagonal_of(squares: FloatArray, d: FloatArray) -> FloatArray:
    """Diagonal of C from those of G'G and H-hat_diag, without rounding dust.

    A word that occurs at most once a document has the entry x - x: exactly zero, not 1e-18 of either sign, which a
    factorisation without rectification would take for a correlation.
    """
    difference = squares - d
    return np.where(difference > 64.0 * np.finfo(np.float64).eps * squares, difference, 0.0)

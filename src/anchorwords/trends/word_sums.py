"""Expected counts of the words of topics in each period, from one pass over the documents.

Notation
--------
x_mi         count of word i in document m, w_mk its proportion of topic k
n_mki = x_mi w_mk B_ik / p_mi          expected tokens of word i that topic k has in document m
p_mi                                   (B w_m)_i, and what the background and dropped topics add to it
n_mk = sum_i n_mki                     expected tokens of topic k in document m
n_tki, n_tk                            the same, summed over the documents of period t

Of each topic the C most probable words are followed; the tokens n_tk are those of all words. Sums of n_mki^2, n_mki n_mk
and n_mk^2 over documents give the error of n_tki / n_tk as a ratio of sums over documents, so that a word that one
document repeats many times counts as one observation, not as many.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..interpret.ranking import columns_of, largest

# Numbers kept per array at most, 64 MB: fewer words are followed if there are very many periods or topics.
_MOST_KEPT = 1 << 23
# Products of entries and topics that are made at a time, 32 MB.
_AT_ONCE = 1 << 22


class PeriodWords(NamedTuple):
    """Expected counts of words in topics and periods.

    Attributes
    ----------
    words : (K, C) int array
        The followed words of each topic, most probable first.
    counts, squares, cross : (T, K, C) arrays
        Sums over documents of n_mki, n_mki^2 and n_mki n_mk.
    tokens, token_squares : (T, K) arrays
        Sums over documents of n_mk and n_mk^2.
    """

    words: IntArray
    counts: FloatArray
    squares: FloatArray
    cross: FloatArray
    tokens: FloatArray
    token_squares: FloatArray


class WordSums:
    """Running sums of expected counts.

    Parameters
    ----------
    B : (N, K) array
    n_periods : int
    n_words : int
        Words to follow per topic.
    rest : (N, R) array, optional
        p(word | part) of what explains documents without being a topic: the background and dropped topics.
    """

    def __init__(self, B: FloatArray, n_periods: int, n_words: int, rest: FloatArray | None = None) -> None:
        N, K = B.shape
        C = max(1, min(n_words, N, _MOST_KEPT // max(1, n_periods * K)))
        self._B, self._rest = B, np.zeros((N, 0)) if rest is None else rest
        words = np.stack([largest(column, C) for column in columns_of(B)])
        shape = (n_periods, K, C)
        self.sums = PeriodWords(
            words, np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape[:2]), np.zeros(shape[:2])
        )
        followed = np.unique(words)
        self._followed = followed
        self._place = np.searchsorted(followed, words)  # of each topic's words among all that are followed
        self._own = B[words, np.arange(K)[:, None]]

    def add(self, periods: IntArray, counts: SparseLike, w: FloatArray, w_rest: FloatArray) -> None:
        """Add documents: the period, counts and proportions of each, of the topics and of the rest."""
        ratio = self._ratios(counts, w, w_rest)
        tokens = w * (ratio @ self._B)
        squared = ratio.copy()
        squared.data = squared.data**2
        by_word = sp.csr_array(ratio[:, self._followed].T), sp.csr_array(squared[:, self._followed].T)
        for t in np.unique(periods).tolist():
            rows = np.flatnonzero(periods == t)
            own, total = w[rows], tokens[rows]
            linear, quadratic = (matrix[:, rows] for matrix in by_word)
            self.sums.tokens[t] += total.sum(axis=0)
            self.sums.token_squares[t] += (total**2).sum(axis=0)
            self.sums.counts[t] += self._picked(linear @ own) * self._own
            self.sums.squares[t] += self._picked(quadratic @ own**2) * self._own**2
            self.sums.cross[t] += self._picked(linear @ (own * total)) * self._own

    def _picked(self, values: FloatArray) -> FloatArray:
        """From followed words x topics to topics x their own words."""
        return values[self._place, np.arange(self._place.shape[0])[:, None]]

    def _ratios(self, counts: SparseLike, w: FloatArray, w_rest: FloatArray) -> SparseLike:
        """x_mi / p_mi at the entries of the counts; zero for words that nothing explains."""
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        p = np.empty(counts.nnz)
        step = max(1, _AT_ONCE // w.shape[1])
        for start in range(0, counts.nnz, step):
            part = slice(start, start + step)
            p[part] = np.einsum("ek,ek->e", w[rows[part]], self._B[counts.indices[part]])
            p[part] += np.einsum("er,er->e", w_rest[rows[part]], self._rest[counts.indices[part]])
        data = np.divide(counts.data, p, out=np.zeros(counts.nnz), where=p > 0.0)
        return sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)

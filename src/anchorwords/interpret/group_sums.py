"""Means of topic proportions in groups of documents, with their errors, from one pass over the documents.

Notation
--------
w_m : (K,)   topic proportions of document m
a_m          its weight in the mean: 1, or its number of tokens
mean = sum a_m w_m / sum a_m over the n documents of a group
variance of the mean = n / (n - 1) sum a_m^2 (w_m - mean)^2 / (sum a_m)^2

The variance is that of a ratio of sums, linearised; with equal weights it is s^2 / n. Documents come in blocks: a group
keeps sums, and sums of squares about their own mean, which add up without cancellation (Chan, Golub and LeVeque).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray


class GroupSums:
    """The running sums of each group."""

    def __init__(self, n_groups: int, K: int) -> None:
        self.n_docs, self.n_tokens = np.zeros(n_groups, dtype=np.intp), np.zeros(n_groups)
        self._a, self._aw = np.zeros(n_groups), np.zeros((n_groups, K))
        # Weights are divided by 2^exponent of their group, so that squares of tiny ones are not zero.
        self._exponent = np.full(n_groups, np.iinfo(np.int32).min // 2)
        # With weights a^2: their sum, the mean, and the sum of squares about it.
        self._aa, self._mean, self._squares = np.zeros(n_groups), np.zeros((n_groups, K)), np.zeros((n_groups, K))

    def add(self, groups: IntArray, w: FloatArray, tokens: FloatArray, a: FloatArray) -> None:
        """Add documents: the group, proportions, tokens and weight of each."""
        if groups.size == 0:
            return
        here, own = np.unique(groups, return_inverse=True)
        # Groups of this block x its documents: products with it are sums over the documents of each group.
        member = sp.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(here.size, own.size))
        self.n_docs[here] += np.bincount(own)
        self.n_tokens[here] += member @ tokens
        a = self._scaled(here, own, a)
        self._a[here] += member @ a
        self._aw[here] += member @ (a[:, None] * w)
        aa = member @ a**2
        # The squares of this block may be nothing next to those of blocks before it.
        mean = (member @ (a[:, None] ** 2 * w)) / np.where(aa > 0.0, aa, 1.0)[:, None]
        squares = member @ (a[:, None] ** 2 * (w - mean[own]) ** 2)
        before, both = self._aa[here], self._aa[here] + aa
        apart = mean - self._mean[here]
        self._squares[here] += squares + apart**2 * (before * aa / both)[:, None]
        self._mean[here] += apart * (aa / both)[:, None]
        self._aa[here] = both

    def _scaled(self, here: IntArray, own: IntArray, a: FloatArray) -> FloatArray:
        """Weights in the scale of their groups, which grows with the largest; powers of two, which change no digit."""
        exponent = self._exponent[here]
        np.maximum.at(exponent, own, np.frexp(a)[1])
        # At most 0; beyond the range of exponents, all that was summed before is nothing next to this block.
        shift = np.maximum(self._exponent[here] - exponent, -10_000)
        for sums, power in ((self._a, 1), (self._aw, 1), (self._aa, 2), (self._squares, 2)):
            sums[here] = np.ldexp(sums[here], power * shift if sums.ndim == 1 else power * shift[:, None])
        self._exponent[here] = exponent
        return np.ldexp(a, -exponent[own])

    def mean_and_error(self) -> tuple[FloatArray, FloatArray]:
        """Mean of each group and its standard error; nan where there are too few documents."""
        some, several = self.n_docs > 0, self.n_docs > 1
        mean, error = np.full(self._aw.shape, np.nan), np.full(self._aw.shape, np.nan)
        mean[some] = self._aw[some] / self._a[some, None]
        n = self.n_docs[several, None]
        about_mean = self._squares[several] + self._aa[several, None] * (mean[several] - self._mean[several]) ** 2
        error[several] = np.sqrt(n / (n - 1) * about_mean) / self._a[several, None]
        return mean, error


def t_quantile(n_docs: IntArray, level: float) -> FloatArray:
    """Quantile of Student's t for a two-sided interval of each group; nan below two documents."""
    from scipy.special import stdtrit

    return np.where(n_docs > 1, stdtrit(np.maximum(n_docs - 1, 1), (1.0 + level) / 2.0), np.nan)

"""What Eq. 1 needs to know of every word, summed over documents: sums of disjoint sets of documents add."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._namespace import array_namespace, to_numpy
from .._typing import FloatArray, IntArray, SparseLike
from ..kernels import kernels_for
from ..kernels.protocol import PreparedCounts
from ..linalg.sparse import csr_parts
from ..storage.sketch_folder import BY_WORD

TOTALS = ("n_docs", "n_skipped", "n_tokens", "mass")


class PairSums:
    """Sums over documents, before the division by M.

    Attributes
    ----------
    d : (N,) array
        sum_m h_mi / (n_m (n_m - 1)).
    squares : (N,) array
        sum_m h_mi^2 / (n_m (n_m - 1)), the diagonal of the first term.
    df : (N,) integer array
        Documents, of those that carry a pair.
    n_docs, n_skipped : int
        Documents with at least two tokens, and with fewer.
    n_tokens : float
        Tokens of the former.
    mass : float
        sum_m n_m / (n_m - 1): what the first term sums to.
    largest : float
        Largest count.
    fractions : bool
        Whether any count is not a whole number.
    """

    def __init__(self, n_words: int) -> None:
        self.d = np.zeros(n_words)
        self.squares = np.zeros(n_words)
        self.df = np.zeros(n_words, dtype=np.int64)
        self.n_docs = self.n_skipped = 0
        self.n_tokens = self.mass = self.largest = 0.0
        self.fractions = False

    def add(self, counts: SparseLike) -> None:
        """Add documents."""
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        weights = pair_weights(lengths)
        self.d, self.squares, self.df = kernels_for(weights).add_pair_sums(
            csr_parts(counts), weights, self.d, self.squares, self.df
        )
        self._add_lengths(lengths, weights)
        self.largest = max(self.largest, float(counts.data.max(initial=0.0)))
        self.fractions = self.fractions or bool((counts.data != np.floor(counts.data)).any())

    def add_prepared(self, counts: PreparedCounts) -> Any:
        """Add documents that are prepared for products, on a device for instance; returns their weights."""
        lengths = counts.lengths()
        weights = pair_weights(lengths)
        d, squares, df = map(to_numpy, counts.pair_sums(weights))
        self.d, self.squares, self.df = self.d + d, self.squares + squares, self.df + df.astype(np.int64)
        self._add_lengths(lengths, weights)
        self.largest, self.fractions = max(self.largest, counts.largest), self.fractions or counts.fractional
        return weights

    def _add_lengths(self, lengths: Any, weights: Any) -> None:
        xp, kept = array_namespace(lengths), weights > 0.0
        lengths = lengths[kept]
        self.n_docs += int(lengths.shape[0])
        self.n_skipped += int(weights.shape[0] - lengths.shape[0])
        self.n_tokens += float(xp.sum(lengths))
        self.mass += float(xp.sum(lengths / (lengths - 1.0)))

    def combine(self, other: PairSums, rows: IntArray | slice, sign: int = 1) -> None:
        """Add (or take out) other documents, whose words are these rows here."""
        for name in BY_WORD:
            getattr(self, name)[rows] += sign * getattr(other, name)
        for name in TOTALS:
            setattr(self, name, getattr(self, name) + sign * getattr(other, name))
        self.largest = max(self.largest, other.largest)
        self.fractions = self.fractions or other.fractions

    def grow(self, n_new: int) -> None:
        """Make room for new words."""
        for name in BY_WORD:
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros(n_new, dtype=array.dtype)]))

    def keep(self, rows: IntArray) -> None:
        """Forget all words but these."""
        for name in BY_WORD:
            setattr(self, name, getattr(self, name)[rows])

    def copy(self) -> PairSums:
        """The same once more."""
        twin = PairSums(0)
        twin.__dict__.update(self.__dict__)
        for name in BY_WORD:
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def diagonal(self, rows: IntArray) -> tuple[FloatArray, float]:
        """What is taken from the diagonal of C at these words, and what sums are divided by.

        That is M; of counts that are not whole, negative diagonal entries are clipped and C is renormalised.
        """
        d, scale = self.d[rows], float(self.n_docs)
        if self.fractions:
            d = np.minimum(d, self.squares[rows])
            scale = self.mass - float(d.sum())
        return d / scale, scale

    def totals(self) -> dict[str, Any]:
        """What is not by word."""
        return {name: getattr(self, name) for name in (*TOTALS, "largest", "fractions")}


def pair_weights(lengths: Any) -> Any:
    """1 / (n (n - 1)) of documents with at least two tokens, 0 of the others."""
    xp = array_namespace(lengths)
    enough, one = lengths >= 2.0, xp.ones_like(lengths)
    return xp.where(enough, 1.0 / xp.where(enough, lengths * (lengths - 1.0), one), xp.zeros_like(lengths))

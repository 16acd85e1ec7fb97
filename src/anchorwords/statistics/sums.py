"""What Eq. 1 needs to know of every word, summed over documents: sums of disjoint sets of documents add."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._namespace import array_namespace, to_numpy
from .._namespace import like as as_like
from .._typing import FloatArray, IntArray, SparseLike
from ..kernels import kernels_for
from ..kernels.protocol import CsrParts
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

    def __init__(self, n_words: int, like: Any = None) -> None:
        self.d = as_like(np.zeros(n_words), like)
        self.squares = as_like(np.zeros(n_words), like)
        self.df = as_like(np.zeros(n_words, dtype=np.int64), like)
        self.n_docs = self.n_skipped = 0
        self.n_tokens = self.mass = self.largest = 0.0
        self.fractions = False

    def add(self, counts: SparseLike) -> None:
        """Add documents."""
        self.add_rows(csr_parts(counts), np.asarray(counts.sum(axis=1)).ravel())

    def add_rows(self, rows: CsrParts, lengths: Any) -> None:
        """Add documents given by the arrays of their counts and their lengths, all of the namespace of the sums."""
        xp = array_namespace(lengths)
        weights = pair_weights(lengths)
        self.d, self.squares, self.df = kernels_for(weights).add_pair_sums(rows, weights, self.d, self.squares, self.df)
        kept = weights > 0.0
        lengths, data = lengths[kept], rows[2]
        n_kept = int(lengths.shape[0])
        self.n_docs += n_kept
        self.n_skipped += int(weights.shape[0]) - n_kept
        self.n_tokens += float(xp.sum(lengths))
        self.mass += float(xp.sum(lengths / (lengths - 1.0)))
        if data.shape[0]:
            self.largest = max(self.largest, float(xp.max(data)))
            self.fractions = self.fractions or bool(xp.any(data != xp.floor(data)))

    def on_host(self) -> PairSums:
        """The same in arrays of NumPy."""
        twin = self.copy()
        for name in BY_WORD:
            setattr(twin, name, to_numpy(getattr(twin, name), dtype=None))
        return twin

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
            array = getattr(self, name)
            setattr(twin, name, array_namespace(array).asarray(array, copy=True))
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

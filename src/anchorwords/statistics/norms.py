"""Norms of the rows of C: all of them where that is affordable, a sample with its standard error else.

Sums over words of what is known for a sample only are estimated without bias: the most probable words, which make
up most of |C|_F, are always taken, and a random draw stands for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .cooccurrence import Cooccurrence
from .operator import PAIR_BUDGET

# Words of a sample, at most: those that are certain, and those drawn.
_CERTAIN = 1000
_DRAWN = 1000


@dataclass(frozen=True, eq=False)
class RowNorms:
    """Squared norms of the rows of C at all words, or at a sample of them.

    Attributes
    ----------
    words : (n,) int array
        Columns of the words, the certain ones first.
    squares : (n,) array
        |C_i|^2 of these.
    n_certain : int
        Words that stand for themselves; the others stand for all ``n_words - n_certain`` that are left.
    n_words : int
        N.
    """

    words: IntArray
    squares: FloatArray
    n_certain: int
    n_words: int

    @property
    def exact(self) -> bool:
        """Whether every word is here."""
        return self.n_certain == self.n_words

    def total(self, values: FloatArray) -> Any:
        """Unbiased estimate of the sum over all words of what ``values`` (n, ...) gives for those here."""
        certain = values[: self.n_certain].sum(axis=0)
        return certain if self.exact else certain + self._factor * values[self.n_certain :].sum(axis=0)

    def standard_error(self, values: FloatArray) -> Any:
        """Standard error of :meth:`total`, 0 where it is exact."""
        drawn = values[self.n_certain :]
        if self.exact:
            return 0.0 * values.sum(axis=0)
        n = drawn.shape[0]
        return self._factor * np.sqrt(n * (1.0 - 1.0 / self._factor) * drawn.var(axis=0, ddof=1))

    @property
    def _factor(self) -> float:
        return (self.n_words - self.n_certain) / (self.words.size - self.n_certain)


def row_norms(
    operator: Cooccurrence, probabilities: FloatArray, *, budget: float = PAIR_BUDGET, random_state: int = 0
) -> RowNorms:
    """Norms of the rows of C.

    Parameters
    ----------
    operator : Cooccurrence
        Norms of a streamed one are always sampled: all of them would take a pass over the documents for every few hundred
        words.
    probabilities : (N,) array
        Row sums of C.
    budget : float
        Largest number of multiplications spent on the norms of all rows.
    random_state : int
        Seed of the draw.

    Returns
    -------
    RowNorms
        Of all words, or of at most a thousand certain and a thousand drawn ones.
    """
    N = operator.shape[0]
    order = np.argsort(-probabilities, kind="stable")
    sample = operator.row_sample(order, budget)
    certain, drawn = (N, 0) if sample is None else (min(_CERTAIN, sample.certain), min(_DRAWN, sample.drawn))
    if certain + drawn >= N:
        return RowNorms(np.arange(N), operator.row_norms() ** 2, N, N)
    chosen = np.random.default_rng(random_state).choice(order[certain:], drawn, replace=False)
    words = np.concatenate([order[:certain], np.sort(chosen)])
    return RowNorms(words, operator.row_norms(words) ** 2, certain, N)

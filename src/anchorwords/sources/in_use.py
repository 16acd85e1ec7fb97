"""Words of the data and words in use: those that occur in a document that carries a pair of words.

Statistics and the algorithms see the words in use alone, numbered anew; a model has a row for every word of the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import BoolArray, IntArray, SparseLike
from ..linalg.parallel import for_each_block

# Rows that are placed together.
_ROWS = 1 << 14


class WordsInUse:
    """The map between the N' words of the data and the N of them in use.

    Parameters
    ----------
    mask : (N',) bool array
        Which words of the data are in use.

    Attributes
    ----------
    mask : (N',) bool array
    positions : (N,) int array
        Column of each word in use.
    """

    def __init__(self, mask: BoolArray) -> None:
        self.mask = mask
        self.positions: IntArray = np.flatnonzero(mask)

    @classmethod
    def every(cls, n_words: int) -> WordsInUse:
        """All words of the data."""
        return cls(np.ones(n_words, dtype=bool))

    @property
    def n_words(self) -> int:
        """N', the words of the data."""
        return int(self.mask.size)

    @property
    def n_used(self) -> int:
        """N, the words in use."""
        return int(self.positions.size)

    @property
    def all_used(self) -> bool:
        """Whether the two are the same."""
        return self.n_used == self.n_words

    def places(self, columns: Iterable[int]) -> list[int]:
        """Numbers, among the words in use, of columns that are."""
        return np.searchsorted(self.positions, np.fromiter(columns, dtype=np.intp)).tolist()

    def restricted(self, counts: SparseLike) -> SparseLike:
        """Documents in the columns of the words in use."""
        return counts if self.all_used else sp.csr_array(counts[:, self.positions])

    def spread(self, values: Any, fill: Any = 0.0) -> Any:
        """Rows of the words in use among those of all words; the others are ``fill``."""
        rows = np.asarray(values)
        whole = np.empty((self.n_words, *rows.shape[1:]), dtype=np.result_type(rows, fill))
        ends = np.concatenate([[0], np.cumsum(self.mask)])

        def work(start: int, stop: int) -> None:
            part, mask = whole[start:stop], self.mask[start:stop]
            part[mask] = rows[ends[start] : ends[stop]]
            part[~mask] = fill

        for_each_block(work, self.n_words, _ROWS)
        return whole

    def spread_columns(self, rows: SparseLike) -> SparseLike:
        """The same of the columns of sparse rows."""
        small = sp.coo_array(rows)
        return sp.csr_array((small.data, (small.row, self.positions[small.col])), shape=(rows.shape[0], self.n_words))

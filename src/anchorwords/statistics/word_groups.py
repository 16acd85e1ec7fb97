"""Products of columns within groups of words: small squares, whatever the number of groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike


class WordGroups:
    """Groups of words, and what is needed to go through documents once for all of them.

    Parameters
    ----------
    groups : sequence of int arrays
        Columns of the words of each group.

    Attributes
    ----------
    words : (n,) int array
        All words, ascending.
    """

    def __init__(self, groups: Sequence[IntArray]) -> None:
        self.groups = list(groups)
        self.words: IntArray = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *groups]))
        self._places = [np.searchsorted(self.words, group) for group in groups]

    def products(self, columns: SparseLike) -> list[FloatArray]:
        """Inner products of the columns of each group, of a matrix that has a column for each of :attr:`words`."""
        by_word = sp.csc_array(columns)
        parts = (by_word[:, place] for place in self._places)
        return [np.asarray((part.T @ part).toarray()) for part in parts]

    def with_diagonals(self, squares: Sequence[FloatArray], diagonal: FloatArray) -> list[FloatArray]:
        """The squares with the entries of a word with itself replaced by those of a diagonal over all columns."""
        pairs = zip(self.groups, squares, strict=True)
        return [np.where(group[:, None] == group, diagonal[group][:, None], square) for group, square in pairs]

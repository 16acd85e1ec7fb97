"""The model's own co-occurrence: what it knows about pairs of words when no documents are at hand.

Notation
--------
C = L R' : (N, N)   Y Y' of the rectification, else B A B'; never formed
p = C e             its row sums
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray, IntArray
from ..model import TopicModel
from .ranking import largest

# Numbers of C alive at a time, 32 MB; as many again are made of them, twice.
_ALIVE = 1 << 22


class FactoredCooccurrence:
    """C = L R' in two thin factors, with what the metrics ask of an operator.

    Parameters
    ----------
    model : TopicModel
        With its compression Y, C is the rectified co-occurrence; a model without one (AP, no rectification) gives B A B'.
    """

    def __init__(self, model: TopicModel) -> None:
        self.rectified = model.Y is not None
        self._L = model.B @ model.A if model.Y is None else np.asarray(model.Y)
        self._R = model.B if model.Y is None else np.asarray(model.Y)
        self.shape = (model.n_words, model.n_words)
        self.n_docs = self.n_skipped = 0
        self._p = np.maximum(self._L @ self._R.sum(axis=0), 0.0)

    def row_sums(self) -> FloatArray:
        """p, no entry below 0."""
        return self._p

    def submatrices(self, groups: Sequence[IntArray]) -> list[FloatArray]:
        """C among the words of each group, no entry below 0: rectification leaves a few that are, barely."""
        return [np.maximum(self._L[group] @ self._R[group].T, 0.0) for group in groups]

    def companions(self, words: IntArray, n: int) -> tuple[list[IntArray], list[FloatArray]]:
        """The n words that go most with each of these words, among them, and how many times as often as by chance.

        Words are in the order of C_ij log(C_ij / (p_i p_j)), what the pair adds to the information of one word on the
        next: neither the frequent, which go with everything, nor the rare, which were seen together once, come first.

        Parameters
        ----------
        words : (W,) array
            Columns of the model.
        n : int

        Returns
        -------
        places : list of W arrays
            In ``words``, best first; fewer than n where fewer go together more than by chance.
        lifts : list of W arrays
            C_ij / (p_i p_j).
        """
        p = self._p[words]
        # A word that never occurs goes with none.
        scale = np.divide(1.0, p, out=np.zeros_like(p), where=p > np.finfo(np.float64).tiny)[:, None]
        L, R = self._L[words] * scale, self._R[words] * scale
        places, lifts = [], []
        step = max(1, _ALIVE // max(1, words.size))
        for start in range(0, words.size, step):
            ratio = L[start : start + step] @ R.T
            score = np.log(np.maximum(ratio, 1.0))
            score *= ratio
            score *= p  # a row's own p_i, the same for all of it, is left out
            for i, row in enumerate(score):
                row[start + i] = 0.0  # itself
                chosen = largest(row, n)
                chosen = chosen[row[chosen] > 0.0]
                places.append(chosen)
                lifts.append(ratio[i, chosen])
        return places, lifts

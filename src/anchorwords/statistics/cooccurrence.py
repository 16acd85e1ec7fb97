"""What every form of the co-occurrence C of Eq. 1 offers: explicit, in memory, streamed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._namespace import array_namespace, is_array
from .._typing import FloatArray, IntArray, SparseLike
from ..exceptions import InputError
from ..sources.in_use import WordsInUse


class RowSample(NamedTuple):
    """How many rows of C are worth the work: the ``certain`` most probable words, and ``drawn`` of the others, at most."""

    certain: int
    drawn: int


class Cooccurrence(ABC):
    """C (N, N): symmetric, non-negative, sums to one; its words are those in use.

    Attributes
    ----------
    shape : (N, N)
    words : WordsInUse
        Which words of the data are the N rows.
    n_docs, n_skipped : int
        Documents with at least two tokens, and with fewer.
    n_counts : int
        Pairs of a document and a word with a count.
    document_frequencies : (N,) int array
        Documents of each word, of those with at least two tokens.
    pass_width : int or None
        Columns to multiply at a time where every product is a pass over the documents; None where products are cheap.
    """

    shape: tuple[int, int]
    words: WordsInUse
    n_docs: int
    n_skipped: int
    n_counts: int
    document_frequencies: IntArray
    pass_width: ClassVar[int | None] = None
    dtype = np.dtype(np.float64)

    @abstractmethod
    def __matmul__(self, other: Any) -> Any:
        """C V for a vector or a block of columns of any array namespace, in that namespace."""

    @abstractmethod
    def diagonal(self) -> FloatArray:
        """Diagonal of C."""

    @abstractmethod
    def to_matrix(self) -> FloatArray:
        """C as a dense array; refuses sizes that do not fit in memory."""

    @abstractmethod
    def rows(self, words: Sequence[int] | IntArray) -> SparseLike:
        """Rows of C at ``words`` as a CSR array (len(words), N)."""

    @abstractmethod
    def row_norms(self, words: Sequence[int] | IntArray | None = None) -> FloatArray:
        """Euclidean norms of the rows of C, or of those at ``words``."""

    @abstractmethod
    def submatrices(self, groups: Sequence[Sequence[int] | IntArray]) -> list[FloatArray]:
        """Dense C restricted to each of several groups of words, in one go."""

    @abstractmethod
    def row_sample(self, order: IntArray, budget: float) -> RowSample | None:
        """Rows whose norms are affordable, of words in this order of probability; None is all of them."""

    def row_sums(self) -> FloatArray:
        """C e, the probability of each word in a random pair; sums to one."""
        return self @ np.ones(self.shape[0])

    def frobenius_norm(self) -> float:
        """Frobenius norm of C, exact; see :meth:`row_norms`."""
        return float(np.linalg.norm(self.row_norms()))

    def submatrix(self, words: Sequence[int] | IntArray) -> FloatArray:
        """Dense C restricted to ``words`` x ``words``."""
        return self.submatrices([words])[0]

    def _factor(self, other: Any) -> tuple[Any, Any]:
        """What C is to be multiplied by in double precision, and the same as a block of columns, or InputError.

        An array keeps its namespace, and anything else becomes NumPy's.
        """
        V = other if is_array(other) else np.asarray(other)
        xp = array_namespace(V)
        V = xp.astype(V, xp.float64, copy=False)
        if V.ndim not in (1, 2) or V.shape[0] != self.shape[1]:
            raise InputError(f"C has shape {self.shape} and cannot multiply an array of shape {tuple(V.shape)}.")
        return V, V if V.ndim == 2 else V[:, None]

    def _word_index(self, words: Sequence[int] | IntArray) -> IntArray:
        """Words called by their numbers, checked."""
        index = np.atleast_1d(np.asarray(words))
        if index.size == 0:
            return np.zeros(0, dtype=np.intp)
        if index.ndim != 1 or index.dtype.kind not in "iu" or index.min() < 0 or index.max() >= self.shape[0]:
            raise InputError(f"words must be column indices from 0 to {self.shape[0] - 1}, but got {words!r}.")
        return index.astype(np.intp)

"""The co-occurrence as a matrix that is there: what the paper's older methods start from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._namespace import like
from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_square_symmetric
from ..sources.in_use import WordsInUse
from .cooccurrence import Cooccurrence, RowSample


class ExplicitCooccurrence(Cooccurrence):
    """C as a dense matrix.

    Parameters
    ----------
    C : (N, N) array
        Symmetric.
    n_docs, n_skipped : int
        Of the documents it was counted in, where they are known.
    """

    def __init__(self, C: Any, *, n_docs: int = 0, n_skipped: int = 0) -> None:
        self._C = check_square_symmetric(C)
        self.shape = (self._C.shape[0], self._C.shape[0])
        self.words = WordsInUse.every(self.shape[0])
        self.n_docs, self.n_skipped = n_docs, n_skipped
        self.n_counts = int(np.count_nonzero(self._C))
        self.document_frequencies = np.full(self.shape[0], n_docs, dtype=np.int64)

    def __repr__(self) -> str:
        return f"ExplicitCooccurrence({self.shape[0]} x {self.shape[0]})"

    def __matmul__(self, other: Any) -> Any:
        """C V for a vector or a block of columns of any array namespace, in that namespace."""
        V, block = self._factor(other)
        product = like(self._C, V) @ block
        return product if V.ndim == 2 else product[:, 0]

    def diagonal(self) -> FloatArray:
        """Diagonal of C."""
        return self._C.diagonal().copy()

    def to_matrix(self) -> FloatArray:
        """C itself."""
        return self._C

    def rows(self, words: Sequence[int] | IntArray) -> SparseLike:
        """Rows of C at ``words`` as a CSR array (len(words), N)."""
        return sp.csr_array(self._C[self._word_index(words)])

    def row_norms(self, words: Sequence[int] | IntArray | None = None) -> FloatArray:
        """Euclidean norms of the rows of C, or of those at ``words``."""
        return np.linalg.norm(self._C if words is None else self._C[self._word_index(words)], axis=1)

    def submatrices(self, groups: Sequence[Sequence[int] | IntArray]) -> list[FloatArray]:
        """Dense C restricted to each of several groups of words."""
        wanted = [self._word_index(group) for group in groups]
        return [self._C[np.ix_(group, group)] for group in wanted]

    def row_sample(self, order: IntArray, budget: float) -> RowSample | None:  # noqa: ARG002
        """All rows are at hand."""
        return None

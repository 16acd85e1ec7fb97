"""The co-occurrence of Eq. 1 as an operator: products, sums and norms of C without C."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_counts
from ..exceptions import InputError
from ..linalg.compiled import CSR, INT, READ_VECTOR, VECTOR, VOID, compiled
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts, even_bounds, gram_times_dense
from .moments import accumulate_row, accumulate_rows, dense_cooccurrence, diagonal_of, pair_moments, refuse_dense

_ROWS = 2048
# Groups of documents that are brought into order side by side.
_GROUPS = 8


class CooccurrenceOperator:
    """Implicit co-occurrence C = G'G - diag(d) of Eq. 1.

    Parameters
    ----------
    X : (M, N) sparse or array-like
        Non-negative counts, documents x words. Documents with fewer than two tokens are skipped and counted.
    n_jobs : int or None
        Threads for products; the results do not depend on it, bit for bit.

    Attributes
    ----------
    shape : (N, N)
    n_docs : int
        Documents kept.
    n_skipped : int
        Documents with fewer than two tokens.
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        moments = pair_moments(check_counts(X))
        # Frequent words first: most of a product touches few of them, which then stay in the cache.
        frequency = np.bincount(moments.G.indices, minlength=moments.G.shape[1])
        self._order: IntArray = np.argsort(-frequency, kind="stable")
        self._place: IntArray = np.argsort(self._order)
        self._G = _relabelled(moments.G, self._place, n_jobs)
        self._d = moments.d[self._order]
        self._n_jobs = n_jobs
        self.n_docs = moments.n_docs
        self.n_skipped = moments.n_skipped
        n_words = moments.G.shape[1]
        self.shape = (n_words, n_words)
        self.dtype = np.dtype(np.float64)

    def __repr__(self) -> str:
        N = self.shape[0]
        return f"CooccurrenceOperator({N} x {N}, {self.n_docs} documents, {self._G.nnz} counts)"

    def __matmul__(self, other: FloatArray) -> FloatArray:
        V = np.asarray(other, dtype=np.float64)
        if V.ndim not in (1, 2) or V.shape[0] != self.shape[1]:
            raise InputError(f"C has shape {self.shape} and cannot multiply an array of shape {V.shape}.")
        block = V if V.ndim == 2 else V[:, None]
        block = np.take(block, self._order, axis=0)
        product = gram_times_dense(self._G, block, self._n_jobs)
        product -= self._d[:, None] * block
        product = np.take(product, self._place, axis=0)
        return product if V.ndim == 2 else product[:, 0]

    @cached_property
    def _Gt(self) -> SparseLike:
        """G' as CSR, for what goes by words: products go by documents and do without."""
        return sp.csr_array(self._G.T)

    def row_sums(self) -> FloatArray:
        """C e, the probability of each word in a random pair; sums to one."""
        return self @ np.ones(self.shape[0])

    def diagonal(self) -> FloatArray:
        """Diagonal of C."""
        return self._diagonal()[self._place]

    def to_matrix(self) -> FloatArray:
        """C as a dense array; refuses sizes that do not fit in memory."""
        refuse_dense(self.shape[0])
        C = dense_cooccurrence(self._G, self._d, self._n_jobs)
        return C[np.ix_(self._place, self._place)]

    def row_norms(self) -> FloatArray:
        """Euclidean norm of each row of C, exact, in O(N) memory and sum_m nnz_m^2 operations."""
        N = self.shape[0]
        squares = np.zeros(N)
        diagonal = self._diagonal()
        by_word, by_document = csr_parts(self._Gt), csr_parts(self._G)

        def work(start: int, stop: int) -> None:
            _squared_row_norms(*by_word, *by_document, diagonal, start, squares[start:stop], np.zeros(N))

        for_each_block(work, N, _ROWS, self._n_jobs)
        return np.sqrt(squares)[self._place]

    def frobenius_norm(self) -> float:
        """Frobenius norm of C, exact; see :meth:`row_norms`."""
        return float(np.linalg.norm(self.row_norms()))

    def rows(self, words: Sequence[int] | IntArray) -> SparseLike:
        """Rows of C at ``words`` as a CSR array (len(words), N)."""
        index = self._word_index(words)
        by_word, by_document = csr_parts(sp.csr_array(self._columns(index).T)), csr_parts(self._G)
        diagonal = self.diagonal()
        parts: list[SparseLike] = [None] * index.size

        def work(k: int, _: int) -> None:
            row = np.zeros((1, self.shape[0]))
            accumulate_rows(*by_word, *by_document, k, row)
            row = row[:, self._place]
            row[0, index[k]] = diagonal[index[k]]
            parts[k] = sp.csr_array(row)

        for_each_block(work, index.size, 1, self._n_jobs)
        return sp.csr_array(sp.vstack(parts)) if parts else sp.csr_array((0, self.shape[0]))

    def submatrix(self, words: Sequence[int] | IntArray) -> FloatArray:
        """Dense C restricted to ``words`` x ``words``."""
        index = self._word_index(words)
        part = self._columns(index)
        block = np.asarray((part.T @ part).toarray())
        same = index[:, None] == index[None, :]
        return np.where(same, self.diagonal()[index][:, None], block)

    def _diagonal(self) -> FloatArray:
        """Diagonal of C, frequent words first."""
        counted = np.bincount(self._G.indices, weights=self._G.data**2, minlength=self.shape[0])
        squares: FloatArray = np.asarray(counted, dtype=np.float64)
        return diagonal_of(squares, self._d)

    def _columns(self, index: IntArray) -> SparseLike:
        return sp.csr_array(self._G[:, self._place[index]])

    def _word_index(self, words: Sequence[int] | IntArray) -> IntArray:
        index = np.atleast_1d(np.asarray(words))
        if index.size == 0:
            return np.zeros(0, dtype=np.intp)
        if index.dtype.kind not in "iu" or index.min() < 0 or index.max() >= self.shape[0]:
            raise InputError(f"words must be column indices from 0 to {self.shape[0] - 1}, but got {words!r}.")
        return index.astype(np.intp)


def _relabelled(matrix: SparseLike, names: IntArray, n_jobs: int | None) -> SparseLike:
    """CSR matrix whose column j is column ``names[j]`` of the result, indices in order."""
    indptr, data = matrix.indptr, matrix.data.copy()
    indices = names.astype(matrix.indices.dtype)[matrix.indices]
    bounds = even_bounds(indptr, _GROUPS)

    def sort(group: int, _: int) -> None:
        rows = slice(bounds[group], bounds[group + 1])
        entries = slice(indptr[rows.start], indptr[rows.stop])
        ends = indptr[rows.start : rows.stop + 1] - entries.start
        part = sp.csr_array((data[entries], indices[entries], ends), shape=(ends.size - 1, matrix.shape[1]))
        part.sort_indices()
        data[entries], indices[entries] = part.data, part.indices

    for_each_block(sort, _GROUPS, 1, n_jobs)
    return sp.csr_array((data, indices, indptr), shape=matrix.shape)


@compiled(VOID, *CSR, *CSR, READ_VECTOR, INT, VECTOR, VECTOR)
def _squared_row_norms(  # type: ignore[no-untyped-def]
    w_indptr, w_indices, w_data, indptr, indices, data, diagonal, first, out, row
):
    for i in range(out.shape[0]):
        row[:] = 0.0
        accumulate_row(w_indptr, w_indices, w_data, indptr, indices, data, first + i, row)
        row[first + i] = diagonal[first + i]
        total = 0.0
        for j in range(row.shape[0]):
            total += row[j] * row[j]
        out[i] = total

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
from ..kernels.compiled import CSR, INT, READ_INDICES, READ_VECTOR, VECTOR, VOID, compiled
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts, even_bounds, gram_times_dense
from .moments import (
    accumulate_row,
    accumulate_rows,
    dense_cooccurrence,
    diagonal_of,
    pair_moments,
    refuse_dense,
    word_index,
)
from .word_groups import WordGroups

# Groups of documents that are brought into order side by side.
_GROUPS = 8
# Groups of words whose norms are computed side by side.
_NORM_GROUPS = 64


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
    document_frequencies : (N,) int array
        Documents of each word, of those kept.
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None) -> None:
        moments = pair_moments(check_counts(X))
        # Frequent words first: most of a product touches few of them, which then stay in the cache.
        frequency = np.bincount(moments.G.indices, minlength=moments.G.shape[1])
        self.document_frequencies: IntArray = frequency
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

    @property
    def n_pairs(self) -> int:
        """sum_m nnz_m^2: multiplications that the exact norms of all rows take."""
        return int((np.diff(self._G.indptr).astype(np.int64) ** 2).sum())

    def row_costs(self) -> FloatArray:
        """Multiplications that the norm of each row takes: the lengths of the documents that hold the word."""
        lengths = np.diff(self._G.indptr).astype(np.float64)
        costs = np.bincount(
            self._G.indices, weights=np.repeat(lengths, np.diff(self._G.indptr)), minlength=self.shape[0]
        )
        return np.asarray(costs, dtype=np.float64)[self._place]

    def row_norms(self, words: Sequence[int] | IntArray | None = None) -> FloatArray:
        """Euclidean norm of each row of C, or of those at ``words``: exact, without any row in memory but one a thread.

        All rows take :attr:`n_pairs` multiplications; they are computed once and kept.
        """
        if words is None:
            return self._all_row_norms.copy()
        return self._norms_at(self._place[self._word_index(words)])

    @cached_property
    def _all_row_norms(self) -> FloatArray:
        return self._norms_at(np.arange(self.shape[0]))[self._place]

    def _norms_at(self, places: IntArray) -> FloatArray:
        """Norms of the rows of words that are called by their place in order of frequency."""
        N = self.shape[0]
        squares = np.zeros(places.size)
        diagonal = self._diagonal()
        columns = self._G if places.size == N and np.array_equal(places, np.arange(N)) else self._G[:, places]
        by_word, by_document = csr_parts(sp.csr_array(columns.T)), csr_parts(self._G)
        # Groups of equal work: that of a frequent word is that of thousands of rare ones.
        work_before = np.concatenate([[0.0], np.cumsum(self.row_costs()[self._order[places]] + 1.0)])
        bounds = even_bounds(work_before, _NORM_GROUPS)

        def work(group: int, _: int) -> None:
            rows = slice(bounds[group], bounds[group + 1])
            _squared_row_norms(*by_word, *by_document, diagonal, places[rows], rows.start, squares[rows], np.zeros(N))

        for_each_block(work, _NORM_GROUPS, 1, self._n_jobs)
        return np.sqrt(squares)

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
        return self.submatrices([words])[0]

    def submatrices(self, groups: Sequence[Sequence[int] | IntArray]) -> list[FloatArray]:
        """The same for each of several groups of words, in one go."""
        wanted = WordGroups([self._word_index(group) for group in groups])
        blocks = wanted.products(self._columns(wanted.words))
        return wanted.with_diagonals(blocks, self.diagonal())

    def _diagonal(self) -> FloatArray:
        """Diagonal of C, frequent words first."""
        counted = np.bincount(self._G.indices, weights=self._G.data**2, minlength=self.shape[0])
        squares: FloatArray = np.asarray(counted, dtype=np.float64)
        return diagonal_of(squares, self._d)

    def _columns(self, index: IntArray) -> SparseLike:
        return sp.csr_array(self._G[:, self._place[index]])

    def _word_index(self, words: Sequence[int] | IntArray) -> IntArray:
        return word_index(words, self.shape[0])


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


@compiled(VOID, *CSR, *CSR, READ_VECTOR, READ_INDICES, INT, VECTOR, VECTOR)
def _squared_row_norms(  # type: ignore[no-untyped-def]
    w_indptr, w_indices, w_data, indptr, indices, data, diagonal, places, first, out, row
):
    # row is zero on entry and on return
    for i in range(out.shape[0]):
        word, place = first + i, places[i]
        accumulate_row(w_indptr, w_indices, w_data, indptr, indices, data, word, row)
        row[place] = diagonal[place]
        touched = 0
        for p in range(w_indptr[word], w_indptr[word + 1]):
            doc = w_indices[p]
            touched += indptr[doc + 1] - indptr[doc]
        total = 0.0
        if touched < row.shape[0]:
            # A rare word meets few others: go over its documents again instead of over all words.
            for p in range(w_indptr[word], w_indptr[word + 1]):
                doc = w_indices[p]
                for q in range(indptr[doc], indptr[doc + 1]):
                    j = indices[q]
                    total += row[j] * row[j]
                    row[j] = 0.0
        else:
            for j in range(row.shape[0]):
                total += row[j] * row[j]
                row[j] = 0.0
        row[place] = 0.0
        out[i] = total

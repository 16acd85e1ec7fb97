"""The co-occurrence of Eq. 1 as an operator: products, sums and norms of C without C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._lazy import cached_property
from .._namespace import array_namespace, like
from .._typing import FloatArray, IntArray, SparseLike
from ..exceptions import InputError
from ..kernels import kernels_for
from ..kernels.protocol import Kernels, PreparedCounts
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts, even_bounds
from ..sources.convert import as_source
from ..sources.in_use import WordsInUse
from .cooccurrence import Cooccurrence, RowSample
from .moments import dense_cooccurrence, diagonal_of, pair_moments, refuse_dense, words_with_pairs
from .word_groups import WordGroups

# Multiplications spent on exact norms: about a minute on two cores.
PAIR_BUDGET = 10**10
# Of the most probable words so many are always in a sample of rows.
_FEWEST_CERTAIN = 100
# Groups of documents that are brought into order side by side.
_GROUPS = 8


class CooccurrenceOperator(Cooccurrence):
    """Implicit co-occurrence C = G'G - diag(d) of Eq. 1, of documents in memory.

    Parameters
    ----------
    X : (M, N) sparse or array-like, Corpus, or Source
        Non-negative counts, documents x words. Documents with fewer than two tokens are skipped and counted.
    n_jobs : int or None
        Threads for products; the results do not depend on it, bit for bit.
    every_word : bool
        Keep the words that never occur in a document with two tokens, whose rows are zero.

    Attributes
    ----------
    shape : (N, N)
    words : WordsInUse
        Which columns of X are the N words.
    n_docs : int
        Documents kept.
    n_skipped : int
        Documents with fewer than two tokens.
    document_frequencies : (N,) int array
        Documents of each word, of those kept.
    """

    def __init__(self, X: Any, *, n_jobs: int | None = None, every_word: bool = True) -> None:
        counts = as_source(X).counts
        if counts is None:
            raise InputError(
                "X is read block by block, but this operator keeps all counts in memory: give them as one sparse matrix."
            )
        self.words = WordsInUse.every(counts.shape[1]) if every_word else WordsInUse(words_with_pairs(counts))
        counts = self.words.restricted(counts)
        self.n_counts = int(counts.nnz)
        moments = pair_moments(counts)
        # Frequent words first: most of a product touches few of them, which then stay in the cache.
        frequency = np.bincount(moments.G.indices, minlength=moments.G.shape[1])
        self.document_frequencies: IntArray = frequency
        self._order: IntArray = np.argsort(-frequency, kind="stable")
        self._place: IntArray = np.argsort(self._order)
        self._G = _relabelled(moments.G, self._place, n_jobs)
        self._d = moments.d[self._order]
        self._n_jobs = n_jobs
        self._prepared: tuple[Kernels, PreparedCounts] | None = None
        self.n_docs = moments.n_docs
        self.n_skipped = moments.n_skipped
        n_words = moments.G.shape[1]
        self.shape = (n_words, n_words)

    def __repr__(self) -> str:
        N = self.shape[0]
        return f"CooccurrenceOperator({N} x {N}, {self.n_docs} documents, {self._G.nnz} counts)"

    def __matmul__(self, other: Any) -> Any:
        """C V for a vector or a block of columns of any array namespace, in that namespace."""
        V, block = self._factor(other)
        xp = array_namespace(V)
        block = xp.take(block, like(self._order, V), axis=0)
        product = self._counts(kernels_for(V)).gram(None, block, self._n_jobs)
        product -= like(self._d, V)[:, None] * block
        product = xp.take(product, like(self._place, V), axis=0)
        return product if V.ndim == 2 else product[:, 0]

    def _counts(self, kernels: Kernels) -> PreparedCounts:
        """G for products, prepared when they are first asked for; anew for other kernels."""
        if self._prepared is None or self._prepared[0] is not kernels:
            self._prepared = kernels, kernels.prepared(csr_parts(self._G), self.shape[0])
        return self._prepared[1]

    def diagonal(self) -> FloatArray:
        """Diagonal of C."""
        return self._diagonal()[self._place]

    def to_matrix(self) -> FloatArray:
        """C as a dense array; refuses sizes that do not fit in memory."""
        refuse_dense(self.shape[0])
        # The counts are brought into the order of the words, not C: that would hold C twice.
        return dense_cooccurrence(_relabelled(self._G, self._order, self._n_jobs), self._d[self._place], self._n_jobs)

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
        columns = self._G if places.size == N and np.array_equal(places, np.arange(N)) else self._G[:, places]
        by_word, by_document = csr_parts(sp.csr_array(columns.T)), csr_parts(self._G)
        diagonal = self._diagonal()
        return np.sqrt(kernels_for(diagonal).squared_row_norms(by_word, by_document, diagonal, places, self._n_jobs))

    def row_sample(self, order: IntArray, budget: float) -> RowSample | None:
        """All rows where that takes at most ``budget`` multiplications, else as many as half a minute pays for."""
        if self.n_pairs <= budget:
            return None
        # Frequent words are most of the work: no more of them are certain than half of a minute pays for.
        affordable = int(np.searchsorted(np.cumsum(self.row_costs()[order]), PAIR_BUDGET / 2.0))
        return RowSample(max(affordable, _FEWEST_CERTAIN), self.shape[0])

    def rows(self, words: Sequence[int] | IntArray) -> SparseLike:
        """Rows of C at ``words`` as a CSR array (len(words), N)."""
        index = self._word_index(words)
        by_word, by_document = csr_parts(sp.csr_array(self._columns(index).T)), csr_parts(self._G)
        diagonal = self.diagonal()
        kernels = kernels_for(diagonal)
        parts: list[SparseLike] = [None] * index.size

        def work(k: int, _: int) -> None:
            row = kernels.gram_rows(by_word, by_document, k, k + 1, self.shape[0], 1)[:, self._place]
            row[0, index[k]] = diagonal[index[k]]
            parts[k] = sp.csr_array(row)

        for_each_block(work, index.size, 1, self._n_jobs)
        return sp.csr_array(sp.vstack(parts)) if parts else sp.csr_array((0, self.shape[0]))

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

"""The co-occurrence of Eq. 1 as an operator on documents that stay where they are: every product is a pass over blocks.

Notation is that of :mod:`anchorwords.statistics.moments`. Memory: blocks of documents, one per thread, and for a product
with a block of V's columns at most 8 sums of its size; nothing grows with the number of documents.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._namespace import array_namespace, like
from .._typing import FloatArray, IntArray, SparseLike
from ..kernels import kernels_for
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts
from ..sources.in_use import WordsInUse
from ..sources.source import Source
from .cooccurrence import Cooccurrence, RowSample
from .moments import diagonal_of, no_pair, refuse_dense, require_exact, warn_of_fractions
from .sums import PairSums, pair_weights
from .word_groups import WordGroups

logger = logging.getLogger("anchorwords.statistics")

# Numbers in the rows of C that are summed up in one pass (128 MiB).
_ACCUMULATED = 1 << 24
# Rows of C that are made at a time for the whole of it.
_DENSE_ROWS = 64
# Rows of C that a thread adds to at a time.
_ROWS_TOGETHER = 16
# Passes over the documents that a sample of rows may take, and the words that it holds at least.
_PASSES = 8
_FEWEST = 400


class StreamedOperator(Cooccurrence):
    """Implicit co-occurrence C = G'G - diag(d) of Eq. 1, of documents read anew for every product.

    Parameters
    ----------
    source : Source
        Read once here and once per product.
    n_jobs : int or None
        Threads; the results do not depend on it.
    every_word : bool
        Keep the words that never occur, whose rows are zero.

    Attributes
    ----------
    shape : (N, N)
        Words that occur in a usable document, and no others unless ``every_word``.
    words : WordsInUse
        Which those are.
    n_docs, n_skipped : int
    document_frequencies : (N,) int array
        Documents of each word of C, of those with at least two tokens.
    """

    pass_width: ClassVar[int | None] = 16

    def __init__(self, source: Source, *, n_jobs: int | None = None, every_word: bool = False) -> None:
        self._source = source
        self._n_jobs = n_jobs
        self._n_passes_before = source.n_passes
        sums = self._pair_sums()
        if sums.n_docs == 0:
            raise no_pair(sums.n_skipped, source.n_words)
        require_exact(sums.largest)
        if sums.n_skipped:
            logger.info("skipped %d documents with fewer than two tokens", sums.n_skipped)
        self.words = WordsInUse.every(source.n_words) if every_word else WordsInUse(sums.df > 0)
        words = self.words.positions
        self.document_frequencies: IntArray = sums.df[words]
        self._order: IntArray = self._word_order()
        order, back = self._order, np.empty(words.size, dtype=np.intp)
        back[order] = np.arange(words.size)
        self._back: IntArray = back
        # Words that are not in use have no weight anywhere: any column will do.
        self._column = np.zeros(source.n_words, dtype=np.int32)
        self._column[words[order]] = np.arange(words.size, dtype=np.int32)
        self.n_docs, self.n_skipped = sums.n_docs, sums.n_skipped
        if sums.fractions:
            warn_of_fractions(4)
        self._d, self._scale = sums.diagonal(words[order])
        self._diagonal = diagonal_of(sums.squares[words[order]] / self._scale, self._d)
        self.shape = (words.size, words.size)
        self.n_counts = int(sums.df.sum())

    def __repr__(self) -> str:
        N = self.shape[0]
        return f"StreamedOperator({N} x {N}, {self.n_docs} documents, {self.n_passes} passes so far)"

    @property
    def n_passes(self) -> int:
        """Times the source has been read for this operator."""
        return self._source.n_passes - self._n_passes_before

    def _word_order(self) -> IntArray:
        """Frequent words first: most of a product touches few of them, which then stay in the cache."""
        return np.argsort(-self.document_frequencies, kind="stable")

    def _pair_sums(self) -> PairSums:
        def kernel(total: PairSums | None, counts: SparseLike, _: int) -> PairSums:
            sums = PairSums(self._source.n_words) if total is None else total
            sums.add(counts)
            return sums

        def combine(one: PairSums, other: PairSums) -> PairSums:
            one.combine(other, slice(None))
            return one

        return self._source.map_reduce(kernel, combine)

    def _scaled(self, block: SparseLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], FloatArray]:
        """Rows of G, columns by frequency and in no order within a row."""
        indptr, indices, data = csr_parts(block)
        weights = np.sqrt(pair_weights(np.asarray(block.sum(axis=1)).ravel()) / self._scale)
        return indptr, self._column[indices], data * np.repeat(weights, np.diff(indptr))

    def _matrix(self, block: SparseLike) -> SparseLike:
        indptr, indices, data = self._scaled(block)
        return sp.csr_array((data, indices, indptr), shape=(block.shape[0], self.shape[0]))

    def _summed(self, add: Callable[[Any, SparseLike], Any]) -> Any:
        """One pass in the order of the blocks: ``add(total, G)`` for each block of G, the total None at first."""
        return self._source.map_reduce(lambda total, block, _: add(total, self._matrix(block)), _added)

    def __matmul__(self, other: Any) -> Any:
        """C V for a vector or a block of columns of any array namespace, in that namespace."""
        V, block = self._factor(other)
        xp = array_namespace(V)
        block = xp.take(block, like(self._order, V), axis=0)
        stream = kernels_for(V).gram_stream(block)
        total = self._source.map_reduce(
            lambda total, documents, _: stream.add(total, self._scaled(documents)),
            _added,
            n_groups=stream.n_groups,
            n_jobs=self._n_jobs,
        )
        product = stream.result(total)
        product -= like(self._d, V)[:, None] * block
        product = xp.take(product, like(self._back, V), axis=0)
        return product if V.ndim == 2 else product[:, 0]

    def diagonal(self) -> FloatArray:
        """Diagonal of C."""
        return self._diagonal[self._back]

    def to_matrix(self) -> FloatArray:
        """C as a dense array; refuses sizes that do not fit in memory."""
        N = self.shape[0]
        refuse_dense(N)
        kernels = kernels_for(self._d)

        # The columns are brought into the order of the words, and few rows are made at a time: C is in memory once.
        def add(total: FloatArray | None, G: SparseLike) -> FloatArray:
            C = np.zeros((N, N)) if total is None else total
            ordered = sp.csr_array((G.data, self._order[G.indices], G.indptr), shape=G.shape)
            by_word, by_document = csr_parts(sp.csr_array(ordered.T)), csr_parts(ordered)
            for start in range(0, N, _DENSE_ROWS):
                stop = min(start + _DENSE_ROWS, N)
                C[start:stop] += kernels.gram_rows(by_word, by_document, start, stop, N, self._n_jobs)
            return C

        C: FloatArray = self._summed(add)
        np.fill_diagonal(C, self.diagonal())
        return C

    def rows(self, words: Sequence[int] | IntArray) -> SparseLike:
        """Rows of C at ``words`` as a CSR array (len(words), N)."""
        index = self._back[self._word_index(words)]

        def add(total: SparseLike | None, G: SparseLike) -> SparseLike:
            product = sp.csr_array(G[:, index].T @ G)
            return product if total is None else total + product

        total = sp.lil_array(self._summed(add)[:, self._back])
        for k, word in enumerate(self._word_index(words)):
            total[k, word] = self._diagonal[index[k]]
        rows = sp.csr_array(total)
        rows.eliminate_zeros()
        return rows

    def row_norms(self, words: Sequence[int] | IntArray | None = None) -> FloatArray:
        """Euclidean norms of the rows of C, or of those at ``words``, :attr:`rows_per_pass` of them in each pass."""
        index = np.arange(self.shape[0]) if words is None else self._word_index(words)
        step = self.rows_per_pass
        parts = [self._norms_at(self._back[index[start : start + step]]) for start in range(0, index.size, step)]
        return np.concatenate([np.zeros(0), *parts])

    @property
    def rows_per_pass(self) -> int:
        """Rows of C that are summed up in one pass: as many as 128 MiB hold."""
        return max(1, _ACCUMULATED // self.shape[0])

    def row_sample(self, order: IntArray, budget: float) -> RowSample | None:  # noqa: ARG002
        """As many rows as a few passes give."""
        size = max(_FEWEST, _PASSES * self.rows_per_pass)
        return RowSample(size // 2, size // 2)

    def _norms_at(self, places: IntArray) -> FloatArray:
        def add(total: FloatArray | None, G: SparseLike) -> FloatArray:
            rows = np.zeros((places.size, self.shape[0])) if total is None else total
            by_word = sp.csr_array(G[:, places].T)

            def one(start: int, stop: int) -> None:
                part = sp.coo_array(by_word[start:stop] @ G)
                rows[start + part.row, part.col] += part.data

            for_each_block(one, places.size, _ROWS_TOGETHER, self._n_jobs)
            return rows

        rows = self._summed(add)
        rows[np.arange(places.size), places] = self._diagonal[places]
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))

    def submatrices(self, groups: Sequence[Sequence[int] | IntArray]) -> list[FloatArray]:
        """Dense C restricted to each of several groups of words, in one pass over all."""
        wanted = WordGroups([self._word_index(group) for group in groups])

        def add(totals: list[FloatArray] | None, G: SparseLike) -> list[FloatArray]:
            products = wanted.products(G[:, self._back[wanted.words]])
            return products if totals is None else list(map(np.add, totals, products))

        return wanted.with_diagonals(self._summed(add), self.diagonal())


def _added(one: Any, other: Any) -> Any:
    """The sum of two totals, in place of the first."""
    one += other
    return one

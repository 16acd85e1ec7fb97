"""The co-occurrence of Eq. 1 as an operator on documents that stay where they are: every product is a pass over blocks.

Notation is that of :mod:`anchorwords.statistics.moments`. Memory: G blocks of documents, one a thread, and for a product
with a block of V's columns at most 8 sums of its size; nothing grows with the number of documents.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from ..corpus.blocks import BlockSource
from ..exceptions import InputError
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts, gram_times_lanes, in_lanes, out_of_lanes
from .moments import diagonal_of, no_pair, refuse_dense, require_exact, warn_of_fractions, word_index
from .sums import PairSums, pair_weights
from .word_groups import WordGroups

logger = logging.getLogger("anchorwords.statistics")

# Sums kept side by side: no more than this many, and so many numbers in all (128 MiB).
_GROUPS = 8
_ACCUMULATED = 1 << 24
# Rows of C that a thread adds to at a time.
_ROWS_TOGETHER = 16


class StreamedOperator:
    """Implicit co-occurrence C = G'G - diag(d) of Eq. 1, of documents read anew for every product.

    Parameters
    ----------
    source : BlockSource
        Read once here and once a product.
    n_jobs : int or None
        Threads; the results do not depend on it.
    every_word : bool
        Keep the words that never occur, whose rows are zero.

    Attributes
    ----------
    shape : (N, N)
        Words that occur in a usable document, and no others unless ``every_word``.
    used : (all words,) array of bool
        Which those are that occur.
    n_docs, n_skipped : int
    document_frequencies : (N,) int array
        Documents of each word of C, of those with at least two tokens.
    n_passes : int
        Times the source has been read.
    """

    def __init__(self, source: BlockSource, *, n_jobs: int | None = None, every_word: bool = False) -> None:
        self._source = source
        self._n_jobs = n_jobs
        self.n_passes = 0
        self._n_counts: int | None = None
        sums = self._pair_sums()
        if sums.n_docs == 0:
            raise no_pair(sums.n_skipped, source.n_words)
        require_exact(sums.largest)
        if sums.n_skipped:
            logger.info("skipped %d documents with fewer than two tokens", sums.n_skipped)
        self.used: BoolArray = sums.df > 0
        words = np.arange(source.n_words) if every_word else np.flatnonzero(self.used)
        # Frequent words first: most of a product touches few of them, which then stay in the cache.
        self.document_frequencies: IntArray = sums.df[words]
        order = np.argsort(-self.document_frequencies, kind="stable")
        self._order: IntArray = order
        self._back: IntArray = np.argsort(order)
        self._column = np.zeros(
            source.n_words, dtype=np.int32
        )  # unused words have no weight anywhere: any column will do
        self._column[words[order]] = np.arange(words.size, dtype=np.int32)
        self.n_docs, self.n_skipped = sums.n_docs, sums.n_skipped
        if sums.fractions:
            warn_of_fractions(4)
        self._d, self._scale = sums.diagonal(words[order])
        self._diagonal = diagonal_of(sums.squares[words[order]] / self._scale, self._d)
        self.shape = (words.size, words.size)
        self.n_entries = int(sums.df.sum())
        self.dtype = np.dtype(np.float64)

    def __repr__(self) -> str:
        N = self.shape[0]
        return f"StreamedOperator({N} x {N}, {self.n_docs} documents, {self.n_passes} passes so far)"

    def _pair_sums(self) -> PairSums:
        groups = [PairSums(self._source.n_words) for _ in range(2)]
        for number, block in self._dealt_out(len(groups)):
            groups[number].add(block)
        groups[0].combine(groups[1], slice(None))
        return groups[0]

    def _dealt_out(self, n_groups: int) -> Iterator[tuple[int, SparseLike]]:
        """Blocks and the group of each, one after the other."""
        self.n_passes += 1
        n_counts = 0
        for number, block in enumerate(self._source.lazy_blocks()):
            counts = block()
            n_counts += counts.nnz
            yield number % n_groups, counts
        self._require_same(n_counts)

    def _each_block(self, work: Callable[[int, SparseLike], None], n_groups: int) -> None:
        """Call work with a group and a block, side by side; each group gets its blocks in order."""
        self.n_passes += 1
        blocks = self._source.lazy_blocks()
        n_counts = [0] * n_groups
        while batch := list(islice(blocks, n_groups)):

            def one(group: int, _: int, batch: list[Callable[[], SparseLike]] = batch) -> None:
                counts = batch[group]()
                n_counts[group] += counts.nnz
                work(group, counts)

            for_each_block(one, len(batch), 1, self._n_jobs)
        self._require_same(sum(n_counts))

    def _require_same(self, n_counts: int) -> None:
        """Raise unless this pass has seen what the first one saw."""
        if self._n_counts is None:
            self._n_counts = n_counts
        elif n_counts != self._n_counts:
            raise InputError(
                f"the source gave {self._n_counts} counts when it was first read, and {n_counts} in pass {self.n_passes}: "
                "it must give the same documents every time; a function must return a new iterable."
            )

    def _scaled(self, block: SparseLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], FloatArray]:
        """Rows of G, columns by frequency and in no order within a row."""
        indptr, indices, data = csr_parts(block)
        weights = np.sqrt(pair_weights(np.asarray(block.sum(axis=1)).ravel()) / self._scale)
        return indptr, self._column[indices], data * np.repeat(weights, np.diff(indptr))

    def _matrix(self, block: SparseLike) -> SparseLike:
        indptr, indices, data = self._scaled(block)
        return sp.csr_array((data, indices, indptr), shape=(block.shape[0], self.shape[0]))

    def __matmul__(self, other: FloatArray) -> FloatArray:
        V = np.asarray(other, dtype=np.float64)
        if V.ndim not in (1, 2) or V.shape[0] != self.shape[1]:
            raise InputError(f"C has shape {self.shape} and cannot multiply an array of shape {V.shape}.")
        block = np.take(V if V.ndim == 2 else V[:, None], self._order, axis=0)
        lanes = in_lanes(block)
        n_groups = max(2, min(_GROUPS, _ACCUMULATED // lanes.size))
        sums = np.zeros((n_groups, *lanes.shape))

        def work(group: int, documents: SparseLike) -> None:
            indptr, indices, data = self._scaled(documents)
            for lane, out in zip(lanes, sums[group], strict=True):
                gram_times_lanes(indptr, indices, data, lane, 0, indptr.size - 1, out)

        self._each_block(work, n_groups)
        product = out_of_lanes(sums.sum(axis=0), block.shape[1])
        product -= self._d[:, None] * block
        product = np.take(product, self._back, axis=0)
        return product if V.ndim == 2 else product[:, 0]

    def row_sums(self) -> FloatArray:
        """C e, the probability of each word in a random pair; sums to one."""
        return self @ np.ones(self.shape[0])

    def diagonal(self) -> FloatArray:
        """Diagonal of C."""
        return self._diagonal[self._back]

    def to_matrix(self) -> FloatArray:
        """C as a dense array; refuses sizes that do not fit in memory."""
        refuse_dense(self.shape[0])
        C = np.zeros(self.shape)
        for _, block in self._dealt_out(1):
            G = self._matrix(block)
            C += (G.T @ G).toarray()
        np.fill_diagonal(C, self._diagonal)
        return C[np.ix_(self._back, self._back)]

    def rows(self, words: Sequence[int] | IntArray) -> SparseLike:
        """Rows of C at ``words`` as a CSR array (len(words), N)."""
        index = self._back[self._word_index(words)]
        total = sp.csr_array((index.size, self.shape[0]))
        for _, block in self._dealt_out(1):
            G = self._matrix(block)
            total = total + sp.csr_array(G[:, index].T @ G)
        total = sp.lil_array(total[:, self._back])
        for k, word in enumerate(self._word_index(words)):
            total[k, word] = self._diagonal[index[k]]
        rows = sp.csr_array(total)
        rows.eliminate_zeros()
        return rows

    def row_norms(self, words: Sequence[int] | IntArray) -> FloatArray:
        """Euclidean norms of the rows of C at ``words``, :attr:`rows_a_pass` of them in each pass."""
        index = self._word_index(words)
        step = self.rows_a_pass
        parts = [self._norms_at(self._back[index[start : start + step]]) for start in range(0, index.size, step)]
        return np.concatenate([np.zeros(0), *parts])

    @property
    def rows_a_pass(self) -> int:
        """Rows of C that are summed up in one pass: as many as 128 MiB hold."""
        return max(1, _ACCUMULATED // self.shape[0])

    def _norms_at(self, places: IntArray) -> FloatArray:
        rows = np.zeros((places.size, self.shape[0]))
        for _, block in self._dealt_out(1):
            G = self._matrix(block)
            by_word = sp.csr_array(G[:, places].T)

            def add(start: int, stop: int, G: SparseLike = G, by_word: SparseLike = by_word) -> None:
                part = sp.coo_array(by_word[start:stop] @ G)
                rows[start + part.row, part.col] += part.data

            for_each_block(add, places.size, _ROWS_TOGETHER, self._n_jobs)
        rows[np.arange(places.size), places] = self._diagonal[places]
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))

    def submatrix(self, words: Sequence[int] | IntArray) -> FloatArray:
        """Dense C restricted to ``words`` x ``words``, in one pass."""
        return self.submatrices([words])[0]

    def submatrices(self, groups: Sequence[Sequence[int] | IntArray]) -> list[FloatArray]:
        """The same for each of several groups of words, in one pass over all."""
        wanted = WordGroups([self._word_index(group) for group in groups])
        totals = [np.zeros((group.size, group.size)) for group in wanted.groups]
        for _, block in self._dealt_out(1):
            for total, product in zip(
                totals, wanted.products(self._matrix(block)[:, self._back[wanted.words]]), strict=True
            ):
                total += product
        return wanted.with_diagonals(totals, self.diagonal())

    def _word_index(self, words: Sequence[int] | IntArray) -> IntArray:
        return word_index(words, self.shape[0])

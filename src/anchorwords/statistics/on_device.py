"""The co-occurrence of Eq. 1 as an operator on documents in memory, with all products on a device such as a GPU.

Notation is that of :mod:`anchorwords.statistics.moments`. What a fit needs, sums over documents and products, is computed on
the device; the rest, which serves metrics, goes through the documents block by block as for data that is read anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._namespace import array_namespace, like, to_numpy
from .._typing import IntArray, SparseLike
from ..kernels import kernels_for
from ..linalg.sparse import csr_parts
from ..sources.source import Source
from .streamed import StreamedOperator
from .sums import PairSums


class DeviceOperator(StreamedOperator):
    """Implicit co-occurrence C = G'G - diag(d) of Eq. 1, of documents in memory.

    Parameters
    ----------
    source : Source
        With ``counts``, and with ``like``, an array whose namespace and device are used.
    n_jobs : int or None
        Threads; the results do not depend on it.
    every_word : bool
        Keep the words that never occur, whose rows are zero.
    """

    pass_width = None
    _weights: Any  # of documents, which the sums find

    def __init__(self, source: Source, *, n_jobs: int | None = None, every_word: bool = False) -> None:
        self._like = source.like
        self._counts = kernels_for(self._like).prepared(csr_parts(source.counts), source.n_words)
        super().__init__(source, n_jobs=n_jobs, every_word=every_word)
        self._weights = self._weights / self._scale
        self._taken = like(self._d[self._back], self._like)
        self._used = self._spread = None
        if not self.words.all_used:
            # Row of V for each word of the data, one of zeros for those that are not in use.
            spread = np.full(source.n_words, self.shape[0])
            spread[self.words.positions] = np.arange(self.shape[0])
            self._used, self._spread = like(self.words.positions, self._like), like(spread, self._like)

    def __repr__(self) -> str:
        N = self.shape[0]
        return f"DeviceOperator({N} x {N}, {self.n_docs} documents, {self.n_counts} counts)"

    def _word_order(self) -> IntArray:
        return np.arange(self.document_frequencies.size)

    def _pair_sums(self) -> PairSums:
        sums = PairSums(self._source.n_words)
        self._weights = sums.add_prepared(self._counts)
        return sums

    def __matmul__(self, other: Any) -> Any:
        """C V for a vector or a block of columns of any array namespace, in that namespace."""
        V, columns = self._factor(other)
        block = like(columns, self._like)
        xp = array_namespace(block)
        spread = block
        if self._spread is not None:
            spread = xp.concat([block, xp.zeros_like(block[:1, :])], axis=0)
            spread = xp.take(spread, self._spread, axis=0)
        product = self._counts.gram(self._weights, spread, self._n_jobs)
        if self._used is not None:
            product = xp.take(product, self._used, axis=0)
        product = like(product - self._taken[:, None] * block, V)
        return product if V.ndim == 2 else product[:, 0]

    def rows(self, words: Sequence[int] | IntArray) -> SparseLike:
        """Rows of C at ``words`` as a CSR array (len(words), N)."""
        index = self._word_index(words)
        picked = np.zeros((self.shape[0], index.size))
        picked[index, np.arange(index.size)] = 1.0
        xp = array_namespace(self._like)
        product = xp.matrix_transpose(self @ like(picked, self._like))
        row, column = (to_numpy(part, dtype=None) for part in xp.nonzero(product))
        values = to_numpy(product[product != 0.0])
        rows = sp.csr_array((values, (row, column)), shape=(index.size, self.shape[0]))
        # Entries of the diagonal that are x - x are exactly zero, which a product does not give.
        each = np.arange(index.size)
        missing = self.diagonal()[index] - rows[each, index]
        rows = sp.csr_array(rows + sp.coo_array((missing, (each, index)), shape=rows.shape))
        rows.eliminate_zeros()
        return rows

"""The source: documents in blocks that can be read as often as needed, and the loop over them.

A computation over documents is a kernel and a way to combine its results; :meth:`Source.map_reduce` owns the loop. That is
the seam for other engines: one that keeps the blocks on other machines overrides this one method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..corpus.documents import Documents
from ..exceptions import InputError
from ..linalg.parallel import for_each_block

if TYPE_CHECKING:
    from ..corpus.left_out import LeftOut
    from ..corpus.text_rule import TextRule
    from ..corpus.vocabulary_rule import VocabularyRule

Total = TypeVar("Total")
LazyBlock: TypeAlias = Callable[[], SparseLike]


class Source(ABC):
    """Documents x words, block by block.

    A subclass has ``n_words`` and :meth:`lazy_blocks`; the rest has defaults. Blocks are CSR arrays of float64 without
    explicit zeros, indices in order. Every pass must give the same documents.

    Attributes
    ----------
    n_words : int
        Columns of every block.
    words : tuple of str or None
        The word of each column.
    by_word : bool
        Whether columns are matched to those of a model by their words, as those of a corpus are; else by their order.
    counts : (M, N) CSR array or None
        All documents, where they are in memory or small enough to be.
    like : array or None
        An array whose namespace and device a fit is to use; None is NumPy.
    reading : TextRule or None
        How text was split into these words.
    tokenized : bool
        Whether the documents were lists of tokens.
    vocabulary_rule : VocabularyRule or None
        Which words were kept.
    n_passes : int
        How many times the documents have been read so far.
    """

    n_words: int
    words: tuple[str, ...] | None = None
    by_word: bool = False
    counts: SparseLike | None = None
    like: Any = None
    reading: TextRule | None = None
    tokenized: bool = False
    vocabulary_rule: VocabularyRule | None = None
    n_passes: int = 0
    _n_counts: int | None = None

    @abstractmethod
    def lazy_blocks(self) -> Iterator[LazyBlock]:
        """Functions that return the blocks, in an order that is always the same; any thread may call them."""

    @property
    def left_out(self) -> LeftOut | None:
        """The words that the vocabulary rule has removed; None if unknown."""
        return None

    @property
    def documents(self) -> Documents:
        """The table of the documents."""
        return Documents()

    @property
    def n_docs(self) -> int | None:
        """Number of documents; None where only reading them would tell."""
        return self.documents.n_docs

    @property
    def in_memory(self) -> bool:
        """Whether all documents are in memory already."""
        return self.counts is not None

    def unknown_tokens(self) -> dict[str, float]:
        """Tokens of each word that is in no block because it has no column."""
        return {}

    def count_documents(self) -> int:
        """Number of documents, read where it is not known."""
        return sum(block.shape[0] for block in self.blocks()) if self.n_docs is None else self.n_docs

    def blocks(self, *, whole: bool = False) -> Iterator[SparseLike]:
        """The blocks one after the other; with ``whole``, documents in memory come as a single block."""
        if whole and self.in_memory:
            return iter([self.counts])
        return (block for _, block in self._pass())

    def map_reduce(
        self,
        kernel: Callable[[Total | None, SparseLike, int], Total],
        combine: Callable[[Total, Total], Total],
        *,
        n_groups: int = 1,
        n_jobs: int | None = None,
    ) -> Total:
        """Fold all blocks into one total.

        Parameters
        ----------
        kernel : callable
            ``kernel(total, counts, number)`` adds block ``number`` to a running total, which is None at first, and returns
            the total; it may change the total in place.
        combine : callable
            ``combine(total, other)`` adds two totals; it may change the first in place.
        n_groups : int
            Running totals. Blocks are dealt to them in turn and the totals are combined in order at the end, so that the
            result depends on this number but never on the number of threads.
        n_jobs : int or None
            Threads: groups are worked on side by side.

        Returns
        -------
        object
            The total of all blocks.
        """
        totals: list[Any] = [None] * n_groups
        self.n_passes += 1
        n_counts = [0] * n_groups
        blocks = enumerate(self.lazy_blocks())
        while batch := list(islice(blocks, n_groups)):

            def one(group: int, _: int, batch: list[tuple[int, LazyBlock]] = batch) -> None:
                number, block = batch[group]
                counts = block()
                n_counts[group] += counts.nnz
                totals[group] = kernel(totals[group], counts, number)

            for_each_block(one, len(batch), 1, n_jobs)
        self._require_same(sum(n_counts))
        found = [total for total in totals if total is not None]
        if not found:  # no blocks at all: what a block without documents gives
            return kernel(None, sp.csr_array((0, self.n_words)), 0)
        return reduce(combine, found)

    def frequencies(self) -> tuple[IntArray, FloatArray]:
        """Documents and tokens of each word."""

        def kernel(total: Any, counts: SparseLike, _: int) -> Any:
            documents, tokens = total or (np.zeros(self.n_words, dtype=np.int64), np.zeros(self.n_words))
            documents += np.bincount(counts.indices, minlength=self.n_words)
            tokens += np.bincount(counts.indices, weights=counts.data, minlength=self.n_words)
            return documents, tokens

        return self.map_reduce(kernel, lambda one, other: (one[0] + other[0], one[1] + other[1]))

    def _pass(self) -> Iterator[tuple[int, SparseLike]]:
        """Numbered blocks of one pass, in order."""
        self.n_passes += 1
        n_counts = 0
        for number, block in enumerate(self.lazy_blocks()):
            counts = block()
            n_counts += counts.nnz
            yield number, counts
        self._require_same(n_counts)

    def _require_same(self, n_counts: int) -> None:
        """Raise unless this pass has seen what the first one saw."""
        if self._n_counts is None:
            self._n_counts = n_counts
        elif n_counts != self._n_counts:
            raise InputError(
                f"the source gave {self._n_counts} counts when it was first read, and {n_counts} in pass {self.n_passes}: "
                "it must give the same documents every time; a function must return a new iterable."
            )

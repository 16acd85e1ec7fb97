"""Sources that are read block by block, as often as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import FloatArray, SparseLike
from .._validation import check_counts
from ..exceptions import InputError
from ..linalg.sparse import rows_between
from .corpus import Corpus
from .parts import ordered_rows, part_of, row_slices


@runtime_checkable
class BlockSource(Protocol):
    """What a streaming fit needs: a corpus, on disk or not, is one."""

    @property
    def n_words(self) -> int:
        """Columns of every block."""
        ...

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return the blocks, in an order that is always the same."""
        ...


class MatrixBlocks:
    """Blocks of counts that the caller holds, or makes anew for each pass.

    Parameters
    ----------
    source : list of sparse matrices, or callable
        The blocks, documents x words, or a function that returns an iterable of them.
    """

    def __init__(self, source: list[SparseLike] | tuple[SparseLike, ...] | Callable[[], Iterable[SparseLike]]) -> None:
        self._source = source
        blocks = self._blocks()
        if isinstance(blocks, Iterator) and blocks is self._blocks():
            raise InputError(
                "a function given as data must return its blocks anew each time it is called, but returns the same "
                "iterator, which can be read only once."
            )
        first = next(iter(blocks), None)
        if first is None or not hasattr(first, "shape") or len(first.shape) != 2:
            raise InputError("a source of blocks must give matrices of counts, documents x words, but gives none.")
        self.n_words = int(first.shape[1])

    def _blocks(self) -> Iterable[SparseLike]:
        blocks = self._source() if callable(self._source) else self._source
        if not isinstance(blocks, Iterable):
            raise InputError(
                f"a function given as data must return an iterable of blocks of counts, but returns {type(blocks).__name__}."
            )
        return blocks

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return the blocks, checked."""
        for number, block in enumerate(self._blocks()):
            yield partial(self._checked, block, number)

    def _checked(self, block: Any, number: int) -> SparseLike:
        counts = check_counts(block, f"block {number}")
        if counts.shape[1] != self.n_words:
            raise InputError(
                f"every block must have the columns of the first, {self.n_words}, but block {number} has {counts.shape[1]}."
            )
        return counts


class InVocabulary:
    """A corpus in the columns of a model, matched by word.

    Words the corpus does not hold have empty columns; words of the corpus outside the vocabulary are left out. Where the
    columns are the same already, blocks are those of the corpus itself.

    Parameters
    ----------
    corpus : Corpus
    vocabulary : tuple of str or None
        The word of each column; None where columns have no names, and the corpus must have as many.
    n_words : int
        Number of columns.

    Attributes
    ----------
    corpus : Corpus
    n_words : int
    """

    def __init__(self, corpus: Corpus, vocabulary: tuple[str, ...] | None, n_words: int) -> None:
        if vocabulary is None and corpus.n_words != n_words:
            raise InputError(
                f"the model has {n_words} words without names, but the corpus has {corpus.n_words}: "
                "give counts over the same columns."
            )
        self.corpus, self.n_words = corpus, n_words
        # Column of each word of the corpus, -1 where it has none.
        self._columns: npt.NDArray[np.int32] | None = None
        if vocabulary is not None and corpus.vocabulary != vocabulary:
            positions = {word: i for i, word in enumerate(vocabulary)}
            self._columns = np.array([positions.get(word, -1) for word in corpus.vocabulary], dtype=np.int32)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self.corpus.n_docs

    @property
    def document_frequencies(self) -> npt.NDArray[np.int64]:
        """Documents that hold the word of each column."""
        return self._moved(np.asarray(self.corpus.document_frequencies, dtype=np.int64))

    @property
    def term_frequencies(self) -> FloatArray:
        """Tokens of the word of each column."""
        return self._moved(np.asarray(self.corpus.term_frequencies, dtype=np.float64))

    @property
    def n_unknown_tokens(self) -> float:
        """Tokens of the corpus whose words have no column."""
        if self._columns is None or (self._columns >= 0).all():
            return 0.0
        return float(np.asarray(self.corpus.term_frequencies)[self._columns < 0].sum())

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return consecutive documents as CSR arrays, safe to call in any thread."""
        for block in self.corpus.lazy_blocks():
            yield block if self._columns is None else partial(self._matched, block)

    def blocks(self) -> Iterator[SparseLike]:
        """Consecutive documents as CSR arrays of counts."""
        return (block() for block in self.lazy_blocks())

    def _matched(self, block: Callable[[], SparseLike]) -> SparseLike:
        return ordered_rows(part_of(block()), self._columns, self.n_words)

    def _moved(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the corpus's words, in the columns."""
        if self._columns is None:
            return values
        moved = np.zeros(self.n_words, dtype=values.dtype)
        known = self._columns >= 0
        moved[self._columns[known]] = values[known]
        return moved


class HeldBlocks:
    """Counts in memory, a part at a time."""

    def __init__(self, counts: SparseLike) -> None:
        self._counts = counts
        self.n_words = int(counts.shape[1])

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return consecutive documents."""
        for rows in row_slices(self._counts):
            yield partial(rows_between, self._counts, rows.start, rows.stop)


def in_columns(X: Any, vocabulary: tuple[str, ...] | None, n_words: int) -> BlockSource:
    """Documents in the columns of a model: a Corpus, matched by word, or counts over the same columns."""
    require_rereadable(X)
    if isinstance(X, Corpus):
        return InVocabulary(X, vocabulary, n_words)
    source: BlockSource
    if is_blocks(X):
        source = MatrixBlocks(X)
    else:
        require_columns_in_order(X, vocabulary)
        source = HeldBlocks(check_counts(X))
    if source.n_words != n_words:
        raise InputError(
            f"the model knows {n_words} words, but X has {source.n_words} columns: give counts over the columns of the fit, "
            "or a Corpus, which is matched by word."
        )
    return source


def require_rereadable(X: Any) -> None:
    """Raise for an iterator, which can be read only once."""
    if isinstance(X, Iterator):
        raise InputError(
            "X is an iterator, which can be read only once, but its documents are read several times: give a list of "
            "blocks, or a function that returns them."
        )


def require_columns_in_order(X: Any, vocabulary: tuple[str, ...] | None) -> None:
    """Raise for a data frame whose columns have other names than these words, or another order."""
    names = getattr(X, "columns", None)
    if names is None or vocabulary is None or not all(isinstance(name, str) for name in names):
        return
    if tuple(names) != vocabulary:
        raise InputError(
            "the columns of a data frame must be the words of the model, in their order, but are not: bring them into the "
            "order of model_.vocabulary, or give a Corpus, which is matched by word."
        )


def is_blocks(X: Any) -> bool:
    """Whether this is a list of sparse matrices, or a function that gives them."""
    return (isinstance(X, (list, tuple)) and bool(X) and all(sp.issparse(block) for block in X)) or (
        callable(X) and not hasattr(X, "shape") and not isinstance(X, type)
    )

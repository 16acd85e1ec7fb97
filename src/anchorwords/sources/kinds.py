"""The sources there are: counts in memory, a corpus on disk, blocks of the caller's own, and others in a model's columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._lazy import cached_property
from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_counts
from ..corpus.corpus import Corpus
from ..corpus.documents import Documents
from ..corpus.left_out import LeftOut
from ..corpus.parts import ordered_rows, part_of, row_slices
from ..corpus.stored import StoredCorpus
from ..exceptions import InputError
from ..linalg.sparse import rows_between
from .source import LazyBlock, Source


class HeldCounts(Source):
    """Counts in memory.

    Parameters
    ----------
    counts : (M, N) CSR array
        As check_counts returns them.
    words : sequence of str, optional
    like : array, optional
        An array whose namespace and device a fit is to use.
    """

    def __init__(self, counts: SparseLike, words: Sequence[str] | None = None, *, like: Any = None) -> None:
        self.counts: SparseLike = counts
        self.n_words = int(counts.shape[1])
        self.words = None if words is None else tuple(words)
        self.like = like

    @property
    def documents(self) -> Documents:
        """Their number."""
        return Documents(int(self.counts.shape[0]))

    def lazy_blocks(self) -> Iterator[LazyBlock]:
        """Functions that return consecutive documents, which share their entries with the whole."""
        for rows in row_slices(self.counts):
            yield partial(rows_between, self.counts, rows.start, rows.stop)


class CorpusSource(Source):
    """A corpus, in memory or on disk.

    Parameters
    ----------
    corpus : Corpus
    loadable : bool
        Whether a corpus on disk is small enough to be loaded where all of its counts are asked for.
    """

    by_word = True

    def __init__(self, corpus: Corpus, *, loadable: bool = True) -> None:
        self.corpus, self._loadable = corpus, loadable
        self.n_words = corpus.n_words
        self.reading, self.tokenized, self.vocabulary_rule = corpus.text_rule, corpus.tokenized, corpus.vocabulary_rule

    @property
    def counts(self) -> SparseLike | None:  # type: ignore[override]
        """All documents: a corpus on disk that is small enough is loaded when they are first asked for."""
        return self.corpus.counts if self._loadable else None

    @property
    def in_memory(self) -> bool:
        """Whether the documents are in memory already."""
        return not isinstance(self.corpus, StoredCorpus)

    @property
    def words(self) -> tuple[str, ...]:  # type: ignore[override]
        """The word of each column, read when it is first asked for."""
        return self.corpus.vocabulary

    @property
    def left_out(self) -> LeftOut | None:
        """The words that the vocabulary rule has removed, found when they are first asked for."""
        return self.corpus.left_out

    @property
    def documents(self) -> Documents:
        """Number and ids."""
        return self.corpus.documents

    def lazy_blocks(self) -> Iterator[LazyBlock]:
        """Functions that return consecutive documents."""
        return self.corpus.lazy_blocks()

    def frequencies(self) -> tuple[IntArray, FloatArray]:
        """Documents and tokens of each word, which a corpus knows, also on disk."""
        return (
            np.asarray(self.corpus.document_frequencies, dtype=np.int64),
            np.asarray(self.corpus.term_frequencies, dtype=np.float64),
        )


class MatrixBlocks(Source):
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

    @property
    def documents(self) -> Documents:
        """Their number, where blocks are held."""
        held = not callable(self._source)
        return Documents(sum(int(block.shape[0]) for block in self._blocks()) if held else None)

    def _blocks(self) -> Iterable[SparseLike]:
        blocks = self._source() if callable(self._source) else self._source
        if not isinstance(blocks, Iterable):
            raise InputError(
                f"a function given as data must return an iterable of blocks of counts, but returns {type(blocks).__name__}."
            )
        return blocks

    def lazy_blocks(self) -> Iterator[LazyBlock]:
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


class MatchedSource(Source):
    """Documents in the columns of a model, matched by word.

    Words that the documents do not hold have empty columns; words outside the vocabulary are left out.

    Parameters
    ----------
    source : Source
        With words.
    vocabulary : tuple of str
        The word of each column.
    """

    by_word = True

    def __init__(self, source: Source, vocabulary: tuple[str, ...]) -> None:
        assert source.words is not None
        self._source = source
        self.words, self.n_words = vocabulary, len(vocabulary)
        self.reading, self.tokenized, self.like = source.reading, source.tokenized, source.like
        self.vocabulary_rule = source.vocabulary_rule
        positions = {word: i for i, word in enumerate(vocabulary)}
        # Column of each word of the documents, -1 where it has none.
        self._columns: npt.NDArray[np.int32] = np.array(
            [positions.get(word, -1) for word in source.words], dtype=np.int32
        )

    @property
    def in_memory(self) -> bool:
        """Whether all of them are to be had at no cost, which they are not."""
        return False

    @cached_property
    def counts(self) -> SparseLike | None:
        """All documents, where they are in memory; made when it is first asked for."""
        if self._source.counts is None:
            return None
        return sp.csr_array(sp.vstack([block() for block in self.lazy_blocks()], format="csr"))

    @property
    def documents(self) -> Documents:
        """Those of the documents themselves."""
        return self._source.documents

    def unknown_tokens(self) -> dict[str, float]:
        """Tokens of each word that has no column."""
        unknown = np.flatnonzero(self._columns < 0)
        if not unknown.size or self._source.words is None:
            return {}
        tokens = self._source.frequencies()[1][unknown]
        return {self._source.words[i]: n for i, n in zip(unknown.tolist(), tokens.tolist(), strict=True)}

    def lazy_blocks(self) -> Iterator[LazyBlock]:
        """Functions that return consecutive documents."""
        for block in self._source.lazy_blocks():
            yield partial(self._matched, block)

    def _matched(self, block: LazyBlock) -> SparseLike:
        return ordered_rows(part_of(block()), self._columns, self.n_words)

    def frequencies(self) -> tuple[IntArray, FloatArray]:
        """Documents and tokens of the word of each column."""
        documents, tokens = self._source.frequencies()
        return self._moved(documents), self._moved(tokens)

    def _moved(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the words of the documents, in the columns."""
        moved = np.zeros(self.n_words, dtype=values.dtype)
        known = self._columns >= 0
        moved[self._columns[known]] = values[known]
        return moved


class MappedSource(Source):
    """Every block of a source after a function, such as one that leaves documents out.

    Parameters
    ----------
    source : Source
    change : callable
        From a block of counts to another with the same columns.
    """

    def __init__(self, source: Source, change: Callable[[SparseLike], SparseLike]) -> None:
        self._source, self._change = source, change
        self.n_words, self.words, self.like = source.n_words, source.words, source.like

    def lazy_blocks(self) -> Iterator[LazyBlock]:
        """Functions that return the blocks."""
        for block in self._source.lazy_blocks():
            yield partial(self._changed, block)

    def _changed(self, block: LazyBlock) -> SparseLike:
        return self._change(block())

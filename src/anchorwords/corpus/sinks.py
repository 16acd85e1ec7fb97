"""Where a reader puts its rows: in memory, or in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..linalg.parallel import for_each_block
from ..storage.corpus_writer import About, CorpusWriter
from .columns import Column
from .corpus import Corpus
from .documents import Documents
from .parts import Part, ordered_rows
from .text_rule import TextRule


class Finish(NamedTuple):
    """What is known when all rows have been read.

    Attributes
    ----------
    words : sequence of str
    numbers : array or None
        The column of each number that the reader has used for a word, -1 to leave it out; None if columns are final.
    rule : TextRule or None
        How text was split into words.
    columns : mapping of str to Column
        The documents table.
    title : str or None
        The column that names documents.
    change : callable, optional
        Applied to rows of counts in their final columns.
    tokenized : bool
        Whether the documents were lists of tokens.
    """

    words: Sequence[str]
    numbers: npt.NDArray[np.int32] | None = None
    rule: TextRule | None = None
    columns: Mapping[str, Column] = {}
    title: str | None = None
    change: Callable[[SparseLike], SparseLike] | None = None
    tokenized: bool = False


class MemorySink:
    """Rows gathered in memory."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_docs = 0
        self._n_jobs = n_jobs
        self._parts: list[Part] = []

    def fresh(self) -> MemorySink:
        """Return an empty sink in place of this one."""
        return MemorySink(self._n_jobs)

    def add(self, part: Part) -> None:
        """Append rows."""
        self.n_docs += part.lengths.size
        self._parts.append(part)

    def frequencies(self, n_numbers: int) -> tuple[IntArray, FloatArray]:
        """Return the documents and the tokens of each number that the reader has used for a word."""
        df, tf = np.zeros(n_numbers, dtype=np.int64), np.zeros(n_numbers)
        for part in self._parts:
            df += np.bincount(part.indices, minlength=n_numbers)
            tf += np.bincount(part.indices, weights=part.counts, minlength=n_numbers)
        return df, tf

    def finish(self, end: Finish) -> None:
        """Put the rows in order, their columns renamed."""
        blocks: list[SparseLike] = [None] * len(self._parts)

        def work(number: int, _: int) -> None:
            part = self._parts[number]
            rows = ordered_rows(part, end.numbers, len(end.words))
            blocks[number] = rows if end.change is None else end.change(rows)
            # Let go of its arrays, so that the corpus is not in memory once more.
            self._parts[number] = Part(
                part.lengths[:0].copy(), part.indices[:0].copy(), part.counts[:0].copy(), part.ids
            )

        for_each_block(work, len(blocks), 1, self._n_jobs)
        counts = sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, len(end.words)))
        self._corpus = Corpus(
            counts, end.words, list(self.ids()) or None,
            documents=Documents(self.n_docs, end.columns, title=end.title), text_rule=end.rule,
            tokenized=end.tokenized,
        )  # fmt: skip

    def ids(self) -> Iterator[str]:
        """Return the ids of the documents so far."""
        return (name for part in self._parts for name in part.ids or ())

    def corpus(self) -> Corpus:
        """Return the corpus, once it is finished."""
        return self._corpus


class FolderSink:
    """Rows written to a folder."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._writer = stack.enter_context(CorpusWriter(folder))
        self.add, self.ids, self.frequencies = self._writer.add, self._writer.ids, self._writer.frequencies

    @property
    def n_docs(self) -> int:
        """Number of documents so far."""
        return self._writer.n_docs

    def finish(self, end: Finish) -> None:
        """Write what is left."""
        rule = None if end.rule is None else end.rule.to_dict()
        self._writer.finish(
            end.words, end.numbers, About(rule, None, end.columns, end.title, end.tokenized), end.change
        )

    def fresh(self) -> FolderSink:
        """Return an empty sink in place of this one."""
        return FolderSink(self._folder, self._stack)

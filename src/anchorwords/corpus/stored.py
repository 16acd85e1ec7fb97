"""A corpus that stays on disk: the same face as a Corpus, read block by block."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._lazy import cached_property
from .._memory import available_bytes
from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from .._validation import check_vocabulary
from ..exceptions import CorpusFormatError, TooLargeError
from ..storage.corpus_folder import FORMAT, CorpusFolder
from .columns import Column, read_only
from .corpus import Corpus, made_of_checked
from .documents import Documents
from .left_out import LeftOut, hashes_except
from .parts import columns_kept
from .prune import eligible_words, long_documents, require_something_left, warn_of_kept_and_lost
from .text_rule import TextRule
from .vocabulary_rule import VocabularyRule


def open_corpus(path: str | os.PathLike[str]) -> StoredCorpus:
    """Open a corpus folder that ``anchorwords import``, :func:`import_corpus` or :meth:`Corpus.save` wrote.

    Nothing but the description is read; blocks of documents are read when they are needed, and checked
    when they are first read.
    """
    folder = Path(path)
    if not os.fspath(path) or not folder.is_dir():  # the path of an empty string is the current folder
        raise CorpusFormatError(
            f"{os.fspath(path) or 'an empty path'} is not a corpus folder: make one with anchorwords import."
        )
    return StoredCorpus(CorpusFolder(folder))


def is_corpus_folder(path: Path) -> bool:
    """Whether a folder is a corpus, sound or not."""
    return (path / FORMAT.manifest).is_file()


class _Selection(NamedTuple):
    """Words and documents of a folder that a pruned or sliced corpus keeps.

    Attributes
    ----------
    words : (N,) array
        Columns, ascending.
    docs : list of arrays
        For each block the documents kept, by their place in it, ascending.
    """

    words: IntArray
    docs: list[npt.NDArray[np.int32]]


class StoredCorpus(Corpus):
    """A corpus on disk, or what pruning keeps of one; made by :func:`open_corpus`.

    ``counts`` loads everything: what goes through :meth:`blocks` does not.
    """

    def __init__(self, folder: CorpusFolder, selection: _Selection | None = None, **attributes: Any) -> None:
        try:
            rule = None if folder.rule is None else TextRule.from_dict(folder.rule)
            chosen = None if folder.vocabulary_rule is None else VocabularyRule.from_dict(folder.vocabulary_rule)
        except ValueError as error:
            raise folder.damaged(str(error)) from None
        # Set past the freeze of the record. What is not set here (counts, words, ids) is read when it is asked for.
        self.__dict__.update(_folder=folder, _selection=selection, text_rule=rule, tokenized=folder.tokenized)
        self.__dict__.update({"vocabulary_rule": chosen, "dropped": None, "kept_rows": None} | attributes)

    _folder: CorpusFolder
    _selection: _Selection | None

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder.path

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self._folder.n_docs if self._selection is None else sum(docs.size for docs in self._selection.docs)

    @property
    def n_words(self) -> int:
        """Number of words in the vocabulary."""
        return self._folder.n_words if self._selection is None else self._selection.words.size

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return round(self._folder.n_tokens if self._selection is None else float(self.term_frequencies.sum()))

    @property
    def n_entries(self) -> int:
        """Number of (document, word) pairs with a count."""
        return self._folder.n_entries if self._selection is None else int(self.document_frequencies.sum())

    @property
    def document_frequencies(self) -> IntArray:
        """Documents that hold each word."""
        return self._folder.document_frequencies() if self._selection is None else self._frequencies[0]

    @property
    def term_frequencies(self) -> Any:
        """Tokens of each word."""
        return self._folder.term_frequencies() if self._selection is None else self._frequencies[1]

    @cached_property
    def _frequencies(self) -> tuple[IntArray, FloatArray]:
        """Documents and tokens of each word, counted in a pass over the blocks of a slice; pruning has counted them."""
        df, tf = np.zeros(self.n_words, dtype=np.int64), np.zeros(self.n_words)
        for block in self.blocks():
            df += np.bincount(block.indices, minlength=self.n_words)
            tf += np.bincount(block.indices, weights=block.data, minlength=self.n_words)
        return df, tf

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The word of each column."""
        words = self._folder.words()
        if self._selection is not None:
            words = [words[i] for i in self._selection.words]
        found = check_vocabulary(words, len(words))
        assert found is not None
        return found

    @cached_property
    def doc_ids(self) -> tuple[str, ...] | None:
        """The name of each row."""
        if not self._folder.has_ids:
            return None
        ids = self._folder.ids()
        return tuple(ids if self._selection is None else (ids[row] for row in self._folder_rows.tolist()))

    @cached_property
    def left_out(self) -> LeftOut | None:
        """Hashes of the words that pruning has removed, found when they are first asked for; None if it is not known."""
        if self.dropped is None or self._folder.vocabulary_rule is not None:
            return None
        return hashes_except(self._folder.words(), self.vocabulary)

    @cached_property
    def documents(self) -> Documents:
        """The table of documents; its columns are read when they are first asked for."""
        table = self._folder.table
        names, title = ({}, None) if table is None else (table.kinds, table.title)
        whole = Documents(self._folder.n_docs, _FolderColumns(self._folder, tuple(names)), title=title)
        part = whole if self._selection is None else whole.take(self._folder_rows)
        ids = partial(getattr, self, "doc_ids")
        return Documents(self.n_docs, part.columns, ids=ids, title=title, numbers=part.numbers)

    @property
    def _folder_rows(self) -> IntArray:
        """The row of each document in the folder."""
        assert self._selection is not None
        firsts = np.cumsum([0, *(self._folder.block_docs(number) for number in range(self._folder.n_blocks))])
        return np.concatenate(
            [np.zeros(0, np.int64), *(first + docs for first, docs in zip(firsts, self._selection.docs, strict=False))]
        )

    def in_memory(self) -> Corpus:
        """Return the corpus loaded into memory."""
        columns = {name: self.documents.column(name) for name in self.documents}
        return made_of_checked(
            counts=self.counts, vocabulary=self.vocabulary, doc_ids=self.doc_ids, text_rule=self.text_rule,
            documents=Documents(
                self.n_docs, columns, ids=self.doc_ids, title=self.documents.title, numbers=self.documents.numbers
            ),
            tokenized=self.tokenized, vocabulary_rule=self.vocabulary_rule, dropped=self.dropped, kept_rows=self.kept_rows,
        )  # fmt: skip

    @cached_property
    def counts(self) -> SparseLike:
        """All counts, loaded into memory."""
        needed = 12 * self.n_entries + 8 * self.n_docs
        available = available_bytes()
        if available is not None and needed > available:
            raise TooLargeError(
                f"the counts of {self.path} take {needed >> 20} MiB, but {available >> 20} MiB are available: go through "
                "its blocks(), or give the corpus itself to fit, which does."
            )
        return (
            sp.csr_array(sp.vstack(list(self.blocks()), format="csr"))
            if self.n_docs
            else sp.csr_array((0, self.n_words))
        )

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that read consecutive documents as CSR arrays, safe to call in any thread."""
        for number in range(self._folder.n_blocks):
            if self._selection is None or self._selection.docs[number].size:
                yield partial(self._block, number)

    @cached_property
    def _place(self) -> npt.NDArray[np.int32]:
        """Column of each word of the folder, -1 where it was left out."""
        assert self._selection is not None
        return _places(self._selection.words, self._folder.n_words)

    def _block(self, number: int) -> SparseLike:
        block = self._folder.block(number)
        if self._selection is None:
            return block
        docs = self._selection.docs[number]
        part = columns_kept(block, self._place, self.n_words)
        return part if docs.size == part.shape[0] else part[docs]

    def _facts(self) -> str:
        return f"{super()._facts()}; in {self.path}"

    def _token_facts(self) -> str:
        """Leave out what only a pass over the documents would tell."""
        known = self._selection is None or "_frequencies" in self.__dict__
        return super()._token_facts() if known else ""

    def _selected(self, rows: IntArray) -> Corpus:
        """Return a view of the folder, or a corpus in memory if the rows are not in ascending order."""
        if rows.size and (rows[1:] <= rows[:-1]).any():
            ascending, places = np.unique(rows, return_inverse=True)
            part = self._view(ascending).in_memory()._selected(places)
            part.__dict__.update(kept_rows=read_only(rows))
            return part
        return self._view(rows)

    def _view(self, rows: IntArray) -> StoredCorpus:
        """Return a view of these rows, which are ascending."""
        words, sizes = np.arange(self._folder.n_words), range(self._folder.n_blocks)
        docs = [np.arange(self._folder.block_docs(number), dtype=np.int32) for number in sizes]
        if self._selection is not None:
            words, docs = self._selection
        firsts = np.cumsum([0, *(part.size for part in docs)])
        bounds = np.searchsorted(rows, firsts)
        chosen = [
            part[rows[begin:end] - first]
            for part, first, begin, end in zip(docs, firsts, bounds[:-1], bounds[1:], strict=False)
        ]
        return type(self)(
            self._folder, _Selection(words, chosen), vocabulary_rule=self.vocabulary_rule, kept_rows=read_only(rows)
        )

    def _pruned(self, rule: VocabularyRule) -> Self:
        """What the rule keeps, as a view of the same folder, in one pass over the blocks."""
        names = self.vocabulary if rule.stop_words or rule.keep_words else ()
        words, dropped = eligible_words(
            self.document_frequencies,
            self.term_frequencies,
            self.n_docs,
            names,
            rule,
        )
        place = _places(words, self.n_words)
        docs: list[npt.NDArray[np.int32]] = []
        stays: list[BoolArray] = [np.zeros(0, dtype=bool)]
        df, tf = np.zeros(words.size, dtype=np.int64), np.zeros(words.size)
        for number in range(self._folder.n_blocks):
            part = columns_kept(self._block(number), place, words.size)
            stays.append(long_documents(part, rule))
            kept = np.flatnonzero(stays[-1]).astype(np.int32)
            part = part[kept]
            df += np.bincount(part.indices, minlength=words.size)
            tf += np.bincount(part.indices, weights=part.data, minlength=words.size)
            docs.append(kept if self._selection is None else self._selection.docs[number][kept])
        alive = df > 0
        n_docs = sum(kept.size for kept in docs)
        require_something_left(n_docs, alive, self.n_docs, self.n_words)
        warn_of_kept_and_lost(words[~alive], names, rule)
        dropped = dropped._replace(short_documents=self.n_docs - n_docs, orphaned_words=int((~alive).sum()))
        chosen = words[alive] if self._selection is None else self._selection.words[words[alive]]
        return type(self)(
            self._folder, _Selection(chosen, docs), vocabulary_rule=rule, dropped=dropped,
            kept_rows=read_only(np.flatnonzero(np.concatenate(stays))), _frequencies=(df[alive], tf[alive]),
        )  # fmt: skip


def _places(words: IntArray, n_words: int) -> npt.NDArray[np.int32]:
    """Return the new column of each word: those kept in their order, -1 for the others."""
    place = np.full(n_words, -1, dtype=np.int32)
    place[words] = np.arange(words.size, dtype=np.int32)
    return place


class _FolderColumns(Mapping[str, Column]):
    """The columns of a folder, read when one is first asked for."""

    def __init__(self, folder: CorpusFolder, names: tuple[str, ...]) -> None:
        self._folder, self._names = folder, names

    def __getitem__(self, name: str) -> Column:
        return self._folder.columns()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

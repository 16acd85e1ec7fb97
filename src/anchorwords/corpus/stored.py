"""A corpus that stays on disk: the same face as a Corpus, read block by block."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._lazy import cached_property
from .._memory import available_bytes
from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_vocabulary
from ..exceptions import CorpusFormatError, TooLargeError
from ..storage.corpus_folder import FORMAT, CorpusFolder
from .corpus import Corpus
from .parts import columns_kept
from .prune import Dropped, eligible_words, long_documents, require_something_left, warn_of_kept_and_lost
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


class _Selection:
    """Words and documents of a folder that a pruned corpus keeps.

    Attributes
    ----------
    words : (N,) array
        Columns, ascending.
    docs : list of arrays
        For each block the documents kept, by their place in it.
    df, tf : (N,) arrays
    """

    def __init__(self, words: IntArray, docs: list[npt.NDArray[np.int32]], df: IntArray, tf: FloatArray) -> None:
        self.words, self.docs, self.df, self.tf = words, docs, df, tf


class StoredCorpus(Corpus):
    """A corpus on disk, or what pruning keeps of one; made by :func:`open_corpus`.

    ``counts`` loads everything: what goes through :meth:`blocks` does not.
    """

    def __init__(
        self,
        folder: CorpusFolder,
        selection: _Selection | None = None,
        vocabulary_rule: VocabularyRule | None = None,
        dropped: Dropped | None = None,
    ) -> None:
        try:
            rule = None if folder.rule is None else TextRule.from_dict(folder.rule)
        except ValueError as error:
            raise folder.damaged(str(error)) from None
        # Set past the freeze of the record. What is not set here (counts, words, ids) is read when it is asked for.
        self.__dict__.update(
            _folder=folder, _selection=selection, text_rule=rule, vocabulary_rule=vocabulary_rule, dropped=dropped
        )

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
        return round(self._folder.n_tokens if self._selection is None else float(self._selection.tf.sum()))

    @property
    def n_entries(self) -> int:
        """Number of (document, word) pairs with a count."""
        return self._folder.n_entries if self._selection is None else int(self._selection.df.sum())

    @property
    def document_frequencies(self) -> IntArray:
        """Documents that hold each word."""
        return self._folder.document_frequencies() if self._selection is None else self._selection.df

    @property
    def term_frequencies(self) -> Any:
        """Tokens of each word."""
        return self._folder.term_frequencies() if self._selection is None else self._selection.tf

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
        if self._selection is not None:
            sizes = [self._folder.block_docs(number) for number in range(self._folder.n_blocks)]
            firsts = np.cumsum([0, *sizes])
            ids = [ids[first + m] for first, docs in zip(firsts, self._selection.docs, strict=False) for m in docs]
        return tuple(ids)

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

    def __repr__(self) -> str:
        return (
            f"StoredCorpus({self.n_docs:,} documents, {self.n_words:,} words, {self.n_tokens:,} tokens, in {self.path})"
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
        df, tf = np.zeros(words.size, dtype=np.int64), np.zeros(words.size)
        for number in range(self._folder.n_blocks):
            part = columns_kept(self._block(number), place, words.size)
            kept = np.flatnonzero(long_documents(part, rule)).astype(np.int32)
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
        return type(self)(self._folder, _Selection(chosen, docs, df[alive], tf[alive]), rule, dropped)


def _places(words: IntArray, n_words: int) -> npt.NDArray[np.int32]:
    """New column of each of so many words: in their order those kept, -1 the others."""
    place = np.full(n_words, -1, dtype=np.int32)
    place[words] = np.arange(words.size, dtype=np.int32)
    return place

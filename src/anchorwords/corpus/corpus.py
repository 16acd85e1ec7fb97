"""The frozen Corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from .._lazy import cached_property
from .._typing import IntArray, SparseLike
from .._validation import check_counts, check_vocabulary
from ..exceptions import InputError
from ..storage.corpus_writer import About, save_corpus
from .columns import read_only
from .documents import Document, Documents, table_of
from .duplicates import Duplicates, find_duplicates
from .language import warn_of_language
from .left_out import LeftOut, hashes_except
from .parts import row_slices
from .prune import Dropped, Kept, curate, long_enough
from .rows import is_row_number, selected_rows
from .text_rule import TextRule
from .vocabulary_rule import VocabularyRule, pruning_rule


@dataclass(frozen=True, eq=False, init=False)
class Corpus:
    """Counts of words in documents, with names.

    Parameters
    ----------
    counts : (M, N) sparse or array-like
        Non-negative counts, documents x words.
    vocabulary : sequence of str
        The word of each column.
    doc_ids : sequence of str, optional
        The name of each row.
    documents : mapping of str to sequence, or data frame, optional
        Further columns with one value per document, such as dates and labels; see :class:`Documents`.
    title : str, optional
        The column of ``documents`` that names documents in tables and pages.
    text_rule : TextRule, optional
        How text was split into these words; None if the documents were not text. Readers set it, so that new documents can
        be split in the same way.
    tokenized : bool
        Whether the documents were lists of tokens or of items, which readers set too. Texts are then refused as new
        documents of a model, because nothing tells how to split them.

    Attributes
    ----------
    documents : Documents
        The table of documents: ``corpus.documents["year"]`` is a column. It stays aligned with the rows.
    vocabulary_rule : VocabularyRule or None
        The rule by which :meth:`prune` made this corpus; None if it was not pruned.
    dropped : Dropped or None
        How many words and documents that removed, by reason.
    kept_rows : (M,) array or None
        For a corpus that was pruned or sliced from another: the row of each document in that other corpus.

    Examples
    --------
    >>> from anchorwords import read_corpus
    >>> records = [
    ...     {"text": "the cat sat", "year": 2019}, {"text": "the dog ran", "year": 2020}, {"text": "a cat ran", "year": 2021}
    ... ]
    >>> corpus = read_corpus(records, columns="all")
    >>> len(corpus)
    3
    >>> corpus[corpus.documents["year"] >= 2020].documents["year"]
    array([2020, 2021])
    >>> corpus[0].counts
    {'cat': 1.0, 'sat': 1.0, 'the': 1.0}
    """

    counts: SparseLike
    vocabulary: tuple[str, ...]
    doc_ids: tuple[str, ...] | None
    documents: Documents
    text_rule: TextRule | None
    tokenized: bool
    vocabulary_rule: VocabularyRule | None
    dropped: Dropped | None
    kept_rows: IntArray | None

    def __init__(
        self,
        counts: Any,
        vocabulary: Sequence[str],
        doc_ids: Sequence[str] | None = None,
        *,
        documents: Any = None,
        title: str | None = None,
        text_rule: TextRule | None = None,
        tokenized: bool = False,
    ) -> None:
        checked = check_counts(counts, "counts")
        for part in (checked.data, checked.indices, checked.indptr):
            part.setflags(write=False)
        words = check_vocabulary(vocabulary, checked.shape[1])
        if words is None:
            raise InputError("vocabulary must name the columns of counts, but is None.")
        n_docs = int(checked.shape[0])
        names = None if doc_ids is None else tuple(str(name) for name in doc_ids)
        if names is not None and len(names) != n_docs:
            raise InputError(f"doc_ids must name each of the {n_docs} documents once, but has {len(names)} names.")
        if text_rule is not None and not isinstance(text_rule, TextRule):
            raise InputError(f"text_rule must be a TextRule or None, but is {text_rule!r}.")
        # Set past the freeze of the record.
        self.__dict__.update(
            counts=checked, vocabulary=words, doc_ids=names,
            documents=table_of(documents, n_docs, title, names), text_rule=text_rule,
            tokenized=tokenized, vocabulary_rule=None, dropped=None, kept_rows=None,
        )  # fmt: skip

    @cached_property
    def left_out(self) -> LeftOut | None:
        """Hashes of the words that pruning has removed, found when they are first asked for; None if it is not known."""
        before = self.__dict__.get("_words_before")
        return None if before is None else hashes_except(before, self.vocabulary)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of words in the vocabulary."""
        return int(self.counts.shape[1])

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return round(float(self.counts.sum()))

    @property
    def term_frequencies(self) -> IntArray:
        """Tokens of each word."""
        return np.asarray(self.counts.sum(axis=0)).ravel()

    @property
    def document_frequencies(self) -> IntArray:
        """Documents that hold each word."""
        return np.bincount(self.counts.indices, minlength=self.n_words)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of documents and of words."""
        return self.n_docs, self.n_words

    def __len__(self) -> int:
        return self.n_docs

    def __bool__(self) -> bool:
        return True  # also if it holds no documents, as objects that are not containers do

    def __getitem__(self, key: Any) -> Any:
        """Return a document by its number, or the corpus of those that a slice, a mask or a list of numbers selects."""
        if is_row_number(key):
            (row,) = selected_rows([key], self.n_docs)
            return self._document(int(row), self.counts[[int(row)]])
        return self._selected(selected_rows(key, self.n_docs))

    def __iter__(self) -> Iterator[Document]:
        """Iterate over the documents, block by block."""
        row = 0
        for block in self.blocks():
            for place in range(block.shape[0]):
                yield self._document(row, block[[place]])
                row += 1

    def _document(self, row: int, counts: SparseLike) -> Document:
        ids, titles = self.doc_ids, self.documents.titles
        words = [self.vocabulary[column] for column in counts.indices.tolist()]
        return Document(
            None if ids is None else ids[row], None if titles is None else titles[row],
            dict(zip(words, counts.data.tolist(), strict=True)), self.documents.row(row),
        )  # fmt: skip

    def _selected(self, rows: IntArray) -> Corpus:
        """Return the corpus of these rows, in this order."""
        before = self.__dict__.get("_words_before")
        return self._part(
            self.counts[rows], self.vocabulary, rows, vocabulary_rule=self.vocabulary_rule, _words_before=before
        )

    def _part(self, counts: SparseLike, words: Sequence[str], rows: IntArray, **attributes: Any) -> Corpus:
        """Return a corpus of some rows of this one."""
        names = None if self.doc_ids is None else tuple(self.doc_ids[row] for row in rows.tolist())
        table = table_of(self.documents.take(rows), rows.size, None, names)
        return made_of_checked(
            counts=counts, vocabulary=tuple(words), doc_ids=names, documents=table, text_rule=self.text_rule,
            tokenized=self.tokenized, kept_rows=read_only(rows), **attributes,
        )  # fmt: skip

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return consecutive documents as CSR arrays: what a streaming fit goes through, pass by pass."""
        for rows in row_slices(self.counts):
            yield partial(self.counts.__getitem__, rows)

    def blocks(self) -> Iterator[SparseLike]:
        """Consecutive documents as CSR arrays of counts."""
        return (block() for block in self.lazy_blocks())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the corpus as a folder, whole or not at all; :func:`anchorwords.open_corpus` opens it.

        An existing corpus there is replaced, anything else is left alone.
        """
        about = About(
            None if self.text_rule is None else self.text_rule.to_dict(),
            None if self.vocabulary_rule is None else self.vocabulary_rule.to_dict(),
            {name: self.documents.column(name) for name in self.documents}, self.documents.title,
            self.tokenized,
        )  # fmt: skip
        save_corpus(path, self.blocks(), self.vocabulary, self.doc_ids, about)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._facts()})"

    def _facts(self) -> str:
        """Describe the corpus in one line."""
        facts = [
            f"{self.n_docs:,} documents, {self.n_words:,} words{self._token_facts()}",
            f"columns: {', '.join(self.documents)}" if self.documents else "",
            "pruned" if self.vocabulary_rule is not None else "",
        ]
        return "; ".join(fact for fact in facts if fact)

    def _token_facts(self) -> str:
        per_document = f", {self.n_tokens / self.n_docs:,.0f} per document" if self.n_docs else ""
        return f", {self.n_tokens:,} tokens{per_document}"

    def duplicates(self, *, near: bool = True) -> Duplicates:
        """Find documents that repeat an earlier one exactly or, with ``near``, in at least 90% of their words.

        Near repetitions are found by hashing, which misses few of them. See :meth:`drop_duplicates`.
        """
        return find_duplicates(self.blocks, self.n_words, near=near)

    def drop_duplicates(self, *, near: bool = True) -> Corpus:
        """Return the corpus without the documents that :meth:`duplicates` finds; the first of each stays."""
        return self[~self.duplicates(near=near).repeats]

    def counted_from(self, other: Corpus) -> Self:
        """Return the same, with ``kept_rows`` in the corpus that ``other``, which this one was made from, was made from."""
        same = copy(self)
        assert self.kept_rows is not None
        assert other.kept_rows is not None
        same.__dict__.update(kept_rows=read_only(other.kept_rows[self.kept_rows]))
        return same

    def text_preset(self) -> dict[str, Any]:
        """Return arguments of :meth:`prune` that give readable topics for text; ``anchorwords fit`` uses them by default.

        Remove English stop words, words in fewer than 5 documents or a fifth of the square root of their number, words in
        more than half of the documents, and all but the best 50,000: ``corpus.prune(**corpus.text_preset())``. See
        :class:`VocabularyRule` for the same as a rule.
        """
        rule = VocabularyRule.for_text(self.n_docs)
        return {name: getattr(rule, name) for name in ("stop_words", "min_df", "max_df", "n_words")}

    def prune(
        self,
        n_words: int | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
        min_tokens: int = 5,
        min_types: int = 3,
        keep_words: Iterable[str] | None = None,
        *,
        rule: VocabularyRule | None = None,
    ) -> Self:
        """Select words and documents as the paper does.

        First remove stop words and words outside ``min_df`` to ``max_df``. Then keep the ``n_words`` with the largest
        tf * log(floor(M / df)), where M and df are counted before any document is removed. Then remove documents with fewer
        than ``min_tokens`` tokens or ``min_types`` distinct words, and the words that are left in no document.

        Parameters
        ----------
        n_words : int, optional
            Number of words to keep. None keeps all.
        min_df, max_df : int or float
            Fewest and most documents in which a word may occur: an int counts documents, a float is a share of them.
        stop_words : str, path or iterable of str, optional
            The name of a language ("english"), a file with one word per line, or the words themselves.
        min_tokens, min_types : int
            Fewest tokens and fewest distinct words of a document that is kept.
        keep_words : iterable of str, optional
            Words to keep regardless of ``min_df``, ``max_df``, ``stop_words`` and ``n_words``; they count towards
            ``n_words``. A word that does not occur gives a warning with close matches.
        rule : VocabularyRule, optional
            All of the above as one record, such as ``VocabularyRule.for_corpus(corpus)``. Give no other argument with it.

        Returns
        -------
        Corpus
            It remembers the rule in ``vocabulary_rule``, what was removed in ``dropped``, and which documents stayed in
            ``kept_rows``.
        """
        rule = pruning_rule(
            rule, n_words=n_words, min_df=min_df, max_df=max_df, stop_words=stop_words, min_tokens=min_tokens,
            min_types=min_types, keep_words=keep_words,
        )  # fmt: skip
        warn_of_language(self.vocabulary, self.term_frequencies, rule, self.text_rule)
        return self._pruned(rule)

    def _pruned(self, rule: VocabularyRule) -> Self:
        """What the rule keeps."""
        return self._kept(curate(self.counts, self.vocabulary, rule), rule)

    def with_long_documents(self, rule: VocabularyRule, dropped: Dropped, words_before: Sequence[str]) -> Self:
        """Return the documents that are long enough by a rule whose words were chosen while the corpus was read.

        Parameters
        ----------
        rule : VocabularyRule
        dropped : Dropped
            What the choice of words has removed.
        words_before : sequence of str
            The words before.
        """
        words = np.arange(self.n_words)
        kept = long_enough(self.counts, words, self.vocabulary, rule, dropped, len(words_before))
        return self._kept(kept, rule, words_before)

    def _kept(self, kept: Kept, rule: VocabularyRule, words_before: Sequence[str] | None = None) -> Self:
        words = [self.vocabulary[i] for i in kept.words]
        # What stays whole is shared: counts are read-only.
        counts = self.counts if kept.docs.size == self.n_docs else self.counts[kept.docs]
        counts = counts if kept.words.size == self.n_words else counts[:, kept.words]
        if words_before is None:  # those before an earlier pruning, unless nobody knows them any more
            words_before = self.vocabulary if self.vocabulary_rule is None else self.__dict__.get("_words_before")
        pruned: Any = self._part(
            counts, words, kept.docs, vocabulary_rule=rule, dropped=kept.dropped, _words_before=words_before
        )
        return pruned


def made_of_checked(*, counts: SparseLike, **attributes: Any) -> Corpus:
    """Return a corpus of parts of another one, which are not checked again; it may have no documents."""
    for part in (counts.data, counts.indices, counts.indptr):
        part.setflags(write=False)
    corpus = object.__new__(Corpus)
    unset = {"tokenized": False, "vocabulary_rule": None, "dropped": None, "kept_rows": None}
    corpus.__dict__.update(unset | {"counts": counts} | attributes)
    return corpus

"""The frozen Corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from .._typing import IntArray, SparseLike
from .._validation import check_counts, check_vocabulary
from ..exceptions import InputError
from ..storage.corpus_writer import save_corpus
from .parts import row_slices
from .prune import Dropped, curate
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
    text_rule : TextRule, optional
        How text was split into these words; None if the documents were not text. Readers set it, so that new documents can
        be split in the same way.

    Attributes
    ----------
    vocabulary_rule : VocabularyRule or None
        The rule by which :meth:`prune` made this corpus; None if it was not pruned.
    dropped : Dropped or None
        How many words and documents that removed, by reason.
    """

    counts: SparseLike
    vocabulary: tuple[str, ...]
    doc_ids: tuple[str, ...] | None
    text_rule: TextRule | None
    vocabulary_rule: VocabularyRule | None
    dropped: Dropped | None

    def __init__(
        self,
        counts: Any,
        vocabulary: Sequence[str],
        doc_ids: Sequence[str] | None = None,
        *,
        text_rule: TextRule | None = None,
    ) -> None:
        checked = check_counts(counts, "counts")
        for part in (checked.data, checked.indices, checked.indptr):
            part.setflags(write=False)
        words = check_vocabulary(vocabulary, checked.shape[1])
        if words is None:
            raise InputError("vocabulary must name the columns of counts, but is None.")
        names = None if doc_ids is None else tuple(str(name) for name in doc_ids)
        if names is not None and len(names) != checked.shape[0]:
            raise InputError(
                f"doc_ids must name each of the {checked.shape[0]} documents once, but has {len(names)} names."
            )
        object.__setattr__(self, "counts", checked)
        object.__setattr__(self, "vocabulary", words)
        object.__setattr__(self, "doc_ids", names)
        if text_rule is not None and not isinstance(text_rule, TextRule):
            raise InputError(f"text_rule must be a TextRule or None, but is {text_rule!r}.")
        object.__setattr__(self, "text_rule", text_rule)
        object.__setattr__(self, "vocabulary_rule", None)
        object.__setattr__(self, "dropped", None)

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
        rule = None if self.text_rule is None else self.text_rule.to_dict()
        save_corpus(path, self.blocks(), self.vocabulary, self.doc_ids, rule)

    def __repr__(self) -> str:
        return f"Corpus({self.n_docs:,} documents, {self.n_words:,} words, {self.n_tokens:,} tokens)"

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
            It remembers the rule in ``vocabulary_rule`` and what was removed in ``dropped``.
        """
        rule = pruning_rule(
            rule, n_words=n_words, min_df=min_df, max_df=max_df, stop_words=stop_words, min_tokens=min_tokens,
            min_types=min_types, keep_words=keep_words,
        )  # fmt: skip
        return self._pruned(rule)

    def _pruned(self, rule: VocabularyRule) -> Self:
        """What the rule keeps."""
        kept = curate(self.counts, self.vocabulary, rule)
        words = [self.vocabulary[i] for i in kept.words]
        names = None if self.doc_ids is None else [self.doc_ids[m] for m in kept.docs]
        pruned: Any = Corpus(self.counts[kept.docs][:, kept.words], words, names, text_rule=self.text_rule)
        object.__setattr__(pruned, "vocabulary_rule", rule)
        object.__setattr__(pruned, "dropped", kept.dropped)
        return pruned

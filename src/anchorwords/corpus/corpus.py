"""The frozen Corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._typing import IntArray, SparseLike
from .._validation import check_counts, check_vocabulary
from ..exceptions import InputError
from ..storage.corpus_folder import save_corpus
from .parts import row_slices
from .prune import Curation, Dropped, curate, text_preset
from .stopwords import stop_words as as_stop_words


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
    text_rule : dict, optional
        How text was split into these words: what a reader notes down, so that later documents are split alike.

    Attributes
    ----------
    dropped : Dropped or None
        What :meth:`prune`, which made this corpus, left out.
    """

    counts: SparseLike
    vocabulary: tuple[str, ...]
    doc_ids: tuple[str, ...] | None
    text_rule: dict[str, Any] | None
    dropped: Dropped | None

    def __init__(
        self,
        counts: Any,
        vocabulary: Sequence[str],
        doc_ids: Sequence[str] | None = None,
        *,
        text_rule: dict[str, Any] | None = None,
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
        object.__setattr__(self, "text_rule", text_rule)
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
        save_corpus(path, self.blocks(), self.vocabulary, self.doc_ids, self.text_rule)

    def __repr__(self) -> str:
        return f"Corpus({self.n_docs:,} documents, {self.n_words:,} words, {self.n_tokens:,} tokens)"

    def text_preset(self) -> dict[str, Any]:
        """Arguments of :meth:`prune` that have proved readable for text, and that ``anchorwords fit`` uses by default.

        English stop words; words in at least a fifth of the square root of the number of documents, and five; in at most
        half of them; the best 50,000: ``corpus.prune(**corpus.text_preset())``, with what you want otherwise.
        """
        return text_preset(self.n_docs)

    def prune(
        self,
        n_words: int | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
        min_tokens: int = 5,
        min_types: int = 3,
        keep_words: Iterable[str] | None = None,
    ) -> Corpus:
        """Curate the vocabulary as the paper does.

        Stop words and words outside ``min_df`` .. ``max_df`` go; then the ``n_words`` with the largest
        tf * log(floor(M / df)) stay, M and df counted before any document is dropped; then documents with fewer
        than ``min_tokens`` tokens or ``min_types`` distinct words go, and words left in no document with them.

        Parameters
        ----------
        n_words : int, optional
            How many words to keep; without it nothing is ranked.
        min_df, max_df : int or float
            Fewest and most documents a word may be in: a whole number counts documents, a fraction of type float is
            a share of them.
        stop_words : str, path or iterable of str, optional
            The name of a language ("english"), a file with one word a line, or the words themselves.
        min_tokens, min_types : int
            What a document must hold to stay.
        keep_words : iterable of str, optional
            Words that stay whatever ``min_df``, ``max_df``, ``stop_words`` and ``n_words`` say; they take their places
            among the ``n_words``. A word that is not there warns with close matches.

        Returns
        -------
        Corpus
        """
        rule = curation(n_words, min_df, max_df, stop_words, min_tokens, min_types, keep_words)
        kept = curate(self.counts, self.vocabulary, rule)
        words = [self.vocabulary[i] for i in kept.words]
        names = None if self.doc_ids is None else [self.doc_ids[m] for m in kept.docs]
        pruned = Corpus(self.counts[kept.docs][:, kept.words], words, names, text_rule=self.text_rule)
        object.__setattr__(pruned, "dropped", kept.dropped)
        return pruned


def curation(
    n_words: int | None,
    min_df: float,
    max_df: float,
    stop_words: str | os.PathLike[str] | Iterable[str] | None,
    min_tokens: int,
    min_types: int,
    keep_words: Iterable[str] | None = None,
) -> Curation:
    """The arguments of :meth:`Corpus.prune` as a rule."""
    return Curation(
        n_words, min_df, max_df, as_stop_words(stop_words), min_tokens, min_types, _words_to_keep(keep_words)
    )


def _words_to_keep(keep_words: Iterable[str] | None) -> tuple[str, ...]:
    if keep_words is None:
        return ()
    if isinstance(keep_words, (str, bytes)) or not isinstance(keep_words, Iterable):
        raise InputError(f"keep_words must be words in a list, but is {keep_words!r}.")
    words = tuple(keep_words)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"keep_words must be words, but one is {word!r}.")
    return words

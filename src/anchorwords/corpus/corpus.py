"""The frozen Corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import IntArray, SparseLike
from .._validation import check_counts, check_vocabulary
from ..exceptions import InputError
from .prune import Curation, curate


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
    """

    counts: SparseLike
    vocabulary: tuple[str, ...]
    doc_ids: tuple[str, ...] | None

    def __init__(self, counts: Any, vocabulary: Sequence[str], doc_ids: Sequence[str] | None = None) -> None:
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

    def __repr__(self) -> str:
        return f"Corpus({self.n_docs:,} documents, {self.n_words:,} words, {self.n_tokens:,} tokens)"

    def prune(
        self,
        n_words: int | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        stop_words: Iterable[str] | None = None,
        min_tokens: int = 5,
        min_types: int = 3,
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
        stop_words : iterable of str, optional
        min_tokens, min_types : int
            What a document must hold to stay.

        Returns
        -------
        Corpus
        """
        if isinstance(stop_words, str):
            raise InputError(f"stop_words must be a collection of words, but is the single string {stop_words!r}.")
        kept = curate(
            self.counts,
            self.vocabulary,
            Curation(n_words, min_df, max_df, frozenset(stop_words or ()), min_tokens, min_types),
        )
        words = [self.vocabulary[i] for i in kept.words]
        names = None if self.doc_ids is None else [self.doc_ids[m] for m in kept.docs]
        return Corpus(self.counts[kept.docs][:, kept.words], words, names)

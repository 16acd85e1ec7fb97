"""Applying a vocabulary rule: which words and documents of a corpus are kept."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from .._validation import check_positive_integer
from ..exceptions import InputError
from .missing import warn_of_absent, warn_of_missing
from .vocabulary_rule import VocabularyRule, document_limit


class Dropped(NamedTuple):
    """How many words and documents pruning removed, by reason.

    Attributes
    ----------
    stop_words, rare_words, frequent_words : int
        Stop words, words in too few documents, and words in too many.
    words_beyond_cap : int
        Words that are not among the best ``n_words`` by tf-idf.
    short_documents : int
        Documents with too few tokens or distinct words.
    orphaned_words : int
        Words that occur in no document that was kept.
    """

    stop_words: int
    rare_words: int
    frequent_words: int
    words_beyond_cap: int
    short_documents: int = 0
    orphaned_words: int = 0

    def sentence(self, n_docs: int, n_words: int, rule: VocabularyRule) -> str:
        """Describe what this rule removed; ``n_docs`` and ``n_words`` are those that were kept."""
        words = [
            (self.stop_words, "stop words"), (self.rare_words, "too rare"), (self.frequent_words, "too frequent"),
            (self.words_beyond_cap, "beyond the cap"), (self.orphaned_words, "left in no document"),
        ]  # fmt: skip
        parts = ", ".join(f"{number:,} {why}" for number, why in words if number) or "none"
        before = n_words + sum(number for number, _ in words)
        return (
            f"{n_words:,} of {before:,} words kept (left out: {parts}); {n_docs:,} of {n_docs + self.short_documents:,} "
            f"documents kept ({self.short_documents:,} with fewer than {rule.min_tokens} tokens or {rule.min_types} "
            "distinct words)"
        )


class Kept(NamedTuple):
    """Columns and rows that stay, ascending, and what does not."""

    words: IntArray
    docs: IntArray
    dropped: Dropped


def curate(counts: SparseLike, vocabulary: Sequence[str], rule: VocabularyRule) -> Kept:
    """Apply the rule: words first, by frequencies of the whole corpus, then documents, then emptied words."""
    M, N = counts.shape
    df = np.bincount(counts.indices, minlength=N)
    words, dropped = eligible_words(df, np.asarray(counts.sum(axis=0)).ravel(), M, vocabulary, rule)
    return long_enough(counts[:, words], words, vocabulary, rule, dropped, N)


def long_enough(
    part: SparseLike, words: IntArray, vocabulary: Sequence[str], rule: VocabularyRule, dropped: Dropped, n_words: int
) -> Kept:
    """Apply the rest of the rule: documents that hold enough of the chosen words, then emptied words.

    Parameters
    ----------
    part : (M, n) CSR array
        Counts of the chosen words.
    words : (n,) array
        Their places in the vocabulary.
    vocabulary : sequence of str
    rule : VocabularyRule
    dropped : Dropped
        What the choice of words has removed.
    n_words : int
        Number of words before the choice, for messages.
    """
    M, N = part.shape[0], n_words
    docs = np.flatnonzero(long_documents(part, rule))
    left = part if docs.size == M else part[docs]
    alive = np.bincount(left.indices, minlength=words.size) > 0
    require_something_left(docs.size, alive, M, N)
    warn_of_kept_and_lost(words[~alive], vocabulary, rule)
    dropped = dropped._replace(short_documents=M - docs.size, orphaned_words=int((~alive).sum()))
    return Kept(words[alive], docs, dropped)


def eligible_words(
    df: IntArray, tf: FloatArray, n_docs: int, vocabulary: Sequence[str], rule: VocabularyRule, *, by_name: bool = False
) -> tuple[IntArray, Dropped]:
    """Words the rule admits by their frequencies, ascending.

    Of words with the same tf-idf, those that come first are the better ones; with ``by_name``, those whose names do.
    """
    if rule.n_words is not None:
        check_positive_integer(rule.n_words, "n_words")
    for name, least in (("min_tokens", rule.min_tokens), ("min_types", rule.min_types)):
        if not isinstance(least, numbers.Real) or least < 0:
            raise InputError(f"{name} must be a non-negative number, but is {least!r}.")
    fewest, most = document_limit(rule.min_df, n_docs, "min_df"), document_limit(rule.max_df, n_docs, "max_df")
    if fewest > most:
        raise InputError(
            f"min_df={rule.min_df} asks for words in at least {math.ceil(fewest)} documents, max_df={rule.max_df} for words "
            f"in at most {math.floor(most)}, of {n_docs}: min_df must not exceed max_df; loosen one, or give more documents."
        )
    wanted = _wanted_words(df.size, vocabulary, rule)
    stopped = np.zeros(df.size, dtype=bool)
    if stop_words := rule.stop_set:
        stopped = np.fromiter((word in stop_words for word in vocabulary), dtype=bool, count=df.size) & ~wanted
    rare = ~stopped & ~wanted & (df < max(fewest, 1))
    frequent = ~stopped & ~rare & ~wanted & (df > most)
    words = np.flatnonzero(~(stopped | rare | frequent))
    n_eligible = words.size
    if rule.n_words is not None and words.size > rule.n_words:
        # Wanted words first, whatever their score; the others fill what is left of the cap.
        score = np.where(wanted, np.inf, tf_idf(tf, df, n_docs))
        n_best = max(rule.n_words, int(wanted.sum()))
        if by_name:
            words = words[np.argsort(np.array([vocabulary[i] for i in words.tolist()], dtype=object), kind="stable")]
        words = np.sort(words[np.argsort(-score[words], kind="stable")[:n_best]])
    return words, Dropped(int(stopped.sum()), int(rare.sum()), int(frequent.sum()), n_eligible - words.size)


def _wanted_words(n_words: int, vocabulary: Sequence[str], rule: VocabularyRule) -> BoolArray:
    """Which words stay in any case; warns of those that are not there."""
    if not rule.keep_words:
        return np.zeros(n_words, dtype=bool)
    names = frozenset(rule.keep_words)
    wanted = np.fromiter((word in names for word in vocabulary), dtype=bool, count=n_words)
    if int(wanted.sum()) < len(names):
        known = {vocabulary[int(i)] for i in np.flatnonzero(wanted)}
        missing = [word for word in dict.fromkeys(rule.keep_words) if word not in known]
        warn_of_missing(missing, vocabulary, "keep_words", stacklevel=6)
    return wanted


def warn_of_kept_and_lost(lost: IntArray, vocabulary: Sequence[str], rule: VocabularyRule) -> None:
    """Warn of words that were to be kept, but lie in no document that stays."""
    if rule.keep_words and lost.size:
        names = frozenset(rule.keep_words)
        warn_of_absent([vocabulary[i] for i in lost.tolist() if vocabulary[i] in names], "keep_words", stacklevel=5)


def long_documents(part: SparseLike, rule: VocabularyRule) -> BoolArray:
    """Which documents, their columns already chosen, hold enough to stay."""
    tokens = np.asarray(part.sum(axis=1)).ravel()
    return (np.diff(part.indptr) >= rule.min_types) & (tokens >= rule.min_tokens)


def require_something_left(n_docs: int, alive: BoolArray, n_docs_before: int, n_words_before: int) -> None:
    """Raise InputError where the rule leaves nothing."""
    if n_docs == 0 or not alive.any():
        raise InputError(
            f"nothing is left after pruning {n_docs_before} documents and {n_words_before} words: loosen min_df, max_df, "
            "min_tokens or min_types."
        )


def tf_idf(tf: FloatArray, df: IntArray, n_docs: int) -> FloatArray:
    """Tf * log(floor(M / df)); 0 for a word in more than half of the documents or in none."""
    return tf * np.log(np.maximum(np.floor(n_docs / np.maximum(df, 1)), 1.0))

"""Which words and documents to keep: the paper's curation of a vocabulary."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from .._validation import check_positive_integer
from ..exceptions import InputError
from .missing import warn_of_absent, warn_of_missing


class Curation(NamedTuple):
    """The rule; see :meth:`Corpus.prune`."""

    n_words: int | None
    min_df: float
    max_df: float
    stop_words: frozenset[str]
    min_tokens: int
    min_types: int
    keep_words: tuple[str, ...] = ()


class Dropped(NamedTuple):
    """What a curation left out.

    Attributes
    ----------
    stop_words, rare_words, frequent_words : int
        Words on the list, in too few documents, and in too many.
    words_beyond_cap : int
        Words that others surpass in tf-idf.
    short_documents : int
        Documents left with too little.
    orphaned_words : int
        Words left in no document.
    """

    stop_words: int
    rare_words: int
    frequent_words: int
    words_beyond_cap: int
    short_documents: int = 0
    orphaned_words: int = 0


class Kept(NamedTuple):
    """Columns and rows that stay, ascending, and what does not."""

    words: IntArray
    docs: IntArray
    dropped: Dropped


def curate(counts: SparseLike, vocabulary: Sequence[str], rule: Curation) -> Kept:
    """Apply the rule: words first, by frequencies of the whole corpus, then documents, then emptied words."""
    M, N = counts.shape
    df = np.bincount(counts.indices, minlength=N)
    words, dropped = eligible_words(df, np.asarray(counts.sum(axis=0)).ravel(), M, vocabulary, rule)
    part = counts[:, words]
    docs = np.flatnonzero(long_documents(part, rule))
    alive = np.bincount(part[docs].indices, minlength=words.size) > 0
    require_something_left(docs.size, alive, M, N)
    warn_of_kept_and_lost(words[~alive], vocabulary, rule)
    dropped = dropped._replace(short_documents=M - docs.size, orphaned_words=int((~alive).sum()))
    return Kept(words[alive], docs, dropped)


def eligible_words(
    df: IntArray, tf: FloatArray, n_docs: int, vocabulary: Sequence[str], rule: Curation
) -> tuple[IntArray, Dropped]:
    """Words the rule admits by their frequencies, ascending."""
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
    if rule.stop_words:
        stopped = np.fromiter((word in rule.stop_words for word in vocabulary), dtype=bool, count=df.size) & ~wanted
    rare = ~stopped & ~wanted & (df < max(fewest, 1))
    frequent = ~stopped & ~rare & ~wanted & (df > most)
    words = np.flatnonzero(~(stopped | rare | frequent))
    n_eligible = words.size
    if rule.n_words is not None and words.size > rule.n_words:
        # Wanted words first, whatever their score; the others fill what is left of the cap.
        score = np.where(wanted, np.inf, tf_idf(tf, df, n_docs))
        n_best = max(rule.n_words, int(wanted.sum()))
        words = np.sort(words[np.argsort(-score[words], kind="stable")[:n_best]])
    return words, Dropped(int(stopped.sum()), int(rare.sum()), int(frequent.sum()), n_eligible - words.size)


def _wanted_words(n_words: int, vocabulary: Sequence[str], rule: Curation) -> BoolArray:
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


def warn_of_kept_and_lost(lost: IntArray, vocabulary: Sequence[str], rule: Curation) -> None:
    """Warn of words that were to be kept, but lie in no document that stays."""
    if rule.keep_words and lost.size:
        names = frozenset(rule.keep_words)
        warn_of_absent([vocabulary[i] for i in lost.tolist() if vocabulary[i] in names], "keep_words", stacklevel=5)


def long_documents(part: SparseLike, rule: Curation) -> BoolArray:
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


def text_preset(n_docs: int) -> dict[str, Any]:
    """The rule that has proved readable for text: see docs/corpora.md.

    English stop words go; words in fewer documents than a fifth of the square root of their number, and than five, as rows
    of rare words are noise and noise makes anchors; words in more than half of them; and all but the best 50,000.
    """
    return {
        "stop_words": "english", "min_df": max(5, round(math.sqrt(n_docs) / 5.0)), "max_df": 0.5, "n_words": 50_000,
    }  # fmt: skip


def tf_idf(tf: FloatArray, df: IntArray, n_docs: int) -> FloatArray:
    """Tf * log(floor(M / df)); 0 for a word in more than half of the documents or in none."""
    return tf * np.log(np.maximum(np.floor(n_docs / np.maximum(df, 1)), 1.0))


def document_limit(value: float, n_docs: int, name: str) -> float:
    """A number of documents: a whole number is one, a fraction of type float a share of all."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        if value < 0:
            raise InputError(f"{name} must not be negative, but is {value!r}.")
        return int(value)
    if not isinstance(value, numbers.Real) or not 0.0 <= value <= 1.0:
        raise InputError(
            f"{name} must be a whole number of documents or a share between 0.0 and 1.0, but is {value!r}."
        )
    # Nudge against rounding: 0.1 of 30 documents is 3, not 3.0000000000000004.
    share = float(value) * n_docs
    return round(share) if abs(share - round(share)) < 1e-9 * max(share, 1.0) else share

"""Which words and documents to keep: the paper's curation of a vocabulary."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_positive_integer
from ..exceptions import InputError


class Curation(NamedTuple):
    """The rule; see :meth:`Corpus.prune`."""

    n_words: int | None
    min_df: float
    max_df: float
    stop_words: frozenset[str]
    min_tokens: int
    min_types: int


class Kept(NamedTuple):
    """Columns and rows that stay, ascending."""

    words: IntArray
    docs: IntArray


def curate(counts: SparseLike, vocabulary: Sequence[str], rule: Curation) -> Kept:
    """Apply the rule: words first, by frequencies of the whole corpus, then documents, then emptied words."""
    if rule.n_words is not None:
        check_positive_integer(rule.n_words, "n_words")
    for name, least in (("min_tokens", rule.min_tokens), ("min_types", rule.min_types)):
        if not isinstance(least, numbers.Real) or least < 0:
            raise InputError(f"{name} must be a non-negative number, but is {least!r}.")
    M, N = counts.shape
    df = np.bincount(counts.indices, minlength=N)
    fewest, most = _document_limit(rule.min_df, M, "min_df"), _document_limit(rule.max_df, M, "max_df")
    if fewest > most:
        raise InputError(f"min_df={rule.min_df} must not exceed max_df={rule.max_df}.")
    eligible = (df >= max(fewest, 1)) & (df <= most)
    if rule.stop_words:
        eligible &= np.array([word not in rule.stop_words for word in vocabulary])
    words = np.flatnonzero(eligible)
    if rule.n_words is not None and words.size > rule.n_words:
        score = tf_idf(np.asarray(counts.sum(axis=0)).ravel(), df, M)
        words = np.sort(words[np.argsort(-score[words], kind="stable")[: rule.n_words]])
    part = counts[:, words]
    types = np.diff(part.indptr)
    tokens = np.asarray(part.sum(axis=1)).ravel()
    docs = np.flatnonzero((types >= rule.min_types) & (tokens >= rule.min_tokens))
    alive = np.bincount(part[docs].indices, minlength=words.size) > 0
    if docs.size == 0 or not alive.any():
        raise InputError(
            f"nothing is left after pruning {M} documents and {N} words: loosen min_df, max_df, min_tokens or min_types."
        )
    return Kept(words[alive], docs)


def tf_idf(tf: FloatArray, df: IntArray, n_docs: int) -> FloatArray:
    """Tf * log(floor(M / df)); 0 for a word in more than half of the documents or in none."""
    return tf * np.log(np.maximum(np.floor(n_docs / np.maximum(df, 1)), 1.0))


def _document_limit(value: float, n_docs: int, name: str) -> float:
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

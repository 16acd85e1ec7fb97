"""How the words of a topic are put in order: by keyword weights, by probability, by relevance, by FREX.

Notation
--------
B : (N, K)   p(word | topic)
pi : (K,)    p(topic)
p = B pi     p(word) as the model has it

Columns are copied a few at a time, so that memory beyond B stays that of a few columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..exceptions import InputError

RANKINGS = ("keywords", "probability", "relevance", "frex", "characteristic")
# Of the word's probability; the rest is that of its lift, or of its exclusivity.
_DEFAULT_WEIGHT = {"relevance": 0.6, "frex": 0.5}
# Scores that agree to so many digits are ties: words of one topic alone all have the same lift but for rounding.
_DIGITS = 12
# Numbers of B copied at a time, 16 MB.
_COPIED = 1 << 21


def check_ranking(ranking: Any, weight: Any = None) -> float:
    """The weight to use, or InputError where there is no such ranking, or it takes no weight, or not this one."""
    if ranking not in RANKINGS:
        raise InputError(f"ranking must be one of {', '.join(map(repr, RANKINGS))}, but is {ranking!r}.")
    if ranking not in _DEFAULT_WEIGHT:
        if weight is not None:
            raise InputError(f"ranking {ranking!r} takes no weight: leave it out, or rank by 'relevance' or 'frex'.")
        return 1.0
    if weight is None:
        return _DEFAULT_WEIGHT[ranking]
    if not isinstance(weight, (int, float, np.number)) or isinstance(weight, bool) or not 0 <= weight <= 1:
        raise InputError(f"weight must be a number from 0 to 1, but is {weight!r}.")
    return float(weight)


def by_relevance(
    B: FloatArray, prevalence: FloatArray, n: int, weight: float, *, topics: Sequence[int] | None = None
) -> list[IntArray]:
    """The n words of each topic with the largest weight log B_ik + (1 - weight) log(B_ik / p_i) (LDAvis).

    p is the model's own B pi, not ``word_probs``: only then is the lift p(topic | word) / p(topic), at most 1 / p(topic) and
    finite wherever B is positive, also after B was refined. pyLDAvis divides by the same. ``topics`` are the columns to
    rank, all by default.
    """
    # A topic of no prevalence may have words that no other has: any positive p puts them in the order of B.
    log_p = np.log(np.maximum(word_probabilities(B, prevalence), np.finfo(np.float64).tiny))
    tops = []
    for column in columns_of(B if topics is None else B[:, list(topics)]):
        words = np.flatnonzero(column > 0.0)
        scores = np.log(column[words]) - (1.0 - weight) * log_p[words]
        tops.append(words[largest(np.round(scores, _DIGITS), n)])
    return tops


def by_frex(B: FloatArray, n: int, weight: float) -> list[IntArray]:
    """The n words of each topic with the largest 1 / (weight / F + (1 - weight) / E) (Bischof and Airoldi).

    F is the share of the topic's words that are no more probable in it, E the share that is no more exclusive, exclusivity
    being B_ik / sum_l B_il. A topic's words are those of positive probability: others would only lift the ranks of all.
    """
    sums = B.sum(axis=1)
    tops = []
    for column in columns_of(B):
        words = np.flatnonzero(column > 0.0)
        frequency = column[words]
        F, E = _ecdf(frequency), _ecdf(np.round(frequency / sums[words], _DIGITS))
        tops.append(words[largest(np.round(1.0 / (weight / F + (1.0 - weight) / E), _DIGITS), n)])
    return tops


def largest(scores: FloatArray, n: int) -> IntArray:
    """Places of the n largest scores, largest first, ties in order of place."""
    if n < scores.size:
        # Only what is at least as large as the n-th is put in order.
        reach = np.flatnonzero(scores >= np.partition(scores, scores.size - n)[scores.size - n])
    else:
        reach = np.arange(scores.size)
    return reach[np.argsort(-scores[reach], kind="stable")][:n]


def word_probabilities(B: FloatArray, prevalence: FloatArray) -> FloatArray:
    """The model's own p = B pi."""
    return B @ prevalence


def columns_of(B: FloatArray) -> Iterator[FloatArray]:
    """Columns of B, each contiguous."""
    step = max(1, _COPIED // max(1, B.shape[0]))
    for start in range(0, B.shape[1], step):
        yield from np.ascontiguousarray(B[:, start : start + step].T)


def given_top(top: Any, n: int, n_words: int | None = None, n_topics: int | None = None) -> list[IntArray]:
    """The first n of each of these lists of columns, or InputError unless they are distinct columns, a list a topic."""
    check_positive_integer(n, "n")
    if isinstance(top, (str, bytes)) or not isinstance(top, (Sequence, np.ndarray)) or len(top) == 0:
        raise InputError("top must be a list of columns a topic, such as top_indices gives.")
    if n_topics is not None and len(top) != n_topics:
        raise InputError(f"top must hold a list a topic, {n_topics} of them, but holds {len(top)}.")
    checked = []
    for k, given in enumerate(top):
        words = np.asarray(given)
        if words.ndim != 1 or (words.size and words.dtype.kind not in "iu"):
            raise InputError(f"top[{k}] must be a list of columns, whole numbers, but is {given!r}.")
        if words.size and (words.min() < 0 or (n_words is not None and words.max() >= n_words)):
            raise InputError(f"top[{k}] must hold columns from 0 to {n_words or 'N'} - 1, but holds {words.tolist()}.")
        if np.unique(words).size != words.size:
            raise InputError(f"top[{k}] must hold each word once, but holds {words.tolist()}.")
        checked.append(words[:n].astype(np.intp))
    return checked


def _ecdf(values: FloatArray) -> FloatArray:
    """Share of the values that are at most each of them."""
    return np.searchsorted(np.sort(values), values, side="right") / max(1, values.size)

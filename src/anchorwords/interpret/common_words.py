"""Candidates for stop words: frequent words that all topics have alike.

Notation
--------
pi : (K,)     p(topic); p_i = sum_k B_ik pi_k is p(word i)
q_ik = B_ik pi_k / p_i, p(topic | word)
KL_i = sum_k q_ik log(q_ik / pi_k), what the word tells about the topic: 0 where nothing
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..model import as_topic_model
from ..records import TableList
from ..records.table import Table, fixed_field, small_field, table_of, text_field
from .ranking import columns_of, largest, word_probabilities
from .topic_words import words_of


class CommonWords(TableList):
    """Candidates for stop words, one dict per word; see :func:`common_words`."""

    def _tables(self, max_rows: int | None) -> list[Table]:
        fields = [
            text_field("word", strong=True),
            small_field("probability", "of all tokens"),
            fixed_field("spread", "spread over topics", bar=True),
        ]
        caption = "Frequent words spread evenly over topics: candidates for stop words"
        return [table_of(list(self), fields, caption, max_rows=max_rows, noun="words")]


def common_words(
    model: Any, n: int = 20, *, min_spread: float = 0.5, vocabulary: Sequence[str] | None = None
) -> CommonWords:
    """Frequent words spread evenly over topics: candidates for the stop words of a next fit.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    n : int
        Words to list at most.
    min_spread : float
        Leave out words that are less evenly spread, from 0 to 1.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else their indices.

    Returns
    -------
    CommonWords
        A list of dicts that displays as a table and has ``to_frame()``. Keys are ``word``, ``probability`` (the model's
        p(word)) and ``spread``, from 0 to 1: exp(-KL) of p(topic | word) from the prevalence. A word that tells nothing
        about the topic has spread 1, one that some topics share evenly has their share of all tokens, and an anchor has
        the prevalence of its topic. Words are listed by probability times spread, largest first, with ties in order of
        index; words without probability are not listed.
    """
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    if not isinstance(min_spread, (int, float, np.number)) or not 0 <= min_spread <= 1:
        raise InputError(f"min_spread must be a number from 0 to 1, but is {min_spread!r}.")
    words = words_of(record, vocabulary)
    p = word_probabilities(record.B, record.prevalence)
    spread = spread_over_topics(record.B, record.prevalence)
    scores = np.where(spread >= min_spread, p * spread, 0.0)
    return CommonWords(
        {"word": words[i], "probability": float(p[i]), "spread": float(spread[i])}
        for i in largest(scores, n)
        if scores[i] > 0.0
    )


def spread_over_topics(B: FloatArray, prevalence: FloatArray) -> FloatArray:
    """exp(-KL_i) of each word, 0 where it has no probability."""
    p = word_probabilities(B, prevalence)
    information = np.zeros(p.size)
    for column, share in zip(columns_of(B), prevalence, strict=True):
        if share > 0.0:
            held = np.flatnonzero((column > 0.0) & (p > 0.0))
            lift = column[held] / p[held]  # q_ik / pi_k
            information[held] += share * lift * np.log(lift)
    # KL is not negative but for rounding.
    return np.where(p > 0.0, np.exp(-np.maximum(information, 0.0)), 0.0)

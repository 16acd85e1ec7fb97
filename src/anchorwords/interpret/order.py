"""Orders in which topics are listed.

Notation
--------
B : (N, K)   p(word | topic)
pi : (K,)    p(topic)
p = B pi     p(word)
D_k = sum_i B_ik log(B_ik / p_i)    divergence of a topic from the corpus (Kullback-Leibler), in nats

A topic of common words, such as "don't just think like", is often the most prevalent one and says least. Its D_k is small,
because its words are distributed almost like those of the corpus. The reading order sorts by pi_k max(D_k - D_0, 0) with
D_0 half of the mean divergence sum_k pi_k D_k. The sum of pi_k D_k is the mutual information of topic and word, so pi_k D_k
is what a topic contributes to it; the offset keeps a topic that is vague but large from making up by size for what it lacks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..model import as_topic_model
from .ranking import columns_of, word_probabilities

# Topics less specific than this share of the mean divergence are listed last, by divergence.
_VAGUE = 0.5


def topic_divergence(model: Any) -> FloatArray:
    """Return how far the words of each topic differ from those of the corpus.

    Parameters
    ----------
    model : TopicModel or fitted estimator

    Returns
    -------
    (K,) array
        The Kullback-Leibler divergence of p(word | topic) from p(word), in nats: 0 for a topic whose words are distributed
        as in the corpus, at most -log p(topic) for a topic that shares no word with another.
    """
    record = as_topic_model(model)
    p = word_probabilities(record.B, record.prevalence)
    found = np.zeros(record.n_components)
    for k, column in enumerate(columns_of(record.B)):
        held = (column > 0.0) & (p > 0.0)
        found[k] = float((column[held] * np.log(column[held] / p[held])).sum())
    return np.maximum(found, 0.0)


def reading_order(model: Any) -> list[int]:
    """Return the ids of the topics in the order in which they are best read: large and specific topics first.

    Parameters
    ----------
    model : TopicModel or fitted estimator

    Returns
    -------
    list of K int
        Ids by pi_k (D_k - D_0), largest first, with the prevalence pi_k, the divergence D_k of the topic's words from
        those of the corpus (:func:`topic_divergence`) and D_0 half of the mean of D over the words of the corpus. Topics
        below D_0, which are mostly made of common words, come last.
    """
    record = as_topic_model(model)
    return [record.ids[k] for k in reading_positions(record)]


def reading_positions(model: Any) -> IntArray:
    """As :func:`reading_order`, by position in the model."""
    record = as_topic_model(model)
    divergence, prevalence = topic_divergence(record), record.prevalence
    excess = divergence - _VAGUE * float(prevalence @ divergence)
    score = np.where(excess > 0.0, prevalence * excess, excess)
    # Ten digits: topics that are alike keep the order of prevalence, whatever rounding does.
    return np.lexsort((np.arange(score.size), -prevalence, -np.round(score, 10)))

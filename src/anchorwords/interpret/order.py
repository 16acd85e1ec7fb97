"""The order in which topics are best read.

Notation
--------
B : (N, K)   p(word | topic)
A : (K, K)   p(topic, topic') of two tokens of a document
pi : (K,)    p(topic) = A e
p = B pi     p(word)
V_k = A_kk - pi_k^2                 variance over documents of the proportion of topic k
D_k = sum_i B_ik log(B_ik / p_i)    divergence of a topic from the corpus (Kullback-Leibler), in nats
D   = sum_k pi_k D_k                its mean: the mutual information of topic and word

Prevalence alone puts topics of common words first, such as "don't just think like": every document has some of them. The
variance is large for topics that fill a good part of some documents and none of others, which is what people call the
subject of a document. Topics of common words are also recognised by their divergence, which is small because their words
are distributed almost like those of the corpus. The reading order therefore sorts by V_k times a factor that is 1 for
topics with at least three quarters of the mean divergence and falls to 0 at half of it; topics below that come last. A
larger divergence earns nothing: it often means debris, such as signatures or passages in another language.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..model import as_topic_model
from .ranking import columns_of, word_probabilities

# Shares of the mean divergence: at most the first, a topic is vague and listed last; from the second on, it is specific.
# Conventions, chosen by reading lists of topics of six corpora; no measurement singles them out.
_VAGUE, _SPECIFIC = 0.5, 0.75


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
    """Return the ids of the topics in the order in which they are best read: the main subjects of documents first.

    Parameters
    ----------
    model : TopicModel or fitted estimator

    Returns
    -------
    list of K int
        Topics whose proportion varies most between documents come first: they are what documents are about. Vague topics,
        whose words are distributed almost like those of the corpus (:func:`topic_divergence`), come last.
    """
    record = as_topic_model(model)
    return [record.ids[k] for k in reading_positions(record)]


def reading_positions(model: Any) -> IntArray:
    """As :func:`reading_order`, by position in the model."""
    record = as_topic_model(model)
    divergence, prevalence = topic_divergence(record), record.prevalence
    mean = float(prevalence @ divergence)
    excess = divergence - _VAGUE * mean
    specific = np.minimum(excess / max((_SPECIFIC - _VAGUE) * mean, np.finfo(np.float64).tiny), 1.0)
    variance = np.maximum(np.diagonal(record.A) - prevalence**2, 0.0)
    score = np.where(excess > 0.0, specific * variance, excess)
    # Ten digits: topics that are alike keep the order of prevalence, whatever rounding does.
    return np.lexsort((np.arange(score.size), -prevalence, -np.round(score, 10)))

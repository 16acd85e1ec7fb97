"""How distinct and how correlated topics are (paper, section 5), and the shape of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError
from ..model import TopicModel, as_topic_model
from .coherence import words_to_judge
from .measure import Measure, mean_of


def specificity(model: Any, unigram: Any, *, per_topic: bool = False) -> Any:
    """mean_k KL(B_k || p) in bits, p the row sums of the original C; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    unigram : (N,) array
        Row sums of the original co-occurrence, floored at machine epsilon here.
    per_topic : bool
        The divergence of each topic instead of their mean.
    """
    record = as_topic_model(model)
    p = np.asarray(unigram, dtype=np.float64)
    if p.shape != (record.n_words,):
        raise InputError(
            f"unigram must hold one probability a word, shape ({record.n_words},), but has shape {p.shape}."
        )
    if not np.isfinite(p).all():
        raise InputError("unigram must hold finite probabilities, but contains NaN or infinity.")
    return measure_specificity(record, p).part(per_topic)


def dissimilarity(model: Any, n: int = 20, *, top: Any = None, per_topic: bool = False) -> Any:
    """Mean number, of a topic's top n words, that are in no other topic's top n; higher is better.

    Only words of positive probability count: a topic of fewer than n such words has a list that is shorter. ``top`` holds
    other words to judge, a list of columns a topic, as in :func:`npmi_coherence`; ``model`` may then be None.
    """
    record = None if model is None and top is not None else as_topic_model(model)
    return measure_dissimilarity(record, n, top).part(per_topic)


def relative_dominancy(model: Any, *, per_topic: bool = False) -> Any:
    """mean_k A_kk / |A|_F; lower means more correlation between topics."""
    A = as_topic_model(model).A
    return mean_of(np.diagonal(A) / np.linalg.norm(A)).part(per_topic)


def dominancy(model: Any, *, per_topic: bool = False) -> Any:
    """mean_k A_kk / sum_l A_kl, the older measure; lower means more correlation between topics."""
    return measure_dominancy(as_topic_model(model)).part(per_topic)


def entropy(model: Any, *, per_topic: bool = False) -> Any:
    """mean_k -sum_i B_ik log2 B_ik in bits: 2^entropy words of equal probability would be as spread out."""
    B = as_topic_model(model).B
    return mean_of(-np.sum(B * _log2(B), axis=0)).part(per_topic)


def sparsity(model: Any, *, per_topic: bool = False) -> Any:
    """mean_k (sqrt(n) - |B_k|_1 / |B_k|_2) / (sqrt(n) - 1), n words that occur: 0 is a uniform topic, 1 a single word.

    Hoyer's measure. Where only one word occurs it is 1.
    """
    record = as_topic_model(model)
    root = np.sqrt(np.count_nonzero(record.word_probs > 0.0))
    B = record.B
    if root <= 1.0:
        return mean_of(np.ones(B.shape[1])).part(per_topic)
    return mean_of((root - B.sum(axis=0) / np.linalg.norm(B, axis=0)) / (root - 1.0)).part(per_topic)


def measure_specificity(record: TopicModel, p: FloatArray) -> Measure:
    """Specificity against a unigram of the right length."""
    logs = _log2(record.B) - np.log2(np.maximum(p, np.finfo(np.float64).eps))[:, None]
    return mean_of(np.sum(record.B * logs, axis=0))


def measure_dissimilarity(record: TopicModel | None, n: int = 20, top: Any = None) -> Measure:
    """Dissimilarity of the top n words."""
    tops = words_to_judge(record, n, top, fewest=1, ranking="probability")
    times_listed = np.bincount(np.concatenate(tops))
    return mean_of(np.array([float(np.count_nonzero(times_listed[words] == 1)) for words in tops]))


def measure_dominancy(record: TopicModel) -> Measure:
    """Dominancy; a topic that never occurs has none."""
    sums = record.A.sum(axis=1)
    return mean_of(np.divide(np.diagonal(record.A), sums, out=np.full(sums.size, np.nan), where=sums > 0.0))


def _log2(B: FloatArray) -> FloatArray:
    """Logarithms, 0 where B is 0 (0 log 0 = 0)."""
    return np.log2(np.where(B > 0.0, B, 1.0))

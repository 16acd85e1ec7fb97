"""How distinct and how correlated topics are (paper, section 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError
from ..model import as_topic_model


def specificity(model: Any, unigram: Any) -> float:
    """mean_k KL(B_k || p) in bits, p the row sums of the original C; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    unigram : (N,) array
        Row sums of the original co-occurrence, floored at machine epsilon here.
    """
    B = as_topic_model(model).B
    p = np.asarray(unigram, dtype=np.float64)
    if p.shape != (B.shape[0],):
        raise InputError(f"unigram must hold one probability a word, shape ({B.shape[0]},), but has shape {p.shape}.")
    floor = np.finfo(np.float64).eps
    logs = np.log2(np.where(B > 0.0, B, 1.0)) - np.log2(np.maximum(p, floor))[:, None]
    return float(np.sum(B * logs) / B.shape[1])


def dissimilarity(model: Any, n: int = 20) -> float:
    """Mean number, of a topic's top n words, that are in no other topic's top n; higher is better."""
    B = as_topic_model(model).B
    tops = [set(np.argsort(-B[:, k], kind="stable")[:n].tolist()) for k in range(B.shape[1])]
    unique = [len(top - set().union(*tops[:k], *tops[k + 1 :])) for k, top in enumerate(tops)]
    return float(np.mean(unique))


def relative_dominancy(model: Any) -> float:
    """mean_k A_kk / |A|_F; lower means more correlation between topics."""
    A = as_topic_model(model).A
    return float(np.mean(np.diagonal(A)) / np.linalg.norm(A))


def dominancy(model: Any) -> float:
    """mean_k A_kk / sum_l A_kl, the older measure; lower means more correlation between topics."""
    A: FloatArray = as_topic_model(model).A
    return float(np.mean(np.diagonal(A) / A.sum(axis=1)))

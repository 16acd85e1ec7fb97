"""A whole record from topics that did not come from anchors: anchors for them, and what follows from B and A."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..model import TopicModel
from .guided import Guided

# A word nearly all of which is its topic's can stand for it.
_OWN = 0.9
# Words this near each other in probability, as twins that are always side by side, are taken in the order of the vocabulary:
# the last digits, which differ between seeds and orders of documents, are not to choose between them.
_LEVEL = 1e-5


def with_topics(
    model: TopicModel,
    B: FloatArray,
    A: FloatArray,
    guided: Guided,
    candidates: BoolArray | None,
    history: tuple[float, ...],
) -> TopicModel:
    """The model with these topics and correlations, and everything that depends on them."""
    prevalence = A.sum(axis=1)
    groups, n_given = model.anchor_groups, guided.n_given
    given = groups[:n_given] if groups is not None else tuple((int(word),) for word in model.anchors[:n_given])
    taken = [word for group in given for word in group]
    allowed = np.ones(model.n_words, dtype=bool) if candidates is None else candidates.copy()
    allowed[taken] = False
    if guided.neutral is not None:
        allowed &= ~guided.neutral
    anchors = own_words(B, prevalence, model.anchors[:n_given], allowed)
    if groups is not None:
        groups = given + tuple((int(word),) for word in anchors[n_given:])
    # An anchor is its topic's alone; what that moves is the little that was not its own.
    single = [k for k in range(anchors.size) if groups is None or len(groups[k]) == 1]
    tokens = B @ prevalence
    B = B.copy()
    share = B[anchors[single], single]
    B[anchors[single]] = 0.0
    B[anchors[single], single] = share
    bare = np.flatnonzero(B.sum(axis=0) == 0.0)  # all it held are others' anchors: its own is left
    B[anchors[bare], bare] = 1.0
    B = guided.tied(B / B.sum(axis=0), tokens)
    p = B @ prevalence
    word_topics = np.where(p[:, None] > 0.0, B * prevalence / np.where(p > 0.0, p, 1.0)[:, None], prevalence)
    word_topics[anchors[single]] = np.eye(anchors.size)[single]
    return replace(
        model,
        B=B,
        A=A,
        A_raw_sum=1.0,
        anchors=anchors,
        word_topics=word_topics,
        word_probs=p / p.sum(),
        anchor_rows=None,
        anchor_groups=groups,
        log_likelihood=history,
    )


def own_words(B: FloatArray, prevalence: FloatArray, given: IntArray, allowed: BoolArray) -> IntArray:
    """The most probable word of each topic among those that are nearly its own; given ones first.

    "Nearly" is nine tenths of the largest p(topic | word) that the topic has among the words ``allowed``, of which there
    is one for every topic that is not given. Topics with the most exclusive words choose first, and no word is chosen
    twice.
    """
    joint = B * prevalence
    own = joint / np.maximum(joint.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    free = allowed.copy()
    free[given] = False
    own[~free] = 0.0
    anchors = np.full(B.shape[1], -1, dtype=np.intp)
    anchors[: given.size] = given
    for k in sorted(range(given.size, B.shape[1]), key=lambda k: -own[:, k].max()):
        best = own[:, k].max()
        near = own[:, k] >= _OWN * best if best > 0.0 else free
        likely = np.where(near, B[:, k], -1.0)
        anchors[k] = int(np.argmax(likely >= (1.0 - _LEVEL) * likely.max()))
        own[anchors[k]], free[anchors[k]] = 0.0, False
    return anchors

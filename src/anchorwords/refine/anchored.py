"""A whole record from topics that did not come from anchors: anchors for them, and what follows from B and A."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._namespace import array_namespace, like, to_numpy
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
    B: Any,
    A: FloatArray,
    guided: Guided,
    candidates: BoolArray | None,
    history: tuple[float, ...],
) -> TopicModel:
    """The model with these topics and correlations, and everything that depends on them.

    B may be of any namespace; A and the model are NumPy's.
    """
    xp, prevalence = array_namespace(B), A.sum(axis=1)
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
    prior = like(prevalence, B)
    tokens = B @ prior
    B = xp.asarray(B, copy=True)
    rows, columns = like(anchors[single], B), like(np.array(single, dtype=np.intp), B)
    share = B[rows, columns]
    B[rows] = 0.0
    B[rows, columns] = share
    bare = np.flatnonzero(to_numpy(B.sum(axis=0)) == 0.0)  # all it held are others' anchors: its own is left
    B[like(anchors[bare], B), like(bare, B)] = 1.0
    B = guided.tied(B / B.sum(axis=0), tokens)
    p = B @ prior
    word_topics = xp.where(p[:, None] > 0.0, B * prior / xp.where(p > 0.0, p, 1.0)[:, None], prior)
    word_topics[rows] = like(np.eye(anchors.size)[single], B)
    return replace(
        model,
        B=to_numpy(B),
        A=A,
        A_raw_sum=1.0,
        anchors=anchors,
        word_topics=to_numpy(word_topics),
        word_probs=to_numpy(p / p.sum()),
        anchor_rows=None,
        anchor_groups=groups,
        log_likelihood=history,
    )


def own_words(B: Any, prevalence: FloatArray, given: IntArray, allowed: BoolArray) -> IntArray:
    """The most probable word of each topic among those that are nearly its own; given ones first.

    "Nearly" is nine tenths of the largest p(topic | word) that the topic has among the words ``allowed``, of which there
    is one for every topic that is not given. Topics with the most exclusive words choose first, and no word is chosen
    twice.
    """
    xp = array_namespace(B)
    joint = B * like(prevalence, B)
    own = joint / xp.clip(xp.sum(joint, axis=1, keepdims=True), np.finfo(np.float64).tiny, None)
    free = like(np.where(np.isin(np.arange(allowed.size), given), False, allowed), B)
    own[~free] = 0.0
    anchors = np.full(B.shape[1], -1, dtype=np.intp)
    anchors[: given.size] = given
    most = to_numpy(xp.max(own, axis=0))
    for k in sorted(range(given.size, B.shape[1]), key=lambda k: -most[k]):
        best = xp.max(own[:, k])
        near = own[:, k] >= _OWN * best if best > 0.0 else free
        likely = xp.where(near, B[:, k], -1.0)
        word = int(xp.nonzero(likely >= (1.0 - _LEVEL) * xp.max(likely))[0][0])
        anchors[k], own[word], free[word] = word, 0.0, False
    return anchors

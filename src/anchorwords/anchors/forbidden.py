"""Forbidden topics: the topic that a forbidden word stands for, and a model in which it cannot come back.

A word that the user forbids is often one of many that could stand for the same topic: forbid "des" in a corpus with some
French documents, and "la" is the next best anchor. The rule is therefore about topics:

1. Topics are learned without the ban. If more than half of the forbidden word belongs to one of them, p(topic | word) > 1/2,
   that topic is forbidden. A word that is spread over several topics, such as a common one, stands for none of them, and
   only the word itself is forbidden.
2. Words of which more than half belongs to a forbidden topic are excluded: they cannot be anchors, and they have the same
   probability in every topic. Topics are learned again from the co-occurrence of the other words.

One half is not a tuning parameter. p(topic | word) is the position of the row of a word between the anchors, so that the
distance to the forbidden corner is measured relative to how far the other anchors are from it: above one half, the word is
nearer to the forbidden topic than to all others together. Half is also the smallest share at which no word can belong to
two topics.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._namespace import array_namespace, like, to_numpy
from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from ..model import TopicModel
from ..provenance import ForbiddenTopic
from .dense import anchor_words
from .lowrank import low_rank_anchor_words
from .tandem import Groups, anchor_rows_of

# More than this share of a word must belong to a topic: see above.
_MOST = 0.5


def forbidden_topics(model: TopicModel, forbidden: Any, seeds: Groups) -> tuple[ForbiddenTopic, ...]:
    """Topics of a model that forbidden words stand for; the first topics, which have seeds, are never among them.

    Parameters
    ----------
    model : TopicModel
        Learned without the ban.
    forbidden : iterable of int
        Columns of forbidden words.
    seeds : tuple of tuples of int
        Seed words of the first topics; they are not excluded.
    """
    given = [word for group in seeds for word in group]
    found: dict[int, ForbiddenTopic] = {}
    for word in sorted(forbidden):
        k = int(np.argmax(model.word_topics[word]))
        share = float(model.word_topics[word, k])
        if k < len(seeds) or k in found or share <= _MOST or model.word_probs[word] <= 0.0:
            continue
        own = (model.word_topics[:, k] > _MOST) & (model.B[:, k] > 0.0)
        own[given] = False
        columns = np.flatnonzero(own)
        columns = columns[np.argsort(-model.B[columns, k], kind="stable")]
        found[k] = ForbiddenTopic(int(word), share, float(model.prevalence[k]), tuple(columns.tolist()))
    return tuple(found.values())


def topics_without(
    Y: Any, C: FloatArray | None, K: int, groups: Groups, candidates: BoolArray | None, neutral: BoolArray,
    n_jobs: int | None = None,
) -> TopicModel:  # fmt: skip
    """Topics from the co-occurrence of the words that are not neutral; neutral words are the same in every topic.

    Parameters
    ----------
    Y : (N, K) array or None
        Compression of the co-occurrence, read by LAW; None for AW on the matrix ``C``.
    C : (N, N) array or None
    K : int
    groups, candidates
        Given anchors, and the words among which others are chosen; see :class:`anchorwords.anchors.given.Choice`.
    neutral : (N,) bool array
        Words of forbidden topics.
    n_jobs : int or None
    """
    kept = np.flatnonzero(~neutral)
    place = np.cumsum(~neutral) - 1
    mapped = tuple(tuple(int(place[word]) for word in group) for group in groups)
    allowed = None if candidates is None else candidates[kept]
    if Y is None:
        assert C is not None
        p = np.maximum(C.sum(axis=1), 0.0)
        part = C[np.ix_(kept, kept)]
        model = anchor_words(part / part.sum(), K, anchors=mapped, candidates=allowed, n_jobs=n_jobs)
    else:
        xp = array_namespace(Y)
        p = np.maximum(to_numpy(Y @ xp.sum(Y, axis=0)), 0.0)
        rows = xp.take(Y, like(kept, Y), axis=0)
        size = float(np.linalg.norm(to_numpy(xp.sum(rows, axis=0))))  # the square root of the sum of Y Y'
        model = low_rank_anchor_words(rows / size, anchors=mapped, candidates=allowed, n_jobs=n_jobs)
    return _among_neutral(model, kept, p / p.sum(), Y, C)


def _among_neutral(model: TopicModel, kept: IntArray, p: FloatArray, Y: Any, C: FloatArray | None) -> TopicModel:
    """The model of the kept words among all words; the others have the probability p in every topic."""
    N, K = p.size, model.n_components
    probs = np.zeros(N)
    probs[kept] = model.word_probs
    alike = probs <= 0.0  # also a word that occurs with neutral words alone
    share = float(p[alike].sum())
    B, word_topics = np.zeros((N, K)), np.zeros((N, K))
    B[kept], word_topics[kept] = (1.0 - share) * model.B, model.word_topics
    B[alike], word_topics[alike] = p[alike, None], model.prevalence
    groups = model.anchor_groups
    whole = replace(
        model,
        B=B,
        word_topics=word_topics,
        word_probs=np.where(alike, p, (1.0 - share) * probs),
        anchors=kept[model.anchors],
        anchor_groups=None if groups is None else tuple(tuple(int(kept[i]) for i in group) for group in groups),
        Y=None if Y is None else np.array(to_numpy(Y)),
        anchor_rows=None,
    )
    if C is None:
        return whole

    def rows(words: IntArray) -> SparseLike:
        return sp.csr_array(np.maximum(C[words], 0.0))

    return replace(whole, anchor_rows=anchor_rows_of(whole, rows))

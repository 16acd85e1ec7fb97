"""Topics put together, left out and put in another order, with everything that a model knows of them.

Notation
--------
pi : (K,)       prevalence of the topics, A e
G : (K, L)      ones where a topic belongs to a new one
B_new = B diag(pi) G, columns scaled to sum to one
A_new = G'A G, scaled to sum to one where topics were dropped
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from ..model import Parts, Stability, TopicModel
from ..topic_flag import kept_flags

# Positions of the topics that form each new topic, in the new order. A topic that is in none is dropped.
Groups = Sequence[Sequence[int]]


def regrouped(model: TopicModel, groups: Groups, ids: Sequence[int], labels: Sequence[str] | None) -> TopicModel:
    """Return the model of which each topic is a group of topics.

    Parameters
    ----------
    model : TopicModel
    groups : sequence of sequences of int
    ids, labels : sequence, one per group
        Of the new topics.
    """
    K = model.n_components
    whole = sum(map(len, groups)) == K
    merged = any(len(group) > 1 for group in groups)
    # Parts keep their order, so that inference, which depends on it within its tolerance, gives the same.
    parts = _parts(model, groups, needed=[k for group in groups for k in group] != list(range(K)) or merged)
    # The most prevalent topic of each group gives it its anchor.
    groups = [sorted(group, key=lambda k: (-model.prevalence[k], k)) for group in groups]
    G = np.zeros((K, len(groups)))
    for position, group in enumerate(groups):
        G[group, position] = 1.0
    A = G.T @ model.A @ G
    A = (A + A.T) / 2.0
    if not whole:
        A = _scaled_A(A)
    B = _mixed(model.B, model, groups)
    if whole:
        word_topics, word_probs = model.word_topics @ G, np.asarray(model.word_probs)
    else:
        word_topics, word_probs = by_bayes(B, A.sum(axis=1), model.word_probs)
    anchors = np.array([model.anchors[group[0]] for group in groups], dtype=model.anchors.dtype)
    return replace(
        model,
        B=B,
        A=A,
        anchors=anchors,
        word_topics=word_topics,
        word_probs=word_probs,
        anchor_rows=_anchor_rows(model, groups),
        anchor_groups=_anchor_groups(model, groups) if merged or model.anchor_groups is not None else None,
        composition_dual=model.composition_dual if parts is None else None,
        stability=None if merged or model.stability is None else _stability_of(model.stability, groups),
        labels=None if labels is None else tuple(labels),
        ids=tuple(ids),
        parts=parts,
        flags=kept_flags(model.flags, (model.ids[group[0]] for group in groups if len(group) == 1)),
        keyword_weights=None if model.keyword_weights is None else _mixed(model.keyword_weights, model, groups),
    )


def by_bayes(B: FloatArray, prevalence: FloatArray, word_probs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p(topic | word) and p(word) of topics and their prevalence.

    A word that no topic has gets the prevalence, as words that never occur do. ``word_probs`` tells how the probabilities
    of words are stored.
    """
    joint = B * prevalence
    p = joint.sum(axis=1)
    some = p > 0.0
    word_topics = np.where(some[:, None], joint / np.where(some, p, 1.0)[:, None], prevalence)
    return word_topics / word_topics.sum(axis=1, keepdims=True), (p / p.sum()).astype(word_probs.dtype)


def _mixed(columns: FloatArray, model: TopicModel, groups: Groups) -> FloatArray:
    """Columns of the groups: means of those of their topics, weighted by prevalence, which sum to one as these do."""
    mixed = np.empty((model.n_words, len(groups)), dtype=columns.dtype)
    for position, group in enumerate(groups):
        mixed[:, position] = columns[:, group] @ weights_within(model.prevalence[group])
        if len(group) > 1:
            mixed[:, position] /= mixed[:, position].sum()
    return mixed


def weights_within(prevalence: FloatArray) -> FloatArray:
    """Prevalence of the topics of a group, scaled to sum to one; topics that never occur count alike."""
    total = float(prevalence.sum())
    return prevalence / total if total > 0.0 else np.full(prevalence.size, 1.0 / prevalence.size)


def _scaled_A(A: FloatArray) -> FloatArray:
    """A with sum one. Topics that only occur with topics that were dropped occur in equal parts, by themselves."""
    total = float(A.sum())
    return A / total if total > 0.0 else np.eye(A.shape[0]) / A.shape[0]


def _anchor_rows(model: TopicModel, groups: Groups) -> sp.csr_array | None:
    if model.anchor_rows is None:
        return None
    W = np.zeros((len(groups), model.n_components))
    rows = sp.csr_array(model.anchor_rows)
    some = np.diff(rows.indptr) > 0  # an anchor may occur in no pair
    for position, group in enumerate(groups):
        own = [k for k in group if some[k]]
        if own:
            W[position, own] = weights_within(model.prevalence[own])
    mixed = sp.csr_array(sp.csr_array(W) @ rows)
    mixed.sort_indices()
    return mixed


def _anchor_groups(model: TopicModel, groups: Groups) -> tuple[tuple[int, ...], ...]:
    def words(k: int) -> tuple[int, ...]:
        return (int(model.anchors[k]),) if model.anchor_groups is None else model.anchor_groups[k]

    return tuple(tuple(dict.fromkeys(word for k in group for word in words(k))) for group in groups)


def _stability_of(stability: Stability, groups: Groups) -> Stability:
    """Of topics that were put in another order or left out; their probabilities are those of the model of the fit."""
    first = [group[0] for group in groups]
    return replace(
        stability,
        similarity=stability.similarity[first],
        words=stability.words[first],
        anchor=stability.anchor[first],
        prevalence_low=stability.prevalence_low[first],
        prevalence_high=stability.prevalence_high[first],
        correlation_low=stability.correlation_low[np.ix_(first, first)],
        correlation_high=stability.correlation_high[np.ix_(first, first)],
    )


def _parts(model: TopicModel, groups: Groups, *, needed: bool) -> Parts | None:
    """The parts of the new topics: those of the old ones, or the old topics themselves."""
    before = model.parts
    if before is None:
        if not needed:
            return None
        before = own_parts(model)
    new = np.full(model.n_components + 1, -1)  # the last is for parts that were dropped before
    for position, group in enumerate(groups):
        new[list(group)] = position
    return replace(before, topic_of=new[before.topic_of])


def own_parts(model: TopicModel) -> Parts:
    """The parts of a model; of one that has none, each topic is a part."""
    if model.parts is not None:
        return model.parts
    own: IntArray = np.arange(model.n_components)
    return Parts(model.B, model.A, own, model.composition_dual)

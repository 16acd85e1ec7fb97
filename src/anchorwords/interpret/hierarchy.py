"""A tree of topics: which ones say nearly the same, and what is lost by merging them.

Notation
--------
J : (N, K)   B diag(pi), p(word, topic) of a token
L : (N, K)   B A, p(word', topic): the topic of a token, and another word of its document
f(x)         x log x

The topic of a token carries information about its word, I(word; topic), and about the other words of the document,
I(word'; topic). Merging two topics loses part of both, never less than nothing:
loss(k, l) = sum_i f(J_ik) + f(J_il) - f(J_ik + J_il) - [f(pi_k) + f(pi_l) - f(pi_k + pi_l)], and the same for L. The two
topics with the least loss are merged, again and again: the agglomerative information bottleneck of Slonim and Tishby. B
alone would merge topics that share words, A alone those that share documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..model import as_topic_model
from ..records import TableRecord
from ..records.cells import Cell
from ..records.table import Field, Table, counted, number_field, share_field, table_of
from .naming import topic_names

# Topics of a cluster that are named when it is displayed.
_NAMED = 3
# Entries of a temporary array: 32 MB.
_ENTRIES = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy(TableRecord):
    """Topics as a tree, from :func:`topic_hierarchy`.

    Attributes
    ----------
    linkage : (K - 1, 4) array
        Merges in the format of ``scipy.cluster.hierarchy``: two clusters, the height, the number of topics. Topics are
        numbered by position. The height is the share of the information that is lost so far, from 0 to 1.
    ids : tuple of K int
        Topic ids.
    names : tuple of K str
    order : (K,) int array
        Positions of the topics in an order in which no branches of the tree cross.
    information : float
        I(word; topic) + I(word'; topic) of the model, in nats.
    """

    linkage: FloatArray
    ids: tuple[int, ...]
    names: tuple[str, ...]
    order: IntArray
    information: float

    def cut(self, n_topics: int) -> list[list[int]]:
        """Return the topic ids of each cluster when the tree is cut into so many clusters, in the order of the tree."""
        K, n = len(self.ids), check_positive_integer(n_topics, "n_topics")
        if n > K:
            raise InputError(f"a tree of {K} topics cannot be cut into {n} clusters: ask for at most {K}.")
        clusters = {k: [k] for k in range(K)}
        for step in range(K - n):
            left, right = (int(x) for x in self.linkage[step, :2])
            clusters[K + step] = clusters.pop(left) + clusters.pop(right)
        place = {int(k): rank for rank, k in enumerate(self.order)}
        return [
            [self.ids[k] for k in sorted(cluster, key=place.__getitem__)]
            for cluster in sorted(clusters.values(), key=lambda cluster: min(place[k] for k in cluster))
        ]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per merge: how many topics it leaves, the information that they keep, and what is merged."""
        K, found = len(self.ids), []
        members: dict[int, list[int]] = {k: [k] for k in range(K)}
        for step, (left, right, height, _) in enumerate(self.linkage):
            pair = members[int(left)], members[int(right)]
            members[K + step] = pair[0] + pair[1]
            found.append(
                {
                    "n_topics": K - step - 1,
                    "information_kept": 1.0 - float(height),
                    "topics": [self.ids[k] for k in pair[0]],
                    "with_topics": [self.ids[k] for k in pair[1]],
                    "labels": [self.names[k] for k in pair[0]],
                    "with_labels": [self.names[k] for k in pair[1]],
                }
            )
        return found

    def _tables(self, max_rows: int | None) -> list[Table]:
        fields = [
            number_field("n_topics", "topics left"), share_field("information_kept", "information kept", largest=1.0),
            Field("merged", lambda row: Cell(_cluster(row["topics"], row["labels"])), False, True),
            Field("with", lambda row: Cell(_cluster(row["with_topics"], row["with_labels"])), False, True),
        ]  # fmt: skip
        caption = f"Hierarchy of {counted(len(self.ids), 'topic')}: merges in order, the most similar topics first"
        notes = ["cut(n) returns the clusters, and reduce_topics(model, n) merges them."]
        return [table_of(self.rows(), fields, caption, max_rows=max_rows, noun="merges", notes=notes)]


def _cluster(topics: list[int], labels: list[str]) -> str:
    """The topics of a cluster, by id and label: all of them up to three."""
    shown = ", ".join(f"{topic} {label}" for topic, label in zip(topics[:_NAMED], labels, strict=False))
    return shown if len(topics) <= _NAMED else f"{shown} and {len(topics) - _NAMED} more"


def topic_hierarchy(model: Any) -> Hierarchy:
    """Return a tree of topics, in which the topics that say nearly the same are joined first.

    Cutting the tree is :func:`reduce_topics`; :func:`anchorwords.plot.hierarchy` draws it.

    Parameters
    ----------
    model : TopicModel or fitted estimator

    Returns
    -------
    Hierarchy
    """
    record = as_topic_model(model)
    joint = np.concatenate([record.B * record.prevalence, record.B @ record.A])
    information = _information(joint, record.prevalence)
    merges = _merged(joint, record.prevalence)
    lost = np.cumsum([max(loss, 0.0) for _, _, loss in merges])
    scale = information if information > 0.0 else 1.0
    K = record.n_components
    sizes = np.ones(2 * K - 1)
    linkage = np.zeros((K - 1, 4))
    for step, (left, right, _) in enumerate(merges):
        sizes[K + step] = sizes[left] + sizes[right]
        linkage[step] = left, right, min(lost[step] / scale, 1.0), sizes[K + step]
    return Hierarchy(
        linkage, record.ids, tuple(topic_names(record)), _leaf_order(linkage, record.prevalence), information
    )


def _information(joint: FloatArray, prevalence: FloatArray) -> float:
    """Sum of both kinds of mutual information: sum f(J) - sum f(pi) - sum f(p), twice."""
    return float(xlogy(joint, joint).sum() - 2.0 * xlogy(prevalence, prevalence).sum() - _marginal(joint))


def _marginal(joint: FloatArray) -> float:
    p = joint.sum(axis=1)
    return float(xlogy(p, p).sum())


def _merged(joint: FloatArray, prevalence: FloatArray) -> list[tuple[int, int, float]]:
    """Clusters that are merged one after the other, with what each merge loses; new clusters are numbered from K on."""
    K = prevalence.size
    columns, weights = np.array(joint, order="F"), prevalence.copy()
    numbers, own = list(range(K)), xlogy(columns, columns).sum(axis=0)
    losses = np.full((K, K), np.inf)
    for k in range(K - 1):
        losses[k, k + 1 :] = _losses(columns, own, weights, k, np.arange(k + 1, K))
    alive, merges = np.ones(K, dtype=bool), []
    for step in range(K - 1):
        k, m = (int(x) for x in divmod(int(np.argmin(losses)), K))
        merges.append((numbers[k], numbers[m], float(losses[k, m])))
        columns[:, k] += columns[:, m]
        weights[k] += weights[m]
        own[k], numbers[k], alive[m] = xlogy(columns[:, k], columns[:, k]).sum(), K + step, False
        losses[m, :] = losses[:, m] = np.inf
        others = np.flatnonzero(alive & (np.arange(K) != k))
        if others.size:
            found = _losses(columns, own, weights, k, others)
            losses[np.minimum(k, others), np.maximum(k, others)] = found
    return merges


def _losses(columns: FloatArray, own: FloatArray, weights: FloatArray, k: int, others: IntArray) -> FloatArray:
    """loss(k, l) of one cluster and each of the others."""
    together = np.zeros(others.size)
    step = max(1, _ENTRIES // others.size)
    for start in range(0, columns.shape[0], step):
        part = columns[start : start + step]
        both = part[:, others] + part[:, [k]]
        together += xlogy(both, both).sum(axis=0)
    both = weights[others] + weights[k]
    masses = xlogy(weights[others], weights[others]) + xlogy(weights[k], weights[k]) - xlogy(both, both)
    return own[others] + own[k] - together - 2.0 * masses


def _leaf_order(linkage: FloatArray, prevalence: FloatArray) -> IntArray:
    """Topics from left to right; of two branches the one with the more prevalent topics comes first."""
    K = prevalence.size
    leaves: dict[int, list[int]] = {k: [k] for k in range(K)}
    weight = {k: float(prevalence[k]) for k in range(K)}
    for step, (left, right) in enumerate(linkage[:, :2].astype(int).tolist()):
        first, second = (left, right) if weight[left] >= weight[right] else (right, left)
        leaves[K + step] = leaves.pop(first) + leaves.pop(second)
        weight[K + step] = weight[left] + weight[right]
    return np.array(next(iter(leaves.values())), dtype=np.intp)

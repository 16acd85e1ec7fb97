"""MST-Incoherence: the cheapest way to connect a topic's prominent and characteristic words (paper, section 5).

Notation
--------
C_ij : original co-occurrence of two words; p_i the row sums
NPMI_ij = log(C_ij / (p_i p_j)) / -log C_ij, from -1 (never together) to 1 (never apart)
w_ij = (1 - NPMI_ij) / 2, the weight of an edge, from 0 to 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from .._typing import FloatArray
from .._validation import check_positive_integer
from ..exceptions import UndefinedMetricError
from ..interpret.topic_words import characteristic_indices, prominent_indices
from ..model import TopicModel, as_topic_model
from .measure import Measure, mean_of
from .reference import Reference, as_reference

# Prominent words and characteristic words of a topic that become nodes (the paper's 7 and 7).
N_WORDS = 7


@dataclass(frozen=True)
class TopicTree:
    """Minimum spanning tree over the words of a topic.

    Attributes
    ----------
    topic : int
        Its id.
    anchor : str
    words : tuple of str
        Prominent words first.
    kinds : tuple of str
        "prominent", "characteristic" or "both", for each word.
    edges : tuple of (int, int, float)
        Two positions in ``words`` and the weight (1 - NPMI) / 2 between them.
    weight : float
        Sum of the weights: the topic's MST-Incoherence. 0 for a single word.
    """

    topic: int
    anchor: str
    words: tuple[str, ...]
    kinds: tuple[str, ...]
    edges: tuple[tuple[int, int, float], ...]
    weight: float


def mst_incoherence(model: Any, X: Any, n: int = N_WORDS, *, per_topic: bool = False) -> Any:
    """Weight of the minimum spanning tree over a topic's n prominent and n characteristic words; lower is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
        With ``anchor_rows``, as an estimator's has.
    X : (M, N) counts, Corpus, blocks, Reference, or CooccurrenceOperator
        Where words are seen together: NPMI is that of the original co-occurrence of Eq. 1.
    n : int
        Words of either kind; fewer where fewer have a positive score.
    per_topic : bool
        The weight of each topic's tree instead of their mean.

    Notes
    -----
    Two words that never co-occur have NPMI -1 and an edge of weight 1. The tree grows with the number of words in the
    union, between n and 2 n: its weight is at most 2 n - 1.
    """
    return mean_of(np.array([tree.weight for tree in topic_trees(model, X, n)])).part(per_topic)


def topic_trees(model: Any, X: Any, n: int = N_WORDS, *, rectified: bool = False) -> list[TopicTree]:
    """The tree of each topic, in the order of topic ids.

    Parameters are those of :func:`mst_incoherence`; ``rectified`` takes the characteristic words from the rectified
    co-occurrence Y Y' instead of the original.
    """
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    if record.anchor_rows is None and not rectified:
        raise UndefinedMetricError(
            "this model does not hold the anchors' rows of the original co-occurrence, so that its characteristic words are "
            "not known: fit with AnchorTopicModel."
        )
    prominent, characteristic = prominent_indices(record, n), characteristic_indices(record, n, rectified)
    nodes = [np.concatenate([p, c[~np.isin(c, p)]]) for p, c in zip(prominent, characteristic, strict=True)]
    reference = as_reference(record, Reference.of_operator(X) if hasattr(X, "submatrices") else X)
    together, unigram = reference.operator.submatrices(nodes), reference.unigram
    name = (lambda i: str(i)) if record.vocabulary is None else record.vocabulary.__getitem__
    trees = []
    for k, (index, p, c) in enumerate(zip(nodes, prominent, characteristic, strict=True)):
        edges = spanning_tree(edge_weights(together[k], unigram[index]))
        kinds = np.where(np.isin(index, p), np.where(np.isin(index, c), "both", "prominent"), "characteristic")
        trees.append(
            TopicTree(
                record.ids[k],
                " + ".join(map(name, record.anchors[[k]] if record.anchor_groups is None else record.anchor_groups[k])),
                tuple(name(i) for i in index),
                tuple(kinds.tolist()),
                edges,
                float(sum(weight for _, _, weight in edges)),
            )
        )
    return trees


def measure_incoherence(record: TopicModel, reference: Reference, n: int = N_WORDS) -> Measure:
    """MST-Incoherence on a reference."""
    return mean_of(np.array([tree.weight for tree in topic_trees(record, reference, n)]))


def edge_weights(C: FloatArray, p: FloatArray) -> FloatArray:
    """(1 - NPMI) / 2 of each pair of words; 1 where they never co-occur."""
    seen = C > 0.0
    log_C = np.log(np.where(seen, C, 1.0))
    log_p = np.log(np.where(p > 0.0, p, 1.0))
    # (1 - NPMI) / 2 = 1 - (log p_i + log p_j) / (2 log C_ij); off the diagonal C_ij is at most 1/2, so its log is not 0
    off = seen & ~np.eye(p.size, dtype=bool)
    weights = np.ones_like(C)
    weights[off] = 1.0 - (log_p[:, None] + log_p[None, :])[off] / (2.0 * log_C[off])
    return np.clip(weights, 0.0, 1.0)


def spanning_tree(weights: FloatArray) -> tuple[tuple[int, int, float], ...]:
    """Edges of the minimum spanning tree of the complete graph with these weights."""
    # SciPy's sparse graphs take 0 for no edge: a constant added to every edge changes no tree.
    tree = minimum_spanning_tree(np.triu(weights + 1.0, 1)).tocoo()
    edges = sorted((int(min(i, j)), int(max(i, j))) for i, j in zip(tree.row, tree.col, strict=True))
    return tuple((i, j, float(weights[i, j])) for i, j in edges)

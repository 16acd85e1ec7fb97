"""What the page says of each topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..interpret.association import Association
from ..interpret.order import reading_positions
from ..interpret.topic_table import as_sentence
from ..interpret.topic_words import by_prevalence, stability_by_topic, words_of
from ..metrics.incoherence import TopicTree
from ..model import TopicModel
from .plain import name, number, numbers

# Neighbours of a topic.
_NEIGHBOURS = 10
# Edges of the map: a topic's strongest, and those that are among the few strongest of both their topics, where two topics
# share documents so many times as often as expected.
_EDGES_A_TOPIC = 3
_STRONG = 1.5


def strong_edges(model: TopicModel, association: Association) -> list[list[Any]]:
    """Pairs of topics to join on the map: two ids, their association, and whether it is sure; None if that is not known.

    An association is sure if its interval, which comes from the stability of the model, lies above 1.
    """
    ratio, expected = association.ratio, association.expected
    strong = ratio >= _STRONG
    np.fill_diagonal(strong, False)
    sure = None if model.stability is None else model.stability.correlation_low > expected
    order = np.argsort(-np.where(strong, ratio, 0.0), axis=1, kind="stable")[:, :_EDGES_A_TOPIC]
    chosen = np.zeros_like(strong)
    np.put_along_axis(chosen, order, True, axis=1)
    first = np.zeros_like(strong)
    np.put_along_axis(first, order[:, :1], True, axis=1)
    kept = strong & ((chosen & chosen.T) | first | first.T)
    pairs = zip(*(ends.tolist() for ends in np.nonzero(np.triu(kept, 1))), strict=True)
    return [
        [model.ids[k], model.ids[m], number(ratio[k, m], 3), None if sure is None else bool(sure[k, m])]
        for k, m in pairs
    ]


def topic_rows(
    model: TopicModel,
    place_of: IntArray,
    labels: Sequence[str],
    automatic: Sequence[str],
    lists: Mapping[str, Sequence[IntArray]],
    placed: tuple[FloatArray, FloatArray],
    association: Association,
    measured: Mapping[str, FloatArray],
) -> list[dict[str, Any]]:
    """One dict per topic, in the order of the model.

    Parameters
    ----------
    model : TopicModel
    place_of : (N,) int array
        Place of each column in the page's list of words.
    labels, automatic : sequence of K str
        The names that are shown, and the automatic ones.
    lists : mapping of str to K arrays
        Columns: ``words`` (all that can be listed), ``keywords`` (empty if the model has no keyword weights),
        ``prominent``, ``characteristic``.
    placed : places and radii on the map
    association : Association
        Of the topics of the model.
    measured : mapping of str to (K,) array
        Metrics of each topic.
    """
    p, sure = model.prevalence, stability_by_topic(model)
    words = words_of(model)
    flags = [[flag.sentence(words) for flag in model.flags if topic in flag.topics] for topic in model.ids]
    rank, reading = np.argsort(by_prevalence(model)) + 1, np.argsort(reading_positions(model)) + 1
    rows = []
    for k in range(model.n_components):
        listed = lists["words"][k]
        anchors = [model.anchors[k]] if model.anchor_groups is None else list(model.anchor_groups[k])
        row: dict[str, Any] = {
            "topic": model.ids[k],
            "rank": int(rank[k]),
            "reading": int(reading[k]),
            "label": name(labels[k]),
            "automatic": name(automatic[k]),
            "prevalence": number(p[k]),
            "place": numbers(placed[0][k], 4),
            "radius": number(placed[1][k], 4),
            "anchors": place_of[anchors].tolist(),
            "words": place_of[listed].tolist(),
            "probabilities": numbers(model.B[listed, k], 6),
            "prominent": place_of[lists["prominent"][k]].tolist(),
            "characteristic": place_of[lists["characteristic"][k]].tolist(),
            "neighbours": _neighbours(model, association, k),
            "flags": [name(as_sentence(text)) for text in flags[k]],
        }
        if lists["keywords"]:
            row["keywords"] = place_of[lists["keywords"][k]].tolist()
        row |= {key: number(values[k], 4) for key, values in {**sure, **measured}.items()}
        rows.append(row)
    return rows


def _neighbours(model: TopicModel, association: Association, k: int) -> list[dict[str, Any]]:
    """Topics that share documents with topic k, the most above what is expected first."""
    ratio, expected = association.ratio, association.expected
    order = [int(m) for m in np.argsort(-ratio[k], kind="stable") if m != k and model.A[k, m] > 0.0]
    sure = model.stability
    found = []
    for m in order[:_NEIGHBOURS]:
        entry = {"topic": model.ids[m], "probability": number(model.A[k, m], 4), "affinity": number(ratio[k, m], 4)}
        if sure is not None:
            entry["affinity_low"] = number(sure.correlation_low[k, m] / expected[k, m], 4)
            entry["affinity_high"] = number(sure.correlation_high[k, m] / expected[k, m], 4)
        found.append(entry)
    return found


def tree_of(tree: TopicTree, index: IntArray) -> dict[str, Any]:
    """The minimum spanning tree of a topic; the page lays it out, as only the browser knows how wide letters are.

    Parameters
    ----------
    tree : TopicTree
    index : (n,) int array
        Place of each of its words in the page's list of words.
    """
    return {
        "weight": number(tree.weight, 4),
        "words": index.tolist(),
        "kinds": list(tree.kinds),
        "edges": [[i, j, number(weight, 3)] for i, j, weight in tree.edges],
    }

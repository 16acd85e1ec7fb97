"""Prominent and characteristic words, and a table of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer, check_vocabulary
from ..exceptions import InputError
from ..model import TopicModel, as_topic_model


def prominent_words(model: Any, n: int = 10, *, vocabulary: Sequence[str] | None = None) -> list[list[str]]:
    """The n most probable words of each topic, largest B_ik first.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    n : int
        Words a topic.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else their indices.

    Returns
    -------
    list of K lists of str, in the order of topic ids
    """
    record = as_topic_model(model)
    words = words_of(record, vocabulary)
    return [[words[i] for i in top] for top in prominent_indices(record, n)]


def characteristic_words(
    model: Any, n: int = 10, *, vocabulary: Sequence[str] | None = None, rectified: bool = False
) -> list[list[str]]:
    """The n words that co-occur most with each topic's anchor: largest entries of its row of Cbar.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    n : int
        Words a topic.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else their indices.
    rectified : bool
        Use the rectified co-occurrence Y Y' instead of the original.

    Returns
    -------
    list of K lists of str, in the order of topic ids
    """
    record = as_topic_model(model)
    words = words_of(record, vocabulary)
    return [[words[i] for i in top] for top in characteristic_indices(record, n, rectified=rectified)]


def prominent_indices(model: Any, n: int = 10) -> list[IntArray]:
    """As :func:`prominent_words`, by column: words of positive probability, largest first, ties in order of index."""
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    return [_top(record.B[:, k], n) for k in range(record.n_components)]


def characteristic_indices(model: Any, n: int = 10, rectified: bool = False) -> list[IntArray]:
    """As :func:`characteristic_words`, by column: words of positive co-occurrence, largest first, ties by index."""
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    if rectified:
        if record.Y is None:
            raise InputError("this model holds no compression Y: characteristic words of the rectified space need one.")
        return [_top(row, n) for row in record.Y[record.anchors] @ record.Y.T]
    if record.anchor_rows is None:
        raise InputError(
            "this model does not hold the anchors' rows of the original co-occurrence: fit with AnchorTopicModel, or "
            "ask for rectified=True."
        )
    rows = sp.csr_array(record.anchor_rows)
    return [_top(rows[[k]].toarray()[0], n) for k in range(record.n_components)]


def topic_table(model: Any, n: int = 10, *, vocabulary: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """One row a topic, most prevalent first, ready for any data frame.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    n : int
        Words a topic.
    vocabulary : sequence of str, optional

    Returns
    -------
    list of dict
        ``topic`` (id, in pivot order), ``prevalence``, ``anchor``, ``prominent`` and ``characteristic`` (lists of
        words; the latter empty where the model does not hold the original statistics), and ``specific``, the
        characteristic words that are not among the prominent: those in bold in the paper's Table 1.
    """
    record = as_topic_model(model)
    words = words_of(record, vocabulary)
    prominent = prominent_words(record, n, vocabulary=vocabulary)
    if record.anchor_rows is None:
        characteristic: list[list[str]] = [[] for _ in range(record.n_components)]
    else:
        characteristic = characteristic_words(record, n, vocabulary=vocabulary)
    prevalence = record.prevalence
    return [
        {
            "topic": int(k),
            "prevalence": float(prevalence[k]),
            "anchor": words[record.anchors[k]],
            "prominent": prominent[k],
            "characteristic": characteristic[k],
            "specific": [word for word in characteristic[k] if word not in prominent[k]],
        }
        for k in by_prevalence(record)
    ]


def by_prevalence(model: TopicModel) -> IntArray:
    """Ids of topics in the order of tables: most prevalent first."""
    return np.argsort(-model.prevalence, kind="stable")


def words_of(model: TopicModel, vocabulary: Sequence[str] | None = None) -> Sequence[str]:
    """The word of each column: those given, else the model's own, else the indices."""
    given = check_vocabulary(vocabulary, model.n_words)
    if given is not None:
        return given
    return model.vocabulary if model.vocabulary is not None else [str(i) for i in range(model.n_words)]


def _top(scores: FloatArray, n: int) -> IntArray:
    """Indices of positive score, largest first, ties in order of index."""
    if n < scores.size:
        # Only what is at least as large as the n-th is put in order.
        reach = np.flatnonzero(scores >= np.partition(scores, scores.size - n)[scores.size - n])
    else:
        reach = np.arange(scores.size)
    order = reach[np.argsort(-scores[reach], kind="stable")][:n]
    return order[scores[order] > 0.0]

"""Prominent and characteristic words, and a table of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray
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
    words = _words(record, vocabulary)
    return [_top(record.B[:, k], n, words) for k in range(record.n_components)]


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
    words = _words(record, vocabulary)
    if rectified:
        if record.Y is None:
            raise InputError("this model holds no compression Y: characteristic words of the rectified space need one.")
        rows = record.Y[record.anchors] @ record.Y.T
    elif record.anchor_rows is None:
        raise InputError(
            "this model does not hold the anchors' rows of the original co-occurrence: fit with AnchorTopicModel, or "
            "ask for rectified=True."
        )
    else:
        rows = sp.csr_array(record.anchor_rows).toarray()
    return [_top(row, n, words) for row in rows]


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
        words; the latter empty where the model does not hold the original statistics).
    """
    record = as_topic_model(model)
    words = _words(record, vocabulary)
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
        }
        for k in np.argsort(-prevalence, kind="stable")
    ]


def _words(model: TopicModel, vocabulary: Sequence[str] | None) -> Sequence[str]:
    given = check_vocabulary(vocabulary, model.n_words)
    if given is not None:
        return given
    return model.vocabulary if model.vocabulary is not None else [str(i) for i in range(model.n_words)]


def _top(scores: FloatArray, n: int, words: Sequence[str]) -> list[str]:
    """Words of positive score, largest first, ties in order of index."""
    check_positive_integer(n, "n")
    order = np.argsort(-scores, kind="stable")[:n]
    return [words[i] for i in order if scores[i] > 0.0]

"""Anchors and how frequent they are: the paper finds them often too rare to tell what a topic is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model import TopicModel, as_topic_model
from ..sources.convert import in_columns, require_known_words
from .numbers import number
from .topic_words import anchors_of, by_prevalence, words_of


def anchor_table(model: Any, X: Any = None, *, vocabulary: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """One row a topic, most prevalent first: its anchor and how frequent that is.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus, optional
        Documents to count anchors in. A Corpus is matched to the model by its words.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else those of a Corpus, else their indices.

    Returns
    -------
    list of dict
        ``topic`` (id), ``prevalence``, ``anchor`` (the word), ``probability`` (of the anchor among all
        tokens), ``in_topic`` (of the anchor in its topic) and ``rank`` (of the anchor among the prominent words of its
        topic, from 1; None where it has no probability there). With X also ``documents`` that hold the anchor and
        its ``tokens``. Where several words together are an anchor, numbers are those of the first.
    """
    record = as_topic_model(model)
    if record.vocabulary is None and vocabulary is not None:
        record = record.with_vocabulary(vocabulary)
    counted = None
    if X is not None:
        source = require_known_words(in_columns(X, record.vocabulary, record.n_words))
        counted = source.frequencies()
        record = record if record.vocabulary is not None else record.with_vocabulary(source.words)
    words = words_of(record, vocabulary)
    prevalence = record.prevalence
    rows = []
    for k in by_prevalence(record):
        anchor = int(record.anchors[k])
        row: dict[str, Any] = {
            "topic": record.ids[k],
            "prevalence": float(prevalence[k]),
            **anchors_of(record, k, words),
            "probability": float(record.word_probs[anchor]),
            "in_topic": float(record.B[anchor, k]),
            "rank": _rank(record, anchor, k),
        }
        if counted is not None:
            documents, tokens = counted
            row |= {"documents": int(documents[anchor]), "tokens": number(tokens[anchor])}
        rows.append(row)
    return rows


def _rank(model: TopicModel, word: int, topic: int) -> int | None:
    """Place of a word in the order of :func:`prominent_words`, from 1."""
    scores = model.B[:, topic]
    if scores[word] <= 0.0:
        return None
    return 1 + int(np.sum(scores > scores[word])) + int(np.sum(scores[:word] == scores[word]))

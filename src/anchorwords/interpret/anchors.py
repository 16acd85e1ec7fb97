"""Anchors and how frequent they are: the paper finds them often too rare to tell what a topic is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model import TopicModel, as_topic_model
from ..records import TableList
from ..records.table import (
    Table,
    counted,
    largest_of,
    number_field,
    share_field,
    small_field,
    table_of,
    text_field,
    topic_field,
)
from ..sources.convert import in_columns, read_by, require_known_words
from .naming import topic_names
from .numbers import number
from .topic_words import anchors_of, by_prevalence, words_of


class AnchorTable(TableList):
    """Anchors, one dict per topic; see :func:`anchor_table`."""

    def _tables(self, max_rows: int | None) -> list[Table]:
        with_documents = bool(self) and "documents" in self[0]
        fields = [
            topic_field(), text_field("label", strong=True),
            share_field("prevalence", "share", largest=largest_of(self, "prevalence")), text_field("anchor"),
            small_field("probability", "of all tokens"), small_field("in_topic", "of its topic"),
            number_field("rank", "rank in its topic"),
            *([number_field("documents"), number_field("tokens")] if with_documents else []),
        ]  # fmt: skip
        caption = f"Anchors of {counted(len(self), 'topic')}, most prevalent topic first"
        return [table_of(list(self), fields, caption, max_rows=max_rows, noun="topics")]


def anchor_table(model: Any, X: Any = None, *, vocabulary: Sequence[str] | None = None) -> AnchorTable:
    """Return a table of the anchors and how frequent they are, one row per topic, most prevalent first.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus, optional
        Documents to count anchors in. A Corpus is matched to the model by its words.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else those of a Corpus, else their indices.

    Returns
    -------
    AnchorTable
        A list of dicts that displays as a table and has ``to_frame()``. Keys are ``topic`` (id), ``label``, ``prevalence``,
        ``anchor`` (the word), ``probability`` (of the anchor among all tokens), ``in_topic`` (of the anchor in its topic)
        and ``rank`` (of the anchor among the prominent words of its topic, from 1; None if it has no probability there).
        With X there are also ``documents``, the number of those that hold the anchor, and its ``tokens``. If several words
        together are an anchor, the numbers are those of the first.
    """
    record = as_topic_model(model)
    if record.vocabulary is None and vocabulary is not None:
        record = record.with_vocabulary(vocabulary)
    frequencies = None
    if X is not None:
        source = require_known_words(in_columns(read_by(model, X), record.vocabulary, record.n_words))
        frequencies = source.frequencies()
        record = record if record.vocabulary is not None else record.with_vocabulary(source.words)
    words = words_of(record, vocabulary)
    prevalence, labels = record.prevalence, topic_names(record)
    rows = []
    for k in by_prevalence(record):
        anchor = int(record.anchors[k])
        row: dict[str, Any] = {
            "topic": record.ids[k],
            "label": labels[k],
            "prevalence": float(prevalence[k]),
            **anchors_of(record, k, words),
            "probability": float(record.word_probs[anchor]),
            "in_topic": float(record.B[anchor, k]),
            "rank": _rank(record, anchor, k),
        }
        if frequencies is not None:
            documents, tokens = frequencies
            row |= {"documents": int(documents[anchor]), "tokens": number(tokens[anchor])}
        rows.append(row)
    return AnchorTable(rows)


def _rank(model: TopicModel, word: int, topic: int) -> int | None:
    """Place of a word in the order of :func:`prominent_words`, from 1."""
    scores = model.B[:, topic]
    if scores[word] <= 0.0:
        return None
    return 1 + int(np.sum(scores > scores[word])) + int(np.sum(scores[:word] == scores[word]))

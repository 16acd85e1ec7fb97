"""The words of topics, in the order of any ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer, check_vocabulary
from ..exceptions import InputError
from ..model import TopicModel, as_topic_model
from .ranking import by_frex, by_relevance, check_ranking, columns_of, largest

# Tables and pages list the background from this share of a document on: less, as in collections of items, says nothing.
SMALLEST_BACKGROUND = 0.01


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


def ranking_for(model: Any) -> str:
    """The ranking that the words of a model are best read by: see :func:`top_words`.

    Keyword weights are made to be read by. Without them, a refined topic holds the common words of its documents, so that
    words more probable than elsewhere come first: "relevance". The paper's topics are read by "probability". It is the model
    that decides, not the name of a preset, so that whoever reads it later lists the same words.
    """
    record: TopicModel = as_topic_model(model)
    if record.keyword_weights is not None:
        return "keywords"
    return "probability" if record.log_likelihood is None else "relevance"


def prominent_indices(model: Any, n: int = 10) -> list[IntArray]:
    """As :func:`prominent_words`, by column: words of positive probability, largest first, ties in order of index."""
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    return [_top(column, n) for column in columns_of(record.B)]


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


def top_words(
    model: Any,
    n: int = 10,
    *,
    ranking: str | None = None,
    weight: float | None = None,
    vocabulary: Sequence[str] | None = None,
) -> list[list[str]]:
    """The n best words of each topic by a ranking, best first.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    n : int
        Words a topic; fewer where a topic has fewer of positive probability.
    ranking : {"keywords", "probability", "relevance", "frex", "characteristic"}, optional
        By default the ranking that tables, figures and pages use: "keywords" if the model has keyword weights, as the models
        of the preset "readers" have, "relevance" if it was refined without them, else "probability".

        "keywords": the words that set the documents of the topic apart, by the weights that the refinement found
        (:mod:`anchorwords.refine.least_squares`). "probability": :func:`prominent_words`. "relevance":
        weight log B_ik + (1 - weight) log(B_ik / p_i), the ranking of LDAvis, which moves words that every topic has down.
        "frex": the weighted harmonic mean of the word's ranks in its topic by probability and by exclusivity.
        "characteristic": :func:`characteristic_words`.
    weight : float, optional
        For "relevance" (0.6 by default) and "frex" (0.5): weight of the word's probability, from 0 to 1; 1 is the order of
        "probability".
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else their indices.

    Returns
    -------
    list of K lists of str, in the order of topic ids
    """
    record = as_topic_model(model)
    words = words_of(record, vocabulary)
    return [[words[i] for i in top] for top in top_indices(record, n, ranking=ranking, weight=weight)]


def top_indices(model: Any, n: int = 10, *, ranking: str | None = None, weight: float | None = None) -> list[IntArray]:
    """As :func:`top_words`, by column; ties, to twelve digits of the score, in order of index."""
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    ranking = ranking_for(record) if ranking is None else ranking
    share = check_ranking(ranking, weight)
    if ranking == "keywords":
        return [_top(column, n) for column in columns_of(_keyword_weights(record))]
    if ranking == "relevance":
        return by_relevance(record.B, record.prevalence, n, share)
    if ranking == "frex":
        return by_frex(record.B, n, share)
    return prominent_indices(record, n) if ranking == "probability" else characteristic_indices(record, n)


def anchors_of(model: TopicModel, k: int, words: Sequence[str]) -> dict[str, Any]:
    """The anchor of a topic by name; where topics have groups of words as anchors, all of them, and as a list too."""
    if model.anchor_groups is None:
        return {"anchor": words[model.anchors[k]]}
    anchors = [words[i] for i in model.anchor_groups[k]]
    return {"anchor": " + ".join(anchors), "anchors": anchors}


def stability_by_topic(model: TopicModel) -> dict[str, FloatArray]:
    """How sure each topic is, by name, in the order of topic ids; nothing where it was not measured."""
    found = model.stability
    if found is None:
        return {}
    return {
        "stability": found.similarity,
        "stable_words": found.words,
        "anchor_stability": found.anchor,
        "prevalence_low": found.prevalence_low,
        "prevalence_high": found.prevalence_high,
    }


def by_prevalence(model: TopicModel) -> IntArray:
    """Ids of topics in the order of tables: most prevalent first."""
    return np.argsort(-model.prevalence, kind="stable")


def words_of(model: TopicModel, vocabulary: Sequence[str] | None = None) -> Sequence[str]:
    """The word of each column: those given, else the model's own, else the indices."""
    given = check_vocabulary(vocabulary, model.n_words)
    if given is not None:
        return given
    return model.vocabulary if model.vocabulary is not None else [str(i) for i in range(model.n_words)]


def background_words(model: Any, n: int = 10, *, vocabulary: Sequence[str] | None = None) -> dict[str, Any] | None:
    """Return the background of a model: the common words that documents of all topics share, and that are no topic.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    n : int
        Number of words.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else their indices.

    Returns
    -------
    dict or None
        ``share``, the mean share of the background in a document, and ``words``, its most probable words. None if the model
        has no background: models of the preset "readers" have one.
    """
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    found = record.background
    if found is None:
        return None
    words = words_of(record, vocabulary)
    return {"share": found.share, "words": [words[i] for i in _top(found.words, n)]}


def _keyword_weights(model: TopicModel) -> FloatArray:
    if model.keyword_weights is None:
        raise InputError(
            "this model has no keyword weights: fit with the preset 'readers', or rank words by 'relevance' or "
            "'probability'."
        )
    return model.keyword_weights


def _top(scores: FloatArray, n: int) -> IntArray:
    """Indices of positive score, largest first, ties in order of index."""
    order = largest(scores, n)
    return order[scores[order] > 0.0]

"""The plain dict behind the page: everything that it shows, bounded, and nothing else. docs/explorer.md describes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import IntArray
from .._validation import check_n_jobs
from .._version import __version__
from ..interpret.association import topic_association
from ..interpret.companions import FactoredCooccurrence
from ..interpret.naming import automatic_labels, topic_names
from ..interpret.ranking import check_ranking, word_probabilities
from ..interpret.relevance import STEP, words_at_any_weight
from ..interpret.topic_words import (
    SMALLEST_BACKGROUND,
    background_words,
    characteristic_indices,
    prominent_indices,
    ranking_for,
    top_indices,
    words_of,
)
from ..metrics.incoherence import N_WORDS, topic_trees
from ..metrics.reference import Reference
from ..model import TopicModel, as_topic_model
from ..sources.convert import in_columns, read_by
from .document_cards import Progress, Texts, check_texts, topic_documents
from .facts import convergence, facts, likelihood, measured, parameters
from .groups_view import groups_data
from .hierarchy_view import hierarchy_data
from .layout import ASPECT, topic_map
from .plain import name, number
from .time_view import time_data, topics_in_time
from .topic_cards import strong_edges, topic_rows, tree_of
from .word_cards import choose_words, word_columns, word_space

FORMAT = "anchorwords-explorer"
VERSION = 1
# Words that the slider shows at a time, and of either list beside it.
_RELEVANT = 24
_LISTED = 12


def explorer_data(
    model: Any,
    corpus: Any = None,
    *,
    title: str | None = None,
    labels: Sequence[str] | None = None,
    texts: Texts | None = None,
    time: Any = None,
    freq: Any = None,
    by: Any = None,
    separator: str | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Everything the explorer page shows, as JSON can hold it; its keys are described in docs/explorer.md.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
        Its provenance tells the parameters, the documents and how the fit converged.
    corpus : Corpus or (M, N) counts, optional
        Documents to list for each topic and to measure on, usually those of the fit. For a :class:`TextTopicModel` they may
        be a list of texts, which are then shown as well.
    title : str, optional
        Of the page.
    labels : sequence of K str, optional
        Names of the topics, such as :func:`label_topics` gives; by default those of the model. A topic whose label is
        empty is shown by its automatic name.
    texts : sequence of str, or callable, optional
        Text of each document of the corpus, to show how the listed ones begin; or a function that is called once with the
        rows that are wanted, and returns a mapping from row to text.
    time : str or sequence of M dates or numbers, optional
        Show topics over time: the name of a column of the documents table, or the time of each document, as ``by`` in
        :func:`topics_over_time`.
    freq : str or number, optional
        How to divide the documents into periods, such as "YE" for years, as in :func:`topics_over_time`.
    by : str or sequence of M labels, optional
        Show topics in groups of documents: the name of a column of the documents table, or a label for each document, as
        in :func:`prevalence_by`.
    separator : str, optional
        Split the labels of groups at this separator, such as ";", as in :func:`prevalence_by`.
    n_jobs : int or None
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with the number of documents gone through and their share of all.

    Returns
    -------
    dict
        Of lists, strings and numbers. Its size is bounded: it grows with the topics, and hardly with words or documents.
    """
    record = as_topic_model(model)
    jobs = check_n_jobs(n_jobs)
    given, corpus = corpus, read_by(model, corpus)
    if given is not corpus and isinstance(given, (list, tuple)) and texts is None:
        texts = given
    source = None if corpus is None else in_columns(corpus, record.vocabulary, record.n_words)
    check_texts(texts, source)
    if record.vocabulary is None and source is not None:
        record = record.with_vocabulary(source.words)
    words, ranking = words_of(record), ranking_for(record)
    named, automatic = _labels(record, labels), automatic_labels(record)
    lists = _lists(record)
    over_time = topics_in_time(record, source, time, freq, words, jobs)
    groups = groups_data(record, source, by, separator, jobs)
    together = FactoredCooccurrence(record)
    reference = Reference.of_operator(together) if source is None else Reference(source, record.vocabulary, n_jobs=jobs)
    metrics, per_topic = measured(record, reference, source is not None, jobs)
    listed = [top for tops in lists.values() for top in tops]
    if over_time is not None:
        listed += [change.columns() for change in over_time.changes]
    columns = choose_words(record, listed)
    place_of = np.full(record.n_words, -1, dtype=np.intp)
    place_of[columns] = np.arange(columns.size)
    association = topic_association(record)
    placed = topic_map(record.prevalence, association)
    topics = topic_rows(record, place_of, named, automatic, lists, placed, association, per_topic)
    for row, tree in zip(topics, _trees(record, place_of, lists, reference), strict=True):
        row["tree"] = tree
    if source is not None:
        documents = topic_documents(record, source, words, texts, jobs, progress)
        for row, found in zip(topics, documents, strict=True):
            row["documents"] = found
    p = word_probabilities(record.B, record.prevalence)
    return {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"anchorwords {__version__}",
        "title": name(title) if title else f"{record.n_components} topics",
        "n_topics": record.n_components,
        "n_words": record.n_words,
        "n_documents": record.provenance.n_docs,
        "ranking": ranking,
        "background": _background(record),
        "fingerprint": _fingerprint(topics, words, lists["prominent"]),
        "level": None if record.stability is None else number(record.stability.level),
        "weight": 1.0 if ranking == "probability" else check_ranking("relevance"),
        "step": STEP,
        "relevant": _RELEVANT,
        "map": {"aspect": ASPECT, "edges": strong_edges(record, association)},
        "topics": topics,
        "words": word_columns(record, columns, words, p, together),
        "space": word_space(record, columns),
        "time": time_data(over_time, place_of),
        "groups": groups,
        "hierarchy": hierarchy_data(record),
        "model": {
            "facts": facts(record, None if source is None else source.n_docs, columns.size),
            "parameters": parameters(record),
            "convergence": convergence(record),
            "log_likelihood": likelihood(record),
            "metrics": metrics,
        },
    }


def _background(record: TopicModel) -> dict[str, Any] | None:
    """Share and first words of the background; None if there is next to none."""
    found = background_words(record, _LISTED)
    if found is None or found["share"] < SMALLEST_BACKGROUND:
        return None
    return {"share": number(found["share"], 4), "words": [name(word) for word in found["words"]]}


def _labels(record: TopicModel, labels: Any) -> list[str]:
    """Those given, else those of the model; automatic ones for topics without a label."""
    return topic_names(record if labels is None else record.with_labels(labels))


def _fingerprint(topics: Sequence[dict[str, Any]], words: Sequence[str], prominent: Sequence[IntArray]) -> str:
    """A short hash of the ids and words of the topics, by which a browser tells the labels of one model from another's."""
    told = [[row["topic"], *(words[i] for i in top.tolist())] for row, top in zip(topics, prominent, strict=True)]
    return hashlib.sha256(json.dumps(told).encode("ascii")).hexdigest()[:16]


def _lists(record: TopicModel) -> dict[str, list[IntArray]]:
    characteristic = (
        [np.zeros(0, dtype=np.intp)] * record.n_components
        if record.anchor_rows is None
        else characteristic_indices(record, _LISTED)
    )
    keywords = [] if record.keyword_weights is None else top_indices(record, _RELEVANT, ranking="keywords")
    words = words_at_any_weight(record.B, record.prevalence, _RELEVANT)
    return {
        # All that can be listed, with a probability each: keywords as well.
        "words": [np.union1d(*both) for both in zip(words, keywords, strict=True)] if keywords else words,
        "keywords": keywords,
        "prominent": prominent_indices(record, _LISTED),
        "characteristic": characteristic,
    }


def _trees(
    record: TopicModel, place_of: IntArray, lists: dict[str, list[IntArray]], reference: Reference
) -> list[dict[str, Any] | None]:
    """Minimum spanning trees of the topics; none where characteristic words are not known."""
    if record.anchor_rows is None:
        return [None] * record.n_components
    trees = topic_trees(record, reference, N_WORDS)
    sheets: list[dict[str, Any] | None] = []
    for k, tree in enumerate(trees):
        prominent, characteristic = lists["prominent"][k][:N_WORDS], lists["characteristic"][k][:N_WORDS]
        index = np.concatenate([prominent, characteristic[~np.isin(characteristic, prominent)]])
        sheets.append(tree_of(tree, place_of[index]))
    return sheets

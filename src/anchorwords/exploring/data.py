"""The plain dict behind the page: everything that it shows, bounded, and nothing else. docs/explorer.md describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import IntArray
from .._validation import check_n_jobs
from .._version import __version__
from ..interpret.association import topic_association
from ..interpret.companions import FactoredCooccurrence
from ..interpret.naming import automatic_labels, ranking_for
from ..interpret.ranking import check_ranking, word_probabilities
from ..interpret.relevance import STEP, words_at_any_weight
from ..interpret.topic_words import characteristic_indices, prominent_indices, words_of
from ..metrics.incoherence import N_WORDS, topic_trees
from ..metrics.reference import Reference
from ..model import TopicModel, as_topic_model, checked_labels
from ..sources.convert import in_columns
from .document_cards import Progress, Texts, check_texts, topic_documents
from .facts import convergence, facts, likelihood, measured, parameters
from .layout import ASPECT, topic_map
from .plain import name, number
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
        Names of the topics, such as :func:`label_topics` gives; by default those of the model or, without any, its
        automatic labels.
    texts : sequence of str, or callable, optional
        Text of each document of the corpus, to show how the listed ones begin; or a function that is called once with the
        rows that are wanted, and returns a mapping from row to text.
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
    if hasattr(model, "read") and isinstance(corpus, (list, tuple)) and all(isinstance(one, str) for one in corpus):
        corpus, texts = model.read(corpus), corpus if texts is None else texts
    source = None if corpus is None else in_columns(corpus, record.vocabulary, record.n_words)
    check_texts(texts, source)
    if record.vocabulary is None and source is not None:
        record = record.with_vocabulary(source.words)
    words, ranking = words_of(record), ranking_for(record)
    named = _labels(record, labels)
    lists = _lists(record)
    together = FactoredCooccurrence(record)
    reference = Reference.of_operator(together) if source is None else Reference(source, record.vocabulary, n_jobs=jobs)
    metrics, per_topic = measured(record, reference, source is not None, jobs)
    columns = choose_words(record, [top for tops in lists.values() for top in tops])
    place_of = np.full(record.n_words, -1, dtype=np.intp)
    place_of[columns] = np.arange(columns.size)
    association = topic_association(record)
    placed = topic_map(record.prevalence, association)
    topics = topic_rows(record, place_of, named, lists, placed, association, per_topic)
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
        "level": None if record.stability is None else number(record.stability.level),
        "weight": check_ranking("relevance") if ranking == "relevance" else 1.0,
        "step": STEP,
        "relevant": _RELEVANT,
        "map": {"aspect": ASPECT, "edges": strong_edges(record, association)},
        "topics": topics,
        "words": word_columns(record, columns, words, p, together),
        "space": word_space(record, columns),
        "model": {
            "facts": facts(record, None if source is None else source.n_docs, columns.size),
            "parameters": parameters(record),
            "convergence": convergence(record),
            "log_likelihood": likelihood(record),
            "metrics": metrics,
        },
    }


def _labels(record: TopicModel, labels: Any) -> Sequence[str]:
    """Those given, else those of the model, else automatic ones."""
    if labels is not None:
        return checked_labels(labels, record.n_components)
    return automatic_labels(record) if record.labels is None else record.labels


def _lists(record: TopicModel) -> dict[str, list[IntArray]]:
    characteristic = (
        [np.zeros(0, dtype=np.intp)] * record.n_components
        if record.anchor_rows is None
        else characteristic_indices(record, _LISTED)
    )
    return {
        "words": words_at_any_weight(record.B, record.prevalence, _RELEVANT),
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

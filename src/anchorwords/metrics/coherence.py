"""What the field reports beside the paper's metrics: coherence of top words in documents, and their diversity.

Notation
--------
D : documents of the given corpus; D_i of them hold word i, D_ij both i and j (boolean: how often does not matter)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..exceptions import InputError, UndefinedMetricError
from ..interpret.ranking import given_top
from ..interpret.topic_words import top_indices
from ..model import TopicModel, as_topic_model
from .measure import Measure, mean_of
from .reference import Reference, as_reference


def npmi_coherence(model: Any, X: Any, n: int = 10, *, top: Any = None, per_topic: bool = False) -> Any:
    """Mean normalised pointwise mutual information of pairs of top words, from -1 to 1; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel, or None
        None where ``top`` holds columns of X.
    X : (M, N) sparse or array-like of counts, Corpus, blocks, or Reference
        Documents to count in. A Corpus with other words than the model's is matched by word.
    n : int
        Words per topic, in the order in which the model lists them: see :func:`anchorwords.top_words`.
    top : list of K lists of int, optional
        Other words to judge, best first, the first n of each: any ranking's, as :func:`anchorwords.top_indices` gives them,
        or any other system's.
    per_topic : bool
        The mean over the pairs of each topic instead of the mean over topics.

    Notes
    -----
    NPMI_ij = log(D_ij D / (D_i D_j)) / log(D / D_ij), without smoothing: -1 where no document holds both words, 1
    where documents hold both or neither. A topic with fewer than two words of positive probability has no pair:
    it is nan, and left out of the mean.
    """
    record = _judged(model, top)
    return measure_npmi(record, _documents(record, X), n, top).part(per_topic)


def umass_coherence(model: Any, X: Any, n: int = 20, *, top: Any = None, per_topic: bool = False) -> Any:
    """UMass coherence of top words: sum of log((D_ij + 1) / D_j) over pairs, mean over topics; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel, or None
        None where ``top`` holds columns of X.
    X : (M, N) sparse or array-like of counts, Corpus, blocks, or Reference
        Documents to count in, usually those of the fit: every top word must occur in them.
    n : int
        Words per topic, in the order in which the model lists them: see :func:`anchorwords.top_words`.
    top : list of K lists of int, optional
        Other words to judge, as in :func:`npmi_coherence`.
    per_topic : bool
        The sum of each topic instead of the mean over topics.

    Notes
    -----
    j is the word of the pair that stands first: the more probable in the topic (of equally probable ones the first
    column), or the first in ``top``; the logarithm is natural. The sum grows with the number of pairs: compare at the
    same ``n`` only. A topic with fewer than two words of positive probability has no pair: it is nan, and left out of
    the mean.
    """
    record = _judged(model, top)
    return measure_umass(record, _documents(record, X), n, top).part(per_topic)


def measure_npmi(record: TopicModel | None, reference: Reference, n: int = 10, top: Any = None) -> Measure:
    """NPMI coherence on a reference."""
    return _measured(record, reference, n, top, lambda together, n_docs, _: float(_npmi(together, n_docs).mean()))


def measure_umass(record: TopicModel | None, reference: Reference, n: int = 20, top: Any = None) -> Measure:
    """UMass coherence on a reference."""
    vocabulary = reference.vocabulary if record is None else record.vocabulary

    def score(together: FloatArray, _: int, words: IntArray) -> float:
        absent = words[together.diagonal() == 0.0]
        if absent.size:
            name = absent[0] if vocabulary is None else repr(vocabulary[absent[0]])
            raise UndefinedMetricError(
                f"every top word must occur in X, but word {name} never does: count in the documents of the fit, or "
                "use npmi_coherence."
            )
        return float(_umass(together).sum())

    return _measured(record, reference, n, top, score)


def topic_diversity(model: Any, n: int = 25, *, top: Any = None, per_topic: bool = False) -> Any:
    """Share of distinct words among the top n of all topics, above 0 and at most 1; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel, or None
        None where ``top`` is given.
    n : int
        Words per topic, in the order in which the model lists them: see :func:`anchorwords.top_words`.
    top : list of K lists of int, optional
        Other words to judge, as in :func:`npmi_coherence`.
    per_topic : bool
        For each topic the mean over its words of one over the number of topics that list the word; the whole is their
        mean, weighted by the length of the lists.
    """
    return measure_diversity(_judged(model, top), n, top).part(per_topic)


def measure_diversity(record: TopicModel | None, n: int = 25, top: Any = None) -> Measure:
    """Topic diversity."""
    tops = words_to_judge(record, n, top, fewest=1)
    listed = np.concatenate(tops)
    times = np.bincount(listed)
    parts = np.array([float(np.mean(1.0 / times[words])) if words.size else np.nan for words in tops])
    return Measure(float(np.unique(listed).size / listed.size), parts)


def _measured(
    record: TopicModel | None, reference: Reference, n: int, top: Any, score: Callable[..., float]
) -> Measure:
    """A score of the counts of each topic's top words; a topic without a pair has none."""
    tops = words_to_judge(record, n, top, fewest=2, n_words=reference.n_words)
    together, n_docs = reference.documents_together(tops)
    pairs = zip(together, tops, strict=True)
    return mean_of(np.array([score(counts, n_docs, words) if words.size > 1 else np.nan for counts, words in pairs]))


def words_to_judge(
    record: TopicModel | None,
    n: int,
    top: Any,
    fewest: int,
    n_words: int | None = None,
    ranking: str | None = None,
) -> list[IntArray]:
    """The n best words of each topic, or the first n of those given; some topic must have ``fewest`` of them.

    Words are ranked as the model lists them (:func:`anchorwords.top_words`), unless another ``ranking`` is named.
    """
    if check_positive_integer(n, "n") < fewest:
        raise InputError(f"n must be at least {fewest}, as coherence is one of pairs of words, but is {n}.")
    if top is None:
        assert record is not None  # _judged
        tops, kind = top_indices(record, n, ranking=ranking), "words of positive probability"
    else:
        sizes = (n_words, None) if record is None else (record.n_words, record.n_components)
        tops, kind = given_top(top, n, *sizes), "words in top"
    if all(words.size < fewest for words in tops):
        raise UndefinedMetricError(f"no topic has {fewest} {kind}: there is nothing to compare.")
    return tops


def _judged(model: Any, top: Any) -> TopicModel | None:
    """The record, which is not needed where the words are given."""
    return None if model is None and top is not None else as_topic_model(model)


def _documents(record: TopicModel | None, X: Any) -> Reference:
    if record is not None:
        return as_reference(record, X)
    return X if isinstance(X, Reference) else Reference(X)


def _npmi(together: FloatArray, n_docs: int) -> FloatArray:
    """NPMI of each pair, as (log p_i + log p_j) / log p_ij - 1, which is exactly 1 where p_i = p_j = p_ij."""
    first, second = np.triu_indices(together.shape[0], 1)
    both, single = together[first, second], together.diagonal()
    scores = np.where(both == n_docs, 1.0, -1.0)
    seen = np.flatnonzero((both > 0.0) & (both < n_docs))
    logs = np.log(single[first[seen]] / n_docs) + np.log(single[second[seen]] / n_docs)
    scores[seen] = logs / np.log(both[seen] / n_docs) - 1.0
    return scores


def _umass(together: FloatArray) -> FloatArray:
    """log((D_ij + 1) / D_j) of each pair, j before i in the order of the topic."""
    better, worse = np.triu_indices(together.shape[0], 1)
    return np.log((together[better, worse] + 1.0) / together.diagonal()[better])

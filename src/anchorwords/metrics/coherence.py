"""What the field reports beside the paper's metrics: coherence of top words in documents, and their diversity.

Notation
--------
D : documents of the given corpus; D_i of them hold word i, D_ij both i and j (boolean: how often does not matter)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_counts, check_positive_integer
from ..corpus.corpus import Corpus
from ..exceptions import InputError
from ..model import TopicModel, as_topic_model


def npmi_coherence(model: Any, X: Any, n: int = 10) -> float:
    """Mean normalised pointwise mutual information of pairs of top words, from -1 to 1; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, or Corpus
        Documents to count in. A Corpus with other words than the model's is matched by word.
    n : int
        Words a topic, of those with positive probability.

    Returns
    -------
    float
        Mean over the pairs of a topic, then over topics.

    Notes
    -----
    NPMI_ij = log(D_ij D / (D_i D_j)) / log(D / D_ij), without smoothing: -1 where no document holds both words, 1
    where documents hold both or neither. A topic with fewer than two words of positive probability has no pair
    and is left out of the mean.
    """
    record = as_topic_model(model)
    blocks, n_docs = _counts_together(record, X, _top_words(record, n, fewest=2))
    return float(np.mean([_npmi(together, n_docs).mean() for together in blocks]))


def umass_coherence(model: Any, X: Any, n: int = 20) -> float:
    """UMass coherence of top words: sum of log((D_ij + 1) / D_j) over pairs, mean over topics; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, or Corpus
        Documents to count in, usually those of the fit: every top word must occur in them.
    n : int
        Words a topic, of those with positive probability.

    Notes
    -----
    j is the word of the pair that is more probable in the topic (of equally probable ones the first column); the
    logarithm is natural. The sum grows with the number of pairs: compare at the same ``n`` only. A topic with
    fewer than two words of positive probability has no pair and is left out of the mean.
    """
    record = as_topic_model(model)
    tops = _top_words(record, n, fewest=2)
    blocks, _ = _counts_together(record, X, tops)
    for top, together in zip(tops, blocks, strict=True):
        absent = top[together.diagonal() == 0.0]
        if absent.size:
            name = absent[0] if record.vocabulary is None else repr(record.vocabulary[absent[0]])
            raise InputError(
                f"every top word must occur in X, but word {name} never does: count in the documents of the fit, or "
                "use npmi_coherence."
            )
    return float(np.mean([_umass(together).sum() for together in blocks]))


def topic_diversity(model: Any, n: int = 25) -> float:
    """Share of distinct words among the top n of all topics, above 0 and at most 1; higher is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    n : int
        Words a topic, of those with positive probability.
    """
    listed = np.concatenate(_top_words(as_topic_model(model), n, fewest=1))
    return float(np.unique(listed).size / listed.size)


def _top_words(record: TopicModel, n: int, fewest: int) -> list[IntArray]:
    """The n most probable words of each topic, best first, for topics with at least ``fewest`` of them."""
    if check_positive_integer(n, "n") < fewest:
        raise InputError(f"n must be at least {fewest}, as coherence is one of pairs of words, but is {n}.")
    orders = [np.argsort(-column, kind="stable")[:n] for column in record.B.T]
    tops = [order[column[order] > 0.0] for order, column in zip(orders, record.B.T, strict=True)]
    tops = [top for top in tops if top.size >= fewest]
    if not tops:
        raise InputError(f"no topic has {fewest} word(s) of positive probability: check the model's B.")
    return tops


def _counts_together(record: TopicModel, X: Any, tops: list[IntArray]) -> tuple[list[FloatArray], int]:
    """D_ij of each topic's top words (D_i on the diagonal), and D."""
    words = np.unique(np.concatenate(tops))
    presence = sp.csc_array(_columns(record, X, words))
    presence.data = np.ones(presence.nnz)
    blocks = [presence[:, np.searchsorted(words, top)] for top in tops]
    return [np.asarray((block.T @ block).toarray()) for block in blocks], int(presence.shape[0])


def _columns(record: TopicModel, X: Any, words: IntArray) -> SparseLike:
    """Counts of these words of the model, documents x words; a word the corpus does not know has an empty column."""
    by_word = isinstance(X, Corpus) and record.vocabulary is not None and X.vocabulary != record.vocabulary
    counts = X.counts if isinstance(X, Corpus) else check_counts(X)
    if not by_word:
        if counts.shape[1] != record.n_words:
            raise InputError(f"the model has {record.n_words} words, but X has {counts.shape[1]}.")
        return counts[:, words]
    positions = {word: i for i, word in enumerate(X.vocabulary)}
    found = np.array([positions.get(record.vocabulary[i], -1) for i in words])  # type: ignore[index]
    if (found < 0).all():
        raise InputError("the corpus holds none of the model's top words: check that the vocabularies match.")
    known = np.flatnonzero(found >= 0)
    entries = sp.coo_array(counts[:, found[known]])
    return sp.csc_array((entries.data, (entries.row, known[entries.col])), shape=(counts.shape[0], words.size))


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

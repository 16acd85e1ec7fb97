"""The record of a topic model: what was learned, and nothing that learns."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ._typing import FloatArray, IntArray, SparseLike
from ._validation import check_vocabulary
from .exceptions import InputError
from .provenance import Provenance
from .sources.in_use import WordsInUse


@dataclass(frozen=True, eq=False)
class Stability:
    """How much of each topic is the same in replicates of the documents; see :func:`anchorwords.stability`.

    Attributes
    ----------
    similarity : (K,) array
        One minus the total variation between the topic and its match, mean over replicates: 1 is never moved.
    words : (K,) array
        Share of its ten most probable words that its match keeps, mean over replicates.
    anchor : (K,) array
        Share of replicates in which its match has the same anchor.
    prevalence_low, prevalence_high : (K,) array
        Interval of its probability.
    correlation_low, correlation_high : (K, K) array
        Intervals of the entries of A.
    level : float
        Of the intervals, such as 0.9.
    n_replicates, n_shards : int
    """

    similarity: FloatArray
    words: FloatArray
    anchor: FloatArray
    prevalence_low: FloatArray
    prevalence_high: FloatArray
    correlation_low: FloatArray
    correlation_high: FloatArray
    level: float
    n_replicates: int
    n_shards: int


@dataclass(frozen=True, eq=False)
class TopicModel:
    """A factorisation C ~ B A B': topics, the evidence they were read off, and where they came from.

    Attributes
    ----------
    B : (N, K) array
        p(word | topic); columns are non-negative and sum to one.
    A : (K, K) array
        p(topic, topic'); symmetric, non-negative, sums to one.
    A_raw_sum : float
        Sum of A before it was normalised: near one where the statistics fit the model.
    anchors : (K,) int array
        Anchor word of each topic, in the order they were chosen.
    word_topics : (N, K) array
        p(topic | word); rows are non-negative and sum to one, anchors' rows are unit vectors.
    word_probs : (N,) array
        p(word), sums to one.
    vocabulary : tuple of str or None
    Y : (N, K) array or None
        Compression the model was read off; None after AW on a dense matrix.
    anchor_rows : (K, N) CSR array or None
        Rows of the original co-occurrence at the anchors, each scaled to sum to one.
    anchor_groups : tuple of tuples of int, or None
        The words whose rows together are each topic's anchor, where some topic has several (tandem anchors); ``anchors``
        holds the first of each. The row of a word of a larger group is not a unit vector in ``word_topics``.
    composition_dual : (K, K) array or None
        Lambda of prior-aware compositions, learned on the documents of the fit and frozen.
    stability : Stability or None
        How sure the topics are, where that was measured.
    log_likelihood : tuple of float, or None
        That of a known token in each sweep of a refinement, before its topics move; None for spectral topics.
    labels : tuple of K str, or None
        Names of the topics.
    ids : tuple of K int
        Stable numbers of the topics: they stay with a topic through edits. By default 0 to K - 1.
    provenance : Provenance
        How text was read, which words were kept, how the model was fitted and how that went.
    left_out : (n,) int32 array or None
        Hashes of the words that the vocabulary rule removed (see :mod:`anchorwords.corpus.left_out`); None if unknown.
    """

    B: FloatArray
    A: FloatArray
    A_raw_sum: float
    anchors: IntArray
    word_topics: FloatArray
    word_probs: FloatArray
    vocabulary: tuple[str, ...] | None = None
    Y: FloatArray | None = None
    anchor_rows: SparseLike | None = None
    anchor_groups: tuple[tuple[int, ...], ...] | None = None
    composition_dual: FloatArray | None = None
    stability: Stability | None = None
    log_likelihood: tuple[float, ...] | None = None
    labels: tuple[str, ...] | None = None
    ids: tuple[int, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    left_out: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "vocabulary", check_vocabulary(self.vocabulary, self.n_words))
        object.__setattr__(self, "labels", _checked_labels(self.labels, self.n_components))
        object.__setattr__(self, "ids", _checked_ids(self.ids, self.n_components))
        for name in ("B", "A", "anchors", "word_topics", "word_probs", "Y", "composition_dual", "left_out"):
            value = getattr(self, name)
            if value is not None:
                view = np.asarray(value).view()
                view.setflags(write=False)
                object.__setattr__(self, name, view)

    @property
    def n_words(self) -> int:
        """N."""
        return int(self.B.shape[0])

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.B.shape[1])

    @property
    def prevalence(self) -> FloatArray:
        """p(topic) = A e, sums to one."""
        return self.A.sum(axis=1)

    def with_vocabulary(self, vocabulary: Any) -> TopicModel:
        """The same model with these words."""
        return replace(self, vocabulary=vocabulary)

    def with_labels(self, labels: Sequence[str] | None) -> TopicModel:
        """The same model with these names of its topics."""
        return replace(self, labels=None if labels is None else checked_labels(labels, self.n_components))

    def __repr__(self) -> str:
        return f"TopicModel({self.n_words} words, {self.n_components} topics)"


def embed_words(model: TopicModel, words: WordsInUse) -> TopicModel:
    """Place a model of the words in use among all words.

    A word that never occurs has a zero row in B and the prevalence as its row of ``word_topics``.
    """
    if words.all_used:
        return replace(model, vocabulary=None)
    positions, groups = words.positions, model.anchor_groups
    return replace(
        model,
        B=words.spread(model.B),
        anchors=positions[model.anchors],
        word_topics=words.spread(model.word_topics, model.prevalence),
        word_probs=words.spread(model.word_probs),
        vocabulary=None,
        Y=None if model.Y is None else words.spread(model.Y),
        anchor_rows=None if model.anchor_rows is None else words.spread_columns(model.anchor_rows),
        anchor_groups=None if groups is None else tuple(tuple(int(positions[i]) for i in group) for group in groups),
    )


def as_topic_model(model: Any) -> TopicModel:
    """The TopicModel itself, or that of a fitted estimator."""
    record = getattr(model, "model_", model)
    if not isinstance(record, TopicModel):
        raise InputError(
            f"expected a TopicModel or a fitted AnchorTopicModel, but got {type(model).__name__}: call fit first."
        )
    return record


def checked_labels(labels: Any, n_topics: int) -> tuple[str, ...]:
    """Labels as a tuple of str, or InputError unless they name each topic once, in the order of the model."""
    listed = (
        hasattr(labels, "__len__") and hasattr(labels, "__getitem__") and not isinstance(labels, (str, bytes, Mapping))
    )
    found = tuple(labels) if listed else ()
    if len(found) != n_topics:
        raise InputError(f"labels must name each of the {n_topics} topics once, in the order of topic ids.")
    return tuple(map(str, found))


def _checked_labels(labels: Any, n_topics: int) -> tuple[str, ...] | None:
    return None if labels is None else checked_labels(labels, n_topics)


def _checked_ids(ids: Sequence[int], n_topics: int) -> tuple[int, ...]:
    found = tuple(operator.index(number) for number in ids) or tuple(range(n_topics))
    if len(found) != n_topics or len(set(found)) != n_topics or min(found, default=0) < 0:
        raise InputError(f"ids must be {n_topics} distinct whole numbers from 0 on, one per topic, but are {found}.")
    return found

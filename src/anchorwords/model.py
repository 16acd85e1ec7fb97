"""The record of a topic model: what was learned, and nothing that learns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import BoolArray, FloatArray, IntArray, SparseLike
from ._validation import check_vocabulary
from .exceptions import InputError


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
    """A factorisation C ~ B A B' with its anchors.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "vocabulary", check_vocabulary(self.vocabulary, self.n_words))
        for name in ("B", "A", "anchors", "word_topics", "word_probs", "Y", "composition_dual"):
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

    def __repr__(self) -> str:
        return f"TopicModel({self.n_words} words, {self.n_components} topics)"


def embed_words(model: TopicModel, used: BoolArray) -> TopicModel:
    """Place a model of the used words among all words.

    A word that never occurs has a zero row in B and the prevalence as its row of ``word_topics``.
    """
    n_words, K = used.size, model.n_components
    positions = np.flatnonzero(used)
    B, word_probs = np.zeros((n_words, K)), np.zeros(n_words)
    B[positions], word_probs[positions] = model.B, model.word_probs
    word_topics = np.tile(model.prevalence, (n_words, 1))
    word_topics[positions] = model.word_topics
    Y = None
    if model.Y is not None:
        Y = np.zeros((n_words, K))
        Y[positions] = model.Y
    rows = None
    if model.anchor_rows is not None:
        small = sp.coo_array(model.anchor_rows)
        rows = sp.csr_array((small.data, (small.row, positions[small.col])), shape=(K, n_words))
    groups = model.anchor_groups
    return replace(
        model,
        B=B,
        anchors=positions[model.anchors],
        word_topics=word_topics,
        word_probs=word_probs,
        vocabulary=None,
        Y=Y,
        anchor_rows=rows,
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

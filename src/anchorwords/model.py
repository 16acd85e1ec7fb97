"""The record of a topic model: what was learned, and nothing that learns."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ._typing import FloatArray, IntArray, SparseLike
from ._validation import check_vocabulary
from .exceptions import InputError
from .provenance import Provenance
from .records.html import html_of
from .records.table import SHOWN_ROWS
from .sources.in_use import WordsInUse
from .stability_record import Stability as Stability
from .topic_flag import TopicFlag as TopicFlag
from .topic_flag import kept_flags

# Characters of a label that a person gives: two lines of text.
LONGEST_LABEL = 200
_ARRAYS = ("B", "A", "anchors", "word_topics", "word_probs", "Y", "composition_dual", "left_out", "keyword_weights")


@dataclass(frozen=True)
class Edit:
    """One change that a person made to the topics of a model.

    Attributes
    ----------
    action : str
        "rename", "merge", "drop", "split" or "reorder".
    topics : tuple of int
        Ids of the topics that it was applied to.
    result : tuple of int
        Ids of the topics that it left in their place: empty for a topic that was dropped.
    labels : tuple of str
        The new labels, for "rename".
    """

    action: str
    topics: tuple[int, ...]
    result: tuple[int, ...]
    labels: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Return what was done in a few words, such as "merged 3, 7 into 3"."""
        before, after = (", ".join(map(str, numbers)) for numbers in (self.topics, self.result))
        if self.action == "rename":
            names = zip(self.topics, self.labels, strict=True)
            given = (f'{topic} to "{name}"' if name else f"{topic} to its automatic name" for topic, name in names)
            return f"renamed {', '.join(given)}"
        if self.action == "drop":
            return f"dropped {before}"
        if self.action == "reorder":
            return f"reordered to {after}"
        return f"{'merged' if self.action == 'merge' else self.action} {before} into {after}"


@dataclass(frozen=True, eq=False)
class Parts:
    """The P topics that documents are explained by, if that is not just the topics of the model.

    It is not if topics were merged, dropped or split, and if the model has a background. Topic proportions are inferred for
    the parts and added up, so that the proportion of a merged topic is the sum of those of its parts. The words of a dropped
    topic are still explained by it, instead of by topics that they do not belong to, and so are common words by the
    background.

    Attributes
    ----------
    B : (N, P) array
        p(word | part).
    A : (P, P) array
        p(part, part').
    topic_of : (P,) int array
        Position of the topic that each part belongs to; -1 for a part of a topic that was dropped, and for the background.
    composition_dual : (P, P) array or None
        As in :class:`TopicModel`.
    background : int or None
        Position of the part that is the background: words that documents of all topics share. It belongs to no topic.
    """

    B: FloatArray
    A: FloatArray
    topic_of: IntArray
    composition_dual: FloatArray | None = None
    background: int | None = None

    def __post_init__(self) -> None:
        for name in ("B", "A", "topic_of", "composition_dual"):
            _freeze(self, name)

    @property
    def n_components(self) -> int:
        """P."""
        return int(self.B.shape[1])

    @property
    def prevalence(self) -> FloatArray:
        """p(part)."""
        return self.A.sum(axis=1)

    def gathered(self, weights: FloatArray, n_topics: int) -> FloatArray:
        """Return the columns of each topic added up; those of dropped topics are left out.

        Parameters
        ----------
        weights : (M, P) array
        n_topics : int
            K.
        """
        kept = np.flatnonzero(self.topic_of >= 0)
        member = np.zeros((kept.size, n_topics))
        member[np.arange(kept.size), self.topic_of[kept]] = 1.0
        return weights[:, kept] @ member

    def proportions(self, weights: FloatArray, prevalence: FloatArray) -> FloatArray:
        """Return the proportions of topics, given those of parts.

        Parameters
        ----------
        weights : (M, P) array
        prevalence : (K,) array
            Of the topics: the proportions of a document that holds nothing but parts without a topic.
        """
        gathered = self.gathered(weights, prevalence.size)
        if (self.topic_of >= 0).all():
            return gathered
        total = gathered.sum(axis=1, keepdims=True)
        some = total > np.finfo(np.float64).tiny
        return np.where(some, gathered / np.where(some, total, 1.0), prevalence)


class Background(NamedTuple):
    """Common words, which belong to no topic.

    Attributes
    ----------
    words : (N,) array
        p(word | background), sums to one.
    share : float
        Mean share of the background in a document.
    """

    words: FloatArray
    share: float


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
        Lambda of prior-aware compositions, learned on the documents of the fit and frozen; None for a model with parts,
        which have their own.
    stability : Stability or None
        How sure the topics are, where that was measured.
    log_likelihood : tuple of float, or None
        That of a known token in each sweep of a refinement, before its topics move; None for spectral topics.
    labels : tuple of K str, or None
        Names of the topics; a topic whose label is empty is shown by an automatic name.
    ids : tuple of K int
        Stable numbers of the topics: they stay with a topic through edits. By default 0 to K - 1.
    provenance : Provenance
        How text was read, which words were kept, how the model was fitted and how that went.
    left_out : (n,) int32 array or None
        Hashes of the words that the vocabulary rule removed (see :mod:`anchorwords.corpus.left_out`); None if unknown.
    parts : Parts or None
        What documents are explained by, if topics were merged, dropped or split or there is a background; None if that is
        the topics.
    edits : tuple of Edit
        What was changed since the fit, in order; see :func:`anchorwords.merge_topics` and others.
    keyword_weights : (N, K) array or None
        Weights by which the words of topics are listed (:mod:`anchorwords.refine.least_squares`), columns that sum to one;
        None if the refinement did not make any.
    flags : tuple of TopicFlag
        Topics that a reader should look at twice, as the refinement found them; see :func:`anchorwords.flag_topics`.
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
    parts: Parts | None = None
    edits: tuple[Edit, ...] = ()
    keyword_weights: FloatArray | None = None
    flags: tuple[TopicFlag, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "vocabulary", check_vocabulary(self.vocabulary, self.n_words))
        object.__setattr__(self, "labels", _checked_labels(self.labels, self.n_components))
        object.__setattr__(self, "ids", _checked_ids(self.ids, self.n_components))
        object.__setattr__(self, "flags", kept_flags(self.flags, self.ids))
        for name in _ARRAYS:
            _freeze(self, name)
        if self.stability is not None:
            named = self.labels if self.labels is not None and all(self.labels) else None
            object.__setattr__(self, "stability", self.stability.with_topics(self.ids, self.prevalence, named))

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

    @property
    def as_fitted(self) -> bool:
        """Whether the topics are those of the fit, in its order: no edit did more than rename them."""
        return all(edit.action == "rename" for edit in self.edits)

    @property
    def inference(self) -> TopicModel | Parts:
        """What documents are explained by: the parts if the model has any, else the model itself."""
        return self if self.parts is None else self.parts

    @property
    def background(self) -> Background | None:
        """The words that documents of all topics share, and their share of the tokens; None if the model has none."""
        parts = self.parts
        if parts is None or parts.background is None:
            return None
        return Background(parts.B[:, parts.background], float(parts.prevalence[parts.background]))

    def position(self, topic: int) -> int:
        """Return the column of B that holds the topic of this id, or InputError."""
        try:
            return self.ids.index(operator.index(topic))
        except (TypeError, ValueError):
            known = ", ".join(map(str, self.ids[:20])) + (", ..." if len(self.ids) > 20 else "")
            raise InputError(f"there is no topic {topic!r}: the ids of this model are {known}.") from None

    def with_vocabulary(self, vocabulary: Any) -> TopicModel:
        """The same model with these words."""
        return replace(self, vocabulary=vocabulary)

    def with_labels(self, labels: Sequence[str] | None) -> TopicModel:
        """The same model with these names of its topics, of at most 200 characters each."""
        checked = None if labels is None else checked_labels(labels, self.n_components)
        for topic, label in zip(self.ids, checked or (), strict=False):
            require_short_label(label, topic)
        return replace(self, labels=checked)

    def __repr__(self) -> str:
        return f"TopicModel({self.n_words} words, {self.n_components} topics)"

    def _repr_html_(self) -> str:
        # What words say about topics belongs to `interpret`, which is built on this record: it is loaded when needed.
        table = import_module("anchorwords.interpret.topic_table").model_table(self, max_rows=SHOWN_ROWS)
        return html_of([table])


def _freeze(record: Any, name: str) -> None:
    """Replace an array of a record by a view that cannot be written to."""
    value = getattr(record, name)
    if value is not None:
        view = np.asarray(value).view()
        view.setflags(write=False)
        object.__setattr__(record, name, view)


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
        keyword_weights=None if model.keyword_weights is None else words.spread(model.keyword_weights),
    )


def of_parts(model: TopicModel, parts: Parts) -> TopicModel:
    """The model whose topics are the parts, for inference only."""
    return replace(
        model, B=parts.B, A=parts.A, composition_dual=parts.composition_dual, parts=None, labels=None, ids=(), edits=(),
        stability=None, keyword_weights=None, flags=(),
    )  # fmt: skip


def as_explained(model: TopicModel) -> TopicModel:
    """The model whose topics are all that documents are explained by, for inference only: its parts if it has any."""
    return model if model.parts is None else of_parts(model, model.parts)


def with_dual(model: TopicModel, dual: FloatArray) -> TopicModel:
    """Return the model with this dual matrix of prior-aware proportions, of its parts if it has any."""
    if model.parts is None:
        return replace(model, composition_dual=dual)
    return replace(model, parts=replace(model.parts, composition_dual=dual))


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


def checked_topics(record: TopicModel, topics: Any, name: str) -> list[int]:
    """Ids of topics of the model, each once, or InputError; ``name`` says what they are, such as "topics to merge"."""
    if isinstance(topics, (str, bytes)) or not isinstance(topics, Iterable):
        raise InputError(f"{name} must be a list of topic ids, such as [3, 7], but is {topics!r}.")
    found = [record.ids[record.position(topic)] for topic in topics]
    if len(set(found)) < len(found):
        twice = next(topic for topic in found if found.count(topic) > 1)
        raise InputError(f"{name}: topic {twice} is named twice; name each topic once.")
    return found


def require_short_label(label: str, topic: int) -> None:
    """Raise InputError for a label that no table or figure could show. Folders that hold one still load."""
    if len(label) > LONGEST_LABEL:
        raise InputError(
            f"the label of topic {topic} must have at most {LONGEST_LABEL} characters, but has {len(label):,}: shorten it."
        )


def _checked_labels(labels: Any, n_topics: int) -> tuple[str, ...] | None:
    return None if labels is None else checked_labels(labels, n_topics)


def _checked_ids(ids: Sequence[int], n_topics: int) -> tuple[int, ...]:
    found = tuple(operator.index(number) for number in ids) or tuple(range(n_topics))
    if len(found) != n_topics or len(set(found)) != n_topics or min(found, default=0) < 0:
        raise InputError(f"ids must be {n_topics} distinct whole numbers from 0 on, one per topic, but are {found}.")
    return found

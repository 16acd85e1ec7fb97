"""What changed between two models: their topics matched, and the differences said in words.

Notation
--------
B, pi : words x topics and prevalence of the old model; B', pi' those of the new one
total variation of topics k and l = sum_i |B_ik - B'_il| / 2, over the words of either model

A word that a model does not have has no probability there: the distance is between the two distributions as they are, and
a topic made of new words is far from every old one. Over the shared words alone, scaled up to one, what little such a topic
has of old words could match anything. How much lies outside the shared words is reported, so that a change of vocabulary
is not taken for one of topics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ._typing import BoolArray, FloatArray, IntArray
from ._validation import check_positive_integer
from .exceptions import InputError
from .interpret.naming import topic_names
from .interpret.ranking import largest
from .interpret.topic_words import words_of
from .metrics.matching import best_pairing, topic_distances
from .model import TopicModel, as_topic_model
from .records import TableList, TableRecord
from .records.table import (
    Table,
    counted,
    fixed_field,
    points_field,
    share_field,
    table_of,
    text_field,
    topic_field,
    words_field,
)

# On nips12 and kos two topics of one model are 0.74 to 0.85 apart at the median, the same topic in two halves of the
# documents 0.5 to 0.6: what is farther apart than this is as likely another topic.
_MAX_DISTANCE = 0.7


@dataclass(frozen=True, eq=False, repr=False)
class Alignment(TableRecord):
    """The topics of two models, matched.

    Attributes
    ----------
    old, new : (P,) int array
        Ids of the topics of each pair, in the order of the old model.
    total_variation : (P,) array
        Between the two topics of a pair: 0 the same, 1 no word in common.
    prevalence_old, prevalence_new : (P,) array
    gone, appeared : int array
        Ids of old topics without a partner, and of new ones.
    outside_old, outside_new : (K,), (K',) array
        Share of each topic that lies on words the other model does not have, in the order of each model.
    n_shared_words : int
    """

    old: IntArray
    new: IntArray
    total_variation: FloatArray
    prevalence_old: FloatArray
    prevalence_new: FloatArray
    gone: IntArray
    appeared: IntArray
    outside_old: FloatArray
    outside_new: FloatArray
    n_shared_words: int

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(old, new) ids."""
        return list(zip(self.old.tolist(), self.new.tolist(), strict=True))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per pair: old, new, total_variation, prevalence_old, prevalence_new."""
        names = ("old", "new", "total_variation", "prevalence_old", "prevalence_new")
        return [
            dict(zip(names, row, strict=True))
            for row in zip(*(getattr(self, name).tolist() for name in names), strict=True)
        ]

    def _tables(self, max_rows: int | None) -> list[Table]:
        fields = [
            topic_field("old", "old topic"), topic_field("new", "new topic"), fixed_field("total_variation"),
            share_field("prevalence_old", "share before"), share_field("prevalence_new", "share now"),
        ]  # fmt: skip
        alone = [
            f"{what}: {', '.join(map(str, topics.tolist()))}."
            for what, topics in (("Old topics without a match", self.gone), ("New topics", self.appeared))
            if topics.size
        ]
        caption = f"{counted(self.old.size, 'topic')} matched between two models"
        return [table_of(self.rows(), fields, caption, max_rows=max_rows, noun="pairs", notes=alone)]


class Changes(TableList):
    """What changed from one model to the next, one dict per topic; see :func:`changes`."""

    def _tables(self, max_rows: int | None) -> list[Table]:
        number = {change: sum(row["change"] == change for row in self) for change in ("kept", "new", "gone")}
        fields = [
            text_field("change"), topic_field("old", "old topic"), topic_field("new", "new topic"),
            text_field("label", strong=True), share_field("prevalence_new", "share now"),
            points_field(self, "prevalence_change", "change in points"), words_field("gained", "words gained"),
            words_field("lost", "words lost"),
        ]  # fmt: skip
        caption = f"Changes of topics, largest first: {number['kept']} kept, {number['new']} new, {number['gone']} gone"
        return [table_of(list(self), fields, caption, max_rows=max_rows, noun="topics")]


def align_topics(old: Any, new: Any, *, max_distance: float = _MAX_DISTANCE) -> Alignment:
    """Match the topics of two models so that the total variation summed over pairs is least.

    Parameters
    ----------
    old, new : TopicModel or fitted AnchorTopicModel
        Numbers of topics and vocabularies may differ. Models without vocabularies must have the same columns.
    max_distance : float
        Largest total variation of a pair, above 0 and up to 1. Topics farther from each other are not matched: one is gone
        and the other has appeared. 1 matches as many topics as share a word.

    Returns
    -------
    Alignment
    """
    both = _side_by_side(old, new)
    found = _aligned(both, max_distance)
    before, after = np.array(both.old.ids, dtype=np.intp), np.array(both.new.ids, dtype=np.intp)
    return replace(
        found, old=before[found.old], new=after[found.new], gone=before[found.gone], appeared=after[found.appeared]
    )


def changes(old: Any, new: Any, n: int = 5, *, max_distance: float = _MAX_DISTANCE) -> Changes:
    """Return what changed from one model to the next, one row per topic, largest change first.

    Parameters
    ----------
    old, new : TopicModel or fitted AnchorTopicModel
    n : int
        Words of each list.
    max_distance : float
        As in :func:`align_topics`.

    Returns
    -------
    Changes
        A list of dicts that displays as a table and has ``to_frame()``. Keys are ``change`` ("kept", "new" or "gone"),
        ``old`` and ``new`` (ids, None if there is none), ``label`` and ``words`` (the prominent ones) of the new topic, or
        of the old one if it is gone, ``size``, ``total_variation`` (None without a partner),
        ``prevalence_old``, ``prevalence_new``, ``prevalence_change``, ``gained`` and ``lost`` (words whose probability in
        the topic rose and fell most), ``outside_old``, ``outside_new`` (share of the topic on words the other model does
        not have). ``size`` is sum_i |pi_k B_ik - pi'_l B'_il| / 2: half the share of all tokens that came to the topic or
        left it, whether the topic grew or its words changed.
    """
    check_positive_integer(n, "n")
    both = _side_by_side(old, new)
    found = _aligned(both, max_distance)
    partners: list[tuple[int | None, int | None]] = [
        *found.pairs, *((k, None) for k in found.gone.tolist()), *((None, k) for k in found.appeared.tolist())
    ]  # fmt: skip
    labels = topic_names(both.old), topic_names(both.new)
    rows = [_change(both, found, before, after, n, labels) for before, after in partners]
    return Changes(sorted(rows, key=lambda row: -row["size"]))


class _Both(NamedTuple):
    """Two models over the words of either."""

    old: TopicModel
    new: TopicModel
    words: Any
    B_old: FloatArray
    B_new: FloatArray
    in_old: BoolArray
    in_new: BoolArray


def _side_by_side(old: Any, new: Any) -> _Both:
    first, second = as_topic_model(old), as_topic_model(new)
    if (first.vocabulary is None) != (second.vocabulary is None):
        raise InputError("one model has a vocabulary and the other none: give words to both, by with_vocabulary.")
    if first.vocabulary is None and first.n_words != second.n_words:
        raise InputError(
            f"models without vocabularies are compared column by column, but have {first.n_words} and {second.n_words} "
            "words: give them their words, by with_vocabulary."
        )
    if first.vocabulary == second.vocabulary:
        everywhere = np.ones(first.n_words, dtype=bool)
        return _Both(first, second, words_of(first), first.B, second.B, everywhere, everywhere)
    assert first.vocabulary is not None
    assert second.vocabulary is not None
    place = {word: i for i, word in enumerate(first.vocabulary)}
    for word in second.vocabulary:
        place.setdefault(word, len(place))
    if len(place) == first.n_words + second.n_words:
        raise InputError("the two models share no word: check that both are of the same kind of documents.")
    B_old, B_new = np.zeros((len(place), first.n_components)), np.zeros((len(place), second.n_components))
    columns = np.array([place[word] for word in second.vocabulary])
    B_old[: first.n_words], B_new[columns] = first.B, second.B
    in_new = np.zeros(len(place), dtype=bool)
    in_new[columns] = True
    return _Both(first, second, list(place), B_old, B_new, np.arange(len(place)) < first.n_words, in_new)


def _aligned(both: _Both, max_distance: float) -> Alignment:
    """The alignment, with positions of topics in the place of their ids."""
    if not isinstance(max_distance, (int, float, np.number)) or not 0 < max_distance <= 1:
        raise InputError(f"max_distance must be a number above 0 and up to 1, but is {max_distance!r}.")
    # Up to and including the largest distance; of topics without a word in common, but for rounding, no pair is made.
    farthest = min(float(np.nextafter(max_distance, 2.0)), 1.0 - 1e-12)
    matching = best_pairing(topic_distances(both.B_old, both.B_new), farthest)
    old = np.flatnonzero(matching.other >= 0)
    new = matching.other[old]
    return Alignment(
        old=old,
        new=new,
        total_variation=matching.total_variation[old],
        prevalence_old=both.old.prevalence[old],
        prevalence_new=both.new.prevalence[new],
        gone=np.flatnonzero(matching.other < 0),
        appeared=np.setdiff1d(np.arange(both.new.n_components), new),
        outside_old=both.B_old[~both.in_new].sum(axis=0),
        outside_new=both.B_new[~both.in_old].sum(axis=0),
        n_shared_words=int(np.count_nonzero(both.in_old & both.in_new)),
    )


def _change(
    both: _Both, found: Alignment, old: int | None, new: int | None, n: int, labels: tuple[list[str], list[str]]
) -> dict[str, Any]:
    """The row of a pair, or of a topic without a partner; topics are given by position and named by id."""
    nothing = np.zeros(len(both.words))
    before, share_before = (nothing, 0.0) if old is None else (both.B_old[:, old], float(both.old.prevalence[old]))
    after, share_after = (nothing, 0.0) if new is None else (both.B_new[:, new], float(both.new.prevalence[new]))
    kept = old is not None and new is not None
    difference = np.round(after - before, 12)  # what differs by rounding has not changed
    return {
        "change": "kept" if kept else ("new" if old is None else "gone"),
        "old": None if old is None else both.old.ids[old],
        "new": None if new is None else both.new.ids[new],
        "label": _label(old, new, labels),
        "words": _most(before if new is None else after, both.words, n),
        "size": float(np.abs(share_after * after - share_before * before).sum() / 2.0),
        "total_variation": float(np.abs(difference).sum() / 2.0) if kept else None,
        "prevalence_old": share_before,
        "prevalence_new": share_after,
        "prevalence_change": share_after - share_before,
        "gained": _most(difference, both.words, n) if kept else [],
        "lost": _most(-difference, both.words, n) if kept else [],
        "outside_old": None if old is None else float(found.outside_old[old]),
        "outside_new": None if new is None else float(found.outside_new[new]),
    }


def _label(old: int | None, new: int | None, labels: tuple[list[str], list[str]]) -> str:
    """Of the new topic or, if it is gone, of the old one."""
    if new is not None:
        return labels[1][new]
    assert old is not None
    return labels[0][old]


def _most(scores: FloatArray, words: Any, n: int) -> list[str]:
    return [words[i] for i in largest(scores, n) if scores[i] > 0.0]

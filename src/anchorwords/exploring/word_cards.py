"""Which words are in the page, and what it says of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..interpret.companions import FactoredCooccurrence
from ..interpret.ranking import largest
from ..model import TopicModel
from ..plot.coordinates import hull, place_rows, space_coordinates
from .plain import name, numbers

# Words of a page, and others than those that topics list, at least: a page for 100 topics then stays well below 5 MB.
_WORDS = 6000
_OTHERS = 2000
# Topics and companions of a word, and the least share of a topic worth a bar.
_TOPICS = 8
_LEAST_SHARE = 0.01
_COMPANIONS = 10


def choose_words(model: TopicModel, listed: Iterable[IntArray]) -> IntArray:
    """Columns of the words in the page, in order: every anchor, every word a topic lists, and others up to a number.

    Half of the others are the most frequent, half are taken evenly from the rest in order of frequency, so that the cloud of
    words in the page has the shape of the whole.
    """
    chosen = np.zeros(model.n_words, dtype=bool)
    for words in listed:
        chosen[words] = True
    chosen[model.anchors] = True
    for group in model.anchor_groups or ():
        chosen[list(group)] = True
    rest = np.flatnonzero(~chosen & (model.word_probs > 0.0))
    room = max(_OTHERS, _WORDS - int(chosen.sum()))
    if rest.size > room:
        frequent = largest(model.word_probs[rest], room // 2)
        order = largest(model.word_probs[rest], rest.size)[frequent.size :]
        evenly = np.linspace(0, order.size - 1, room - frequent.size).round().astype(np.intp)
        rest = rest[np.concatenate([frequent, order[evenly]])]
    chosen[rest] = True
    return np.flatnonzero(chosen)


def word_columns(
    model: TopicModel, columns: IntArray, words: Sequence[str], p: FloatArray, together: FactoredCooccurrence
) -> dict[str, list[Any]]:
    """What there is to say of each word, one list a quantity; words are called by their place in these lists."""
    places, ratios = together.companions(columns, _COMPANIONS)
    ids = np.array(model.ids)
    return {
        "text": [name(words[i]) for i in columns.tolist()],
        "probability": numbers(p[columns], 6),
        "topics": [_alternating(*_topics_of(model.word_topics[i], ids)) for i in columns.tolist()],
        "companions": [_alternating(own, numbers(ratio, 3)) for own, ratio in zip(places, ratios, strict=True)],
    }


def _topics_of(shares: FloatArray, ids: IntArray) -> tuple[IntArray, list[Any]]:
    """Ids of the topics that have most of a word, and their shares."""
    top = largest(shares, _TOPICS)
    top = top[shares[top] >= _LEAST_SHARE]
    return ids[top], numbers(shares[top], 3)


def _alternating(places: IntArray, values: list[Any]) -> list[Any]:
    """Place, value, place, value: half the brackets of a list of pairs."""
    return [entry for pair in zip(places.tolist(), values, strict=True) for entry in pair]


def word_space(model: TopicModel, columns: IntArray) -> dict[str, Any] | None:
    """The co-occurrence space (Figure 2) of these words, and the hull of the anchors; None where there is no plane.

    Without a compression Y the rows of p(topic | word) take the place of those of Cbar: the same words are corners.
    """
    # Where there is no Y, any rows will do of which anchors are corners.
    found = (
        place_rows(np.asarray(model.word_topics), model.word_probs > 0.0)
        if model.Y is None
        else space_coordinates(model)
    )
    xy = found.xy[columns]
    if not np.isfinite(xy).any() or not found.explained.any():
        return None
    return {
        "of": "word_topics" if model.Y is None else "rectified",
        "explained": numbers(found.explained, 4),
        "x": numbers(xy[:, 0], 5),
        "y": numbers(xy[:, 1], 5),
        "hull": [model.ids[k] for k in hull(found.xy[model.anchors]).tolist()],
    }

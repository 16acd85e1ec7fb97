"""Whether seed words are among the top words of their topics."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ..exceptions import GuidanceWarning
from ..model import TopicModel
from .ranking import by_relevance, check_ranking
from .topic_words import ranking_for

# A seed word should be among this many words of its topic, as many as tables list.
TOP_WORDS = 10
# Seed words that a warning names.
_NAMED = 5


def seed_ranks(model: TopicModel, seeds: Sequence[Sequence[int]]) -> list[list[int | None]]:
    """Return the rank of each seed word in its topic, from 1; None if the topic does not hold the word at all.

    Words are ranked as they are listed: see :func:`anchorwords.top_words`.

    Parameters
    ----------
    model : TopicModel
    seeds : sequence of sequences of int
        Columns of the seed words of the first topics.
    """
    found: list[list[int | None]] = []
    ranking, weight = ranking_for(model), check_ranking("relevance")
    listed = model.keyword_weights if ranking == "keywords" else model.B
    assert listed is not None  # ranking_for
    for k, words in enumerate(seeds):
        column = listed[:, [k]]
        if ranking != "relevance":
            order = np.argsort(-column[:, 0], kind="stable")
        else:
            # The relevance of one topic depends on the others through p(word) alone.
            order = by_relevance(model.B, model.prevalence, model.n_words, weight, topics=[k])[0]
        rank = np.zeros(model.n_words, dtype=np.intp)
        rank[order] = np.arange(1, order.size + 1)
        found.append([int(rank[word]) if rank[word] and column[word, 0] > 0.0 else None for word in words])
    return found


def warn_of_drift(model: TopicModel, seeds: Sequence[Sequence[int]], strength: float | None = None) -> None:
    """Warn with numbers if seed words are not among the top words of their topics.

    Parameters
    ----------
    model : TopicModel
    seeds : sequence of sequences of int
        Columns of the seed words of the first topics.
    strength : float, optional
        The strength with which topics were held to their seeds; None if they were not refined.
    """
    far = []
    for k, (words, ranks) in enumerate(zip(seeds, seed_ranks(model, seeds), strict=True)):
        for word, rank in zip(words, ranks, strict=True):
            if rank is None or rank > TOP_WORDS:
                name = f"column {word}" if model.vocabulary is None else repr(str(model.vocabulary[word]))
                where = "absent" if rank is None else f"rank {rank:,} of {np.count_nonzero(model.B[:, k]):,}"
                far.append(f"{name} ({where} in topic {model.ids[k]})")
    if not far:
        return
    total = sum(map(len, seeds))
    named = ", ".join(far[:_NAMED]) + (f" and {len(far) - _NAMED} more" if len(far) > _NAMED else "")
    advice = (
        "refine the topics (the preset 'readers'), which holds them to their seeds"
        if strength is None
        else f"raise strength, which is {strength:g}"
    )
    warnings.warn(
        f"{len(far)} of {total} seed word(s) are not among the {TOP_WORDS} top words of their topics: {named}. The topics "
        f"may be about something else: {advice}, or give more frequent or more specific seed words.",
        GuidanceWarning,
        stacklevel=2,
    )

"""Topics over time as the page shows them: curves with intervals, trends, and the words of each period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray, IntArray
from ..exceptions import InputError
from ..model import TopicModel
from ..sources.source import Source
from ..trends.over_time import topics_over_time
from ..trends.record import TopicsOverTime
from .plain import left_out, name, number, numbers

# Points of a curve at most, and of all curves together: 24,000 points with their intervals are half a megabyte.
_MOST_PERIODS = 120
_MOST_POINTS = 24_000
_FEWEST_PERIODS = 12
# Periods whose words are listed, evenly spaced, words of each, and words that rise or fall.
_WORD_PERIODS = 16
_WORDS = 6
_CHANGES = 8
_DAYS_PER_YEAR = 365.2425


@dataclass(frozen=True, eq=False)
class TopicChange:
    """How the words of a topic change, as columns of the model: the best of some periods, those that rise and fall."""

    top: list[list[int]]
    rising: list[tuple[int, float]]
    falling: list[tuple[int, float]]

    def columns(self) -> IntArray:
        """All words that are named."""
        listed = [*self.top, [word for word, _ in (*self.rising, *self.falling)]]
        return np.array([word for words in listed for word in words], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class TimeView:
    """Topics over time, and the words to show for each topic."""

    found: TopicsOverTime
    word_periods: list[int]
    changes: list[TopicChange]


def topics_in_time(
    record: TopicModel, source: Source | None, time: Any, freq: Any, words: Any, n_jobs: int | None
) -> TimeView | None:
    """Follow the topics over time; None if no time is given.

    Parameters
    ----------
    record : TopicModel
    source : Source or None
    time, freq
        As ``by`` and ``freq`` of :func:`anchorwords.topics_over_time`.
    words : sequence of N str
        The words of the model.
    n_jobs : int or None
    """
    if time is None:
        if freq is not None:
            raise InputError("freq divides documents by their time: say with time which column holds it.")
        return None
    if source is None:
        raise InputError("time belongs to documents: give the corpus too.")
    found = topics_over_time(record, source, time, freq, n_jobs=n_jobs)
    shown = _shown_periods(found)
    chosen = _evenly(shown, _WORD_PERIODS)
    column = {word: i for i, word in enumerate(words)}
    changes = []
    for topic in found.topics:
        own = found.words(topic, max(_WORDS, _CHANGES))
        changes.append(
            TopicChange(
                [[column[word] for word in own.top[t][:_WORDS]] for t in chosen],
                [(column[row["word"]], 2.0 ** row["log2_ratio"]) for row in own.rising[:_CHANGES]],
                [(column[row["word"]], 2.0 ** row["log2_ratio"]) for row in own.falling[:_CHANGES]],
            )
        )
    return TimeView(found, chosen, changes)


def time_data(view: TimeView | None, place_of: IntArray) -> dict[str, Any] | None:
    """What the page shows of topics over time.

    Parameters
    ----------
    view : TimeView or None
    place_of : (N,) int array
        Place of each column in the page's list of words.
    """
    if view is None:
        return None
    found, shown = view.found, _shown_periods(view.found)
    trends = {row["topic"]: row for row in found.trends().rows()}
    span = _span(list(trends.values()))
    return {
        "by": None if found.by is None else name(found.by),
        "freq": name(found.freq),
        "level": number(found.level),
        "periods": [name(found.periods[t]) for t in shown],
        "at": numbers(_as_numbers(found.midpoints)[shown], 8),
        "n_documents": found.n_docs[shown].tolist(),
        "word_periods": [t - shown[0] for t in view.word_periods],
        "notes": _notes(found, len(shown)),
        "topics": [
            {
                "topic": topic,
                "prevalence": numbers(found.prevalence[shown, k], 4),
                "low": numbers(found.lower[shown, k], 4),
                "high": numbers(found.upper[shown, k], 4),
                "verdict": trends[topic]["verdict"],
                "change": number(trends[topic]["change"], 4),
                "change_low": number(trends[topic]["lower"] * span, 4),
                "change_high": number(trends[topic]["upper"] * span, 4),
                "words": [place_of[words].tolist() for words in change.top],
                "rising": _alternating(change.rising, place_of),
                "falling": _alternating(change.falling, place_of),
            }
            for k, (topic, change) in enumerate(zip(found.topics, view.changes, strict=True))
        ],
    }


def _shown_periods(found: TopicsOverTime) -> list[int]:
    """The latest periods, as many as curves may have points."""
    most = max(_FEWEST_PERIODS, min(_MOST_PERIODS, _MOST_POINTS // len(found.topics)))
    return list(range(max(0, len(found.periods) - most), len(found.periods)))


def _evenly(places: list[int], most: int) -> list[int]:
    """At most so many of them, evenly spaced, the first and the last among them."""
    if len(places) <= most:
        return places
    return [places[i] for i in np.linspace(0, len(places) - 1, most).round().astype(int).tolist()]


def _as_numbers(midpoints: npt.NDArray[Any]) -> FloatArray:
    """Places on the axis of time: years for dates, the numbers themselves otherwise."""
    if midpoints.dtype.kind != "M":
        return np.asarray(midpoints, dtype=np.float64)
    return 1970.0 + midpoints.astype("M8[h]").astype(np.float64) / (24.0 * _DAYS_PER_YEAR)


def _span(trends: list[dict[str, Any]]) -> float:
    """Time from the first to the last document: the change of a topic divided by its slope; nan if no topic changes."""
    return next((row["change"] / row["slope"] for row in trends if row["slope"] and np.isfinite(row["slope"])), np.nan)


def _alternating(changes: list[tuple[int, float]], place_of: IntArray) -> list[Any]:
    """Place, ratio, place, ratio."""
    return [entry for word, ratio in changes for entry in (int(place_of[word]), number(ratio, 3))]


def _notes(found: TopicsOverTime, n_shown: int) -> list[str]:
    """What is not shown."""
    notes = []
    if found.n_without_time:
        notes.append(left_out(found.n_without_time, "document", "without a time"))
    if found.n_without_words:
        notes.append(left_out(found.n_without_words, "document", "without a word the model knows"))
    if n_shown < len(found.periods):
        notes.append(f"The latest {n_shown:,} of {len(found.periods):,} periods are shown; trends are of all of them.")
    return notes

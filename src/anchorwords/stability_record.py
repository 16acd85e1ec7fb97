"""How sure topics are: what is kept with a model."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ._typing import FloatArray
from .records import TableRecord
from .records.table import Table, counted, fixed_field, share_field, table_of, text_field, topic_field


class NamedTopics(NamedTuple):
    """The topics of a model, as rows name them; the prevalence and the labels may be unknown."""

    ids: tuple[int, ...]
    prevalence: FloatArray | None
    labels: tuple[str, ...] | None


@dataclass(frozen=True, eq=False, repr=False)
class Stability(TableRecord):
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
    # Not a part of the measurement, and not saved with it: the model that holds it knows its topics.
    _topics: ClassVar[NamedTopics | None] = None

    def with_topics(self, ids: tuple[int, ...], prevalence: FloatArray, labels: tuple[str, ...] | None) -> Stability:
        """Return the same stability, whose rows name topics by these ids and labels."""
        named = copy(self)
        object.__setattr__(named, "_topics", NamedTopics(ids, prevalence, labels))
        return named

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per topic: topic, label, stability, stable_words, anchor_stability, prevalence and its interval."""
        known = self._topics or NamedTopics(tuple(range(self.similarity.size)), None, None)
        columns: dict[str, Any] = {
            "topic": known.ids,
            **({"label": known.labels} if known.labels else {}),
            "stability": self.similarity.tolist(),
            "stable_words": self.words.tolist(),
            "anchor_stability": self.anchor.tolist(),
            "prevalence": [None] * len(known.ids) if known.prevalence is None else known.prevalence.tolist(),
            "prevalence_low": self.prevalence_low.tolist(),
            "prevalence_high": self.prevalence_high.tolist(),
        }
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def _tables(self, max_rows: int | None) -> list[Table]:
        rows = sorted(self.rows(), key=lambda row: -row["stability"])
        fields = [
            topic_field(), *([text_field("label", strong=True)] if "label" in rows[0] else []),
            fixed_field("stability", bar=True), fixed_field("stable_words", "words kept"),
            fixed_field("anchor_stability", "anchor kept"),
            share_field("prevalence", "share", low="prevalence_low", high="prevalence_high"),
        ]  # fmt: skip
        caption = f"Stability of {counted(len(rows), 'topic')}, most stable first"
        about = (
            f"{self.n_replicates} replicates of the documents, {100 * self.level:g}% intervals. Stability is the share of "
            "a topic that a replicate finds again, from 0 to 1."
        )
        return [table_of(rows, fields, caption, max_rows=max_rows, noun="topics", notes=[about])]

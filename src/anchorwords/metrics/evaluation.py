"""The result of an evaluation: a dict that displays as a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..records import TableRecord
from ..records.cells import Cell, plain_number
from ..records.table import Field, Table, counted, number_field, table_of, text_field, topic_field
from .catalogue import BY_NAME

# Metrics of single topics that are displayed, if they were measured.
_BY_TOPIC = (
    "npmi_coherence",
    "umass_coherence",
    "mst_incoherence",
    "dissimilarity",
    "specificity",
    "entropy",
    "stability",
)


class Evaluation(TableRecord, dict[str, Any]):
    """Metrics of a model by name; see :func:`evaluate`.

    It is a dict in every way, displays as a table, and has ``to_frame()``, one row per metric.

    Attributes
    ----------
    topics : tuple of K int
        Ids of the topics, in the order of the arrays under ``per_topic``.
    labels : tuple of K str
    """

    def __init__(self, values: Mapping[str, Any], topics: Sequence[int], labels: Sequence[str]) -> None:
        super().__init__(values)
        self.topics, self.labels = tuple(topics), tuple(labels)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per metric: metric, title, value, standard_error (None if exact), better."""
        errors = self["standard_error"]
        return [
            {
                "metric": name,
                "title": BY_NAME[name].title,
                "value": float(self[name]),
                "standard_error": errors.get(name),
                "better": BY_NAME[name].better,
            }
            for name in self
            if name in BY_NAME
        ]

    def topic_rows(self) -> list[dict[str, Any]]:
        """Return one row per topic: topic, label, and its value of each metric that topics have."""
        return [
            {"topic": topic, "label": label} | {name: float(values[k]) for name, values in self["per_topic"].items()}
            for k, (topic, label) in enumerate(zip(self.topics, self.labels, strict=True))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the same dict made of lists and numbers, as JSON can hold it; nan becomes None."""
        return {name: _plain(value) for name, value in self.items()}

    def _tables(self, max_rows: int | None) -> list[Table]:
        about = self["reference"]
        fields = [
            text_field("title", "metric", strong=True), Field("value", _value), Field("", _direction, False),
            Field("measured on", _measured_on, False, True),
        ]  # fmt: skip
        caption = f"Quality of {counted(about['topics'], 'topic')} on {counted(about['documents'], 'document')}"
        notes = [f"{BY_NAME[name].title} has no value: {why}" for name, why in self["undefined"].items()]
        overall = table_of(self.rows(), fields, caption, noun="metrics", max_rows=None, notes=notes)
        names = [name for name in _BY_TOPIC if name in self["per_topic"]]
        if not names:
            return [overall]
        titles = {name: BY_NAME[name].title if name in BY_NAME else name for name in names}
        of_topics = [
            topic_field(),
            text_field("label", strong=True),
            *(number_field(one, titles[one]) for one in names),
        ]
        return [
            overall,
            table_of(
                self.topic_rows(),
                of_topics,
                "By topic",
                noun="topics; topic_rows() has all",
                max_rows=max_rows,
                folded=True,
            ),
        ]


def _value(row: Mapping[str, Any]) -> Cell:
    error = row["standard_error"]
    return Cell(plain_number(row["value"], 4), "" if error is None else f"± {plain_number(error, 2)}")


def _direction(row: Mapping[str, Any]) -> Cell:
    return Cell(BY_NAME[row["metric"]].direction)


def _measured_on(row: Mapping[str, Any]) -> Cell:
    return Cell(BY_NAME[row["metric"]].measured_on)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

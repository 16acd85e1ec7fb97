"""What all edits share: the kind of model they return, the ids they take, the record they keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..model import LONGEST_LABEL, Edit, TopicModel


def like(model: Any, record: TopicModel) -> Any:
    """The edited record as what was given: a TopicModel, or an estimator of the same kind with these topics."""
    return model.with_model(record) if hasattr(model, "with_model") else record


def noted(record: TopicModel, edit: Edit) -> TopicModel:
    """The record with this edit at the end of its history."""
    return replace(record, edits=(*record.edits, edit))


def unused_ids(record: TopicModel, n: int) -> list[int]:
    """Ids that no topic of the model has or ever had."""
    used = {*record.ids, *(topic for edit in record.edits for topic in (*edit.topics, *edit.result))}
    first = max(used) + 1
    return list(range(first, first + n))


def label_of_merged(labels: Iterable[str]) -> str:
    """The labels that people gave to the topics that are merged, cut if they are too long; empty if there are none."""
    joined = " + ".join(dict.fromkeys(label for label in labels if label))
    return joined if len(joined) <= LONGEST_LABEL else f"{joined[: LONGEST_LABEL - 1].rstrip()}…"

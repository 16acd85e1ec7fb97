"""Effects of covariates as tables for readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..records.cells import value_text
from ..records.table import (
    Table,
    counted,
    largest_of,
    p_field,
    points_field,
    share_field,
    table_of,
    text_field,
    topic_field,
)

if TYPE_CHECKING:
    from .record import Estimates, Predictions


def estimates_table(found: Estimates, caption: str, notes: Sequence[str], max_rows: int | None) -> Table:
    """Return one row per topic and coefficient, in percentage points with its interval."""
    rows = found.rows()
    fields = [
        topic_field(), text_field("label", strong=True), text_field(found.key),
        points_field(rows, "estimate", "points", low="lower", high="upper", by=found.key), p_field("p_value", "p-value"),
    ]  # fmt: skip
    about = f"Percentage points of the proportion of a topic, with {100 * found.level:g}% intervals."
    return table_of(rows, fields, caption, max_rows=max_rows, notes=[about, *notes])


def held_in_words(held: Mapping[str, Any]) -> list[str]:
    """Say which values columns have that were not given; nothing if all were."""
    found = [
        f"{name}={value_text(value)} ({'mean' if isinstance(value, float) else 'most frequent value'})"
        for name, value in held.items()
    ]
    return [f"Columns that are not given: {', '.join(found)}."] if found else []


def dates_in_words(names: Sequence[str]) -> list[str]:
    """Say in which unit of time coefficients of dates are; nothing if there are none."""
    return [f"Dates ({', '.join(names)}) are decimal years: their coefficients are per year."] if names else []


def predictions_table(found: Predictions, max_rows: int | None) -> Table:
    """Return one row per topic and row of the grid, with its interval."""
    rows = found.rows()
    fields = [
        topic_field(), text_field("label", strong=True), *(text_field(name) for name in found.grid),
        share_field("estimate", "predicted proportion", low="lower", high="upper", largest=largest_of(rows, "estimate")),
    ]  # fmt: skip
    caption = f"Predicted proportions of {counted(len(found.topics), 'topic')}"
    notes = [f"Means of documents with these values, with pointwise {100 * found.level:g}% intervals."]
    return table_of(rows, fields, caption, max_rows=max_rows, notes=notes)

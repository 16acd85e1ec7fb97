"""Effects of covariates as tables for readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..records.table import Table, number_field, p_field, points_field, share_field, table_of, text_field, topic_field

if TYPE_CHECKING:
    from .record import Estimates, Predictions


def estimates_table(found: Estimates, caption: str, notes: Sequence[str], max_rows: int | None) -> Table:
    """Return one row per topic and coefficient, in percentage points with its interval."""
    fields = [
        topic_field(), text_field("label", strong=True), text_field(found.key),
        points_field("estimate", "points", low="lower", high="upper"), p_field("p_value", "p-value"),
    ]  # fmt: skip
    about = f"Percentage points of the proportion of a topic, with {100 * found.level:g} % intervals."
    return table_of(found.rows(), fields, caption, max_rows=max_rows, notes=[about, *notes])


def predictions_table(found: Predictions, max_rows: int | None) -> Table:
    """Return one row per topic and row of the grid, with its interval."""
    rows = found.rows()
    values = [text_field(name) if _is_text(rows, name) else number_field(name, digits=4) for name in found.grid]
    fields = [
        topic_field(), text_field("label", strong=True), *values,
        share_field("estimate", "predicted proportion", low="lower", high="upper", largest=1.0),
    ]  # fmt: skip
    caption = f"Predicted proportions of {len(found.topics):,} topics"
    notes = [f"Means of documents with these values, with pointwise {100 * found.level:g} % intervals."]
    return table_of(rows, fields, caption, max_rows=max_rows, notes=notes)


def _is_text(rows: Sequence[dict[str, object]], name: str) -> bool:
    """Whether values are no measurements: years have no separator of thousands."""
    return not all(isinstance(row[name], float) for row in rows)

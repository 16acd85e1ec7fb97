"""Prevalence in groups as a table for readers: topics by groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records.cells import Cell, decimals_of, share_cell
from ..records.table import Field, Table, counted, table_of, text_field, topic_field

if TYPE_CHECKING:
    from .prevalence import GroupPrevalence

# Groups that are displayed side by side.
_COLUMNS = 6


def group_table(found: GroupPrevalence, max_rows: int | None) -> Table:
    """Return one row per topic, most prevalent first, and one column per group with its interval and a bar."""
    size = found.n_docs.astype(np.float64)
    known = size > 0.0
    overall = size[known] @ found.prevalence[known] / max(float(size.sum()), 1.0)
    order = np.argsort(-overall, kind="stable")
    rows = [{"topic": found.topics[k], "label": found.labels[k], "place": k} for k in order.tolist()]
    shown = min(len(found.groups), _COLUMNS) if max_rows is not None else len(found.groups)
    top = float(np.nanmax(found.prevalence, initial=0.0)) or 1.0
    fields = [topic_field(), text_field("label", strong=True), *(_group_field(found, g, top) for g in range(shown))]
    by = f" by {found.by}" if found.by else ""
    n_docs = int(found.n_docs.sum())
    notes = [
        f"Showing {shown} of {counted(len(found.groups), 'group')}." if shown < len(found.groups) else "",
        f"Mean topic proportions, with {100 * found.level:g}% intervals for the sampling of documents.",
        *_left_out(found),
    ]
    about = f"{counted(len(found.groups), 'group')}, {counted(n_docs, 'document')}"
    caption = f"Prevalence of {counted(len(found.topics), 'topic')}{by}: {about}"
    return table_of(rows, fields, caption, max_rows=max_rows, noun="topics", notes=notes)


def _group_field(found: GroupPrevalence, g: int, top: float) -> Field:
    def show(row: Any) -> Cell:
        k = row["place"]
        share = float(found.prevalence[g, k])
        bar = None if np.isnan(share) else share / top
        return share_cell(share, float(found.low[g, k]), float(found.high[g, k]), bar=bar, decimals=decimals_of(top))

    return Field(str(found.groups[g]), show)


def _left_out(found: GroupPrevalence) -> Sequence[str]:
    """Sentences about documents that are in no group."""
    parts = [
        (found.n_without_group, "without a group"),
        (found.n_without_words, "without a word that the model knows"),
        (found.n_in_small_groups, f"in groups of fewer than {found.min_docs} documents"),
    ]
    left = [f"{n:,} {what}" for n, what in parts if n]
    return [f"Documents left out: {', '.join(left)}."] if left else []

"""A scan as tables for readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..metrics.catalogue import BY_NAME
from ..records.cells import Cell, is_missing, percent, plain_number
from ..records.table import Field, Table, fixed_field, number_field, table_of, text_field

if TYPE_CHECKING:
    from .record import Scan


def scan_tables(scan: Scan, max_rows: int | None) -> list[Table]:
    """Return the levels, if there are any, and one row per number of topics."""
    levels = [level.row() for level in scan.levels]
    about = [
        text_field("name", "level", strong=True), number_field("n_components", "topics"),
        text_field("why", wide=True), text_field("gained", wide=True), text_field("lost", wide=True),
    ]  # fmt: skip
    rows = scan.rows()
    measured = [name for name in rows[0] if name in BY_NAME]
    fields = [
        Field("topics", _number), text_field("level", strong=True), Field("replicated", _replicated),
        fixed_field("stability"), Field("held-out perplexity", _perplexity),
        *(number_field(name, BY_NAME[name].title) for name in measured),
    ]  # fmt: skip
    n = len(scan.n_components)
    caption = f"Scan of {n} {'number' if n == 1 else 'numbers'} of topics: {scan.n_docs:,} documents"
    found = table_of(rows, fields, caption, max_rows=max_rows, noun="numbers of topics", notes=list(scan.reasons))
    return [table_of(levels, about, "Numbers of topics to consider"), found] if levels else [found]


def _number(row: Any) -> Cell:
    return Cell(plain_number(row["n_components"]), strong=bool(row["recommended"]))


def _replicated(row: Any) -> Cell:
    """The share of topics that both halves of the documents find."""
    found = row["n_replicated"]
    if is_missing(found):
        return Cell(plain_number(None))
    share = found / row["n_components"]
    return Cell(percent(share, 0), bar=min(share, 1.0))


def _perplexity(row: Any) -> Cell:
    value = row["heldout_perplexity"]
    return Cell(plain_number(None) if is_missing(value) else f"{value:,.0f}")

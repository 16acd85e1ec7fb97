"""Topics over time as tables for readers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records.cells import MISSING, Cell, decimals_of, is_missing, plain_number, share_cell
from ..records.table import (
    Field,
    Table,
    counted,
    p_field,
    points_field,
    small_field,
    table_of,
    text_field,
    topic_field,
    words_field,
)
from .periods import ALIASES

if TYPE_CHECKING:
    from .record import TopicsOverTime, Trends
    from .topic_words import TopicWords

_ARROWS = {"rising": "↑ rising", "falling": "↓ falling"}


def over_time_table(found: TopicsOverTime, max_rows: int | None) -> Table:
    """Return one row per topic, most prevalent first: its curve, and its prevalence in the first and the last period."""
    size = found.n_docs.astype(np.float64)
    known = np.flatnonzero(size > 0.0)
    overall = size[known] @ found.prevalence[known] / size.sum()
    order = np.argsort(-overall, kind="stable")
    rows = [{"topic": found.topics[k], "label": found.labels[k], "place": k} for k in order.tolist()]
    decimals = decimals_of(float(np.nanmax(found.prevalence, initial=0.0)))
    first, last = (int(known[0]), int(known[-1])) if known.size else (0, len(found.periods) - 1)

    def at(t: int) -> Field:
        def show(row: Mapping[str, Any]) -> Cell:
            k = row["place"]
            share, low, high = (float(part[t, k]) for part in (found.prevalence, found.lower, found.upper))
            return share_cell(share, low, high, decimals=decimals)

        return Field(str(found.periods[t]), show)

    def curve(row: Mapping[str, Any]) -> Cell:
        values = found.prevalence[:, row["place"]].tolist()
        highest = max((value for value in values if not math.isnan(value)), default=0.0)
        return Cell(f"{row['label']}: highest {100 * highest:.1f}%", curve=tuple(values))

    fields = [
        topic_field(), text_field("label", strong=True), Field("prevalence over time", curve, False),
        *([at(first), at(last)] if last > first else [at(first)]),
    ]  # fmt: skip
    by = f" by {found.by}" if found.by else ""
    about = f"{counted(len(found.periods), 'period')}, {counted(int(size.sum()), 'document')}"
    caption = f"Prevalence of {counted(len(found.topics), 'topic')}{by}: {about}"
    left = [
        f"{n:,} {what}"
        for n, what in ((found.n_without_time, "without a time"), (found.n_without_words, "without a known word"))
        if n
    ]
    notes = [
        f"Mean topic proportions, with {100 * found.level:g}% intervals. Each curve begins at zero and ends at its own "
        "maximum.",
        f"Documents left out: {', '.join(left)}." if left else "",
    ]
    return table_of(rows, fields, caption, max_rows=max_rows, noun="topics", notes=notes)


def periods_in_words(freq: str) -> str:
    """Say what the periods are, after their number: "of 5 years", "of about as many documents each"."""
    if freq == "distinct":
        return "of one value each"
    if freq.startswith("quantiles"):
        return "of about as many documents each"
    if freq.startswith("width"):
        return f"of {freq}"
    alias = freq.lstrip("0123456789")
    n, (own, unit) = int(freq.removesuffix(alias) or 1), ALIASES[alias]
    name = {(7, "D"): "week", (3, "M"): "quarter"}.get((own, unit)) or {"Y": "year", "M": "month", "D": "day"}[unit]
    return f"of one {name} each" if n == 1 else f"of {n} {name}s each"


def trends_table(found: Trends, max_rows: int | None) -> Table:
    """Return one row per topic: slope with its interval, change over the whole time, and verdict."""
    unit = "year" if found.unit == "year" else found.by or "unit of time"
    fields = [
        topic_field(), text_field("label", strong=True), Field("trend", _verdict, False),
        points_field(found.table, "slope", f"points per {unit}", low="lower", high="upper"),
        points_field(found.table, "change", "points in all"),
        p_field("q_value", "q-value"),
    ]  # fmt: skip
    caption = f"Linear trends of {counted(len(found.table), 'topic')}, steepest first"
    notes = [
        f"In percentage points, with {100 * found.level:g}% intervals; verdicts at a false discovery rate of "
        f"{100 * found.fdr:g}%."
    ]
    return table_of(found.table, fields, caption, max_rows=max_rows, noun="topics", notes=notes)


def words_tables(found: TopicWords, max_rows: int | None) -> list[Table]:
    """Return the top words of each period, and the words that rise and fall."""
    periods = [
        {"period": str(period), "tokens": float(found.tokens[t]), "words": found.top[t]}
        for t, period in enumerate(found.periods)
    ]
    name = f"topic {found.topic}, {found.label}"
    fields = [text_field("period"), Field("tokens", _tokens), words_field("words", "most important words")]
    changed = [
        Field("word", lambda row: Cell(str(row["word"]), strong=True), False), small_field("early", "early share"),
        small_field("late", "late share"), Field("ratio", _ratio),
    ]  # fmt: skip
    return [
        table_of(periods, fields, f"Words of {name}, by period", max_rows=max_rows, noun="periods"),
        *(
            table_of(rows, changed, f"Words that {what} within {name}", max_rows=max_rows, noun="words")
            for what, rows in (("rise", found.rising), ("fall", found.falling))
            if rows
        ),
    ]


def _verdict(row: Mapping[str, Any]) -> Cell:
    verdict = str(row.get("verdict", MISSING))
    return Cell(_ARROWS.get(verdict, verdict))


def _tokens(row: Mapping[str, Any]) -> Cell:
    return Cell(f"{row['tokens']:,.0f}")


def _ratio(row: Mapping[str, Any]) -> Cell:
    """How many times the late share is the early one, from its logarithm to base 2."""
    parts = [row["log2_ratio"], row["lower"], row["upper"]]
    if any(map(is_missing, parts)):
        return Cell(MISSING)
    ratio, low, high = (plain_number(2.0**part, 2) for part in parts)
    return Cell(f"× {ratio}", f"({low} to {high})")

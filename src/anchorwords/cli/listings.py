"""Results as listings: a line a topic, a change, a group or a word."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._markdown import separator_of
from ..records.text import shortened
from .tables import Justify, Listing, percent, stability_cells

if TYPE_CHECKING:
    from ..interpret.prevalence import GroupPrevalence
    from ..model import Edit
    from ..trends.record import TopicsOverTime
    from ..trends.topic_words import TopicWords


# Characters of a table of trends without its charts, if labels are folded.
_OTHER_COLUMNS = 82
# A narrower terminal has no space for the peak of each topic, next to its label.
_WIDE = 100


def stability_as_listing(rows: list[dict[str, Any]]) -> Listing:
    """How sure each topic is, from topic_table."""
    columns: list[tuple[str, Justify]] = [
        ("topic", "right"), ("share", "right"), ("interval", "right"), ("stability", "right"), ("words kept", "right"),
        ("anchor kept", "right"), ("anchor", "left"),
    ]  # fmt: skip
    cells = [
        [str(row["topic"]), percent(row["prevalence"]), *stability_cells(row), row["anchor"]] for row in rows
    ]  # fmt: skip
    return Listing(columns, cells)


def common_words_as_listing(found: list[dict[str, Any]]) -> Listing:
    """Candidates for stop words, from common_words."""
    columns: list[tuple[str, Justify]] = [("common word", "left"), ("of all words", "right"), ("spread", "right")]
    return Listing(
        columns, [[one["word"], f"{100 * one['probability']:.3g}%", f"{one['spread']:.2f}"] for one in found]
    )


def edits_as_listing(edits: Sequence[Edit]) -> Listing:
    """What was done to the topics since the fit, in order."""
    columns: list[tuple[str, Justify]] = [("edit", "right"), ("what was done", "left")]
    return Listing(columns, [[str(number), edit.sentence()] for number, edit in enumerate(edits, start=1)])


def changes_as_listing(rows: list[dict[str, Any]]) -> Listing:
    """What changed, from compare.changes."""
    columns: list[tuple[str, Justify]] = [
        ("change", "left"), ("old", "right"), ("new", "right"), ("share", "right"), ("now", "right"), ("apart", "right"),
        ("words", "left"), ("gained", "left"), ("lost", "left"),
    ]  # fmt: skip
    cells = []
    for row in rows:
        between = separator_of(row["words"] + row["gained"] + row["lost"])
        distance = row["total_variation"]
        cells.append([
            row["change"], _or_dash(row["old"]), _or_dash(row["new"]),
            "-" if row["old"] is None else percent(row["prevalence_old"]),
            "-" if row["new"] is None else percent(row["prevalence_new"]),
            "-" if distance is None else f"{distance:.2f}",
            *(between.join(row[name]) for name in ("words", "gained", "lost")),
        ])  # fmt: skip
    return Listing(columns, cells)


def groups_as_listing(
    found: GroupPrevalence,
    words: Mapping[int, list[str]],
    n_topics: int,
    by_tokens: bool,
    topics: Collection[int] | None = None,
) -> Listing:
    """Topics that stand out in each group: those whose share exceeds that of all groups together most.

    ``words`` are those of each topic, by its id; ``topics`` are the ids of the topics to choose from, all by default.
    """
    import numpy as np

    columns: list[tuple[str, Justify]] = [
        ("group", "left"), ("documents", "right"), ("share", "right"), ("interval", "right"), ("in all", "right"),
        ("topic", "right"), ("label", "left"), ("words", "left"),
    ]  # fmt: skip
    known = found.n_docs > 0
    sizes = (found.n_tokens if by_tokens else found.n_docs)[known]
    everywhere = sizes @ found.prevalence[known] / sizes.sum()
    cells = []
    for g, group in enumerate(found.groups):
        head = [str(group), f"{int(found.n_docs[g]):,}"]
        if not known[g]:
            cells.append([*head, "", "", "", "", "", "none that the model knows a word of"])
            continue
        ranked = np.argsort(-(found.prevalence[g] - everywhere), kind="stable").tolist()
        for k in [k for k in ranked if topics is None or found.topics[k] in topics][:n_topics]:
            own = words[found.topics[k]]
            low, high = found.low[g, k], found.high[g, k]
            interval = "-" if np.isnan(low) else f"{100 * low:.1f} to {percent(high)}"
            cells.append([
                *head, percent(found.prevalence[g, k]), interval, percent(everywhere[k]), str(found.topics[k]),
                shortened(found.labels[k]), separator_of(own).join(own),
            ])  # fmt: skip
            head = ["", ""]
    return Listing(columns, cells)


def trends_as_listing(
    found: TopicsOverTime, rows: list[dict[str, Any]], *, ascii_only: bool = False, width: int = 160
) -> Listing:
    """Trends of topics in percentage points, with the prevalence in each period as a small chart."""
    from .sparkline import sparkline

    unit = "year" if found.unit == "year" else found.by or "unit"
    columns: list[tuple[str, Justify]] = [
        ("topic", "right"), ("label", "left"), (f"per {unit}", "right"), ("interval", "right"), ("change", "right"),
        ("verdict", "left"), ("course", "left"), ("peak", "right"),
    ]  # fmt: skip
    columns = columns if width >= _WIDE else columns[:-1]
    # The chart takes what other columns leave of the width of a terminal.
    widest = min(30, max(10, width - _OTHER_COLUMNS))
    # Two digits of the largest slope, which may be per day.
    largest = max((100.0 * abs(row["slope"]) for row in rows if row["slope"]), default=1.0)
    digits = max(2, 1 - math.floor(math.log10(largest))) if largest > 0.0 else 2
    cells = []
    for row in rows:
        course = found.prevalence[:, found.topics.index(row["topic"])]
        known = course[course == course]
        ends = [_points(row[name], digits) for name in ("lower", "upper")]
        interval = "-" if "-" in ends else " to ".join(ends)
        cells.append([
            str(row["topic"]), shortened(row["label"]), _points(row["slope"], digits), interval, _points(row["change"], 1),
            row["verdict"], sparkline(course, widest, ascii_only=ascii_only), percent(float(known.max())),
        ][: len(columns)])  # fmt: skip
    return Listing(columns, cells, whole=("interval", "verdict", "course"))


def word_changes_as_listing(changed: list[TopicWords]) -> Listing:
    """Words that rise and fall within topics; topics without such words are left out."""
    columns: list[tuple[str, Justify]] = [
        ("topic", "right"), ("label", "left"), ("rising words", "left"), ("falling words", "left"),
    ]  # fmt: skip
    cells = []
    for own in changed:
        rising, falling = ([one["word"] for one in part] for part in (own.rising, own.falling))
        between = separator_of(rising + falling)
        if rising or falling:
            cells.append(
                [str(own.topic), shortened(own.label), between.join(rising) or "-", between.join(falling) or "-"]
            )
    return Listing(columns, cells)


def _points(share: float, digits: int) -> str:
    """A change of a share in percentage points, with its sign."""
    return "-" if share != share else f"{100.0 * share:+.{digits}f}"


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)

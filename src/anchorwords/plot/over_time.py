"""Topics over time as drawn: prevalence with intervals, a panel per topic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._typing import BoolArray
from ..exceptions import InputError
from ..trends.record import TopicsOverTime
from .style import GREY, PALETTE, new_figure, own_axes, plain, style, topic_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Panels drawn unless topics are named.
_PANELS = 9
# For up to so many panels: panels per row, and characters of a topic's name that fit above one.
_ACROSS = ((1, 1, 60), (4, 2, 34), (9, 3, 32), (20, 4, 24), (10**9, 5, 21))
_WIDTHS = {1: 4.2, 2: 2.9, 3: 2.3, 4: 1.95, 5: 1.8}
# With more periods, points would touch each other.
_MOST_MARKED = 16
_COLOURS = {"rising": PALETTE[0], "falling": PALETTE[1], "no clear trend": GREY}


def over_time(
    result: TopicsOverTime, topics: Sequence[int] | None = None, *, share_y: bool = False, errors: str = "periods"
) -> Figure:
    """Draw the prevalence of topics over time with intervals: a panel per topic.

    Parameters
    ----------
    result : TopicsOverTime
        As :func:`anchorwords.topics_over_time` returns it.
    topics : sequence of int, optional
        Ids, in the order in which they are drawn. By default the nine topics with the clearest change: those that rise
        or fall by :meth:`TopicsOverTime.trends`, largest change first, and then others.
    share_y : bool
        Use the same vertical scale in all panels, to compare the size of topics rather than their course.
    errors : {"periods", "documents"}
        How trends are judged; see :meth:`TopicsOverTime.trends`.

    Returns
    -------
    matplotlib Figure
        Above each panel stand the id and the name of the topic, and its change over the whole time in percentage points if
        there is a clear trend. Rising topics are blue, falling ones orange, and others grey. Lines are broken where there
        are periods without documents.
    """
    if not isinstance(result, TopicsOverTime):
        raise InputError(f"result must be what topics_over_time returns, but is {type(result).__name__}.")
    trends = {row["topic"]: row for row in result.trends(errors=errors).rows()}
    shown = _clearest(trends) if topics is None else list(topics)
    if not shown or any(topic not in result.topics for topic in shown):
        odd = next((topic for topic in shown if topic not in result.topics), None)
        raise InputError(f"there is no topic {odd!r} to draw: the topics are {', '.join(map(str, result.topics))}.")
    across, longest = next(entry[1:] for entry in _ACROSS if len(shown) <= entry[0])
    across = min(across, len(shown))
    down = -(-len(shown) // across)
    with style():
        figure = new_figure(0.5 + _WIDTHS[across] * across, 0.4 + (2.6 if len(shown) == 1 else 1.5) * down)
        grid = figure.subplots(down, across, squeeze=False, sharex=True, sharey=share_y).ravel()
        for place, (ax, topic) in enumerate(zip(grid, shown, strict=False)):
            row, k = trends[topic], result.topics.index(topic)
            _course(own_axes(ax, 0, 0), result, k, _COLOURS[row["verdict"]])
            ax.set_title(f"{topic_text(topic, result.labels[k], longest)}\n{_said(row)}", linespacing=1.15)
            # Panels above an empty place have no panel below that would show the periods.
            ax.tick_params(labelbottom=place + across >= len(shown))
        for ax in grid[len(shown) :]:
            ax.set_axis_off()
        if share_y:
            grid[0].set_ylim(0.0, None)
        figure.supxlabel(plain("time" if result.by is None else result.by), fontsize=8)
        apart = "\n" if down == 1 else " "  # one line is longer than the figure is high
        figure.supylabel(f"share of the topic, %{apart}({100 * result.level:g}% intervals)", fontsize=8)
    return figure


def _clearest(trends: dict[int, dict[str, Any]]) -> list[int]:
    """Topics with a clear trend, largest change first, and then others."""
    clear = {topic: row["verdict"] != "no clear trend" for topic, row in trends.items()}
    change = {topic: np.nan_to_num(abs(row["change"])) for topic, row in trends.items()}
    return sorted(trends, key=lambda topic: (not clear[topic], -change[topic]))[:_PANELS]


def _said(row: dict[str, Any]) -> str:
    if row["verdict"] == "no clear trend":
        return row["verdict"]
    return f"{row['verdict']}, {100.0 * row['change']:+.1f} points".replace("-", "−")


def _course(ax: Axes, result: TopicsOverTime, k: int, colour: str) -> None:
    from matplotlib.ticker import MaxNLocator

    x = result.midpoints
    dated = x.dtype.kind == "M"
    value, lower, upper = (100.0 * part[:, k] for part in (result.prevalence, result.lower, result.upper))
    for part in _runs(gaps(result) | np.isnan(value)[1:] | np.isnan(value)[:-1], ~np.isnan(value)):
        alone = part.stop - part.start == 1
        marked = alone or len(x) <= _MOST_MARKED
        ax.plot(x[part], value[part], color=colour, marker="o" if marked else "", markersize=2.6)
        if alone:  # a band of no width cannot be seen
            ax.vlines(x[part], lower[part], upper[part], color=colour, linewidth=1.0, alpha=0.5)
        else:
            ax.fill_between(x[part], lower[part], upper[part], color=colour, alpha=0.2, linewidth=0)
    ax.set_ylim(0.0, None)
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.margins(x=0.03)
    if dated:
        from matplotlib import dates

        untyped: Any = dates
        locator = untyped.AutoDateLocator(minticks=2, maxticks=4)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(untyped.ConciseDateFormatter(locator, show_offset=False))
    else:
        whole = bool(np.ptp(x.astype(np.float64)) >= 3.0)
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=whole))
        ax.ticklabel_format(axis="x", useOffset=False)


def gaps(result: TopicsOverTime) -> BoolArray:
    """Whether periods without documents lie between each period and the next."""
    starts, ends = result.starts, result.ends
    if len(starts) < 2 or result.freq.startswith("quantiles"):
        return np.zeros(max(len(starts) - 1, 0), dtype=bool)
    if starts.dtype.kind == "M" or (starts < ends).all():
        return np.asarray(starts[1:] > ends[:-1])
    # Single values, such as years: more apart than most are. Values that are not whole numbers may be anything.
    steps = np.diff(starts.astype(np.float64))
    whole = bool((starts == np.floor(starts)).all())
    return np.asarray(steps > 1.5 * np.median(steps)) if whole else np.zeros(steps.size, dtype=bool)


def _runs(broken: BoolArray, known: npt.NDArray[np.bool_]) -> list[slice]:
    """Periods that one line joins: from one break to the next, those with a value."""
    edges = [0, *(np.flatnonzero(broken) + 1).tolist(), known.size]
    return [slice(a, b) for a, b in pairwise(edges) if known[a]]

"""Prevalence of topics in groups of documents as drawn: a heat map, or points with intervals."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import InputError
from ..interpret.prevalence import GroupPrevalence
from .style import GREY, MARKERS, PALETTE, legend_text, new_figure, own_axes, panels_across, plain, style, topic_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS, ORDERS = ("auto", "intervals", "heatmap"), ("auto", "similar", "given")
# Groups told apart by colour and marker within a row of a topic; topics that get a panel each.
_MOST_COLOURS, _MOST_PANELS = 5, 6
# Drawn unless they are named: more do not fit on a page.
_MOST_TOPICS, _MOST_GROUPS = 40, 60
# Characters of the names of groups that fit in one line of a legend.
_LEGEND = 70
# Rows and columns of a heat map whose cells hold a number that can be read.
_MOST_WRITTEN = 30
_NAME = 32


def groups(
    result: GroupPrevalence,
    topics: Sequence[int] | None = None,
    *,
    groups: Sequence[Any] | None = None,
    kind: str = "auto",
    order: str = "auto",
) -> Figure:
    """Draw how prevalent topics are in groups of documents.

    Parameters
    ----------
    result : GroupPrevalence
        As :func:`anchorwords.prevalence_by` returns it.
    topics : sequence of int, optional
        Ids, in the order in which they are drawn. By default all topics, or the 40 that differ most between groups.
    groups : sequence, optional
        Labels of groups, in the order in which they are drawn. By default all of them, or the 60 largest.
    kind : {"auto", "intervals", "heatmap"}
        "intervals" draws points with intervals: for up to five groups, a row per topic with a point per group; for more, a
        panel per topic with a row per group. "heatmap" draws groups x topics, which shows blocks but no intervals. "auto"
        draws intervals if there are at most five groups or six topics.
    order : {"auto", "similar", "given"}
        Of a heat map: "similar" places groups with the same topics next to each other (average linkage of square roots of
        the shares, optimal order of leaves), and topics in the order of the groups that they are most prevalent in, so that
        blocks lie along the diagonal. "given" keeps the order of the result. "auto" is "given" for groups that are numbers
        or dates, and "similar" otherwise. What is named by ``topics`` or ``groups`` keeps the order given there.

    Returns
    -------
    matplotlib Figure
    """
    if not isinstance(result, GroupPrevalence):
        raise InputError(f"result must be what prevalence_by returns, but is {type(result).__name__}.")
    for name, value, known in (("kind", kind, KINDS), ("order", order, ORDERS)):
        if value not in known:
            raise InputError(f"{name} must be one of {', '.join(map(repr, known))}, but is {value!r}.")
    rows = _named(result.groups, groups, "group") if groups is not None else _largest(result)
    columns = _named(result.topics, topics, "topic") if topics is not None else _differing(result, rows)
    if kind == "auto":
        few = len(rows) <= _MOST_COLOURS or len(columns) <= _MOST_PANELS
        kind = "intervals" if few else "heatmap"
    with style():
        if kind == "intervals":
            draw = _coloured if len(rows) <= _MOST_COLOURS else _panels
            return draw(result, rows, columns)
        if order == "similar" or (order == "auto" and not _have_an_order(result.groups)):
            shares = result.prevalence[np.ix_(rows, columns)]
            rows = rows if groups is not None else [rows[i] for i in _similar(shares)]
            if topics is None:
                columns = [columns[i] for i in _along(result.prevalence[np.ix_(rows, columns)])]
        return _heatmap(result, rows, columns)


def _coloured(result: GroupPrevalence, rows: list[int], columns: list[int]) -> Figure:
    """A row per topic, a point per group; topics with the largest differences on top unless they were named."""
    from matplotlib.ticker import MaxNLocator

    G, n = len(rows), len(columns)
    names = [f"{legend_text(result.groups[g])} ({int(result.n_docs[g]):,} documents)" for g in rows]
    in_a_line = sum(map(len, names)) <= _LEGEND
    figure = new_figure(5.6, 0.75 + (0.15 if in_a_line else 0.16 * G) + (0.09 + 0.07 * G) * n)
    ax = own_axes(figure.subplots(), 0, 0)
    places = np.arange(n)[::-1].astype(np.float64)
    for i, g in enumerate(rows):
        value, low, high = (100.0 * part[g, columns] for part in (result.prevalence, result.low, result.high))
        y = places + 0.66 * ((G - 1) / 2.0 - i) / max(G, 1)
        ax.hlines(y, low, high, color=PALETTE[i], linewidth=1.4)
        ax.plot(
            value, y, linestyle="none", marker=MARKERS[i], markersize=3.4, color=PALETTE[i], label=names[i], clip_on=False
        )  # fmt: skip
    _name_rows(ax, places, [_topic(result, k) for k in columns])
    ax.set_xlim(0.0, None)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.set_xlabel(_unit(result))
    figure.legend(loc="outside upper center", ncols=G if in_a_line else 1, handletextpad=0.2)
    return figure


def _panels(result: GroupPrevalence, rows: list[int], columns: list[int]) -> Figure:
    """A panel per topic, a row per group."""
    from matplotlib.ticker import MaxNLocator

    across = panels_across(len(columns))
    down = -(-len(columns) // across)
    figure = new_figure(1.8 + 2.0 * across, 0.35 + down * (0.45 + 0.15 * len(rows)))
    grid = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
    places = np.arange(len(rows))[::-1].astype(np.float64)
    for ax, k in zip(grid, columns, strict=False):
        own_axes(ax, 0, 0)
        value, low, high = (100.0 * part[rows, k] for part in (result.prevalence, result.low, result.high))
        ax.hlines(places, low, high, color=PALETTE[0], linewidth=1.4)
        ax.plot(value, places, linestyle="none", marker="o", markersize=3.4, color=PALETTE[0], clip_on=False)
        _name_rows(ax, places, [plain(result.groups[g], _NAME) for g in rows])
        ax.set_xlim(0.0, None)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.set_title(_topic(result, k))
    for ax in grid[len(columns) :]:
        ax.set_axis_off()
    figure.supxlabel(_unit(result), fontsize=8)
    return figure


def _heatmap(result: GroupPrevalence, rows: list[int], columns: list[int]) -> Figure:
    from matplotlib import colormaps
    from matplotlib.colors import PowerNorm

    shares = 100.0 * result.prevalence[np.ix_(rows, columns)]
    written = max(shares.shape) <= _MOST_WRITTEN
    step = 0.22 if written else 0.16
    figure = new_figure(2.9 + step * len(columns), 1.9 + step * len(rows) * 0.82)
    ax = own_axes(figure.subplots(), 0, 0)
    # White is nothing; the root keeps shares of a few percent apart from it.
    cmap = colormaps["Blues"].with_extremes(bad="#dddddd")
    norm = PowerNorm(0.6, vmin=0.0, vmax=float(np.nanmax(shares)) if np.isfinite(shares).any() else 1.0)
    image = ax.imshow(np.ma.masked_invalid(shares), cmap=cmap, norm=norm, interpolation="nearest", aspect="auto")
    if written:
        for (i, j), value in np.ndenumerate(shares):
            if value >= 0.95:  # smaller ones would be read as nothing
                colour = "white" if norm(value) > 0.6 else "#222222"
                ax.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=5.5, color=colour)
    ax.set_yticks(range(len(rows)), [plain(result.groups[g], _NAME) for g in rows])
    ax.set_xticks(range(len(columns)), [_topic(result, k) for k in columns], rotation=90)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_ylabel(plain("group" if result.by is None else result.by))
    bar = figure.colorbar(image, ax=ax, shrink=0.7, pad=0.02, aspect=25)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7)
    bar.set_label("share of the topic, %")
    left_out = (len(result.groups) - len(rows), "groups"), (len(result.topics) - len(columns), "topics")
    if any(n for n, _ in left_out):
        note = "not drawn: " + ", ".join(f"{n:,} {what}" for n, what in left_out if n)
        ax.set_title(note, color=GREY, fontsize=7, loc="left")
    return figure


def _name_rows(ax: Axes, places: FloatArray, names: list[str]) -> None:
    ax.set_yticks(places, names)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    ax.set_axisbelow(True)


def _topic(result: GroupPrevalence, k: int) -> str:
    return topic_text(result.topics[k], result.labels[k], _NAME)


def _unit(result: GroupPrevalence) -> str:
    return f"share of the topic, % ({100 * result.level:g}% intervals)"


def _largest(result: GroupPrevalence) -> list[int]:
    """Groups in the order of the result, without the smallest if there are too many."""
    if len(result.groups) <= _MOST_GROUPS:
        return list(range(len(result.groups)))
    return sorted(np.argsort(-result.n_docs, kind="stable")[:_MOST_GROUPS].tolist())


def _differing(result: GroupPrevalence, rows: list[int]) -> list[int]:
    """Topics by the difference between their largest and smallest share, largest first."""
    shares = np.nan_to_num(result.prevalence[rows])
    return np.argsort(-np.ptp(shares, axis=0), kind="stable")[:_MOST_TOPICS].tolist()


def _named(known: Sequence[Any], wanted: Sequence[Any], what: str) -> list[int]:
    known, wanted = list(known), list(wanted)
    if not wanted or any(one not in known for one in wanted):
        odd = next((one for one in wanted if one not in known), None)
        listed = ", ".join(map(str, known[:20])) + (", ..." if len(known) > 20 else "")
        raise InputError(f"there is no {what} {odd!r} to draw: there are {listed}.")
    return [known.index(one) for one in wanted]


def _have_an_order(labels: Sequence[Any]) -> bool:
    return all(isinstance(label, (numbers.Number, np.generic, datetime.date)) for label in labels)


def _similar(shares: FloatArray) -> IntArray:
    """Order of rows in which similar ones are next to each other."""
    if len(shares) < 3:
        return np.arange(len(shares))
    from scipy.cluster.hierarchy import leaves_list, linkage

    roots = np.sqrt(np.nan_to_num(shares))
    return np.asarray(leaves_list(linkage(roots, "average", optimal_ordering=True)), dtype=np.intp)


def _along(shares: FloatArray) -> IntArray:
    """Order of columns by the row in which each is largest, and then by its mean row."""
    known = np.nan_to_num(shares)
    places = np.arange(len(known))
    total = known.sum(axis=0)
    centre = np.divide(places @ known, total, out=np.zeros(total.size), where=total > 0.0)
    return np.lexsort((centre, known.argmax(axis=0)))

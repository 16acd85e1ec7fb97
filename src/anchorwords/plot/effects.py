"""Effects of covariates as drawn: coefficients with intervals, and predicted proportions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..effects.record import Effects, Predictions
from ..exceptions import InputError
from ..records.cells import value_text
from .style import GREY, PALETTE, new_figure, own_axes, panels_across, plain, style, topic_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Terms and topics drawn unless they are named: more do not fit on a page.
_TERMS, _CURVES = 9, 9
_POINTS = 80
# Characters of a topic's name, and of a line below a figure.
_NAME, _LINE = 30, 90


def effects(result: Effects, *, terms: Sequence[str] | None = None, topics: Sequence[int] | None = None) -> Figure:
    """Draw coefficients with their intervals: a panel per term, a line per topic.

    Parameters
    ----------
    result : Effects
        As :func:`anchorwords.estimate_effects` returns it.
    terms : sequence of str, optional
        Terms to draw; by default all but the intercept or, of more than nine, those with the largest effects.
    topics : sequence of int, optional
        Ids; by default all topics, ordered by the coefficient of the first term.

    Returns
    -------
    matplotlib Figure
        Intervals that hold zero are grey. Proportions are in percentage points per unit of the term.
    """
    _require_effects(result)
    every = [term for term in result.terms if term != "Intercept"]
    wanted = _largest(result, every) if terms is None else list(terms)
    if not wanted or any(term not in result.terms for term in wanted):
        odd = next((term for term in wanted if term not in result.terms), None)
        raise InputError(f"there is no term {odd!r} to draw: the terms are {', '.join(map(repr, result.terms))}.")
    rows = [result.terms.index(term) for term in wanted]
    columns = _positions(result, topics)
    # The largest, or the first that was named, on top.
    columns = sorted(columns, key=lambda k: result.estimate[rows[0], k]) if topics is None else columns[::-1]
    names = [topic_text(result.topics[k], result.labels[k], _NAME) for k in columns]
    across = panels_across(len(rows))
    down = -(-len(rows) // across)
    with style():
        figure = new_figure(1.9 + 2.0 * across, down * (0.62 + 0.17 * len(columns)) + 0.25)
        grid = figure.subplots(down, across, squeeze=False, sharey=True).ravel()
        for ax, row in zip(grid, rows, strict=False):
            _coefficients(own_axes(ax, 0, 0), result, row, columns)
            ax.set_yticks(range(len(columns)), names)
            ax.set_ylim(-0.7, len(columns) - 0.3)
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)
            ax.set_title(plain(result.terms[row], 40))
        for ax in grid[len(rows) :]:
            ax.set_axis_off()
        left_out = f"\n{len(wanted)} of {len(every)} terms, those with the largest effects" if terms is None else ""
        figure.supxlabel(
            f"effect on the proportion, percentage points ({100 * result.level:g}% intervals)"
            f"{left_out if len(wanted) < len(every) else ''}",
            fontsize=8,
        )
    return figure


def _largest(result: Effects, terms: list[str]) -> list[str]:
    """The terms with the largest effects on any topic, in the order of the formula."""
    size = {term: float(np.abs(result.estimate[result.terms.index(term)]).max()) for term in terms}
    kept = set(sorted(terms, key=lambda term: -size[term])[:_TERMS])
    return [term for term in terms if term in kept]


def _coefficients(ax: Axes, result: Effects, row: int, columns: list[int]) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.axvline(0.0, color=GREY, linewidth=0.7, zorder=0.5)
    for y, k in enumerate(columns):
        estimate, lower, upper = (100.0 * part[row, k] for part in (result.estimate, result.lower, result.upper))
        clear = lower > 0.0 or upper < 0.0
        colour = PALETTE[0] if estimate > 0.0 else PALETTE[1]
        colour = colour if clear else "#9a9a9a"
        if np.isfinite(lower):
            ax.plot([lower, upper], [y, y], color=colour, linewidth=1.4, solid_capstyle="butt")
        ax.plot([estimate], [y], marker="o", markersize=3.4, color=colour, markerfacecolor=colour if clear else "white")
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.margins(x=0.06)


def predicted(
    result: Effects,
    column: str,
    *,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    topics: Sequence[int] | None = None,
) -> Figure:
    """Draw predicted topic proportions over a covariate, with pointwise intervals: a panel per topic.

    Parameters
    ----------
    result : Effects
        As :func:`anchorwords.estimate_effects` returns it.
    column : str
        A column of the formula. Numbers and dates are drawn as a curve, categories as points.
    values : sequence, optional
        Values of the column; by default its range, or all of its categories.
    at : mapping, optional
        Values of other columns; by default their mean or most frequent value.
    topics : sequence of int, optional
        Ids; by default the nine topics whose prediction changes most, most first.

    Returns
    -------
    matplotlib Figure
        Below the axis stand the values that other columns are held at.
    """
    _require_effects(result)
    if column not in result.design.values:
        known = ", ".join(map(repr, result.design.values)) or "none"
        raise InputError(f"the formula has no column {column!r}: it has {known}.")
    observed = result.design.values[column]
    numeric = observed.dtype.kind in "iuf"
    shown: Any = values
    if values is None:
        shown = np.linspace(observed.min(), observed.max(), _POINTS) if numeric else _categories(observed)
    found = result.predict({column: shown, **(at or {})}, topics)
    order = list(range(len(found.topics)))
    if topics is None:
        order = np.argsort(-np.ptp(found.estimate, axis=0), kind="stable")[:_CURVES].tolist()
    # Panels of one row share the names of the categories, so that names stand in the first panel only.
    across = panels_across(len(order))
    down = -(-len(order) // across)
    n = found.estimate.shape[0]
    with style():
        height = 1.5 if numeric else 0.45 + 0.15 * n
        figure = new_figure(0.5 + 2.1 * across + (0.0 if numeric else 1.0), 0.35 + height * down)
        grid = figure.subplots(down, across, squeeze=False, sharex=numeric, sharey=not numeric).ravel()
        for place, (ax, k) in enumerate(zip(grid, order, strict=False)):
            draw = _curve if numeric else _points
            draw(own_axes(ax, 0, 0), found, k)
            # Panels above an empty place have no panel below that would show the values.
            ax.tick_params(labelbottom=not numeric or place + across >= len(order))
            ax.set_title(topic_text(found.topics[k], found.labels[k], _NAME))
        for ax in grid[len(order) :]:
            ax.set_axis_off()
        label = f"predicted proportion, % ({100 * result.level:g}% intervals)"
        if numeric:
            label = label.replace(" (", "\n(") if down == 1 else label  # one line is longer than the figure is high
            figure.supxlabel(plain(column) + _held(found, column), fontsize=8)
            figure.supylabel(label, fontsize=8)
        else:
            figure.supxlabel(label + _held(found, column), fontsize=8)
    return figure


def _held(found: Predictions, column: str) -> str:
    """A line with the values of other columns, without those that vary over the grid; empty if there are none."""
    values = {name: np.unique(part).tolist() for name, part in found.grid.items() if name != column}
    held = ", ".join(f"{name}={value_text(own[0])}" for name, own in values.items() if len(own) == 1)
    return f"\nwith {plain(held, _LINE)}" if held else ""


def _curve(ax: Axes, found: Predictions, k: int) -> None:
    from matplotlib.ticker import MaxNLocator

    x: FloatArray = np.asarray(found.names, dtype=np.float64)
    estimate, lower, upper = (100.0 * part[:, k] for part in (found.estimate, found.lower, found.upper))
    ax.fill_between(x, lower, upper, color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(x, estimate, color=PALETTE[0])
    # From zero, so that panels can be compared. A linear model may predict less, which a line at zero shows.
    least = float(np.nanmin(estimate))
    ax.set_ylim(min(0.0, least * 1.05), None)
    if least < 0.0:
        ax.axhline(0.0, color=GREY, linewidth=0.7, zorder=0.5)
    whole = bool(np.ptp(x) >= 4.0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=whole))
    ax.ticklabel_format(axis="x", useOffset=False)
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.margins(x=0.01)


def _points(ax: Axes, found: Predictions, k: int) -> None:
    from matplotlib.ticker import MaxNLocator

    n = found.estimate.shape[0]
    places = np.arange(n)[::-1]  # the first on top
    estimate, lower, upper = (100.0 * part[:, k] for part in (found.estimate, found.lower, found.upper))
    ax.axvline(0.0, color=GREY, linewidth=0.7, zorder=0.5)
    ax.hlines(places, lower, upper, color=PALETTE[0], linewidth=1.4)
    ax.plot(estimate, places, linestyle="none", marker="o", markersize=3.4, color=PALETTE[0])
    ax.set_yticks(places, [plain(name, _NAME) for name in found.names])
    ax.set_ylim(-0.7, n - 0.3)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="y", color="#e4e4e4", linewidth=0.5)
    ax.set_axisbelow(True)
    ax.xaxis.set_major_locator(MaxNLocator(4))


def _categories(observed: npt.NDArray[Any]) -> list[Any]:
    """Distinct values in order."""
    return sorted(set(observed.tolist()))


def _positions(result: Effects, topics: Sequence[int] | None) -> list[int]:
    wanted = result.topics if topics is None else tuple(topics)
    if not wanted or any(topic not in result.topics for topic in wanted):
        odd = next((topic for topic in wanted if topic not in result.topics), None)
        raise InputError(f"there is no topic {odd!r} in these effects: they have {', '.join(map(str, result.topics))}.")
    return [result.topics.index(topic) for topic in wanted]


def _require_effects(result: Any) -> None:
    if not isinstance(result, Effects):
        raise InputError(f"result must be what estimate_effects returns, but is {type(result).__name__}.")

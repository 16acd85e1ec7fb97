"""Metrics as curves: over the number of topics (Figure 3) and over the size of the vocabulary (Figure 4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError
from ..metrics.catalogue import BY_NAME
from .aggregate import Line, Record, distinct, dwarfing, error_band, extent, line, number, range_band
from .style import GREY, legend_text, new_figure, own_axes, plain, series_style, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What is not a metric, but drawn beside them, by the first part of its name.
_DIRECTIONS = {"seconds": "lower", "runtime": "lower", "peak": "lower"}
_SPELT = {"mst": "MST", "npmi": "NPMI", "umass": "UMass", "enn": "ENN", "law": "LAW"}
K_GROUPS = ((5, 25), (30, 50), (55, 75), (80, 100))


@dataclass(frozen=True)
class _Plan:
    """What all panels of a figure share."""

    metrics: Sequence[str]
    x: str
    x_label: str
    x_scale: float
    shared_x: bool | Literal["row"]
    band: Callable[[FloatArray], tuple[float, float]]
    labels: Mapping[Any, str]
    logs: Collection[str]
    directions: Mapping[str, str]

    def name(self, key: Any) -> str:
        return str(self.labels.get(key, key))

    def title(self, metric: str) -> str:
        words = " ".join(_SPELT.get(word, word) for word in metric.split("_"))
        name = plain(self.labels.get(metric, words), lines=True)
        known = BY_NAME[metric].better if metric in BY_NAME else _DIRECTIONS.get(metric.split("_")[0])
        direction = self.directions.get(metric, known)
        return f"{name}\n({direction} is better)" if direction in {"lower", "higher"} else name


def metric_curves(
    records: Sequence[Record],
    metrics: Sequence[str],
    *,
    x: str = "n_components",
    by: str = "method",
    rows: str = "corpus",
    labels: Mapping[Any, str] | None = None,
    logs: Collection[str] = (),
    directions: Mapping[str, str] | None = None,
) -> Figure:
    """Draw metrics over the number of topics (Figure 3): a row of panels a corpus, a column a metric, a line a method.

    Records of the same corpus, method and number of topics are seeds: the line is their mean, the band goes from the
    smallest to the largest.

    Where one method dwarfs the others (the unrectified baseline does, by factors of 10 to 100) the panel shows the
    range of the others, on a linear scale that lets them be compared; the line of the dwarfing method leaves the panel,
    and an arrow in its colour states the values that it has outside. A logarithmic scale would keep it in sight, but
    flatten the differences that the figure is about; ask for it by ``logs``, and nothing is cut off.

    Parameters
    ----------
    records : sequence of dict
        One a run, as rows of a CSV file: text is read as numbers; missing, None and NaN values are skipped.
    metrics : sequence of str
        Keys of the metrics, in order of the columns.
    x, by, rows : str
        Keys of the horizontal axis, of the lines and of the rows of panels.
    labels : dict, optional
        Names to show in place of those of metrics, methods, corpora and of ``x``.
    logs : collection of str
        Metrics on a logarithmic axis; ``x`` may be among them too.
    directions : dict of str to {"lower", "higher"}, optional
        Which values are better, where the name does not tell.

    Returns
    -------
    matplotlib Figure
    """
    given = labels or {}
    label = given.get(x, "number of topics K" if x == "n_components" else x.replace("_", " "))
    return _panels(records, by, rows, _Plan(metrics, x, label, 1.0, True, range_band, given, logs, directions or {}))


def vocabulary_curves(
    records: Sequence[Record],
    metrics: Sequence[str],
    *,
    x: str = "n_words",
    by: str = "K group",
    rows: str = "corpus",
    labels: Mapping[Any, str] | None = None,
    logs: Collection[str] = (),
    directions: Mapping[str, str] | None = None,
    groups: Sequence[tuple[int, int]] = K_GROUPS,
) -> Figure:
    """Draw metrics over the size of the vocabulary (Figure 4): a row a corpus, a column a metric, a line a group of K.

    The line is the mean over the runs of the group, the band its standard error.

    Parameters
    ----------
    records, metrics, x, rows, labels, logs, directions
        As for :func:`metric_curves`.
    by : str
        Key of the lines. Records without it are grouped by their ``n_components``; those of no group are left out.
    groups : sequence of (int, int)
        First and last K of each group.

    Returns
    -------
    matplotlib Figure
    """
    grouped = [record if by in record else {**record, by: k_group(record, groups)} for record in records]
    given = labels or {}
    label = given.get(x, "words in the vocabulary (thousands)" if x == "n_words" else x.replace("_", " "))
    scale = 1e-3 if x == "n_words" else 1.0
    named = {f"{low}-{high}": f"K = {low}–{high}" for low, high in groups} | dict(given)
    if not any(by in record for record in records):  # lines in order of K, however the records lie
        grouped.sort(key=lambda record: number(record, "n_components"))
    return _panels(grouped, by, rows, _Plan(metrics, x, label, scale, "row", error_band, named, logs, directions or {}))


def k_group(record: Record, groups: Sequence[tuple[int, int]] = K_GROUPS) -> str | None:
    """Name of the group that a record's number of topics is in."""
    K = number(record, "n_components")
    return next((f"{low}-{high}" for low, high in groups if low <= K <= high), None)


def _panels(records: Sequence[Record], by: str, rows: str, plan: _Plan) -> Figure:
    if isinstance(plan.metrics, str):
        raise InputError(f"metrics must be a list of names, but is the single string {plan.metrics!r}.")
    corpora, series = distinct(records, rows), distinct(records, by)
    if not plan.metrics or not corpora or not series:
        raise InputError(
            f"there is nothing to draw: give metrics, and records that hold {rows!r} and {by!r} (got "
            f"{len(records)} records and {len(plan.metrics)} metrics)."
        )
    with style():
        columns = max(1, min(len(series), int(1.1 * len(plan.metrics)) + 1))
        legend_height = 0.17 * -(-len(series) // columns)
        figure = new_figure(max(3.4, 0.4 + 2.15 * len(plan.metrics)), 0.4 + legend_height + 1.75 * len(corpora))
        grid = figure.subplots(len(corpora), len(plan.metrics), squeeze=False, sharex=plan.shared_x)
        for i, corpus in enumerate(corpora):
            here = [record for record in records if record.get(rows) == corpus]
            for j, metric in enumerate(plan.metrics):
                ax = own_axes(grid[i, j], 0, 0)
                _panel(ax, here, by, series, metric, plan)
                ax.set_title(plan.title(metric), linespacing=1.05)
            grid[i, 0].set_ylabel(plain(plan.name(corpus), lines=True), fontweight="bold")
        x_label = plain(plan.x_label, lines=True)
        if len(plan.metrics) == 1:
            grid[-1, 0].set_xlabel(x_label)
        else:
            figure.supxlabel(x_label, fontsize=8)
        handles = [grid[0, 0].plot([], [], **series_style(i))[0] for i in range(len(series))]
        names = [legend_text(plan.name(one)) for one in series]
        figure.legend(handles, names, loc="outside upper center", ncols=columns, handlelength=3.6)
    return figure


def _panel(ax: Axes, records: list[Record], by: str, series: list[Hashable], metric: str, plan: _Plan) -> None:
    log = metric in plan.logs
    lines = [
        line([r for r in records if r.get(by) == one], metric, plan.x, plan.band, positive=log) for one in series
    ]  # fmt: skip
    if not any(one.x.size for one in lines):
        ax.text(0.5, 0.5, "no values", transform=ax.transAxes, ha="center", va="center", color=GREY)
        ax.tick_params(left=False, labelleft=False)
        return
    if log:
        ax.set_yscale("log")
    if plan.x in plan.logs:
        ax.set_xscale("log")
    for i, one in enumerate(lines):
        look = series_style(i)
        if one.x.size:
            ax.plot(one.x * plan.x_scale, one.mean, **look, markeredgewidth=0, markersize=3.5)
            low = np.maximum(one.low, one.mean * 1e-3) if log else one.low  # a band to zero has no logarithm
            if (one.high > one.low).any():
                ax.fill_between(one.x * plan.x_scale, low, one.high, color=look["color"], alpha=0.18, linewidth=0)
    out = [] if log else dwarfing(lines)
    if out:
        names = [plain(plan.name(one), 20) for one in series]
        _cut(ax, lines, out, names)


def _cut(ax: Axes, lines: list[Line], out: list[int], names: list[str]) -> None:
    """Limit a panel to the range of the other methods, and state what the methods cut off have outside."""
    low, high = extent([one for i, one in enumerate(lines) if i not in out and one.x.size])
    pad = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
    low, high = low - pad, high + pad
    for above in (True, False):
        notes = []
        for i in out:
            beyond = lines[i].mean[lines[i].mean > high if above else lines[i].mean < low]
            if beyond.size:
                notes.append((i, f"{names[i]}: {_span(beyond)}"))
        # Room for one line of text each, so that notes lie over no data.
        room = 0.13 * (high - low) * len(notes)
        low, high = (low, high + room) if above else (low - room, high)
        for place, (i, note) in enumerate(notes):
            y = 0.95 - 0.11 * place if above else 0.05 + 0.11 * place
            ax.text(0.02, y, "↑" if above else "↓", transform=ax.transAxes, ha="left", va="center", fontsize=9,
                    fontweight="bold", color=series_style(i)["color"])  # fmt: skip
            ax.text(0.09, y, note, transform=ax.transAxes, ha="left", va="center", fontsize=6.5)
    ax.set_ylim(low, high)


def _span(values: FloatArray) -> str:
    low, high = f"{values.min():.3g}", f"{values.max():.3g}"
    return (low if low == high else f"{low} to {high}").replace("-", "−")

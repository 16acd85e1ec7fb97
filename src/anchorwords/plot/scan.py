"""A scan as a figure: what replicates in both halves of the documents, and metrics, by number of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..exceptions import InputError
from ..metrics.catalogue import BY_NAME
from ..scanning.record import Scan
from ..scanning.wording import spoken
from .style import GREY, PALETTE, halo, new_figure, own_axes, series_style, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Metrics drawn by default: the first three of these that were measured.
_WANTED = ("npmi_coherence", "topic_diversity", "dissimilarity", "specificity")
_LEVELS = PALETTE[1]


def scan(scan: Scan, *, metrics: Sequence[str] | None = None) -> Figure:
    """Draw a scan by number of topics: strength of directions, replication, held-out perplexity and metrics.

    Parameters
    ----------
    scan : Scan
        As :func:`anchorwords.scan` returns it.
    metrics : sequence of str, optional
        Metrics to draw, one panel each; by default coherence, diversity and dissimilarity.

    Returns
    -------
    matplotlib Figure
        The levels, the recommended number or the plausible numbers are marked in every panel. In the first panel, directions
        within the grey area are no stronger than noise.
    """
    rows = scan.rows()
    measured = [name for name in rows[0] if name in BY_NAME]
    names = [name for name in _WANTED if name in measured][:3] if metrics is None else list(metrics)
    if unknown := [name for name in names if name not in measured]:
        raise InputError(
            f"the scan has not measured {unknown[0]!r}: draw some of {', '.join(measured) or 'none'}, or scan with it."
        )
    halves = scan.directions is not None
    panels = 1 + 2 * halves + len(names)
    columns = 2 if panels == 4 else min(panels, 3)
    lines = -(-panels // columns)
    with style():
        figure = new_figure(0.3 + 3.05 * columns, 0.45 + 2.15 * lines)
        grid = figure.subplots(lines, columns, squeeze=False).ravel()
        axes = [own_axes(ax, 0, 0) for ax in grid[:panels]]
        for ax in grid[panels:]:
            ax.set_axis_off()
        _strength(axes[0], scan)
        if halves:
            _replicated(axes[1], scan)
            _perplexity(axes[2], scan)
        for ax, name in zip(axes[1 + 2 * halves :], names, strict=True):
            _metric(ax, name, rows)
        for ax in axes:
            _mark(ax, scan)
        figure.supxlabel("number of topics K", fontsize=8)
    return figure


def _strength(ax: Axes, scan: Scan) -> None:
    """Eigenvalues, the strength of the same directions in documents that were not used to find them, and noise."""
    values = scan.eigenvalues
    ax.set_yscale("log")
    k = np.arange(1, values.size + 1)
    seen = values > 0.0
    ax.plot(k[seen], values[seen], color=PALETTE[0], marker="o", markersize=2.2, linewidth=0.8, label="eigenvalue")
    lowest = float(values[seen].min())
    if scan.directions is not None:
        energies = scan.directions.energies
        there = np.arange(1, energies.size + 1)
        noise = scan.directions.noise_at(list(there - 1))
        shown = energies > 0.15 * noise  # far below noise there are rounding errors, of either sign
        ax.plot(
            there[shown], energies[shown], color=PALETTE[2], marker="^", markersize=2.4, linewidth=0.8,
            label="in the other half",
        )  # fmt: skip
        ax.fill_between(there, noise, 1e-300, color=GREY, alpha=0.15, linewidth=0)
        ax.plot(there, noise, color=GREY, linewidth=1.0, linestyle=(0, (3, 2)), label="noise")
        lowest = min(lowest, float(energies[shown].min(initial=lowest)), float(noise.min()))
    ax.set_ylim(lowest / 1.6, 1.6 * float(values[0]))
    ax.set_title("Strength of the K-th direction\n(grey: no stronger than noise)", linespacing=1.05)
    _legend(ax, "upper right")


def _replicated(ax: Axes, scan: Scan) -> None:
    """The number of topics that replicate, with lines for all and for half of the topics."""
    K = np.array(scan.n_components, dtype=np.float64)
    found = np.array([one.n_replicated for one in scan.candidates])
    error = np.array([one.n_replicated_error for one in scan.candidates])
    top = max(1.0, 1.3 * float((found + error).max()))
    line = np.geomspace(0.5 * K[0], 1.2 * K[-1], 60)
    ax.plot(K, found, **series_style(0), markersize=3.5, markeredgewidth=0, label="replicate")
    ax.fill_between(K, np.maximum(found - error, 0.0), found + error, color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(line, line, color=GREY, linewidth=0.9, zorder=1.0, label="all topics")
    ax.plot(line, line / 2.0, color=GREY, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1.0, label="half of the topics")
    ax.set_ylim(0.0, top)
    ax.set_title("Topics that replicate\n(in both halves of the documents)", linespacing=1.05)
    _legend(ax, "upper left")


def _legend(ax: Axes, loc: Literal["upper left", "upper right"]) -> None:
    """A legend on white, because the lines of levels pass behind it."""
    legend = ax.legend(
        loc=loc, handlelength=2.0, fontsize=7, borderaxespad=0.2, frameon=True, facecolor="white", edgecolor="none"
    )
    legend.get_frame().set_alpha(0.85)


def _perplexity(ax: Axes, scan: Scan) -> None:
    values = [one.heldout_perplexity for one in scan.candidates]
    ax.plot(scan.n_components, values, **series_style(0), markersize=3.5, markeredgewidth=0)
    ax.margins(y=0.14)
    ax.set_title("Held-out perplexity\n(lower is better)", linespacing=1.05)


def _metric(ax: Axes, name: str, rows: list[dict[str, Any]]) -> None:
    metric = BY_NAME[name]
    ax.plot([row["n_components"] for row in rows], [row[name] for row in rows], **series_style(0), markersize=3.5,
            markeredgewidth=0)  # fmt: skip
    ax.margins(y=0.14)
    ax.set_title(f"{metric.title}\n({metric.direction})" if metric.better else metric.title, linespacing=1.05)


def _mark(ax: Axes, scan: Scan) -> None:
    """Mark each level by a line and its name above the panel; put the numbers of topics on a logarithmic axis."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    first, last = scan.n_components[0], scan.n_components[-1]
    ax.set_xscale("log")
    ax.set_xlim(0.87 * first, 1.15 * last)
    ax.xaxis.set_major_locator(FixedLocator(_ticks(scan.n_components)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    marked = [(float(level.n_components), f"{level.name} {level.n_components}") for level in scan.levels]
    if scan.recommended is not None:
        marked = [(float(scan.recommended), f"recommended {scan.recommended}")]
    elif scan.plausible:
        lowest, highest = scan.plausible[0], scan.plausible[-1]
        ax.axvspan(lowest, highest, color=_LEVELS, alpha=0.2, linewidth=0, zorder=0.4)
        for K in (lowest, highest):
            ax.axvline(K, color=_LEVELS, linewidth=0.8, zorder=0.5)
        marked = [(float(np.sqrt(lowest * highest)), f"plausible {spoken(scan.plausible)}")]
    height, before = 0, 0.0
    for place, name in marked:
        # A label takes about a fifth of the width: labels that would overlap go one line higher.
        close = before > 0.0 and np.log(place / before) < 0.22 * np.log(1.15 * last / (0.87 * first))
        height, before = (height + 1 if close else 0), place
        if not (scan.plausible and scan.recommended is None):
            ax.axvline(place, color=_LEVELS, linewidth=1.0, zorder=0.5)
        ax.annotate(
            name, (place, 1.0), (0.0, 1.5 + 7.5 * height), xycoords=ax.get_xaxis_transform(),
            textcoords="offset points", ha="center", va="bottom", fontsize=6.5, color=_LEVELS, path_effects=halo(),
        )  # fmt: skip
    ax.set_title(ax.get_title(), pad=12.0 + 7.5 * (len(marked) - 1 if height else 0), linespacing=1.05)


def _ticks(numbers: Sequence[int]) -> list[int]:
    """Numbers scanned that are far enough apart to be labelled on a logarithmic axis, round ones first."""
    least = (numbers[-1] / numbers[0]) ** (1.0 / 7.0)
    shown: list[int] = []
    for K in sorted(numbers, key=lambda K: (K not in (numbers[0], numbers[-1]), K % 10 != 0, K % 5 != 0, K)):
        if all(max(K, other) >= least * min(K, other) for other in shown):
            shown.append(K)
    return sorted(shown)

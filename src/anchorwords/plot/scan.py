"""Numbers of topics side by side: what both halves of the documents show, and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import InputError
from ..metrics.catalogue import BY_NAME
from ..scanning.record import Scan
from .style import GREY, PALETTE, halo, new_figure, own_axes, series_style, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Metrics drawn where nothing is said, the first three of these that were measured.
_WANTED = ("npmi_coherence", "topic_diversity", "dissimilarity", "specificity")
_LEVELS = PALETTE[1]


def scan(scan: Scan, *, metrics: Sequence[str] | None = None) -> Figure:
    """Draw a scan by number of topics: strength of directions, topics that both halves of the documents find, and metrics.

    Parameters
    ----------
    scan : Scan
        As :func:`anchorwords.scan` returns it.
    metrics : sequence of str, optional
        Those to draw, a panel each; by default coherence, diversity and words of its own.

    Returns
    -------
    matplotlib Figure
        The levels, or the recommended number, are marked by name in every panel. In the first, a direction is no more than
        chance if its strength in documents that had no part in finding it is within the grey.
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
            _found_again(axes[1], scan)
            _perplexity(axes[2], scan)
        for ax, name in zip(axes[1 + 2 * halves :], names, strict=True):
            _metric(ax, name, rows)
        for ax in axes:
            _mark(ax, scan)
        figure.supxlabel("number of topics K", fontsize=8)
    return figure


def _strength(ax: Axes, scan: Scan) -> None:
    """Eigenvalues, the same in documents that had no part in finding them, and what chance gives."""
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
        shown = energies > 0.15 * noise  # far below chance is rounding and its sign
        ax.plot(
            there[shown], energies[shown], color=PALETTE[2], marker="^", markersize=2.4, linewidth=0.8,
            label="in the other half",
        )  # fmt: skip
        ax.fill_between(there, noise, 1e-300, color=GREY, alpha=0.15, linewidth=0)
        ax.plot(there, noise, color=GREY, linewidth=1.0, linestyle=(0, (3, 2)), label="chance")
        lowest = min(lowest, float(energies[shown].min(initial=lowest)), float(noise.min()))
    ax.set_ylim(lowest / 1.6, 1.6 * float(values[0]))
    ax.set_title("Strength of the K-th direction")
    ax.legend(loc="upper right", handlelength=1.8, fontsize=7, borderaxespad=0.2)


def _found_again(ax: Axes, scan: Scan) -> None:
    """Topics that both halves find, beside all and half of them."""
    K = np.array(scan.n_components, dtype=np.float64)
    found = np.array([one.found_again for one in scan.candidates])
    error = np.array([one.found_again_error for one in scan.candidates])
    top = max(1.0, 1.3 * float((found + error).max()))
    line = np.geomspace(0.5 * K[0], 1.2 * K[-1], 60)
    ax.plot(K, found, **series_style(0), markersize=3.5, markeredgewidth=0, label="found again")
    ax.fill_between(K, np.maximum(found - error, 0.0), found + error, color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(line, line, color=GREY, linewidth=0.9, zorder=1.0, label="all of them")
    ax.plot(line, line / 2.0, color=GREY, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1.0, label="half of them")
    ax.set_ylim(0.0, top)
    ax.set_title("Topics found again in the other half")
    ax.legend(loc="upper left", handlelength=2.2, fontsize=7, borderaxespad=0.2)


def _perplexity(ax: Axes, scan: Scan) -> None:
    values = [one.heldout_perplexity for one in scan.candidates]
    ax.plot(scan.n_components, values, **series_style(0), markersize=3.5, markeredgewidth=0)
    ax.margins(y=0.14)
    ax.set_title("Held-out perplexity\n(lower is better)", linespacing=1.05)


def _metric(ax: Axes, name: str, rows: list[dict[str, Any]]) -> None:
    metric = BY_NAME[name]
    ax.plot([row["n_components"] for row in rows], [row[name] for row in rows], **series_style(0), markersize=3.5,
            markeredgewidth=0)  # fmt: skip
    ax.margins(y=0.14)  # room for the number recommended
    ax.set_title(f"{metric.title}\n({metric.direction})" if metric.better else metric.title, linespacing=1.05)


def _mark(ax: Axes, scan: Scan) -> None:
    """A line at each level with its name above the panel, and the numbers of topics on a logarithmic axis."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    first, last = scan.n_components[0], scan.n_components[-1]
    ax.set_xscale("log")
    ax.set_xlim(0.87 * first, 1.15 * last)
    ax.xaxis.set_major_locator(FixedLocator(_ticks(scan.n_components)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
    marked = [(level.n_components, level.name) for level in scan.levels]
    if not marked and scan.recommended is not None:
        marked = [(scan.recommended, "recommended")]
    height, before = 0, 0.0
    for K, name in marked:
        # A name takes about a fifth of the width: nearer ones go one line higher.
        place = float(np.log(K))
        close = before > 0.0 and place - before < 0.22 * np.log(1.15 * last / (0.87 * first))
        height, before = (height + 1 if close else 0), place
        ax.axvline(K, color=_LEVELS, linewidth=1.0, zorder=0.5)
        ax.annotate(
            f"{name} {K}", (K, 1.0), (0.0, 1.5 + 7.5 * height), xycoords=ax.get_xaxis_transform(),
            textcoords="offset points", ha="center", va="bottom", fontsize=6.5, color=_LEVELS, path_effects=halo(),
        )  # fmt: skip
    ax.set_title(ax.get_title(), pad=12.0 + 7.5 * (len(marked) - 1 if height else 0), linespacing=1.05)


def _ticks(numbers: Sequence[int]) -> list[int]:
    """Numbers given that are far enough apart to be labelled on a logarithmic axis."""
    least = (numbers[-1] / numbers[0]) ** (1.0 / 7.0)
    shown: list[int] = []
    for K in reversed(numbers):
        if not shown or shown[-1] >= least * K:
            shown.append(K)
    return shown[::-1]

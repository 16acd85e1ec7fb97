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

# Metrics drawn where nothing is said, the first two of these that were measured.
_WANTED = ("npmi_coherence", "topic_diversity", "dissimilarity", "specificity")
_RECOMMENDED = PALETTE[1]


def scan(scan: Scan, *, metrics: Sequence[str] | None = None) -> Figure:
    """Draw a scan by number of topics: strength of directions, topics that both halves of the documents find, and metrics.

    Parameters
    ----------
    scan : Scan
        As :func:`anchorwords.scan` returns it.
    metrics : sequence of str, optional
        Those to draw, a panel each; by default coherence and diversity.

    Returns
    -------
    matplotlib Figure
        The recommended number is marked in every panel. In the first, a direction is no more than chance where its
        strength in documents that had no part in finding it is within the grey.
    """
    rows = scan.rows()
    measured = [name for name in rows[0] if name in BY_NAME]
    names = [name for name in _WANTED if name in measured][:2] if metrics is None else list(metrics)
    if unknown := [name for name in names if name not in measured]:
        raise InputError(
            f"the scan has not measured {unknown[0]!r}: draw some of {', '.join(measured) or 'none'}, or scan with it."
        )
    halves = scan.directions is not None
    panels = 1 + halves + len(names)
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
        for ax, name in zip(axes[1 + halves :], names, strict=True):
            _metric(ax, name, rows)
        for ax in axes:
            _mark(ax, scan)
        figure.supxlabel("number of topics K; recommended is the one in orange", fontsize=8)
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
    line = np.array([0.0, 1.05 * K[-1]])
    ax.plot(K, found, **series_style(0), markersize=3.5, markeredgewidth=0, label="found again")
    ax.fill_between(K, np.maximum(found - error, 0.0), found + error, color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(line, line, color=GREY, linewidth=0.9, zorder=1.0, label="all of them")
    ax.plot(line, line / 2.0, color=GREY, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1.0, label="half of them")
    ax.set_ylim(0.0, top)
    ax.set_title("Topics found again in the other half")
    ax.legend(loc="lower right", handlelength=2.2, fontsize=7, borderaxespad=0.2)


def _metric(ax: Axes, name: str, rows: list[dict[str, Any]]) -> None:
    metric = BY_NAME[name]
    ax.plot([row["n_components"] for row in rows], [row[name] for row in rows], **series_style(0), markersize=3.5,
            markeredgewidth=0)  # fmt: skip
    ax.margins(y=0.14)  # room for the number recommended
    ax.set_title(f"{metric.title}\n({metric.direction})" if metric.better else metric.title, linespacing=1.05)


def _mark(ax: Axes, scan: Scan) -> None:
    """A line at the recommended number, and the same range of numbers in every panel."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlim(0.0, 1.04 * scan.n_components[-1])
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    ax.axvline(scan.recommended, color=_RECOMMENDED, linewidth=1.0, zorder=0.5)
    ax.text(scan.recommended, 1.0, f" {scan.recommended}", transform=ax.get_xaxis_transform(), ha="left", va="top",
            fontsize=7.5, color=_RECOMMENDED, path_effects=halo())  # fmt: skip

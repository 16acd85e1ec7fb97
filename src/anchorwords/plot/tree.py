"""A topic as the minimum spanning tree of its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError
from .style import PALETTE, halo, laid_out, own_axes, plain, style
from .tree_labels import best_view
from .tree_layout import tree_layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = {"prominent": ("o", PALETTE[0]), "characteristic": ("s", PALETTE[4]), "both": ("D", PALETTE[2])}
_LABEL_LENGTH = 26


class Tree(Protocol):
    """What is drawn: any record with these attributes."""

    @property
    def topic(self) -> int:
        """Id of the topic."""

    @property
    def words(self) -> tuple[str, ...]:
        """Nodes."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Of each word "prominent", "characteristic" or "both"."""

    @property
    def anchor(self) -> str:
        """Anchor word of the topic."""

    @property
    def edges(self) -> tuple[tuple[int, int, float], ...]:
        """Index, index, weight within 0 and 1."""

    @property
    def weight(self) -> float:
        """Sum of the weights."""


def topic_tree(tree: Tree, *, ax: Axes | None = None) -> Axes:
    """Draw a topic's minimum spanning tree, whose weight is its MST-Incoherence (Section 5).

    Words are placed from the centre of the tree outwards, so that no edges cross; lengths of edges mean nothing. Thick
    and dark edges join words that go together: their weight (1 - NPMI) / 2 is low. The anchor has a ring around it.

    Parameters
    ----------
    tree : record
        With ``topic``, ``words``, ``kinds`` (of each word "prominent", "characteristic" or "both"), ``anchor``,
        ``edges`` (index, index, weight) and ``weight``.
    ax : matplotlib Axes, optional
        Where to draw; by default on a figure of its own.

    Returns
    -------
    matplotlib Axes
    """
    n = len(tree.words)
    if n == 0 or len(tree.kinds) != n or not set(tree.kinds) <= set(_KINDS):
        raise InputError(
            f"a tree needs words, each of a kind out of {', '.join(_KINDS)}, but has {n} words of kinds {tree.kinds!r}."
        )
    layout = tree_layout(n, tree.edges)
    with style():
        axes = own_axes(ax, 5.6, 4.0)
        axes.set_axis_off()
        axes.set_title(f"topic {tree.topic}, anchor {plain(tree.anchor, 30)}: tree of weight {tree.weight:.3g}")
        colours = _frame(axes, tree)
        laid_out(axes)
        pixels = axes.figure.figure.dpi / 72.0
        room = np.array([axes.get_window_extent().width, axes.get_window_extent().height]) / pixels
        axes.set(xlim=(0.0, room[0]), ylim=(0.0, room[1]))  # data in points: texts can be placed exactly
        names = [plain(word, _LABEL_LENGTH) for word in tree.words]
        weights = ["bold" if word == tree.anchor else "normal" for word in tree.words]
        sizes = 1.04 * _sizes(axes, names, weights) / pixels
        nodes, labels = best_view(layout, [(i, j) for i, j, _ in tree.edges], sizes, room)
        _draw(axes, tree, nodes, colours)
        _write(axes, names, weights, nodes, labels)
    return axes


def _frame(ax: Axes, tree: Tree) -> Any:
    """Legend and colour bar, which take their room first; returns the colours of edges."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=marker, color=colour, markersize=6, label=kind)
        for kind, (marker, colour) in _KINDS.items()
        if kind in tree.kinds
    ]
    if tree.anchor in tree.words:
        handles.append(Line2D([], [], linestyle="", marker="o", markerfacecolor="none", markeredgecolor="black",
                              markersize=9, label="anchor"))  # fmt: skip
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(handles), borderaxespad=0.3)
    shades = [[grey] * 3 for grey in np.linspace(0.1, 0.78, 64)]
    weights = [weight for *_, weight in tree.edges] or [0.0]
    low, high = min(weights), max(weights)
    if high - low < 0.02:
        low, high = low - 0.01, high + 0.01
    colours = ScalarMappable(Normalize(low, high), ListedColormap(shades))
    if tree.edges:
        bar = ax.figure.colorbar(colours, ax=ax, shrink=0.6, aspect=22, pad=0.01)
        bar.set_label("edge weight (1 − NPMI) / 2")
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7)
        bar.ax.locator_params(nbins=5)
    return colours


def _sizes(ax: Axes, names: Sequence[str], weights: Sequence[str]) -> FloatArray:
    """(n, 2) width and height of labels, in pixels."""
    sizes = []
    for name, weight in zip(names, weights, strict=True):
        text: Any = ax.text(0, 0, name or " ", fontsize=7.5, fontweight=weight)
        sizes.append((text.get_window_extent().width, text.get_window_extent().height))
        text.remove()
    return np.array(sizes)


def _write(ax: Axes, names: list[str], weights: list[str], nodes: FloatArray, boxes: FloatArray) -> None:
    for name, weight, node, box in zip(names, weights, nodes, boxes, strict=True):
        # Fixed at the end that is next to the node: letters are a little wider or narrower at other resolutions.
        if box[0] > node[0]:
            x, side = box[0], "left"
        elif box[2] < node[0]:
            x, side = box[2], "right"
        else:
            x, side = (box[0] + box[2]) / 2.0, "center"
        ax.text(x, (box[1] + box[3]) / 2.0, name, ha=side, va="center", fontsize=7.5, fontweight=weight,
                in_layout=False, zorder=5, path_effects=halo())  # fmt: skip


def _draw(ax: Axes, tree: Tree, nodes: FloatArray, colours: Any) -> None:
    low, high = colours.get_clim()
    for i, j, weight in tree.edges:
        share = (float(np.clip(weight, low, high)) - low) / (high - low)
        ax.plot(*nodes[[i, j]].T, color=colours.to_rgba(weight), linewidth=3.2 - 2.4 * share, zorder=1,
                solid_capstyle="round")  # fmt: skip
    for node, word, kind in zip(nodes, tree.words, tree.kinds, strict=True):
        marker, colour = _KINDS[kind]
        ax.plot(*node, marker=marker, color=colour, markersize=6.5, markeredgecolor="white", markeredgewidth=0.8,
                zorder=3)  # fmt: skip
        if word == tree.anchor:
            ax.plot(*node, marker="o", markersize=11, markerfacecolor="none", markeredgecolor="black", zorder=2)

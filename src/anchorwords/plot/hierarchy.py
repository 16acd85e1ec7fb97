"""The tree of topics as a dendrogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray
from ..interpret.hierarchy import Hierarchy, topic_hierarchy
from .style import GREY, PALETTE, new_figure, own_axes, style, topic_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours of clusters: those of the palette that are neither grey nor pale. Clusters that follow each other differ.
_COLOURS = tuple(colour for colour in PALETTE if colour not in ("#000000", "#F0E442"))
# Characters of a topic's name.
_NAME = 44
# Inches of a topic's line, for many topics and for few, and the number of topics that count as many.
_LINE, _WIDE_LINE, _MANY = 0.135, 0.17, 40
# Inches at the sides: letters are a little wider at some resolutions of a file than at the one that the layout is made for.
_MARGIN = 0.12


def hierarchy(model: Any, *, n_topics: int | None = None) -> Figure:
    """Draw the tree of topics as a dendrogram: topics that say nearly the same are joined first.

    Parameters
    ----------
    model : TopicModel, fitted estimator or Hierarchy
        A Hierarchy is what :func:`anchorwords.topic_hierarchy` returns.
    n_topics : int, optional
        Cut the tree into this many clusters and give each a colour: the topics that :func:`anchorwords.reduce_topics` would
        merge. Clusters of a single topic have a colour too.

    Returns
    -------
    matplotlib Figure
        One line per topic, with its label and id. The horizontal axis is the share of the information about words that is
        lost when all topics to the left of it are merged. The figure is as high as its topics need.
    """
    tree = model if isinstance(model, Hierarchy) else topic_hierarchy(model)
    K = len(tree.ids)
    colours = _cluster_colours(tree, n_topics)
    line = _LINE if K > _MANY else _WIDE_LINE
    with style():
        figure = new_figure(6.4, 0.75 + line * K)
        figure.set_layout_engine("constrained", w_pad=_MARGIN)
        ax = own_axes(figure.subplots(), 0, 0)
        heights = _draw_branches(ax, tree, colours)
        if n_topics is not None:
            _draw_cut(ax, tree, n_topics)
        _name_topics(ax, tree)
        _axis(ax, heights, many=K > _MANY)
    return figure


def _cluster_colours(tree: Hierarchy, n_topics: int | None) -> dict[int, str]:
    """Colours of the nodes of the tree that lie within a cluster; the others have none."""
    if n_topics is None:
        return {}
    place = {topic: k for k, topic in enumerate(tree.ids)}
    found = {}
    for i, cluster in enumerate(tree.cut(n_topics)):
        found.update({place[topic]: _COLOURS[i % len(_COLOURS)] for topic in cluster})
    K = len(tree.ids)
    for step, left in enumerate(tree.linkage[: K - n_topics, 0].astype(int).tolist()):
        found[K + step] = found[left]  # merges before the cut are within a cluster
    return found


def _draw_branches(ax: Axes, tree: Hierarchy, colours: dict[int, str]) -> FloatArray:
    """Draw the merges; returns the height of each."""
    from matplotlib.collections import LineCollection

    K = len(tree.ids)
    y = np.zeros(2 * K - 1)
    y[tree.order] = np.arange(K)
    x = np.zeros(2 * K - 1)
    other = GREY if colours else PALETTE[0]
    lines: list[Sequence[tuple[float, float]]] = []
    shades: list[str] = []
    for step, (left, right) in enumerate(tree.linkage[:, :2].astype(int).tolist()):
        node, height = K + step, 100.0 * float(tree.linkage[step, 2])
        x[node], y[node] = height, (y[left] + y[right]) / 2.0
        for child in (left, right):
            lines.append([(x[child], y[child]), (height, y[child])])
        lines.append([(height, y[left]), (height, y[right])])
        shades += [colours.get(node, other)] * 3
    ax.add_collection(LineCollection(lines, colors=shades, linewidths=1.1, capstyle="projecting"))
    if colours:  # also of topics that are a cluster of their own
        ax.scatter(np.zeros(K), y[:K], s=9, color=[colours[k] for k in range(K)], zorder=3, clip_on=False)
    return x[K:]


def _draw_cut(ax: Axes, tree: Hierarchy, n_topics: int) -> None:
    """A line between the last merge that is made and the first that is not."""
    K = len(tree.ids)
    heights = np.concatenate([[0.0], 100.0 * tree.linkage[:, 2], [100.0]])
    lost = float(heights[K - n_topics])
    at = (lost + float(heights[K - n_topics + 1])) / 2.0
    ax.axvline(at, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0.5)
    ax.set_title(f"{n_topics} of {K} topics keep {100.0 - lost:.0f}% of the information", loc="left")


def _name_topics(ax: Axes, tree: Hierarchy) -> None:
    names = [topic_text(tree.ids[k], tree.names[k], _NAME) for k in tree.order]
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)  # the first on top
    ax.tick_params(axis="y", length=0, pad=6)
    ax.spines["left"].set_visible(False)


def _axis(ax: Axes, heights: FloatArray, *, many: bool) -> None:
    ax.set_xlim(-0.5, max(100.0, float(heights.max(initial=0.0))) + 0.5)
    ax.set_xlabel("information about words that is lost, %")
    ax.grid(axis="x", color="#e8e8e8", linewidth=0.5)
    ax.set_axisbelow(True)
    if many:
        ax.tick_params(axis="x", top=True, labeltop=True)

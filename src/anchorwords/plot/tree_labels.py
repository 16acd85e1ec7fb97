"""How a tree is turned and where its labels go, so that labels cover neither nodes nor each other, and few edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from .tree_layout import rotated

# Sides on which a label may stand: above and below, right and left, the corners.
_SIDES = np.array([(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)], dtype=np.float64)
_GAPS = (7.0, 11.0)  # points between the middle of a node and its label
_NODE = 6.0  # half the width of a node with its ring
_TURNS = 18


def best_view(
    layout: FloatArray, edges: Sequence[tuple[int, int]], sizes: FloatArray, room: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Turn of a layout whose labels are least in the way of anything.

    Parameters
    ----------
    layout : (n, 2) array
        Of :func:`tree_layout`.
    edges : sequence of (int, int)
    sizes : (n, 2) array
        Width and height of each label, in points.
    room : (2,) array
        Width and height to fill, in points.

    Returns
    -------
    nodes : (n, 2) array
        In points.
    boxes : (n, 4) array
        x0, y0, x1, y1 of each label.
    """
    margin = np.minimum(np.array([0.5 * sizes[:, 0].max() + 2.0, sizes[:, 1].max() + 12.0]), 0.45 * room)
    views = []
    for turn in range(_TURNS):
        nodes = margin + rotated(layout, np.pi * turn / _TURNS) * (room - 2.0 * margin)
        views.append((nodes, *_placed(nodes, edges, sizes, room)))
    least = int(np.argmin([round(trouble, 6) for *_, trouble in views]))
    return views[least][0], views[least][1]


def _placed(
    nodes: FloatArray, edges: Sequence[tuple[int, int]], sizes: FloatArray, room: FloatArray
) -> tuple[FloatArray, float]:
    """Labels one after the other, each in its best place; and how bad these are, together."""
    # Points along the edges stand for them: a label covers an edge by as much as it covers of these.
    along = np.linspace(0.0, 1.0, 41)[1:-1, None]
    dots = [nodes[i] * (1 - along) + nodes[j] * along for i, j in edges]
    on_edges = np.concatenate(dots) if dots else np.zeros((0, 2))
    boxes, trouble = np.zeros((len(nodes), 4)), 0.0
    for i in range(len(nodes)):
        places = np.concatenate([_beside(nodes[i], sizes[i], gap) for gap in _GAPS])
        costs = _costs(places, boxes[:i], nodes, on_edges, room)
        costs += 0.01 * np.arange(len(places))  # ties: near ones, above and below first
        chosen = int(costs.argmin())
        boxes[i] = places[chosen]
        trouble += float(costs[chosen])
    return boxes, trouble


def _beside(node: FloatArray, size: FloatArray, gap: float) -> FloatArray:
    """(8, 4) boxes around a node."""
    reach = np.where(np.abs(_SIDES).sum(axis=1, keepdims=True) > 1.0, 0.6 * gap, gap)
    low = node + _SIDES * reach + (_SIDES - 1.0) / 2.0 * size
    return np.concatenate([low, low + size], axis=1)


def _costs(
    places: FloatArray, taken: FloatArray, nodes: FloatArray, on_edges: FloatArray, room: FloatArray
) -> FloatArray:
    low, high = places[:, None, :2], places[:, None, 2:]
    shared = np.minimum(high, taken[None, :, 2:]) - np.maximum(low, taken[None, :, :2])
    over_labels = (shared > -1.5).all(axis=2).sum(axis=1)
    over_nodes = ((nodes > low - _NODE + 1.5) & (nodes < high + _NODE - 1.5)).all(axis=2).sum(axis=1)
    over_edges = ((on_edges > low - 1.0) & (on_edges < high + 1.0)).all(axis=2).sum(axis=1)
    outside = np.maximum(-places[:, :2], places[:, 2:] - room).clip(min=0.0).sum(axis=1)
    cost: FloatArray = 100.0 * over_labels + 100.0 * over_nodes + 1.0 * over_edges + 20.0 * outside
    return cost

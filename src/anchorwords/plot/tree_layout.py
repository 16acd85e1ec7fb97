"""Where the words of a tree go, so that no two edges cross."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError

Edge = tuple[int, int, float]


def tree_layout(n: int, edges: Sequence[Edge]) -> FloatArray:
    """Places of n nodes, radially from the tree's centre (the equal-angle layout of phylogenetic trees).

    Each branch gets a sector around the node it leaves, in proportion to its number of leaves, and runs along the
    middle of it. The sector of a child, shifted along its own middle, lies within that of its parent, and sectors of
    siblings are disjoint: edges cannot cross.

    Parameters
    ----------
    n : int
    edges : sequence of (int, int, float)
        A spanning tree; weights are not looked at.

    Returns
    -------
    (n, 2) array
        Centre at the origin, every edge of length one.
    """
    neighbours = _neighbours(n, edges)
    root = _centre(neighbours)
    parents, order = {root: root}, [root]
    for node in order:
        for other in neighbours[node]:
            if other not in parents:
                parents[other] = node
                order.append(other)
    leaves = np.zeros(n)
    for node in reversed(order):
        leaves[node] = max(leaves[node], 1.0)
        if node != root:
            leaves[parents[node]] += leaves[node]
    places, start = np.zeros((n, 2)), np.zeros(n)
    wide = np.full(n, 2.0 * np.pi)
    for node in order:
        angle = start[node]
        children = [other for other in neighbours[node] if other != parents[node]]
        total = sum(leaves[child] for child in children)
        for child in children:
            wide[child] = wide[node] * leaves[child] / total
            start[child] = angle
            middle = angle + wide[child] / 2.0
            places[child] = places[node] + (np.cos(middle), np.sin(middle))
            angle += wide[child]
    return places


def rotated(places: FloatArray, angle: float) -> FloatArray:
    """Places turned around the origin, then stretched to fill the unit square; a line stays a line in its middle."""
    c, s = np.cos(angle), np.sin(angle)
    turned = places @ np.array([[c, s], [-s, c]])
    low, high = turned.min(axis=0), turned.max(axis=0)
    size = high - low
    thin = size <= 1e-6 * max(float(size.max()), 1.0)
    return np.where(thin, 0.5, (turned - low) / np.where(thin, 1.0, size))


def _neighbours(n: int, edges: Sequence[Edge]) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j, _ in edges:
        if not (0 <= i < n and 0 <= j < n):
            raise InputError(f"edge ({i}, {j}) is not between two of the {n} words.")
        neighbours[i].append(j)
        neighbours[j].append(i)
    reached, stack = {0}, [0]
    while stack:
        fresh = [other for other in neighbours[stack.pop()] if other not in reached]
        reached.update(fresh)
        stack += fresh
    if len(reached) != n or len(edges) != n - 1:
        raise InputError(f"edges must be a spanning tree of {n} words, {n - 1} edges that reach each of them.")
    return [sorted(others) for others in neighbours]


def _centre(neighbours: list[list[int]]) -> int:
    """Node from which the farthest is nearest, by taking away leaves until one or two are left; the first of two."""
    degree = [len(others) for others in neighbours]
    left = len(neighbours)
    layer = [i for i, count in enumerate(degree) if count <= 1]
    while left > 2:
        left -= len(layer)
        following = []
        for leaf in layer:
            for other in neighbours[leaf]:
                degree[other] -= 1
                if degree[other] == 1:
                    following.append(other)
        layer = following
    return min(layer)

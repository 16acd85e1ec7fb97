"""Words beside points, placed one after the other so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray
from .style import GREY, halo, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DIRECTIONS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)])
_DISTANCES = (5.0, 9.0, 15.0)  # points
LABEL_LENGTH = 24
_FONT = 7.0


def label_points(
    ax: Axes, points: FloatArray, words: Sequence[str], *, most: int, tied: int, obstacles: FloatArray
) -> list[int]:
    """Write words beside points, the first points first, until ``most`` are written.

    A label stands where it covers no other label, no point and no obstacle, and where no other point is nearer to it
    than its own. Points without such a place are left without a label.

    Parameters
    ----------
    ax : Axes
        Holding everything else already, in its final layout.
    points : (n, 2) array
        In data coordinates.
    words : sequence of str
        One a point.
    most : int
        Labels at most.
    tied : int
        The first points whose labels may also stand off, tied to them by a hairline.
    obstacles : (m, 2) array
        More points in data coordinates that labels must not cover.

    Returns
    -------
    list of int
        Points that were labelled.
    """
    frame = ax.get_window_extent()
    room = np.array([frame.x0, frame.y0, frame.x1, frame.y1])
    pixels = ax.figure.figure.dpi / 72.0
    at = ax.transData.transform(points)
    blocked = np.concatenate([at, ax.transData.transform(obstacles.reshape(-1, 2))])
    centre = at.mean(axis=0) if len(at) else np.zeros(2)
    taken: list[FloatArray] = []
    labelled: list[int] = []
    for i, word in enumerate(words):
        if len(labelled) >= most:
            break
        name = plain(word, LABEL_LENGTH) or " "
        size = _size(ax, name)
        for offset, alignment in _places(at[i] - centre, _DISTANCES if i < tied else _DISTANCES[:1]):
            box = _box(at[i] + offset * pixels, size, alignment)
            far = bool(np.hypot(*offset) > 1.3 * _DISTANCES[0])
            if _free(box, room, taken, blocked, 2.5 * pixels) and (far or _is_nearest(box, at, i)):
                _write(ax, name, points[i], offset, alignment, far)
                taken.append(box)
                labelled.append(i)
                break
    return labelled


def _size(ax: Axes, name: str) -> FloatArray:
    text = ax.text(0, 0, name, fontsize=_FONT)
    extent = text.get_window_extent()
    text.remove()
    return np.array([extent.width, extent.height])


def _write(ax: Axes, name: str, point: FloatArray, offset: FloatArray, alignment: tuple[str, str], far: bool) -> None:
    # A label that had to move away is tied to its point by a hairline.
    tie = {"arrowstyle": "-", "linewidth": 0.5, "color": GREY, "shrinkA": 0, "shrinkB": 2}
    # Not part of the layout: it is final, and places within it are what was computed.
    ax.annotate(name, tuple(point), tuple(offset), textcoords="offset points", ha=alignment[0], va=alignment[1],
                fontsize=_FONT, in_layout=False, zorder=6, path_effects=halo(), annotation_clip=False,
                arrowprops=tie if far else None)  # fmt: skip


def _places(outward: FloatArray, distances: Sequence[float]) -> list[tuple[FloatArray, tuple[str, str]]]:
    """Offsets in points and alignments, the near ones and those that point away from the centre first."""
    length = float(np.hypot(*outward)) or 1.0
    order = np.argsort(-(_DIRECTIONS @ (outward / length)), kind="stable")
    sides = {-1: "right", 0: "center", 1: "left"}
    levels = {-1: "top", 0: "center", 1: "bottom"}
    return [
        (_DIRECTIONS[i] * distance, (sides[int(np.sign(_DIRECTIONS[i, 0]))], levels[int(np.sign(_DIRECTIONS[i, 1]))]))
        for distance in distances
        for i in order
    ]


def _box(anchor: FloatArray, size: FloatArray, alignment: tuple[str, str]) -> FloatArray:
    """(x0, y0, x1, y1) of a text of that size aligned at the anchor."""
    share = np.array([
        {"left": 0.0, "center": 0.5, "right": 1.0}[alignment[0]],
        {"bottom": 0.0, "center": 0.5, "top": 1.0}[alignment[1]],
    ])  # fmt: skip
    low = anchor - share * size
    return np.concatenate([low, low + size])


def _is_nearest(box: FloatArray, points: FloatArray, i: int) -> bool:
    """Whether no other point is about as near to a box as the i-th."""
    gaps = np.hypot(*np.maximum(np.maximum(box[:2] - points, points - box[2:]), 0.0).T)
    elsewhere = np.hypot(*(points - points[i]).T) > 1e-9  # of several points in one place none is the wrong one
    return not (gaps[elsewhere] < 1.3 * gaps[i]).any()


def _free(box: FloatArray, room: FloatArray, taken: list[FloatArray], blocked: FloatArray, margin: float) -> bool:
    inside = (box[:2] >= room[:2]).all() and (box[2:] <= room[2:]).all()
    over = any((box[:2] < other[2:]).all() and (other[:2] < box[2:]).all() for other in taken)
    covered = ((blocked > box[:2] - margin) & (blocked < box[2:] + margin)).all(axis=1).any()
    return bool(inside and not over and not covered)

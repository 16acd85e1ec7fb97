"""The co-occurrence space with its anchors and their convex hull (Figure 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..interpret.topic_words import anchors_of, words_of
from ..model import as_topic_model
from .coordinates import hull, space_coordinates
from .labels import label_points
from .style import PALETTE, laid_out, new_figure, own_axes, plain, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Above this many words their dots become one picture within the file; as outlines they would fill megabytes.
_RASTER_ABOVE = 2000
_WORDS, _ANCHORS = PALETTE[5], PALETTE[1]


def cooccurrence_space(
    model: Any,
    *,
    rectified: Any = None,
    ax: Axes | None = None,
    title: str | None = None,
    label: int = 12,
    relative_volume: float | None = None,
) -> Axes:
    """Draw words, anchors and the anchors' convex hull in the co-occurrence space (Figure 2).

    The axes are the two leading principal components of the rows of the normalised co-occurrence (Lemma 2); both have
    the same scale, so that distances can be compared. The hull is that of the anchors as projected: in all K
    dimensions each anchor is a corner, in the plane only some are.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    rectified : (N, N) array or Rectified, optional
        Co-occurrence to draw in place of the model's Y: needed for AP and for the unrectified baseline.
    ax : matplotlib Axes, optional
        Where to draw; by default on a figure of its own.
    title : str, optional
    label : int
        Anchors at most that are labelled by their word, corners of the hull first; those without room are not.
    relative_volume : float, optional
        Stated below the title, as in the second row of Figure 2 (see ``metrics``).

    Returns
    -------
    matplotlib Axes
    """
    record = as_topic_model(model)
    xy, _, explained = space_coordinates(record, rectified)
    panel = {
        "title": title,
        "xy": xy,
        "anchors": record.anchors,
        "anchor_words": [anchors_of(record, k, words_of(record))["anchor"] for k in range(record.n_components)],
        "explained": explained,
        "relative_volume": relative_volume,
    }
    with style():
        axes = own_axes(ax, 4.0, 3.6)
        _finish([axes], [panel], label)
    return axes


def spaces(panels: Sequence[Mapping[str, Any]], columns: int = 4, *, label: int = 8) -> Figure:
    """Co-occurrence spaces side by side (Figure 2), from coordinates that were computed before.

    Parameters
    ----------
    panels : sequence of dict
        Each with ``xy`` (N, 2), ``anchors`` (K indices of words, or their (K, 2) coordinates), and as it pleases
        ``title``, ``anchor_words`` (K words), ``explained`` (2 shares of variance) and ``relative_volume``.
    columns : int
        Panels in a row.
    label : int
        Anchors labelled in each panel at most.

    Returns
    -------
    matplotlib Figure
    """
    if not panels:
        raise InputError("panels is empty: give at least one.")
    columns = min(check_positive_integer(columns, "columns"), len(panels))
    n_rows = -(-len(panels) // columns)
    with style():
        figure = new_figure(2.9 * columns, 2.75 * n_rows)
        grid = figure.subplots(n_rows, columns, squeeze=False).ravel()
        for ax in grid[len(panels) :]:
            ax.set_axis_off()
        _finish([own_axes(ax, 0, 0) for ax in grid[: len(panels)]], panels, label)
    return figure


def _finish(axes: Sequence[Axes], panels: Sequence[Mapping[str, Any]], label: int) -> None:
    """Draw panels, and label them once the place of everything on the page is known."""
    corners = [_draw(ax, panel) for ax, panel in zip(axes, panels, strict=True)]
    laid_out(axes[0])
    for ax, panel in zip(axes, panels, strict=True):
        _fit(ax, panel)
    laid_out(axes[0])
    for ax, panel, corner in zip(axes, panels, corners, strict=True):
        _label(ax, panel, corner, label)


def _draw(ax: Axes, panel: Mapping[str, Any]) -> list[int]:
    """Everything but the labels; returns the anchors at the corners of the hull."""
    xy, anchors = _places(panel)
    ax.plot(*xy.T, linestyle="", marker="o", markersize=1.8, markeredgewidth=0, color=_WORDS, alpha=0.55,
            rasterized=len(xy) > _RASTER_ABOVE, zorder=1)  # fmt: skip
    corners = hull(anchors).tolist()
    if len(corners) > 1:
        ring = anchors[[*corners, corners[0]]]
        ax.fill(*ring.T, facecolor=_ANCHORS, alpha=0.07, edgecolor="none", zorder=2)
        ax.plot(*ring.T, color=_ANCHORS, linewidth=1.1, zorder=3)
    ax.plot(*anchors.T, linestyle="", marker="^", markersize=4.5, markeredgewidth=0.5, markeredgecolor="white",
            color=_ANCHORS, zorder=4)  # fmt: skip
    ax.locator_params(nbins=5)
    explained = panel.get("explained")
    for i, name in enumerate(("first", "second")):
        share = "" if explained is None else f" ({100 * float(explained[i]):.0f}% of variance)"
        (ax.set_xlabel, ax.set_ylabel)[i](f"{name} axis{share}")
    title = [] if panel.get("title") is None else [plain(panel["title"], lines=True)]
    if panel.get("relative_volume") is not None:
        title.append(f"log relative volume {float(panel['relative_volume']):.3g}")
    ax.set_title("\n".join(title))
    return corners


def _fit(ax: Axes, panel: Mapping[str, Any]) -> None:
    """Limits of the same scale along both axes, with room for labels around everything."""
    points = np.concatenate(_places(panel))
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return
    low, high = points.min(axis=0), points.max(axis=0)
    frame = ax.get_window_extent()
    pixels = np.array([frame.width, frame.height])
    scale = float(((high - low) / (0.8 * pixels)).max()) or 1.0 / float(pixels.max())
    middle, half = (low + high) / 2.0, 0.5 * scale * pixels
    ax.set_xlim(float(middle[0] - half[0]), float(middle[0] + half[0]))
    ax.set_ylim(float(middle[1] - half[1]), float(middle[1] + half[1]))
    ax.set_aspect("equal", adjustable="box")  # what the layout still moves does not change the shape


def _label(ax: Axes, panel: Mapping[str, Any], corners: list[int], most: int) -> None:
    words = panel.get("anchor_words")
    if words is None:
        return
    _, anchors = _places(panel)
    finite = np.flatnonzero(np.isfinite(anchors).all(axis=1)).tolist()
    order = [*corners, *(k for k in finite if k not in set(corners))]
    ring = anchors[[*corners, *corners[:1]]]
    along = np.linspace(0.0, 1.0, 60)[:, None, None]
    sides = ((1.0 - along) * ring[:-1] + along * ring[1:]).reshape(-1, 2)  # labels keep off the outline too
    label_points(ax, anchors[order], [words[k] for k in order], most=most, tied=len(corners), obstacles=sides)


def _places(panel: Mapping[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Words and anchors in the plane."""
    xy, anchors = np.asarray(panel["xy"], dtype=np.float64), np.asarray(panel["anchors"])
    if anchors.ndim == 1 and anchors.dtype.kind in "iu":
        anchors = xy[anchors]
    if xy.ndim != 2 or xy.shape[1] != 2 or anchors.ndim != 2 or anchors.shape[1] != 2:
        raise InputError(
            "a panel needs xy of shape (N, 2), and as anchors indices of words or coordinates of shape (K, 2), but has "
            f"shapes {xy.shape} and {anchors.shape}."
        )
    words = panel.get("anchor_words")
    if words is not None and len(words) != len(anchors):
        raise InputError(f"a panel has {len(anchors)} anchors, but {len(words)} anchor_words.")
    return xy, anchors.astype(np.float64)

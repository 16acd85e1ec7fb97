"""The co-occurrence space in two dimensions (Figure 2), without drawing it.

Notation
--------
Cbar : (N, N)   rectified co-occurrence, rows scaled to sum to one
X : (N, K)      coordinates of the rows of Cbar, Lemma 2: the same inner products
xy : (N, 2)     their two leading principal components
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from .._validation import as_real_array, require_square
from ..anchors.lowrank import normalised_coordinates
from ..exceptions import InputError
from ..model import as_topic_model

# Below this many words a full decomposition is quicker than an iterative one, which needs more than a few rows.
_SMALL = 64
# Variance that is rounding, as a share of the rows' squared lengths.
_NOTHING = 1e-14


class SpaceCoordinates(NamedTuple):
    """Words in the plane of the two leading principal axes.

    Attributes
    ----------
    xy : (N, 2) array
        NaN where the word is not usable.
    usable : (N,) bool array
        Words whose row can be a probability vector.
    explained : (2,) array
        Share of the variance of the rows that each axis carries.
    """

    xy: FloatArray
    usable: BoolArray
    explained: FloatArray


def space_coordinates(model: Any, rectified: Any = None) -> SpaceCoordinates:
    """Principal coordinates of the rows of the normalised co-occurrence, as drawn in Figure 2.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    rectified : (N, N) array or Rectified, optional
        Co-occurrence to use in place of the model's compression Y: needed for AP and for the baseline, whose models
        hold none. No N x N decomposition is made of it, and float64 arrays are not copied.

    Returns
    -------
    SpaceCoordinates
        Each axis points to where the words reach farther (positive third moment).
    """
    record = as_topic_model(model)
    compressed = record.Y if rectified is None else None
    if rectified is not None:
        from ..rectify.result import Rectified  # brings scikit-learn, which a page does without

        if isinstance(rectified, Rectified):
            compressed, rectified = rectified.Y, rectified.C
    given = rectified if compressed is None else compressed
    if given is None:
        raise InputError(
            "this model holds no compression Y: give the co-occurrence it was read off, as rectified=C."
        )  # fmt: skip
    if np.shape(given)[0] != record.n_words:
        raise InputError(f"rectified has {np.shape(given)[0]} words, but the model has {record.n_words}.")
    if compressed is None:
        return _of_matrix(rectified)
    X, _, usable = normalised_coordinates(np.asarray(compressed))
    return place_rows(X, usable)


def hull(points: FloatArray) -> IntArray:
    """Indices of the corners of the convex hull of points in the plane, in order around it.

    Of points on one line the two ends, of points in one place the first, of none an empty array. Points that are NaN
    are left out.
    """
    finite = np.flatnonzero(np.isfinite(points).all(axis=1))
    if finite.size == 0:
        return finite
    centred = points[finite] - points[finite].mean(axis=0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    size = float(np.abs(points[finite]).max())
    if spread[0] <= 1e-12 * size:
        return finite[:1]
    if finite.size > 2 and spread[1] > 1e-9 * spread[0]:
        from scipy.spatial import ConvexHull

        # Unit spread along both axes: thin hulls are then no harder than round ones.
        corners: IntArray = finite[ConvexHull(centred @ (axes.T / spread)).vertices]
        return corners
    along = centred @ axes[0]
    return finite[[int(along.argmin()), int(along.argmax())]]


def place_rows(X: FloatArray, usable: BoolArray) -> SpaceCoordinates:
    """The two leading principal components of the usable rows of X."""
    rows = X[usable]
    centred = rows - rows.mean(axis=0)
    scatter = centred.T @ centred
    leading = centred @ np.linalg.eigh(scatter).eigenvectors[:, ::-1][:, :2]
    return _placed(leading, usable, float(np.trace(scatter)), float((rows**2).sum()))


def _of_matrix(C: Any) -> SpaceCoordinates:
    """Rows of C by products with C alone, centred and scaled on the fly."""
    N = require_square(C, "rectified")
    if not (isinstance(C, np.ndarray) and C.dtype == np.float64):  # a copy could be gigabytes
        C = as_real_array(C.toarray() if hasattr(C, "toarray") else C, "rectified", "a square matrix, words x words")
    d = C.sum(axis=1)
    if not np.isfinite(d).all():
        raise InputError("rectified must be finite, but contains NaN or infinity.")
    positive = d > np.finfo(np.float64).eps * float(np.abs(d).max(initial=0.0))
    scale = np.where(positive, 1.0 / np.where(positive, d, 1.0), 0.0)
    lengths = np.einsum("ij,ij->i", C, C) * scale**2
    usable = positive & (lengths <= 1.0 + 1e-9)
    if not usable.any():
        raise InputError("rectified has no row that is a probability vector once scaled: there is no word to place.")
    scale = np.where(usable, scale, 0.0)
    mean = scale @ C / usable.sum()
    size = float(lengths[usable].sum())
    total = size - float(usable.sum() * (mean @ mean))
    if N <= _SMALL:
        U, s, _ = np.linalg.svd(C * scale[:, None] - usable[:, None] * mean)
    elif total > _NOTHING * size:
        U, s = _leading(C, scale, usable, mean)
    else:
        U, s = np.zeros((N, 2)), np.zeros(2)
    return _placed((U * s)[usable][:, np.argsort(-s, kind="stable")[:2]], usable, total, size)


def _leading(C: FloatArray, scale: FloatArray, usable: BoolArray, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    from scipy.sparse.linalg import LinearOperator, svds

    def times(v: FloatArray) -> FloatArray:
        return scale * (C @ v.ravel()) - usable * (mean @ v.ravel())

    def adjoint(u: FloatArray) -> FloatArray:
        return (scale * u.ravel()) @ C - mean * u.ravel()[usable].sum()

    rows = LinearOperator(C.shape, matvec=times, rmatvec=adjoint, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(C.shape[0])  # fixed: the same matrix gives the same figure
    U, s, _ = svds(rows, k=2, v0=start)
    return U, s


def _placed(leading: FloatArray, usable: BoolArray, total: float, size: float) -> SpaceCoordinates:
    """Fix signs, put words in their places and share out the variance; rows that are all one are one point."""
    xy = np.full((usable.size, 2), np.nan)
    xy[usable] = 0.0
    explained = np.zeros(2)
    if total > _NOTHING * size:
        shares = (leading**2).sum(axis=0) / total
        signs = np.where((leading**3).sum(axis=0) < 0.0, -1.0, 1.0)
        xy[usable, : leading.shape[1]] = leading * signs
        explained[: shares.size] = np.minimum(shares, 1.0)
    return SpaceCoordinates(xy, usable, explained)

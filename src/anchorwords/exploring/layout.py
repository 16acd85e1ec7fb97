"""Topics on a map: near where they go together, circles that do not cover each other.

Notation
--------
p : (K,)     p(topic)
R : (K, K)   association of topics, see :mod:`anchorwords.interpret.association`
delta_kl = R_kl^(-1/2), what the distance on the map should be
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..interpret.association import Association

# The map is as wide as this, and 1 high.
ASPECT = 1.5
# Share of the map that circles cover together, and the smallest circle that can still be hit.
_COVERED = 0.16
_SMALLEST = 0.008
# Distances asked for: beyond these topics are just together, or just apart.
_NEAREST, _FARTHEST = 0.25, 2.5
_STEPS = 300
_MARGIN = 0.02


def topic_map(prevalence: FloatArray, association: Association) -> tuple[FloatArray, FloatArray]:
    """Places and radii of topics, on a map of width :data:`ASPECT` and height 1.

    Distances are fitted by stress majorisation (SMACOF), near pairs weighing more; the start is classical scaling, so that
    the same model always gives the same map. Areas are proportional to the prevalence.

    Parameters
    ----------
    prevalence : (K,) array
    association : Association

    Returns
    -------
    places : (K, 2) array
    radii : (K,) array
    """
    radii = np.maximum(np.sqrt(_COVERED * ASPECT * prevalence / np.pi), _SMALLEST)
    if prevalence.size == 1:
        return np.array([[ASPECT / 2.0, 0.5]]), radii
    # To nine digits: where all distances are the same, rounding would decide which way up the map is.
    delta = np.clip(1.0 / np.sqrt(np.maximum(association.ratio, 1e-12)), _NEAREST, _FARTHEST).round(9)
    np.fill_diagonal(delta, 0.0)
    X = _upright(_majorised(_classical(delta), delta))
    room = np.array([ASPECT, 1.0])
    low, high = X.min(axis=0), X.max(axis=0)
    size = np.maximum(high - low, 1e-9)
    # One scale for both axes would leave wide maps half empty; up to twice is hardly seen.
    scale = (room - 2.0 * (radii.max() + _MARGIN)) / size
    scale = np.minimum(scale, 2.0 * scale.min())
    places = (X - (low + high) / 2.0) * scale + room / 2.0
    return _apart(places, radii, room), radii


def _classical(delta: FloatArray) -> FloatArray:
    """Classical scaling to two dimensions."""
    squared = delta**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    X = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    if X.shape[1] < 2 or np.ptp(X[:, 1]) <= 1e-9 * max(np.ptp(X[:, 0]), 1e-9):
        # On a line majorisation never leaves it: a bow does.
        X = np.column_stack([X[:, 0], 1e-2 * np.cos(np.arange(len(X)))])
    return X


def _majorised(X: FloatArray, delta: FloatArray) -> FloatArray:
    """SMACOF with weights delta^-2: each step solves the quadratic that lies above the stress and touches it at X."""
    K = len(X)
    weight = np.divide(1.0, delta**2, out=np.zeros_like(delta), where=delta > 0.0)
    V = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(V + 1.0 / K) - 1.0 / K
    for _ in range(_STEPS):
        distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
        ratio = np.divide(weight * delta, distance, out=np.zeros_like(delta), where=distance > 1e-12)
        step = inverse @ ((np.diag(ratio.sum(axis=1)) - ratio) @ X)
        moved = float(np.abs(step - X).max())
        X = step
        if moved < 1e-6:
            break
    return X


def _upright(X: FloatArray) -> FloatArray:
    """Longest axis across, each pointing to where topics reach farther."""
    centred = X - X.mean(axis=0)
    turned = centred @ np.linalg.eigh(centred.T @ centred).eigenvectors[:, ::-1]
    return turned * np.where((turned**3).sum(axis=0) < 0.0, -1.0, 1.0)


def _apart(places: FloatArray, radii: FloatArray, room: FloatArray) -> FloatArray:
    """Circles pushed off each other, each by half of what they share, and back into the map."""
    gap = 0.35 * float(np.median(radii))
    want = radii[:, None] + radii[None] + gap
    np.fill_diagonal(want, 0.0)
    X = places.copy()
    index = np.arange(len(X))
    for _ in range(_STEPS):
        difference = X[:, None] - X[None]
        distance = np.sqrt((difference**2).sum(axis=2))
        shared = np.maximum(want - distance, 0.0)
        if shared.max() <= 1e-6:
            break
        # Two topics in the same place part along a direction of their own.
        angle = 2.4 * (index[:, None] - index[None])
        away = np.where(
            (distance > 1e-9)[:, :, None],
            difference / np.maximum(distance, 1e-9)[:, :, None],
            np.stack([np.cos(angle), np.sin(angle)], axis=2) * np.sign(index[:, None] - index[None])[:, :, None],
        )
        X = X + 0.5 * (shared[:, :, None] * away).sum(axis=1)
        edge = (radii + _MARGIN)[:, None]
        X = np.clip(X, np.minimum(edge, room / 2.0), np.maximum(room - edge, room / 2.0))
    return X

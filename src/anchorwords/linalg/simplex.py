"""Least squares on the probability simplex: many right-hand sides, one Gram matrix.

Notation
--------
P : (K, D)   the points whose convex combinations are sought (rows)
G : (K, K)   P P', their Gram matrix
b : (K,)     P x for a target x in R^D
w : (K,)     weights, w >= 0, sum w = 1

The problem of Algorithms 1 and 5 for one word is  min_w |x - P'w|^2  on the simplex, which depends on the data
through G and b alone: minimise w'Gw/2 - b'w. It is solved to optimality by an active-set method
(:mod:`anchorwords.kernels.simplex`).

On the simplex the objective does not change when c is added to every entry of G and of b (the data gain one
coordinate that all points and targets share). That makes G positive definite on exactly those faces whose
vertices are affinely independent, which is all that the method ever visits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._namespace import array_namespace, is_array
from .._typing import FloatArray
from ..kernels import kernels_for


def simplex_least_squares(G: Any, rhs: Any, *, n_jobs: int | None = None) -> Any:
    """Weights on the simplex that bring convex combinations of K points closest to each target.

    Parameters
    ----------
    G : (K, K) array
        Gram matrix P P' of the points, of any array namespace.
    rhs : (n, K) array
        Inner products X P' of the n targets with the points.
    n_jobs : int or None
        Threads; the answer does not depend on it.

    Returns
    -------
    (n, K) array
        Row i minimises w'Gw/2 - rhs_i'w over w >= 0, sum w = 1, to rounding.
    """
    scaled, targets = _normalise(G, rhs)
    return kernels_for(targets).simplex_least_squares(scaled, targets, n_jobs)


def kkt_residual(G: FloatArray, rhs: FloatArray, weights: FloatArray) -> FloatArray:
    """Largest violation of the optimality conditions of each row, relative to the scale of the data.

    For w on the simplex with gradient g = Gw - b the conditions are g_j >= nu for all j and g_j = nu where
    w_j > 0; the violation is max(max_j (nu - g_j), max_{w_j > 0} w_j (g_j - nu)) with nu = w'g.
    """
    scaled, targets = _normalise(G, rhs)
    gradient = weights @ scaled - targets
    level = np.sum(weights * gradient, axis=1, keepdims=True)
    below = np.max(level - gradient, axis=1)
    above = np.max(weights * (gradient - level), axis=1)
    return np.maximum(np.maximum(below, above), 0.0)


def _normalise(G: Any, rhs: Any) -> tuple[Any, Any]:
    """Scale to a unit largest diagonal and add the shared coordinate, in double precision."""
    G, rhs = (array if is_array(array) else np.asarray(array) for array in (G, rhs))
    xp = array_namespace(G, rhs)
    G, rhs = xp.astype(G, xp.float64, copy=False), xp.astype(rhs, xp.float64, copy=False)
    diagonal = xp.linalg.diagonal(G)
    largest = float(xp.max(diagonal))
    scale = 1.0 / largest if largest > 0.0 else 1.0
    shared = float(xp.mean(diagonal)) * scale if largest > 0.0 else 1.0
    return G * scale + shared, rhs * scale + shared

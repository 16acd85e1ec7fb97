"""Norms and distances of matrices Y Y' from K x K products of their factors."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray


def factored_norm(Y: FloatArray) -> float:
    """|Y Y'|_F."""
    return float(np.linalg.norm(Y.T @ Y))


def factored_distance(before: FloatArray, after: FloatArray) -> float:
    """|B B' - A A'|_F / |A A'|_F for B ``before``, A ``after``; the rotation of the factors does not matter.

    Written through D = A - B, as A A' - B B' = A D' + D B': no cancellation when the factors are close.
    """
    if before.shape[1] != after.shape[1]:
        raise ValueError("factors must have the same number of columns")
    # Rotate B towards A first (Procrustes), so that D is as small as the distance allows.
    left, _, right = np.linalg.svd(before.T @ after)
    before = before @ (left @ right)
    D = after - before
    DD = D.T @ D
    squared = (
        np.sum(DD * (after.T @ after))
        + np.sum(DD * (before.T @ before))
        + 2.0 * np.sum((after.T @ D).T * (before.T @ D))
    )
    norm = factored_norm(after)
    return float(np.sqrt(max(float(squared), 0.0))) / norm if norm > 0.0 else 0.0

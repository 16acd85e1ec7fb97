"""Norms and distances of matrices Y Y' from K x K products of their factors."""

from __future__ import annotations

from typing import Any

from .._namespace import array_namespace
from .tall import gram, times


def compression(V: Any, D: Any) -> Any:
    """Y with Y Y' the positive semi-definite part of V diag(D) V'."""
    xp = array_namespace(V)
    return V * xp.sqrt(xp.where(D > 0.0, D, xp.zeros_like(D)))


def factored_norm(Y: Any) -> float:
    """|Y Y'|_F."""
    G = gram(Y, Y)
    return float(array_namespace(Y).sum(G * G)) ** 0.5


def factored_distance(before: Any, after: Any) -> float:
    """|B B' - A A'|_F / |A A'|_F for B ``before``, A ``after``; the rotation of the factors does not matter.

    Written through D = A - B, as A A' - B B' = A D' + D B': no cancellation when the factors are close.
    """
    if before.shape[1] != after.shape[1]:
        raise ValueError("factors must have the same number of columns")
    xp = array_namespace(after)
    # Rotate B towards A first (Procrustes), so that D is as small as the distance allows.
    left, _, right = xp.linalg.svd(gram(before, after))
    before = times(before, left @ right)
    D = after - before
    DD = gram(D, D)
    squared = float(
        xp.sum(DD * gram(after, after))
        + xp.sum(DD * gram(before, before))
        + 2.0 * xp.sum(gram(after, D).T * gram(before, D))
    )
    norm = factored_norm(after)
    return max(squared, 0.0) ** 0.5 / norm if norm > 0.0 else 0.0

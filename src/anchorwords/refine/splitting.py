"""Topics split in two, and how many are left when they are taken out again."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._namespace import array_namespace, like

# Power steps towards the direction of a split.
_POWER_STEPS = 8
# Rounds of taking out, each of the same share of the topics.
ROUNDS = 3
_LANES = 8


def numbers_left(n_topics: int, K: int) -> list[int]:
    """Topics after each round of taking out, falling evenly to K; of many, whole vectors on the way, which are faster."""
    even = np.geomspace(n_topics, K, ROUNDS + 1)[1:-1]
    width = _LANES if K >= 4 * _LANES else 1
    return [min(max(K, width * round(n / width)), n_topics) for n in even] + [K]


def halves_of_topics(B: Any, places: Any) -> tuple[Any, Any]:
    """Two topics for each: its words weighted by one plus, and one minus, where they lie along its longest axis.

    The axis is the first principal one of the ``places`` (N, D) of words, weighted by the topic.
    """
    xp = array_namespace(B)
    # Any start; always the same.
    axes = like(np.random.default_rng(0).standard_normal((places.shape[1], B.shape[1])), B)
    centres = B.T @ places
    for _ in range(_POWER_STEPS):
        along = places @ axes - xp.sum(centres.T * axes, axis=0)
        axes = places.T @ (B * along)
        sizes = xp.linalg.vector_norm(axes, axis=0)
        axes = axes / xp.where(sizes > 0.0, sizes, 1.0)
    along = places @ axes - xp.sum(centres.T * axes, axis=0)
    spread = xp.sqrt(xp.sum(B * along**2, axis=0))
    tilt = xp.tanh(along / xp.where(spread > 0.0, spread, 1.0))
    halves = B * (1.0 + tilt), B * (1.0 - tilt)
    first, second = (half / xp.clip(xp.sum(half, axis=0), np.finfo(np.float64).tiny, None) for half in halves)
    return first, second

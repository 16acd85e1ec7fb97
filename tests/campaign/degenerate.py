"""Degenerate data with everything that can be computed from them: see :mod:`tests.degenerate`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..degenerate import FITS, KINDS, USES, WHOLE, fitted, outcome
from .campaign import Area, Trial

_COMMON = "Degenerate data give valid probabilities or one clear error, and no warning of NumPy's."


def _drawn(rng: np.random.Generator) -> tuple[Any, int]:
    """Data of a random kind and size, sometimes of two kinds at once, and a number of topics."""
    M, N = (
        (int(rng.integers(1, 25)), int(rng.integers(1, 20))) if rng.random() < 0.8 else rng.integers(20, 80, 2).tolist()
    )
    X = _of_any_kind(rng, M, N)
    if rng.random() < 0.2:
        X = np.vstack([X, _of_any_kind(rng, M, N)])
    if rng.random() < 0.1 and N > 1:
        X = X[:, rng.permutation(N)] * (rng.random(N) < 0.7)
    K = int(rng.choice([1, N, max(1, N // 2), min(N, 3), int(rng.integers(1, N + 1)), N + 1]))
    return X, K


def _of_any_kind(rng: np.random.Generator, M: int, N: int) -> Any:
    return KINDS[_one_of(rng, KINDS)](rng, M, N)


def _one_of(rng: np.random.Generator, names: Any) -> str:
    return sorted(names)[rng.integers(len(names))]


def _fit_and_use(trial: Trial) -> str:
    X, K = _drawn(trial.rng)
    fit, use, found = _one_of(trial.rng, FITS), _one_of(trial.rng, USES), []
    if outcome(lambda: found.append(fitted(X, K, fit))) == "refused":
        return "fit refused"
    return f"fit sound, {outcome(USES[use], found[0], X, trial.rng)} after it"


def _compute(trial: Trial) -> str:
    X, K = _drawn(trial.rng)
    return outcome(WHOLE[_one_of(trial.rng, WHOLE)], X, K, trial.rng)


AREAS: tuple[Area, ...] = (
    Area("degenerate: fits and their uses", _COMMON, _fit_and_use, short=60, limit=120.0, weight=2.0),
    Area("degenerate: scans, sketches and streams", _COMMON, _compute, short=60, limit=120.0),
)

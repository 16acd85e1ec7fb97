"""Progress of a fit: the name of a stage, and the share of it that is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..linalg.fixed_point import Iteration
from .result import Callback

Report: TypeAlias = Callable[[str, float], None]


def silent(stage: str, share: float) -> None:
    """No progress is wanted."""


def eigenpair_progress(report: Report) -> Callable[[int, float], None]:
    """Share of the eigenpairs that is done: by the digits of the largest residual, relative to its goal."""
    return lambda _, worst: report("eigenpairs", _share(worst, 1.0, 1e7))


def rectification_progress(report: Report, tol: float, max_iter: int) -> Callback:
    """Share of a rectification that is done: by its steps, or by the digits of the violation, whichever is more."""
    first: list[float] = []

    def callback(step: int, iteration: Iteration) -> None:
        if not first:
            first.append(iteration.violation)
        digits = _share(iteration.violation, tol, first[0] / tol) if tol > 0.0 else 0.0
        report("rectification", min(max(step / max_iter, digits), 1.0))

    return callback


def _share(value: float, goal: float, span: float) -> float:
    """How far value has come down, on a logarithmic scale, from goal * span to goal."""
    if not value > goal:
        return 1.0
    if not (span > 1.0 and np.isfinite(value)):
        return 0.0
    return float(np.clip(1.0 - np.log(value / goal) / np.log(span), 0.0, 1.0))

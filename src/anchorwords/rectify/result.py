"""The record every rectifier returns, and what all of them share."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from .._typing import FloatArray
from ..linalg.fixed_point import FixedPoint, Iteration

logger = logging.getLogger("anchorwords.fit")

Callback: TypeAlias = Callable[[int, Iteration], None]


@dataclass(frozen=True, eq=False)
class Rectified:
    """A rectified co-occurrence and how it came about.

    Attributes
    ----------
    method : str
        "ap", "enn" or "palm".
    Y : (N, K) array or None
        Compression with C ~ Y Y' (ENN, PALM).
    C : (N, N) array or None
        Dense rectified co-occurrence (AP).
    converged : bool
        Whether the stop rule was met; with ``tol=0`` the number of steps is the rule.
    n_iter : int
    history : tuple of Iteration
        Change, violation and objective of each step.
    eps : float
        ENN only: Y Y' + E >= -eps holds for every entry, E being the correction of the rows checked (the
        largest squared row norm outside them, by Cauchy-Schwarz).
    min_entry : float
        ENN only: most negative entry of Y Y' among the rows checked, 0 where there is none.
    """

    method: str
    Y: FloatArray | None
    C: FloatArray | None
    converged: bool
    history: tuple[Iteration, ...] = field(repr=False)
    eps: float = float("nan")
    min_entry: float = float("nan")

    def __post_init__(self) -> None:
        for array in (self.Y, self.C):
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    @property
    def n_iter(self) -> int:
        """Number of steps made."""
        return len(self.history)


def warn_unless_converged(method: str, end: FixedPoint[Any], tol: float) -> None:
    """Warn when the step limit, not the stop rule, ended a rectification."""
    if not end.converged:
        from ..exceptions import ConvergenceWarning  # imports scikit-learn

        warnings.warn(
            f"{method} rectification ended on max_iter={len(end.history)} with violation "
            f"{end.history[-1].violation:.2g} above tol={tol:g}: raise max_iter for a converged answer (in the "
            f"estimator rectifier={method}(max_iter=...)), or tol if this accuracy will do.",
            ConvergenceWarning,
            stacklevel=3,
        )


def logged(rectified: Rectified, begin: float) -> Rectified:
    """The same, after a line in the log; ``begin`` is when it began, by the performance counter."""
    logger.info(
        "rectification: %s, %d steps, %s, violation %.2g, %.2f s",
        rectified.method, rectified.n_iter, "converged" if rectified.converged else "not converged",
        rectified.history[-1].violation, perf_counter() - begin,
    )  # fmt: skip
    return rectified

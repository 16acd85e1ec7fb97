"""The one iteration loop: it counts, records and decides when to stop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

State = TypeVar("State")


class Iteration(NamedTuple):
    """What one step of a rectification reported.

    Attributes
    ----------
    change : float
        Frobenius norm of the change of the iterate in this step, relative to the iterate.
    violation : float
        What the stop rule looks at: how far the iterate still is from what it should be (each method says in
        which measure).
    objective : float
        The method's objective, NaN where it has none.
    """

    change: float
    violation: float
    objective: float = float("nan")


class FixedPoint(NamedTuple, Generic[State]):
    """Where a loop ended."""

    state: State
    converged: bool
    history: tuple[Iteration, ...]


def iterate(
    step: Callable[[State, int], tuple[State, Iteration]],
    state: State,
    *,
    max_iter: int,
    tol: float,
    callback: Callable[[int, Iteration], None] | None = None,
) -> FixedPoint[State]:
    """Repeat ``step`` until its violation is at most ``tol`` or ``max_iter`` steps are done.

    ``tol=0`` runs exactly ``max_iter`` steps and counts as converged: that is what was asked for.
    """
    history: list[Iteration] = []
    for t in range(max_iter):
        state, report = step(state, t)
        history.append(report)
        if callback is not None:
            callback(t + 1, report)
        if tol > 0.0 and report.violation <= tol:
            return FixedPoint(state, True, tuple(history))
    return FixedPoint(state, tol == 0.0, tuple(history))

"""The sparse correction E of ENN, and what a step needs of it.

Notation
--------
Y : (N, K)   compression, its rows sorted so that the checked words come first
I            the first n rows
E : (N, N)   max(-Y Y', 0) on rows I and columns I, zero elsewhere

E itself comes from the kernels: see :class:`anchorwords.kernels.protocol.NegativePart`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._namespace import array_namespace
from ..kernels import kernels_for
from ..kernels.protocol import NegativePart
from ..linalg.factored import factored_norm
from ..linalg.tall import squared_lengths, times


class CheckedFirst(NamedTuple):
    """An order of the words in which the checked ones come first.

    Attributes
    ----------
    order : (N,) int array
        By falling norm of the rows of Y; ties keep their order.
    n_checked : int
    eps : float
        Largest squared norm among the rows left unchecked: no entry there is below minus this (Cauchy-Schwarz).
    """

    order: Any
    n_checked: int
    eps: float


def checked_first(Y: Any, n_rows: int) -> CheckedFirst:
    """Choose I, the rows of largest norm."""
    xp = array_namespace(Y)
    squares = squared_lengths(Y)
    order = xp.argsort(-squares, stable=True)
    n = min(n_rows, Y.shape[0])
    return CheckedFirst(order, n, float(squares[int(order[n])]) if n < Y.shape[0] else 0.0)


def correction_of(Y: Any, n_checked: int, n_jobs: int | None = None, *, coarse: bool = False) -> NegativePart:
    """E for a Y with its checked rows first, in the form that suits its arrays."""
    return kernels_for(Y).negative_part(Y, n_checked, coarse=coarse, n_jobs=n_jobs)


class CorrectedOperator:
    """x -> Y (Y'x) + omega E x + r (e'x) e, the operator of Algorithm 3.

    Parameters
    ----------
    Y : (N, K) array
    n_rows : int
        |I|.
    omega : float
        Relaxation: 1 is the paper's.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, Y: Any, n_rows: int, omega: float = 1.0, *, n_jobs: int | None = None) -> None:
        xp = array_namespace(Y)
        chosen = checked_first(Y, n_rows)
        self.correction = correction_of(xp.take(Y, chosen.order, axis=0), chosen.n_checked, n_jobs)
        self._Y, self._omega, self._n_jobs = Y, omega, n_jobs
        self._order, self._places = chosen.order, xp.argsort(chosen.order)
        self.shape = (Y.shape[0], Y.shape[0])

    def __matmul__(self, V: Any) -> Any:
        xp = array_namespace(V)
        corrected = xp.take(self.correction.times(xp.take(V, self._order, axis=0)), self._places, axis=0)
        r = normalisation(self._Y, self._omega * self.correction.total)
        return times(self._Y, self._Y.T @ V, self._n_jobs) + self._omega * corrected + r * xp.sum(V, axis=0)

    def violation(self) -> float:
        """|E + r ee'|_F / |Y Y'|_F, what the correction would change."""
        r = normalisation(self._Y, self.correction.total)
        return violation(self.correction, r, self.shape[0], factored_norm(self._Y))


def normalisation(Y: Any, corrected: float, target: float = 1.0) -> float:
    """r, what each entry needs for Y Y' and a correction of this sum to sum to the target."""
    sums = array_namespace(Y).sum(Y, axis=0)
    return (target - float(sums @ sums) - corrected) / Y.shape[0] ** 2


def violation(correction: NegativePart, r: float, N: int, norm: float) -> float:
    """|E + r ee'|_F relative to a norm of Y Y'."""
    squared = correction.squares + 2.0 * r * correction.total + (r * N) ** 2
    return float(np.sqrt(max(squared, 0.0)) / norm)

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
from ..linalg.tall import add_row, add_scaled, column_sums, gram, squared_lengths, take_rows, times


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


def checked_first(Y: Any, n_rows: int, n_jobs: int | None = None) -> CheckedFirst:
    """Choose I, the rows of largest norm."""
    xp = array_namespace(Y)
    squares = squared_lengths(Y, n_jobs)
    order = xp.argsort(-squares, stable=True)
    n = min(n_rows, Y.shape[0])
    return CheckedFirst(order, n, float(squares[int(order[n])]) if n < Y.shape[0] else 0.0)


def correction_of(Y: Any, n_checked: int, n_jobs: int | None = None) -> NegativePart:
    """E for a Y with its checked rows first, in the form that suits its arrays."""
    return kernels_for(Y).negative_part(Y, n_checked, n_jobs=n_jobs)


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
        chosen = checked_first(Y, n_rows, n_jobs)
        self.correction = correction_of(take_rows(Y, chosen.order, n_jobs), chosen.n_checked, n_jobs)
        self._Y, self._sums, self._omega, self._n_jobs = Y, column_sums(Y, n_jobs), omega, n_jobs
        self._order, self._places = chosen.order, array_namespace(Y).argsort(chosen.order)
        self.shape = (Y.shape[0], Y.shape[0])

    def __matmul__(self, V: Any) -> Any:
        n_jobs = self._n_jobs
        corrected = take_rows(self.correction.times(take_rows(V, self._order, n_jobs)), self._places, n_jobs)
        r = normalisation(self._sums, self.shape[0], self._omega * self.correction.total)
        product = times(self._Y, gram(self._Y, V, n_jobs), n_jobs)
        return add_row(add_scaled(product, self._omega, corrected, n_jobs), r * column_sums(V, n_jobs), n_jobs)

    def violation(self) -> float:
        """|E + r ee'|_F / |Y Y'|_F, what the correction would change."""
        r = normalisation(self._sums, self.shape[0], self.correction.total)
        return violation(self.correction, r, self.shape[0], factored_norm(self._Y))


def normalisation(sums: Any, N: int, corrected: float, target: float = 1.0) -> float:
    """r, what each of N x N entries needs for Y Y' and a correction of this sum to sum to the target; sums: e'Y."""
    return (target - float(sums @ sums) - corrected) / N**2


def violation(correction: NegativePart, r: float, N: int, norm: float) -> float:
    """|E + r ee'|_F relative to a norm of Y Y'."""
    squared = correction.squares + 2.0 * r * correction.total + (r * N) ** 2
    return float(np.sqrt(max(squared, 0.0)) / norm)

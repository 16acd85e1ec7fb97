"""The sparse correction E of ENN, and what a step needs of it.

Notation
--------
Y : (N, K)   compression, its rows sorted so that the checked words come first
I            the first n rows
E : (N, N)   max(-Y Y', 0) on rows I and columns I, zero elsewhere
Omega        where E is positive; D_Omega keeps these entries of a matrix and clears the rest

Two ways to have it. :class:`TiledCorrection` goes over tiles of Y_I Y' with matrix products only: the reference, and
what runs on any array namespace. :class:`SparseCorrection` (:mod:`anchorwords.rectify.pairs`) finds Omega, a few per
cent of the entries, in one sweep and keeps it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._namespace import array_namespace, is_numpy
from ..linalg.factored import factored_norm
from ..linalg.tall import squared_lengths, times
from .pairs import SparseCorrection, TooDense

# Entries of Y Y' alive at a time, a tile: 2 MiB of float64, which stays in the cache while it is clipped and summed.
_TILE_ENTRIES = 1 << 18


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


class TiledCorrection:
    """E for one Y, by matrix products over tiles of Y_I Y'; nothing larger than a tile is kept.

    Parameters
    ----------
    Y : (N, K) array
        Checked rows first.
    n_checked : int
        |I|.
    """

    def __init__(self, Y: Any, n_checked: int) -> None:
        self._Y = Y
        self._n = n_checked
        self._xp = array_namespace(Y)
        self._sums: tuple[float, float, float] | None = None

    @property
    def total(self) -> float:
        """Sum of the entries of E."""
        return self._measured()[0]

    @property
    def squares(self) -> float:
        """Squared Frobenius norm of E."""
        return self._measured()[1]

    @property
    def min_entry(self) -> float:
        """Most negative entry of Y Y' on the checked rows, 0 where there is none."""
        return self._measured()[2]

    def times(self, V: Any) -> Any:
        """E V."""
        product, self._sums = self._sweep(lambda start, stop: self._clipped(start, stop), V)
        return product

    def curvature(self, V: Any, P: Any) -> Any:
        """D_Omega(P V' + V P') V."""
        xp, n = self._xp, self._n

        def entries(start: int, stop: int) -> Any:
            moved = P[:n, :] @ V[start:stop, :].T + V[:n, :] @ P[start:stop, :].T
            return xp.where(self._clipped(start, stop) > 0.0, moved, xp.zeros_like(moved))

        return self._sweep(entries, V)[0]

    def _measured(self) -> tuple[float, float, float]:
        if self._sums is None:
            self.times(self._Y[:, :1])
        assert self._sums is not None
        return self._sums

    def _clipped(self, start: int, stop: int) -> Any:
        """E on rows I and a run of columns."""
        tile = self._Y[: self._n, :] @ self._Y[start:stop, :].T
        return self._xp.where(tile < 0.0, -tile, self._xp.zeros_like(tile))

    def _sweep(self, entries: Any, V: Any) -> tuple[Any, tuple[float, float, float]]:
        """Product with V of the symmetric matrix that has these entries on rows I, and its sums."""
        xp, n, N = self._xp, self._n, self._Y.shape[0]
        width = max(1, _TILE_ENTRIES // n)
        inside = xp.zeros_like(V[:n, :])
        outside = []
        total, squares, largest = 0.0, 0.0, 0.0
        # A tile lies wholly inside I, where the matrix is its own mirror, or wholly outside.
        for first, last, mirrored in ((0, n, 1.0), (n, N, 2.0)):
            for start in range(first, last, width):
                stop = min(start + width, last)
                S = xp.astype(entries(start, stop), V.dtype)
                total += mirrored * float(xp.sum(S, dtype=xp.float64))
                squares += mirrored * float(xp.sum(S * S, dtype=xp.float64))
                largest = max(largest, float(xp.max(S)))
                inside = inside + S @ V[start:stop, :]
                if start >= n:
                    outside.append(S.T @ V[:n, :])
        return xp.concat([inside, *outside], axis=0), (total, squares, -largest)


def correction_of(
    Y: Any, n_checked: int, n_jobs: int | None = None, *, coarse: bool = False
) -> TiledCorrection | SparseCorrection:
    """E for a Y with its checked rows first, in the form that suits it."""
    if is_numpy(Y):
        try:
            return SparseCorrection(Y, n_checked, n_jobs, coarse=coarse)
        except TooDense:
            pass
    return TiledCorrection(Y, n_checked)


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

    def __array_namespace__(self) -> Any:
        """Return the namespace in which the products live."""
        return array_namespace(self._Y)

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


def violation(correction: TiledCorrection | SparseCorrection, r: float, N: int, norm: float) -> float:
    """|E + r ee'|_F relative to a norm of Y Y'."""
    squared = correction.squares + 2.0 * r * correction.total + (r * N) ** 2
    return float(np.sqrt(max(squared, 0.0)) / norm)

"""The sparse correction E of ENN, swept over in tiles.

Notation
--------
Y : (N, K)   compression
I            rows checked, |I| of largest norm
E : (N, N)   max(-Y Y', 0) on rows I and columns I, zero elsewhere
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray

# Entries of Y Y' alive at a time: 2 MiB of float64, which stays in the cache while it is clipped and summed.
_TILE_ENTRIES = 1 << 18


class Swept(NamedTuple):
    """What one sweep over the checked rows found.

    Attributes
    ----------
    product : (N, l) array
        E V.
    total : float
        Sum of the entries of E.
    squares : float
        Squared Frobenius norm of E.
    min_entry : float
        Most negative entry of Y Y' on the checked rows, 0 where there is none.
    """

    product: FloatArray
    total: float
    squares: float
    min_entry: float


class Correction:
    """E for one Y.

    Parameters
    ----------
    Y : (N, K) array
    n_rows : int
        |I|.
    """

    def __init__(self, Y: FloatArray, n_rows: int) -> None:
        N = Y.shape[0]
        squares = np.einsum("ij,ij->i", Y, Y)
        if n_rows < N:
            inside = np.zeros(N, dtype=bool)
            inside[np.argpartition(-squares, n_rows - 1)[:n_rows]] = True
            self.eps = float(squares[~inside].max())
        else:
            inside = np.ones(N, dtype=bool)
            self.eps = 0.0
        # Checked words first: a tile then lies wholly inside I, where E is its own mirror, or wholly outside.
        self.order: IntArray = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)])
        self.n_checked = int(inside.sum())
        self._Y = np.ascontiguousarray(Y[self.order])

    @property
    def rows(self) -> IntArray:
        """I."""
        return self.order[: self.n_checked]

    def sweep(self, V: FloatArray) -> Swept:
        """E V and the sums of E, from one pass over the tiles of Y_I Y'."""
        N, n = self._Y.shape[0], self.n_checked
        Y_I = self._Y[:n]
        V = np.ascontiguousarray(V[self.order])
        V_I = V[:n]
        product = np.zeros_like(V)
        total = squares = lowest = 0.0
        width = max(1, _TILE_ENTRIES // n)
        for start, stop in _tiles(n, N, width):
            tile = Y_I @ self._Y[start:stop].T
            np.minimum(tile, 0.0, out=tile)  # minus E on this tile
            mirrored = 1.0 if start < n else 2.0
            total -= mirrored * float(tile.sum())
            squares += mirrored * float(np.vdot(tile, tile))
            lowest = min(lowest, float(tile.min(initial=0.0)))
            product[:n] -= tile @ V[start:stop]
            if start >= n:
                product[start:stop] = -(tile.T @ V_I)
        unsorted = np.empty_like(product)
        unsorted[self.order] = product
        return Swept(unsorted, total, squares, lowest)


class CorrectedOperator:
    """x -> Y (Y'x) + omega E x + r (e'x) e, the operator of Algorithm 3.

    Parameters
    ----------
    Y : (N, K) array
    n_rows : int
    omega : float
        Relaxation: 1 is the paper's.
    """

    def __init__(self, Y: FloatArray, n_rows: int, omega: float = 1.0) -> None:
        self._Y = Y
        self.correction = Correction(Y, n_rows)
        self._omega = omega
        self._swept: Swept | None = None
        self.shape = (Y.shape[0], Y.shape[0])

    def __matmul__(self, V: FloatArray) -> FloatArray:
        swept = self.correction.sweep(V)
        self._swept = swept
        column_sums = self._Y.sum(axis=0)
        self.r = (1.0 - float(column_sums @ column_sums) - self._omega * swept.total) / self.shape[0] ** 2
        return self._Y @ (self._Y.T @ V) + self._omega * swept.product + self.r * V.sum(axis=0)

    def violation(self) -> float:
        """|E + r ee'|_F / |Y Y'|_F of the last product's sweep: what the correction would still change."""
        if self._swept is None:
            raise RuntimeError("violation is known after a product")
        swept, N = self._swept, self.shape[0]
        column_sums = self._Y.sum(axis=0)
        r = (1.0 - float(column_sums @ column_sums) - swept.total) / N**2
        squared = swept.squares + 2.0 * r * swept.total + (r * N) ** 2
        return float(np.sqrt(max(squared, 0.0)) / np.linalg.norm(self._Y.T @ self._Y))


def _tiles(n_checked: int, N: int, width: int) -> list[tuple[int, int]]:
    inside = [(start, min(start + width, n_checked)) for start in range(0, n_checked, width)]
    outside = [(start, min(start + width, N)) for start in range(n_checked, N, width)]
    return inside + outside

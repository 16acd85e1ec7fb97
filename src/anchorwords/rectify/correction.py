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
from ..linalg.factored import factored_norm
from ..linalg.parallel import for_each_block

# Entries of Y Y' alive at a time: 2 MiB of float64, which stays in the cache while it is clipped and summed.
_TILE_ENTRIES = 1 << 18
# Where one E is multiplied many times, its tiles are kept if they fit in this many entries: 256 MiB.
_KEPT_ENTRIES = 1 << 25
# Tiles are shared out to this many accumulators, whatever the number of threads: the same sums, bit for bit.
_GROUPS = 8


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
    keep : bool
        Whether to keep E for further sweeps, where it fits.
    n_jobs : int or None
        Threads over tiles; hold the linear algebra library to one thread around a sweep.
    """

    def __init__(self, Y: FloatArray, n_rows: int, *, keep: bool = False, n_jobs: int | None = None) -> None:
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
        self._kept: dict[int, FloatArray] | None = {} if keep and self.n_checked * N <= _KEPT_ENTRIES else None
        self._n_jobs = n_jobs

    @property
    def rows(self) -> IntArray:
        """I."""
        return self.order[: self.n_checked]

    def sweep(self, V: FloatArray) -> Swept:
        """E V and the sums of E, from one pass over the tiles of Y_I Y'."""
        N, n = self._Y.shape[0], self.n_checked
        V = np.ascontiguousarray(V[self.order])
        V_I = V[:n]
        product = np.zeros_like(V)
        tiles = _tiles(n, N, max(1, _TILE_ENTRIES // n))
        groups = [tiles[g::_GROUPS] for g in range(min(_GROUPS, len(tiles)))]
        shares = np.zeros((len(groups), n, V.shape[1]))
        sums = np.zeros((len(groups), 3))

        def work(first: int, last: int) -> None:
            for g in range(first, last):
                for start, stop in groups[g]:
                    tile = self._tile(start, stop)  # minus E on these columns
                    mirrored = 1.0 if start < n else 2.0
                    sums[g, 0] -= mirrored * tile.sum()
                    sums[g, 1] += mirrored * np.vdot(tile, tile)
                    sums[g, 2] = min(sums[g, 2], tile.min(initial=0.0))
                    shares[g] -= tile @ V[start:stop]
                    if start >= n:
                        product[start:stop] = -(tile.T @ V_I)

        for_each_block(work, len(groups), 1, self._n_jobs)
        product[:n] = shares.sum(axis=0)
        unsorted = np.empty_like(product)
        unsorted[self.order] = product
        return Swept(unsorted, float(sums[:, 0].sum()), float(sums[:, 1].sum()), float(sums[:, 2].min()))

    def _tile(self, start: int, stop: int) -> FloatArray:
        """min(Y_I Y', 0) on a run of columns."""
        if self._kept is not None and start in self._kept:
            return self._kept[start]
        tile = self._Y[: self.n_checked] @ self._Y[start:stop].T
        np.minimum(tile, 0.0, out=tile)
        if self._kept is not None:
            self._kept[start] = tile
        return tile


class CorrectedOperator:
    """x -> Y (Y'x) + omega E x + r (e'x) e, the operator of Algorithm 3.

    Parameters
    ----------
    Y : (N, K) array
    n_rows : int
    omega : float
        Relaxation: 1 is the paper's.
    keep, n_jobs
        As in :class:`Correction`.
    """

    def __init__(
        self, Y: FloatArray, n_rows: int, omega: float = 1.0, *, keep: bool = False, n_jobs: int | None = None
    ) -> None:
        self._Y = Y
        self.correction = Correction(Y, n_rows, keep=keep, n_jobs=n_jobs)
        self._omega = omega
        self._swept: Swept | None = None
        column_sums = Y.sum(axis=0)
        self._sum = float(column_sums @ column_sums)  # e'YY'e
        self.shape = (Y.shape[0], Y.shape[0])

    def __matmul__(self, V: FloatArray) -> FloatArray:
        swept = self.correction.sweep(V)
        self._swept = swept
        r = self._normalisation(self._omega * swept.total)
        return self._Y @ (self._Y.T @ V) + self._omega * swept.product + r * V.sum(axis=0)

    def _normalisation(self, corrected: float) -> float:
        """r, what each entry needs for Y Y' and a correction of this sum to sum to one."""
        return (1.0 - self._sum - corrected) / self.shape[0] ** 2

    def violation(self) -> float:
        """|E + r ee'|_F / |Y Y'|_F of the last product's sweep: what the correction would still change."""
        if self._swept is None:
            raise RuntimeError("violation is known after a product")
        swept, N = self._swept, self.shape[0]
        r = self._normalisation(swept.total)
        squared = swept.squares + 2.0 * r * swept.total + (r * N) ** 2
        return float(np.sqrt(max(squared, 0.0)) / factored_norm(self._Y))


def _tiles(n_checked: int, N: int, width: int) -> list[tuple[int, int]]:
    inside = [(start, min(start + width, n_checked)) for start in range(0, n_checked, width)]
    outside = [(start, min(start + width, N)) for start in range(n_checked, N, width)]
    return inside + outside

"""The negative part of Y Y' by matrix products over tiles: the readable form, on any array namespace.

Notation
--------
Y : (N, K)   compression, its rows sorted so that the checked words come first
I            the first n rows
E : (N, N)   max(-Y Y', 0) on rows I and columns I, zero elsewhere
Omega        where E is positive; D_Omega keeps these entries of a matrix and clears the rest
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._namespace import array_namespace, is_numpy, like, to_numpy
from ..linalg.parallel import for_each_block
from .protocol import TooDense

# Entries of Y Y' alive at a time, a tile: 2 MiB of float64, which stays in the cache while it is clipped and summed.
_TILE_ENTRIES = 1 << 18
# Tiles are dealt out to at most this many accumulators, whatever the number of threads.
_GROUPS = 8
# Pairs are listed up to this many times the entries of Y, or up to this many: 192 MiB.
_DENSE = 4
_DENSE_ENTRIES = 1 << 24


def most_pairs(Y: Any) -> int:
    """Pairs of negative entries that are worth a list: more of them cost more than tiles."""
    return max(_DENSE_ENTRIES, _DENSE * Y.shape[0] * Y.shape[1])


class TiledCorrection:
    """E for one Y, by matrix products over tiles of Y_I Y'; nothing larger than a tile is kept.

    Parameters
    ----------
    Y : (N, K) array
        Checked rows first.
    n_checked : int
        |I|.
    n_jobs : int or None
        Threads, for NumPy arrays; nothing depends on them, bit for bit.
    """

    def __init__(self, Y: Any, n_checked: int, n_jobs: int | None = None) -> None:
        self._xp = array_namespace(Y)
        self._Y, self._n = Y, n_checked
        self._n_jobs = n_jobs if is_numpy(Y) else 1  # other libraries have threads of their own
        self._sums: tuple[float, float, float] | None = None

    @property
    def _width(self) -> int:
        """Columns of a tile."""
        return max(1, _TILE_ENTRIES // self._n)

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
        product, self._sums = self._sweep(lambda start, stop: self._clipped(start, stop, V.dtype), V)
        return product

    def curvature(self, V: Any, P: Any) -> Any:
        """D_Omega(P V' + V P') V."""
        n = self._n

        def entries(start: int, stop: int) -> Any:
            moved = P[:n, :] @ V[start:stop, :].T + V[:n, :] @ P[start:stop, :].T
            return self._where_negative(self._tile(start, stop), moved)

        return self._sweep(entries, V, measured=False)[0]

    def pairs(self) -> tuple[Any, Any]:
        """Rows j and partners i < j of the negative entries, i in I, sorted by row."""
        N = self._Y.shape[0]
        limit = most_pairs(self._Y)
        rows, partners, found = [], [], 0
        for start in range(0, N, self._width):
            stop = min(start + self._width, N)
            j, i = np.nonzero(to_numpy(self._clipped(start, stop, self._Y.dtype)).T > 0.0)
            below = i < j + start
            rows.append(j[below] + start)
            partners.append(i[below])
            found += rows[-1].size
            if found > limit:
                raise TooDense
        return like(np.concatenate(rows), self._Y), like(np.concatenate(partners), self._Y)

    def _measured(self) -> tuple[float, float, float]:
        if self._sums is None:
            self.times(self._Y[:, :1])
        assert self._sums is not None
        return self._sums

    def _tile(self, start: int, stop: int) -> Any:
        """Y Y' on rows I and a run of columns."""
        return self._Y[: self._n, :] @ self._Y[start:stop, :].T

    def _clipped(self, start: int, stop: int, dtype: Any) -> Any:
        """E on rows I and a run of columns, in some precision."""
        tile = self._tile(start, stop)
        return self._xp.astype(self._xp.where(tile < 0.0, -tile, self._xp.zeros_like(tile)), dtype, copy=False)

    def _where_negative(self, tile: Any, moved: Any) -> Any:
        """Entries of a matrix where those of a tile are negative, zero elsewhere; both are given up."""
        return self._xp.where(tile < 0.0, moved, self._xp.zeros_like(moved))

    def _measures(self, S: Any) -> tuple[Any, Any, Any]:
        """Sum, sum of squares and largest of the entries of a tile."""
        xp = self._xp
        return xp.sum(S), xp.sum(S * S), xp.max(S)

    def _sweep(self, entries: Any, V: Any, *, measured: bool = True) -> tuple[Any, tuple[float, float, float]]:
        """Product with V of the symmetric matrix that has these entries on rows I, and its sums."""
        xp, n, N = self._xp, self._n, self._Y.shape[0]
        width = self._width
        # A tile lies wholly inside I, where the matrix is its own mirror, or wholly outside.
        inner = [(start, min(start + width, n)) for start in range(0, n, width)]
        tiles = inner + [(start, min(start + width, N)) for start in range(n, N, width)]
        per_group = -(-len(tiles) // _GROUPS)
        groups = [tiles[at : at + per_group] for at in range(0, len(tiles), per_group)]
        done: list[Any] = [None] * len(groups)

        def work(group: int, _: int) -> None:
            total = xp.zeros_like(V[:n, :])
            parts: list[Any] = []
            measures: list[tuple[float, Any, Any, Any]] = []
            for start, stop in groups[group]:
                S = entries(start, stop)
                mirrored = 1.0 if stop <= n else 2.0
                if measured:
                    measures.append((mirrored, *self._measures(S)))
                total = total + S @ V[start:stop, :]
                if start >= n:
                    parts.append(S.T @ V[:n, :])
            done[group] = total, parts, measures

        for_each_block(work, len(groups), 1, self._n_jobs)
        inside = sum((total for total, _, _ in done[1:]), done[0][0])
        product = xp.concat([inside, *(part for _, parts, _ in done for part in parts)], axis=0)
        if not measured:
            return product, (0.0, 0.0, 0.0)
        # Brought to the host together: each number by itself would have a GPU wait.
        times, *numbers = zip(*(measure for _, _, measures in done for measure in measures), strict=True)
        totals, squares, largest = (to_numpy(xp.stack(list(of_tiles))) for of_tiles in numbers)
        total, square = (sum(a * b for a, b in zip(times, part.tolist(), strict=True)) for part in (totals, squares))
        return product, (total, square, -max(0.0, *largest.tolist()))

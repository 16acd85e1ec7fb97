"""E as a sparse matrix: the negative entries of Y Y', found in one sweep and kept.

Notation
--------
Y : (N, K)   compression, its rows sorted so that the checked words come first
I            the first n rows
E : (N, N)   max(-Y Y', 0) on rows I and columns I, zero elsewhere
Omega        where E is positive, a few per cent of the entries

Every product after the sweep costs as little as Omega is sparse. The sweep runs in single precision and is exact all the
same: it only rules out entries that are positive by more than its rounding error, and the rest are computed in
double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray, IntArray
from ..linalg.parallel import for_each_block
from ..linalg.sparse import even_bounds
from ..linalg.tall import squared_lengths
from .compiled import (
    CSR,
    FLOAT,
    HASHES,
    INDICES,
    INT,
    MATRIX,
    READ_MATRIX,
    READ_SINGLE_MATRIX,
    READ_SINGLE_VECTOR,
    SHORT_INDICES,
    SINGLE_VECTOR,
    VECTOR,
    VOID,
    WRITE_BYTES,
    compiled,
)
from .protocol import NegativePart, TooDense
from .tiled import TiledCorrection, most_pairs

# Entries of Y Y' alive at a time, a tile: 1 MiB of float32, which stays in the cache while it is looked through.
_TILE_ENTRIES = 1 << 18
# Rows are dealt out to at most this many accumulators, whatever the number of threads.
_GROUPS = 8
# Pieces of a sweep, which share nothing, and the pairs that are worth one.
_SPANS = 64
_PAIRS = 4096
# Rows of Y that are shorter than this count as zero: their squares are at the end of the range of numbers.
_SHORTEST = 1e-150


def negative_part(Y: FloatArray, n_checked: int, *, coarse: bool = False, n_jobs: int | None = None) -> NegativePart:
    """E as a sparse matrix, or by tiles where it has too many entries to be worth keeping."""
    try:
        return SparseCorrection(Y, n_checked, n_jobs, coarse=coarse)
    except TooDense:
        return TiledCorrection(Y, n_checked)


class SparseCorrection:
    """E for one Y as a sparse matrix: the fast form, for NumPy arrays.

    Row j holds its negative pairs (j, i) with i in I and i < j: each pair once. Products put the mirrored half where
    it belongs.

    Parameters
    ----------
    Y : (N, K) array
        Checked rows first.
    n_checked : int
        |I|.
    n_jobs : int or None
        Threads; nothing depends on them, bit for bit.
    coarse : bool
        Leave the entries in single precision, as the sweep has them: for first steps, where E is many and large.

    Raises
    ------
    TooDense
        Where so many entries are negative that tiles are the better form.
    """

    def __init__(self, Y: FloatArray, n_checked: int, n_jobs: int | None = None, *, coarse: bool = False) -> None:
        self._n = n_checked
        self._n_jobs = n_jobs
        indptr, likely, entries = _likely_pairs(Y, n_checked, n_jobs)
        if coarse:
            self._hold(indptr, likely, np.maximum(-entries, 0.0, out=entries))
        else:
            self._find_negative(Y, indptr, likely)

    def _find_negative(self, Y: FloatArray, indptr: Any, likely: Any) -> None:
        """Compute the likely pairs in double precision and hold the negative ones."""
        Y = np.ascontiguousarray(Y)
        counts = np.zeros(indptr.size, dtype=np.int64)
        bounds = even_bounds(indptr, max(1, min(_SPANS, likely.size // _PAIRS)))
        found: list[Any] = [None] * (bounds.size - 1)

        def work(group: int, _: int) -> None:
            first, last = bounds[group], bounds[group + 1]
            pairs = slice(indptr[first], indptr[last])
            entries = np.empty(pairs.stop - pairs.start)
            _pair_entries(indptr, likely, Y, first, entries, last)
            negative = entries < 0.0
            found[group] = (likely[pairs][negative], -entries[negative])
            sums = np.concatenate([[0], np.cumsum(negative)])
            counts[first + 1 : last + 1] = np.diff(sums[indptr[first : last + 1] - pairs.start])

        for_each_block(work, bounds.size - 1, 1, self._n_jobs)
        self._hold(np.cumsum(counts), np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found]))

    def _hold(self, indptr: Any, indices: Any, values: Any) -> None:
        self._indptr, self._indices, self._values = indptr, indices, values
        self.total = 2.0 * float(values.sum(dtype=np.float64))
        self.squares = 2.0 * float(np.vdot(values, values))
        self.min_entry = -float(values.max(initial=0.0))
        # Rows in groups of about equal work, each enough to be worth an accumulator.
        self._bounds = even_bounds(indptr, max(1, min(_GROUPS, values.size // (8 * self._n))))

    @property
    def nnz(self) -> int:
        """Entries of E that are positive."""
        return 2 * self._values.size

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Rows j and partners i < j of the negative pairs."""
        return np.repeat(np.arange(self._indptr.size - 1), np.diff(self._indptr)), self._indices.astype(np.intp)

    def times(self, V: FloatArray) -> FloatArray:
        """E V, in the precision of V."""
        values = self._values.astype(V.dtype, copy=False)
        V = np.ascontiguousarray(V)

        def rows(first: int, last: int, out: FloatArray, mirror: FloatArray) -> None:
            _pair_product(self._indptr, self._indices, values, V, first, last, out, mirror)

        return self._accumulate(rows, V)

    def curvature(self, V: FloatArray, P: FloatArray) -> FloatArray:
        """D_Omega(P V' + V P') V."""

        def rows(first: int, last: int, out: FloatArray, mirror: FloatArray) -> None:
            _pair_curvature(self._indptr, self._indices, V, P, first, last, out, mirror)

        return self._accumulate(rows, V)

    def _accumulate(self, rows: Callable[[int, int, FloatArray, FloatArray], None], V: FloatArray) -> FloatArray:
        """Sum over groups of rows, each of which gives to its own rows and, mirrored, to checked ones."""
        out = np.zeros_like(V)
        mirror = np.zeros((self._bounds.size - 1, self._n, V.shape[1]), dtype=V.dtype)

        def work(group: int, _: int) -> None:
            rows(self._bounds[group], self._bounds[group + 1], out, mirror[group])

        for_each_block(work, self._bounds.size - 1, 1, self._n_jobs)
        out[: self._n] += mirror.sum(axis=0)
        return out


def _likely_pairs(
    Y: FloatArray, n_checked: int, n_jobs: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Pairs (j, i), i < j, i in I, whose cosine is not surely positive, and their entries of Y Y'.

    One sweep of matrix products over tiles, in single precision, as CSR rows.
    """
    N, K = Y.shape
    norms = np.sqrt(squared_lengths(Y))
    # The square of a shorter row is lost to underflow, and its direction with it; so is what it takes from an entry.
    directions = (Y / np.where(norms > _SHORTEST, norms, np.inf)[:, None]).astype(np.float32)
    across = np.ascontiguousarray(directions[:n_checked].T)
    lengths = norms.astype(np.float32)
    # A sum of K products of rounded numbers, all vectors of length one: single precision is off by less than this.
    threshold = float((K + 4) * np.finfo(np.float32).eps)
    width = max(8, _TILE_ENTRIES // n_checked)
    span = max(width, -(-N // _SPANS))
    limit = most_pairs(Y)
    counts = np.zeros(N + 1, dtype=np.int64)
    found_indices: list[list[Any]] = [[] for _ in range(0, N, span)]
    found_entries: list[list[Any]] = [[] for _ in range(0, N, span)]
    held = [0]

    def work(first: int, last: int) -> None:
        tile = np.empty(width * n_checked, dtype=np.float32)
        indices, entries = np.empty(tile.size + 1, dtype=np.int32), np.empty(tile.size + 1, dtype=np.float32)
        mask = np.empty(-(-n_checked // 8) * 8, dtype=np.uint8)
        for start in range(first, last, width):
            if held[0] > limit:
                return
            stop = min(start + width, last)
            n_partners = min(n_checked, stop)
            cosines = tile[: (stop - start) * n_partners].reshape(stop - start, n_partners)
            np.matmul(directions[start:stop], across[:, :n_partners], out=cosines)
            row_counts = counts[start + 1 : stop + 1]
            _small_cosines(cosines, threshold, lengths, start, indices, entries, row_counts, mask, mask.view(np.uint64))
            size = int(row_counts.sum())
            found_indices[first // span].append(indices[:size].copy())
            found_entries[first // span].append(entries[:size].copy())
            held[0] += size

    for_each_block(work, N, span, n_jobs)
    if counts.sum() > limit:  # not what is held: threads may have lost count of that, never upwards
        raise TooDense
    indices = np.concatenate([piece for pieces in found_indices for piece in pieces])
    found_indices.clear()  # one copy at a time: there may be many
    return np.cumsum(counts), indices, np.concatenate([piece for pieces in found_entries for piece in pieces])


@compiled(
    VOID, READ_SINGLE_MATRIX, FLOAT, READ_SINGLE_VECTOR, INT, SHORT_INDICES, SINGLE_VECTOR, INDICES, WRITE_BYTES, HASHES
)
def _small_cosines(  # type: ignore[no-untyped-def]
    cosines, threshold, lengths, first, indices, entries, counts, mask, words
):
    """Pairs (j, i), i < j, of a tile with a cosine below the threshold, and their entries of Y Y', as CSR rows.

    ``indices`` and ``entries`` have room for the whole tile and one more. ``mask`` is room for the comparisons of a row,
    and ``words`` the same memory read eight at a time: most are zero and are passed over in one step.
    """
    size = 0
    limit = np.float32(threshold)
    mask[:] = 0
    for row in range(cosines.shape[0]):
        begin = size
        n_partners = min(cosines.shape[1], first + row)
        for i in range(n_partners):
            mask[i] = cosines[row, i] < limit
        for w in range((n_partners + 7) // 8):
            if words[w] != 0:
                # No branch: one that nobody can predict would cost more than the store.
                for i in range(8 * w, 8 * w + 8):
                    indices[size] = i
                    size += mask[i]
        for p in range(begin, size):
            entries[p] = cosines[row, indices[p]] * lengths[first + row] * lengths[indices[p]]
        counts[row] = size - begin


@compiled(VOID, *CSR[:2], READ_MATRIX, INT, VECTOR, INT, reorder=True)
def _pair_entries(indptr, indices, Y, first, entries, last):  # type: ignore[no-untyped-def]
    """Entries of Y Y' at the pairs of rows first to last, in double precision."""
    base = indptr[first]
    for j in range(first, last):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            entry = 0.0
            for k in range(Y.shape[1]):
                entry += Y[j, k] * Y[i, k]
            entries[p - base] = entry


@compiled(VOID, *CSR, READ_MATRIX, INT, INT, MATRIX, MATRIX, reorder=True, single=True)
def _pair_product(indptr, indices, values, V, first, last, out, mirror):  # type: ignore[no-untyped-def]
    """Rows first to last of E V, and in ``mirror`` what they give to their partners."""
    L = V.shape[1]
    for j in range(first, last):
        begin = indptr[j]
        end = indptr[j + 1]
        fours = begin + (end - begin) // 4 * 4
        # Four at a time: the loop over columns is short, and starting it is what costs.
        for p in range(begin, fours, 4):
            i0, i1, i2, i3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
            v0, v1, v2, v3 = values[p], values[p + 1], values[p + 2], values[p + 3]
            for k in range(L):
                out[j, k] += v0 * V[i0, k] + v1 * V[i1, k] + v2 * V[i2, k] + v3 * V[i3, k]
        for p in range(fours, end):
            for k in range(L):
                out[j, k] += values[p] * V[indices[p], k]
        for p in range(begin, end):
            value = values[p]
            i = indices[p]
            for k in range(L):
                mirror[i, k] += value * V[j, k]


@compiled(VOID, *CSR[:2], READ_MATRIX, READ_MATRIX, INT, INT, MATRIX, MATRIX, reorder=True, single=True)
def _pair_curvature(indptr, indices, V, P, first, last, out, mirror):  # type: ignore[no-untyped-def]
    """Rows of D(P V' + V P') V at the pairs of rows first to last, and in ``mirror`` what they give to partners."""
    K = V.shape[1]
    for j in range(first, last):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            entry = V[j, 0] * 0
            for k in range(K):
                entry += P[j, k] * V[i, k] + V[j, k] * P[i, k]
            for k in range(K):
                out[j, k] += entry * V[i, k]
                mirror[i, k] += entry * V[j, k]

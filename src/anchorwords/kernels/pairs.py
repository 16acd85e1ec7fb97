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
from typing import Any, NamedTuple

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
    SHORT_INDICES,
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
# Pieces of a sweep, which share nothing, at most, and the tiles that each has at least.
_SPANS = 64
_TILES = 2
# Rows of Y that are shorter than this count as zero: their squares are at the end of the range of numbers.
_SHORTEST = 1e-150


def negative_part(Y: FloatArray, n_checked: int, *, n_jobs: int | None = None) -> NegativePart:
    """E as a sparse matrix, or by tiles where it has too many entries to be worth keeping."""
    try:
        return SparseCorrection(Y, n_checked, n_jobs)
    except TooDense:
        return TiledCorrection(Y, n_checked, n_jobs)


class _Span(NamedTuple):
    """A run of rows of E as CSR: pairs (j, i) with i in I and i < j. With the sums of its values, and the largest."""

    first: int
    indptr: IntArray
    indices: npt.NDArray[np.int32]
    values: FloatArray
    total: float
    squares: float
    largest: float


def span_of(first: int, indptr: Any, indices: Any, values: Any) -> _Span:
    """A run of rows, measured."""
    total = float(values.sum(dtype=np.float64))
    return _Span(first, indptr, indices, values, total, float(np.vdot(values, values)), float(values.max(initial=0.0)))


class SparseCorrection:
    """E for one Y as a sparse matrix: the fast form, for NumPy arrays.

    Row j holds its negative pairs (j, i) with i in I and i < j: each pair once. Products put the mirrored half where
    it belongs. The rows lie in spans, each in arrays of its own: no array as long as all of E is ever made.

    Parameters
    ----------
    Y : (N, K) array
        Checked rows first.
    n_checked : int
        |I|.
    n_jobs : int or None
        Threads; nothing depends on them, bit for bit.

    Raises
    ------
    TooDense
        Where so many entries are negative that tiles are the better form.
    """

    def __init__(self, Y: FloatArray, n_checked: int, n_jobs: int | None = None) -> None:
        self._n = n_checked
        self._n_jobs = n_jobs
        self._spans = _negative_pairs(np.ascontiguousarray(Y), n_checked, n_jobs)
        sizes = [span.values.size for span in self._spans]
        self.nnz = 2 * sum(sizes)  # entries of E that are positive
        self.total = 2.0 * sum(span.total for span in self._spans)
        self.squares = 2.0 * sum(span.squares for span in self._spans)
        self.min_entry = -max(span.largest for span in self._spans)
        # Spans in groups of about equal work, each enough to be worth an accumulator.
        ends = np.concatenate([[0], np.cumsum(sizes)])
        self._groups = even_bounds(ends, max(1, min(_GROUPS, self.nnz // (16 * n_checked))))

    def pairs(self) -> tuple[IntArray, IntArray]:
        """Rows j and partners i < j of the negative pairs."""
        rows = [
            np.repeat(np.arange(span.first, span.first + span.indptr.size - 1), np.diff(span.indptr))
            for span in self._spans
        ]
        partners = [span.indices for span in self._spans]
        return np.concatenate(rows), np.concatenate(partners).astype(np.intp)

    def times(self, V: FloatArray) -> FloatArray:
        """E V, in the precision of V."""
        return self._accumulate(V, lambda span: span.values.astype(V.dtype, copy=False))

    def curvature(self, V: FloatArray, P: FloatArray) -> FloatArray:
        """D_Omega(P V' + V P') V."""

        def entries(span: _Span) -> FloatArray:
            moved = np.empty((1, span.indices.size), dtype=V.dtype)
            _moved_entries(span.indptr, span.indices, V, P, span.first, moved)
            return moved[0]

        return self._accumulate(V, entries)

    def _accumulate(self, V: FloatArray, entries: Callable[[_Span], FloatArray]) -> FloatArray:
        """Product of V with the symmetric matrix that has these entries at the negative pairs.

        Sums over groups of spans, each of which gives to its own rows and, mirrored, to checked ones.
        """
        V = np.ascontiguousarray(V)
        out = np.zeros_like(V)
        mirror = np.zeros((self._groups.size - 1, self._n, V.shape[1]), dtype=V.dtype)

        def work(group: int, _: int) -> None:
            for span in self._spans[self._groups[group] : self._groups[group + 1]]:
                _pair_product(span.indptr, span.indices, entries(span), V, span.first, out, mirror[group])

        for_each_block(work, self._groups.size - 1, 1, self._n_jobs)
        out[: self._n] += mirror.sum(axis=0)
        return out


def _negative_pairs(Y: FloatArray, n_checked: int, n_jobs: int | None) -> list[_Span]:
    """Negative pairs and their entries of -Y Y'.

    One sweep of matrix products over tiles, in single precision, finds the pairs whose cosine is not surely positive.
    """
    N, K = Y.shape
    lengths = np.sqrt(squared_lengths(Y, n_jobs))
    # The square of a shorter row is lost to underflow, and its direction with it; so is what it takes from an entry.
    inverse = 1.0 / np.where(lengths > _SHORTEST, lengths, np.inf)[:, None]
    across = np.ascontiguousarray((Y[:n_checked] * inverse[:n_checked]).astype(np.float32).T)
    # A sum of K products of rounded numbers, all vectors of length one: single precision is off by less than this.
    threshold = float((K + 4) * np.finfo(np.float32).eps)
    width = max(8, _TILE_ENTRIES // n_checked)
    rows = max(_TILES * width, -(-N // _SPANS))
    limit = most_pairs(Y)
    spans: list[Any] = [None] * -(-N // rows)
    held = [0]

    def work(first: int, last: int) -> None:
        tile = np.empty(width * n_checked, dtype=np.float32)
        directions = np.empty((width, K), dtype=np.float32)
        found = np.empty(tile.size + 1, dtype=np.int32)
        mask = np.empty(-(-n_checked // 8) * 8, dtype=np.uint8)
        counts = np.zeros(last - first + 1, dtype=np.int64)
        pieces: list[Any] = []
        for start in range(first, last, width):
            if held[0] > limit:
                return
            stop = min(start + width, last)
            n_partners = min(n_checked, stop)
            cosines = tile[: (stop - start) * n_partners].reshape(stop - start, n_partners)
            mine = np.multiply(Y[start:stop], inverse[start:stop], out=directions[: stop - start], casting="same_kind")
            np.matmul(mine, across[:, :n_partners], out=cosines)
            row_counts = counts[start - first + 1 : stop - first + 1]
            _small_cosines(cosines, threshold, start, found, row_counts, mask, mask.view(np.uint64))
            size = int(row_counts.sum())
            pieces.append(found[:size].copy())
            held[0] += size
        spans[first // rows] = _exact(first, np.cumsum(counts), np.concatenate(pieces), Y)

    for_each_block(work, N, rows, n_jobs)
    # Not what is held: threads may have lost count of that, never upwards.
    if None in spans or sum(span.indices.size for span in spans) > limit:
        raise TooDense
    return spans


def _exact(first: int, indptr: Any, likely: Any, Y: FloatArray) -> _Span:
    """The negative ones of likely pairs, with their entries of -Y Y' in double precision."""
    entries = np.empty(likely.size)
    _pair_entries(indptr, likely, Y, first, entries)
    negative = entries < 0.0
    sums = np.concatenate([[0], np.cumsum(negative)])
    return span_of(first, sums[indptr], likely[negative], -entries[negative])


@compiled(VOID, READ_SINGLE_MATRIX, FLOAT, INT, SHORT_INDICES, INDICES, WRITE_BYTES, HASHES)
def _small_cosines(cosines, threshold, first, indices, counts, mask, words):  # type: ignore[no-untyped-def]
    """Pairs (j, i), i < j, of a tile with a cosine below the threshold, as CSR rows.

    ``indices`` has room for the whole tile and one more. ``mask`` is room for the comparisons of a row, and ``words`` the
    same memory read eight at a time: most are zero and are passed over in one step.
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
        counts[row] = size - begin


@compiled(VOID, *CSR[:2], READ_MATRIX, INT, VECTOR, reorder=True)
def _pair_entries(indptr, indices, Y, first, entries):  # type: ignore[no-untyped-def]
    """Entries of Y Y' at the pairs of a run of rows, in double precision."""
    for row in range(indptr.size - 1):
        j = first + row
        for p in range(indptr[row], indptr[row + 1]):
            i = indices[p]
            entry = 0.0
            for k in range(Y.shape[1]):
                entry += Y[j, k] * Y[i, k]
            entries[p] = entry


@compiled(VOID, *CSR[:2], READ_MATRIX, READ_MATRIX, INT, MATRIX, reorder=True, single=True)
def _moved_entries(indptr, indices, V, P, first, entries):  # type: ignore[no-untyped-def]
    """Entries of P V' + V P' at the pairs of a run of rows; ``entries`` is one row."""
    K = V.shape[1]
    for row in range(indptr.size - 1):
        j = first + row
        begin = indptr[row]
        end = indptr[row + 1]
        fours = begin + (end - begin) // 4 * 4
        # Four at a time: a sum waits for itself at every turn, and four sums share the wait and the row j.
        for p in range(begin, fours, 4):
            i0, i1, i2, i3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
            e0 = e1 = e2 = e3 = V[j, 0] * 0
            for k in range(K):
                v, q = V[j, k], P[j, k]
                e0 += q * V[i0, k] + v * P[i0, k]
                e1 += q * V[i1, k] + v * P[i1, k]
                e2 += q * V[i2, k] + v * P[i2, k]
                e3 += q * V[i3, k] + v * P[i3, k]
            entries[0, p], entries[0, p + 1], entries[0, p + 2], entries[0, p + 3] = e0, e1, e2, e3
        for p in range(fours, end):
            i = indices[p]
            e0 = V[j, 0] * 0
            for k in range(K):
                e0 += P[j, k] * V[i, k] + V[j, k] * P[i, k]
            entries[0, p] = e0


@compiled(VOID, *CSR, READ_MATRIX, INT, MATRIX, MATRIX, reorder=True, single=True)
def _pair_product(indptr, indices, values, V, first, out, mirror):  # type: ignore[no-untyped-def]
    """Rows of E V for a run of rows of E, and in ``mirror`` what they give to their partners."""
    L = V.shape[1]
    for row in range(indptr.size - 1):
        j = first + row
        begin = indptr[row]
        end = indptr[row + 1]
        fours = begin + (end - begin) // 4 * 4
        # Four and two at a time: the loop over columns is short, and starting it is what costs.
        for p in range(begin, fours, 4):
            i0, i1, i2, i3 = indices[p], indices[p + 1], indices[p + 2], indices[p + 3]
            v0, v1, v2, v3 = values[p], values[p + 1], values[p + 2], values[p + 3]
            for k in range(L):
                out[j, k] += v0 * V[i0, k] + v1 * V[i1, k] + v2 * V[i2, k] + v3 * V[i3, k]
            for k in range(L):
                mirror[i0, k] += v0 * V[j, k]
                mirror[i1, k] += v1 * V[j, k]
            for k in range(L):
                mirror[i2, k] += v2 * V[j, k]
                mirror[i3, k] += v3 * V[j, k]
        for p in range(fours, end):
            value = values[p]
            i = indices[p]
            for k in range(L):
                out[j, k] += value * V[i, k]
                mirror[i, k] += value * V[j, k]

"""Products with G'G for a sparse G: whole, in a stream of blocks, by rows, and the sums that Eq. 1 needs.

Notation
--------
G : (M, N)   scaled counts, documents x words, as the three arrays of a CSR matrix
V : (N, k)   a block of columns
W : (n, M)   G[:, words]', some words of G
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..linalg.parallel import for_each_block
from ..linalg.sparse import even_bounds
from .compiled import (
    CSR,
    INDICES,
    INT,
    MATRIX,
    READ_INDICES,
    READ_MATRIX,
    READ_VECTOR,
    VECTOR,
    VOID,
    Kernel,
    compiled,
    inner,
)
from .protocol import CsrParts

# Columns multiplied together: 64 bytes, a cache line per word; or two lines, for wider blocks.
_LANES = 8
_MORE_LANES = 16
# Accumulators: no more than this many, each for at least so many counts, and so many numbers in all (128 MiB): filling
# and adding up more of them costs more than the threads gain.
_GROUPS = 8
_COUNTS = 1 << 18
_ACCUMULATED = 1 << 24
# Words summed up together.
_ROWS = 2048
# Rows of G'G that a thread makes at a time, and groups of words whose norms are computed side by side.
_DENSE_ROWS = 64
_NORM_GROUPS = 64


def gram_apply(rows: CsrParts, V: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """G'(G V), in one pass over the rows of G.

    The rows go by one at a time, so nothing as long as G is ever held: memory is that of a few blocks as tall as V.
    Rows are dealt out to accumulators whose number depends on the sizes alone: the same bits for any number of threads.
    """
    indptr, indices, data = rows
    N, n_columns = V.shape
    width, multiply = _form(n_columns)
    n_groups = max(2, min(indptr[-1] // _COUNTS, _GROUPS, _ACCUMULATED // (N * width)))
    bounds = even_bounds(indptr, n_groups)
    out = np.empty((N, n_columns))
    lanes = np.zeros((N, width))
    sums = np.empty((n_groups, N, width))
    for start in range(0, n_columns, width):
        stop = min(start + width, n_columns)
        lanes[:, : stop - start] = V[:, start:stop]
        lanes[:, stop - start :] = 0.0

        def work(group: int, _: int) -> None:
            sums[group] = 0.0
            multiply(indptr, indices, data, lanes, bounds[group], bounds[group + 1], sums[group])

        def add(first: int, last: int, start: int = start, stop: int = stop) -> None:
            np.sum(sums[:, first:last, : stop - start], axis=0, out=out[first:last, start:stop])

        for_each_block(work, n_groups, 1, n_jobs)
        for_each_block(add, N, _ROWS, n_jobs)
    return out


def _form(n_columns: int) -> tuple[int, Kernel]:
    """Number of columns to multiply together, and the kernel that does it."""
    return (_LANES, gram_times_lanes) if n_columns <= _LANES else (_MORE_LANES, _gram_times_more_lanes)


class HeldCounts:
    """Counts by row: see :class:`anchorwords.kernels.protocol.PreparedCounts`."""

    def __init__(self, rows: CsrParts, n_columns: int) -> None:
        self._rows, self._n_columns = rows, n_columns
        self._scaled: tuple[Any, CsrParts] = None, rows

    @property
    def largest(self) -> float:
        """Largest count."""
        return float(self._rows[2].max(initial=0.0))

    @property
    def fractional(self) -> bool:
        """Whether any count is not a whole number."""
        return bool((self._rows[2] != np.floor(self._rows[2])).any())

    def lengths(self) -> FloatArray:
        """Sum of the counts of each document."""
        indptr, _, data = self._rows
        sums = np.add.reduceat(np.append(data, 0.0), indptr[:-1])
        return np.where(np.diff(indptr) > 0, sums, 0.0)

    def pair_sums(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        """Sums by word over documents of positive weight."""
        N = self._n_columns
        return add_pair_sums(self._rows, weights, np.zeros(N), np.zeros(N), np.zeros(N, dtype=np.int64))

    def gram(self, weights: FloatArray | None, V: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """X'(w * (X V)), by rows that are multiplied by the roots of the weights once."""
        if weights is not self._scaled[0]:
            indptr, indices, data = self._rows
            roots = 1.0 if weights is None else np.repeat(np.sqrt(weights), np.diff(indptr))
            self._scaled = weights, (indptr, indices, data * roots)
        return gram_apply(self._scaled[1], V, n_jobs)


class LaneStream:
    """The sum of G_b'(G_b V) over blocks: see :class:`anchorwords.kernels.protocol.GramStream`."""

    def __init__(self, V: FloatArray) -> None:
        self._n_columns = V.shape[1]
        width, self._multiply = _form(self._n_columns)
        self._lanes = _in_lanes(V, width)
        self.n_groups = max(2, min(_GROUPS, _ACCUMULATED // max(1, self._lanes.size)))

    def add(self, total: FloatArray | None, rows: CsrParts) -> FloatArray:
        """Add one block to a running total."""
        sums = np.zeros(self._lanes.shape) if total is None else total
        indptr, indices, data = rows
        for lane, out in zip(self._lanes, sums, strict=True):
            self._multiply(indptr, indices, data, lane, 0, indptr.size - 1, out)
        return sums

    def result(self, total: FloatArray) -> FloatArray:
        """The product that a total stands for."""
        return np.ascontiguousarray(np.concatenate(list(total), axis=1)[:, : self._n_columns])


def _in_lanes(block: FloatArray, width: int) -> FloatArray:
    """A block of columns as an array (pieces, N, width), the last piece filled up with zeros."""
    N, n_columns = block.shape
    lanes = np.zeros((max(1, -(-n_columns // width)), N, width))
    for piece, lane in enumerate(lanes):
        columns = block[:, piece * width : (piece + 1) * width]
        lane[:, : columns.shape[1]] = columns
    return lanes


def gram_rows(
    by_word: CsrParts, by_document: CsrParts, first: int, last: int, n_columns: int, n_jobs: int | None = None
) -> FloatArray:
    """Rows ``first`` to ``last`` of W G, dense."""
    out = np.zeros((last - first, n_columns))

    def work(start: int, stop: int) -> None:
        accumulate_rows(*by_word, *by_document, first + start, out[start:stop])

    for_each_block(work, last - first, _DENSE_ROWS, n_jobs)
    return out


def squared_row_norms(
    by_word: CsrParts, by_document: CsrParts, diagonal: FloatArray, places: Any, n_jobs: int | None = None
) -> FloatArray:
    """Squared norms of the rows of W G, with the entries at ``places`` replaced by those of the diagonal."""
    squares = np.zeros(places.size)
    # Groups of equal work: that of a frequent word is that of thousands of rare ones.
    lengths = np.diff(by_document[0])
    entries_before = np.concatenate([[0], np.cumsum(lengths[by_word[1]])])
    work_before = entries_before[by_word[0]] + np.arange(by_word[0].size)
    bounds = even_bounds(work_before, _NORM_GROUPS)

    def work(group: int, _: int) -> None:
        rows = slice(bounds[group], bounds[group + 1])
        row = np.zeros(diagonal.size)
        _squared_row_norms(*by_word, *by_document, diagonal, places[rows], rows.start, squares[rows], row)

    for_each_block(work, _NORM_GROUPS, 1, n_jobs)
    return squares


def add_pair_sums(rows: CsrParts, weights: FloatArray, d: FloatArray, squares: FloatArray, df: Any) -> Any:
    """Add documents to the sums by word, in place where they can be written to."""
    d, squares, df = (np.require(sums, requirements=["C", "W"]) for sums in (d, squares, df))
    _add_pairs(*rows, weights, d, squares, df)
    return d, squares, df


@compiled(VOID, *CSR, READ_MATRIX, INT, INT, MATRIX, reorder=True, straight=True)
def gram_times_lanes(indptr, indices, data, lanes, first, last, out):  # type: ignore[no-untyped-def]
    """Add G_r'(G_r V) to ``out`` for rows r of G from first to last; V has 8 columns.

    Unrolled by hand, so that G_r V stays in registers. Indices are unsigned: a signed one might count from the end.
    """
    for r in range(first, last):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        for p in range(indptr[r], indptr[r + 1]):
            value = data[p]
            v = lanes[np.uint64(indices[p])]
            a0 += value * v[0]
            a1 += value * v[1]
            a2 += value * v[2]
            a3 += value * v[3]
            a4 += value * v[4]
            a5 += value * v[5]
            a6 += value * v[6]
            a7 += value * v[7]
        for p in range(indptr[r], indptr[r + 1]):
            value = data[p]
            o = out[np.uint64(indices[p])]
            o[0] += value * a0
            o[1] += value * a1
            o[2] += value * a2
            o[3] += value * a3
            o[4] += value * a4
            o[5] += value * a5
            o[6] += value * a6
            o[7] += value * a7


@compiled(VOID, *CSR, READ_MATRIX, INT, INT, MATRIX, reorder=True, straight=True)
def _gram_times_more_lanes(indptr, indices, data, lanes, first, last, out):  # type: ignore[no-untyped-def]
    """As :func:`gram_times_lanes`, for 16 columns: the same sums, and a third less time for each."""
    for r in range(first, last):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        a8 = a9 = a10 = a11 = a12 = a13 = a14 = a15 = 0.0
        for p in range(indptr[r], indptr[r + 1]):
            value = data[p]
            v = lanes[np.uint64(indices[p])]
            a0 += value * v[0]
            a1 += value * v[1]
            a2 += value * v[2]
            a3 += value * v[3]
            a4 += value * v[4]
            a5 += value * v[5]
            a6 += value * v[6]
            a7 += value * v[7]
            a8 += value * v[8]
            a9 += value * v[9]
            a10 += value * v[10]
            a11 += value * v[11]
            a12 += value * v[12]
            a13 += value * v[13]
            a14 += value * v[14]
            a15 += value * v[15]
        for p in range(indptr[r], indptr[r + 1]):
            value = data[p]
            o = out[np.uint64(indices[p])]
            o[0] += value * a0
            o[1] += value * a1
            o[2] += value * a2
            o[3] += value * a3
            o[4] += value * a4
            o[5] += value * a5
            o[6] += value * a6
            o[7] += value * a7
            o[8] += value * a8
            o[9] += value * a9
            o[10] += value * a10
            o[11] += value * a11
            o[12] += value * a12
            o[13] += value * a13
            o[14] += value * a14
            o[15] += value * a15


@inner
def accumulate_row(w_indptr, w_indices, w_data, indptr, indices, data, word, out):  # type: ignore[no-untyped-def]
    """Add a row of G'G to the array ``out`` (w_*: G' as CSR; indptr...: G as CSR)."""
    for p in range(w_indptr[word], w_indptr[word + 1]):
        doc = w_indices[p]
        value = w_data[p]
        for q in range(indptr[doc], indptr[doc + 1]):
            out[indices[q]] += value * data[q]


@compiled(VOID, *CSR, *CSR, INT, MATRIX)
def accumulate_rows(w_indptr, w_indices, w_data, indptr, indices, data, first, out):  # type: ignore[no-untyped-def]
    """Add rows of G'G from ``first`` on to those of ``out``; arguments as in :func:`accumulate_row`."""
    for row in range(out.shape[0]):
        accumulate_row(w_indptr, w_indices, w_data, indptr, indices, data, first + row, out[row])


@compiled(VOID, *CSR, *CSR, READ_VECTOR, READ_INDICES, INT, VECTOR, VECTOR)
def _squared_row_norms(  # type: ignore[no-untyped-def]
    w_indptr, w_indices, w_data, indptr, indices, data, diagonal, places, first, out, row
):
    # row is zero on entry and on return
    for i in range(out.shape[0]):
        word, place = first + i, places[i]
        accumulate_row(w_indptr, w_indices, w_data, indptr, indices, data, word, row)
        row[place] = diagonal[place]
        touched = 0
        for p in range(w_indptr[word], w_indptr[word + 1]):
            doc = w_indices[p]
            touched += indptr[doc + 1] - indptr[doc]
        total = 0.0
        if touched < row.shape[0]:
            # A rare word meets few others: go over its documents again instead of over all words.
            for p in range(w_indptr[word], w_indptr[word + 1]):
                doc = w_indices[p]
                for q in range(indptr[doc], indptr[doc + 1]):
                    j = indices[q]
                    total += row[j] * row[j]
                    row[j] = 0.0
        else:
            for j in range(row.shape[0]):
                total += row[j] * row[j]
                row[j] = 0.0
        row[place] = 0.0
        out[i] = total


@compiled(VOID, *CSR, READ_VECTOR, VECTOR, VECTOR, INDICES)
def _add_pairs(indptr, indices, data, weights, d, squares, df):  # type: ignore[no-untyped-def]
    """Add the documents to the sums by word."""
    for m in range(weights.size):
        w = weights[m]
        if w > 0.0:
            for p in range(indptr[m], indptr[m + 1]):
                word = indices[p]
                d[word] += w * data[p]
                squares[word] += w * data[p] * data[p]
                df[word] += 1

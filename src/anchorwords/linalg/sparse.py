"""CSR matrices as kernels take them, and their products with dense blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import FloatArray, SparseLike
from ..kernels.compiled import CSR, INT, MATRIX, READ_MATRIX, VOID, compiled
from .parallel import for_each_block

# Columns that go together: 64 bytes, a cache line a word.
_LANES = 8
# Accumulators: no more than this many, each for at least so many counts, and so many numbers in all (128 MiB): filling
# and adding up more of them costs more than the threads gain.
_GROUPS = 8
_COUNTS = 1 << 18
_ACCUMULATED = 1 << 24
# Words summed up together.
_ROWS = 2048
# Columns of a product with a sparse matrix that are made together.
_COLUMNS = 32


def csr_parts(matrix: SparseLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], FloatArray]:
    """Return indptr (int64), indices (int32) and data (float64) of a CSR matrix, copied only where kernels need it."""
    csr = matrix if sp.issparse(matrix) and matrix.format == "csr" else sp.csr_array(matrix)
    return (
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        np.ascontiguousarray(csr.indices, dtype=np.int32),
        np.ascontiguousarray(csr.data, dtype=np.float64),
    )


def rows_between(matrix: SparseLike, start: int, stop: int) -> SparseLike:
    """Rows of a CSR matrix from ``start`` up to ``stop``, or its end, which share their entries with it."""
    if start <= 0 and stop >= matrix.shape[0]:
        return matrix
    indptr = matrix.indptr[start : stop + 1]
    rows = sp.csr_array((indptr.size - 1, matrix.shape[1]), dtype=matrix.dtype)
    # Not by the constructor, which copies parts of larger arrays.
    rows.data = matrix.data[indptr[0] : indptr[-1]]
    rows.indices = matrix.indices[indptr[0] : indptr[-1]]
    rows.indptr = indptr - indptr[0]
    return rows


def even_bounds(indptr: npt.NDArray[Any], n_groups: int) -> npt.NDArray[np.int64]:
    """Rows at which to cut a CSR matrix into groups of about equal size."""
    goals = np.arange(1, n_groups) * (indptr[-1] / n_groups)
    return np.concatenate([[0], np.searchsorted(indptr, goals), [indptr.size - 1]]).astype(np.int64)


def gram_times_dense(matrix: SparseLike, block: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """G'(G V) for a CSR matrix G and a dense block V, in one pass over the rows of G.

    The rows go by one at a time, so nothing as long as G is ever held: memory is that of a few blocks as tall as V.
    Rows are dealt out to accumulators whose number depends on the sizes alone: the same bits for any number of threads.
    """
    indptr, indices, data = csr_parts(matrix)
    N, n_columns = matrix.shape[1], block.shape[1]
    n_groups = max(2, min(indptr[-1] // _COUNTS, _GROUPS, _ACCUMULATED // (N * _LANES)))
    bounds = even_bounds(indptr, n_groups)
    out = np.empty((N, n_columns))
    lanes = np.zeros((N, _LANES))
    sums = np.empty((n_groups, N, _LANES))
    for start in range(0, n_columns, _LANES):
        stop = min(start + _LANES, n_columns)
        lanes[:, : stop - start] = block[:, start:stop]
        lanes[:, stop - start :] = 0.0

        def work(group: int, _: int) -> None:
            sums[group] = 0.0
            gram_times_lanes(indptr, indices, data, lanes, bounds[group], bounds[group + 1], sums[group])

        def add(first: int, last: int, start: int = start, stop: int = stop) -> None:
            np.sum(sums[:, first:last, : stop - start], axis=0, out=out[first:last, start:stop])

        for_each_block(work, n_groups, 1, n_jobs)
        for_each_block(add, N, _ROWS, n_jobs)
    return out


def times_dense(matrix: SparseLike, block: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Product of a sparse matrix and a dense block, columns side by side."""
    out = np.empty((matrix.shape[0], block.shape[1]))

    def work(start: int, stop: int) -> None:
        out[:, start:stop] = matrix @ np.ascontiguousarray(block[:, start:stop])

    for_each_block(work, block.shape[1], _COLUMNS, n_jobs)
    return out


def in_lanes(block: FloatArray) -> FloatArray:
    """A block of columns as an array (pieces, N, 8), the last piece filled up with zeros."""
    N, n_columns = block.shape
    lanes = np.zeros((-(-n_columns // _LANES), N, _LANES))
    for piece, lane in enumerate(lanes):
        columns = block[:, piece * _LANES : (piece + 1) * _LANES]
        lane[:, : columns.shape[1]] = columns
    return lanes


def out_of_lanes(lanes: FloatArray, n_columns: int) -> FloatArray:
    """The block that :func:`in_lanes` took apart."""
    return np.ascontiguousarray(np.concatenate(list(lanes), axis=1)[:, :n_columns])


@compiled(VOID, *CSR, READ_MATRIX, INT, INT, MATRIX, reorder=True, straight=True)
def gram_times_lanes(indptr, indices, data, lanes, first, last, out):  # type: ignore[no-untyped-def]
    """Add G_r'(G_r V) to ``out`` for rows r of G from first to last; V has 8 columns.

    Unrolled by hand, so that G_r V stays in registers: twice as fast as a loop over the columns.
    """
    for r in range(first, last):
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        for p in range(indptr[r], indptr[r + 1]):
            value = data[p]
            v = lanes[indices[p]]
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
            o = out[indices[p]]
            o[0] += value * a0
            o[1] += value * a1
            o[2] += value * a2
            o[3] += value * a3
            o[4] += value * a4
            o[5] += value * a5
            o[6] += value * a6
            o[7] += value * a7

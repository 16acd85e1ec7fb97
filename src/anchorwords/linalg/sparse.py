"""CSR matrices as kernels take them, and their products with dense blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import FloatArray, SparseLike
from .parallel import for_each_block

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


def times_dense(matrix: SparseLike, block: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Product of a sparse matrix and a dense block, columns side by side."""
    out = np.empty((matrix.shape[0], block.shape[1]))

    def work(start: int, stop: int) -> None:
        out[:, start:stop] = matrix @ np.ascontiguousarray(block[:, start:stop])

    for_each_block(work, block.shape[1], _COLUMNS, n_jobs)
    return out

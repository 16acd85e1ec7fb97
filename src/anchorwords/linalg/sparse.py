"""CSR matrices as kernels take them, and their products with dense blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import FloatArray, SparseLike
from .compiled import CSR, INT, MATRIX, READ_MATRIX, VOID, compiled
from .parallel import for_each_block

_ROWS = 2048


def csr_parts(matrix: SparseLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], FloatArray]:
    """Return indptr (int64), indices (int32) and data (float64) of a CSR matrix, copied only where the type differs."""
    csr = sp.csr_array(matrix)
    return (
        csr.indptr.astype(np.int64, copy=False),
        csr.indices.astype(np.int32, copy=False),
        csr.data.astype(np.float64, copy=False),
    )


def csr_times_dense(matrix: SparseLike, block: FloatArray, n_jobs: int | None = None) -> FloatArray:
    """Product of a CSR matrix with a dense block, threads over rows: the same bits for any number of them."""
    parts = csr_parts(matrix)
    out = np.zeros((matrix.shape[0], block.shape[1]))
    block = np.ascontiguousarray(block, dtype=np.float64)

    def work(start: int, stop: int) -> None:
        _csr_times_dense(*parts, block, start, out[start:stop])

    for_each_block(work, matrix.shape[0], _ROWS, n_jobs)
    return out


@compiled(VOID, *CSR, READ_MATRIX, INT, MATRIX)
def _csr_times_dense(indptr, indices, data, block, first, out):  # type: ignore[no-untyped-def]
    for row in range(out.shape[0]):
        for p in range(indptr[first + row], indptr[first + row + 1]):
            value = data[p]
            source = indices[p]
            for c in range(block.shape[1]):
                out[row, c] += value * block[source, c]

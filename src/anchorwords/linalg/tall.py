"""Products of tall, narrow matrices, threads over blocks of rows.

A : (N, k) and B : (N, l) with N large. NumPy arrays are multiplied in blocks whose number depends on N alone, so that
sums do not depend on the number of threads; arrays of other namespaces by their own product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import blas

from .._namespace import array_namespace, is_numpy, like, to_numpy, writeable
from .._typing import FloatArray
from .parallel import for_each_block

# At most this many blocks, of at least this many rows: enough for the cores of a workstation, few enough to add up.
_BLOCKS = 32
_ROWS = 1280
# Below this many multiplications a product is not worth a second thread.
_SMALL = 1 << 22
# Nor is a vector operation on fewer numbers.
_LONG = 1 << 20


def row_blocks(N: int) -> int:
    """Rows of a block."""
    return max(_ROWS, -(-N // _BLOCKS))


def _over_rows(work: Callable[[int, int], object], A: Any, n_jobs: int | None) -> None:
    """A vector operation on the rows of A, in blocks; in threads if there are many numbers."""
    for_each_block(work, A.shape[0], row_blocks(A.shape[0]), n_jobs if A.size > _LONG else 1)


def gram(A: Any, B: Any, n_jobs: int | None = None) -> Any:
    """A'B."""
    if not is_numpy(A) or A.size * B.shape[1] <= _SMALL:
        return A.T @ B
    N, rows = A.shape[0], row_blocks(A.shape[0])
    parts = np.zeros((max(1, -(-N // rows)), A.shape[1], B.shape[1]), dtype=A.dtype)

    def work(start: int, stop: int) -> None:
        np.matmul(A[start:stop].T, B[start:stop], out=parts[start // rows])

    for_each_block(work, N, rows, n_jobs)
    return parts.sum(axis=0) if rows < N else parts[0]


def times(A: Any, T: Any, n_jobs: int | None = None, *, plus: Any = None, dtype: Any = None) -> Any:
    """A T for a small matrix T, plus a matrix of the same size where one is given.

    The product is in the precision ``dtype``, or else in that of A; the sum in the higher one of its terms.
    """
    if not is_numpy(A) or A.size * T.shape[1] <= _SMALL:
        product = A @ T if dtype is None else _cast(A, dtype) @ _cast(T, dtype)
        return product if plus is None else _sum(plus, product)
    dtype = A.dtype if dtype is None else np.dtype(dtype)
    T = T.astype(dtype, copy=False)
    out = np.empty((A.shape[0], T.shape[1]), dtype=dtype if plus is None else np.result_type(dtype, plus.dtype))

    def work(start: int, stop: int) -> None:
        rows = A[start:stop].astype(dtype, copy=False)
        if plus is None:
            np.matmul(rows, T, out=out[start:stop])
        else:
            np.add(plus[start:stop], rows @ T, out=out[start:stop])

    for_each_block(work, A.shape[0], row_blocks(A.shape[0]), n_jobs)
    return out


def _cast(A: Any, dtype: Any) -> Any:
    return array_namespace(A).astype(A, dtype, copy=False)


def _sum(A: Any, B: Any) -> Any:
    """A + B: libraries other than NumPy need not mix precisions."""
    xp = array_namespace(A)
    dtype = xp.result_type(A.dtype, B.dtype)
    return _cast(A, dtype) + _cast(B, dtype)


def take_rows(A: Any, order: Any, n_jobs: int | None = None) -> Any:
    """The rows of A in another order, or some of them."""
    if not is_numpy(A) or A.size <= _LONG:
        return array_namespace(A).take(A, order, axis=0)
    out = np.empty((order.size, A.shape[1]), dtype=A.dtype)

    def work(start: int, stop: int) -> None:
        np.take(A, order[start:stop], axis=0, out=out[start:stop], mode="clip")  # "raise" would go by a copy

    for_each_block(work, order.size, row_blocks(order.size), n_jobs)
    return out


def take_columns(A: Any, order: Any) -> Any:
    """The columns of A in another order, or some of them; ``order`` is a NumPy array of integers."""
    return array_namespace(A).take(A, like(order, A), axis=1)


def column_lengths(A: Any) -> FloatArray:
    """Euclidean norm of each column, as a NumPy array."""
    return to_numpy(array_namespace(A).linalg.vector_norm(A, axis=0), dtype=None)


def contiguous(A: Any) -> Any:
    """A itself, or a copy whose rows lie side by side in memory."""
    if is_numpy(A):
        return np.ascontiguousarray(A)
    return A.contiguous() if hasattr(A, "contiguous") else A  # of other libraries than torch they always do


def column_sums(A: Any, n_jobs: int | None = None) -> Any:
    """e'A, in double precision."""
    xp = array_namespace(A)
    if not is_numpy(A) or A.size <= _LONG:
        return xp.sum(A, axis=0, dtype=xp.float64)
    N, rows = A.shape[0], row_blocks(A.shape[0])
    parts = np.zeros((max(1, -(-N // rows)), A.shape[1]))

    def work(start: int, stop: int) -> None:
        np.sum(A[start:stop], axis=0, dtype=np.float64, out=parts[start // rows])

    for_each_block(work, N, rows, n_jobs)
    return parts.sum(axis=0)


def add_row(A: Any, row: Any, n_jobs: int | None = None) -> Any:
    """A + e row, in the precision of A. A is given up, as in :func:`add_scaled`."""
    row = _cast(row, A.dtype)
    if not is_numpy(A) or not A.flags.carray:
        return A + row

    def work(start: int, stop: int) -> None:
        A[start:stop] += row

    _over_rows(work, A, n_jobs)
    return A


def dot(A: Any, B: Any, n_jobs: int | None = None) -> float:
    """<A, B>, the sum of the products of their entries."""
    if not is_numpy(A):
        return float(array_namespace(A).sum(A * B))
    N, rows = A.shape[0], row_blocks(A.shape[0])
    parts = np.zeros(max(1, -(-N // rows)))

    def work(start: int, stop: int) -> None:
        parts[start // rows] = np.vdot(A[start:stop], B[start:stop])

    _over_rows(work, A, n_jobs)
    return float(parts.sum())


def add_scaled(A: Any, factor: float, B: Any, n_jobs: int | None = None) -> Any:
    """A + factor B. A is given up: NumPy's is updated in place, without a temporary, if it can be."""
    if not is_numpy(A) or not A.flags.carray:
        return A + factor * B
    axpy = blas.saxpy if A.dtype == np.float32 else blas.daxpy

    def work(start: int, stop: int) -> None:
        axpy(B[start:stop].reshape(-1), A[start:stop].reshape(-1), a=factor)

    _over_rows(work, A, n_jobs)
    return A


def scaled_sum(factor: float, A: Any, B: Any, n_jobs: int | None = None) -> Any:
    """A times a factor, plus B. A is given up, as in :func:`add_scaled`."""
    if not is_numpy(A) or not A.flags.carray:
        return factor * A + B

    def work(start: int, stop: int) -> None:
        np.multiply(A[start:stop], A.dtype.type(factor), out=A[start:stop])
        np.add(A[start:stop], B[start:stop], out=A[start:stop])

    _over_rows(work, A, n_jobs)
    return A


def with_columns(A: Any, start: int, B: Any) -> Any:
    """A with B in its columns from ``start`` on. A is given up: it is updated in place if its library allows that."""
    stop = start + B.shape[1]
    if writeable(A):
        A[:, start:stop] = B
        return A
    return array_namespace(A).concat([A[:, :start], B, A[:, stop:]], axis=1)


def with_rows(A: Any, rows: Any, B: Any) -> Any:
    """A copy of A with the rows of B at the places ``rows``, an array of distinct integers."""
    if is_numpy(A):
        changed = A.copy()
        changed[rows] = B
        return changed
    # By a gather, which every library has, from A and B one above the other.
    source = np.arange(A.shape[0])
    source[to_numpy(rows, dtype=None)] = A.shape[0] + np.arange(B.shape[0])
    xp = array_namespace(A)
    return xp.take(xp.concat([A, B], axis=0), like(source, A), axis=0)


def copied(A: FloatArray) -> FloatArray:
    """A copy of a NumPy array in the order of rows; in threads, as most of the time goes to memory that is new."""
    out = np.empty(A.shape, dtype=A.dtype)

    def work(start: int, stop: int) -> None:
        out[start:stop] = A[start:stop]

    _over_rows(work, out, None)
    return out


def put_rows(A: Any, rows: Any, B: Any) -> Any:
    """The same of A itself, which is given up: NumPy's is updated in place."""
    if not is_numpy(A):
        return with_rows(A, rows, B)
    A[rows] = B
    return A


def squared_lengths(X: Any, n_jobs: int | None = None) -> Any:
    """Squared norm of each row."""
    if not is_numpy(X):
        return array_namespace(X).sum(X * X, axis=1)
    out = np.empty(X.shape[0], dtype=X.dtype)

    def work(start: int, stop: int) -> None:
        np.einsum("ij,ij->i", X[start:stop], X[start:stop], out=out[start:stop])

    _over_rows(work, X, n_jobs)
    return out

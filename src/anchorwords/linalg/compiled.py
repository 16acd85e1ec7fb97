"""Compile kernels with numba, ahead of time and cached on disk where that is possible."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
from numba import types

logger = logging.getLogger("anchorwords.linalg")

# The argument types of all kernels. Arrays are C-ordered; those a kernel only reads are declared read-only, which
# accepts writable ones too.
VOID = types.void
INT_PAIR_AND_FLAG = types.Tuple((types.int64, types.int64, types.boolean))  # type: ignore[no-untyped-call]
BYTES = types.Array(types.uint8, 1, "C", readonly=True)
INT_MATRIX = types.Array(types.int64, 2, "C")
INT = types.int64
FLOAT = types.float64
BOOL = types.boolean
VECTOR = types.Array(types.float64, 1, "C")
MATRIX = types.Array(types.float64, 2, "C")
FLAGS = types.Array(types.boolean, 1, "C")
INDICES = types.Array(types.int64, 1, "C")
SHORT_INDICES = types.Array(types.int32, 1, "C")
SINGLE_VECTOR = types.Array(types.float32, 1, "C")
READ_SINGLE_VECTOR = types.Array(types.float32, 1, "C", readonly=True)
SINGLE_MATRIX = types.Array(types.float32, 2, "C")
READ_SINGLE_MATRIX = types.Array(types.float32, 2, "C", readonly=True)
READ_VECTOR = types.Array(types.float64, 1, "C", readonly=True)
READ_MATRIX = types.Array(types.float64, 2, "C", readonly=True)
READ_FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
# A CSR matrix as three arguments: see anchorwords.linalg.sparse.csr_parts.
CSR = (
    types.Array(types.int64, 1, "C", readonly=True),
    types.Array(types.int32, 1, "C", readonly=True),
    READ_VECTOR,
)


_SINGLE = {
    MATRIX: SINGLE_MATRIX,
    READ_MATRIX: READ_SINGLE_MATRIX,
    READ_VECTOR: READ_SINGLE_VECTOR,
}

# What a sum may be reordered by: vector lanes and fused multiply-adds. The order is fixed when the kernel is compiled.
_REORDER = {"reassoc", "contract", "nsz"}


def compiled(
    result: Any, *arguments: Any, reorder: bool = False, single: bool = False, straight: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for these types when its module is loaded, without the interpreter lock.

    The machine code is cached beside the module, or in the user's cache folder where the package folder is
    read-only. Where neither can be written, or what is there is damaged, the kernel is compiled afresh,
    silently. One signature a kernel keeps the cache to one file, which processes may write side by side. Threads
    are ours (see :mod:`anchorwords.linalg.parallel`), not numba's: numba's default thread pool aborts the
    process when two Python threads enter it at once. ``reorder=True`` lets sums run in vector lanes: several times
    faster for inner products, at the price of last digits that may differ between kinds of processor. ``single=True``
    compiles a second form in which every float64 array is float32. ``straight=True`` is for kernels unrolled by hand:
    it has the compiler look for vectors in straight-line code, which numba leaves off because it is slow to compile.
    """
    signatures = [result(*arguments)]
    if single:
        signatures.append(result(*(_SINGLE.get(argument, argument) for argument in arguments)))

    fast: Any = _REORDER if reorder else False

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        before = numba.config.SLP_VECTORIZE  # type: ignore[attr-defined]
        numba.config.SLP_VECTORIZE = int(straight) or before  # type: ignore[attr-defined]
        try:
            return numba.njit(signatures, cache=True, nogil=True, error_model="numpy", fastmath=fast)(function)
        except Exception as error:
            logger.debug("kernel %s is not cached: %s", function.__name__, error)
            return numba.njit(signatures, nogil=True, error_model="numpy", fastmath=fast)(function)
        finally:
            numba.config.SLP_VECTORIZE = before  # type: ignore[attr-defined]

    return decorate

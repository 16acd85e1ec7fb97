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
READ_VECTOR = types.Array(types.float64, 1, "C", readonly=True)
READ_MATRIX = types.Array(types.float64, 2, "C", readonly=True)
READ_FLAGS = types.Array(types.boolean, 1, "C", readonly=True)
# A CSR matrix as three arguments: see anchorwords.linalg.sparse.csr_parts.
CSR = (
    types.Array(types.int64, 1, "C", readonly=True),
    types.Array(types.int32, 1, "C", readonly=True),
    READ_VECTOR,
)


def compiled(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for these types when its module is loaded, without the interpreter lock.

    The machine code is cached beside the module, or in the user's cache folder where the package folder is
    read-only. Where neither can be written, or what is there is damaged, the kernel is compiled afresh,
    silently. One signature a kernel keeps the cache to one file, which processes may write side by side. Threads
    are ours (see :mod:`anchorwords.linalg.parallel`), not numba's: numba's default thread pool aborts the
    process when two Python threads enter it at once.
    """
    signature = result(*arguments)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return numba.njit(signature, cache=True, nogil=True, error_model="numpy")(function)
        except Exception as error:
            logger.debug("kernel %s is not cached: %s", function.__name__, error)
            return numba.njit(signature, nogil=True, error_model="numpy")(function)

    return decorate

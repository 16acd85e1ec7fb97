"""Compile a kernel with numba, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` without the interpreter lock, so that threads can run it side by side.

    The machine code is cached beside the module, or in the user's cache folder where the package folder is
    read-only; where neither can be written the kernel is compiled afresh in each process, silently.
    Threads are ours (see :mod:`anchorwords.linalg.parallel`), not numba's: numba's default thread pool
    aborts the process when two Python threads enter it at once.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no place where a cache could be written
        return numba.njit(nogil=True)(function)

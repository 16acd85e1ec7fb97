"""The kernels for torch tensors: on a GPU by Triton and torch, on the processor by numba.

A torch tensor on the processor shares its memory with a NumPy array, for which numba's kernels are the fastest there are.
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from .protocol import Kernels


def kernels_like(prototype: Any) -> Kernels:
    """The implementation for tensors on the device of this one."""
    if prototype.device.type == "cpu":
        from . import numba_kernels
        from .host import host_kernels

        return host_kernels(prototype, cast(Kernels, numba_kernels))
    return _on_gpu(prototype.device)


@cache
def _on_gpu(device: Any) -> Kernels:
    """One object per device: what is prepared for it is known by that."""
    from .gpu.operations import GpuKernels

    return cast(Kernels, GpuKernels(device))

"""The kernels for torch tensors: on a GPU by Triton and torch, on the processor by numba.

A torch tensor on the processor shares its memory with a NumPy array, for which numba's kernels are the fastest there are.
"""

from __future__ import annotations

from typing import Any, cast

from .protocol import Kernels


def kernels_like(prototype: Any) -> Kernels:
    """The implementation for tensors on the device of this one."""
    from . import numba_kernels

    if prototype.device.type == "cpu":
        from .host import host_kernels

        return host_kernels(prototype, cast(Kernels, numba_kernels))
    from .gpu.operations import GpuKernels

    return cast(Kernels, GpuKernels(prototype))

"""All operations of :class:`anchorwords.kernels.protocol.Kernels` on one GPU."""

from __future__ import annotations

from typing import Any, cast

from ..host import host_kernels
from ..protocol import Kernels


class GpuKernels:
    """The kernels on the device of a tensor; what works on text runs on the host.

    Parameters
    ----------
    prototype : tensor
        Results are on its device.
    """

    def __init__(self, prototype: Any) -> None:
        from .. import numba_kernels

        self._device = prototype.device
        self._host = host_kernels(prototype, cast(Kernels, numba_kernels))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

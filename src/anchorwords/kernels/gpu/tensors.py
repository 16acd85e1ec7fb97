"""Arrays as tensors on a device, and the shapes that Triton asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch


def on_device(array: Any, device: Any, dtype: Any = None) -> Any:
    """A contiguous tensor on the device; without a copy if the array is one already."""
    if not isinstance(array, torch.Tensor):
        # Memory that must not be written to makes torch warn, so that it is copied.
        array = torch.from_numpy(np.require(array, requirements=["C", "W"]))
    return array.to(device=device, dtype=dtype).contiguous()


def csr_on_device(rows: Any, device: Any) -> tuple[Any, Any, Any]:
    """The three arrays of a CSR matrix: int64, int32, and data of any type, float64 if it is NumPy's."""
    indptr, indices, data = rows
    return on_device(indptr, device, torch.int64), on_device(indices, device, torch.int32), on_device(data, device)


def block_of(n: int, least: int = 1) -> int:
    """The smallest power of two that is not less than n: Triton's arrays have such sizes only."""
    return max(least, 1 << max(0, (n - 1).bit_length()))

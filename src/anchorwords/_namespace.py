"""The array namespace of a computation, by inspection of its arrays.

Code that must run on more than NumPy asks its inputs for their namespace (the Python array API standard) and calls
functions from there. There is no global backend: two fits with different kinds of arrays may run side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import FloatArray


def array_namespace(*arrays: Any) -> Any:
    """Namespace that the arrays name as theirs; NumPy's where they name none."""
    for array in arrays:
        if not is_numpy(array) and hasattr(array, "__array_namespace__"):
            return array.__array_namespace__()
    return np


def is_numpy(array: Any) -> bool:
    """Whether the compiled kernels, which are NumPy's alone, can take this array."""
    return isinstance(array, np.ndarray)


def to_numpy(array: Any) -> FloatArray:
    """Return the array as NumPy's float64, without a copy where it is one."""
    if hasattr(array, "__array_namespace__") and not is_numpy(array):
        array = np.from_dlpack(array)
    return np.asarray(array, dtype=np.float64)


def like(array: Any, other: Any) -> Any:
    """Return a NumPy array in the namespace, and on the device, of ``other``."""
    if array_namespace(other) is np:
        return array
    return array_namespace(other).asarray(array, device=getattr(other, "device", None))

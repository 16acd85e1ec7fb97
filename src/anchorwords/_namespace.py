"""The array namespace of a computation, by inspection of its arrays.

Code that must run on more than NumPy asks its inputs for their namespace (the Python array API standard) and calls
functions from there; ``array-api-compat`` supplies what a library is missing. There is no global backend: two fits with
different kinds of arrays may run side by side.
"""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np
import numpy.typing as npt

# DLPack's numbers for memory that the processor can read: its own, and its own pinned for a GPU.
_HOST_DEVICES = (1, 3)


def array_namespace(*arrays: Any) -> Any:
    """Namespace of the arrays that are not NumPy's; NumPy itself if there are none."""
    others = [array for array in arrays if not is_numpy(array) and is_array(array)]
    return array_api_compat.array_namespace(*others) if others else np


def namespace_name(array: Any) -> str:
    """Name of the library that an array is of, such as "numpy" or "torch"."""
    return str(array_namespace(array).__name__).rsplit(".", maxsplit=1)[-1]


def is_array(value: Any) -> bool:
    """Whether a value is an array of some namespace; sparse matrices and operators are not."""
    return is_numpy(value) or hasattr(value, "__dlpack__")


def is_numpy(array: Any) -> bool:
    """Whether an array is NumPy's own."""
    return isinstance(array, np.ndarray)


def to_numpy(array: Any, dtype: npt.DTypeLike | None = np.float64) -> npt.NDArray[Any]:
    """Return the array as NumPy's, on the host, without a copy if possible.

    An array of another library is never returned read-only: kernels are compiled for arrays that can be written to.

    Parameters
    ----------
    array : array
        Of any namespace, on any device; or anything that NumPy makes an array of.
    dtype : data type or None
        float64 by default; None keeps that of the array.
    """
    if not is_numpy(array) and is_array(array):
        if array_api_compat.is_torch_array(array):
            array = array.detach().cpu().numpy()
        elif on_host(array):
            array = np.from_dlpack(array)
            if not array.flags.writeable:  # always so before NumPy 2.3, and with JAX
                array = array.copy()
        elif hasattr(array, "get"):  # CuPy
            array = array.get()
        else:
            array = np.from_dlpack(array, device="cpu", copy=True)
    return np.asarray(array, dtype=dtype)


def like(array: Any, other: Any) -> Any:
    """Return an array in the namespace, and on the device, of ``other``; its data type stays.

    The result may share memory with the array: it is not to be written to.
    """
    if is_numpy(other) or not is_array(other):
        return array if is_numpy(array) or not is_array(array) else to_numpy(array, dtype=None)
    if array_namespace(array) is array_namespace(other):
        return array_api_compat.to_device(array, array_api_compat.device(other))
    array = to_numpy(array, dtype=None)
    # Torch takes no negative strides and warns of memory that it must not write to.
    array = np.array(array, order="C", copy=None if array.flags.writeable else True)
    return array_namespace(other).asarray(array, device=array_api_compat.device(other))


def on_host(array: Any) -> bool:
    """Whether an array is in memory that the processor can read."""
    return is_numpy(array) or array.__dlpack_device__()[0] in _HOST_DEVICES


def writeable(array: Any) -> bool:
    """Whether the library of an array lets its entries be assigned to; NumPy's read-only arrays do not."""
    return bool(array_api_compat.is_writeable_array(array))

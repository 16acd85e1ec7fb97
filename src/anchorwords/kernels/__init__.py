"""Operations that are not plain array algebra, behind one protocol: :class:`anchorwords.kernels.protocol.Kernels`.

Algorithms ask :func:`kernels_for` for the implementation that fits their arrays. An implementation is a module with a
function ``kernels_like(prototype)``; it is added with one line in ``IMPLEMENTATIONS`` and one in the contract test.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from .._namespace import is_array, is_numpy, namespace_name
from .protocol import Kernels

# Array namespace -> module of this package. Arrays of any other namespace are handed to NumPy's implementation.
IMPLEMENTATIONS = {"numpy": "numba_kernels", "torch": "torch_kernels"}


def kernels_for(*arrays: Any) -> Kernels:
    """The kernels for these arrays: those of the first that is not NumPy's, or NumPy's.

    What is not an array, such as a sparse matrix or None, does not count.
    """
    prototype = next((array for array in arrays if not is_numpy(array) and is_array(array)), None)
    if prototype is None:
        return _module("numpy").kernels_like(None)
    name = namespace_name(prototype)
    if name in IMPLEMENTATIONS:
        return _module(name).kernels_like(prototype)
    from .host import host_kernels

    return host_kernels(prototype, _module("numpy").kernels_like(None))


@cache
def _module(namespace: str) -> Any:
    """Import an implementation when it is first needed: none has to be installed, or compiled, before."""
    return import_module("." + IMPLEMENTATIONS[namespace], __package__)

"""The kernels for arrays of a namespace that has no implementation of its own: computed on the host by numba."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .._namespace import is_array, is_numpy, like, to_numpy
from .protocol import Kernels

_PLAIN = (int, float, bool, str, bytes, dict, type(None), np.generic)


class HostAdapter:
    """An object whose methods take and return arrays like a prototype, in front of one whose methods know NumPy only.

    Arrays are handed over without a copy if they are on the host. Objects that a method returns, such as a negative
    part, are adapted in the same way.

    Parameters
    ----------
    inner : object
        What computes.
    prototype : array
        Results are in its namespace and on its device.
    """

    def __init__(self, inner: Any, prototype: Any) -> None:
        self._inner = inner
        self._prototype = prototype

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if not callable(value):
            return self._outward(value)

        def call(*arguments: Any, **options: Any) -> Any:
            found = value(*map(_inward, arguments), **{key: _inward(option) for key, option in options.items()})
            return self._outward(found)

        return call

    def _outward(self, value: Any) -> Any:
        if is_numpy(value):
            return like(value, self._prototype)
        if isinstance(value, tuple):
            parts = map(self._outward, value)
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return value if isinstance(value, _PLAIN) else HostAdapter(value, self._prototype)


def _inward(value: Any) -> Any:
    if isinstance(value, tuple):
        parts = map(_inward, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return to_numpy(value, dtype=None) if is_array(value) else value


def host_kernels(prototype: Any, kernels: Kernels) -> Kernels:
    """Kernels that compute on the host and return arrays like the prototype."""
    return cast(Kernels, HostAdapter(kernels, prototype))

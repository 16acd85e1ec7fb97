"""The device that Triton starts kernels on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch

Kind = TypeVar("Kind", bound=type)


def on_its_device(kind: Kind) -> Kind:
    """Class decorator: the device of the object (``_device``) is torch's current one while a public method runs.

    Triton starts kernels on the current device, whichever device their arguments are on, and every thread has its own.
    """
    for name, method in list(vars(kind).items()):
        if not name.startswith("_") and callable(method) and not isinstance(method, (staticmethod, classmethod)):
            setattr(kind, name, _with_device(method))
    return kind


def _with_device(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        if self._device.type != "cuda":  # in Triton's interpreter
            return method(self, *arguments, **options)
        with torch.cuda.device(self._device):
            return method(self, *arguments, **options)

    return call

"""How much memory an operation on a GPU may use at a time, and what happens where there is less."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import torch

from ..._memory import gpu_is_full

Result = TypeVar("Result")

# Temporary arrays of one operation (1 GiB): a number that does not depend on what is free, because the order of some sums
# follows the size of blocks, and two runs are to give the same bits.
_LARGEST = 1 << 30
# An operation gives up after this number of halvings, at 16 MiB.
_HALVINGS = 6


class _Here(threading.local):
    halvings = 0


_HERE = _Here()


def temporary_bytes() -> int:
    """Bytes that the temporary arrays of one operation may take; operations work in blocks of documents, words or pairs."""
    return _LARGEST >> _HERE.halvings


def with_less_memory(operation: Callable[..., Result]) -> Callable[..., Result]:
    """An operation that is tried again in smaller blocks where memory runs out; its arguments must stay as they are."""

    @wraps(operation)
    def tried(*arguments: Any, **options: Any) -> Result:
        before = _HERE.halvings
        try:
            while True:
                try:
                    return operation(*arguments, **options)
                except RuntimeError as error:
                    if _HERE.halvings >= _HALVINGS or not gpu_is_full(error):
                        raise
                # Outside the handler: what the failed attempt held is free only now.
                torch.cuda.empty_cache()
                _HERE.halvings += 1
        finally:
            _HERE.halvings = before

    return tried

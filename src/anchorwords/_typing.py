"""Array types shared by all rooms."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.intp]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
# SciPy's sparse arrays and matrices; typed loosely because both families are accepted.
SparseLike: TypeAlias = Any


@runtime_checkable
class SymmetricOperator(Protocol):
    """What a rectifier and an eigensolver need of C: its shape and its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        ...

    def __matmul__(self, other: FloatArray) -> FloatArray:
        """Product with a vector or a block of columns."""
        ...

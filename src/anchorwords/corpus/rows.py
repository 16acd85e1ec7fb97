"""Rows that a slice, a mask or a list of numbers selects."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from .files import short


def selected_rows(key: Any, n_docs: int) -> npt.NDArray[np.int64]:
    """Return the rows that ``corpus[key]`` selects, in its order; InputError if the key selects none of these.

    Parameters
    ----------
    key : slice, boolean mask, or sequence of int
        Negative numbers count from the end. ``(key, ...)`` is the same as ``key``: scikit-learn indexes in this way.
    n_docs : int
    """
    if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
        key = key[0]
    if isinstance(key, slice):
        try:
            return np.arange(n_docs, dtype=np.int64)[key]
        except (TypeError, ValueError):
            raise InputError(f"documents are selected by a slice of whole numbers, but not by {key}.") from None
    try:
        numbers = np.asarray(key)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "biu"):
        raise InputError(
            f"documents are selected by a number, a slice, a boolean mask or a list of numbers, but not by {short(key)}."
        )
    if numbers.dtype.kind == "b":
        if numbers.size != n_docs:
            raise InputError(f"a mask must have one value for each of the {n_docs} documents, but has {numbers.size}.")
        return np.flatnonzero(numbers)
    rows = numbers.astype(np.int64)
    wrong = rows[(rows < -n_docs) | (rows >= n_docs)]
    if wrong.size:
        raise InputError(f"there are {n_docs} documents, numbered from 0, but number {wrong[0]} was selected.")
    return np.where(rows < 0, rows + n_docs, rows)


def is_row_number(key: Any) -> bool:
    """Whether a key selects a single document."""
    return isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_))

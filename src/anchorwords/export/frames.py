"""Tables as data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ..exceptions import InputError

BACKENDS = ("pandas", "polars", "pyarrow")


def to_frame(rows: Any, backend: str = "pandas") -> Any:
    """A table of ours as a data frame.

    Parameters
    ----------
    rows : list of dict, or what has such rows
        What ``topic_table``, ``anchor_table``, ``common_words``, ``changes``, ``prevalence_by`` and others return. Rows may
        hold different columns: what one lacks is missing.
    backend : {"pandas", "polars", "pyarrow"}
        Package that makes the frame. It must be installed, and narwhals, which stands between.

    Returns
    -------
    DataFrame of pandas or polars, or Table of pyarrow
        Columns in the order in which rows name them first. Lists stay lists: a column of lists in polars and pyarrow, of
        Python objects in pandas.
    """
    if backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(map(repr, BACKENDS))}, but is {backend!r}.")
    columns = _columns(rows.rows() if hasattr(rows, "rows") and callable(rows.rows) else rows)
    narwhals = _imported("narwhals", "pip install 'anchorwords[frames]'")
    _imported(backend, f"pip install {backend}, or ask for another backend")
    try:
        return narwhals.from_dict(columns, backend=backend).to_native()
    except (TypeError, ValueError) as error:  # polars and pyarrow raise kinds of these for columns of several types
        why = str(error).splitlines()[0]
        raise InputError(
            f"these rows cannot be a frame of {backend} ({why}): a column must hold values of one kind; pandas takes any."
        ) from error


def _columns(rows: Any) -> dict[str, list[Any]]:
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise InputError(f"rows must be a list of dicts, such as topic_table gives, but is {type(rows).__name__}.")
    listed = list(rows)
    for row in listed:
        if not isinstance(row, Mapping):
            raise InputError(f"rows must be a list of dicts, but one is {type(row).__name__}: {row!r}.")
    names = dict.fromkeys(name for row in listed for name in row)
    return {name: _one_kind([_plain(row.get(name)) for row in listed]) for name in names}


def _plain(value: Any) -> Any:
    """Arrays and tuples as lists, NumPy's numbers as Python's."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def _one_kind(values: list[Any]) -> list[Any]:
    """Whole numbers and others in one column become floats, as packages with typed columns want it."""
    kinds = {type(value) for value in values if value is not None}
    return [None if value is None else float(value) for value in values] if kinds == {int, float} else values


def _imported(name: str, what_to_do: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"to_frame needs {name}, which is not installed: {what_to_do}.") from None

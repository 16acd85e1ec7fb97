"""A course of numbers in a line of text, such as the prevalence of a topic over time."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray

_BLOCKS, _ASCII = "▁▂▃▄▅▆▇█", "_.-=+*%#"


def sparkline(values: FloatArray, widest: int = 30, *, ascii_only: bool = False) -> str:
    """Return one character per number, its height from 0 to the largest; a space where there is no number.

    Parameters
    ----------
    values : (T,) array
        Numbers from 0 on, nan if missing.
    widest : int
        Characters at most: if there are more numbers, means of neighbours are drawn.
    ascii_only : bool
        Use characters that every terminal knows, from ``_`` for 0 to ``#`` for the largest.
    """
    if values.size > widest:
        parts = np.array_split(values, widest)
        values = np.array([np.nan if np.isnan(part).all() else np.nanmean(part) for part in parts])
    heights = _ASCII if ascii_only else _BLOCKS
    known = values[~np.isnan(values)]
    top = float(known.max()) if known.size else 0.0
    steps = np.nan_to_num(values) / top if top > 0.0 else np.zeros(values.size)
    places = np.minimum((steps * len(heights)).astype(int), len(heights) - 1)
    return "".join(" " if np.isnan(value) else heights[place] for value, place in zip(values, places, strict=True))

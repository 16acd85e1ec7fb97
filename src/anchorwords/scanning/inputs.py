"""Checks of the arguments of a scan: documents, numbers of topics, names of metrics."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..exceptions import DegenerateWarning, InputError
from ..metrics.catalogue import BY_NAME
from ..sources.convert import as_source
from ..sources.source import Source
from ..statistics.sketch import CooccurrenceSketch


def documents_of(X: Any) -> Source:
    """Documents in any form that a fit accepts, except a sketch."""
    if isinstance(X, CooccurrenceSketch):
        raise InputError(
            "a sketch contains no documents, but a scan splits them into halves: give the documents, or fit each number of "
            "topics to the sketch separately."
        )
    return as_source(X)


def checked_numbers(n_components: Any) -> list[int]:
    """Distinct numbers of topics, in ascending order."""
    single = isinstance(n_components, (int, np.integer)) and not isinstance(n_components, bool)
    if not single and (isinstance(n_components, (str, bytes)) or not isinstance(n_components, Iterable)):
        raise InputError(f"n_components must be numbers of topics, such as [10, 20, 50], but is {n_components!r}.")
    values = [n_components] if single else list(n_components)
    wrong = [K for K in values if isinstance(K, bool) or not isinstance(K, (int, np.integer)) or K < 1]
    if wrong or not values:
        what = f"contains {wrong[0]!r}" if wrong else "is empty"
        raise InputError(f"n_components must be positive whole numbers, such as [10, 20, 50], but {what}.")
    return sorted({int(K) for K in values})


def possible_numbers(numbers: list[int], n_possible: int, what: str) -> list[int]:
    """Numbers of topics that the data allow; a warning names the others."""
    possible = [K for K in numbers if n_possible >= K]
    if not possible:
        raise InputError(
            f"n_components must be at most {n_possible}, the number of {what}, but the smallest given is {numbers[0]}."
        )
    if len(possible) < len(numbers):
        warnings.warn(
            f"left out of the scan: {', '.join(map(str, numbers[len(possible) :]))} topics, as there are only {n_possible} "
            f"{what}.",
            DegenerateWarning,
            stacklevel=4,
        )
    return possible


def checked_metrics(metrics: Iterable[str]) -> list[str]:
    """Distinct names of metrics, in the order given."""
    if isinstance(metrics, str):
        raise InputError(f"metrics must be a list of names, but is the single string {metrics!r}: give [{metrics!r}].")
    names = list(dict.fromkeys(metrics))
    if unknown := [name for name in names if name not in BY_NAME]:
        raise InputError(f"there is no metric {unknown[0]!r}: the names are {', '.join(BY_NAME)}.")
    return names

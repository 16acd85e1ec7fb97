"""How a fit went: the documents it used and the steps of its rectification, and the same as JSON can hold it."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from ..linalg.fixed_point import Iteration


class Course(NamedTuple):
    """What is remembered of a fit beside its model.

    Attributes
    ----------
    n_iter : int
        Steps of the rectification, 0 without one.
    converged : bool
    n_docs, n_skipped : int or None
        Documents used, and those with fewer than two tokens; None where that is not known.
    history : tuple of Iteration, or None
        Of each step; None where it is not known.
    """

    n_iter: int
    converged: bool
    n_docs: int | None = None
    n_skipped: int | None = None
    history: tuple[Iteration, ...] | None = None


def course_to_dict(course: Course) -> dict[str, Any]:
    """A JSON-ready form; numbers of the history that are not finite, which JSON has no word for, are null."""
    history = None
    if course.history is not None:
        columns = {name: [getattr(step, name) for step in course.history] for name in Iteration._fields}
        history = {name: [float(x) if isfinite(x) else None for x in column] for name, column in columns.items()}
    return course._asdict() | {"history": history}


def course_from_dict(value: dict[str, Any]) -> Course:
    """Inverse of :func:`course_to_dict`, but that all numbers that were not finite are NaN.

    ValueError where something is not what it should be, whoever wrote it. The documents and the history may be missing:
    earlier versions did not keep them.
    """
    n_iter, converged = _whole(value, "n_iter"), value.get("converged")
    if n_iter is None or not isinstance(converged, bool):
        raise ValueError("n_iter or converged is missing")
    history = None if value.get("history") is None else _history(value["history"])
    if history is not None and len(history) != n_iter:
        raise ValueError("the history is not one of n_iter steps")
    return Course(n_iter, converged, _whole(value, "n_docs"), _whole(value, "n_skipped"), history)


def _whole(value: dict[str, Any], name: str) -> int | None:
    number = value.get(name)
    if number is not None and (type(number) is not int or not 0 <= number < 2**63):
        raise ValueError(f"{name} is not a whole number from 0 on")
    return number


def _history(columns: Any) -> tuple[Iteration, ...]:
    if not isinstance(columns, dict) or columns.keys() != set(Iteration._fields):
        raise ValueError(f"the history does not hold {', '.join(Iteration._fields)}")
    for name, column in columns.items():
        if not isinstance(column, list) or not all(x is None or (type(x) is float and isfinite(x)) for x in column):
            raise ValueError(f"the history of {name} is not a list of numbers")
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError("the history has columns of different lengths")
    steps = zip(*(columns[name] for name in Iteration._fields), strict=True)
    return tuple(Iteration(*(float("nan") if x is None else x for x in step)) for step in steps)

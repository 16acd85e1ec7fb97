"""What the estimator needs besides the mathematics: safe refits, scikit-learn's checks, its parameters."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._validation import check_n_jobs
from ..anchors.given import as_plain, check_strength
from ..exceptions import InputError
from ..infer.compose import METHODS, current_name
from ..rectify.rectifiers import rectifier_from_dict, rectifier_to_dict
from ..refine.options import Refinement
from ..sources.convert import TEXTS

# More threads than this are not taken from a file.
_MOST_THREADS = 1024


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[None]:
    """A refused refit leaves the fitted model as it was, not with the columns of the refused data."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def validated_array(estimator: Any, X: Any, *, reset: bool) -> Any:
    """An array-like, a sparse matrix or a data frame after scikit-learn's own checks, or InputError where it holds text."""
    try:
        return validate_data(
            estimator, X, accept_sparse=True, dtype=np.float64, ensure_all_finite=False, reset=reset
        )  # fmt: skip
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise InputError(TEXTS) from None  # not its message, which holds the document


def parameters_to_dict(estimator: Any) -> dict[str, Any]:
    """Parameters of an AnchorTopicModel as JSON holds them: what the provenance of a model keeps.

    The device is left out: topics are the same wherever they were learned, and others may not have it.
    """
    given = estimator.get_params(deep=False)
    del given["device"]
    seed = given["random_state"]
    return {
        name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()
    } | {
        "rectifier": rectifier_to_dict(given["rectifier"]),
        "anchors": as_plain(given["anchors"]),
        "strength": check_strength(given["strength"]),
        "forbidden_anchors": as_plain(given["forbidden_anchors"]),
        "composition": current_name(given["composition"]),
        "refinement": None if given["refinement"] is None else asdict(given["refinement"]),
        "random_state": int(seed) if isinstance(seed, (int, np.integer)) else None,
        "n_jobs": check_n_jobs(given["n_jobs"]),
        "verbose": int(given["verbose"]),
    }  # fmt: skip


def parameters_from_dict(parameters: Mapping[str, Any], n_components: int | None) -> dict[str, Any]:
    """Inverse of :func:`parameters_to_dict` for a model with this number of topics; ValueError for invalid values.

    The number is None for a model whose topics were edited: it may differ from the parameter of the fit.
    """
    given: dict[str, Any] = ({} if n_components is None else {"n_components": n_components}) | dict(parameters)
    if parameters and "strength" not in parameters:  # saved before there was one, and fitted without it
        given["strength"] = 0.0
    for name, value in given.items():
        if name in _CAN_BE and not _CAN_BE[name](value):
            raise ValueError(f"its parameter {name} is {reprlib.repr(value)}")
    if n_components is not None and given["n_components"] != n_components:
        raise ValueError(f"its parameter n_components is {given['n_components']}, but it has {n_components} topics")
    if given.get("n_jobs") is not None:  # that of another machine, or of somebody who wants a million threads here
        given["n_jobs"] = max(-_MOST_THREADS, min(given["n_jobs"], _MOST_THREADS))
    if "rectifier" in given:
        given["rectifier"] = rectifier_from_dict(given["rectifier"])
    if given.get("refinement") is not None:
        given["refinement"] = Refinement(**given["refinement"])
    return given


def _is_whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _is_plain(value: Any) -> bool:
    """What an option of a rectifier or a refinement can be: a finite number, a name, a truth or nothing."""
    return value is None or isinstance(value, (bool, str)) or (type(value) in (int, float) and abs(value) < 2**63)


def _are_options(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_plain, value.values()))


def _are_words(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(type(word) in (int, str) for word in value))


def _are_anchors(value: Any) -> bool:
    return value is None or (
        isinstance(value, list) and all(_are_words(group if isinstance(group, list) else [group]) for group in value)
    )


# What each parameter can be in JSON, whoever wrote it. The others are checked by what is made of them.
_CAN_BE: dict[str, Any] = {
    "n_components": lambda value: _is_whole(value, 1, 2**63 - 1),
    "rectifier": lambda value: isinstance(value, str | None) or _are_options(value),
    "anchors": _are_anchors,
    "forbidden_anchors": _are_words,
    "strength": lambda value: type(value) in (int, float) and 0 <= value < 2**63,
    "min_anchor_docs": lambda value: value == "auto" or (type(value) in (int, float) and 0 <= value < 2**63),
    "refinement": lambda value: value is None or _are_options(value),
    "composition": lambda value: value in METHODS,
    "random_state": lambda value: value is None or _is_whole(value, 0, 2**32 - 1),
    "n_jobs": lambda value: value is None or (_is_whole(value, -(2**63), 2**63) and value != 0),
    "verbose": lambda value: _is_whole(value, -(2**31), 2**31),
    "device": lambda value: value is None,
}

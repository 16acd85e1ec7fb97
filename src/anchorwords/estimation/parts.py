"""What the estimator needs besides the mathematics: safe refits, its log, scikit-learn's checks, its parameters."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._validation import check_n_jobs
from ..anchors.given import as_plain
from ..exceptions import InputError
from ..infer.compose import current_name
from ..rectify.rectifiers import rectifier_from_dict, rectifier_to_dict
from ..refine.refinement import Refinement


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


@contextmanager
def shown_log(verbose: int) -> Iterator[None]:
    """Show the package's log on standard error while a verbose fit runs."""
    if not verbose:
        yield
        return
    root = logging.getLogger("anchorwords")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    level = root.level
    try:
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def validated_array(estimator: Any, X: Any, *, reset: bool) -> Any:
    """An array-like, a sparse matrix or a data frame after scikit-learn's own checks, or InputError where it holds text."""
    try:
        return validate_data(
            estimator, X, accept_sparse=True, dtype=np.float64, ensure_all_finite=False, reset=reset
        )  # fmt: skip
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise InputError(
            f"X must hold counts of words, but holds text ({error}): turn documents into counts first, with "
            "anchorwords.read_corpus or scikit-learn's CountVectorizer."
        ) from error


def parameters_to_dict(estimator: Any) -> dict[str, Any]:
    """Parameters of an AnchorTopicModel as JSON holds them: what the provenance of a model keeps."""
    given = estimator.get_params(deep=False)
    seed = given["random_state"]
    return {
        name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()
    } | {
        "rectifier": rectifier_to_dict(given["rectifier"]),
        "anchors": as_plain(given["anchors"]),
        "forbidden_anchors": as_plain(given["forbidden_anchors"]),
        "composition": current_name(given["composition"]),
        "refinement": None if given["refinement"] is None else asdict(given["refinement"]),
        "random_state": int(seed) if isinstance(seed, (int, np.integer)) else None,
        "n_jobs": check_n_jobs(given["n_jobs"]),
        "verbose": int(given["verbose"]),
    }  # fmt: skip


def parameters_from_dict(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Inverse of :func:`parameters_to_dict`."""
    given = dict(parameters)
    if "rectifier" in given:
        given["rectifier"] = rectifier_from_dict(given["rectifier"])
    if given.get("refinement") is not None:
        given["refinement"] = Refinement(**given["refinement"])
    return given

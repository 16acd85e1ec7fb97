"""Compositions of documents, block after block, by the method asked for."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .._typing import SparseLike
from ..exceptions import ConvergenceWarning, InputError
from ..linalg.parallel import limited_threads
from ..model import TopicModel
from .aware import aware_compositions
from .fold_in import Compositions
from .penalised import penalised_compositions
from .prior import prior_weights

logger = logging.getLogger("anchorwords.transform")

METHODS = ("map", "prior-aware")
# What a token's objective may lack before it is said.
_WIDE_GAP = 1e-6
# Weights of documents that are made at a time: 32 MB.
_SHARES = 1 << 22


def check_method(method: Any, model: TopicModel | None = None) -> str:
    """The method, or InputError where there is none of that name, or the model lacks what it needs."""
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, but is {method!r}.")
    if method == "prior-aware" and model is not None and model.composition_dual is None:
        raise InputError(
            "prior-aware compositions need a dual matrix, learned on the documents of the fit: fit with "
            "composition='prior-aware', or call learn_composition_prior(X) first."
        )
    return str(method)


def compositions(
    model: TopicModel, blocks: Iterable[SparseLike], *, method: str = "map", n_jobs: int | None = None
) -> Iterator[Compositions]:
    """Compositions of consecutive documents; no document's answer depends on another's.

    Parameters
    ----------
    model : TopicModel
    blocks : iterable of (m, N) CSR
        Counts in the model's columns.
    method : {"map", "prior-aware"}
        Largest penalised likelihood (:mod:`anchorwords.infer.penalised`), or least squares under the model's dual matrix
        (:mod:`anchorwords.infer.aware`).
    n_jobs : int or None
        Threads; no answer depends on it.

    Yields
    ------
    Compositions
        Of some documents each, in order. At the end documents without a known word are counted in the log, and those that
        were not solved to optimality in a warning.
    """
    check_method(method, model)
    step = max(1, _SHARES // model.n_components)
    alpha = prior_weights(model.A)
    unknown = widest = 0.0
    n_wide = n_empty = 0
    for block in blocks:
        for start in range(0, max(block.shape[0], 1), step):
            counts = block[start : start + step]
            with limited_threads(n_jobs):  # not across a yield: what the caller does meanwhile is not ours
                if method == "map":
                    part = penalised_compositions(counts, model.B, alpha, n_jobs=n_jobs)
                else:
                    assert model.composition_dual is not None
                    part = aware_compositions(counts, model, model.composition_dual, n_jobs=n_jobs)
            empty = part.n_known == 0.0
            part.weights[empty] = model.prevalence
            n_empty += int(empty.sum())
            unknown += float(counts.sum()) - float(part.n_known.sum())
            widest = max(widest, float(part.gap.max(initial=0.0)))
            n_wide += int((part.gap > _WIDE_GAP).sum())
            yield part
    if n_wide:
        warnings.warn(
            f"{n_wide} documents were not solved to optimality: their objective a token may be up to {widest:.1g} below the "
            "best.",
            ConvergenceWarning,
            stacklevel=4,
        )
    if unknown > 1e-6:  # less is the rounding of fractional counts
        logger.info("%g tokens are of words the model has never seen", unknown)
    if n_empty:
        logger.info("%d documents hold no word the model knows, and get the prevalence", n_empty)


def joined(parts: Iterable[Compositions]) -> Compositions:
    """Parts one after the other."""
    return Compositions(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

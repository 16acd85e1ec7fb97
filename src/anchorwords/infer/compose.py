"""Compositions of documents, block after block, by the method asked for."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..devices import computing_on
from ..exceptions import InputError
from ..linalg.parallel import limited_threads
from ..linalg.sparse import rows_between
from ..model import TopicModel
from ..sources.source import Source
from .aware import aware_compositions
from .penalised import ScaledTopics, penalised_compositions
from .prior import prior_of
from .proportions import Compositions

logger = logging.getLogger("anchorwords.transform")

METHODS = ("posterior-mean", "prior-aware")
# Former names of methods. "posterior-mean" was called "map", but it is no maximum a posteriori estimate.
_RENAMED = {"map": "posterior-mean"}
# What a token's objective may lack before it is said.
_WIDE_GAP = 1e-5
# Weights of documents that are made at a time: 32 MB.
_SHARES = 1 << 22


def current_name(method: Any) -> Any:
    """The present name of a method that was called otherwise; anything else as it is."""
    return _RENAMED.get(method, method) if isinstance(method, str) else method


def check_method(method: Any, model: TopicModel | None = None) -> str:
    """Return the name of the method; a former name gives the current one and a FutureWarning.

    Raises
    ------
    InputError
        If there is no method of that name, or if the model lacks what the method needs.
    """
    if (renamed := current_name(method)) is not method:
        warnings.warn(
            f"the method {method!r} is now called {renamed!r}: write {renamed!r} instead, as the old name will be removed.",
            FutureWarning,
            stacklevel=3,
        )
        method = renamed
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, but is {method!r}.")
    if method == "prior-aware" and model is not None and model.inference.composition_dual is None:
        raise InputError(
            "prior-aware compositions need a dual matrix, learned on the documents of the fit: fit with "
            "composition='prior-aware', or call learn_composition_prior(X) first."
        )
    return str(method)


def compositions(
    model: TopicModel,
    source: Source,
    *,
    method: str = "posterior-mean",
    whole_blocks: bool = False,
    like: Any = None,
    n_jobs: int | None = None,
) -> Iterator[Compositions]:
    """Compositions of consecutive documents; no document's answer depends on another's.

    Parameters
    ----------
    model : TopicModel
    source : Source
        Documents in the model's columns.
    method : {"posterior-mean", "prior-aware"}
        Mean of the Dirichlet posterior at the maximum of a penalised likelihood (:mod:`anchorwords.infer.penalised`), or
        least squares under the model's dual matrix (:mod:`anchorwords.infer.aware`).
    whole_blocks : bool
        Compositions of a block at once; else in parts that take little memory.
    like : array or None
        An array whose namespace and device "posterior-mean" computes with; None is NumPy. Results are NumPy's in any case,
        and "prior-aware" computes on the host.
    n_jobs : int or None
        Threads; no answer depends on it.

    Yields
    ------
    Compositions
        Of some documents each, in order. At the end documents without a known word are counted in the log, and those that
        were not solved to optimality in a warning.
    """
    method = check_method(method, model)
    basis = model.inference
    prior, topics = prior_of(basis.A), ScaledTopics(basis.B, like)
    unknown = widest = 0.0
    n_wide = n_empty = 0
    said = False  # which device is used
    for block in source.blocks(whole=whole_blocks):
        step = max(1, block.shape[0] if whole_blocks else _SHARES // basis.n_components)
        for start in range(0, max(block.shape[0], 1), step):
            counts = rows_between(block, start, start + step)
            # Not across a yield: what the caller does meanwhile is not ours.
            with limited_threads(n_jobs), computing_on(like, quiet=said):
                if method == "posterior-mean":
                    part = penalised_compositions(counts, topics, prior, n_jobs=n_jobs)
                else:
                    assert basis.composition_dual is not None
                    part = aware_compositions(counts, basis, basis.composition_dual, n_jobs=n_jobs)
            said = True
            if model.parts is not None:
                part = part._replace(weights=model.parts.proportions(part.weights, model.prevalence))
            empty = part.n_known == 0.0
            part.weights[empty] = model.prevalence
            n_empty += int(empty.sum())
            unknown += float(counts.sum()) - float(part.n_known.sum())
            widest = max(widest, float(part.gap.max(initial=0.0)))
            n_wide += int((~(part.gap <= _WIDE_GAP)).sum())
            yield part
    if n_wide:
        from ..exceptions import ConvergenceWarning  # brings scikit-learn

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


def prototype_of(model: Any, source: Source) -> Any:
    """An array whose namespace and device inference uses: an estimator's, else that of the documents; None is NumPy."""
    own = getattr(model, "_prototype", None)
    found = own() if callable(own) else None
    return source.like if found is None else found


def joined(parts: Iterable[Compositions]) -> Compositions:
    """Parts one after the other."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    return Compositions(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

"""Degenerate data, everything that can be computed from them, and what must hold of the result.

The data are drawn from a random generator, by kind; ``tests/test_soundness.py`` goes through the kinds in a fixed order, and
the campaign draws them at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

import anchorwords as aw
from anchorwords import metrics
from anchorwords.exceptions import (
    AnchorwordsError,
    ConvergenceWarning,
    DegenerateWarning,
    FractionalCountsWarning,
    UndefinedMetricError,
    UnknownWordWarning,
)

# What may be left of a sum that should be one: rounding of a few hundred terms.
ROUNDING = 1e-9
# Metrics that are logarithms of what can be zero.
INFINITE = ("log_relative_volume", "log_relative_volume_all_rows")


def _plain(rng, M, N):
    return rng.integers(0, 4, (M, N))


def _sparse(rng, M, N):
    return rng.integers(1, 4, (M, N)) * (rng.random((M, N)) < 0.15)


def _same_documents(rng, M, N):
    return np.tile(rng.integers(0, 4, (1, N)), (M, 1))


def _constant(rng, M, N):
    return np.full((M, N), rng.integers(1, 5))


def _constant_rows(rng, M, N):
    return np.tile(rng.integers(0, 4, (M, 1)), (1, N))


def _twin_words(rng, M, N):
    X = _plain(rng, M, N)
    return X[:, rng.integers(0, max(1, N // 2), N)]


def _twin_documents(rng, M, N):
    X = _sparse(rng, M, N)
    return X[rng.integers(0, max(1, M // 3), M)]


def _low_rank(rng, M, N):
    return rng.integers(0, 3, (M, 2)) @ rng.integers(0, 3, (2, N))


def _one_document(rng, M, N):
    return rng.integers(0, 4, (1, N))


def _single_tokens(rng, M, N):
    X = np.zeros((M, N), dtype=int)
    X[np.arange(M), rng.integers(0, N, M)] = 1
    X[0] = rng.integers(0, 2, N)
    return X


def _single_words(rng, M, N):
    X = np.zeros((M, N), dtype=int)
    X[np.arange(M), rng.integers(0, N, M)] = rng.integers(1, 5, M)
    return X


def _empty_parts(rng, M, N):
    X = _sparse(rng, M, N)
    X[rng.random(M) < 0.4] = 0
    X[:, rng.random(N) < 0.4] = 0
    return X


def _blocks(rng, M, N):
    """Groups of documents that have no word in common with other groups."""
    n_blocks = int(rng.integers(2, 5))
    documents, words = np.sort(rng.integers(0, n_blocks, M)), np.sort(rng.integers(0, n_blocks, N))
    return rng.integers(0, 4, (M, N)) * (documents[:, None] == words)


def _permutation(rng, M, N):
    X = np.zeros((M, N), dtype=int)
    X[np.arange(M), np.arange(M) % N] = 2
    return X


def _huge(rng, M, N):
    return np.floor(10.0 ** rng.uniform(0.0, 15.0, (M, N))) * (rng.random((M, N)) < 0.4)


def _one_huge(rng, M, N):
    X = _sparse(rng, M, N).astype(float)
    X[rng.integers(M), rng.integers(N)] = 1e15
    return X


def _tiny(rng, M, N):
    return 10.0 ** rng.uniform(-300.0, 0.0, (M, N)) * (rng.random((M, N)) < 0.5)


def _wide_range(rng, M, N):
    return 10.0 ** rng.uniform(-300.0, 15.0, (M, N)) * (rng.random((M, N)) < 0.5)


def _fractional(rng, M, N):
    return rng.random((M, N)) * rng.integers(0, 4, (M, N))


def _just_two(rng, M, N):
    """Documents with two tokens, or what rounding leaves of two."""
    X = rng.random((M, N))
    return 2.0 * X / X.sum(axis=1, keepdims=True)


def _zeros(rng, M, N):
    return np.zeros((M, N), dtype=int)


KINDS: dict[str, Callable[[Any, int, int], Any]] = {
    function.__name__[1:]: function
    for function in (
        _plain, _sparse, _same_documents, _constant, _constant_rows, _twin_words, _twin_documents, _low_rank, _one_document,
        _single_tokens, _single_words, _empty_parts, _blocks, _permutation, _huge, _one_huge, _tiny, _wide_range,
        _fractional, _just_two, _zeros,
    )
}  # fmt: skip

FITS: dict[str, dict[str, Any]] = {
    "enn": {},
    "enn, plain steps": {"rectifier": aw.ENN(relaxation=1.0)},
    "palm": {"rectifier": "palm"},
    "palm, inertial": {"rectifier": aw.PALM(inertial=True)},
    "ap": {"rectifier": "ap"},
    "none": {"rectifier": None},
    "prior-aware": {"composition": "prior-aware"},
    "auto anchors": {"min_anchor_docs": "auto"},
    "refinement": {"refinement": aw.Refinement(n_sweeps=3)},
    "refinement with splits": {"refinement": aw.Refinement(n_sweeps=2, split_sweeps=2, decorrelation=3.0)},
    "refinement of ap": {"rectifier": "ap", "refinement": aw.Refinement(n_sweeps=2)},
    "readers": {"preset": "readers"},
}


@contextmanager
def judged():
    """Let through the warnings that say what is degenerate; any other is an error."""
    with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("error")
        for kind in (ConvergenceWarning, DegenerateWarning, FractionalCountsWarning, UnknownWordWarning):
            warnings.simplefilter("ignore", kind)
        yield


def require_probabilities(p, name, axis=None, *, or_zero=False):
    """Finite, not negative, and with a sum of one along an axis."""
    p = np.asarray(p)
    assert np.isfinite(p).all(), f"{name} is not finite"
    assert (p >= 0.0).all(), f"{name} is negative: {p.min()}"
    sums = p.sum(axis=axis)
    right = np.abs(sums - 1.0) <= ROUNDING
    if or_zero:
        right |= sums == 0.0
    assert np.all(right), f"{name} sums to {np.atleast_1d(sums)[~np.atleast_1d(right)][:3]}"


def require_model(model):
    """All that a model promises."""
    record = getattr(model, "model_", model)
    require_probabilities(record.B, "B", axis=0)
    require_probabilities(record.A, "A")
    np.testing.assert_array_equal(record.A, record.A.T)
    require_probabilities(record.prevalence, "prevalence")
    require_probabilities(record.word_topics, "word_topics", axis=1, or_zero=True)
    assert ((record.anchors >= 0) & (record.anchors < record.B.shape[0])).all()
    assert np.unique(record.anchors).size == record.anchors.size
    if record.anchor_rows is not None:
        rows = record.anchor_rows.toarray() if sp.issparse(record.anchor_rows) else record.anchor_rows
        require_probabilities(rows, "anchor_rows", axis=1, or_zero=True)


def fitted(X, K, fit, n_jobs=1):
    """A model of the data, or the AnchorwordsError that refuses them."""
    options = dict(FITS[fit]) | {"n_jobs": n_jobs}
    preset = options.pop("preset", None)
    make = (
        aw.AnchorTopicModel if preset is None else lambda K, **rest: aw.AnchorTopicModel.from_preset(preset, K, **rest)
    )
    model = make(K, **options).fit(X)
    require_model(model)
    return model


def _transform(model, X, rng):
    require_probabilities(model.transform(X), "proportions", axis=1)


def _transform_others(model, X, rng):
    """Documents unlike those of the fit."""
    N = X.shape[1]
    for kind in ("huge", "tiny", "zeros", "constant", "single_words", "wide_range"):
        Z = KINDS[kind](rng, 4, N)
        require_probabilities(model.transform(Z), f"proportions of {kind} documents", axis=1)


def _prior_aware(model, X, rng):
    model.learn_composition_prior(X)
    assert np.isfinite(model.model_.inference.composition_dual).all()
    for Z in (X, KINDS["huge"](rng, 4, X.shape[1]), KINDS["tiny"](rng, 4, X.shape[1])):
        require_probabilities(model.transform(Z, method="prior-aware"), "prior-aware proportions", axis=1)
    assert model.perplexity(X, method="prior-aware") >= 1.0


def _perplexity(model, X, rng):
    assert 1.0 <= model.perplexity(X) < np.inf
    assert np.isfinite(model.score(X))


def _evaluate(model, X, rng):
    rectified = None
    if model.model_.Y is None:
        rectified = aw.cooccurrence(X)
    found = aw.evaluate(model, X, rectified=rectified, n_draws=5, n_jobs=1)
    for name in (metric.name for metric in metrics.METRICS):
        defined = name not in found["undefined"]
        assert np.isnan(found[name]) != defined, (
            f"{name} is {found[name]}, undefined because {found['undefined'].get(name)}"
        )
        assert not defined or np.isfinite(found[name]) or name in INFINITE, f"{name} is {found[name]}"


def _each_metric(model, X, rng):
    rectified = aw.cooccurrence(X) if model.model_.Y is None else None
    for name in (metric.name for metric in metrics.METRICS):
        try:
            found = aw.evaluate(model, X, rectified=rectified, metrics=[name], n_draws=5, n_jobs=1)
        except UndefinedMetricError:
            continue
        assert np.isnan(found[name]) == (name in found["undefined"]), found


def _stability(model, X, rng):
    found = aw.stability(model, X, n_replicates=3, n_shards=int(rng.integers(2, 6)), n_jobs=1)
    for name, value in vars(found).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), f"{name} of the error bars is not finite"


def _prevalence_by(model, X, rng):
    groups = rng.integers(0, 3, X.shape[0]).astype(str)
    for by_tokens in (False, True):
        found = aw.prevalence_by(model, X, groups, min_docs=1, by_tokens=by_tokens, n_jobs=1)
        means = np.asarray(found.prevalence)
        require_probabilities(means[np.isfinite(means).all(axis=1)], "prevalence of groups", axis=1)


def _tables(model, X, rng):
    K = model.n_components
    aw.topic_table(model, 5)
    aw.anchor_table(model)
    aw.top_words(model, 5)
    aw.characteristic_words(model, 5)
    aw.common_words(model)
    aw.top_documents(model, X, 3)
    ratio = aw.topic_association(model).ratio
    assert ratio.shape == (K, K)
    assert (np.isfinite(ratio) & (ratio >= 0.0)).all()


def _compare(model, X, rng):
    other = fitted(X, int(rng.integers(1, model.n_components + 1)), "enn")
    assert aw.changes(model, other) is not None


USES: dict[str, Callable[[Any, Any, Any], None]] = {
    function.__name__[1:]: function
    for function in (
        _transform, _transform_others, _prior_aware, _perplexity, _evaluate, _each_metric, _stability, _prevalence_by,
        _tables, _compare,
    )
}  # fmt: skip


def _scan(X, K, rng):
    numbers = sorted({1, max(1, K // 2), K})
    found = aw.scan(X, numbers, n_replicates=int(rng.integers(0, 3)), n_jobs=1, keep_models=True)
    for model in (found.models or {}).values():
        require_model(model)


def _sketched(method):
    def sketched(X, K, rng):
        sketch = aw.CooccurrenceSketch(K, method=method, random_state=0)
        half = X.shape[0] // 2
        for part in (X[:half], X[half:]):
            if part.shape[0]:
                sketch.update(part)
        values, vectors = sketch.eigh()
        assert np.isfinite(values).all()
        assert np.isfinite(vectors).all()
        require_model(aw.AnchorTopicModel(min(K, sketch.n_words), n_jobs=1).fit(sketch))
        other = aw.CooccurrenceSketch(K, method=method, random_state=0).update(X)
        (sketch + other).eigh()
        if method == "linear":
            left = (sketch + other) - other
            assert left.n_docs == sketch.n_docs

    return sketched


def _partial_fit(X, K, rng):
    model = aw.AnchorTopicModel(K, n_jobs=1)
    half = max(1, X.shape[0] // 2)
    for part in (X[:half], X[half:]):
        if part.shape[0]:
            model.partial_fit(part)
    require_model(model.model_)
    require_probabilities(model.transform(X), "proportions", axis=1)


def _streamed(X, K, rng):
    blocks = [sp.csr_array(part) for part in np.array_split(X, min(3, X.shape[0]))]
    require_model(aw.AnchorTopicModel(K, n_jobs=1).fit(blocks))


def _statistics(X, K, rng):
    C = aw.cooccurrence(X)
    require_probabilities(C, "C")
    np.testing.assert_array_equal(C, C.T)
    aw.CooccurrenceOperator(X, n_jobs=1).row_norms()


WHOLE: dict[str, Callable[[Any, int, Any], None]] = {
    "scan": _scan,
    "linear sketch": _sketched("linear"),
    "incremental sketch": _sketched("incremental"),
    "partial_fit": _partial_fit,
    "streamed": _streamed,
    "statistics": _statistics,
}


def outcome(function, *arguments) -> str:
    """ "sound", or "refused" for one clear error; everything else is raised."""
    with judged():
        try:
            function(*arguments)
        except AnchorwordsError as error:
            if len(str(error)) < 20:
                raise AssertionError(f"{error!r} says nothing") from error
            return "refused"
        except AttributeError as error:  # of an estimator that has not seen enough yet, so that hasattr works
            if not isinstance(error.__cause__, AnchorwordsError):
                raise
            return "refused"
    return "sound"

"""Degenerate data give valid probabilities or one clear error: never NaN, a warning of NumPy's, or a raw exception.

That nothing hangs is held by limits on every iteration: ENN 1,000 steps, AP 150, PALM 100, the projection to a cone 1,000
rounds per row, least squares on the simplex 10 K + 100 exchanges per row, compositions 130 Newton steps per document, and
the dual matrix of prior-aware compositions 60 steps.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.infer import aware
from anchorwords.kernels.pairs import SparseCorrection
from anchorwords.metrics.volume import anchor_heights, log_simplex_volume
from anchorwords.scanning import directions

from . import degenerate
from .degenerate import FITS, KINDS, USES, WHOLE, fitted, judged, outcome, require_model, require_probabilities

FAST = settings(
    max_examples=25, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@st.composite
def data(draw):
    """Counts of a degenerate kind, a number of topics from 1 to N, and a random generator."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    M, N = draw(st.integers(1, 24)), draw(st.integers(1, 16))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = KINDS[kind](rng, M, N)
    return X, draw(st.one_of(st.just(1), st.just(N), st.integers(1, N))), rng


@pytest.mark.parametrize("fit", FITS)
def test_fits_are_sound_or_refused(fit):
    @FAST
    @given(data())
    def check(drawn):
        X, K, _ = drawn
        outcome(fitted, X, K, fit)

    check()


@pytest.mark.parametrize("use", USES)
def test_uses_of_a_model_are_sound_or_refused(use):
    @FAST
    @given(data(), st.sampled_from(sorted(FITS)))
    def check(drawn, fit):
        X, K, rng = drawn
        found = []
        if outcome(lambda: found.append(fitted(X, K, fit))) == "sound":
            outcome(USES[use], found[0], X, rng)

    check()


@pytest.mark.parametrize("name", WHOLE)
def test_other_computations_are_sound_or_refused(name):
    @FAST
    @given(data())
    def check(drawn):
        outcome(WHOLE[name], *drawn)

    check()


def test_the_checks_notice_what_they_must():
    with pytest.raises(AssertionError, match="not finite"):
        require_probabilities([np.nan, 1.0], "p")
    with pytest.raises(AssertionError, match="negative"):
        require_probabilities([-0.5, 1.5], "p")
    with pytest.raises(AssertionError, match="sums to"):
        require_probabilities([0.5, 0.4], "p")
    with judged(), pytest.raises(RuntimeWarning):
        np.float64(1e300) * np.float64(1e300)
    with pytest.raises(ZeroDivisionError):
        outcome(lambda: 1 / 0)


@pytest.mark.parametrize("seed", range(20))
def test_prior_aware_compositions_of_fewer_documents_than_they_need(seed):
    """As many topics as documents, or more: no compositions have the second moment A."""
    X = np.random.default_rng(seed).integers(0, 3, (40, 60))
    with judged():
        model = aw.AnchorTopicModel(40, composition="prior-aware", n_jobs=1).fit(X)
        require_model(model)
        require_probabilities(model.transform(X), "proportions", axis=1)
    assert np.isfinite(model.composition_prior_.matrix).all()
    assert 0.0 <= model.composition_prior_.mismatch < np.inf


def test_the_dual_matrix_stays_within_its_bounds():
    """All documents alike: the equation of a step has no solution to speak of, and grew without a bound."""
    G, A = np.eye(4), np.diag([0.4, 0.3, 0.2, 0.1])
    with judged():
        found = aware._ascend(G, np.tile([0.4, 0.3, 0.2, 0.1], (5, 1)), A, 1)
    values = np.linalg.eigvalsh(G + found.matrix)
    assert values[0] >= 0.99 * aware._CONVEX
    assert values[-1] <= 1.01 * aware._STEEP
    assert np.isfinite(found.mismatch)


@pytest.mark.parametrize("shape", [(26, 51), (24, 17), (30, 40)])
@pytest.mark.parametrize("seed", range(4))
def test_scans_of_constant_rows(shape, seed):
    rng = np.random.default_rng(seed)
    X = degenerate.KINDS["constant_rows"](rng, *shape)
    with judged():
        aw.scan(X, [1, shape[1] // 2, shape[1]], n_replicates=1, n_jobs=1)


def test_the_largest_eigenvalue_where_a_driver_gives_up(monkeypatch):
    def gives_up(*_, **__):
        raise np.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr(directions.scipy.linalg, "eigh", gives_up)
    assert directions._largest_eigenvalue(np.diag([1.0, 3.0, 2.0])) == pytest.approx(3.0)


def test_the_volume_of_vertices_that_differ_by_rounding():
    vertices = np.array([[1.0, 0.0], [1.0 - 1.1e-16, 0.0]])
    with judged():
        assert log_simplex_volume(vertices) == -np.inf
        np.testing.assert_allclose(anchor_heights(vertices), 0.0, atol=1e-15)


def test_rows_too_short_to_have_a_direction():
    """Their squares underflow: dividing by the least of all numbers made them infinite in single precision."""
    Y = np.array([[1.0, 0.0], [0.0, 1.0], [1e-170, -1e-170], [-0.5, 0.1]])
    with judged():
        found = SparseCorrection(Y, 4, 1)
    assert found.total == pytest.approx(2.0 * 0.5)
    assert np.isfinite(found.times(Y)).all()

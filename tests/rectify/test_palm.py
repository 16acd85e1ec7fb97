from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.linalg.factored import factored_distance
from anchorwords.rectify.palm import gradient, lipschitz_modulus, palm_objective

S = 1e-4


def direct_objective(C, X, Y, s):
    return np.linalg.norm(C - X @ Y.T) ** 2 / 2 + s * np.linalg.norm(X - Y) ** 2 / 2


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    C = aw.cooccurrence(rng.integers(0, 4, (80, 40)))
    return C, rng.random((40, 5)) * 0.05, rng.random((40, 5)) * 0.05


def test_objective_matches_the_direct_formula(problem):
    C, X, Y = problem
    constant = np.linalg.norm(C) ** 2 / 2
    assert palm_objective(X, Y, C @ X, S) + constant == pytest.approx(direct_objective(C, X, Y, S), rel=1e-12)


def test_gradient_matches_finite_differences(problem):
    C, X, Y = problem
    direction = np.random.default_rng(1).standard_normal(X.shape)
    h = 1e-6
    slope = (direct_objective(C, X + h * direction, Y, S) - direct_objective(C, X - h * direction, Y, S)) / (2 * h)
    assert np.sum(gradient(X, C @ Y, Y, S) * direction) == pytest.approx(slope, rel=1e-6)


def test_lemma_1_lipschitz_modulus(problem):
    """|grad(X) - grad(X')| <= L |X - X'|, and the bound is attained along the leading eigenvector of Y'Y."""
    C, X, Y = problem
    L = lipschitz_modulus(Y, S)
    assert pytest.approx(np.linalg.norm(Y.T @ Y + S * np.eye(5), 2), rel=1e-12) == L
    rng = np.random.default_rng(2)
    for _ in range(50):
        other = X + rng.standard_normal(X.shape) * 10.0 ** rng.uniform(-3, 3)
        difference = gradient(X, C @ Y, Y, S) - gradient(other, C @ Y, Y, S)
        assert np.linalg.norm(difference) <= L * np.linalg.norm(X - other) * (1 + 1e-12)
    leading = np.linalg.eigh(Y.T @ Y)[1][:, -1]
    step = np.outer(np.ones(40), leading)
    difference = gradient(X + step, C @ Y, Y, S) - gradient(X, C @ Y, Y, S)
    assert np.linalg.norm(difference) == pytest.approx(L * np.linalg.norm(step), rel=1e-10)


@pytest.mark.parametrize("inertial", [False, True])
def test_objective_never_rises(sampled, inertial):
    C = aw.cooccurrence(sampled.corpus.counts)
    result = aw.rectify_palm(C, 5, max_iter=300, tol=0, inertial=inertial)
    objectives = np.array([step.objective for step in result.history])
    assert (np.diff(objectives) <= 1e-15 * np.linalg.norm(C) ** 2).all()
    assert (result.Y >= 0).all()


def test_inertia_helps(sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    plain, inertial = (aw.rectify_palm(C, 5, max_iter=100, tol=0, inertial=flag) for flag in (False, True))
    assert inertial.history[-1].objective < plain.history[-1].objective


def test_stays_at_a_true_factor(nonnegative_factor):
    C = nonnegative_factor @ nonnegative_factor.T
    for inertial in (False, True):
        result = aw.rectify_palm(C, 6, init=nonnegative_factor, max_iter=50, tol=0, inertial=inertial)
        np.testing.assert_allclose(result.Y, nonnegative_factor, atol=1e-14)


def test_approaches_an_exact_factorisation(nonnegative_factor):
    C = nonnegative_factor @ nonnegative_factor.T
    result = aw.rectify_palm(C, 6, max_iter=5000, tol=1e-7, inertial=True)
    assert np.linalg.norm(result.Y @ result.Y.T - C) < 0.05 * np.linalg.norm(C)


def test_the_sign_of_eigenvectors_does_not_matter(sampled):
    """The start is made sign-free, so two eigensolvers lead to the same answer."""
    from anchorwords.rectify.palm import _clipped_eigenvectors

    values, vectors = np.linalg.eigh(aw.cooccurrence(sampled.corpus.counts))
    first = _clipped_eigenvectors(vectors[:, -5:], values[-5:])
    flipped = _clipped_eigenvectors(-vectors[:, -5:], values[-5:])
    np.testing.assert_allclose(first, flipped, atol=1e-16)
    assert (first.sum(axis=0) > 0).all()


def test_needs_products_only(sampled):
    counts = sampled.corpus.counts
    dense = aw.rectify_palm(aw.cooccurrence(counts), 5, tol=0)
    implicit = aw.rectify_palm(aw.CooccurrenceOperator(counts), 5, tol=0)
    assert factored_distance(implicit.Y, dense.Y) < 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"s": 0}, "s must be a positive number"),
        ({"gamma": 1.0}, "gamma must exceed 1"),
        ({"init": np.ones((3, 2))}, "init must be"),
        ({"init": -np.ones((4, 2))}, "init must be .* negative"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        aw.rectify_palm(np.eye(4) / 4, 2, **options)

"""The least squares against independent solvers, on random, degenerate and real instances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorwords.linalg.simplex import kkt_residual, simplex_least_squares
from tests.least_squares import nnls

# Entries are scaled to at most 2 and K of them are summed: a few hundred units in the last place.
KKT = 1e-12


def by_nnls(P, x):
    """Distance from x to the convex hull of the rows of P, exactly, by a homogenised non-negative problem.

    For lam = t w with w on the simplex, |sum lam (p - x)|^2 + (sum lam - 1)^2 is least at t = 1 / (1 + dist^2), where
    it is dist^2 / (1 + dist^2): minimising it over lam >= 0 minimises the distance over the simplex.
    """
    A = np.vstack([(P - x).T, np.ones(len(P))])
    lam = nnls(A, np.concatenate([np.zeros(P.shape[1]), [1.0]]))
    return lam / lam.sum()


def by_enumeration(P, x):
    """Try every face: exact for few points."""
    best, best_w = np.inf, None
    for size in range(1, len(P) + 1):
        for face in itertools.combinations(range(len(P)), size):
            Q = P[list(face)]
            kkt = np.block([[Q @ Q.T, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            solution = np.linalg.lstsq(kkt, np.append(Q @ x, 1.0), rcond=None)[0][:size]
            if (solution < -1e-12).any():
                continue
            solution = np.maximum(solution, 0) / np.maximum(solution, 0).sum()
            distance = np.linalg.norm(x - solution @ Q)
            if distance < best:
                best, best_w = distance, np.zeros(len(P))
                best_w[list(face)] = solution
    return best_w


def solve(P, X, **options):
    return simplex_least_squares(P @ P.T, X @ P.T, **options)


def check_against(P, X, reference, slack):
    W = solve(P, X)
    assert (W >= 0).all()
    np.testing.assert_allclose(W.sum(axis=1), 1.0, atol=1e-14)
    assert kkt_residual(P @ P.T, X @ P.T, W).max() <= KKT
    for w, x in zip(W, X, strict=True):
        assert np.linalg.norm(x - w @ P) <= np.linalg.norm(x - reference(P, x) @ P) + slack


@pytest.mark.parametrize(("K", "D"), [(1, 1), (1, 4), (2, 1), (5, 5), (20, 20), (50, 50), (60, 200), (30, 5), (8, 2)])
def test_agrees_with_nnls_on_random_points(K, D):
    rng = np.random.default_rng(K * 100 + D)
    check_against(rng.random((K, D)), rng.random((60, D)), by_nnls, 1e-12)


@pytest.mark.parametrize(("K", "D"), [(3, 2), (5, 3), (6, 6), (7, 2)])
def test_agrees_with_enumeration_of_all_faces(K, D):
    rng = np.random.default_rng(K)
    check_against(rng.standard_normal((K, D)), rng.standard_normal((25, D)), by_enumeration, 1e-9)


def degenerate_cases():
    rng = np.random.default_rng(5)
    P = rng.random((6, 6))
    repeated = np.vstack([P, P[2], P[2], P[4]])
    near = np.vstack([P, P[1] + 1e-9 * rng.random(6)])
    zero_row = np.vstack([P, np.zeros(6)])
    collinear = np.outer(np.linspace(-1, 1, 7), np.ones(3))
    inside = np.vstack([P, P.mean(axis=0)])
    scaled = P * np.array([1e-6, 1, 1e3, 1, 1e-3, 1])[:, None]
    return {
        "repeated": repeated, "nearly repeated": near, "zero row": zero_row, "collinear": collinear,
        "point inside the hull": inside, "scales apart": scaled, "one point": P[:1], "all the same": np.tile(P[0], (5, 1)),
        "all zero": np.zeros((4, 3)),
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(degenerate_cases()))
def test_degenerate_points(name):
    P = degenerate_cases()[name]
    rng = np.random.default_rng(9)
    X = np.vstack(
        [
            rng.random((40, P.shape[1])),
            P,
            np.zeros((1, P.shape[1])),
            5 * rng.standard_normal((20, P.shape[1])),
        ]
    )
    # Dependent points may trade weight at rounding level times the distance: compare distances, not weights.
    check_against(P, X, by_nnls, 1e-8 * max(1.0, np.abs(P).max()))


@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-5, 1e-6])
def test_nearly_repeated_points_are_solved_to_rounding(gap):
    rng = np.random.default_rng(4)
    P = rng.random((8, 8))
    P = np.vstack([P, P[:3] + gap * rng.standard_normal((3, 8))])
    X = rng.random((200, 8))
    W = solve(P, X)
    assert kkt_residual(P @ P.T, X @ P.T, W).max() <= 10 * KKT


def test_points_are_their_own_combination():
    rng = np.random.default_rng(1)
    P = rng.random((12, 30))
    np.testing.assert_allclose(solve(P, P), np.eye(12), atol=1e-12)


def test_recovers_weights_of_independent_points():
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.full(40, 0.1), size=10)
    W = rng.dirichlet(np.full(10, 0.3), size=300)
    np.testing.assert_allclose(solve(P, W @ P), W, atol=1e-8)


def test_result_does_not_depend_on_threads():
    rng = np.random.default_rng(3)
    P, X = rng.random((15, 15)), rng.random((3000, 15))
    first = solve(P, X, n_jobs=1)
    for jobs in (2, 3, None, -1):
        np.testing.assert_array_equal(solve(P, X, n_jobs=jobs), first)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32 - 1), st.floats(-3, 3))
def test_optimality_conditions_hold_for_integer_points(K, D, seed, scale):
    # Small integers make ties, repeats and dependence the rule.
    rng = np.random.default_rng(seed)
    P = rng.integers(-2, 3, size=(K, D)) * 10.0**scale
    X = rng.integers(-3, 4, size=(5, D)) * 10.0**scale
    W = solve(P, X)
    assert (W >= 0).all()
    np.testing.assert_allclose(W.sum(axis=1), 1.0, atol=1e-14)
    residual = kkt_residual(P @ P.T, X @ P.T, W)
    # Targets may lie far outside the points: the residual is relative to the points' scale.
    assert residual.max() <= KKT * (1.0 + np.abs(X).max() / max(np.abs(P).max(), 1e-300) if P.any() else 1.0)


@pytest.mark.data
@pytest.mark.parametrize(("name", "n_words", "K"), [("nips12", 1000, 20), ("kos", 1500, 50)])
def test_real_instances_are_solved_to_rounding(real_corpus, name, n_words, K):
    from anchorwords.anchors.lowrank import normalised_coordinates
    from anchorwords.linalg.pivoted import pivot_rows
    from anchorwords.linalg.randomized import randomized_eigh
    from anchorwords.statistics.operator import CooccurrenceOperator

    pairs = randomized_eigh(CooccurrenceOperator(real_corpus(name, n_words).counts), K, random_state=0)
    X = normalised_coordinates(pairs.vectors * np.sqrt(np.maximum(pairs.values, 0))).X
    P = X[pivot_rows(X, K).indices]
    W = solve(P, X)
    assert kkt_residual(P @ P.T, X @ P.T, W).max() <= KKT
    for i in range(0, len(X), 37):
        best = np.linalg.norm(X[i] - by_nnls(P, X[i]) @ P)
        assert np.linalg.norm(X[i] - W[i] @ P) <= best + 1e-12

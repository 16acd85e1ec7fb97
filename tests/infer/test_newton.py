"""The pieces of a Newton step against NumPy, at sizes that leave rests of the blocks of two, four and eight."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.kernels import newton


def a_problem(seed, K, T=8):
    rng = np.random.default_rng(seed)
    rows = rng.gamma(0.5, size=(K, T))
    w = rng.dirichlet(np.ones(K))
    root = rng.random(T)
    D = 10.0 ** rng.uniform(-1, 2, K)
    return rng, rows, w, root, D


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 11])
def test_sums_and_products(K):
    rng, rows, w, root, _ = a_problem(K, K)
    topics = rng.permutation(K)[: max(1, K - 2)]
    p = np.ones(8)
    newton.add_topics(rows, topics, w, p)
    np.testing.assert_allclose(p, 1.0 + rows[topics].T @ w[topics])
    g = np.empty(K)
    newton.topic_products(rows, root, g)
    np.testing.assert_allclose(g, rows @ root)
    r, g, h = rng.random(8), np.empty(K), np.empty(K)
    newton.slopes_and_curvatures(rows, r, root, g, h)
    np.testing.assert_allclose(g, rows @ r)
    np.testing.assert_allclose(h, ((rows * root) ** 2).sum(axis=1))


def test_sums_are_of_the_precision_of_the_vectors():
    _, rows, w, root, _ = a_problem(0, 5)
    single = np.float32
    p, g, h = np.zeros(8, single), np.empty(5), np.empty(5)
    newton.add_topics(rows.astype(single), np.arange(5), w.astype(single), p)
    newton.slopes_and_curvatures(rows.astype(single), p, root.astype(single), g, h)
    np.testing.assert_allclose(p, rows.T @ w, rtol=8 * 2.0**-24)
    np.testing.assert_allclose(g, rows @ (rows.T @ w), rtol=16 * 2.0**-24)
    assert (np.asarray(g, single) == g).all()


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 11])
def test_topics_are_split_by_their_curvature(K):
    _, rows, _, root, D = a_problem(K, K)
    order, U, H = np.empty(K, np.int64), np.empty((K, 8)), np.full((K, K), np.nan)
    curvature = ((rows * root) ** 2).sum(axis=1)
    size = newton.couple_topics(rows, root, curvature, D, order, U, H)
    np.testing.assert_array_equal(np.sort(order), np.arange(K))
    assert set(order[:size]) == set(np.flatnonzero(curvature >= newton._COUPLED * D))
    first = rows[order[:size]] * root
    np.testing.assert_allclose(U[:size], first)
    expected = first @ first.T + np.diag(D[order[:size]])
    np.testing.assert_allclose(np.tril(H[:size, :size]), np.tril(expected))


def moves(rows, root, slope, D, w):
    K, T = rows.shape
    order, U, H, L = np.empty(K, np.int64), np.empty((K, T)), np.empty((K, K)), np.empty((K, K))
    move, v, q = np.empty(K), np.empty(K), np.empty(T)
    size = newton.couple_topics(rows, root, ((rows * root) ** 2).sum(axis=1), D, order, U, H)
    newton.newton_moves(rows, root, slope, D, w, order, size, U, H, L, False, move, v, q)
    np.testing.assert_array_equal(v, move)
    again, q_again = np.empty(K), np.empty(T)
    if (move > (newton._KEEP - 1.0) * w).all():  # the factor is then that of all topics, and may be used once more
        newton.newton_moves(rows, root, slope, D, w, order, size, U, H, L, True, again, v, q_again)
        np.testing.assert_array_equal(again, move)
    np.testing.assert_allclose(q, rows.T @ move, atol=1e-12)
    return move, order[:size], order[size:]


@pytest.mark.parametrize("K", [1, 2, 5, 9])
def test_small_moves_solve_the_newton_equations(K):
    rng, rows, w, root, D = a_problem(K, K)
    slope = 1e-3 * rng.standard_normal(K) * w  # so small that no move meets its bound
    move, together, alone = moves(rows, root, slope, D, w)
    np.testing.assert_allclose(move[alone], slope[alone] / D[alone])
    U = rows * root
    # Of the topics that depend on each other the whole equation holds, with what the others did.
    np.testing.assert_allclose((U @ (U.T @ move) + D * move)[together], slope[together], atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_no_move_passes_its_bound_and_the_rest_is_solved_given_those(seed):
    rng, rows, w, root, D = a_problem(seed, 8)
    slope = rng.standard_normal(8)
    move, together, _ = moves(rows, root, slope, D, w)
    low = (newton._KEEP - 1.0) * w
    assert (move >= low).all()
    free = together[move[together] > low[together]]
    U = rows * root
    np.testing.assert_allclose((U @ (U.T @ move) + D * move)[free], slope[free], atol=1e-9)


def test_topics_that_are_the_same_do_not_break_the_factor():
    # Two equal topics and no prior to speak of: H has no inverse, but the move is finite and their sum right.
    rows = np.tile(np.linspace(0.1, 1.0, 8), (2, 1))
    w, root = np.array([0.5, 0.5]), np.ones(8)
    move, _, _ = moves(rows, root, np.full(2, 0.1), np.full(2, 1e-30), w)
    assert np.isfinite(move).all()
    np.testing.assert_allclose(rows[0] @ rows[0] * move.sum(), 0.1, rtol=1e-6)

"""The pieces of a Newton step against NumPy, at sizes that leave rests of the blocks of two, four and eight."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.kernels import newton

# As plain Python.
slopes_and_curvatures, couple_topics, bounded_solve = (
    function.py_func for function in (newton.slopes_and_curvatures, newton.couple_topics, newton.bounded_solve)
)


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
    newton.add_topics(rows, topics, 0, topics.size, w, p)
    np.testing.assert_allclose(p, 1.0 + rows[topics].T @ w[topics])
    some = np.zeros(8)
    newton.add_topics(rows, topics, 1, topics.size, w, some)
    np.testing.assert_allclose(some, rows[topics[1:]].T @ w[topics[1:]])
    g = np.empty(K)
    newton.topic_products(rows, K, root, g)
    np.testing.assert_allclose(g, rows @ root, rtol=1e-6)


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 11])
def test_slopes_and_curvatures(K):
    rng, rows, w, _, _ = a_problem(K, K)
    share, a, p, damping = rng.random(8), rng.random(K), rng.random(8), 0.25
    r, root, h, slope, D = np.empty(8), np.empty(8), np.empty(K), np.empty(K), np.empty(K)
    gap = slopes_and_curvatures(rows, share, a, w, p, damping, r, root, h, slope, D)
    g = rows @ (share / p)
    np.testing.assert_allclose(h, (rows**2) @ (share / p**2))
    np.testing.assert_allclose(slope, g + a / w - 1.0)
    np.testing.assert_allclose(D, (np.maximum(1.0 - g, a / w) + damping) / w)
    assert gap == max(slope.max(), 0.0)
    w[0] = np.nan
    assert slopes_and_curvatures(rows, share, a, w, p, damping, r, root, h, slope, D) == np.inf


def test_sums_are_of_the_precision_of_the_vectors():
    _, rows, w, _, _ = a_problem(0, 5)
    single = np.float32
    p, g = np.zeros(8, single), np.empty(5)
    newton.add_topics(rows.astype(single), np.arange(5), 0, 5, w.astype(single), p)
    newton.topic_products(rows.astype(single), 5, p, g)
    np.testing.assert_allclose(p, rows.T @ w, rtol=8 * 2.0**-24)
    np.testing.assert_allclose(g, rows @ (rows.T @ w), rtol=16 * 2.0**-24)
    assert (np.asarray(g, single) == g).all()


@pytest.mark.parametrize("K", [1, 2, 3, 4, 5, 8, 11])
def test_topics_are_split_by_their_curvature(K):
    _, rows, _, root, D = a_problem(K, K)
    order, U, H = np.empty(K, np.int64), np.empty((K, 8)), np.full((K, K), np.nan)
    curvature = ((rows * root) ** 2).sum(axis=1)
    size = couple_topics(rows, root, curvature, D, order, U, H)
    np.testing.assert_array_equal(np.sort(order), np.arange(K))
    assert set(order[:size]) == set(np.flatnonzero(curvature >= newton._COUPLED * D))
    first = rows[order[:size]] * root
    np.testing.assert_allclose(U[:size], first)
    expected = first @ first.T + np.diag(D[order[:size]])
    np.testing.assert_allclose(np.tril(H[:size, :size]), np.tril(expected))


def moves(rows, root, slope, D, w):
    """The moves of one Newton step, as the kernel puts them together."""
    K, T = rows.shape
    order, U, H, L = np.empty(K, np.int64), np.empty((K, T)), np.empty((K, K)), np.empty((K, K))
    size = couple_topics(rows, root, ((rows * root) ** 2).sum(axis=1), D, order, U, H)
    together, alone, low = order[:size], order[size:], (newton.KEEP - 1.0) * w
    move, z, free = np.empty(K), np.empty(K), np.empty(K, np.int64)
    move[alone] = np.maximum(slope[alone] / D[alone], low[alone])
    left = slope[together] - U[:size] @ (root * (rows[alone].T @ move[alone]))
    bounded_solve(H, left.copy(), w, move, order, size, L, False, z, free)
    if (move > low).all():  # the factor is then that of all topics, and may be used once more
        again = move.copy()
        bounded_solve(H, left.copy(), w, again, order, size, L, True, z, free)
        np.testing.assert_array_equal(again, move)
    return move, together, alone


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
    low = (newton.KEEP - 1.0) * w
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

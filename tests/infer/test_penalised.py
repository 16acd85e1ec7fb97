from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorwords.exceptions import InputError
from anchorwords.infer.penalised import GAP, ScaledTopics, penalised_compositions
from anchorwords.infer.prior import Prior, concentration, prior_from, prior_of

# Probabilities are rounded to single precision, and so are their mixtures: g changes by a share of 2^-24 twice.
ROUNDING = 2.0**-23


def some_topics(rng, N, K, density=0.7):
    B = rng.gamma(0.3, size=(N, K)) * (rng.random((N, K)) < density)
    B[0] += 0.01
    return B / B.sum(axis=0)


def by_em(x, B, alpha, steps=20_000):
    """The readable reference: EM, w_k <- (w_k sum_i x_i B_ik / p_i + alpha_k) / (n + alpha_0)."""
    known = (x > 0) & B.any(axis=1)
    x, B = x[known], B[known]
    w = np.full(alpha.size, 1.0 / alpha.size)
    for _ in range(steps):
        w = w * (B.T @ (x / (B @ w))) + alpha
        w /= w.sum()
    return w


def first_estimate(x, B, alpha):
    """Ten EM steps from half an even start, half the prior; after the first each with the same responsibilities twice."""
    known = (x > 0) & B.any(axis=1)
    x, B, a = x[known], B[known], alpha / (x[known].sum() + alpha.sum())
    w = 0.5 * alpha / alpha.sum() + 0.5 / alpha.size
    for step in range(10):
        g = B.T @ (x / (B @ w)) / (x.sum() + alpha.sum())
        w = w * g + a
        if step > 0:
            w = w * g + a
        w /= w.sum()
    return w


def by_two_problems(x, B, prior):
    """All of it in plain words: penalties at the first estimate, the optimum with penalised topics, the mean."""
    tokens = x @ B.any(axis=1) + prior.weights.sum()
    d = 1.0 + prior.penalties / (tokens * first_estimate(x, B, prior.weights))
    u = by_em(x, B / d, prior.weights)
    mean = prior.parameters + tokens * u - prior.weights
    return mean / mean.sum()


def objective(x, B, alpha, w):
    known = (x > 0) & B.any(axis=1)
    return float(x[known] @ np.log(B[known] @ w) + alpha @ np.log(w)) / (x[known].sum() + alpha.sum())


def slack(x, B, alpha, w):
    """Largest g_k + a_k / w_k - 1: what the objective can still gain at most."""
    known = (x > 0) & B.any(axis=1)
    g = B[known].T @ (x[known] / (B[known] @ w)) + alpha / w
    return float(g.max() / (x[known].sum() + alpha.sum()) - 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_optimum(seed):
    rng = np.random.default_rng(seed)
    K, N = int(rng.integers(1, 9)), 20
    B = some_topics(rng, N, K)
    X = rng.poisson(1.5, size=(6, N)).astype(float)
    alpha = 10 ** rng.uniform(-1, 1) * rng.dirichlet(np.full(K, 2.0)) + 1e-3
    found = penalised_compositions(sp.csr_array(X), B, alpha)
    assert found.gap.max() <= GAP
    for m, x in enumerate(X):
        w = found.weights[m]
        # The gap is that of the weights as they are.
        assert found.gap[m] == pytest.approx(max(slack(x, B, alpha, w), 0.0), abs=1.01 * ROUNDING)
        # The certificate bounds the objective; where the prior weighs, the composition too.
        expected = by_em(x, B, alpha)
        assert objective(x, B, alpha, w) >= objective(x, B, alpha, expected) - GAP - ROUNDING
        np.testing.assert_allclose(w, expected, atol=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_with_fees_it_is_the_mean_of_what_they_leave(seed):
    rng = np.random.default_rng(seed)
    K, N = int(rng.integers(1, 9)), 20
    B = some_topics(rng, N, K)
    X = rng.poisson(10 ** rng.uniform(-0.5, 1), size=(6, N)).astype(float)
    prior = prior_from(10 ** rng.uniform(-1, 1) * rng.dirichlet(np.full(K, 2.0)) + 1e-2)
    found = penalised_compositions(sp.csr_array(X), B, prior)
    assert found.gap.max() <= GAP
    for m, x in enumerate(X):
        np.testing.assert_allclose(found.weights[m], by_two_problems(x, B, prior), atol=1e-3)  # as without penalties
        known = B.any(axis=1)
        assert found.log_likelihood[m] == pytest.approx(x[known] @ np.log(B[known] @ found.weights[m]), rel=1e-6)
        # Back from the mean to the solution, whose gap with penalised topics is what was certified; the first estimate was
        # made in single precision, with some 1e-6 in ten steps, and d may be a hundred times as large as its change.
        n, alpha = x @ known, prior.weights
        u = (found.weights[m] * (n + prior.parameters.sum()) - prior.parameters + alpha) / (n + alpha.sum())
        d = 1.0 + prior.penalties / ((n + alpha.sum()) * first_estimate(x, B, alpha))
        assert slack(x, B / d, alpha, u) <= GAP + 1e-4


def test_without_fees_it_is_the_mode():
    rng = np.random.default_rng(6)
    B = some_topics(rng, 40, 6)
    X = sp.csr_array(rng.poisson(1.0, size=(20, 40)).astype(float))
    alpha = rng.dirichlet(np.ones(6))
    mode = penalised_compositions(X, B, alpha)
    for one, other in zip(mode, penalised_compositions(X, B, Prior(alpha, np.zeros(6), alpha)), strict=True):
        np.testing.assert_array_equal(one, other)
    # A flat prior has next to no penalties, and nearly all of its weight: 1e6 parameters lose a third of a token.
    flat = penalised_compositions(X, B, prior_from(1e6 * alpha)).weights
    np.testing.assert_allclose(flat, penalised_compositions(X, B, 1e6 * alpha).weights, atol=1e-5)


def test_topics_that_are_not_there_keep_no_more_than_the_prior():
    """Documents of one topic among ten with words in common: the mode spreads tokens over the others, penalties do not."""
    rng = np.random.default_rng(7)
    K, n = 10, 200
    B = np.ascontiguousarray(
        0.5 * rng.dirichlet(np.full(300, 0.1), K).T + 0.5 * rng.dirichlet(np.full(300, 0.1))[:, None]
    )
    own = np.arange(100) % K
    X = sp.csr_array(np.array([rng.multinomial(n, B[:, k]) for k in own]).astype(float))
    prior = prior_from(np.full(K, 0.02))
    mode = 1.0 - penalised_compositions(X, B, prior.weights).weights[np.arange(100), own]
    left = 1.0 - penalised_compositions(X, B, prior).weights[np.arange(100), own]
    # Nine topics of the prior's 0.02 tokens; half of the documents have nothing more.
    at_least = 9 * 0.02 / (n + 0.2)
    assert (left >= at_least * (1 - 1e-6)).all()
    assert np.median(left) < 2 * at_least
    assert left.mean() < 0.6 * mode.mean()


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(6))
def test_every_prior_is_solved(seed, size):
    rng = np.random.default_rng(seed)
    K, N = int(rng.integers(2, 12)), 15
    B = some_topics(rng, N, K, 0.5)
    X = rng.poisson(10 ** rng.uniform(-1, 1), size=(10, N)).astype(float)
    alpha = size * rng.dirichlet(np.full(K, 0.5)) + 1e-3 * size
    require_solved(X, B, alpha)


def require_solved(X, B, alpha):
    """Rows on the simplex, no zero, no NaN, and the gap small and honest."""
    found = penalised_compositions(sp.csr_array(X), B, alpha)
    assert np.isfinite(found.log_likelihood).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-12)
    assert (found.weights > 0).all()
    assert found.gap.max() <= GAP
    for m, x in enumerate(X):
        if x @ B.any(axis=1) > 0:
            # Where counts differ by many orders of magnitude, double precision moves g by more than an epsilon too.
            expected = max(slack(x, B, alpha, found.weights[m]), 0.0)
            assert found.gap[m] == pytest.approx(expected, abs=1e-8 + 1.01 * ROUNDING)
    for parameters in (alpha, alpha + 0.1):
        charged = penalised_compositions(sp.csr_array(X), B, prior_from(parameters))
        assert np.isfinite(charged.log_likelihood).all()
        np.testing.assert_allclose(charged.weights.sum(axis=1), 1.0, atol=1e-12)
        assert (charged.weights > 0).all()
        assert charged.gap.max() <= GAP
    return found


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    K=st.sampled_from([1, 2, 3, 5, 9, 30]),
    N=st.sampled_from([1, 2, 5, 8, 20, 60]),
    density=st.sampled_from([0.1, 0.4, 1.0]),
    concentration=st.floats(-9, 3),
    kind=st.sampled_from(["plain", "repeated", "own", "tiny"]),
    counts=st.sampled_from(["plain", "huge", "mixed", "small"]),
)
def test_documents_of_every_kind_are_solved(seed, K, N, density, concentration, kind, counts):
    """More topics than types, repeated topics, words of one topic with next to no prior, counts of any size."""
    rng = np.random.default_rng(seed)
    B = rng.gamma(0.2, size=(N, K)) * (rng.random((N, K)) < density)
    if kind == "repeated":
        B[:, K // 2 :] = B[:, : K - K // 2] * (1.0 + 1e-9 * rng.random((N, K - K // 2)))
    elif kind == "own":
        B = np.eye(N, K) + 1e-12 * B
    elif kind == "tiny":
        B *= 10.0 ** rng.uniform(-30, 0, (N, 1))
    B[rng.integers(N)] += 1e-3
    B[B < 1e-60] = 0.0
    B /= B.sum(axis=0)
    alpha = 10.0**concentration * (rng.dirichlet(np.full(K, 0.3)) + 1e-9)
    X = rng.poisson(1.0, (4, N)).astype(float)
    X *= {"plain": 1.0, "huge": 1e9, "mixed": 10.0 ** rng.uniform(0, 9, X.shape), "small": 1e-6}[counts]
    require_solved(X, B, alpha)


def test_a_document_is_the_same_alone_and_in_any_batch_and_with_any_threads():
    rng = np.random.default_rng(0)
    B = some_topics(rng, 80, 12)
    X = sp.csr_array(rng.poisson(10.0 ** rng.uniform(-2, 0.5, (150, 1)), size=(150, 80)).astype(float))
    alpha = rng.dirichlet(np.ones(12))
    for prior in (alpha, prior_from(alpha)):
        whole = penalised_compositions(X, B, prior, n_jobs=1).weights
        np.testing.assert_array_equal(whole, penalised_compositions(X, B, prior, n_jobs=3).weights)
        order = rng.permutation(150)
        np.testing.assert_array_equal(whole[order], penalised_compositions(X[order], B, prior).weights)
        for m in (0, 7, 149):
            np.testing.assert_array_equal(whole[[m]], penalised_compositions(X[[m]], B, prior).weights)


@pytest.mark.parametrize("order", ["C", "F"])
def test_topics_scaled_once_serve_every_block(order):
    rng = np.random.default_rng(5)
    B = np.asarray(some_topics(rng, 300, 11), order=order)
    X = sp.csr_array(rng.poisson(0.2, size=(200, 300)).astype(float))
    topics, alpha = ScaledTopics(B), rng.dirichlet(np.ones(11))
    whole = penalised_compositions(X, B, alpha)
    # Few documents, whose words alone are scaled; many, for which all are; and few again.
    for rows in (slice(0, 1), slice(1, 150), slice(150, 151), slice(151, 200)):
        part = penalised_compositions(X[rows], topics, alpha)
        for found, expected in zip(part, whole, strict=True):
            np.testing.assert_array_equal(found, expected[rows])


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64])
def test_topics_of_any_type_are_taken(kind):
    B = np.array([[2, 0], [1, 3], [0, 1]], dtype=kind)
    X, alpha = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 1.0, 4.0]]), np.array([0.2, 0.3])
    np.testing.assert_array_equal(
        penalised_compositions(X, B, alpha).weights, penalised_compositions(X, B.astype(float), alpha).weights
    )


def test_arrays_with_gaps_are_taken():
    wide = np.arange(1.0, 13.0)
    X = sp.csr_array(
        (wide[::2], np.array([0, 9, 1, 9, 2, 9, 0, 9, 1, 9, 2, 9])[::2], np.array([0, 3, 6])), shape=(2, 3)
    )
    B, alpha = np.array([[0.7, 0.0], [0.2, 0.3], [0.1, 0.7]]), np.array([0.2, 0.3])
    np.testing.assert_array_equal(
        penalised_compositions(X, B, alpha).weights, penalised_compositions(sp.csr_array(X.toarray()), B, alpha).weights
    )


@pytest.mark.parametrize("count", [1e20, 1e40, 1e46, 1e100, 1e300])
def test_counts_beyond_single_precision_are_solved(count):
    # Each word has its own topic: w = (x + alpha) / (n + alpha_0).
    alpha = np.array([0.1, 0.1])
    found = penalised_compositions(sp.csr_array([[count, 1.0]]), np.eye(2), alpha)
    assert found.gap[0] <= GAP
    charged = penalised_compositions(sp.csr_array([[count, 1.0]]), np.eye(2), prior_from(alpha))
    assert charged.gap[0] <= GAP
    np.testing.assert_allclose(charged.weights[0, 0], 1.0, rtol=1.1 * GAP)
    np.testing.assert_allclose(found.weights[0, 0], 1.0, rtol=1.1 * GAP)  # as x_1 / (n w_1) - 1 is at most the gap


def test_what_cannot_be_solved_is_the_prior_and_says_so():
    alpha = np.array([0.3, 0.1])
    found = penalised_compositions(sp.csr_array([[1.7e308, 1.7e308]]), np.eye(2), alpha)  # their sum is no number
    np.testing.assert_allclose(found.weights, [[0.75, 0.25]])
    assert found.gap[0] == np.inf
    charged = penalised_compositions(sp.csr_array([[1.7e308, 1.7e308]]), np.eye(2), prior_from(alpha))
    np.testing.assert_allclose(charged.weights, [[0.75, 0.25]])
    assert charged.gap[0] == np.inf


def test_long_documents_are_solved():
    rng = np.random.default_rng(8)
    B = rng.dirichlet(np.full(40_000, 0.3), 5).T
    X = sp.csr_array(np.ones((1, 40_000)))
    found = penalised_compositions(X, np.ascontiguousarray(B), np.full(5, 0.1))
    assert found.gap[0] <= GAP
    assert found.gap[0] == pytest.approx(
        max(slack(np.ones(40_000), B, np.full(5, 0.1), found.weights[0]), 0.0), abs=1e-6
    )


def test_without_a_known_word_it_is_the_prior():
    B = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    alpha = np.array([0.3, 0.1])
    found = penalised_compositions(sp.csr_array([[0.0, 0, 0], [0, 0, 5.0]]), B, alpha)
    np.testing.assert_allclose(found.weights, [[0.75, 0.25]] * 2)
    charged = penalised_compositions(sp.csr_array([[0.0, 0, 0], [0, 0, 5.0]]), B, prior_from(alpha))
    np.testing.assert_allclose(charged.weights, [[0.75, 0.25]] * 2)
    np.testing.assert_array_equal(found.n_known, [0, 0])
    np.testing.assert_array_equal(found.gap, [0, 0])
    assert penalised_compositions(sp.csr_array((0, 3)), B, alpha).weights.shape == (0, 2)


def test_words_the_model_does_not_know_change_nothing():
    rng = np.random.default_rng(3)
    B = np.vstack([some_topics(rng, 10, 3), np.zeros((2, 3))])
    X = rng.poisson(2.0, (5, 12)).astype(float)
    alpha = np.array([0.2, 0.3, 0.4])
    found = penalised_compositions(sp.csr_array(X), B, alpha)
    without = penalised_compositions(sp.csr_array(X[:, :10]), B[:10], alpha)
    np.testing.assert_array_equal(found.weights, without.weights)
    np.testing.assert_array_equal(found.n_known, X[:, :10].sum(axis=1))


def test_one_topic_is_all_there_is():
    B = np.array([[0.2], [0.8]])
    found = penalised_compositions(sp.csr_array([[3.0, 1.0]]), B, np.array([0.1]))
    np.testing.assert_allclose(found.weights, [[1.0]])
    np.testing.assert_allclose(found.log_likelihood, 3 * np.log(0.2) + np.log(0.8))


def test_one_word_of_two_topics():
    # With one word the slopes are x B_k / p + alpha_k / w_k: two topics with the same B_k share as their alpha.
    found = penalised_compositions(sp.csr_array([[5.0]]), np.array([[0.5, 0.5]]), np.array([0.3, 0.1]))
    np.testing.assert_allclose(found.weights, [[0.75, 0.25]], atol=1e-6)


@pytest.mark.parametrize("count", [1.0, 1e3, 1e6, 1e9])
def test_a_word_whose_only_topic_has_next_to_no_prior_keeps_it(count):
    # The second word is of the second topic alone, the first of both: w_2 = (1 + its share of the first) / n at least.
    B = np.array([[1.0, 0.3], [0.0, 0.7]])
    found = penalised_compositions(sp.csr_array([[count, 1.0]]), B, np.array([1.0, 1e-9]))
    assert found.gap[0] <= GAP
    assert found.weights[0, 1] >= 1.0 / (count + 2.0)


def test_counts_and_prior_of_another_size_give_the_same_composition():
    rng = np.random.default_rng(4)
    B = some_topics(rng, 30, 6)
    X = sp.csr_array(rng.poisson(1.0, (10, 30)).astype(float))
    alpha = rng.dirichlet(np.ones(6))
    one = penalised_compositions(X, B, alpha)
    other = penalised_compositions(1e-4 * X, B, 1e-4 * alpha)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-12)
    np.testing.assert_allclose(1e-4 * one.log_likelihood, other.log_likelihood, rtol=1e-12)


def test_words_in_another_unit_give_the_same_composition():
    # A row of B times a number moves the likelihood by a constant.
    rng = np.random.default_rng(5)
    B = some_topics(rng, 30, 6)
    unit = 10.0 ** rng.uniform(-6, 0, (30, 1))
    X = sp.csr_array(rng.poisson(1.0, (10, 30)).astype(float))
    alpha = rng.dirichlet(np.ones(6))
    one = penalised_compositions(X, B, alpha)
    other = penalised_compositions(X, unit * B, alpha)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-10)
    np.testing.assert_allclose(one.log_likelihood + X @ np.log(unit[:, 0]), other.log_likelihood, rtol=1e-9)


@pytest.mark.parametrize("alpha", [[0.1, 0.0], [0.1, -1.0], [0.1, np.nan], [0.1, np.inf], [0.1]])
def test_the_prior_must_be_positive(alpha):
    with pytest.raises(InputError, match="one positive number for each of the 2 topics"):
        penalised_compositions(sp.csr_array(np.ones((1, 3))), np.full((3, 2), 1 / 3), np.array(alpha))


@pytest.mark.parametrize(
    ("penalties", "parameters", "message"),
    [
        ([0.5], [1.0, 1.0], "penalties must hold one number from 0 to 1"),
        ([0.5, 1.5], [1.0, 1.0], "penalties must hold one number from 0 to 1"),
        ([0.5, np.nan], [1.0, 1.0], "penalties must hold one number from 0 to 1"),
        ([0.5, 0.5], [1.0, 0.0], "parameters must hold one positive number"),
        ([0.5, 0.5], [1.0], "parameters must hold one positive number"),
    ],
)
def test_all_of_the_prior_is_checked(penalties, parameters, message):
    prior = Prior(np.ones(2), np.array(penalties), np.array(parameters))
    with pytest.raises(InputError, match=message):
        penalised_compositions(sp.csr_array(np.ones((1, 3))), np.full((3, 2), 1 / 3), prior)


def test_columns_must_be_the_models():
    with pytest.raises(InputError, match="knows 3 words, but the documents have 2"):
        penalised_compositions(sp.csr_array(np.ones((1, 2))), np.ones((3, 1)) / 3, np.ones(1))


def test_of_words_with_a_topic_of_their_own_it_is_counting():
    # Each word has its own topic: w = (x + alpha) / (n + alpha_0), the mean of the Dirichlet posterior.
    alpha = np.array([0.5, 0.2, 0.1])
    x = np.array([[7.0, 0.0, 2.0], [0.0, 0.0, 1e9]])
    found = penalised_compositions(sp.csr_array(x), np.eye(3), alpha)
    expected = (x + alpha) / (x + alpha).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.weights, expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.log_likelihood, np.sum(x * np.log(expected), axis=1), rtol=1e-6)


def test_topics_in_another_order_are_the_answer_in_that_order():
    rng = np.random.default_rng(1)
    B = some_topics(rng, 40, 7)
    X = sp.csr_array(rng.poisson(1.0, size=(20, 40)).astype(float))
    alpha = rng.dirichlet(np.ones(7)) * 2
    order = rng.permutation(7)
    one = penalised_compositions(X, B, alpha).weights
    other = penalised_compositions(X, np.ascontiguousarray(B[:, order]), alpha[order]).weights
    np.testing.assert_allclose(one[:, order], other, atol=1e-6)  # each is as near the optimum, by another rounding


def maximum_likelihood(X, B, steps=5000):
    """Log-likelihood of each document after many EM steps, and an upper bound on its maximum."""
    tokens = X.sum(axis=1)
    share = X / tokens[:, None]
    w = np.full((len(X), B.shape[1]), 1.0 / B.shape[1])
    for _ in range(steps):
        w *= (share / (w @ B.T)) @ B
    p = w @ B.T
    # The log-likelihood per token is concave with gradient g, and g'w = 1, so that it is below its maximum by at most
    # max g - 1.
    gap = ((share / p) @ B).max(axis=1) - 1.0
    likelihood = (X * np.log(p)).sum(axis=1)
    return likelihood, likelihood + tokens * gap


def test_with_a_vanishing_prior_it_is_maximum_likelihood():
    rng = np.random.default_rng(2)
    B = some_topics(rng, 50, 6)
    X = sp.csr_array(rng.poisson(1.0, size=(30, 50)).astype(float))
    likelihood, bound = maximum_likelihood(X.toarray(), B)
    tokens = X.sum(axis=1)
    for size in (1e-3, 1e-6, 1e-9):
        penalised = penalised_compositions(X, B, np.full(6, size))
        # The optimum of the one is at most GAP and what the prior gives, some 20 size a topic, below that of the other.
        assert (penalised.log_likelihood <= bound + 1e-8 * tokens).all()
        assert (penalised.log_likelihood >= likelihood - GAP * (tokens + 1) - 6 * 20 * size).all()


def test_recovers_the_proportions_of_long_documents():
    rng = np.random.default_rng(1)
    B = np.ascontiguousarray(rng.dirichlet(np.full(200, 0.1), size=6).T)
    w = rng.dirichlet(np.full(6, 0.5), size=20)
    X = sp.csr_array(rng.multinomial(100_000, w @ B.T).astype(float))
    found = penalised_compositions(X, B, prior_from(np.full(6, 0.5))).weights
    # Standard error about sqrt(1 / 100,000) = 0.003 times a modest condition number.
    np.testing.assert_allclose(found, w, atol=0.02)


def test_with_an_overwhelming_prior_it_is_the_prior():
    rng = np.random.default_rng(2)
    B = some_topics(rng, 50, 6)
    X = sp.csr_array(rng.poisson(1.0, size=(30, 50)).astype(float))
    shares = rng.dirichlet(np.ones(6))
    found = penalised_compositions(X, B, 1e9 * shares).weights
    np.testing.assert_allclose(found, np.tile(shares, (30, 1)), atol=1e-6)  # some 50 tokens against 1e9


def second_moment(alpha):
    """E[w w'] of a Dirichlet."""
    p = alpha / alpha.sum()
    return (alpha.sum() * np.outer(p, p) + np.diag(p)) / (alpha.sum() + 1.0)


@pytest.mark.parametrize("alpha", [[0.5, 0.5], [2.0, 1.0, 0.2], [0.01] * 5])
def test_the_concentration_of_a_dirichlet_is_found(alpha):
    alpha = np.array(alpha)
    assert concentration(second_moment(alpha)) == pytest.approx(alpha.sum())
    weights, penalties, parameters = prior_of(second_moment(alpha))
    np.testing.assert_allclose(parameters, alpha)
    # Each weight is a shrunk parameter, the smaller the more, and none by more than the constant;
    # penalties are what is left out.
    assert ((weights > 0) & (weights < alpha) & (weights > alpha - 0.3)).all()
    np.testing.assert_allclose(weights / parameters + penalties, 1.0)
    by_size = np.argsort(alpha)
    assert (np.diff((weights / alpha)[by_size]) >= -1e-12).all()


def test_correlations_that_say_nothing_give_a_finite_prior():
    for A in (np.eye(3) / 3, np.full((3, 3), 1 / 9), np.diag([0.5, 0.5, 0.0]), np.ones((1, 1))):
        prior = prior_of(A)
        assert np.isfinite(prior).all()
        assert (prior.weights > 0).all()
        assert ((prior.penalties >= 0) & (prior.penalties <= 1)).all()


# The benchmark composition_error in small.
@pytest.mark.parametrize("length", [20, 100, 1000])
@pytest.mark.parametrize("prior", ["even", "skewed", "dense", "sparse", "sparsest"])
def test_posterior_mean_beats_a_wrong_prior_and_is_level_with_the_true_one(prior, length):
    # scikit-learn's transform, given the true topics: variational, with its default prior 1/K and with the true one.
    from sklearn.decomposition import LatentDirichletAllocation

    rng = np.random.default_rng(length)
    K, N, M = 10, 500, 300
    alpha = {
        "even": np.full(K, 0.5), "skewed": 3.0 / np.arange(1, K + 1), "dense": np.ones(K),
        "sparse": np.full(K, 0.05), "sparsest": np.full(K, 0.02),
    }[prior]  # fmt: skip
    B = rng.dirichlet(np.full(N, 0.05), K).T
    W = rng.dirichlet(alpha, M)
    X = sp.csr_matrix(np.array([rng.multinomial(length, B @ w) for w in W]), dtype=float)

    def error(weights):
        return np.abs(weights - W).sum(axis=1).mean() / 2

    def variational(parameter):
        model = LatentDirichletAllocation(K, doc_topic_prior=parameter, max_iter=1, random_state=0).fit(X[:1])
        model.exp_dirichlet_component_ = np.maximum(B.T, 1e-12)
        return error(model.transform(X))

    ours = error(penalised_compositions(X, B, prior_of(second_moment(alpha))).weights)
    assert ours < variational(None)
    assert ours < 1.05 * variational(min(alpha.mean(), 1.0))

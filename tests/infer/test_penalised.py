from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords.infer.fold_in import fold_in
from anchorwords.infer.penalised import GAP, penalised_compositions
from anchorwords.infer.prior import concentration, prior_weights


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
        assert slack(x, B, alpha, w) <= 2 * GAP
        # The certificate bounds the objective; where the prior weighs, the composition too.
        expected = by_em(x, B, alpha)
        assert objective(x, B, alpha, w) >= objective(x, B, alpha, expected) - GAP
        np.testing.assert_allclose(w, expected, atol=1e-3)


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(6))
def test_every_prior_is_solved(seed, size):
    rng = np.random.default_rng(seed)
    K, N = int(rng.integers(2, 12)), 15
    B = some_topics(rng, N, K, 0.5)
    X = rng.poisson(10 ** rng.uniform(-1, 1), size=(10, N)).astype(float)
    alpha = size * rng.dirichlet(np.full(K, 0.5)) + 1e-3 * size
    found = penalised_compositions(sp.csr_array(X), B, alpha)
    assert np.isfinite(found.weights).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-12)
    assert (found.weights > 0).all()
    assert found.gap.max() <= 1e-6
    for x, w in zip(X, found.weights, strict=True):
        if (x @ B.any(axis=1)) > 0:
            assert slack(x, B, alpha, w) <= 2e-6


def test_a_document_is_the_same_alone_and_in_any_batch_and_with_any_threads():
    rng = np.random.default_rng(0)
    B = some_topics(rng, 80, 12)
    X = sp.csr_array(rng.poisson(0.5, size=(150, 80)).astype(float))
    alpha = rng.dirichlet(np.ones(12))
    whole = penalised_compositions(X, B, alpha, n_jobs=1).weights
    np.testing.assert_array_equal(whole, penalised_compositions(X, B, alpha, n_jobs=3).weights)
    order = rng.permutation(150)
    np.testing.assert_array_equal(whole[order], penalised_compositions(X[order], B, alpha).weights)
    for m in (0, 7, 149):
        np.testing.assert_array_equal(whole[[m]], penalised_compositions(X[[m]], B, alpha).weights)


def test_without_a_known_word_it_is_the_prior():
    B = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    alpha = np.array([0.3, 0.1])
    found = penalised_compositions(sp.csr_array([[0.0, 0, 0], [0, 0, 5.0]]), B, alpha)
    np.testing.assert_allclose(found.weights, [[0.75, 0.25]] * 2)
    np.testing.assert_array_equal(found.n_known, [0, 0])


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
    np.testing.assert_allclose(one[:, order], other, atol=1e-5)  # each is within a few millionths of the optimum


def test_with_a_vanishing_prior_it_is_maximum_likelihood():
    rng = np.random.default_rng(2)
    B = some_topics(rng, 50, 6)
    X = sp.csr_array(rng.poisson(1.0, size=(30, 50)).astype(float))
    penalised = penalised_compositions(X, B, np.full(6, 1e-9))
    plain = fold_in(X, B, np.full(6, 1 / 6))
    np.testing.assert_allclose(penalised.log_likelihood, plain.log_likelihood, rtol=1e-6)


@pytest.mark.parametrize("alpha", [[0.5, 0.5], [2.0, 1.0, 0.2], [0.01] * 5])
def test_the_concentration_of_a_dirichlet_is_found(alpha):
    alpha = np.array(alpha)
    p = alpha / alpha.sum()
    A = (alpha.sum() * np.outer(p, p) + np.diag(p)) / (alpha.sum() + 1.0)
    assert concentration(A) == pytest.approx(alpha.sum())
    weights = prior_weights(A)
    np.testing.assert_allclose(weights / weights.sum(), p)
    assert 0 < weights.sum() < alpha.sum()


def test_correlations_that_say_nothing_give_a_finite_prior():
    for A in (np.eye(3) / 3, np.full((3, 3), 1 / 9), np.diag([0.5, 0.5, 0.0])):
        weights = prior_weights(A)
        assert np.isfinite(weights).all()
        assert (weights > 0).all()


@pytest.mark.parametrize("length", [20, 100, 1000])
def test_map_beats_a_wrong_prior_and_is_level_with_the_true_one(length):
    # scikit-learn's transform, given the true topics: variational, with its default prior 1/K and with the true one.
    from sklearn.decomposition import LatentDirichletAllocation

    rng = np.random.default_rng(length)
    K, N, M = 10, 500, 300
    alpha = np.full(K, 0.5)
    B = rng.dirichlet(np.full(N, 0.05), K).T
    W = rng.dirichlet(alpha, M)
    X = sp.csr_array(np.array([rng.multinomial(length, B @ w) for w in W]), dtype=float)
    p = alpha / alpha.sum()
    A = (alpha.sum() * np.outer(p, p) + np.diag(p)) / (alpha.sum() + 1.0)

    def error(weights):
        return np.abs(weights - W).sum(axis=1).mean() / 2

    def variational(prior):
        model = LatentDirichletAllocation(K, doc_topic_prior=prior, max_iter=1, random_state=0).fit(X)
        model.components_ = np.maximum(B.T, 1e-12) * 1e6
        model.exp_dirichlet_component_ = np.maximum(B.T, 1e-12)
        return error(model.transform(sp.csr_matrix(X)))

    ours = error(penalised_compositions(X, B, prior_weights(A)).weights)
    assert ours < variational(None)
    assert ours < 1.05 * variational(0.5)

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from anchorwords.exceptions import InputError
from anchorwords.infer.fold_in import GAP, fold_in


def likelihood(x, B, w):
    p = B @ w
    return float(np.sum(x[x > 0] * np.log(p[x > 0])))


def by_em(x, B, steps=20_000):
    """Multiplicative updates: slow, monotone, independent."""
    w = np.full(B.shape[1], 1 / B.shape[1])
    share = x / x.sum()
    for _ in range(steps):
        w = w * (B.T @ (share / np.maximum(B @ w, 1e-300)))
    return w / w.sum()


@pytest.mark.parametrize("K", [1, 2, 5, 20])
def test_agrees_with_em(K):
    rng = np.random.default_rng(K)
    B = rng.dirichlet(np.full(60, 0.2), size=K).T
    X = rng.multinomial(80, rng.dirichlet(np.full(K, 0.3), size=12) @ B.T)
    result = fold_in(sp.csr_array(X.astype(float)), B, np.full(K, 1 / K))
    np.testing.assert_allclose(result.weights.sum(axis=1), 1.0, atol=1e-13)
    assert (result.weights >= 0).all()
    assert result.gap.max() <= GAP
    for x, w, value in zip(X, result.weights, result.log_likelihood, strict=True):
        reference = by_em(x, B)
        assert likelihood(x, B, w) == pytest.approx(value, rel=1e-12)
        assert value >= likelihood(x, B, reference) - 1e-9 * x.sum()
        np.testing.assert_allclose(w, reference, atol=2e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(2, 12))
def test_certificate_holds_for_sparse_topics_and_tiny_documents(seed, K, N):
    """max_k g_k <= 1 + gap is optimality; topics with zeros, fewer words than topics, repeated topics."""
    rng = np.random.default_rng(seed)
    B = rng.gamma(0.2, size=(N, K)) * (rng.random((N, K)) < 0.6)
    B[rng.integers(N), :] += 0.1
    if K > 2:
        B[:, 1] = B[:, 0]
    B /= B.sum(axis=0)
    x = rng.integers(0, 4, N).astype(float)
    result = fold_in(sp.csr_array(x[None, :]), B, np.full(K, 1 / K))
    known = (x > 0) & B.any(axis=1)
    assert result.n_known[0] == x[known].sum()
    if not known.any():
        np.testing.assert_array_equal(result.weights[0], np.full(K, 1 / K))
        return
    w = result.weights[0]
    g = B[known].T @ (x[known] / x[known].sum() / (B[known] @ w))
    assert g.max() <= 1 + 1e-7


def test_documents_are_independent_of_their_batch_and_of_threads():
    rng = np.random.default_rng(0)
    B = rng.dirichlet(np.full(50, 0.3), size=8).T
    X = sp.csr_array(rng.multinomial(40, rng.dirichlet(np.ones(8), size=300) @ B.T).astype(float))
    prevalence = np.full(8, 1 / 8)
    whole = fold_in(X, B, prevalence, n_jobs=1).weights
    np.testing.assert_array_equal(fold_in(X, B, prevalence, n_jobs=3).weights, whole)
    np.testing.assert_array_equal(fold_in(X[[250, 3]], B, prevalence).weights, whole[[250, 3]])


@pytest.mark.parametrize("count", [1e3, 1e6, 1e9])
def test_a_rare_word_of_one_topic_is_never_given_up(count):
    B = np.array([[1.0, 0.3, 0.2], [0.0, 0.7, 0.0], [0.0, 0.0, 0.8]])
    result = fold_in(sp.csr_array([[count, 1.0, 0.0], [count, 1.0, 1.0]]), B, np.full(3, 1 / 3))
    assert np.isfinite(result.log_likelihood).all()
    assert result.gap.max() <= 1e-6
    assert (result.weights[:, 1] > 0).all()


def test_columns_must_be_the_models():
    with pytest.raises(InputError, match="knows 3 words, but the documents have 2"):
        fold_in(sp.csr_array(np.ones((1, 2))), np.ones((3, 1)) / 3, np.ones(1))


def test_a_pure_document_gets_its_topic():
    B = np.array([[0.9, 0.0], [0.1, 0.2], [0.0, 0.8]])
    X = sp.csr_array(np.array([[9.0, 1.0, 0.0], [0.0, 2.0, 8.0], [0.0, 0.0, 0.0]]))
    weights = fold_in(X, B, np.array([0.3, 0.7])).weights
    np.testing.assert_allclose(weights, [[1, 0], [0, 1], [0.3, 0.7]], atol=1e-8)


def test_recovers_compositions_of_long_documents():
    rng = np.random.default_rng(1)
    B = rng.dirichlet(np.full(200, 0.1), size=6).T
    w = rng.dirichlet(np.full(6, 0.5), size=20)
    X = rng.multinomial(100_000, w @ B.T)
    found = fold_in(sp.csr_array(X.astype(float)), B, np.full(6, 1 / 6)).weights
    # Standard error about sqrt(1 / 100,000) = 0.003 times a modest condition number.
    np.testing.assert_allclose(found, w, atol=0.02)

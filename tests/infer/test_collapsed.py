"""Collapsed variational inference: exact for one token, close to enumeration for a few, and independent of blocks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords.infer import collapsed
from anchorwords.infer.collapsed import collapsed_proportions


@pytest.fixture(scope="module")
def topics():
    rng = np.random.default_rng(3)
    return rng.dirichlet(np.full(30, 0.2), size=4).T, np.array([0.5, 0.3, 0.15, 0.05])


def enumerated(words, B, b):
    """The mean of the posterior, as the sum over all assignments of tokens to topics."""
    mean, total = np.zeros(b.size), 0.0
    for topics in product(range(b.size), repeat=len(words)):
        n, p = np.zeros(b.size), 1.0
        for word, topic in zip(words, topics, strict=True):
            p *= B[word, topic] * (b[topic] + n[topic]) / (b.sum() + n.sum())
            n[topic] += 1.0
        mean += p * (b + n) / (b.sum() + n.sum())
        total += p
    return mean / total


def counted(baskets, n_words=30):
    return sp.csr_array(np.array([np.bincount(basket, minlength=n_words) for basket in baskets], dtype=float))


def test_one_token_is_exact(topics):
    B, b = topics
    found = collapsed_proportions(counted([[word] for word in range(30)]), B, b)
    for word in range(30):
        np.testing.assert_allclose(found[word], enumerated([word], B, b), rtol=1e-12)


@pytest.mark.parametrize(("n_tokens", "closeness"), [(2, 0.05), (5, 0.07)])
def test_a_few_tokens_are_close_to_enumeration(topics, n_tokens, closeness):
    # The approximation replaces the distribution of N by its mean. A bound for the mean total variation over 40 baskets.
    B, b = topics
    rng = np.random.default_rng(n_tokens)
    baskets = [rng.choice(30, n_tokens, p=B @ rng.dirichlet(b)) for _ in range(40)]
    found = collapsed_proportions(counted(baskets), B, b)
    exact = np.array([enumerated(basket, B, b) for basket in baskets])
    assert 0.5 * np.abs(found - exact).sum(axis=1).mean() < closeness
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


def test_many_tokens_leave_little_to_the_prior(topics):
    B, b = topics
    w = np.array([0.4, 0.1, 0.2, 0.3])
    counts = np.random.default_rng(0).multinomial(20_000, B @ w)
    found = collapsed_proportions(sp.csr_array(counts[None, :].astype(float)), B, b)
    # The standard error of a proportion is below 0.01 with 20,000 tokens.
    np.testing.assert_allclose(found[0], w, atol=0.03)


def test_blocks_empty_documents_and_unknown_words(topics, monkeypatch):
    B, b = topics
    B = np.vstack([B, np.zeros((1, 4))])
    rng = np.random.default_rng(1)
    X = rng.poisson(0.3, (50, 31)).astype(float)
    X[[0, 20, 49]] = 0.0
    X[20, 30] = 3.0  # a word that no topic has
    whole = collapsed_proportions(sp.csr_array(X), B, b)
    for row in (0, 20, 49):
        np.testing.assert_allclose(whole[row], b / b.sum(), rtol=1e-12)
    monkeypatch.setattr(collapsed, "_TOGETHER", 4 * 11)
    # Documents stop when they have converged, together with others or alone.
    np.testing.assert_allclose(collapsed_proportions(sp.csr_array(X), B, b), whole, atol=5e-3)
    assert np.isfinite(collapsed_proportions(sp.csr_array(X / 7.0), B, b)).all()

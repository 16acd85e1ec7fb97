from __future__ import annotations

import numpy as np
import pytest

from anchorwords.linalg.factored import factored_distance
from anchorwords.linalg.randomized import eigh_from_probe, one_pass_eigh, randomized_eigh
from anchorwords.statistics.operator import CooccurrenceOperator


class Implicit:
    """An operator without entries, which counts its products."""

    def __init__(self, C):
        self._C, self.shape, self.products = C, C.shape, 0

    def __matmul__(self, V):
        self.products += 1
        return self._C @ V


def spectrum_matrix(values, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    return (Q * values) @ Q.T


@pytest.mark.parametrize("k", [1, 5, 30])
@pytest.mark.parametrize("decay", [0.5, 1.0, 2.0])
def test_agrees_with_the_full_decomposition(k, decay):
    values = np.arange(1, 601) ** -decay
    C = Implicit(spectrum_matrix(values))
    pairs = randomized_eigh(C, k, random_state=0, tol=1e-9)
    assert pairs.converged
    assert pairs.n_passes == C.products
    np.testing.assert_allclose(pairs.values, values[:k], rtol=1e-9)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(k), atol=1e-10)
    exact = C._C @ pairs.vectors - pairs.vectors * pairs.values
    np.testing.assert_allclose(np.linalg.norm(exact, axis=0), pairs.residuals, atol=1e-10)


def test_a_large_negative_eigenvalue_never_wins():
    values = np.concatenate([[-100.0, -50.0], np.arange(1, 399) ** -1.0])
    pairs = randomized_eigh(spectrum_matrix(values), 5, random_state=0)
    assert pairs.converged
    np.testing.assert_allclose(pairs.values, np.sort(values)[::-1][:5], rtol=1e-8)


def test_fewer_positive_eigenvalues_than_asked_for():
    values = np.concatenate([[3.0, 2.0, 1.0], -(np.arange(1, 398) ** -1.0)])
    pairs = randomized_eigh(spectrum_matrix(values), 5, random_state=0, max_passes=400)
    np.testing.assert_allclose(pairs.values[:3], [3.0, 2.0, 1.0], rtol=1e-9)
    assert (pairs.values[3:] < 0).all()


def test_exact_low_rank_and_repeated_eigenvalues():
    values = np.concatenate([np.full(6, 2.0), np.zeros(394)])
    pairs = randomized_eigh(spectrum_matrix(values), 6, random_state=0)
    assert pairs.converged
    np.testing.assert_allclose(pairs.values, 2.0, rtol=1e-12)


@pytest.mark.parametrize("copies", [30, 60])
def test_eigenvalues_repeated_more_often_than_a_block_is_wide(copies):
    """Forty disjoint, identical communities: a Krylov space of a narrow block alone sees eight of them."""
    values = np.concatenate([np.full(copies, 1.0), np.linspace(0.5, 0.1, 30), np.zeros(400)])
    pairs = randomized_eigh(spectrum_matrix(values), 40, random_state=0)
    assert pairs.converged
    np.testing.assert_allclose(pairs.values, values[:40], rtol=1e-9)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(40), atol=1e-10)


def test_the_whole_space_is_searched_where_the_krylov_space_ends_early():
    values = np.concatenate([[3.0, 2.0], np.zeros(598)])
    pairs = randomized_eigh(spectrum_matrix(values), 20, random_state=0)
    assert pairs.converged
    np.testing.assert_allclose(pairs.values, values[:20], atol=1e-12)
    np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(20), atol=1e-10)


def test_small_matrices_are_decomposed_exactly():
    C = spectrum_matrix(np.linspace(-1, 1, 40))
    pairs = randomized_eigh(C, 40)
    np.testing.assert_allclose(pairs.values, np.linspace(1, -1, 40), atol=1e-12)


def test_the_limit_on_passes_is_kept_and_reported():
    C = Implicit(spectrum_matrix(np.linspace(1, 0.9, 500)))
    pairs = randomized_eigh(C, 10, max_passes=3, random_state=0)
    assert not pairs.converged
    assert pairs.n_passes == C.products == 3


def test_a_warm_start_saves_passes():
    C = spectrum_matrix(np.arange(1, 501) ** -0.7)
    cold = randomized_eigh(C, 10, random_state=0)
    warm = randomized_eigh(C, 10, random_state=1, start=cold.basis)
    assert warm.n_passes < cold.n_passes
    np.testing.assert_allclose(warm.values, cold.values, rtol=1e-9)


def test_the_callback_sees_the_residual_fall_to_its_goal():
    seen = []
    randomized_eigh(
        spectrum_matrix(np.arange(1, 401) ** -1.0),
        8,
        random_state=0,
        callback=lambda p, r: seen.append((p, r)),
    )
    passes = [p for p, _ in seen]
    assert passes == sorted(set(passes))
    assert seen[-1][1] <= 1.0 < seen[0][1]


def test_one_pass_is_exact_on_low_rank_and_one_product():
    values = np.concatenate([[5.0, 3.0, 1.0, -2.0], np.zeros(296)])
    C = Implicit(spectrum_matrix(values))
    pairs = one_pass_eigh(C, 3, random_state=0)
    assert C.products == 1 == pairs.n_passes
    np.testing.assert_allclose(pairs.values, [5.0, 3.0, 1.0], rtol=1e-9)


def test_one_pass_error_falls_with_oversampling_and_passes():
    C = spectrum_matrix(np.arange(1, 501) ** -1.0)
    exact = randomized_eigh(C, 10, random_state=0)

    def error(pairs):
        Y = pairs.vectors * np.sqrt(np.maximum(pairs.values, 0))
        return factored_distance(Y, exact.vectors * np.sqrt(exact.values))

    narrow = np.mean([error(one_pass_eigh(C, 10, n_oversamples=10, random_state=s)) for s in range(5)])
    wide = np.mean([error(one_pass_eigh(C, 10, n_oversamples=150, random_state=s)) for s in range(5)])
    refined = np.mean([error(randomized_eigh(C, 10, max_passes=8, random_state=s)) for s in range(5)])
    assert refined < wide < narrow < 1.0


def test_probe_and_product_are_enough():
    rng = np.random.default_rng(0)
    C = spectrum_matrix(np.concatenate([[2.0, 1.0], np.zeros(98)]))
    Omega = rng.standard_normal((100, 12))
    pairs = eigh_from_probe(Omega, C @ Omega, 2)
    np.testing.assert_allclose(pairs.values, [2.0, 1.0], rtol=1e-9)


@pytest.mark.data
@pytest.mark.parametrize("K", [10, 50])
def test_seeds_agree_on_real_statistics(real_corpus, K):
    operator = CooccurrenceOperator(real_corpus("nips12", 1000).counts)
    exact = np.linalg.eigvalsh(operator @ np.eye(operator.shape[0]))[::-1][:K]
    factors = []
    for seed in range(3):
        pairs = randomized_eigh(operator, K, random_state=seed)
        assert pairs.converged
        np.testing.assert_allclose(pairs.values, exact, rtol=1e-9)
        factors.append(pairs.vectors * np.sqrt(pairs.values))
    # Residuals of 1e-6 of the K-th eigenvalue against gaps of a percent of it: 1e-4 in the K-th direction at worst,
    # and that direction is less than a tenth of Y Y'.
    assert factored_distance(factors[0], factors[1]) < 1e-5
    assert factored_distance(factors[0], factors[2]) < 1e-5

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from anchorwords.exploring.layout import ASPECT, topic_map
from anchorwords.interpret.association import association_of


def drawn(K, seed=0, concentration=0.1):
    """Correlations of documents that are mixtures of few topics."""
    theta = np.random.default_rng(seed).dirichlet(np.full(K, concentration), 20 * K + 50)
    A = theta.T @ theta
    return (A + A.T) / (2.0 * A.sum())


def grouped(K, size=5, together=20.0):
    group = np.arange(K) // size
    A = np.where(group[:, None] == group[None], together, 1.0)
    return A / A.sum(), group


def distances(places):
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))


def map_of(A):
    return topic_map(A.sum(axis=1), association_of(A))


def check_map(A):
    """Circles of the size of their topics, on the map, none over another."""
    places, radii = map_of(A)
    K = A.shape[0]
    assert places.shape == (K, 2)
    assert np.isfinite(places).all()
    assert (places - radii[:, None] >= 0.0).all()
    assert (places + radii[:, None] <= np.array([ASPECT, 1.0])).all()
    apart = distances(places) - radii[:, None] - radii[None]
    assert (apart[~np.eye(K, dtype=bool)] > 0.0).all()
    p = A.sum(axis=1)
    large = radii > radii.min() * (1 + 1e-9)
    np.testing.assert_allclose((radii[large] / radii.max()) ** 2, p[large] / p.max(), rtol=1e-9)
    assert (np.diff(radii[np.argsort(p)]) >= -1e-15).all()
    return places, radii


KINDS = {
    "drawn": drawn,
    "equal": lambda K: np.full((K, K), 1.0 / K**2),
    "apart": lambda K: np.eye(K) / K,
    "groups": lambda K: grouped(K)[0],
    "one giant": lambda K: np.outer(p := np.r_[1.0, np.full(K - 1, 1e-4)], p) / p.sum() ** 2,
    "some are not there": lambda K: np.pad(drawn(K - K // 3), (0, K // 3)),
}


@pytest.mark.parametrize(
    ("K", "kind"), [*((K, kind) for K in (1, 2, 3, 5, 40) for kind in KINDS), (200, "drawn"), (200, "equal")]
)
def test_circles_lie_on_the_map_and_not_on_each_other(K, kind):
    check_map(KINDS[kind](K))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 1.0, 50.0]))
def test_of_any_correlations(K, seed, concentration):
    check_map(drawn(K, seed, concentration))


def test_the_same_A_gives_the_same_bits():
    A = drawn(30)
    first, second = map_of(A), map_of(A.copy())
    assert first[0].tobytes() == second[0].tobytes()
    assert first[1].tobytes() == second[1].tobytes()


@pytest.mark.parametrize("K", [4, 9, 25])
def test_topics_take_their_places_with_them(K):
    A = drawn(K, seed=K)
    places, radii = map_of(A)
    order = np.random.default_rng(1).permutation(K)
    moved, sizes = map_of(A[np.ix_(order, order)])
    np.testing.assert_allclose(sizes, radii[order], rtol=1e-12)
    # Sums in another order, and steps until nothing moves by 1e-6, in maps that are 1 high.
    np.testing.assert_allclose(moved, places[order], atol=1e-4)


@pytest.mark.parametrize("K", [12, 60, 120])
def test_topics_that_go_together_are_near(K):
    A, group = grouped(K)
    places, _ = map_of(A)
    far = distances(places)
    inside = group[:, None] == group[None]
    np.fill_diagonal(inside, False)
    nearest = np.where(np.eye(K, dtype=bool), np.inf, far).argmin(axis=1)
    assert (group[nearest] == group).mean() > 0.9
    assert far[inside].mean() < 0.5 * far[group[:, None] != group[None]].mean()


@pytest.mark.parametrize("seed", range(5))
def test_the_larger_the_association_the_nearer(seed):
    # Documents along a line: a topic goes with the ones beside it. That is a map of one dimension, so it can be told.
    K, rng = 12, np.random.default_rng(seed)
    at = np.sort(rng.uniform(size=K))
    A = np.exp(-((at[:, None] - at[None]) ** 2) / 0.05) + 0.01
    A /= A.sum()
    pairs = np.triu_indices(K, 1)
    found = spearmanr(association_of(A).ratio[pairs], distances(map_of(A)[0])[pairs]).statistic
    assert found < -0.85


def test_noise_does_not_turn_a_map_of_equal_distances():
    A = np.full((6, 6), 1 / 36)
    noise = 1e-14 * np.random.default_rng(0).standard_normal((6, 6))
    np.testing.assert_allclose(map_of(A)[0], map_of(A + noise + noise.T)[0], atol=1e-6)

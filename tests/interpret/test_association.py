from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anchorwords.interpret.association import affinities


def off_diagonal(A):
    return A - np.diag(np.diagonal(A))


def check_expectation(A):
    """E is what the affinities are relative to: symmetric, and off the diagonal with the row sums of A."""
    ratio, expected = affinities(A)
    np.testing.assert_array_equal(expected, expected.T)
    np.testing.assert_array_equal(ratio, ratio.T)
    assert (expected >= 0.0).all()
    assert (np.diagonal(expected) == 0.0).all()
    assert (np.diagonal(ratio) == 1.0).all()
    off = off_diagonal(A)
    # Where two topics have all but a trace, their a are next to a double root, which half the digits are known of.
    np.testing.assert_allclose(expected.sum(axis=1), off.sum(axis=1), rtol=1e-6, atol=1e-12 * max(off.sum(), 1e-300))
    np.testing.assert_allclose((ratio * expected)[expected > 0], off[expected > 0], rtol=1e-12, atol=1e-300)
    return ratio, expected


def symmetric(values):
    A = values + values.T
    return A / max(A.sum(), 1e-300)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 9).flatmap(
        lambda K: hnp.arrays(
            np.float64, (K, K), elements=st.one_of(st.just(0.0), st.floats(1e-8, 1.0), st.sampled_from([1.0, 1e-4]))
        )
    )
)
def test_row_sums_are_those_of_A(values):
    ratio, expected = check_expectation(symmetric(values))
    # Of the form a_k a_l: of any four topics the products across are the same.
    K = expected.shape[0]
    if K >= 4:
        one, other = expected[0, 1] * expected[2, 3], expected[0, 2] * expected[1, 3]
        assert one == pytest.approx(other, rel=1e-9, abs=1e-30)
    assert np.isfinite(ratio).all()


@pytest.mark.parametrize("K", [2, 3, 4, 10, 200])
@pytest.mark.parametrize("kind", ["even", "skewed", "one giant", "two giants"])
def test_independence_is_one_everywhere(K, kind):
    # Whatever stands on the diagonal: topics keep to themselves as much as they like.
    rng = np.random.default_rng(K)
    a = {
        "even": np.ones(K),
        "skewed": rng.gamma(0.2, size=K) + 1e-6,
        "one giant": np.r_[1.0, np.full(K - 1, 1e-5)],
        "two giants": np.r_[1.0, 1.0, np.full(K - 2, 1e-5)],
    }[kind]
    A = np.outer(a, a)
    np.fill_diagonal(A, rng.gamma(1.0, size=K))
    A /= A.sum()
    ratio, expected = check_expectation(A)
    np.testing.assert_allclose(ratio, 1.0, rtol=1e-7)
    np.testing.assert_allclose(expected, off_diagonal(A), rtol=1e-7)


def test_the_diagonal_and_the_scale_do_not_count():
    rng = np.random.default_rng(0)
    A = symmetric(rng.gamma(0.5, size=(8, 8)))
    other = 0.25 * A + np.diag(rng.gamma(1.0, size=8))
    np.testing.assert_allclose(affinities(A)[0], affinities(other)[0], rtol=1e-9)


def test_of_four_topics_the_products_across_are_those_of_A():
    # What sizes cannot explain is kept, and it is the same for topics of any size.
    rng = np.random.default_rng(1)
    A = symmetric(rng.gamma(0.5, size=(9, 9)) + 0.01)
    scale = rng.gamma(1.0, size=9) + 0.1

    def across(M):
        return M[0, 1] * M[2, 3] / (M[0, 2] * M[1, 3])

    assert across(affinities(A)[0]) == pytest.approx(across(A), rel=1e-9)
    assert across(affinities(A * np.outer(scale, scale))[0]) == pytest.approx(across(A), rel=1e-9)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_few_topics_are_together_as_expected(K):
    # Of three topics or fewer row sums leave nothing open.
    A = symmetric(np.random.default_rng(K).gamma(0.5, size=(K, K)))
    ratio, expected = check_expectation(A)
    np.testing.assert_allclose(ratio, 1.0, rtol=1e-9)
    np.testing.assert_allclose(expected, off_diagonal(A), rtol=1e-9)


def test_topics_that_never_mix_and_topics_that_are_not_there():
    ratio, expected = check_expectation(np.eye(5) / 5)
    assert (ratio == 1.0).all()
    assert (expected == 0.0).all()
    A = np.zeros((5, 5))
    A[:4, :4] = symmetric(np.random.default_rng(2).gamma(1.0, size=(4, 4)))
    ratio, _ = check_expectation(A)
    assert (ratio[4] == 1.0).all()
    np.testing.assert_allclose(ratio[:4, :4], affinities(A[:4, :4])[0], rtol=1e-9)


@pytest.mark.parametrize("rest", [0.0, 1e-320, 1e-200, 1e-20, 1e-12, 1e-6])
def test_all_pairs_are_one_topics(rest):
    # Row sums then ask for an a without end: E in that limit, or next to it.
    A = np.full((6, 6), rest)
    A[0] = A[:, 0] = 1.0
    ratio, expected = check_expectation(A / A.sum())
    np.testing.assert_allclose(ratio[0], 1.0, rtol=1e-6)
    assert np.isfinite(ratio).all()
    assert np.isfinite(expected).all()


def test_groups_of_topics_stand_out():
    group = np.arange(12) // 3
    A = np.where(group[:, None] == group[None], 4.0, 1.0)
    ratio, _ = affinities(A / A.sum())
    inside = (group[:, None] == group[None]) & ~np.eye(12, dtype=bool)
    assert ratio[inside].min() > 1.0 > ratio[group[:, None] != group[None]].max()
    np.testing.assert_allclose(ratio[inside] / ratio[0, 11], 4.0, rtol=1e-9)

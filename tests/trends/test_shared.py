"""Errors of slopes if documents of one period share a deviation from the line."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import anchorwords as aw
from anchorwords.trends.regression import TrendSums
from tests.interpret.records import record_of


def dated(seed, n_docs=150, n_periods=6, distinct=False, K=3):
    """Documents in periods of unequal size: the period, time, proportions and weight of each."""
    rng = np.random.default_rng(seed)
    periods = np.sort(rng.choice(n_periods, n_docs, p=rng.dirichlet(np.full(n_periods, 2.0))))
    periods[:n_periods] = np.arange(n_periods)
    t = 2000.0 + periods + (0.0 if distinct else rng.uniform(size=n_docs))
    w = rng.dirichlet(np.ones(K), n_docs) + 0.05 * rng.normal(size=(n_periods, K))[periods]
    return periods, t, w, rng.integers(1, 30, n_docs).astype(float)


def sums_of(periods, t, w, a, blocks=1):
    sums = TrendSums(t, w.mean(axis=0), int(periods.max()) + 1)
    for rows in np.array_split(np.random.default_rng(0).permutation(t.size), blocks):
        sums.add(periods[rows], t[rows], w[rows], a[rows])
    return sums


def slopes(periods, t, w, a, blocks=1, levelled=False):
    return sums_of(periods, t, w, a, blocks).line(levelled=levelled)


def textbook(periods, t, w, a):
    """The same by matrices over all documents: the variance, and its degrees of freedom from R."""
    Z, J = np.column_stack([np.ones(t.size), t - t.mean()]), np.eye(periods.max() + 1)[periods]
    bread = np.linalg.inv(Z.T * a @ Z)
    coefficients = (bread @ (Z.T * a))[1]  # of each document in the slope
    residual_maker = np.eye(t.size) - Z @ bread @ (Z.T * a)
    R = (J.T * coefficients) @ residual_maker @ J
    L = J.T @ coefficients
    scores = (J.T * coefficients) @ residual_maker @ w
    spread = (R**2).sum(axis=1)
    weights = L**2 / spread
    whitened = R.T @ (weights[:, None] * R)
    freedom = np.trace(whitened) ** 2 / np.trace(whitened @ whitened)
    return coefficients @ w, np.sqrt(weights @ scores**2), freedom


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_it_is_the_sandwich_by_its_definition(seed, weighted, distinct):
    periods, t, w, a = dated(seed, distinct=distinct)
    a = a if weighted else np.ones(t.size)
    found = slopes(periods, t, w, a, blocks=4)
    slope, error, freedom = textbook(periods, t, w, a)
    np.testing.assert_allclose(found.slope, slope, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(found.shared_error, error, rtol=1e-8)
    assert found.freedom == pytest.approx(min(freedom, 4.0), rel=1e-8)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("distinct", [True, False])
def test_levelled_weights_are_weights_of_documents(distinct, weighted):
    """Levelled weights are those of documents divided by 1 + ratio m of their period; the rest is the same regression."""
    periods, t, w, a = dated(12, distinct=distinct)
    a = a if weighted else np.ones(t.size)
    found = slopes(periods, t, w, a, blocks=3, levelled=True)
    assert found.ratio > 0.0
    total, squares = np.bincount(periods, a), np.bincount(periods, a**2)
    m = total * (total**2 / squares).sum() / total.sum()
    levelled = a / (1.0 + found.ratio * m[periods])
    expected = slopes(periods, t, w, levelled)
    for name in ("slope", "error", "shared_error", "freedom"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8, atol=1e-13)
    # Proportions that sum to one in each document have slopes that sum to zero: all topics have the same weights.
    whole = np.column_stack([w, 1.0 - w.sum(axis=1)])
    assert slopes(periods, t, whole, a, levelled=True).slope.sum() == pytest.approx(0.0, abs=1e-13)


def test_without_shared_deviations_the_line_is_that_of_documents():
    rng = np.random.default_rng(13)
    T, n = 10, 50
    periods = np.repeat(np.arange(T), n)
    # The same documents, on a line, in each period: their means do not deviate from it at all.
    w = np.tile(rng.dirichlet(np.ones(3), n), (T, 1)) + 0.01 * periods[:, None]
    one, other = (slopes(periods, periods.astype(float), w, np.ones(T * n), levelled=both) for both in (True, False))
    assert one.ratio == 0.0
    for name in ("slope", "error", "shared_error", "freedom"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-15)


def test_the_ratio_of_variances_is_recovered():
    rng = np.random.default_rng(14)
    T, K = 40, 60
    n = rng.integers(5, 400, T)
    periods = np.repeat(np.arange(T), n)
    for ratio in (0.0, 0.02, 0.5, 20.0):
        w = rng.normal(size=(periods.size, K)) + np.sqrt(ratio) * rng.normal(size=(T, K))[periods]
        found = slopes(periods, periods.astype(float), w, np.ones(periods.size), levelled=True)
        # 40 periods of 60 topics: a variance is known to sqrt(2 / 2280) = 3 %, four times that here; the noise of some 200
        # documents per period is known as well.
        assert found.ratio == pytest.approx(ratio, rel=0.12, abs=0.12 / 200)


def test_large_shared_deviations_make_periods_count_alike():
    rng = np.random.default_rng(15)
    periods = np.repeat(np.arange(8), rng.integers(5, 3000, 8))
    w = rng.normal(size=(8, 5))[periods] + 1e-6 * rng.normal(size=(periods.size, 5))
    found = slopes(periods, periods.astype(float), w, np.ones(periods.size), levelled=True)
    means = np.array([w[periods == p].mean(axis=0) for p in range(8)])
    np.testing.assert_allclose(found.slope, np.polyfit(np.arange(8), means, 1)[0], rtol=1e-6)


def test_periods_of_one_size_and_time_are_as_many_observations():
    rng = np.random.default_rng(3)
    T, n = 9, 20
    periods = np.repeat(np.arange(T), n)
    w = rng.dirichlet(np.ones(4), T * n)
    found = slopes(periods, periods.astype(float), w, np.ones(T * n))
    means = w.reshape(T, n, 4).mean(axis=1)
    Z = np.column_stack([np.ones(T), np.arange(T)])
    bread = np.linalg.inv(Z.T @ Z)
    leverage = np.einsum("pi,ij,pj->p", Z, bread, Z)
    for k in range(4):
        e = means[:, k] - Z @ (bread @ Z.T @ means[:, k])
        V = bread @ (Z.T * (e**2 / (1 - leverage)) @ Z) @ bread  # HC2
        assert found.shared_error[k] == pytest.approx(np.sqrt(V[1, 1]), rel=1e-9)
    assert 1.0 < found.freedom < T - 2


def test_the_variance_is_unbiased_for_shared_deviations():
    """Over deviations of each period in turn, the mean of the estimate is the variance of the slope: an identity."""
    periods, t, _, a = dated(4, n_periods=5)
    # Columns of the identity as deviations: sums over them are expectations for deviations of variance one.
    deviations = np.eye(5)[periods]
    found = slopes(periods, t, deviations, a)
    # Deviations of different periods have zero covariance, so that squared scores add up over the columns.
    assert (found.shared_error**2).sum() == pytest.approx((found.slope**2).sum(), rel=1e-8)


def test_degrees_of_freedom_are_those_of_the_estimate():
    """Satterthwaite's: twice the squared mean of the variance over its variance, for normal deviations."""
    periods, t, _, a = dated(5, n_periods=7)
    v = np.random.default_rng(6).normal(size=(7, 40_000))
    found = slopes(periods, t, v[periods], a)
    V = found.shared_error**2
    # 40,000 draws of about a chi-square: their variance is known to 2 % or so, and two parts in a hundred are twice that.
    assert 2 * V.mean() ** 2 / V.var() == pytest.approx(found.freedom, rel=0.06)


def test_constant_deviations_within_the_line_leave_nothing():
    periods, t, _, a = dated(7)
    found = slopes(periods, t, np.column_stack([0.1 + 0.01 * (t - 2000), np.full(t.size, 0.3)]), a)
    np.testing.assert_allclose(found.slope, [0.01, 0.0], atol=1e-13)
    np.testing.assert_allclose(found.shared_error, 0.0, atol=1e-9)


@pytest.mark.parametrize("n_periods", [1, 2])
def test_too_few_periods(n_periods):
    periods, t, w, a = dated(8, n_periods=n_periods)
    found = slopes(periods, t, w, a, levelled=True)
    assert found.ratio == 0.0
    assert np.isfinite(found.slope).all()
    assert np.isnan(found.shared_error).all()
    assert np.isnan(found.freedom)


def test_periods_without_documents_count_for_nothing():
    periods, t, w, a = dated(9)
    found, spread = slopes(periods, t, w, a), slopes(2 * periods, t, w, a)
    np.testing.assert_allclose(found.shared_error, spread.shared_error, rtol=1e-12)
    assert found.freedom == pytest.approx(spread.freedom, rel=1e-12)


def corpora(rng, shock, n_corpora, n_periods=8, n_docs=320, slope=0.01):
    """Topics of separate words; the first rises, with a deviation for each period."""
    B = np.kron(np.eye(2), np.ones((5, 1)) / 5)
    for _ in range(n_corpora):
        year = rng.integers(0, n_periods, n_docs)
        year[:n_periods] = np.arange(n_periods)
        mean = 0.4 + slope * (year - (n_periods - 1) / 2) + shock * rng.normal(size=n_periods)[year]
        mean = np.clip(mean, 0.02, 0.98)
        share = rng.beta(4 * mean, 4 * (1 - mean))
        words = rng.binomial(120, share)
        counts = np.zeros((n_docs, 10))
        counts[:, 0], counts[:, 5] = words, 120 - words
        yield record_of(B), counts, year


@pytest.mark.slow
@pytest.mark.parametrize("shock", [0.0, 0.05])
def test_intervals_cover_with_and_without_shared_deviations(shock):
    rng = np.random.default_rng(10)
    inside = {"periods": 0, "documents": 0}
    n_corpora, slope = 400, 0.01
    for model, counts, year in corpora(rng, shock, n_corpora):
        found = aw.topics_over_time(model, counts, year, n_words=0)
        for errors in inside:
            row = next(row for row in found.trends(level=0.9, errors=errors).rows() if row["topic"] == 0)
            inside[errors] += row["lower"] <= slope <= row["upper"]
    covered = {errors: number / n_corpora for errors, number in inside.items()}
    # Three standard errors of a share of 0.9 of 400 are 0.045. The longer of two intervals may hold more often.
    assert 0.855 <= covered["periods"] <= 0.99
    if shock:
        assert covered["documents"] < 0.8
    else:
        assert covered["documents"] == pytest.approx(0.9, abs=0.045)


def test_shared_deviations_alone_are_no_trend():
    """What calls every topic rising or falling: many documents, few periods, no trend but a deviation in each period."""
    rng = np.random.default_rng(11)
    K, T = 40, 12
    w = 0.5 + 0.05 * rng.normal(size=(T, K))[np.repeat(np.arange(T), 2000)] + 0.1 * rng.normal(size=(T * 2000, K))
    periods = np.repeat(np.arange(T), 2000)
    found = slopes(periods, periods.astype(float), w, np.ones(periods.size), levelled=True)
    independent = 2 * stats.norm.sf(np.abs(found.slope) / found.error)
    shared = 2 * stats.t.sf(np.abs(found.slope) / found.shared_error, found.freedom)
    assert (independent < 0.05).mean() > 0.7
    # Of 40 p-values, 2 below 0.05 are expected; more than 8 have a probability below 1e-3.
    assert (shared < 0.05).sum() <= 8

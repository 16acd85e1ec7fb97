from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.interpret import association as definition
from anchorwords.interpret.association import Association, association_of, topic_association
from tests.interpret.records import random_topics, record_of


def off_diagonal(A):
    return A - np.diag(np.diagonal(A))


def check_expectation(A):
    """E is symmetric, with the row sums that A has off its diagonal; the ratio is A over E."""
    association = association_of(A)
    ratio, expected = association.ratio, association.expected
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
    np.testing.assert_allclose(association_of(A).ratio, association_of(other).ratio, rtol=1e-9)


def test_of_four_topics_the_products_across_are_those_of_A():
    # What sizes cannot explain is kept, and it is the same for topics of any size.
    rng = np.random.default_rng(1)
    A = symmetric(rng.gamma(0.5, size=(9, 9)) + 0.01)
    scale = rng.gamma(1.0, size=9) + 0.1

    def across(M):
        return M[0, 1] * M[2, 3] / (M[0, 2] * M[1, 3])

    assert across(association_of(A).ratio) == pytest.approx(across(A), rel=1e-9)
    assert across(association_of(A * np.outer(scale, scale)).ratio) == pytest.approx(across(A), rel=1e-9)


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
    np.testing.assert_allclose(ratio[:4, :4], association_of(A[:4, :4]).ratio, rtol=1e-9)


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
    ratio = association_of(A / A.sum()).ratio
    inside = (group[:, None] == group[None]) & ~np.eye(12, dtype=bool)
    assert ratio[inside].min() > 1.0 > ratio[group[:, None] != group[None]].max()
    np.testing.assert_allclose(ratio[inside] / ratio[0, 11], 4.0, rtol=1e-9)


def test_log2_is_clipped_and_has_no_value_without_an_expectation():
    A = np.zeros((7, 7))
    A[:6, :6] = symmetric(np.random.default_rng(3).gamma(0.3, size=(6, 6)))
    A[0, 1] = A[1, 0] = 0.0
    association = association_of(A / A.sum())
    shown = association.log2()
    pairs = ~np.eye(7, dtype=bool)
    pairs[6] = pairs[:, 6] = False  # the topic that is not there
    assert np.isnan(shown[~pairs]).all()
    assert shown[0, 1] == -4.0
    inside = pairs & (association.ratio > 2.0**-4) & (association.ratio < 2.0**4)
    np.testing.assert_allclose(2.0 ** shown[inside], association.ratio[inside], rtol=1e-12)
    narrow = association.log2(limit=0.5)
    assert np.abs(narrow[pairs]).max() == 0.5
    assert np.isnan(association_of(np.eye(4) / 4).log2()).all()
    assert np.isnan(association_of(np.ones((1, 1))).log2()).all()


def test_records_and_estimators_have_the_same_association(sampled):
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    for found in (topic_association(model), topic_association(model.model_), association_of(model.topic_correlation_)):
        assert isinstance(found, Association)
        np.testing.assert_array_equal(found.ratio, topic_association(model).ratio)
        np.testing.assert_array_equal(found.expected, topic_association(model).expected)
    with pytest.raises(InputError, match="call fit first"):
        topic_association(aw.AnchorTopicModel(5))


def test_chance_is_another_measure():
    """Documents of few topics: nearly all pairs are rarer than chance, but about as many above as below expectation."""
    theta = np.random.default_rng(0).dirichlet(np.full(20, 0.05), 2000)
    A = theta.T @ theta
    A = (A + A.T) / (2.0 * A.sum())
    pairs = np.triu_indices(20, 1)
    p = A.sum(axis=1)
    assert (A[pairs] > np.outer(p, p)[pairs]).mean() < 0.1
    assert 0.3 < (association_of(A).ratio[pairs] > 1.0).mean() < 0.7


def test_graph_heat_map_and_page_agree(tmp_path):
    plot = pytest.importorskip("anchorwords.plot")
    pytest.importorskip("matplotlib")
    networkx = pytest.importorskip("networkx")
    B, _ = random_topics(0, N=60, K=6)
    A = symmetric(np.random.default_rng(4).gamma(0.5, size=(6, 6)))
    model = record_of(B, A.sum(axis=1), [f"w{i}" for i in range(60)], A=A)
    association = topic_association(model)
    aw.export.write_graph(model, tmp_path / "topics.graphml")
    graph = networkx.read_graphml(tmp_path / "topics.graphml")
    shown = np.ma.filled(plot.topic_correlation(model).images[0].get_array(), np.nan)
    order = np.argsort(-model.prevalence, kind="stable")
    np.testing.assert_array_equal(shown, association.log2()[np.ix_(order, order)])
    topics = aw.explorer_data(model)["topics"]
    n_pairs = 0
    for k in range(6):
        for entry in topics[k]["neighbours"]:
            m = entry["topic"]
            assert graph.edges[str(k), str(m)]["association"] == association.ratio[k, m]
            assert entry["affinity"] == pytest.approx(association.ratio[k, m], rel=1e-3)
            n_pairs += 1
    assert n_pairs == 30


def test_the_page_computes_it_once(monkeypatch):
    calls = []
    solve = definition._quasi_independent
    monkeypatch.setattr(definition, "_quasi_independent", lambda off: calls.append(off) or solve(off))
    B, p = random_topics(1, N=60, K=5)
    aw.explorer_data(record_of(B, p, [f"w{i}" for i in range(60)]))
    assert len(calls) == 1

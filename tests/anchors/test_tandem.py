"""Tandem anchors: exact recovery, and every invariant that single anchors have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.anchors.lowrank import normalised_coordinates, rows_and_anchors
from anchorwords.anchors.tandem import anchor_rows_of, combined_rows, tandem_row
from anchorwords.datasets import make_topics
from anchorwords.exceptions import DegenerateWarning, InputError
from anchorwords.linalg.pivoted import pivot_rows
from anchorwords.metrics.matching import match_topics
from tests.contracts import check_valid_model
from tests.least_squares import nnls

# A factor of the population co-occurrence, and the two algorithms on it.
METHODS = {
    "AW": lambda C, K, **options: aw.anchor_words(C, K, **options),
    "LAW": lambda C, K, **options: aw.low_rank_anchor_words(compression(C, K), **options),
}


def compression(C, K):
    values, vectors = np.linalg.eigh(C)
    return vectors[:, -K:] * np.sqrt(values[-K:])


def check_valid_guided(model) -> None:
    """The golden rules; words of a group of two or more are recovered like any word."""
    word_topics = np.array(model.word_topics)
    for k, group in enumerate(model.anchor_groups or ()):
        assert model.anchors[k] == group[0]
        if len(group) > 1:
            word_topics[group[0]] = np.eye(model.n_components)[k]
    check_valid_model(replace(model, word_topics=word_topics))
    np.testing.assert_allclose(model.word_topics.sum(axis=1), 1.0, atol=1e-12)
    assert (model.word_topics >= 0.0).all()


@pytest.fixture(scope="module")
def truth():
    data = make_topics(10, 200, 6, n_anchors=3, random_state=5)
    C = data.C
    return data, (C + C.T) / 2


def test_the_pseudo_row_is_the_harmonic_mean():
    rows = np.array([[0.5, 0.25, 0.25, 0.0], [2.0, 1.0, 0.0, 1.0]])
    # 2 / (1 / 0.5 + 1 / 0.5) and 2 / (1 / 0.25 + 1 / 0.25): 0.5 and 0.25, scaled by 4 / 3.
    np.testing.assert_allclose(tandem_row(rows), [2 / 3, 1 / 3, 0.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(tandem_row(rows[:1]), rows[0], rtol=1e-15)
    np.testing.assert_array_equal(tandem_row(np.vstack([rows, np.zeros(4)])), tandem_row(rows))
    assert not tandem_row(np.zeros((2, 4))).any()


def test_words_without_a_shared_context_are_averaged():
    with pytest.warns(DegenerateWarning, match="share no context"):
        row = tandem_row(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 3.0]]))
    np.testing.assert_allclose(row, [0.25, 0.25, 0.5])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_the_pseudo_row_lies_below_the_arithmetic_mean(seed, n):
    """Before scaling the harmonic mean is at most the arithmetic one; proportional rows are their own mean."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(8, 0.5), size=n)
    row = tandem_row(rows, quiet=True)
    assert row.sum() == pytest.approx(1.0)
    assert (row >= 0.0).all()
    shared = (rows > 0.0).all(axis=0)
    if shared.any():
        assert not row[~shared].any()
        unscaled = n / np.sum(1.0 / rows[:, shared], axis=0)
        assert (unscaled <= rows[:, shared].mean(axis=0) * (1 + 1e-12)).all()
        np.testing.assert_allclose(row[shared] * unscaled.sum(), unscaled, rtol=1e-12)
    same = tandem_row(rows[:1] * rng.random((n, 1)) + 0.0)
    np.testing.assert_allclose(same, rows[0], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("given_topics", [[2], [4, 0], [0, 1, 2, 3, 4, 5]])
def test_true_anchors_of_a_topic_together_give_the_truth(truth, method, given_topics):
    """Rows of anchors of the same topic are proportional, so their pseudo-row is that row: B and A come out exactly."""
    data, C = truth
    K = data.A.shape[0]
    groups = [data.anchors[k][: 2 + k % 2].tolist() for k in given_topics]
    model = METHODS[method](C, K, anchors=groups)
    check_valid_guided(model)
    order = match_topics(data.B, model.B).other
    assert order[given_topics].tolist() == list(range(len(groups)))
    # A topic's row is in the span of K others to the square root of rounding at worst.
    np.testing.assert_allclose(model.B[:, order], data.B, atol=1e-7)
    np.testing.assert_allclose(model.A[np.ix_(order, order)], data.A, atol=1e-7)
    assert model.A_raw_sum == pytest.approx(1.0, abs=1e-9)
    for k, group in enumerate(groups):
        np.testing.assert_allclose(model.word_topics[group], np.tile(np.eye(K)[k], (len(group), 1)), atol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_fitted_correlations_are_the_papers_in_the_model(truth, method):
    """The same topics by single anchors, whose A is read off C_SS, and by groups, whose A is fitted to rows."""
    data, C = truth
    single = METHODS[method](C, 6, anchors=data.anchors[:, 0])
    groups = METHODS[method](C, 6, anchors=data.anchors[:, :2])
    assert single.anchor_groups is None
    assert groups.anchor_groups == tuple(map(tuple, data.anchors[:, :2].tolist()))
    np.testing.assert_array_equal(groups.anchors, single.anchors)
    np.testing.assert_allclose(groups.B, single.B, atol=1e-7)
    np.testing.assert_allclose(groups.A, single.A, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_inside_a_group_does_not_matter(nonnegative_factor, method):
    C = nonnegative_factor @ nonnegative_factor.T
    C = (C + C.T) / 2
    first = METHODS[method](C, 6, anchors=[[4, 30, 62], 9, [17, 2]])
    second = METHODS[method](C, 6, anchors=[[62, 4, 30], 9, [2, 17]])
    assert second.anchors[[0, 2]].tolist() == [62, 2]
    for name in ("B", "A", "word_topics"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.anchors[3:], second.anchors[3:])


def test_aw_and_law_agree_where_the_product_is_nonnegative(nonnegative_factor):
    """Any groups for all topics; below groups whose pseudo-rows lie in the span of the rows, and pivots after them."""
    Y = nonnegative_factor
    anchors = [[20, 5], 33, [40, 41, 42], 7, [60, 61], 70]
    low, full = aw.low_rank_anchor_words(Y, anchors=anchors), aw.anchor_words(Y @ Y.T, 6, anchors=anchors)
    check_valid_guided(low)
    check_valid_guided(full)
    assert low.anchors.tolist() == full.anchors.tolist() == [20, 33, 40, 7, 60, 70]
    assert low.anchor_groups == full.anchor_groups == ((20, 5), (33,), (40, 41, 42), (7,), (60, 61), (70,))
    np.testing.assert_allclose(low.word_topics, full.word_topics, atol=1e-8)
    np.testing.assert_allclose(low.B, full.B, atol=1e-9)
    np.testing.assert_allclose(low.A, full.A, atol=1e-8)
    np.testing.assert_allclose(low.word_probs, full.word_probs, atol=1e-14)
    # A single anchor is its own row; words of a group are recovered.
    assert low.word_topics[33].tolist() == np.eye(6)[1].tolist()
    assert low.word_topics[20].tolist() != np.eye(6)[0].tolist()


def test_aw_and_law_choose_the_same_anchors_after_groups(truth):
    data, C = truth
    given_groups = [data.anchors[3].tolist(), int(data.anchors[0, 1])]
    low, full = (METHODS[name](C, 6, anchors=given_groups) for name in ("LAW", "AW"))
    owner = {int(word): k for k, words in enumerate(data.anchors) for word in words}
    for model in (low, full):  # any of a topic's anchors is right, as their rows tie
        assert sorted(owner[int(anchor)] for anchor in model.anchors) == list(range(6))
    assert [owner[int(a)] for a in low.anchors[:2]] == [owner[int(a)] for a in full.anchors[:2]] == [3, 0]


def test_pivots_follow_the_pseudo_rows(nonnegative_factor):
    """The anchors after a group are pivots of QR on the rows of Cbar and, in first place, the projected pseudo-row."""
    Y = nonnegative_factor
    C = Y @ Y.T
    Q = np.linalg.qr(Y)[0]
    rows = C / C.sum(axis=1, keepdims=True)
    rows[12] = Q @ (Q.T @ tandem_row(C[[12, 50]]))
    candidates = np.arange(80) != 50
    expected = pivot_rows(rows, 6, candidates=candidates, first=np.array([12])).indices
    np.testing.assert_array_equal(aw.low_rank_anchor_words(Y, anchors=[[12, 50]]).anchors, expected)


def test_distances_in_coordinates_are_those_in_words(nonnegative_factor):
    """|Cbar_i - w'R| = |X_i - w'P| for the anchors' rows R, pseudo-rows among them, and their coordinates P."""
    Y = nonnegative_factor
    C = Y @ Y.T
    W = np.random.default_rng(0).standard_normal((80, 6))
    for anchors in (None, [[12, 50], 3, [20, 5, 60]]):
        model = aw.low_rank_anchor_words(Y, anchors=anchors)
        X, P = rows_and_anchors(model)
        R = anchor_rows_of(model, lambda words: sp.csr_array(C[words])).toarray()
        np.testing.assert_allclose(P @ P.T, R @ R.T, atol=1e-14)
        direct = np.linalg.norm(C / C.sum(axis=1, keepdims=True) - W @ R, axis=1)
        np.testing.assert_allclose(np.linalg.norm(X - W @ P, axis=1), direct, rtol=1e-10)


def test_least_squares_use_the_pseudo_row(nonnegative_factor):
    """word_topics solves each word's problem with the pseudo-row among the points: checked through its gradient."""
    Y = nonnegative_factor
    C = Y @ Y.T
    model = aw.low_rank_anchor_words(Y, anchors=[[12, 50], [3, 4]])
    points = np.vstack([tandem_row(C[list(group)]) for group in model.anchor_groups])
    Cbar = C / C.sum(axis=1, keepdims=True)
    gradient = (model.word_topics @ points - Cbar) @ points.T
    level = np.sum(model.word_topics * gradient, axis=1, keepdims=True)
    recovered = np.setdiff1d(np.arange(80), model.anchors[2:])
    assert (gradient - level)[recovered].min() > -1e-12
    # A: each row's own problem on B, then made symmetric.
    p = model.word_probs @ model.word_topics
    fitted = [scipy_simplex(model.B, point) for point in points]
    A = p[:, None] * np.array(fitted)
    np.testing.assert_allclose(model.A, (A + A.T) / 2, atol=1e-7)


def scipy_simplex(B, row):
    """The nearest point to ``row`` in the hull of the columns of B, by non-negative least squares with a heavy sum."""
    heavy = 1e4
    return nnls(np.vstack([B, np.full(B.shape[1], heavy)]), np.append(row, heavy))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.floats(0.0, 0.6))
@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.DegenerateWarning")
def test_models_are_valid_also_with_negative_entries(seed, K, noise):
    rng = np.random.default_rng(seed)
    Y = rng.gamma(0.5, size=(25, K)) + noise * rng.standard_normal((25, K))
    Y[3] = 0.0
    words = rng.permutation(np.delete(np.arange(25), 3))
    sizes = rng.integers(1, 4, size=int(rng.integers(1, K + 1)))
    groups = [part.tolist() for part in np.split(words[: sizes.sum()], np.cumsum(sizes)[:-1])]
    groups[0].append(3)  # never occurs
    C = Y @ Y.T
    C = (C + C.T) / 2
    fits = [lambda: aw.low_rank_anchor_words(Y, anchors=groups), lambda: aw.anchor_words(C, K, anchors=groups)]
    for fit in fits:
        refused = ""
        try:
            model = fit()
        except InputError as error:
            refused = str(error)
        if refused:  # too few words left, or given rows that are nothing or the same
            assert any(part in refused for part in ("usable words", "co-occurs with no", "independent"))
            continue
        check_valid_guided(model)
        assert model.anchors[: len(groups)].tolist() == [group[0] for group in groups]
        members = {word for group in groups for word in group}
        assert not members & set(model.anchors[len(groups) :].tolist())


def test_a_given_word_whose_own_row_is_no_probability_is_clipped(nonnegative_factor):
    Y = nonnegative_factor.copy()
    Y[7] = [0.01, -0.05, 0.0, 0.0, 0.0, 0.0]
    rows = Y[7] @ Y.T
    assert rows.sum() < 0.0 < rows.max()
    assert not normalised_coordinates(Y).usable[7]
    model = aw.low_rank_anchor_words(Y, anchors=[7])
    check_valid_model(model)
    assert model.anchors[0] == 7
    np.testing.assert_array_equal(aw.anchor_words(Y @ Y.T, 6, anchors=[7]).anchors[0], 7)
    check_valid_guided(aw.low_rank_anchor_words(Y, anchors=[[8, 7]]))


def test_a_topic_that_no_word_needs_keeps_the_words_given_for_it():
    """One anchor of each of two topics: all they share is the word of both, whose row alone is no topic's."""
    B = np.array([[0.3, 0.0], [0.0, 0.3], [0.3, 0.0], [0.0, 0.3], [0.4, 0.4]])
    C = B @ np.diag([0.5, 0.5]) @ B.T
    np.testing.assert_allclose(tandem_row(C[[2, 3]]), [0.0, 0.0, 0.0, 0.0, 1.0])
    with pytest.warns(DegenerateWarning, match="no word needs the anchors of 1 topic"):
        model = aw.anchor_words(C, 3, anchors=[0, 1, [2, 3]])
    check_valid_guided(model)
    np.testing.assert_array_equal(model.word_topics[[2, 3]], np.tile(np.eye(3)[2], (2, 1)))
    np.testing.assert_allclose(model.word_topics[4], [0.5, 0.5, 0.0], atol=1e-12)
    np.testing.assert_allclose(model.B[:, 2], [0.0, 0.0, 0.5, 0.5, 0.0])


def test_a_list_of_one_word_is_that_word(nonnegative_factor):
    lists = aw.low_rank_anchor_words(nonnegative_factor, anchors=[[20], (5,)])
    words = aw.low_rank_anchor_words(nonnegative_factor, anchors=[20, 5])
    assert lists.anchor_groups is None
    for name in ("B", "A", "anchors", "word_topics"):
        np.testing.assert_array_equal(getattr(lists, name), getattr(words, name))


def test_combined_rows():
    rows = sp.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 4.0, 4.0], [1.0, 0.0, 3.0]]))
    combined = combined_rows(rows, [(9, 7), (8,)]).toarray()
    np.testing.assert_allclose(combined, [[0.0, 1.0, 0.0], [0.25, 0.0, 0.75]])


def test_strict_namespace(nonnegative_factor):
    xp = pytest.importorskip("array_api_strict")
    strict = aw.low_rank_anchor_words(xp.asarray(nonnegative_factor), anchors=[[20, 5], 9])
    plain = aw.low_rank_anchor_words(nonnegative_factor, anchors=[[20, 5], 9])
    np.testing.assert_allclose(strict.B, plain.B, atol=1e-12)
    np.testing.assert_array_equal(strict.anchors, plain.anchors)

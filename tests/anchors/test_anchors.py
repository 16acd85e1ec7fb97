"""AW and LAW: Lemma 2, Eq. 5, and validity whatever the statistics."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.anchors.lowrank import normalised_coordinates
from anchorwords.exceptions import DegenerateWarning, InputError, TooLargeError
from anchorwords.linalg.pivoted import pivot_rows
from tests.contracts import check_valid_model


def normalised_rows(Y):
    C = Y @ Y.T
    return C / C.sum(axis=1, keepdims=True)


def test_lemma_2_same_pivots(nonnegative_factor):
    """Column-pivoted QR on Cbar' and on X' choose the same words, with the same residuals at every step."""
    Y = nonnegative_factor
    X = normalised_coordinates(Y).X
    Cbar = normalised_rows(Y)
    full, low = pivot_rows(Cbar, 6), pivot_rows(X, 6)
    np.testing.assert_array_equal(full.indices, low.indices)
    np.testing.assert_allclose(full.residuals, low.residuals, rtol=1e-9)
    np.testing.assert_array_equal(low.indices, scipy.linalg.qr(Cbar.T, mode="r", pivoting=True)[1][:6])
    for k in range(1, 6):  # the statement itself: equal distances from the span of the pivots, for every word
        P = np.linalg.qr(X[low.indices[:k]].T)[0]
        QP = np.linalg.qr(Cbar[low.indices[:k]].T)[0]
        np.testing.assert_allclose(
            np.linalg.norm(X - X @ P @ P.T, axis=1),
            np.linalg.norm(Cbar - Cbar @ QP @ QP.T, axis=1),
            atol=1e-13,
        )


def test_eq_5_same_least_squares(nonnegative_factor):
    """|Cbar_i - w'Cbar_S| = |X_i - w'X_S| for every word and any weights."""
    X, Cbar = normalised_coordinates(nonnegative_factor).X, normalised_rows(nonnegative_factor)
    S = [3, 14, 15, 9, 26, 53]
    W = np.random.default_rng(0).standard_normal((80, 6))
    np.testing.assert_allclose(
        np.linalg.norm(Cbar - W @ Cbar[S], axis=1), np.linalg.norm(X - W @ X[S], axis=1), rtol=1e-10
    )


def test_aw_and_law_agree_where_the_product_is_nonnegative(nonnegative_factor):
    low = aw.low_rank_anchor_words(nonnegative_factor)
    full = aw.anchor_words(nonnegative_factor @ nonnegative_factor.T, 6)
    np.testing.assert_array_equal(low.anchors, full.anchors)
    np.testing.assert_allclose(low.B, full.B, atol=1e-9)
    np.testing.assert_allclose(low.A, full.A, atol=1e-9)
    np.testing.assert_allclose(low.word_topics, full.word_topics, atol=1e-8)
    np.testing.assert_allclose(low.word_probs, full.word_probs, atol=1e-14)
    assert low.A_raw_sum == pytest.approx(full.A_raw_sum, rel=1e-9)
    check_valid_model(low)
    check_valid_model(full)
    assert low.Y is not None
    assert full.Y is None
    assert full.anchor_rows.shape == (6, 80)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(0.0, 0.6))
def test_models_are_valid_also_with_negative_entries(seed, K, noise):
    """Factors with ever more negative mass, unusable rows and zero rows: always valid probabilities."""
    rng = np.random.default_rng(seed)
    Y = rng.gamma(0.5, size=(25, K)) + noise * rng.standard_normal((25, K))
    Y[3] = 0.0
    if (Y @ Y.sum(axis=0) > 0).sum() < K:
        with pytest.raises(InputError, match="usable words"):
            aw.low_rank_anchor_words(Y)
        return
    model = aw.low_rank_anchor_words(Y)
    check_valid_model(model)
    assert not model.B[3].any()
    np.testing.assert_allclose(model.word_topics[3], model.prevalence, atol=1e-15)
    C = Y @ Y.T
    check_valid_model(aw.anchor_words((C + C.T) / 2, K))


def test_rows_whose_sum_is_not_positive_are_repaired():
    Y = np.abs(np.random.default_rng(1).standard_normal((30, 3)))
    Y[7] = [-0.5, 0.3, -0.4]  # negative row sums, yet some positive co-occurrence is left
    Y[8] = -Y[9]
    model = aw.low_rank_anchor_words(Y)
    check_valid_model(model)
    assert not {7, 8} & set(model.anchors.tolist())
    assert model.B[[7, 8]].any(axis=1).all()
    dense = aw.anchor_words(Y @ Y.T, 3)
    np.testing.assert_array_equal(dense.anchors, model.anchors)
    np.testing.assert_allclose(dense.word_topics, model.word_topics, atol=1e-9)


def test_given_anchors_come_first(nonnegative_factor):
    C = nonnegative_factor @ nonnegative_factor.T
    for model in (
        aw.low_rank_anchor_words(nonnegative_factor, anchors=[20, 5]),
        aw.anchor_words(C, 6, anchors=[20, 5]),
    ):
        assert model.anchors[:2].tolist() == [20, 5]
        check_valid_model(model)
    everything = aw.anchor_words(C, 3, anchors=np.array([1, 2, 3]))
    assert everything.anchors.tolist() == [1, 2, 3]
    assert aw.anchor_words(C, 2, anchors=[]).anchors.tolist() == aw.anchor_words(C, 2).anchors.tolist()


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ([0, 0], "distinct"),
        ([-1], "from 0 to 79"),
        ([80], "from 0 to 79"),
        ([0.5], "column index"),
        (list(range(7)), "at most n_components=6"),
        ([10, 11], "independent"),
    ],
)
def test_bad_anchors(nonnegative_factor, anchors, message):
    with pytest.raises(InputError, match=message):
        aw.low_rank_anchor_words(nonnegative_factor, anchors=anchors)


def test_given_anchor_that_never_occurs():
    C = scipy.linalg.block_diag(np.eye(3), np.zeros((1, 1)))
    with pytest.raises(InputError, match="column 3 co-occurs with no word"):
        aw.anchor_words(C, 2, anchors=[3])


def test_the_record_does_not_alias_its_input(nonnegative_factor):
    Y = nonnegative_factor.copy()
    model = aw.low_rank_anchor_words(Y)
    Y[0, 0] = 123.0
    assert model.Y[0, 0] != 123.0


def test_more_topics_than_the_statistics_carry():
    Y = np.random.default_rng(0).random((20, 3))
    C = Y @ Y.T
    with pytest.warns(DegenerateWarning, match="numerical rank 3 .* last 2 topic.* at most 3"):
        dense = aw.anchor_words(C, 5)
    with pytest.warns(DegenerateWarning, match="rank 3"):
        low = aw.low_rank_anchor_words(np.hstack([Y, np.zeros((20, 2))]))
    for model in (dense, low):
        check_valid_model(model)
        # Three pivots, then the most frequent words that are left.
        rest = np.setdiff1d(np.argsort(-C.sum(axis=1), kind="stable"), model.anchors[:3], assume_unique=True)
        assert model.anchors[3:].tolist() == rest[:2].tolist()
    with pytest.raises(InputError, match=r"n_components=4 exceeds the 3 usable words"):
        aw.anchor_words(scipy.linalg.block_diag(np.eye(3), np.zeros((2, 2))), 4)


def test_anchors_that_never_co_occur():
    """Rare words without rectification: each once a document, no two of them in one."""
    X = np.zeros((12, 7), int)
    X[:, 0] = 2
    for m in range(12):
        X[m, [1 + m % 3, 4 + m % 3]] = 1, 3
    with pytest.warns(DegenerateWarning, match="no two anchors co-occur"):
        model = aw.anchor_words(aw.cooccurrence(X), 3, anchors=[1, 2, 3])
    check_valid_model(model)
    assert model.A_raw_sum == 0.0
    np.testing.assert_array_equal(model.A, np.diag(model.A.diagonal()))


@pytest.mark.parametrize("K", [1, 2, 5])
def test_as_many_topics_as_words(K):
    C = np.diag(np.arange(1.0, K + 1))
    model = aw.anchor_words(C / C.sum(), K)
    check_valid_model(model)
    np.testing.assert_allclose(np.sort(model.prevalence), np.sort(C.diagonal() / C.sum()))


def test_one_topic_is_the_unigram():
    Y = np.random.default_rng(2).random((12, 1))
    model = aw.low_rank_anchor_words(Y)
    np.testing.assert_allclose(model.B[:, 0], Y[:, 0] / Y.sum(), atol=1e-15)
    assert model.A.tolist() == [[1.0]]


@pytest.mark.parametrize("Y", [np.ones(4), np.ones((0, 2)), np.full((3, 2), np.inf), np.ones((2, 3))])
def test_bad_compressions(Y):
    with pytest.raises(InputError):
        aw.low_rank_anchor_words(Y)


def test_too_many_words_names_enn():
    class Huge:
        shape = (2_000_000, 2_000_000)

    with pytest.raises(TooLargeError, match=r"GiB.*ENN"):
        aw.anchor_words(Huge(), 5)


def test_threads_do_not_matter(nonnegative_factor):
    one, three = (aw.low_rank_anchor_words(nonnegative_factor, n_jobs=jobs) for jobs in (1, 3))
    np.testing.assert_array_equal(one.B, three.B)

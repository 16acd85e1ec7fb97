from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.metrics import (
    Reference,
    approximation,
    dissimilarity,
    dominancy,
    entropy,
    match_topics,
    recovery,
    relative_approximation,
    relative_dominancy,
    relative_recovery,
    sparsity,
    specificity,
    topic_diversity,
)
from anchorwords.metrics.measure import Measure, mean_of
from tests.metrics import direct


@pytest.fixture(scope="module")
def fitted(sampled):
    return aw.AnchorTopicModel(4).fit(sampled.corpus)


def test_relative_approximation_against_the_direct_formula(fitted, sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    m = fitted.model_
    direct = np.linalg.norm(C - m.B @ m.A @ m.B.T) / np.linalg.norm(C)
    raw = np.linalg.norm(C - m.A_raw_sum * m.B @ m.A @ m.B.T) / np.linalg.norm(C)
    for statistics in (C, aw.CooccurrenceOperator(sampled.corpus.counts)):
        assert relative_approximation(fitted, statistics) == pytest.approx(direct, rel=1e-10)
        assert relative_approximation(fitted, statistics, raw=True) == pytest.approx(raw, rel=1e-10)
    with pytest.raises(InputError, match="120 words, but C has 3"):
        relative_approximation(fitted, np.eye(3))


def test_relative_recovery_against_the_direct_formula(fitted):
    m = fitted.model_
    C = m.Y @ m.Y.T
    Cbar = C / C.sum(axis=1, keepdims=True)
    direct = np.mean(np.linalg.norm(Cbar - m.word_topics @ Cbar[m.anchors], axis=1)) / np.linalg.norm(Cbar)
    assert relative_recovery(fitted) == pytest.approx(direct, rel=1e-8)
    assert relative_recovery(fitted, C) == pytest.approx(direct, rel=1e-8)
    with pytest.raises(InputError, match="no compression"):
        relative_recovery(aw.anchor_words(C, 3))


def test_words_that_never_occur_do_not_count():
    X = np.random.default_rng(0).integers(0, 3, (40, 12))
    padded = np.hstack([X, np.zeros((40, 100), int)])
    assert relative_recovery(aw.AnchorTopicModel(3).fit(padded)) == pytest.approx(
        relative_recovery(aw.AnchorTopicModel(3).fit(X)), rel=1e-6
    )


def test_specificity_against_scipy(fitted, sampled):
    from scipy.stats import entropy

    p = aw.CooccurrenceOperator(sampled.corpus.counts).row_sums()
    direct = np.mean([entropy(b, p, base=2) for b in fitted.components_])
    assert specificity(fitted, p) == pytest.approx(direct, rel=1e-10)
    with pytest.raises(InputError, match="one probability a word"):
        specificity(fitted, p[:3])


def test_a_model_of_one_topic_is_not_specific(sampled):
    model = aw.AnchorTopicModel(1).fit(sampled.corpus)
    p = aw.CooccurrenceOperator(sampled.corpus.counts).row_sums()
    assert specificity(model, p) < 0.05
    assert dissimilarity(model) == 20.0
    assert dominancy(model) == relative_dominancy(model) == pytest.approx(1.0)


def test_dissimilarity_and_dominancy_by_hand(fitted):
    tops = [set(top) for top in aw.prominent_words(fitted, 20)]
    direct = np.mean(
        [sum(all(w not in o for j, o in enumerate(tops) if j != k) for w in top) for k, top in enumerate(tops)]
    )
    assert dissimilarity(fitted) == pytest.approx(direct)
    A = fitted.topic_correlation_
    assert dominancy(fitted) == pytest.approx(np.mean(A.diagonal() / A.sum(axis=1)))
    assert relative_dominancy(fitted) == pytest.approx(A.trace() / 4 / np.sqrt((A**2).sum()))


def test_matching_undoes_a_permutation():
    B = np.random.default_rng(0).dirichlet(np.ones(30), size=7).T
    order = np.random.default_rng(1).permutation(7)
    found = match_topics(B, B[:, order])
    np.testing.assert_array_equal(order[found.other], np.arange(7))
    assert found.total_variation.max() == 0.0
    assert match_topics(np.eye(4)[:, :2], np.eye(4)[:, 2:]).total_variation.tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match="same shape"):
        match_topics(B, B[:, :3])


# Differences of squared norms within a factor of some hundreds of each other; models that fit nothing.
ROUNDING = 1e-10


def kinds_of(X):
    """The co-occurrence of documents in every form the functions take."""
    yield direct.eq1(X)
    yield aw.CooccurrenceOperator(X)
    yield Reference(X)
    yield Reference(direct.cut(X, 8))
    yield Reference(direct.cut(X, 8)).operator


@pytest.mark.parametrize("seed", range(3))
def test_every_form_of_the_co_occurrence(seed):
    X = direct.random_counts(seed)
    C = direct.eq1(X)
    model = direct.random_model(seed, C)
    for statistics in kinds_of(X):
        for function, by_definition in (
            (recovery, direct.recovery),
            (relative_recovery, direct.relative_recovery),
            (approximation, direct.approximation),
            (relative_approximation, direct.relative_approximation),
        ):
            value, topics = by_definition(model, C)
            assert function(model, statistics) == pytest.approx(value, rel=ROUNDING)
            np.testing.assert_allclose(function(model, statistics, per_topic=True), topics, rtol=ROUNDING)
        value, topics = direct.approximation(model, C, model.A_raw_sum)
        assert approximation(model, statistics, raw=True) == pytest.approx(value, rel=ROUNDING)
        np.testing.assert_allclose(approximation(model, statistics, raw=True, per_topic=True), topics, rtol=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_none_is_the_rectified_co_occurrence(seed):
    X = direct.random_counts(seed)
    model = direct.random_model(seed, direct.eq1(X))
    C = model.Y @ model.Y.T
    for function in (recovery, relative_recovery, approximation, relative_approximation):
        assert function(model, None) == pytest.approx(function(model, C), rel=ROUNDING)
        np.testing.assert_allclose(
            function(model, None, per_topic=True), function(model, C, per_topic=True), rtol=ROUNDING
        )


def test_rows_that_are_mixtures_of_anchors_are_recovered_without_error():
    """C = B A B' exactly, anchors and all: in K dimensions to rounding, expanded to its root."""
    rng = np.random.default_rng(0)
    B = rng.gamma(0.5, size=(25, 3))
    B[:3] = np.diag([0.3, 0.5, 0.4])
    B /= B.sum(axis=0)
    A = np.array([[3, 1, 1], [1, 4, 1], [1, 1, 5]]) / 18
    C = B @ A @ B.T
    model = aw.low_rank_anchor_words(B @ np.linalg.cholesky(A), anchors=[0, 1, 2])
    assert relative_recovery(model) < 1e-12
    assert relative_recovery(model, C) < 1e-12
    assert model.A_raw_sum == pytest.approx(1.0)
    # |C|^2 - 2 <C, BAB'> + |BAB'|^2 is 1e-16 of |C|^2, give or take: its root 1e-8.
    assert relative_approximation(model, C) < 1e-7
    assert relative_approximation(model, None) < 1e-7


def test_dense_shapes_of_topics(fitted):
    model = fitted.model_
    for function in (entropy, sparsity, dominancy, relative_dominancy, dissimilarity, topic_diversity):
        value, topics = getattr(direct, function.__name__)(model)
        assert function(fitted) == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(function(model, per_topic=True), topics, rtol=1e-12)
    # 2^entropy words of equal probability are as spread out.
    uniform = aw.TopicModel(
        np.full((8, 1), 1 / 8), np.ones((1, 1)), 1.0, np.array([0]), np.ones((8, 1)), np.full(8, 1 / 8)
    )  # fmt: skip
    assert 2 ** entropy(uniform) == pytest.approx(8)
    assert sparsity(uniform) == pytest.approx(0.0, abs=1e-15)


def test_a_topic_that_never_occurs_has_no_dominancy():
    A = np.array([[0.6, 0.4 / 2, 0], [0.2, 0, 0], [0, 0, 0]])
    model = aw.TopicModel(np.eye(3), A, 1.0, np.arange(3), np.eye(3), np.full(3, 1 / 3))
    np.testing.assert_array_equal(dominancy(model, per_topic=True), [0.6 / 0.8, 0.0, np.nan])
    assert dominancy(model) == pytest.approx(0.375)


def test_zero_entries_of_B_and_of_the_unigram(fitted):
    model = fitted.model_
    p = model.word_probs.copy()
    p[3] = 0.0
    p /= p.sum()
    expected = [
        sum(b * np.log2(b / max(q, 2.0**-52)) for b, q in zip(column, p, strict=True) if b > 0) for column in model.B.T
    ]  # fmt: skip
    np.testing.assert_allclose(specificity(model, p, per_topic=True), expected, rtol=1e-12)
    assert np.isfinite(specificity(model, p))


def test_a_matrix_without_an_anchor_is_refused():
    """The rows cannot be recovered from a row that is not there, whatever form C comes in."""
    X = direct.random_counts(0)
    model = direct.random_model(0, direct.eq1(X))
    X = X.copy()
    X[:, model.anchors[1]] = 0
    for statistics in kinds_of(X):
        with pytest.raises(InputError, match="anchor"):
            relative_recovery(model, statistics)


def test_bad_input_of_accuracy(fitted):
    X = direct.random_counts(0)
    with pytest.raises(InputError, match="120 words, but X has 30"):
        relative_approximation(fitted, aw.CooccurrenceOperator(X))
    with pytest.raises(InputError, match="120 words, but X has 30"):
        relative_recovery(fitted, Reference(X))
    with pytest.raises(InputError, match="square matrix"):
        relative_approximation(fitted, X)
    with pytest.raises(InputError, match="symmetric"):
        relative_recovery(fitted, np.triu(np.ones((120, 120))))
    with pytest.raises(InputError, match="no compression"):
        relative_approximation(aw.anchor_words(direct.eq1(X + 1), 2), None)
    with pytest.raises(InputError, match="positive whole number"):
        dissimilarity(fitted, 0)


def test_measures():
    measure = mean_of(np.array([1.0, np.nan, 4.0]))
    assert measure.value == measure.part(False) == 2.5
    np.testing.assert_array_equal(measure.part(True), [1.0, np.nan, 4.0])
    assert (measure.standard_error, Measure(1.0).per_topic) == (0.0, None)

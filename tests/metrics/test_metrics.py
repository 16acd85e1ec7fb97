from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.metrics.accuracy import relative_approximation, relative_recovery
from anchorwords.metrics.distinctness import dissimilarity, dominancy, relative_dominancy, specificity
from anchorwords.metrics.matching import match_topics


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

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.interpret import companions as together
from anchorwords.interpret.companions import FactoredCooccurrence
from anchorwords.metrics import Reference
from tests.exploring.made import made_model


@pytest.fixture(scope="module")
def model():
    return made_model(300, 6, words_a_topic=80)


@pytest.fixture(scope="module", params=["Y", "no Y", "unlike"])
def both(request, model):
    """A model and its dense co-occurrence: of Y, of B A B', and of a Y that is neither that nor non-negative."""
    if request.param == "Y":
        return model, model.Y @ model.Y.T
    if request.param == "no Y":
        return dataclasses.replace(model, Y=None), model.B @ model.A @ model.B.T
    rng = np.random.default_rng(0)
    Y = np.abs(rng.standard_normal((300, 6))) + 0.3 * rng.standard_normal((300, 6))
    Y[17] = 0.0
    Y /= np.sqrt((Y.sum(axis=0) ** 2).sum())
    return dataclasses.replace(model, Y=Y), Y @ Y.T


def test_it_is_the_dense_matrix(both):
    model, C = both
    found = FactoredCooccurrence(model)
    assert found.shape == C.shape
    assert found.rectified == (model.Y is not None)
    np.testing.assert_allclose(found.row_sums(), np.maximum(C.sum(axis=1), 0.0), atol=1e-15)
    groups = [np.array([0, 5, 250]), np.array([17]), np.array([], dtype=np.intp), np.arange(300)]
    for group, part in zip(groups, found.submatrices(groups), strict=True):
        np.testing.assert_allclose(part, np.maximum(C[np.ix_(group, group)], 0.0), atol=1e-15)


def test_metrics_take_it_for_an_operator(model):
    # Two routes: through the factors, and through the matrix they stand for.
    found = FactoredCooccurrence(model)
    reference = Reference.of_operator(found)
    np.testing.assert_allclose(reference.unigram.sum(), 1.0, atol=1e-12)
    np.testing.assert_allclose(reference.unigram, model.word_probs, atol=1e-15)
    trees = aw.metrics.topic_trees(model, found, 5)
    C, p = model.Y @ model.Y.T, model.word_probs
    for tree in trees:
        index = np.array([int(word) for word in tree.words])
        for i, j, weight in tree.edges:
            a, b = index[i], index[j]
            npmi = np.log(C[a, b] / (p[a] * p[b])) / -np.log(C[a, b])
            assert weight == pytest.approx((1.0 - npmi) / 2.0, abs=1e-9)


def brute_companions(C, words, n):
    p = np.maximum(C.sum(axis=1), 0.0)
    result = []
    for i in words:
        terms = []
        for place, j in enumerate(words):
            if i != j and p[i] > 0.0 and p[j] > 0.0 and C[i, j] > p[i] * p[j]:
                lift = C[i, j] / (p[i] * p[j])
                terms.append((C[i, j] * np.log(lift), place, lift))
        result.append(sorted(terms, key=lambda term: -term[0])[:n])
    return result


@pytest.mark.parametrize("n", [1, 4, 400])
def test_companions_are_those_that_say_most(both, n):
    model, C = both
    words = np.sort(np.random.default_rng(1).choice(300, 120, replace=False))
    places, lifts = FactoredCooccurrence(model).companions(words, n)
    assert len(places) == len(lifts) == words.size
    for own, ratios, expected in zip(places, lifts, brute_companions(C, words, n), strict=True):
        assert own.size == ratios.size == len(expected)
        # By what they say: neighbours in the order may change places where that is the same to rounding.
        for place, ratio, (_, other, lift) in zip(own, ratios, expected, strict=True):
            assert ratio == pytest.approx(lift, rel=1e-9) or place != other
        order = {place: (term, lift) for term, place, lift in expected}
        assert set(own.tolist()) == set(order)
        terms = [order[place][0] for place in own.tolist()]
        assert all(a >= b * (1 - 1e-9) for a, b in pairwise(terms))
        np.testing.assert_allclose(ratios, [order[place][1] for place in own.tolist()], rtol=1e-9)


def test_blocks_change_nothing(model, monkeypatch):
    words = np.arange(0, 300, 2)
    found = FactoredCooccurrence(model).companions(words, 5)
    monkeypatch.setattr(together, "_ALIVE", 1000)
    again = FactoredCooccurrence(model).companions(words, 5)
    for (places, lifts), (others, ratios) in zip(zip(*found, strict=True), zip(*again, strict=True), strict=True):
        np.testing.assert_array_equal(places, others)
        np.testing.assert_allclose(lifts, ratios, rtol=1e-12)


def test_no_word_is_its_own_companion_and_strangers_have_none(model):
    words = np.arange(300)
    places, lifts = FactoredCooccurrence(model).companions(words, 10)
    assert all(i not in own for i, own in enumerate(places))
    assert all((ratios > 1.0).all() for ratios in lifts)
    silent = dataclasses.replace(model, Y=np.where(words[:, None] == 40, 0.0, model.Y))
    places, _ = FactoredCooccurrence(silent).companions(words, 10)
    assert places[40].size == 0
    assert all(40 not in own for own in places)


def test_independent_words_have_no_companions():
    # One topic: C = p p'. Rounding alone may not make company.
    p = np.full(64, 1 / 64)
    model = aw.TopicModel(p[:, None], np.ones((1, 1)), 1.0, np.array([0]), np.ones((64, 1)), p)
    places, _ = FactoredCooccurrence(model).companions(np.arange(64), 5)
    assert all(own.size == 0 for own in places)


def test_ties_go_to_the_first():
    # Two topics that never mix, all words alike: the company of a word is the first others of its topic.
    B = np.zeros((20, 2))
    B[:10, 0] = B[10:, 1] = 0.1
    model = aw.TopicModel(B, np.eye(2) / 2, 1.0, np.array([0, 10]), B / 0.1, B.sum(axis=1) / 2)
    places, lifts = FactoredCooccurrence(model).companions(np.arange(20), 3)
    np.testing.assert_array_equal(places[15], [10, 11, 12])
    np.testing.assert_array_equal(places[0], [1, 2, 3])
    np.testing.assert_allclose(np.concatenate(lifts), 2.0)

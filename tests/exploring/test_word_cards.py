from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring import word_cards as module
from anchorwords.exploring.plain import number
from anchorwords.exploring.word_cards import choose_words, word_columns, word_space
from anchorwords.interpret.companions import FactoredCooccurrence

from .made import made_model

WORDS, OTHERS = module._WORDS, module._OTHERS


@pytest.fixture(scope="module")
def large():
    return made_model(20_000, 5, words_a_topic=500)


@pytest.fixture(scope="module")
def small():
    return made_model(200, 6, words_a_topic=60)


def test_small_vocabularies_are_there_whole(small):
    np.testing.assert_array_equal(choose_words(small, []), np.arange(200))
    # But for words that never occur, unless a topic lists them.
    silent = dataclasses.replace(small, word_probs=np.where(np.arange(200) % 10 == 3, 0.0, small.word_probs))
    found = choose_words(silent, [np.array([13, 23])])
    anchors = set(small.anchors.tolist())
    assert set(range(200)) - set(found.tolist()) == {i for i in range(3, 200, 10) if i not in {13, 23} | anchors}


@pytest.mark.parametrize("n_listed", [0, 10, 3000, WORDS - OTHERS, WORDS - 1, WORDS, WORDS + 1, 9000, 19_990])
def test_all_that_is_listed_and_a_bounded_number_of_others(large, n_listed):
    listed = np.random.default_rng(n_listed).permutation(20_000)[:n_listed]
    found = choose_words(large, np.array_split(listed, 7))
    wanted = set(listed.tolist()) | set(large.anchors.tolist())
    assert wanted <= set(found.tolist())
    assert (np.diff(found) > 0).all()
    assert found.size == min(20_000, max(WORDS, len(wanted) + OTHERS))


def test_the_others_are_the_most_frequent_and_an_even_sample(large):
    found = np.zeros(20_000, dtype=bool)
    found[choose_words(large, [])] = True
    order = np.argsort(-large.word_probs, kind="stable")
    order = order[~np.isin(order, large.anchors)]
    half = (WORDS - large.n_components) // 2
    assert found[order[:half]].all()
    # Of the rest every so many: gaps differ by one at most, the most and the least frequent are in.
    places = np.flatnonzero(found[order[half:]])
    assert places.size == WORDS - large.n_components - half
    assert set(np.diff(places).tolist()) <= {4, 5, 6}
    assert np.ptp(np.diff(places)) <= 1
    assert (places[0], places[-1]) == (0, order.size - half - 1)


def test_every_word_of_an_anchor_of_several(large):
    groups = tuple((int(anchor), 19_990 + k) for k, anchor in enumerate(large.anchors))
    rare = dataclasses.replace(large, anchor_groups=groups)
    assert {word for group in groups for word in group} <= set(choose_words(rare, []).tolist())


def test_shares_are_those_of_the_model(small):
    columns = np.arange(0, 200, 3)
    names = [f"w{i}" for i in range(200)]
    found = word_columns(small, columns, names, small.word_probs, FactoredCooccurrence(small))
    assert {len(values) for values in found.values()} == {columns.size}
    assert found["text"] == [names[i] for i in columns]
    assert found["probability"] == [number(small.word_probs[i], 6) for i in columns]
    for i, own in zip(columns, found["topics"], strict=True):
        ids, shares = own[::2], own[1::2]
        assert shares == [number(small.word_topics[i, k], 3) for k in ids]
        assert shares == sorted(shares, reverse=True)
        # All that have a hundredth, up to eight.
        assert len(ids) == min(8, int((small.word_topics[i] >= 0.01).sum()))
        assert set(ids) <= set(np.flatnonzero(small.word_topics[i] >= 0.01).tolist())
    for i, own in enumerate(found["companions"]):
        assert i not in own[::2]
        assert all(0 <= other < columns.size for other in own[::2])
        assert all(lift >= 1.0 for lift in own[1::2])
    anchored = word_columns(small, small.anchors, names, small.word_probs, FactoredCooccurrence(small))
    assert anchored["topics"] == [[k, 1] for k in range(6)]


def test_the_space_is_that_of_the_figures(small):
    columns = np.arange(5, 200, 2)
    found, expected = word_space(small, columns), aw.plot.space_coordinates(small)
    np.testing.assert_allclose(found["x"], expected.xy[columns, 0], rtol=1e-4)
    np.testing.assert_allclose(found["y"], expected.xy[columns, 1], rtol=1e-4)
    np.testing.assert_allclose(found["explained"], expected.explained, rtol=1e-3)
    assert found["of"] == "rectified"
    # No anchor is outside the hull of the corners, whose places go round it.
    corners = expected.xy[small.anchors[found["hull"]]]
    assert len(set(found["hull"])) == len(found["hull"]) >= 3
    step = np.roll(corners, -1, axis=0) - corners
    away = expected.xy[small.anchors][:, None] - corners
    side = step[:, 0] * away[:, :, 1] - step[:, 1] * away[:, :, 0]
    assert (side >= -1e-12).all() or (side <= 1e-12).all()


def test_without_a_compression_words_stand_by_their_topics(small):
    found = word_space(dataclasses.replace(small, Y=None), np.arange(200))
    assert found["of"] == "word_topics"
    centred = small.word_topics - small.word_topics.mean(axis=0)
    lengths = np.linalg.svd(centred, compute_uv=False) ** 2
    np.testing.assert_allclose(found["explained"], lengths[:2] / lengths.sum(), rtol=1e-3)
    xy = np.array([found["x"], found["y"]]).T
    np.testing.assert_allclose((xy**2).sum(axis=0), lengths[:2], rtol=1e-3)


def test_words_without_a_place(small):
    Y = np.where(np.arange(200)[:, None] == 7, 0.0, small.Y)
    found = word_space(dataclasses.replace(small, Y=Y), np.arange(200))
    assert (found["x"][7], found["y"][7]) == (None, None)
    assert None not in found["x"][:7] + found["x"][8:]


@pytest.mark.parametrize("with_Y", [True, False])
def test_one_topic_has_no_space(with_Y):
    p = np.arange(1.0, 31.0) / 465.0
    model = aw.TopicModel(p[:, None], np.ones((1, 1)), 1.0, np.array([3]), np.ones((30, 1)), p, Y=p[:, None])
    assert word_space(model if with_Y else dataclasses.replace(model, Y=None), np.arange(30)) is None


def test_two_topics_are_a_line():
    model = made_model(60, 2, words_a_topic=30)
    found = word_space(model, np.arange(60))
    assert found["explained"][0] == pytest.approx(1.0)
    assert sorted(found["hull"]) == [0, 1]
    x = np.array(found["x"])
    ends = x[model.anchors]
    assert (x >= ends.min() - 1e-5).all()
    assert (x <= ends.max() + 1e-5).all()

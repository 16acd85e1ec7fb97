"""Rankings of words from their definitions."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.interpret import ranking as module
from anchorwords.interpret.ranking import RANKINGS, given_top
from anchorwords.interpret.topic_words import top_indices, top_words
from tests.interpret.records import random_topics, record_of


def relevance_by_loops(B, prevalence, weight):
    N, K = B.shape
    tops = []
    for k in range(K):
        scores = {}
        for i in range(N):
            if B[i, k] > 0:
                p = sum(B[i, j] * prevalence[j] for j in range(K))
                scores[i] = weight * log(B[i, k]) + (1 - weight) * log(B[i, k] / p)
        tops.append(sorted(scores, key=lambda i, scores=scores: (-round(scores[i], 11), i)))
    return tops


def frex_by_loops(B, weight):
    N, K = B.shape
    tops = []
    for k in range(K):
        own = [i for i in range(N) if B[i, k] > 0]
        exclusive = {i: round(B[i, k] / sum(B[i]), 11) for i in own}
        scores = {}
        for i in own:
            F = sum(B[j, k] <= B[i, k] for j in own) / len(own)
            E = sum(exclusive[j] <= exclusive[i] for j in own) / len(own)
            scores[i] = 1 / (weight / F + (1 - weight) / E)
        tops.append(sorted(own, key=lambda i, scores=scores: (-round(scores[i], 11), i)))
    return tops


def as_lists(tops):
    return [top.tolist() for top in tops]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weight", [0.0, 0.3, 0.6, 1.0])
def test_by_loops(seed, weight, monkeypatch):
    B, prevalence = random_topics(seed)
    model = record_of(B, prevalence)
    relevant, frex = relevance_by_loops(B, prevalence, weight), frex_by_loops(B, weight)
    for copied in (1, 130, 1 << 21):  # columns at a time
        monkeypatch.setattr(module, "_COPIED", copied)
        for n in (1, 7, 60, 1000):
            assert as_lists(top_indices(model, n, ranking="relevance", weight=weight)) == [r[:n] for r in relevant]
            assert as_lists(top_indices(model, n, ranking="frex", weight=weight)) == [f[:n] for f in frex]


def test_a_weight_of_one_is_the_order_of_probability():
    B, prevalence = random_topics(9)
    model = record_of(B, prevalence)
    expected = as_lists(top_indices(model, 20))
    for ranking in ("relevance", "frex"):
        assert as_lists(top_indices(model, 20, ranking=ranking, weight=1)) == expected
        assert as_lists(top_indices(model, 20, ranking=ranking)) != expected


def test_default_weights_are_those_of_the_literature():
    B, prevalence = random_topics(3)
    model = record_of(B, prevalence)
    for ranking, weight in (("relevance", 0.6), ("frex", 0.5)):
        assert as_lists(top_indices(model, ranking=ranking)) == as_lists(
            top_indices(model, 10, ranking=ranking, weight=weight)
        )


def test_other_rankings_are_the_words_there_were(sampled):
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    with pytest.raises(InputError, match="this model has no keyword weights: fit with the preset 'readers'"):
        top_words(model, 7, ranking="keywords")
    assert top_words(model, 7) == aw.prominent_words(model, 7)
    assert top_words(model, 7, ranking="characteristic") == aw.characteristic_words(model, 7)
    for ranking in RANKINGS[1:]:
        indices = top_indices(model, 7, ranking=ranking)
        named = [[sampled.corpus.vocabulary[i] for i in top] for top in indices]
        assert top_words(model, 7, ranking=ranking) == named
        bare = replace(model.model_, vocabulary=None)
        assert top_words(bare, 7, ranking=ranking, vocabulary=sampled.corpus.vocabulary) == named
        assert top_words(bare, 1, ranking=ranking)[0] == [str(indices[0][0])]


def test_words_that_all_topics_have_sink():
    # Word 0 is the most probable of both topics and tells them apart by nothing.
    B = np.array([[0.4, 0.4], [0.3, 0.0], [0.0, 0.3], [0.2, 0.1], [0.1, 0.2]])
    model = record_of(B)
    assert [top[0] for top in top_indices(model, 1)] == [0, 0]
    assert [top[0] for top in top_indices(model, 1, ranking="relevance", weight=0.3)] == [1, 2]
    assert [top[0] for top in top_indices(model, 1, ranking="frex")] == [1, 2]


def test_words_of_one_topic_alone_tie_whatever_rounding_does():
    rng = np.random.default_rng(0)
    B = np.zeros((40, 3))
    B[:30] = np.kron(np.eye(3), np.ones((10, 1))) * rng.random((30, 1))
    B[30:] = rng.random((10, 3))
    B /= B.sum(axis=0)
    model = record_of(B, [0.1, 0.3, 0.6])
    # By lift alone the ten own words of a topic are the same, 1 / p(topic), so that they come in order of index.
    assert as_lists(top_indices(model, 10, ranking="relevance", weight=0)) == [
        [*range(10 * k, 10 * k + 10)] for k in range(3)
    ]
    assert as_lists(top_indices(model, 10, ranking="frex", weight=0)) == [
        [*range(10 * k, 10 * k + 10)] for k in range(3)
    ]


@pytest.mark.parametrize("ranking", ["probability", "relevance", "frex"])
def test_words_that_never_occur_change_nothing(ranking):
    B, prevalence = random_topics(5)
    places = np.random.default_rng(1).choice(200, size=60, replace=False)
    places.sort()
    wide = np.zeros((200, 5))
    wide[places] = B
    found = top_indices(record_of(B, prevalence), 12, ranking=ranking)
    assert as_lists(top_indices(record_of(wide, prevalence), 12, ranking=ranking)) == [
        places[t].tolist() for t in found
    ]


@pytest.mark.parametrize("ranking", ["probability", "relevance", "frex"])
def test_the_order_of_topics_does_not_matter(ranking):
    B, prevalence = random_topics(6)
    order = np.random.default_rng(2).permutation(5)
    found = as_lists(top_indices(record_of(B, prevalence), 9, ranking=ranking))
    moved = as_lists(top_indices(record_of(B[:, order], prevalence[order]), 9, ranking=ranking))
    assert moved == [found[k] for k in order]


def test_a_topic_of_no_prevalence_has_words_still():
    B = np.array([[0.7, 0.0], [0.3, 0.0], [0.0, 0.8], [0.0, 0.2]])
    model = record_of(B, [1.0, 0.0])
    for ranking in ("relevance", "frex"):
        assert as_lists(top_indices(model, 5, ranking=ranking)) == [[0, 1], [2, 3]]


def test_bad_input_is_refused():
    model = record_of(*random_topics(0))
    with pytest.raises(
        InputError, match="ranking must be one of 'keywords', 'probability', 'relevance', 'frex', 'characteristic'"
    ):
        top_words(model, ranking="lift")
    with pytest.raises(InputError, match="ranking 'probability' takes no weight"):
        top_words(model, weight=0.5)
    for weight in (-0.1, 1.1, float("nan"), "0.5", True):
        with pytest.raises(InputError, match="weight must be a number from 0 to 1"):
            top_words(model, ranking="frex", weight=weight)
    with pytest.raises(InputError, match="n must be"):
        top_indices(model, 0, ranking="relevance")
    with pytest.raises(InputError, match="original co-occurrence"):
        top_indices(model, ranking="characteristic")
    with pytest.raises(InputError, match="expected a TopicModel"):
        top_words("model", ranking="frex")


def test_given_lists_are_checked():
    assert [list(words) for words in given_top([[3, 1, 2], np.array([0])], 2, 4, 2)] == [[3, 1], [0]]
    for top, message in (
        ("ab", "a list of columns a topic"),
        ([], "a list of columns a topic"),
        (7, "a list of columns a topic"),
        ([[1, 2]], "2 of them, but holds 1"),
        ([[1, 2], [0.5]], r"top\[1\] must be a list of columns"),
        ([[1, 2], ["a"]], r"top\[1\] must be a list of columns"),
        ([[1, 2], [[1]]], r"top\[1\] must be a list of columns"),
        ([[1, 4], [1]], r"top\[0\] must hold columns from 0 to 4 - 1"),
        ([[1, 2], [-1]], r"top\[1\] must hold columns from 0"),
        ([[1, 1], [2]], r"top\[0\] must hold each word once"),
    ):
        with pytest.raises(InputError, match=message):
            given_top(top, 5, 4, 2)


@pytest.mark.data
def test_on_papers_relevance_and_frex_make_topics_more_distinct(real_corpus):
    corpus = real_corpus("nips12", 2500)
    model = aw.AnchorTopicModel(20).fit(corpus)
    diversity = [
        aw.metrics.topic_diversity(model, top=top_indices(model, 25, ranking=ranking))
        for ranking in ("probability", "relevance", "frex")
    ]
    assert diversity == sorted(diversity)
    # The lists by probability are those the metric takes by itself.
    assert diversity[0] == aw.metrics.topic_diversity(model)

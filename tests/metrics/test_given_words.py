"""Metrics of words that are given instead of the most probable."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError, UndefinedMetricError
from anchorwords.interpret.topic_words import top_indices
from anchorwords.metrics import Reference, dissimilarity, npmi_coherence, topic_diversity, umass_coherence
from tests.interpret.records import random_topics, record_of


@pytest.fixture(scope="module")
def problem():
    B, prevalence = random_topics(0, N=30, K=4)
    X = np.random.default_rng(1).poisson(0.6, size=(50, 30))
    X[0] = 1  # every word occurs
    return record_of(B, prevalence), X


@pytest.mark.parametrize("per_topic", [False, True])
def test_a_models_own_words_given_are_the_metric_itself(problem, per_topic):
    model, X = problem
    top = top_indices(model, 30)
    words = [f"w{i}" for i in range(30)]
    for given in (model, None):
        for documents in (X, Reference(X), aw.Corpus(X, words)):
            for metric in (npmi_coherence, umass_coherence):
                np.testing.assert_array_equal(
                    metric(given, documents, top=top, per_topic=per_topic), metric(model, X, per_topic=per_topic)
                )
        for metric in (topic_diversity, dissimilarity):
            np.testing.assert_array_equal(
                metric(given, top=top, per_topic=per_topic), metric(model, per_topic=per_topic)
            )


def test_another_ranking_is_a_model_with_that_order(problem):
    model, X = problem
    top = top_indices(model, 10, ranking="frex")
    # A model whose probabilities fall in the order of the ranking has the same top words.
    B = np.zeros((30, 4))
    for k, words in enumerate(top):
        B[words, k] = np.arange(words.size, 0, -1)
    other = record_of(B / B.sum(axis=0))
    assert npmi_coherence(model, X, top=top) == npmi_coherence(other, X)
    assert umass_coherence(model, X, 10, top=top) == umass_coherence(other, X, 10)
    assert topic_diversity(model, 10, top=top) == topic_diversity(other, 10)
    assert dissimilarity(model, 5, top=top) == dissimilarity(other, 5)


def test_other_systems_may_have_other_numbers_of_topics(problem):
    _, X = problem
    top = [[0, 1, 2], [2, 3], [], [5, 6, 7, 8], [9], [10, 11]]
    scores = npmi_coherence(None, X, top=top, per_topic=True)
    assert np.isnan(scores).tolist() == [False, False, True, False, True, False]
    assert npmi_coherence(None, X, top=top) == pytest.approx(np.nanmean(scores))
    assert topic_diversity(None, top=top) == 11 / 12
    assert dissimilarity(None, top=top, per_topic=True).tolist() == [2, 1, 0, 4, 1, 2]


def test_bad_lists_are_refused(problem):
    model, X = problem
    with pytest.raises(InputError, match="4 of them, but holds 1"):
        npmi_coherence(model, X, top=[[1, 2]])
    with pytest.raises(InputError, match=r"columns from 0 to 30 - 1"):
        umass_coherence(None, X, top=[[1, 30]])
    with pytest.raises(InputError, match="each word once"):
        topic_diversity(None, top=[[1, 1]])
    with pytest.raises(InputError, match="expected a TopicModel"):
        dissimilarity(None)
    with pytest.raises(InputError, match="expected a TopicModel"):
        npmi_coherence(None, X)
    with pytest.raises(UndefinedMetricError, match="no topic has 2 words in top"):
        npmi_coherence(None, X, top=[[1], [2]])
    X = X.copy()
    X[:, 7] = 0
    with pytest.raises(UndefinedMetricError, match="word 7 never does"):
        umass_coherence(None, X, top=[[6, 7]])

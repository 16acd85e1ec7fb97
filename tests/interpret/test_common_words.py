"""Frequent words that all topics have alike."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.interpret.common_words import common_words, spread_over_topics
from tests.interpret.records import random_topics, record_of


@pytest.mark.parametrize("seed", range(3))
def test_from_the_definition(seed):
    B, prevalence = random_topics(seed)
    model = record_of(B, prevalence, [f"w{i}" for i in range(60)])
    expected = {}
    for i in range(60):
        p = sum(B[i, k] * prevalence[k] for k in range(5))
        q = [B[i, k] * prevalence[k] / p for k in range(5)] if p > 0 else []
        if q:
            kl = sum(q[k] * log(q[k] / prevalence[k]) for k in range(5) if q[k] > 0)
            expected[f"w{i}"] = (p, exp(-kl))
    found = common_words(model, 100, min_spread=0)
    assert len(found) == len(expected)
    for row in found:
        # Sums of five terms in another order.
        assert (row["probability"], row["spread"]) == pytest.approx(expected[row["word"]], rel=1e-12)
    scores = [row["probability"] * row["spread"] for row in found]
    assert scores == sorted(scores, reverse=True)
    even = [row for row in found if row["spread"] >= 0.5]
    assert common_words(model, 5) == even[:5]


def test_spread_is_the_share_of_the_topics_a_word_is_even_over():
    prevalence = np.array([0.1, 0.2, 0.3, 0.4])
    # The same in all, in the first and third, in the last alone, in none.
    B = np.array([[0.2, 0.2, 0.2, 0.2], [0.5, 0, 0.5, 0], [0, 0, 0, 0.1], [0, 0, 0, 0]])
    np.testing.assert_allclose(spread_over_topics(B, prevalence), [1.0, 0.4, 0.4, 0.0], rtol=1e-12)
    assert spread_over_topics(B, np.array([0.0, 1.0, 0.0, 0.0])).tolist() == [1.0, 0.0, 0.0, 0.0]


def with_background(n_docs=2000, seed=0):
    """Topics of 200 words, 30 % of whose tokens are ten words more, the same in all topics."""
    truth = make_topics(n_docs=2, n_words=200, n_topics=6, zipf=0.3, random_state=seed)
    rng = np.random.default_rng(seed)
    background = np.arange(20, 10, -1) / np.arange(11, 21).sum()
    B = np.vstack([0.7 * truth.B, 0.3 * np.tile(background[:, None], 6)])
    shares = rng.dirichlet(np.full(6, 0.2), size=n_docs)
    counts = rng.multinomial(80, shares @ B.T / (shares @ B.T).sum(axis=1, keepdims=True))
    return B, aw.Corpus(counts, [f"topical{i}" for i in range(200)] + [f"common{i}" for i in range(10)])


def test_planted_background_words_come_first():
    B, corpus = with_background()
    planted = {f"common{i}" for i in range(10)}
    for model in (record_of(B, None, corpus.vocabulary), aw.AnchorTopicModel(6).fit(corpus)):
        found = common_words(model, 10)
        assert {row["word"] for row in found} == planted
        assert min(row["spread"] for row in found) > 0.9
    exact = common_words(record_of(B, None, corpus.vocabulary), 10)
    assert [row["word"] for row in exact] == [f"common{i}" for i in range(10)]
    np.testing.assert_allclose([row["spread"] for row in exact], 1.0, rtol=1e-12)


def test_bad_input_is_refused():
    model = record_of(*random_topics(0))
    with pytest.raises(InputError, match="n must be"):
        common_words(model, 0)
    with pytest.raises(InputError, match="min_spread must be a number from 0 to 1"):
        common_words(model, min_spread=1.5)
    with pytest.raises(InputError, match="60 columns"):
        common_words(model, vocabulary=["a"])
    assert common_words(model, 1, vocabulary=[f"x{i}" for i in range(60)], min_spread=0)[0]["word"].startswith("x")

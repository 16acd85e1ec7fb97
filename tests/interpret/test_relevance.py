from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anchorwords.interpret.ranking import by_relevance
from anchorwords.interpret.relevance import STEP, words_at_any_weight
from tests.exploring.made import made_model

WEIGHTS = np.linspace(0.0, 1.0, 101)


def brute(B, prevalence, n):
    """The union over every place of the slider, each ranked by itself."""
    lists = [by_relevance(B, prevalence, n, weight) for weight in WEIGHTS.tolist()]
    return [np.unique(np.concatenate([at[k] for at in lists])) for k in range(B.shape[1])]


def check(B, prevalence, n):
    found = words_at_any_weight(B, prevalence, n)
    assert len(found) == B.shape[1]
    for one, other in zip(found, brute(B, prevalence, n), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_steps_are_those_of_the_slider():
    assert STEP == 0.01
    assert WEIGHTS.size == round(1 / STEP) + 1


@pytest.mark.parametrize("n", [1, 2, 7, 24, 500])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_word_that_the_slider_can_show(seed, n):
    model = made_model(400, 6, words_a_topic=120, seed=seed)
    check(model.B, model.prevalence, n)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.integers(0, 3)),
    st.integers(1, 6),
    st.data(),
)
def test_with_ties_and_topics_of_no_words(counts, n, data):
    # Few different numbers make many ties, zero columns topics of no words.
    sums = counts.sum(axis=0)
    B = counts / np.where(sums > 0, sums, 1)
    prevalence = data.draw(hnp.arrays(np.float64, B.shape[1], elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    check(B, prevalence, n)


def test_all_words_alike():
    B = np.full((50, 3), 0.02)
    for found in words_at_any_weight(B, np.full(3, 1 / 3), 5):
        np.testing.assert_array_equal(found, np.arange(5))  # ties in order of index, at any weight


def test_a_topic_of_no_prevalence_lists_its_words_by_probability():
    B = np.zeros((10, 2))
    B[:5, 0], B[5:, 1] = 0.2, np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    found = words_at_any_weight(B, np.array([1.0, 0.0]), 2)
    np.testing.assert_array_equal(found[1], [5, 6])
    check(B, np.array([1.0, 0.0]), 2)


def test_extreme_probabilities():
    B = np.array([[1.0, 1e-300], [1e-300, 0.5], [5e-324, 0.5], [0.0, 0.0]])
    check(B, np.array([0.5, 0.5]), 2)

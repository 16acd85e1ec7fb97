"""Automatic labels: no word twice in any form, distinct, and of words that set a topic apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorwords.interpret.naming import automatic_labels, distinct_words, topic_names

from .records import random_topics, record_of


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["cat", "dog", "bird"], ["cat", "dog", "bird"]),
        (["method", "methods", "propose", "proposed"], ["method", "propose"]),
        (["model", "models", "modeling", "network"], ["model", "network"]),
        (["learning", "learned", "data"], ["learning", "data"]),
        (["admin", "administrator", "user"], ["admin", "user"]),
        (["Network", "networks", "unit"], ["Network", "unit"]),
        (["in", "is", "it", "if"], ["in", "is", "it", "if"]),  # short words are not forms of each other
        (["star wars", "star trek"], ["star wars", "star trek"]),
        (["neural networks", "network", "neural"], ["neural networks"]),
        (["layer", "network", "neural", "neural networks", "unit"], ["layer", "neural networks", "unit"]),
        (["Erreger", "Erregers", "Impfung"], ["Erreger", "Impfung"]),
        (["classification", "classifier", "classes", "distance"], ["classification", "distance"]),
        (["cells", "cortex", "cortical"], ["cells", "cortex"]),
        (["mail", "thanks", "email"], ["mail", "thanks"]),
        (["motor", "motion", "control"], ["motor", "motion", "control"]),
        (["", " "], ["", " "]),
        ([], []),
    ],
)
def test_no_form_of_a_word_is_repeated(words, left):
    assert distinct_words(words) == left


@given(st.lists(st.text(max_size=8), max_size=12))
def test_what_is_left_repeats_nothing(words):
    left = distinct_words(words)
    assert distinct_words(left) == left
    assert set(left) <= set(words)
    assert bool(left) == bool(words)


def test_words_that_set_the_topic_apart_come_before_those_of_every_topic():
    # "the" is the most probable word of both topics and belongs to neither.
    B = np.array([[0.4, 0.4], [0.3, 0.0], [0.3, 0.0], [0.0, 0.3], [0.0, 0.3]])
    labels = automatic_labels(record_of(B, vocabulary=["the", "orbit", "launch", "goal", "team"]))
    assert labels == ["orbit launch the", "goal team the"]


def test_numbers_come_after_words():
    B = np.array([[0.3, 0.0], [0.3, 0.0], [0.2, 0.0], [0.1, 0.0], [0.1, 0.0], [0.0, 0.8], [0.0, 0.2]])
    labels = automatic_labels(record_of(B, vocabulary=["v1", "1996", "sp2", "update", "patch", "2001", "match"]))
    assert labels[0] == "sp2 update patch"
    assert labels[1].startswith("match 2001")


@pytest.mark.parametrize("seed", range(10))
def test_labels_are_distinct_and_deterministic(seed):
    B, prevalence = random_topics(seed, N=6, K=5, zeros=0.0)  # few words, so that labels collide
    record = record_of(B, prevalence)
    labels = automatic_labels(record)
    assert len(set(labels)) == 5
    assert labels == automatic_labels(record) == topic_names(record)


def test_topics_with_the_same_words_are_told_apart_by_their_ids():
    B = np.full((3, 2), 1.0 / 3.0)
    labels = automatic_labels(record_of(B, vocabulary=["a", "b", "c"], ids=(4, 9)))
    assert labels == ["a b c (4)", "a b c (9)"]


def test_the_order_of_topics_does_not_change_their_labels():
    B, prevalence = random_topics(3)
    order = np.array([3, 0, 4, 1, 2])
    labels = automatic_labels(record_of(B, prevalence))
    assert automatic_labels(record_of(B[:, order], prevalence[order])) == [labels[k] for k in order]


def test_labels_of_the_model_win():
    B, prevalence = random_topics(0)
    assert topic_names(record_of(B, prevalence, labels=tuple("vwxyz"))) == list("vwxyz")

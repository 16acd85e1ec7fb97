"""The reading order: large, specific topics first, and those of common words last."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.interpret.order import reading_order, topic_divergence

from .records import random_topics, record_of


@pytest.mark.parametrize("seed", range(5))
def test_divergences_add_up_to_the_mutual_information_of_topic_and_word(seed):
    B, prevalence = random_topics(seed)
    record = record_of(B, prevalence)
    joint = B * prevalence
    independent = joint.sum(axis=1, keepdims=True) * prevalence
    held = joint > 0.0
    information = (joint[held] * np.log(joint[held] / independent[held])).sum()
    assert prevalence @ topic_divergence(record) == pytest.approx(information, rel=1e-10)


def test_divergence_is_zero_for_the_corpus_itself_and_minus_log_p_for_words_of_its_own():
    apart = record_of(np.eye(4), [0.4, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(topic_divergence(apart), -np.log([0.4, 0.3, 0.2, 0.1]), rtol=1e-12)
    same = record_of(np.full((4, 3), 0.25))
    np.testing.assert_allclose(topic_divergence(same), 0.0, atol=1e-12)


def test_the_vague_topic_comes_last_although_it_is_the_largest():
    # Topic 0 has every word alike; the others have ten words each of their own.
    B = np.zeros((50, 6))
    B[:, 0] = 1.0 / 50
    for k in range(5):
        B[10 * k : 10 * k + 10, k + 1] = 0.1
    prevalence = np.array([0.4, 0.16, 0.14, 0.12, 0.10, 0.08])
    record = record_of(B, prevalence, ids=(7, 1, 2, 3, 4, 5))
    assert aw.topic_table(record, 1)[0]["prevalence"] == 0.4
    assert reading_order(record)[-1] == 7
    assert aw.reading_order is reading_order


@pytest.mark.parametrize("seed", range(3))
def test_ids_go_with_their_topics(seed):
    B, prevalence = random_topics(seed)
    order = np.random.default_rng(seed).permutation(5)
    expected = reading_order(record_of(B, prevalence))
    assert sorted(expected) == list(range(5))
    assert reading_order(record_of(B[:, order], prevalence[order], ids=tuple(order.tolist()))) == expected


def test_topics_alike_are_in_the_order_of_prevalence():
    assert reading_order(record_of(np.full((4, 3), 0.25), [0.2, 0.5, 0.3])) == [1, 2, 0]


def test_what_documents_are_about_comes_before_what_all_of_them_have():
    # Both topics have a third of the tokens and ten words of their own. Of topic 1 every document has a third; topic 0 fills
    # some documents and is absent from others, and so does topic 2, with fewer of them.
    B = np.kron(np.eye(3), np.full((10, 1), 0.1))
    documents = np.array([[2 / 3, 1 / 3, 0.0]] * 6 + [[0.0, 1 / 3, 2 / 3]] * 4)
    A = documents.T @ documents / len(documents)
    variance = documents.var(axis=0)
    record = record_of(B, A.sum(axis=1), A=A)
    np.testing.assert_allclose(np.diagonal(A) - A.sum(axis=1) ** 2, variance, atol=1e-15)
    assert reading_order(record)[-1] == 1
    assert variance[1] == pytest.approx(0.0, abs=1e-15)
    assert record.prevalence[1] > record.prevalence[2]


def test_a_topic_of_debris_earns_nothing_by_its_divergence():
    # Topic 2 shares no word with the others, so that its divergence is the largest; it is also the smallest.
    B = np.zeros((40, 3))
    B[:20, 0] = B[10:30, 1] = 1 / 20
    B[30:, 2] = 1 / 10
    record = record_of(B, [0.5, 0.4, 0.1])
    assert np.argmax(topic_divergence(record)) == 2
    assert reading_order(record)[-1] == 2

"""Topics as gensim prints them."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export import show_topics
from tests.interpret.records import random_topics, record_of


def test_the_same_numbers_as_in_the_model():
    B, prevalence = random_topics(0)
    model = record_of(B, prevalence, [f"w{i}" for i in range(60)])
    shown = show_topics(model, num_topics=-1, num_words=7, formatted=False)
    assert [k for k, _ in shown] == np.argsort(-prevalence).tolist()
    for k, pairs in shown:
        assert [word for word, _ in pairs] == aw.prominent_words(model, 7)[k]
        assert [share for _, share in pairs] == sorted(B[:, k], reverse=True)[:7]
        assert {type(share) for _, share in pairs} == {float}
    assert show_topics(model, 2, 7, False) == shown[:2]
    assert len(show_topics(model, 99)) == 5
    text = show_topics(model, 1, 2)[0][1]
    (first, a), (second, b) = shown[0][1][:2]
    assert text == f'{a:.3f}*"{first}" + {b:.3f}*"{second}"'
    assert '"0"' in show_topics(record_of([[1.0]]), 1)[0][1]


def test_it_is_what_gensim_prints():
    ldamodel = pytest.importorskip("gensim.models.ldamodel")
    B, prevalence = random_topics(1, N=30, K=4)
    words = [f"w{i}" for i in range(30)]
    peer = ldamodel.LdaModel(
        [[(i, 1) for i in range(30)]], num_topics=4, id2word=dict(enumerate(words)), random_state=0
    )
    peer.state.sstats = 1e9 * B.T - peer.eta  # its topics are these, scaled to sum to one
    for formatted in (True, False):
        theirs = peer.show_topics(-1, 8, formatted=formatted)
        ours = sorted(show_topics(record_of(B, prevalence, words), -1, 8, formatted))
        if formatted:
            assert ours == theirs
        for (k, own), (m, their) in zip(ours, theirs, strict=True):
            assert k == m
            if not formatted:
                assert [word for word, _ in own] == [word for word, _ in their]
                # In single precision there.
                np.testing.assert_allclose([p for _, p in own], [p for _, p in their], rtol=1e-5)


def test_bad_input_is_refused():
    model = record_of(*random_topics(0))
    for number in (0, 1.5, "all"):
        with pytest.raises(InputError, match="num_topics must be a positive whole number, or -1"):
            show_topics(model, number)
    with pytest.raises(InputError, match="num_words must be"):
        show_topics(model, num_words=0)


def test_a_topic_is_one_line_whatever_its_words_hold():
    words = ["a\nb", "c\r\nd", "e\x85f", "g\u2028h", "\x1b[2J", *(f"w{i}" for i in range(55))]
    B, prevalence = random_topics(0)
    B[:5] += 1.0
    model = record_of(B / B.sum(axis=0), prevalence, words)
    for _, text in show_topics(model, -1, 10):
        assert len(text.splitlines()) == 1
        assert text.isprintable()
        assert '*"a\N{REPLACEMENT CHARACTER}b"' in text
    pairs = show_topics(model, 1, 10, formatted=False)[0][1]
    assert {word for word, _ in pairs} >= set(words[:5])  # as they are

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus.prune import tf_idf
from anchorwords.exceptions import InputError
from tests.strategies import counts


def small():
    X = np.array([[3, 1, 1, 0, 2], [0, 4, 1, 0, 1], [2, 2, 1, 0, 3], [0, 0, 1, 1, 0]])
    return aw.Corpus(X, ["apple", "bread", "the", "once", "milk"], ["a", "b", "c", "d"])


def test_is_frozen_and_counts():
    corpus = small()
    assert (corpus.n_docs, corpus.n_words, corpus.n_tokens) == (4, 5, 23)
    assert "4 documents, 5 words, 23 tokens" in repr(corpus)
    with pytest.raises(dataclasses.FrozenInstanceError):
        corpus.counts = None
    with pytest.raises(ValueError, match="read-only"):
        corpus.counts.data[0] = 5
    np.testing.assert_array_equal(corpus.document_frequencies, [2, 3, 4, 1, 3])
    np.testing.assert_array_equal(corpus.term_frequencies, [5, 7, 4, 1, 6])


def test_does_not_share_memory_with_its_source():
    X = sp.csr_array(np.eye(3))
    corpus = aw.Corpus(X, "abc"[:0] or ["a", "b", "c"])
    X.data[:] = 7
    assert corpus.counts.data.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), ["a", "b"]), "3 columns once, but has 2"),
        ((np.eye(2), ["a", "a"]), "'a' occurs more than once"),
        ((np.eye(2), "ab"), "single string"),
        ((np.eye(2), None), "is None"),
        ((np.eye(2), 5), "sequence of words"),
        ((np.eye(2), ["a", "b"], ["one"]), "2 documents once, but has 1"),
        ((-np.eye(2), ["a", "b"]), "Negative values in data: counts must"),
        ((np.zeros((0, 2)), ["a", "b"]), "no documents"),
        ((np.zeros((2, 0)), []), "no words"),
    ],
)
def test_bad_corpora(arguments, message):
    with pytest.raises(InputError, match=message):
        aw.Corpus(*arguments)


def test_prune_by_hand():
    pruned = small().prune(n_words=2, min_tokens=3, min_types=1)
    # M = 4: apple 5 log 2, bread 7 log 1 = 0, the 4 log 1 = 0, once 1 log 4, milk 6 log 1 = 0.
    assert pruned.vocabulary == ("apple",)  # "once" stands in document d alone, which has too few tokens left
    assert pruned.doc_ids == ("a",)
    loose = small().prune(n_words=2, min_tokens=1, min_types=1)
    assert loose.vocabulary == ("apple", "once")
    assert loose.doc_ids == ("a", "c", "d")


def test_stop_words_go_before_the_ranking():
    pruned = small().prune(n_words=1, stop_words={"apple"}, min_tokens=1, min_types=1)
    assert pruned.vocabulary == ("once",)


def test_document_frequencies_limit():
    corpus = small()
    assert corpus.prune(min_df=3, min_tokens=1, min_types=1).vocabulary == ("bread", "the", "milk")
    assert corpus.prune(max_df=0.75, min_tokens=1, min_types=1).vocabulary == (
        "apple",
        "bread",
        "once",
        "milk",
    )
    assert corpus.prune(min_df=0.5, max_df=3, min_tokens=1, min_types=1).vocabulary == (
        "apple",
        "bread",
        "milk",
    )


def test_without_a_limit_nothing_is_ranked():
    pruned = small().prune(min_tokens=1, min_types=1)
    assert pruned.vocabulary == small().vocabulary
    np.testing.assert_array_equal(pruned.counts.toarray(), small().counts.toarray())


def test_ties_keep_the_first_words():
    corpus = aw.Corpus(np.eye(6) * 5, list("abcdef"))
    assert corpus.prune(n_words=3, min_types=1).vocabulary == ("a", "b", "c")


@settings(max_examples=60, deadline=None)
@given(counts(), st.integers(1, 10), st.integers(1, 4), st.integers(1, 6))
def test_prune_keeps_the_alignment(X, n_words, min_types, min_tokens):
    names = [f"w{i}" for i in range(X.shape[1])]
    corpus = aw.Corpus(X, names, [f"d{m}" for m in range(X.shape[0])])
    try:
        pruned = corpus.prune(n_words=n_words, min_types=min_types, min_tokens=min_tokens)
    except InputError as error:
        assert "nothing is left" in str(error)  # noqa: PT017 - pruning may or may not leave something
        return
    columns = [names.index(word) for word in pruned.vocabulary]
    rows = [int(name[1:]) for name in pruned.doc_ids]
    np.testing.assert_array_equal(pruned.counts.toarray(), X[np.ix_(rows, columns)])
    assert pruned.n_words <= n_words
    assert (pruned.counts.sum(axis=0) > 0).all()
    assert (pruned.counts.sum(axis=1) >= min_tokens).all()
    score = tf_idf(X.sum(axis=0), (X > 0).sum(axis=0), X.shape[0])
    left_out = [score[i] for i in range(len(names)) if i not in columns and (X[rows][:, i] > 0).any()]
    assert not left_out or min(score[columns]) >= max(left_out) - 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_words": 0}, "n_words"),
        ({"min_df": -1}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"min_df": 4, "max_df": 2}, "must not exceed"),
        ({"min_tokens": 99}, "nothing is left"),
        ({"min_df": "few"}, "min_df"),
        ({"stop_words": "the"}, "stop words"),
        ({"min_df": 3, "max_df": 0.25}, "give more documents"),
        ({"min_tokens": "a"}, "min_tokens"),
        ({"min_types": -1}, "min_types"),
    ],
)
def test_bad_rules(options, message):
    with pytest.raises(InputError, match=message):
        small().prune(**options)


@pytest.mark.data
def test_nips_as_in_the_paper(real_corpus):
    corpus = real_corpus("nips12", 1000)
    assert corpus.n_words == 1000
    assert corpus.n_docs == 1740


def test_the_preset_for_text_is_what_the_command_line_uses():
    preset = small().text_preset()
    assert preset == {"stop_words": "english", "min_df": 5, "max_df": 0.5, "n_words": 50_000}
    corpus = aw.Corpus(sp.csr_array((10_000, 1)), ["w"])
    assert corpus.text_preset()["min_df"] == 20  # a fifth of the root of 10,000

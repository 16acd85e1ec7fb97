"""Documents in the columns of a model."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.sources.convert import as_source, in_columns, require_known_words
from anchorwords.sources.in_use import WordsInUse

COUNTS = np.array([[2, 0, 1, 3], [0, 4, 0, 0], [0, 0, 0, 5]])
CORPUS = aw.Corpus(COUNTS, ["a", "b", "c", "d"])


def dense(source):
    return sp.vstack(list(source.blocks())).toarray()


def test_columns_are_matched_by_word():
    # b and d have no column, x is in no document.
    source = in_columns(CORPUS, ("c", "x", "a"), 3)
    assert (source.n_words, source.n_docs) == (3, 3)
    expected = np.array([[1, 0, 2], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(dense(source), expected)
    np.testing.assert_array_equal(source.counts.toarray(), expected)
    assert sum(source.unknown_tokens().values()) == 4 + 8
    documents, tokens = source.frequencies()
    np.testing.assert_array_equal(documents, (expected > 0).sum(axis=0))
    np.testing.assert_array_equal(tokens, expected.sum(axis=0))
    for block in source.blocks():
        assert block.has_canonical_format


def test_every_pass_is_the_same_and_a_corpus_on_disk_too(tmp_path):
    CORPUS.save(tmp_path / "corpus")
    for corpus in (CORPUS, aw.open_corpus(tmp_path / "corpus")):
        source = in_columns(corpus, ("d", "b", "a", "c"), 4)
        for _ in range(2):
            np.testing.assert_array_equal(dense(source), COUNTS[:, [3, 1, 0, 2]])
        assert source.unknown_tokens() == {}
        np.testing.assert_array_equal(source.frequencies()[0], [2, 1, 1, 1])


@pytest.mark.parametrize("vocabulary", [("a", "b", "c", "d"), None])
def test_the_same_columns_pass_through(vocabulary):
    source = as_source(CORPUS)
    assert in_columns(source, vocabulary, 4) is source
    assert source.unknown_tokens() == {}


@pytest.mark.parametrize("X", [CORPUS, COUNTS, sp.csr_array(COUNTS), [sp.csr_array(COUNTS)]])
def test_columns_without_names_must_be_as_many(X):
    with pytest.raises(InputError, match="the model knows 5 words, but X has 4 columns: give counts"):
        in_columns(X, None, 5)


def test_the_columns_of_a_frame_are_not_moved():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COUNTS, columns=["a", "b", "d", "c"])
    with pytest.raises(InputError, match="must be the words of the model, in their order"):
        in_columns(frame, ("a", "b", "c", "d"), 4)
    assert dense(in_columns(frame, ("a", "b", "d", "c"), 4)).tolist() == COUNTS.tolist()


def test_no_word_in_common():
    with pytest.raises(InputError, match="holds none of the model's words"):
        require_known_words(in_columns(CORPUS, ("x", "y"), 2))
    assert require_known_words(in_columns(CORPUS, ("x", "a"), 2)).n_words == 2


def test_words_in_use_there_and_back():
    words = WordsInUse(np.array([True, False, True, True, False]))
    assert (words.n_words, words.n_used, words.all_used) == (5, 3, False)
    np.testing.assert_array_equal(words.positions, [0, 2, 3])
    assert words.places([3, 0, 2]) == [2, 0, 1]
    np.testing.assert_array_equal(words.spread([1.0, 2.0, 3.0]), [1, 0, 2, 3, 0])
    spread = words.spread(np.arange(6.0).reshape(3, 2), fill=np.array([0.25, 0.75]))
    np.testing.assert_array_equal(spread, [[0, 1], [0.25, 0.75], [2, 3], [4, 5], [0.25, 0.75]])
    np.testing.assert_array_equal(words.spread(np.array([True, False, True]), fill=False), [1, 0, 0, 1, 0])
    rows = sp.csr_array(np.array([[1.0, 0.0, 2.0]]))
    np.testing.assert_array_equal(words.spread_columns(rows).toarray(), [[1, 0, 0, 2, 0]])
    counts = sp.csr_array(np.arange(10.0).reshape(2, 5))
    np.testing.assert_array_equal(words.restricted(counts).toarray(), [[0, 2, 3], [5, 7, 8]])
    every = WordsInUse.every(5)
    assert every.all_used
    assert every.restricted(counts) is counts

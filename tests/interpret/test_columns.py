"""Documents in the columns of a model."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.corpus.blocks import BlockSource, InVocabulary
from anchorwords.exceptions import InputError

COUNTS = np.array([[2, 0, 1, 3], [0, 4, 0, 0], [0, 0, 0, 5]])
CORPUS = aw.Corpus(COUNTS, ["a", "b", "c", "d"])


def dense(source):
    return sp.vstack(list(source.blocks())).toarray()


def test_columns_are_matched_by_word():
    # b and d have no column, x is in no document.
    source = InVocabulary(CORPUS, ("c", "x", "a"), 3)
    assert isinstance(source, BlockSource)
    assert (source.n_words, source.n_docs) == (3, 3)
    expected = np.array([[1, 0, 2], [0, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(dense(source), expected)
    np.testing.assert_array_equal(sp.vstack([block() for block in source.lazy_blocks()]).toarray(), expected)
    assert source.n_unknown_tokens == 4 + 8
    np.testing.assert_array_equal(source.document_frequencies, (expected > 0).sum(axis=0))
    np.testing.assert_array_equal(source.term_frequencies, expected.sum(axis=0))
    for block in source.blocks():
        assert block.has_canonical_format


def test_every_pass_is_the_same_and_a_corpus_on_disk_too(tmp_path):
    CORPUS.save(tmp_path / "corpus")
    for corpus in (CORPUS, aw.open_corpus(tmp_path / "corpus")):
        source = InVocabulary(corpus, ("d", "b", "a", "c"), 4)
        for _ in range(2):
            np.testing.assert_array_equal(dense(source), COUNTS[:, [3, 1, 0, 2]])
        assert source.n_unknown_tokens == 0
        np.testing.assert_array_equal(source.document_frequencies, [2, 1, 1, 1])


@pytest.mark.parametrize("vocabulary", [("a", "b", "c", "d"), None])
def test_the_same_columns_pass_through(vocabulary):
    class Watched(aw.Corpus):
        def lazy_blocks(self):
            return iter([lambda: "untouched"])

    source = InVocabulary(Watched(COUNTS, ["a", "b", "c", "d"]), vocabulary, 4)
    assert list(source.blocks()) == ["untouched"]
    assert source.n_unknown_tokens == 0
    np.testing.assert_array_equal(source.term_frequencies, COUNTS.sum(axis=0))


def test_columns_without_names_must_be_as_many():
    with pytest.raises(InputError, match="the model has 5 words without names, but the corpus has 4: give counts"):
        InVocabulary(CORPUS, None, 5)

"""The fast ways of reading text against plain ones: batches, preparation, names, and rows with columns left out."""

from __future__ import annotations

import unicodedata
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus import readers
from anchorwords.corpus.cleaning import Cleaning
from anchorwords.corpus.counting import DocumentCounter, _bytes
from anchorwords.corpus.parts import Part, columns_kept, ordered_rows
from anchorwords.corpus.readers import Batch
from anchorwords.corpus.scanner import numbers_among
from anchorwords.corpus.text_rule import TextRule

ANY_TEXTS = st.lists(
    st.text(alphabet=st.sampled_from("aB Zé\u0301\u0130ǅ&;<b>@.\n-\u00ad\ufb01\ud800日"), max_size=20), max_size=9
)


@given(ANY_TEXTS, st.booleans(), st.booleans())
def test_texts_are_prepared_together_as_each_alone(texts, lowercase, cleaning):
    rule = TextRule.checked(lowercase=lowercase, cleaning=cleaning)
    raw, bounds = DocumentCounter(rule)._prepared(texts)
    expected = []
    for text in texts:
        composed = unicodedata.normalize("NFC", Cleaning.of(cleaning)(text))
        expected.append((composed.lower() if lowercase else composed).encode("utf-8", "replace"))
    assert [raw[begin:end] for begin, end in pairwise(bounds)] == expected


@given(st.lists(st.text(alphabet="a", max_size=9), min_size=1), st.integers(1, 6), st.integers(1, 20))
def test_batches_of_texts_are_those_of_rows(texts, documents, characters):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "BATCH_DOCUMENTS", documents)
        patch.setattr(readers, "_CHARACTERS", characters)
        plain = [batch.documents for batch in readers.batches((None, text, ()) for text in texts)]
        assert [batch.documents for batch in readers.batches_of_texts(texts)] == plain


@pytest.mark.parametrize("documents", [["ein Wort", "ein Täfelchen", "日 x"], [["a\n", "b"], ["\ud800", "b"]], ["1 2"]])
def test_names_are_the_words_decoded_one_by_one(documents):
    counter = DocumentCounter(TextRule())
    assert len(list(counter.parts([Batch(documents, None, [])]))) == 1
    words = counter._own()[1]
    assert counter.names() == {number: word.decode("utf-8", "surrogatepass") for number, word in words.items()}


@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_columns_without_a_place_are_left_out(density):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 12)) * (rng.random((40, 12)) < 0.5)
    kept = np.flatnonzero(rng.random(12) < density)
    place = np.full(12, -1, dtype=np.int32)
    place[kept] = np.arange(kept.size)
    rows = sp.csr_array(X.astype(float))
    np.testing.assert_array_equal(columns_kept(rows, place, kept.size).toarray(), X[:, kept])
    part = Part(np.diff(rows.indptr), rows.indices, rows.data)
    np.testing.assert_array_equal(ordered_rows(part, place, kept.size).toarray(), X[:, kept])


@pytest.mark.parametrize("options", [{}, {"ngrams": (1, 2)}, {"cleaning": False, "stop_words": None}])
def test_a_vectoriser_counts_as_the_reader_and_the_rule_do_for_any_number_of_threads(monkeypatch, options):
    rng = np.random.default_rng(0)
    words = ["the", "Katze", "café", "dog&amp;cat", "www.example.org", "<b>bold</b>", "sun", "moon", "42", "\ufb01n"]
    texts = [" ".join(rng.choice(words, 12)) for _ in range(300)]
    slow = aw.TextVectorizer(min_df=2, max_df=1.0, min_tokens=0, min_types=0, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = slow.choose_words(slow.read(texts))
        monkeypatch.setattr(readers, "BATCH_DOCUMENTS", 17)
        for n_jobs in (1, 2, 3):
            vectorizer = aw.TextVectorizer(min_df=2, max_df=1.0, n_jobs=n_jobs, **options)
            counts = vectorizer.fit_transform(texts)
            assert tuple(vectorizer.vocabulary_) == expected.vocabulary
            for one in (counts, vectorizer.transform(texts)):
                for name in ("data", "indices", "indptr"):
                    np.testing.assert_array_equal(getattr(one, name), getattr(expected.counts, name))


def test_what_a_rule_leaves_whole_is_shared():
    corpus = aw.read_corpus(["a cat and a dog", "a dog and a cat"])
    pruned = corpus.prune(min_tokens=1, min_types=1)
    assert pruned.counts is corpus.counts
    assert pruned.kept_rows.tolist() == [0, 1]
    assert corpus.prune(stop_words=["and"], min_tokens=1, min_types=1).counts.toarray().tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 2)])
def test_words_are_found_in_a_vocabulary_as_by_a_dictionary(ngrams):
    vocabulary = ["sun", "the", "moon", "the moon", "red moon", "never", "\ud800"]
    counter = DocumentCounter(TextRule.checked(ngrams=ngrams, stop_words=["the"]))
    (part,) = counter.parts([Batch(["the red moon", "Red sun, the moon"], None, [])])
    (expected,) = numbers_among([counter._own()], {_bytes(word): column for column, word in enumerate(vocabulary)})
    assert counter.numbers_among(vocabulary)[part.indices].tolist() == expected[part.indices].tolist()

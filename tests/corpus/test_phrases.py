"""Phrases: pairs that are together far more often than by chance, counted as one word."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.corpus.phrases import PhraseCounts, are_phrases, pairs_in
from anchorwords.exceptions import InputError


@pytest.fixture(scope="module")
def texts():
    """Words in random order, among which "new" and "york" are always neighbours, and "big" and "city" only by chance."""
    rng = np.random.default_rng(0)
    words = [f"word{number}" for number in range(60)] + ["big", "city"]
    made = []
    for number in range(400):
        own = list(rng.choice(words, 25))
        for _ in range(number % 3):
            own.insert(int(rng.integers(0, len(own))), "new york")
        if number % 10 == 0:
            own.append("new")
        made.append(" ".join(own))
    return made


def counted(texts, word):
    return [text.replace("new york", "new_york").split().count(word.replace(" ", "_")) for text in texts]


@pytest.fixture(params=["in memory", "on disk"])
def read(request, tmp_path):
    def read(source, **options):
        return (
            aw.read_corpus(source, **options)
            if request.param == "in memory"
            else aw.import_corpus(source, tmp_path / "c", **options)
        )

    return read


def test_phrases_are_found_and_their_words_counted_apart(texts, read):
    corpus = read(texts, phrases=True)
    assert [word for word in corpus.vocabulary if " " in word] == ["new york"]
    column = corpus.vocabulary.index
    counts = corpus.counts.toarray()
    np.testing.assert_array_equal(counts[:, column("new york")], counted(texts, "new york"))
    np.testing.assert_array_equal(counts[:, column("new")], counted(texts, "new"))
    np.testing.assert_array_equal(counts[:, column("big")], counted(texts, "big"))
    assert "york" not in corpus.vocabulary or counts[:, column("york")].sum() == 0


def test_new_documents_are_read_with_the_same_phrases(texts, tmp_path):
    model = aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(phrases=True, min_df=2, max_df=1.0)).fit(texts)
    assert "new york" in model.model_.vocabulary
    new = aw.read_corpus(["the new york city word1", "new word1, york"], like=model)
    assert [{word: n for word, n in document.counts.items() if word in ("new", "new york", "city")} for document in new] == [
        {"city": 1.0, "new york": 1.0}, {"new": 1.0},
    ]  # fmt: skip
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(aw.load_model(tmp_path / "m").transform(texts[:5]), model.transform(texts[:5]))


def test_stop_words_are_in_no_phrase(texts):
    joined = [text.replace("new york", "state of the art") for text in texts]
    corpus = aw.read_corpus(joined, phrases=True, stop_words="english")
    assert "state art" in corpus.vocabulary


def test_the_association_is_that_of_the_definition():
    words = ["a", "b", "c", "a b", "b c", "x y"]
    tf = np.array([200.0, 200, 9600, 100, 190, 50])
    df = np.array([50, 50, 90, 50, 60, 50])
    # T = 10,000: NPMI(a b) = log(.01 / .0004) / -log .01 = 0.70; NPMI(b c) = log(.019 / .0192) < 0; x is no word.
    assert are_phrases(words, df, tf).tolist() == [False, False, False, True, False, False]
    assert not are_phrases(words, np.minimum(df, 4), tf).any()
    assert [part.tolist() for part in pairs_in(words)] == [[3, 4, 5], [0, 1, -1], [1, 2, -1]]


def test_overlapping_phrases_leave_no_negative_counts():
    from scipy.sparse import csr_array

    change = PhraseCounts(["a", "b", "c", "a b", "b c"])
    rows = csr_array(np.array([[1.0, 1, 1, 1, 1], [2, 1, 0, 1, 0], [0, 0, 3, 0, 0]]))
    np.testing.assert_array_equal(change(rows).toarray(), [[0, 0, 0, 1, 1], [1, 0, 0, 1, 0], [0, 0, 3, 0, 0]])


def test_phrases_and_longer_ngrams_exclude_each_other():
    with pytest.raises(InputError, match="phrases are pairs of words, found among all pairs"):
        aw.read_corpus(["a b"], phrases=True, ngrams=(1, 3))

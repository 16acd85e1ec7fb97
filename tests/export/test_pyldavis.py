"""What pyLDAvis is given, by its documented contract and by itself where it is installed."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export import pyldavis_data
from anchorwords.interpret.topic_words import top_words
from tests.interpret.records import random_topics, record_of


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


def test_the_contract(model, sampled):
    counts = sampled.corpus.counts.toarray()
    counts[5] = 0
    data = pyldavis_data(model, counts)
    assert list(data) == ["topic_term_dists", "doc_topic_dists", "doc_lengths", "vocab", "term_frequency"]
    topics, documents = data["topic_term_dists"], data["doc_topic_dists"]
    assert topics.shape == (5, 120)
    assert documents.shape == (599, 5)
    # pyLDAvis asks for 0.999; rows of a few hundred numbers sum to one but for rounding.
    np.testing.assert_allclose(topics.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_allclose(documents.sum(axis=1), 1.0, rtol=1e-13)
    assert topics.min() > 0.0
    np.testing.assert_allclose(topics, model.components_, atol=1e-9)
    rows = np.delete(np.arange(600), 5)
    np.testing.assert_allclose(documents, model.transform(counts)[rows], atol=1e-12)
    np.testing.assert_array_equal(data["doc_lengths"], counts[rows].sum(axis=1))
    np.testing.assert_array_equal(data["term_frequency"], counts.sum(axis=0))
    assert data["vocab"] == list(sampled.corpus.vocabulary)


def test_words_of_no_topic_are_left_out():
    B, prevalence = random_topics(0)
    B[[3, 7]] = 0.0
    B /= B.sum(axis=0)
    counts = np.random.default_rng(0).poisson(1.0, size=(30, 60))
    counts[4] = 0
    counts[4, 3] = 9  # nothing but a word the model has never seen
    data = pyldavis_data(record_of(B, prevalence), counts)
    left = [i for i in range(60) if B[i].any()]
    assert data["vocab"] == [str(i) for i in left]
    np.testing.assert_array_equal(data["term_frequency"], counts.sum(axis=0)[left])
    assert data["doc_topic_dists"].shape == (29, 5)
    np.testing.assert_array_equal(data["doc_lengths"], np.delete(counts, 4, axis=0)[:, left].sum(axis=1))


def test_any_way_to_give_the_documents_is_the_same(model, sampled, tmp_path):
    corpus = sampled.corpus
    expected = pyldavis_data(model, corpus)
    corpus.save(tmp_path / "corpus")
    bare = replace(model.model_, vocabulary=None)
    for found in (
        pyldavis_data(model, aw.open_corpus(tmp_path / "corpus")),
        pyldavis_data(model, [corpus.counts[:50], corpus.counts[50:]], n_jobs=2),
        pyldavis_data(bare, corpus),
        pyldavis_data(bare, corpus.counts, vocabulary=corpus.vocabulary),
    ):
        assert found["vocab"] == expected["vocab"]
        for name in ("topic_term_dists", "doc_topic_dists", "doc_lengths", "term_frequency"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)
    with pytest.raises(InputError, match="no document holds a word"):
        pyldavis_data(model, np.zeros((3, 120)))
    with pytest.raises(InputError, match="expected a TopicModel"):
        pyldavis_data("model", corpus)


def test_pyldavis_takes_it_and_ranks_words_as_we_do():
    pyldavis = pytest.importorskip("pyLDAvis")
    B, prevalence = random_topics(2, N=80, K=4)
    words = [f"w{i}" for i in range(80)]
    model = record_of(B, prevalence, words)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(20 * prevalence, size=60)
    data = pyldavis_data(model, rng.multinomial(300, shares @ B.T))
    # Its p(word) is that of the documents' topics: with the model's own prevalence in place of theirs, ours.
    data["doc_topic_dists"] = np.tile(prevalence, (60, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, about what pandas and NumPy no longer like
        prepared = pyldavis.prepare(**data, sort_topics=False, start_index=0, R=30, n_jobs=1)
    np.testing.assert_allclose(prepared.topic_coordinates["Freq"], 100 * prevalence, rtol=1e-9)
    for weight in (0.0, 0.4, 1.0):
        ranked = top_words(model, 5, ranking="relevance", weight=weight)
        for k in range(4):
            found = prepared.sorted_terms(k, weight)
            scores = dict(zip(found["Term"], found["relevance"], strict=True))
            # It rounds logarithms to four digits: the same words, but for such ties.
            theirs = found["Term"].tolist()[:5]
            np.testing.assert_allclose([scores[w] for w in ranked[k]], [scores[w] for w in theirs], atol=2e-4)
    # A page can be written: JSON knows no infinity.
    json.dumps(prepared.to_dict(), allow_nan=False, default=lambda value: value.item())

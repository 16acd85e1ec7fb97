"""The background: a valid part of the model, listed apart from the topics, and left out where there is next to none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.exploring.data import explorer_data
from anchorwords.interpret.topic_words import SMALLEST_BACKGROUND

SUBJECTS, OWN, COMMON = 5, 12, 10


@pytest.fixture(scope="module")
def corpus():
    """Documents of one or two subjects, and habits of speech in all of them, each word for itself."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(SUBJECTS, 0.15), size=500)
    own = np.repeat(shares, OWN, axis=1) / OWN
    common = np.tile(rng.dirichlet(np.full(COMMON, 3.0)), (500, 1))
    X = rng.poisson(np.hstack([30.0 * own, 15.0 * common]))
    vocabulary = [f"s{k}_{i}" for k in range(SUBJECTS) for i in range(OWN)] + [f"common_{i}" for i in range(COMMON)]
    return aw.Corpus(X, vocabulary)


@pytest.fixture(scope="module")
def model(corpus):
    return aw.AnchorTopicModel.from_preset("readers", SUBJECTS).fit(corpus)


def test_common_words_are_in_the_background_and_in_no_topic(model):
    found = aw.background_words(model, COMMON)
    assert {word.split("_")[0] for word in found["words"]} == {"common"}
    # They are a third of the tokens, some of which the topics keep; the prior expects a tenth of every document.
    assert 0.1 < found["share"] < 1 / 3
    for words in aw.top_words(model, 5):
        assert len({word.split("_")[0] for word in words}) == 1
        assert not words[0].startswith("common")


def test_documents_are_explained_by_topics_and_background_together(model, corpus):
    record = model.model_
    background, parts = record.background, record.parts
    assert background.words.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(parts.A.sum(), 1.0)
    np.testing.assert_array_equal(parts.B[:, parts.topic_of >= 0], record.B)
    weights = model.transform(corpus)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    # Without the background the common words have to be explained by topics that hardly hold them.
    assert model.perplexity(corpus) < aw.AnchorTopicModel.from_preset(
        "readers", SUBJECTS, refinement=aw.Refinement(4, decorrelation=3.0, least_squares=6)
    ).fit(corpus).perplexity(corpus)


def test_tables_and_pages_list_it_apart(model, corpus):
    table = aw.topic_table(model, 4)
    assert len(table) == SUBJECTS
    assert table.background == aw.background_words(model, 4)
    assert table.notes[0].startswith("Background, ")
    assert "in no topic: common_" in table.notes[0]
    page = explorer_data(model, corpus)
    assert page["background"]["words"][0].startswith("common_")
    assert len(page["topics"]) == SUBJECTS


def test_a_large_background_may_be_a_subject(model, corpus):
    assert "give one of them as an anchor" not in aw.topic_table(model).notes[0]
    record = model.model_
    A = record.parts.A.copy()
    A[-1], A[:, -1] = A[-1] * 9, A[:, -1] * 9
    large = replace(record, parts=replace(record.parts, A=A / A.sum()))
    assert "give one of them as an anchor" in aw.topic_table(large).notes[0]
    # What is given as an anchor stays a topic.
    guided = aw.AnchorTopicModel.from_preset("readers", SUBJECTS + 1, anchors=["common_0"], strength=1.0).fit(corpus)
    assert "common_0" in aw.top_words(guided, 10)[0]


def test_next_to_no_background_is_not_mentioned(model, corpus):
    record = model.model_
    A = record.parts.A.copy()
    A[-1], A[:, -1] = A[-1] * 1e-3, A[:, -1] * 1e-3
    small = replace(record, parts=replace(record.parts, A=A / A.sum()))
    assert small.background.share < SMALLEST_BACKGROUND
    assert aw.background_words(small)["share"] == small.background.share
    assert not any(note.startswith("Background") for note in aw.topic_table(small).notes)
    assert explorer_data(small, corpus)["background"] is None


def test_models_without_a_background(corpus):
    paper = aw.AnchorTopicModel(SUBJECTS).fit(corpus)
    assert aw.background_words(paper) is None
    assert aw.topic_table(paper).notes == []
    with pytest.raises(InputError, match="n must be"):
        aw.background_words(paper, 0)


def test_it_has_its_part_of_predicted_words(model, corpus):
    """A document without words has the mean of all parts, and so p(word) of topics and background together."""
    found = aw.predict_words(model, np.zeros((1, corpus.n_words)), n=corpus.n_words)
    p = np.zeros(corpus.n_words)
    p[found.columns[0]] = found.probability[0]
    parts = model.model_.parts
    np.testing.assert_allclose(p, parts.B @ parts.prevalence, rtol=1e-9)


def test_its_tokens_are_not_those_of_topics_over_time(model, corpus):
    found = aw.topics_over_time(model, corpus, np.arange(500) % 4)
    own = found.word_counts.tokens.sum() / corpus.n_tokens
    # What is left are the topics' shares of the documents, which the sweeps have fitted to the same documents.
    assert own == pytest.approx(1.0 - model.model_.background.share, rel=0.05)


def test_replicates_of_effects_vary_with_it(model, corpus):
    pytest.importorskip("formulaic")
    effects = aw.estimate_effects(model, corpus, "x", data={"x": np.arange(500) % 7}, replicates=3)
    assert np.abs(effects.doubt.covariance).max() > 0.0

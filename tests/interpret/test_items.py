"""Similar words and predicted words: identities, invariances and real baskets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import anchorwords as aw
from anchorwords.cli.app import app
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError, UnknownWordWarning
from anchorwords.interpret import predict


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


def test_similarity_is_the_affinity_of_profiles(model):
    record = model.model_
    rows = aw.similar_words(model, "w010", n=record.n_words).rows()
    own = record.word_topics[10]
    for row in rows:
        other = record.word_topics[record.vocabulary.index(row["word"])]
        hellinger = 0.5 * np.sum((np.sqrt(own) - np.sqrt(other)) ** 2)
        assert row["similarity"] == pytest.approx(1.0 - hellinger, abs=1e-6)  # rounded to six digits
        assert row["topics"][0] == int(np.argmax(own * other))
    values = [row["similarity"] for row in rows]
    assert values == sorted(values, reverse=True)
    assert "w010" not in [row["word"] for row in rows]


def test_similarity_is_symmetric_and_ids_are_reported(model):
    from dataclasses import replace

    record = replace(model.model_, ids=(9, 8, 7, 6, 5), labels=("a", "b", "c", "d", "e"))
    found = aw.similar_words(record, [3, "w040"], n=200).rows()
    one = next(row for row in found if row["query"] == "w003" and row["word"] == "w040")
    two = next(row for row in found if row["query"] == "w040" and row["word"] == "w003")
    assert (one["similarity"], one["topics"]) == (two["similarity"], two["topics"])
    assert one["labels"] == ["abcde"[9 - topic] for topic in one["topics"]]


def test_words_that_cannot_be_asked_about(model):
    with pytest.raises(InputError, match=r"'W010x' is not a word of the model: did you mean 'w010'"):
        aw.similar_words(model, "W010x")
    for bad in (-1, 120, 1.5, True):
        with pytest.raises(InputError, match="a word of the model or a column"):
            aw.similar_words(model, [bad])


def test_predictions_are_the_order_of_theta_B(model, sampled, monkeypatch):
    counts = sampled.corpus.counts[:40].toarray()
    p = model.transform(counts) @ model.model_.B.T
    p[counts > 0] = -1.0
    found = aw.predict_words(model, counts, n=7, method="posterior-mean")
    np.testing.assert_array_equal(found.columns, np.argsort(-p, axis=1, kind="stable")[:, :7])
    np.testing.assert_allclose(found.probability, -np.sort(-p, axis=1)[:, :7], rtol=1e-12)
    overall = model.model_.B @ model.model_.prevalence
    np.testing.assert_allclose(found.lift, found.probability / overall[found.columns], rtol=1e-12)
    monkeypatch.setattr(predict, "_TOGETHER", 120 * 3)  # three documents at a time
    for documents in (counts, sampled.corpus):
        again = aw.predict_words(model, documents, n=7, method="posterior-mean")
        np.testing.assert_array_equal(again.columns[:40], found.columns)
    with pytest.raises(InputError, match="method must be 'collapsed' or one of 'posterior-mean', 'prior-aware'"):
        aw.predict_words(model, counts, method="mode")


def test_probabilities_are_those_of_the_hidden_words(sampled):
    # Two halves of the tokens of documents that the fit has not seen. A hidden token is any word with its probability,
    # so the predicted probabilities of 20 words add up to the share of hidden tokens among these words. Of 300
    # documents with 50 hidden tokens each the standard error is about 0.01, and the topics are estimated: 0.04 covers
    # both.
    corpus = make_topics(n_docs=4300, n_words=200, n_topics=5, correlation=0.1, random_state=7).corpus
    model = aw.AnchorTopicModel(5).fit(corpus.counts[:4000])
    rng = np.random.default_rng(0)
    counts = corpus.counts[4000:].toarray().astype(int)
    seen = rng.binomial(counts, 0.5)
    hidden = counts - seen
    found = aw.predict_words(model, seen, n=20)
    # Given that a token is none of the words seen, which are not predicted.
    hits = np.take_along_axis(hidden, found.columns, axis=1).sum() / hidden.sum()
    assert found.probability.sum(axis=1).mean() == pytest.approx(hits, abs=0.04)


def test_baskets_are_counts(model, sampled):
    words = sampled.corpus.vocabulary
    rows = [0, 5]
    baskets = [
        [words[j] for j in np.repeat(np.arange(120), row)] for row in sampled.corpus.counts[rows].toarray().astype(int)
    ]
    right = aw.predict_words(model, sampled.corpus.counts[rows], n=5)
    found = aw.predict_words(model, baskets, n=5)
    np.testing.assert_array_equal(found.columns, right.columns)
    np.testing.assert_array_equal(aw.predict_words(model, baskets[1], n=5).columns[0], found.columns[1])
    assert [row["document"] for row in found.rows()] == [0] * 5 + [1] * 5
    with pytest.warns(UnknownWordWarning, match="X: 2 words are not in the vocabulary") as caught:
        mixed = aw.predict_words(model, [[*baskets[0], "nowhere", "nothing"], baskets[1]], n=5)
    assert len(caught) == 1
    np.testing.assert_array_equal(mixed.columns, right.columns)
    with pytest.raises(InputError, match="does not know 'nowhere': check how its words are spelled"):
        aw.predict_words(model, ["nowhere"])
    with pytest.raises(InputError, match="knows none of the 2 words given: check"):
        aw.predict_words(model, ["nowhere", "nothing at all"])
    with pytest.raises(
        InputError, match="does not know 'w001 nothing w002', but it knows 'w001' and 'w002': give each word"
    ):
        aw.predict_words(model, ["w001 nothing w002"])
    with pytest.raises(InputError, match="none of the 2 words given, but it knows 'w001': give each word separately"):
        aw.predict_words(model, ["a w001", "nothing"])
    with pytest.raises(InputError, match="single string"):
        aw.predict_words(model, "w001")


def test_a_full_basket_has_little_to_predict(model, sampled):
    words = list(sampled.corpus.vocabulary)
    found = aw.predict_words(model, words[:-2], n=5)
    assert set(found.columns[0].tolist()) <= {118, 119, -1}
    assert (found.columns[0, 2:] == -1).all()
    assert len(found.rows()) == int((found.columns >= 0).sum())


def test_a_part_of_a_name_finds_it(model):
    record = model.model_.with_vocabulary([f"the film number {i} (1999)" for i in range(120)])
    with pytest.raises(InputError, match=r"did you mean 'the film number 0 \(1999\)' or"):
        aw.similar_words(record, "FILM")
    with pytest.raises(InputError, match="lists the words"):
        aw.similar_words(record, "xyz")


def test_commands(model, tmp_path):
    model.save(tmp_path / "model")
    done = CliRunner().invoke(app, ["similar", str(tmp_path / "model"), "w010", "w020", "-n", "3", "--json"])
    assert json.loads(done.stdout) == aw.similar_words(model, ["w010", "w020"], 3).rows()
    done = CliRunner().invoke(app, ["predict", str(tmp_path / "model"), "w010", "w020", "-n", "3", "--json"])
    assert json.loads(done.stdout) == aw.predict_words(model, ["w010", "w020"], 3).rows()
    assert "give each word separately" in str(
        CliRunner().invoke(app, ["predict", str(tmp_path / "model"), "w010 w020"]).exception
    )
    for command in ("similar", "predict"):
        done = CliRunner().invoke(app, [command, str(tmp_path / "model"), "w010", "-n", "3"], env={"COLUMNS": "160"})
        assert (done.exit_code, len(done.stdout.splitlines())) == (0, 4)


@pytest.mark.data
def test_films_are_predicted_better_than_by_popularity(real_corpus):
    corpus = real_corpus("ml1m", 1500)
    counts = corpus.counts.tocsr()
    model = aw.AnchorTopicModel(20).fit(counts[:-300])
    popular = np.argsort(-np.asarray(counts[:-300].sum(axis=0)).ravel(), kind="stable")
    rng = np.random.default_rng(0)
    ours = theirs = 0
    for row in counts[-300:]:
        items = np.asarray(row.nonzero()[-1])
        held = rng.choice(items, max(1, items.size // 5), replace=False)
        basket = np.zeros((1, counts.shape[1]))
        basket[0, np.setdiff1d(items, held)] = 1.0
        ours += np.isin(aw.predict_words(model, basket, n=20).columns[0], held).sum()
        theirs += np.isin(popular[~np.isin(popular, np.flatnonzero(basket))][:20], held).sum()
    assert ours > 1.3 * theirs

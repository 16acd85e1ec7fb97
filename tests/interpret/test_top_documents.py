from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.infer import compose
from anchorwords.interpret.top_documents import top_documents


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


@pytest.fixture(scope="module")
def two_topics():
    """Two topics of two words each, one word of both, and one the model has never seen."""
    B = np.array([[0.5, 0.0], [0.3, 0.0], [0.0, 0.5], [0.0, 0.3], [0.2, 0.2], [0.0, 0.0]])
    word_topics = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0.5, 0.5], [0.5, 0.5]], dtype=float)
    return aw.TopicModel(B, np.eye(2) / 2, 1.0, np.array([0, 2]), word_topics, B.mean(axis=1))


def by_definition(weights, tokens, n, min_tokens=5):
    """Rows of the n best documents of each topic, all documents put in order at once."""
    return [
        sorted(
            (m for m in range(len(weights)) if tokens[m] >= min_tokens and weights[m, k] * tokens[m] >= 0.5),
            key=lambda m, k=k: (-round(weights[m, k], 6), -tokens[m], m),
        )[:n]
        for k in range(weights.shape[1])
    ]  # fmt: skip


def rows(found):
    return [[entry["row"] for entry in topic] for topic in found]


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_they_have_the_largest_shares(model, sampled, n):
    counts = sampled.corpus.counts
    weights, tokens = model.transform(counts), counts.sum(axis=1)
    found = top_documents(model, counts, n)
    assert rows(found) == by_definition(weights, tokens, n)
    for k, topic in enumerate(found):
        for entry in topic:
            assert set(entry) == {"document", "row", "share", "tokens"}
            assert entry["share"] == pytest.approx(weights[entry["row"], k], abs=1e-12)
            assert entry["tokens"] == tokens[entry["row"]]
            assert entry["document"] == entry["row"]
            assert (type(entry["row"]), type(entry["tokens"])) == (int, int)


def test_ties_go_to_the_longer_document_then_to_the_earlier(two_topics):
    pure = [[3, 2, 0, 0, 0, 0], [0, 0, 3, 3, 0, 0]]
    counts = np.array([*pure, [6, 4, 0, 0, 0, 0], pure[0], [3, 0, 3, 0, 0, 0], [6, 4, 0, 0, 0, 9]])
    found = top_documents(two_topics, counts, 10)
    # Nine tokens of a word the model has never seen do not make a document longer.
    assert rows(found) == [[2, 5, 0, 3, 4], [1, 4]]
    assert [entry["tokens"] for entry in found[0]] == [10, 10, 5, 5, 6]
    # Ten tokens beside the prior's, of which there are 0.01 where every document of the fit has one topic.
    assert found[0][0]["share"] == pytest.approx(10.005 / 10.01, abs=1e-6)
    assert found[0][-1]["share"] == pytest.approx(0.5)
    assert rows(top_documents(two_topics, counts, 2)) == [[2, 5], [1, 4]]


def test_short_documents_and_those_without_a_known_word_are_left_out(two_topics):
    counts = np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 50], [3, 1, 0, 0, 0, 50], [2, 1, 2, 0, 0, 0], [0] * 6])
    assert rows(top_documents(two_topics, counts)) == [[3], [3]]
    assert rows(top_documents(two_topics, counts, min_tokens=4)) == [[2, 3], [3]]
    assert rows(top_documents(two_topics, counts, min_tokens=1)) == [[2, 0, 3], [3]]
    assert top_documents(two_topics, counts, min_tokens=6) == [[], []]
    halves = top_documents(two_topics, counts / 2, min_tokens=1)
    assert halves[0][-1]["tokens"] == 2.5
    with pytest.raises(InputError, match="no document holds a word the model knows"):
        top_documents(two_topics, counts[[1, 4]])


def test_any_way_to_give_the_documents_is_the_same(model, sampled, tmp_path, monkeypatch):
    corpus = sampled.corpus
    expected = top_documents(model, corpus.counts, 6)
    names = [f"report {m}" for m in range(corpus.n_docs)]
    named = aw.Corpus(corpus.counts, corpus.vocabulary, names)
    order = np.random.default_rng(0).permutation(corpus.n_words)
    # Other columns, and words the model does not know.
    other = aw.Corpus(
        sp.hstack([corpus.counts[:, order], np.full((corpus.n_docs, 1), 7)]),
        [*(corpus.vocabulary[i] for i in order), "unheard-of"],
    )
    named.save(tmp_path / "corpus")
    stored = aw.open_corpus(tmp_path / "corpus")
    blocks = [corpus.counts[:250], corpus.counts[250:]]
    for X in (corpus, other, blocks, lambda: iter(blocks), corpus.counts.toarray()):
        assert rows(top_documents(model, X, 6)) == rows(expected)
    by_name = top_documents(model, named, 6)
    assert top_documents(model, stored, 6) == by_name
    assert [[entry["document"] for entry in topic] for topic in by_name] == [
        [names[m] for m in topic] for topic in rows(expected)
    ]
    # A block is cut where its compositions would be large; nothing depends on where, nor on threads.
    monkeypatch.setattr(compose, "_SHARES", 5 * 37)
    for n_jobs in (1, 3):
        assert top_documents(model.model_, corpus.counts, 6, n_jobs=n_jobs) == expected


def test_progress_is_told(model, sampled, monkeypatch):
    monkeypatch.setattr(compose, "_SHARES", 5 * 200)
    told = []
    top_documents(model, sampled.corpus, 1, progress=lambda *now: told.append(now))
    assert told == [(200, 200 / 600), (400, 400 / 600), (600, 1.0)]
    told.clear()
    top_documents(model, lambda: [sampled.corpus.counts], 1, progress=lambda *now: told.append(now))
    assert told[-1] == (600, None)


def test_bad_input_is_refused(model, sampled):
    counts = sampled.corpus.counts
    for arguments, options, sentence in (
        ((counts, 0), {}, "n must be a positive whole number"),
        ((counts,), {"min_tokens": 0}, "min_tokens must be a positive whole number"),
        ((counts,), {"n_jobs": 0}, "n_jobs must be"),
        ((counts[:, :7],), {}, "knows 120 words, but X has 7 columns"),
        (([counts[:, :7]],), {}, "knows 120 words, but X has 7 columns"),
        ((-counts,), {}, "Negative values"),
        ((["some text"],), {}, "X must hold counts"),
    ):
        with pytest.raises(InputError, match=sentence):
            top_documents(model, *arguments, **options)
    with pytest.raises(InputError, match="call fit first"):
        top_documents(aw.AnchorTopicModel(5), counts)
    with pytest.raises(InputError, match="knows 120 words, but X has 2 columns"):
        top_documents(replace(model.model_, vocabulary=None), aw.Corpus([[1, 1]], ["a", "b"]))

"""Labels by any callable, kept on disk."""

from __future__ import annotations

import json

import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.interpret.labels import label_topics
from anchorwords.interpret.topic_words import top_words
from tests.interpret.records import random_topics, record_of


@pytest.fixture
def model():
    return record_of(*random_topics(0), [f"w{i}" for i in range(60)])


class Labeller:
    """Counts how often it is asked."""

    def __init__(self, fails_at=None):
        self.asked, self._fails_at = [], fails_at

    def __call__(self, words, documents):
        if len(self.asked) == self._fails_at:
            raise RuntimeError("out of credit")
        self.asked.append((words, documents))
        return f"about {words[0]}"


def test_it_gets_words_and_documents(model, sampled):
    labeller = Labeller()
    labels = label_topics(model, labeller, n_words=4)
    assert labels == [f"about {words[0]}" for words in aw.prominent_words(model)]
    assert labeller.asked == [(words, []) for words in aw.prominent_words(model, 4)]

    named = aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, [f"d{m}" for m in range(600)])
    fitted = aw.AnchorTopicModel(5).fit(named)
    for corpus, names in ((named, str), (sampled.corpus.counts, int)):
        labeller = Labeller()
        label_topics(fitted, labeller, corpus=corpus, n_documents=2, ranking="frex", n_words=3)
        for k, (words, documents) in enumerate(labeller.asked):
            assert words == top_words(fitted, 3, ranking="frex")[k]
            assert documents == [entry["document"] for entry in aw.top_documents(fitted, corpus, 2)[k]]
            assert {type(document) for document in documents} == {names}


def test_words_come_from_the_corpus_where_the_model_has_none(sampled):
    fitted = aw.AnchorTopicModel(3).fit(sampled.corpus.counts)
    labeller = Labeller()
    label_topics(fitted, labeller, corpus=sampled.corpus)
    assert all(word in sampled.corpus.vocabulary for words, _ in labeller.asked for word in words)


def test_labels_are_kept(model, tmp_path):
    cache = tmp_path / "labels.json"
    first, again = Labeller(), Labeller()
    labels = label_topics(model, first, cache=cache)
    assert label_topics(model, again, cache=str(cache)) == labels
    assert (len(first.asked), len(again.asked)) == (5, 0)
    # Other words, and a labeller of another name, are asked anew; the old labels stay.
    for options in ({"n_words": 3}, {"name": "other"}):
        other = Labeller()
        label_topics(model, other, cache=cache, **options)
        assert len(other.asked) == 5
        label_topics(model, other, cache=cache, **options)
        assert len(other.asked) == 5
    label_topics(model, again, cache=cache)
    assert again.asked == []
    assert [file.name for file in tmp_path.iterdir()] == ["labels.json"]


def test_an_error_is_raised_and_what_was_done_is_kept(model, tmp_path):
    cache = tmp_path / "labels.json"
    failing = Labeller(fails_at=3)
    with pytest.raises(RuntimeError, match="out of credit"):
        label_topics(model, failing, cache=cache)
    rest = Labeller()
    assert len(label_topics(model, rest, cache=cache)) == 5
    assert len(rest.asked) == 2


def test_labels_may_be_in_any_script_and_people_may_edit_them(model, tmp_path):
    cache = tmp_path / "labels.json"
    odd = 'τέχνη "x" \u2028 \ud800'
    assert label_topics(model, lambda *_: odd, cache=cache) == [odd] * 5
    assert label_topics(model, Labeller(), cache=cache) == [odd] * 5
    label_topics(model, lambda *_: "", cache=cache, name="silent")
    text = cache.read_text(encoding="utf-8", errors="surrogatepass")
    assert "τέχνη" in text
    cache.write_text(text.replace("τέχνη", "art"), encoding="utf-8", errors="surrogatepass")
    assert label_topics(model, Labeller(), cache=cache)[0].startswith("art")
    assert label_topics(model, Labeller(), cache=cache, name="silent") == [""] * 5


def test_labels_must_be_strings(model, tmp_path):
    cache = tmp_path / "labels.json"
    answers = iter(["one", 2])
    with pytest.raises(InputError, match="must return a string, but for topic 1 it returned int: 2"):
        label_topics(model, lambda *_: next(answers), cache=cache)
    assert label_topics(model, Labeller(), cache=cache)[0] == "one"
    with pytest.raises(InputError, match="labeller must be a function"):
        label_topics(model, "gpt")
    with pytest.raises(InputError, match="n_documents must be"):
        label_topics(model, Labeller(), n_documents=0)


@pytest.mark.parametrize(
    "content",
    [
        "", "[1, 2", "[]", '{"format": "other"}',
        json.dumps({"format": "anchorwords-labels", "format_version": 2, "labels": {}}),
        json.dumps({"format": "anchorwords-labels", "format_version": 1, "labels": {"a": {"label": 3}}}),
    ],
)  # fmt: skip
def test_a_file_that_is_no_cache_is_left_alone(model, tmp_path, content):
    cache = tmp_path / "thesis.json"
    cache.write_text(content, encoding="utf-8")
    labeller = Labeller()
    with pytest.raises(InputError, match=r"thesis\.json exists and is not a file of labels"):
        label_topics(model, labeller, cache=cache)
    assert cache.read_text(encoding="utf-8") == content
    assert labeller.asked == []


def test_nothing_is_asked_that_could_not_be_kept(model, tmp_path):
    labeller = Labeller()
    with pytest.raises(InputError, match="does not exist; make it first"):
        label_topics(model, labeller, cache=tmp_path / "nowhere" / "labels.json")
    with pytest.raises(InputError, match="is not a file of labels"):
        label_topics(model, labeller, cache=tmp_path)
    assert labeller.asked == []


def test_labels_have_a_limit(model, tmp_path):
    with pytest.raises(
        InputError, match=r"label of topic 0 must have at most 200 characters, but has 10,000: shorten it"
    ):
        label_topics(model, lambda *_: "x" * 10_000, cache=tmp_path / "cache.json")
    assert not (tmp_path / "cache.json").exists()
    with pytest.raises(InputError, match="label of topic 1 must have at most 200 characters"):
        model.with_labels(["x" * 200, "x" * 201, *[""] * (model.n_components - 2)])

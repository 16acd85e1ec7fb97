"""The plain dict: what JSON can hold, consistent in itself and with what the rest of the package says of a model."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.exploring import word_cards as choice
from anchorwords.exploring.data import FORMAT, VERSION, explorer_data
from anchorwords.exploring.plain import LONGEST_NAME, LONGEST_TEXT, number
from anchorwords.interpret.naming import automatic_labels, topic_names

from .made import bare, fitted, made_model, sampled

DOCS = Path(__file__).resolve().parents[2] / "docs" / "explorer.md"
KINDS = ["enn", "ap", "palm", "unrectified", "nameless", "tandem", "refined", "stable", "1", "2", "3"]
HOSTILE = [
    "</script><img src=x onerror=alert(1)>", "<!--<script>", "{{data}}", "\u202eright-to-left", "مرحبا", "👩‍🚀",
    "x" * 10_000, "\ud800 lone", "\x00\x1b[31m", "", "   ", "\u2028", "__proto__", "constructor", "</title>", "'\"&amp;",
    "a\nb\tc", "\u200b",
]  # fmt: skip


def check_data(data):
    """What must hold of any: JSON, places within their lists, everything about each topic and word, once."""
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["format"], data["version"]) == (FORMAT, VERSION) == ("anchorwords-explorer", 1)
    topics, listed, space = data["topics"], data["words"], data["space"]
    K, W = data["n_topics"], len(listed["text"])
    assert len(topics) == K
    assert data["n_words"] >= W
    assert {len(values) for values in listed.values()} == {W}
    assert sorted(topic["rank"] for topic in topics) == list(range(1, K + 1))
    width, height = data["map"]["aspect"], 1.0
    ids = [topic["topic"] for topic in topics]
    assert len(set(ids)) == K
    assert sorted(topic["reading"] for topic in topics) == list(range(1, K + 1))
    for topic in topics:
        assert len(topic["words"]) == len(topic["probabilities"])
        for places in (topic["anchors"], topic["words"], topic["prominent"], topic["characteristic"]):
            assert all(0 <= place < W for place in places)
            assert len(set(places)) == len(places)
        assert set(topic["prominent"]) <= set(topic["words"])
        assert len(topic["prominent"]) <= 12
        assert topic["anchors"]
        (x, y), radius = topic["place"], topic["radius"]
        assert radius <= x <= width - radius
        assert radius <= y <= height - radius
        assert all(entry["topic"] != topic["topic"] and entry["topic"] in ids for entry in topic["neighbours"])
        assert topic["automatic"] or not topic["words"]
        assert topic["label"] or not topic["words"]
        if (tree := topic["tree"]) is not None:
            n = len(tree["words"])
            assert all(0 <= place < W for place in tree["words"])
            assert len(tree["kinds"]) == n
            assert len(tree["edges"]) == max(n - 1, 0)
            assert all(0 <= i < j < n and 0.0 <= weight <= 1.0 for i, j, weight in tree["edges"])
            assert set(tree["words"]) <= {*topic["prominent"], *topic["characteristic"]}
    for k, m, affinity, sure in data["map"]["edges"]:
        assert k != m
        assert {k, m} <= set(ids)
        assert affinity > 1.0
        assert sure in (None, True, False)
    for own in listed["topics"]:
        assert all(k in ids for k in own[::2])
        assert sum(own[1::2]) <= 1.0 + 0.001 * len(own)
    for own in listed["companions"]:
        assert all(0 <= place < W for place in own[::2])
    if space is not None:
        assert len(space["x"]) == len(space["y"]) == W
        assert all(k in ids for k in space["hull"])
    check_hierarchy(data["hierarchy"], ids)
    for text in texts_of(data):
        assert all(char.isprintable() or char in "\u200c\u200d" for char in text)
        assert len(text) <= 2 * LONGEST_TEXT
    return data


def check_hierarchy(tree, ids):
    """Every topic is merged once, merges lose ever more, and the last one leaves one cluster."""
    assert sorted(tree["order"]) == sorted(ids)
    assert len(tree["merges"]) == len(ids) - 1
    alive = set(ids)
    for m, (left, right, _) in enumerate(tree["merges"]):
        assert {left, right} <= alive
        alive = alive - {left, right} | {-(m + 1)}
    assert len(alive) == 1
    heights = [height for *_, height in tree["merges"]]
    assert heights == sorted(heights)
    assert all(0.0 <= height <= 1.0 for height in heights)


def texts_of(value):
    """Every string in it, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from texts_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_of(part)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_of_every_model(kind, given, told):
    model = fitted(kind)
    data = check_data(explorer_data(model if told else bare(model.model_), sampled() if given else None))
    assert ("documents" in data["topics"][0]) == given
    assert data["n_documents"] == (300 if told else None)
    assert (data["model"]["parameters"] != []) == told
    assert (data["model"]["convergence"] is not None) == (told and kind != "unrectified")
    assert (data["level"] is None) == (kind != "stable")
    assert (data["model"]["log_likelihood"] is None) == (kind != "refined")
    assert data["weight"] == (0.6 if kind == "refined" else 1.0)
    names = [str(i) for i in range(90)] if kind == "nameless" and not given else list(sampled().vocabulary)
    assert data["words"]["text"] == names
    assert (data["space"] is None) == (kind == "1")


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("kind", ["enn", "unrectified", "tandem", "refined", "stable"])
def test_the_record_tells_as_much_as_the_estimator(kind, given):
    model, corpus = fitted(kind), sampled() if given else None
    assert explorer_data(model.model_, corpus) == explorer_data(model, corpus)


def test_the_record_tells_how_it_was_fitted():
    data = explorer_data(fitted("palm").model_)
    assert data["n_documents"] == 300
    assert {row["name"]: row["value"] for row in data["model"]["parameters"]}["n_components"] == "5"
    assert data["model"]["convergence"]["method"] == "PALM"
    assert {"Documents", "Converged"} <= {row["name"] for row in data["model"]["facts"]}


def test_what_a_topic_lists():
    model = fitted()
    data = explorer_data(model, sampled())
    table = {row["topic"]: row for row in aw.topic_table(model, 12)}
    text = data["words"]["text"]
    relevant = {weight: aw.top_words(model, 24, ranking="relevance", weight=weight) for weight in (0.0, 0.3, 0.6, 1.0)}
    for k, topic in enumerate(data["topics"]):
        assert [text[i] for i in topic["prominent"]] == table[k]["prominent"]
        assert [text[i] for i in topic["characteristic"]] == table[k]["characteristic"]
        assert [text[i] for i in topic["anchors"]] == [table[k]["anchor"]]
        assert topic["prevalence"] == number(table[k]["prevalence"])
        listed = {text[i] for i in topic["words"]}
        assert all(set(lists[k]) <= listed for lists in relevant.values())
        for i, probability in zip(topic["words"], topic["probabilities"], strict=True):
            assert probability == number(model.model_.B[sampled().vocabulary.index(text[i]), k], 6)


def test_topics_are_judged_as_evaluate_does():
    data, expected = explorer_data(fitted("stable"), sampled()), aw.evaluate(fitted("stable"), sampled())
    for name in ("specificity", "mst_incoherence", "npmi_coherence", "stability", "stable_words", "anchor_stability",
                 "prevalence_low", "prevalence_high"):  # fmt: skip
        assert [topic[name] for topic in data["topics"]] == [number(value, 4) for value in expected["per_topic"][name]]
    trees = aw.metrics.topic_trees(fitted(), sampled())
    assert [topic["tree"]["weight"] for topic in data["topics"]] == [number(tree.weight, 4) for tree in trees]
    text = data["words"]["text"]
    for topic, tree in zip(data["topics"], trees, strict=True):
        assert tuple(text[i] for i in topic["tree"]["words"]) == tree.words


def test_trees_are_of_the_documents_or_of_the_model_itself():
    with_documents, without = explorer_data(fitted(), sampled()), explorer_data(fitted())
    weights = [[topic["tree"]["weight"] for topic in data["topics"]] for data in (with_documents, without)]
    assert weights[0] != weights[1]
    assert weights[1] == [topic["mst_incoherence"] for topic in without["topics"]]


@pytest.mark.parametrize("given", [False, True])
def test_without_the_anchors_rows(given):
    model = dataclasses.replace(fitted().model_, anchor_rows=None)
    data = check_data(explorer_data(model, sampled() if given else None))
    for topic in data["topics"]:
        assert topic["characteristic"] == []
        assert topic["tree"] is None
        assert "mst_incoherence" not in topic
    row = next(row for row in data["model"]["metrics"] if row["name"] == "mst_incoherence")
    assert row["value"] is None
    assert row["undefined"]


@pytest.mark.parametrize("given", [False, True])
def test_the_same_bits_for_any_number_of_threads_and_again(given):
    corpus = sampled() if given else None
    found = [json.dumps(explorer_data(fitted("stable"), corpus, n_jobs=jobs)) for jobs in (1, 2, None, 1)]
    assert len(set(found)) == 1


@pytest.mark.parametrize("form", ["stored", "counts", "dense"])
def test_documents_of_any_form_give_the_same(form, tmp_path):
    corpus = sampled()
    corpus.save(tmp_path / "corpus")
    X = {"stored": aw.open_corpus(tmp_path / "corpus"), "counts": corpus.counts, "dense": corpus.counts.toarray()}[form]
    found, expected = check_data(explorer_data(fitted(), X)), explorer_data(fitted(), corpus)
    if form != "stored":
        for data in (found, expected):
            for topic in data["topics"]:
                for entry in topic["documents"]:
                    entry["name"] = re.sub(r"\d+", "", entry["name"]).replace("report", "document")
    assert found == expected


def test_blocks_of_counts():
    data = check_data(explorer_data(fitted(), [sampled().counts[:100], sampled().counts[100:]]))
    assert [topic["specificity"] for topic in data["topics"]] == [
        topic["specificity"] for topic in explorer_data(fitted(), sampled())["topics"]
    ]


@pytest.mark.parametrize("form", ["corpus", "dense", "blocks", "function"])
def test_the_number_of_documents_measured_on(form):
    counts = sampled().counts
    X = {
        "corpus": sampled(),
        "dense": counts.toarray(),
        "blocks": [counts[:100], counts[100:]],
        "function": lambda: [counts],  # blocks that nobody has counted
    }[form]
    told = {row["name"]: row["value"] for row in explorer_data(fitted(), X)["model"]["facts"]}
    assert told.get("Documents measured on") == (None if form == "function" else 301)


def test_a_corpus_of_other_words():
    corpus = sampled()
    half = aw.Corpus(sp.csr_array(corpus.counts)[:, :60], corpus.vocabulary[:60], corpus.doc_ids)
    data = check_data(explorer_data(fitted(), half))
    assert data["words"]["text"] == list(corpus.vocabulary)  # the model's own
    strange = aw.Corpus(corpus.counts, [f"strange{i}" for i in range(90)])
    with pytest.raises(InputError, match="none of the model's words"):
        explorer_data(fitted(), strange)


def test_a_model_without_names_takes_those_of_its_corpus():
    with_names, without = explorer_data(fitted("nameless"), sampled()), explorer_data(fitted(), sampled())
    assert with_names["topics"] == without["topics"]
    assert with_names["words"] == without["words"]
    other = aw.Corpus(sp.csr_array(sampled().counts)[:, :50], sampled().vocabulary[:50])
    with pytest.raises(InputError, match="words"):
        explorer_data(fitted("nameless"), other)


def test_documents_that_are_all_short():
    corpus = sampled()
    short = aw.Corpus(corpus.counts[:5], corpus.vocabulary)
    data = check_data(explorer_data(fitted(), short))
    assert any(topic["documents"] for topic in data["topics"])
    assert data["topics"][0]["npmi_coherence"] is None or data["topics"][0]["npmi_coherence"] <= 1.0


# ---- Titles, labels, texts


def test_title_and_labels():
    data = explorer_data(fitted(), title="What\nthey <say>", labels=["a", "b" * 200, "\x00", "", "<i>"])
    assert data["title"] == "What\N{REPLACEMENT CHARACTER}they <say>"
    labels = [topic["label"] for topic in data["topics"]]
    # A topic without a label is shown by its automatic name.
    assert labels[:1] + labels[2:] == ["a", "\N{REPLACEMENT CHARACTER}", topic_names(fitted())[3], "<i>"]
    assert len(labels[1]) == LONGEST_NAME
    assert explorer_data(fitted())["title"] == "5 topics"
    assert len(explorer_data(fitted(), title="t" * 10**5)["title"]) == LONGEST_NAME
    named = aw.label_topics(fitted(), lambda words, _: words[0])
    assert [topic["label"] for topic in explorer_data(fitted(), labels=np.array(named))["topics"]] == named


@pytest.mark.parametrize("kind", ["enn", "refined"])
def test_labels_are_those_of_every_other_table(kind):
    assert [topic["label"] for topic in explorer_data(fitted(kind))["topics"]] == topic_names(fitted(kind))


@pytest.mark.parametrize("nameless", [False, True])
def test_labels_of_the_model_are_used(nameless):
    own = ["first", "<i>", "b" * 200, "\x00", ""]
    model = copy.copy(fitted("nameless" if nameless else "enn"))
    model.model_ = model.model_.with_labels(own)
    for labelled in (model, model.model_, bare(model.model_)):
        labels = [topic["label"] for topic in check_data(explorer_data(labelled, sampled()))["topics"]]
        assert labels[:2] == ["first", "<i>"]
        assert labels[3:] == ["\N{REPLACEMENT CHARACTER}", automatic_labels(fitted())[4]]
        assert len(labels[2]) == LONGEST_NAME


def test_labels_given_win_over_those_of_the_model():
    labelled = fitted().model_.with_labels(["own"] * 5)
    given = [f"given {k}" for k in range(5)]
    assert [topic["label"] for topic in explorer_data(labelled, labels=given)["topics"]] == given
    with pytest.raises(InputError, match="each of the 5 topics once"):
        explorer_data(labelled, labels=given[:4])
    without = labelled.with_labels(None)
    assert explorer_data(without) == explorer_data(fitted())


@pytest.mark.parametrize(
    "labels", ["abcde", b"abcde", ["a"] * 4, ["a"] * 6, [], 5, iter("abcd"), dict.fromkeys(range(5), "a")]
)
def test_labels_that_are_not(labels):
    with pytest.raises(InputError, match="each of the 5 topics once") as caught:
        explorer_data(fitted(), labels=labels)
    assert str(caught.value).count(".") == 1


def test_texts_that_are_not():
    for corpus, texts in ((None, ["a"]), (sampled(), "text"), (sampled(), ["a"] * 3), (sampled(), 3)):
        with pytest.raises(InputError, match="texts"):
            explorer_data(fitted(), corpus, texts=texts)


def test_what_is_no_model():
    for model in (None, {}, aw.AnchorTopicModel(3)):
        with pytest.raises(InputError, match="call fit first"):
            explorer_data(model)
    with pytest.raises(InputError):
        explorer_data(fitted(), n_jobs=0)


# ---- Hostile words and odd models


def hostile_model():
    """A model whose words are hostile, each topic's first ones."""
    corpus = sampled()
    first = np.argsort(-np.asarray(corpus.term_frequencies), kind="stable")[: len(HOSTILE)]
    words = list(corpus.vocabulary)
    for i, word in zip(first, HOSTILE, strict=True):
        words[i] = word
    hostile = aw.Corpus(corpus.counts, words, [f"<b>{m}</b>" + HOSTILE[m % len(HOSTILE)] for m in range(301)])
    return aw.AnchorTopicModel(5, anchors=[HOSTILE[0]]).fit(hostile), hostile


def test_hostile_words_are_bounded_and_printable():
    model, corpus = hostile_model()
    data = check_data(explorer_data(model, corpus, texts=["<script>" + "\u202e" * 9999] * 301, title=HOSTILE[0]))
    assert max(len(text) for text in data["words"]["text"]) == LONGEST_NAME
    assert {HOSTILE[0], "مرحبا", "👩‍🚀", "", "   ", "{{data}}"} <= set(data["words"]["text"])
    json.dumps(data, ensure_ascii=False).encode("utf-8")


def test_words_of_no_probability_and_topics_of_none():
    made = made_model(200, 6, words_a_topic=40)
    A = np.array(made.A)
    A[5] = A[:, 5] = 0.0
    A /= A.sum()
    B = np.array(made.B)
    B[190:] = 0.0
    B /= B.sum(axis=0)
    p = B @ A.sum(axis=1)
    model = dataclasses.replace(made, A=A, B=B, word_probs=p / p.sum(), Y=B @ np.linalg.cholesky(A + 1e-12 * np.eye(6)))
    with np.errstate(all="raise", under="ignore"):
        data = check_data(explorer_data(model))
    assert data["topics"][5]["prevalence"] == 0
    assert data["topics"][5]["rank"] == 6
    assert data["topics"][5]["words"]
    assert data["topics"][5]["neighbours"] == []
    assert not {str(i) for i in range(190, 200)} & set(data["words"]["text"])


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of metrics: topics have words
def test_a_topic_of_no_words():
    made = made_model(200, 6, words_a_topic=40)
    B = np.array(made.B)
    B[:, 2] = 0.0
    data = check_data(explorer_data(dataclasses.replace(made, B=B)))
    topic = data["topics"][2]
    assert (topic["words"], topic["prominent"], topic["label"]) == ([], [], "")
    assert topic["characteristic"]


def test_words_that_only_a_later_anchor_of_a_group_is(monkeypatch):
    # Of a vocabulary too large to be there whole.
    monkeypatch.setattr(choice, "_WORDS", 300)
    monkeypatch.setattr(choice, "_OTHERS", 50)
    made = made_model(1000, 4, words_a_topic=200)
    rare = np.argsort(made.word_probs, kind="stable")[1:5]
    model = dataclasses.replace(
        made, anchor_groups=tuple((int(a), int(b)) for a, b in zip(made.anchors, rare, strict=True))
    )
    data = check_data(explorer_data(model))
    assert len(data["words"]["text"]) < 1000
    for topic, group in zip(data["topics"], model.anchor_groups, strict=True):
        assert [data["words"]["text"][place] for place in topic["anchors"]] == [str(i) for i in group]


# ---- docs/explorer.md


def keys_of(value):
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from keys_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from keys_of(part)


def test_every_key_is_described():
    corpus = sampled()
    by = {"time": np.arange(301) % 4, "by": [f"group {m % 3}" for m in range(301)]}
    made = [explorer_data(fitted(kind), corpus, texts=["text"] * 301, **by) for kind in ("stable", "refined", "ap")]
    wanted = {key for data in made for key in keys_of(data)}
    assert {"text", "affinity_low", "stable_words", "log_likelihood", "violation"} <= wanted
    page = DOCS.read_text(encoding="utf-8")
    assert sorted(key for key in wanted if f"`{key}`" not in page) == []
    # And nothing is described that is not there: keys stand first in the rows of the tables.
    cells = re.findall(r"^\| ([^|]*) \|", page, re.MULTILINE)
    described = {key for cell in cells for key in re.findall(r"`(\w+)`", cell)}
    assert sorted(described - wanted) == []

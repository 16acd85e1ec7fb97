"""Pages of edited models: topics are called by their ids, everywhere, and what is said of a topic stays with it."""

from __future__ import annotations

import pytest

import anchorwords as aw
from anchorwords.exploring.data import explorer_data
from anchorwords.interpret.order import reading_order

from .made import fitted, sampled
from .test_data import check_data


@pytest.fixture(scope="module")
def edited():
    """Topics 4 and 1 merged, 2 dropped, 3 put first, 4 named."""
    model = aw.drop_topics(aw.merge_topics(fitted(), [[4, 1]]), [2])
    return aw.rename_topics(aw.reorder_topics(model, [3]), {4: "both of them"})


@pytest.mark.parametrize("given", [False, True])
def test_the_page_of_an_edited_model(edited, given):
    record = edited.model_
    assert record.ids == (3, 0, 4)
    data = check_data(explorer_data(edited, sampled() if given else None))
    assert [topic["topic"] for topic in data["topics"]] == [3, 0, 4]
    table = {row["topic"]: row for row in aw.topic_table(record, 12)}
    text = data["words"]["text"]
    for topic in data["topics"]:
        row = table[topic["topic"]]
        assert topic["prevalence"] == pytest.approx(row["prevalence"], rel=1e-4)
        assert [text[i] for i in topic["prominent"]] == row["prominent"]
        assert " + ".join(text[i] for i in topic["anchors"]) == row["anchor"]
        assert {other["topic"] for other in topic["neighbours"]} <= {3, 0, 4} - {topic["topic"]}
    order = sorted(data["topics"], key=lambda topic: topic["reading"])
    assert [topic["topic"] for topic in order] == reading_order(record)
    assert data["topics"][2]["label"] == "both of them"
    assert data["topics"][2]["automatic"] != "both of them"
    assert data["topics"][0]["label"] == data["topics"][0]["automatic"]
    assert {"name": "Topics", "value": 3, "note": "after 4 edits"} in data["model"]["facts"]


def test_words_name_their_topics_by_id(edited):
    record = edited.model_
    data = explorer_data(edited)
    for word, own in zip(data["words"]["text"], data["words"]["topics"], strict=True):
        shares = record.word_topics[record.vocabulary.index(word)]
        for topic, share in zip(own[::2], own[1::2], strict=True):
            assert share == pytest.approx(shares[record.position(topic)], rel=1e-2)


def test_a_topic_that_was_only_moved_is_described_as_before():
    moved = aw.reorder_topics(fitted(), [4, 2])
    before, after = (
        {topic["topic"]: topic for topic in explorer_data(model, sampled())["topics"]} for model in (fitted(), moved)
    )
    for topic, row in before.items():
        for key in ("label", "rank", "reading", "prevalence", "words", "prominent", "anchors", "specificity"):
            assert after[topic][key] == row[key], key
        assert [other["topic"] for other in after[topic]["neighbours"]] == [
            other["topic"] for other in row["neighbours"]
        ]
        assert [entry["name"] for entry in after[topic]["documents"]] == [entry["name"] for entry in row["documents"]]


def test_fingerprints_tell_models_apart(edited):
    plain = explorer_data(fitted())["fingerprint"]
    assert len(plain) == 16
    # Labels are what is kept under it: another label is the same model.
    assert explorer_data(aw.rename_topics(fitted(), {0: "new"}))["fingerprint"] == plain
    assert explorer_data(edited)["fingerprint"] != plain
    assert explorer_data(fitted("4"))["fingerprint"] != plain

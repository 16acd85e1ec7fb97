"""Results of the public API as tables, and as the lists and dicts that they have always been."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.export import to_frame
from anchorwords.records import TableList, TableRecord

from .conftest import LABEL
from .parsing import Parsed

NAMES = [
    "topic_table", "anchor_table", "common_words", "changes", "align_topics", "top_documents", "evaluate", "stability",
    "prevalence_by", "topics_over_time", "trends", "words", "hierarchy", "similar_words", "predict_words", "scan", "effects",
    "contrast", "predict",
]  # fmt: skip
LISTS = ["topic_table", "anchor_table", "common_words", "changes"]
# Those whose rows name one topic each, under this key.
TOPICS = {
    name: "topic" for name in NAMES if name not in ("changes", "align_topics", "common_words", "scan", "evaluate")
}
for _name in ("words", "hierarchy", "similar_words", "predict_words"):
    del TOPICS[_name]


def frame_rows(frame):
    return [
        {name: None if isinstance(v, float) and v != v else v for name, v in row.items()}
        for row in frame.to_dict("records")
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_a_table_in_every_form(results, name):
    found = results[name]
    assert isinstance(found, TableRecord)
    parsed = Parsed(found._repr_html_())
    assert len(parsed.rows) >= 2
    assert parsed.texts["caption"][0]
    assert "script" not in parsed.names()
    assert "b" not in parsed.names()
    text = str(found)
    assert "\n" in text
    # The table of a notebook and that of a terminal hold the same cells, unless these are drawn.
    if name != "scan":
        assert repr(found) == text
        words = [cell.strip() for cell in parsed.rows[1] if "highest" not in cell]
        assert all(cell[:12].replace("−", "-") in text for cell in words)
    assert "−" not in text
    assert found.to_text().count("\n") >= text.count("\n") or name == "scan"


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name not in ("common_words", "align_topics", "predict_words")]
)
def test_labels_are_shown_as_text(results, name):
    html = results[name]._repr_html_()
    assert "<script" not in html
    if name not in ("evaluate", "scan", "stability"):
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; more" in html


@pytest.mark.parametrize("name", NAMES)
def test_frames_hold_the_rows(results, name):
    pytest.importorskip("narwhals")
    found = results[name]
    frame = found.to_frame()
    assert frame_rows(frame) == frame_rows(to_frame(found.rows()))
    assert len(frame) == len(found.rows())


@pytest.mark.parametrize("name", TOPICS)
def test_topics_are_named_by_their_ids(results, labelled, name):
    ids = set(labelled.model_.ids)
    assert 0 not in ids
    assert {row["topic"] for row in results[name].rows()} == ids
    labels = {row["topic"]: row["label"] for row in results[name].rows()}
    assert labels == {k: f"{LABEL} {k}" for k in ids}


def test_changes_and_alignments_use_ids(results, labelled):
    ids = labelled.model_.ids
    assert results["align_topics"].pairs == [(k, k) for k in ids]
    assert {row["new"] for row in results["changes"]} - {None} == set(ids)
    gone = [row for row in results["changes"] if row["change"] == "gone"]
    assert [row["old"] for row in gone] == [0]
    assert gone[0]["new"] is None


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_dicts_are_still_lists_of_dicts(results, name):
    found = results[name]
    plain = [dict(row) for row in found]
    assert isinstance(found, list)
    assert found == plain
    assert plain == found
    assert len(found) == len(plain)
    assert found[0] == plain[0]
    assert type(found[0]) is dict
    assert found[-1] == plain[-1]
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(plain))
    assert found.rows() == plain
    assert type(found.rows()) is list
    assert found.rows()[0] is not found[0]


@pytest.mark.parametrize("name", LISTS)
def test_slices_and_copies_stay_tables(results, name):
    found = results[name]
    part = found[:2]
    assert type(part) is type(found)
    assert part == list(found)[:2]
    assert Parsed(part._repr_html_()).rows
    for other in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other == found
        assert str(other) == str(found)


def test_a_list_subclass_without_rows_is_empty():
    assert (TableList() == [], str(TableList()), Parsed(TableList()._repr_html_()).rows) == (True, "TableList", [])


def test_an_evaluation_is_still_a_dict(results):
    found = results["evaluate"]
    assert isinstance(found, dict)
    assert isinstance(found["npmi_coherence"], float)
    assert isinstance(found["per_topic"]["npmi_coherence"], np.ndarray)
    assert found["npmi_coherence"] == pytest.approx(np.nanmean(found["per_topic"]["npmi_coherence"]))
    assert set(dict(found)) >= {"per_topic", "standard_error", "undefined", "reference"}
    assert {row["metric"]: row["value"] for row in found.rows()} == {
        name: found[name] for name in ("npmi_coherence", "topic_diversity", "entropy")
    }
    by_topic = found.topic_rows()
    for name, values in found["per_topic"].items():
        assert [row[name] for row in by_topic] == values.tolist()
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["per_topic"]["entropy"] == found["per_topic"]["entropy"].tolist()
    assert plain["reference"] == found["reference"]


def test_a_metric_without_a_value_says_why(sampled):
    # AW on a dense matrix leaves no compression to measure the rectified space by.
    model = aw.anchor_words(aw.cooccurrence(sampled.corpus.counts), 5)
    found = aw.evaluate(model, sampled.corpus.counts, metrics=["relative_recovery", "topic_diversity"])
    assert found["undefined"]
    assert found.to_dict()["relative_recovery"] is None
    assert "has no value" in str(found)
    assert "has no value" in found._repr_html_()


def test_top_documents_are_still_lists_of_lists(results, labelled):
    found = results["top_documents"]
    assert isinstance(found, list)
    assert [len(own) for own in found] == [2] * 4
    rows = found.rows()
    assert [row["share"] for row in rows] == [entry["share"] for own in found for entry in own]
    assert {"year", "group"} <= set(rows[0])
    part = found[1:3]
    assert part.topics == labelled.model_.ids[1:3]
    assert part == list(found)[1:3]
    assert json.loads(json.dumps(found)) == [list(own) for own in found]


def test_stability_knows_the_topics_of_its_model(sampled):
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    measured = aw.stability(model, sampled.corpus, n_replicates=3, n_shards=8)
    names = [row["label"] for row in aw.topic_table(model)]
    assert {row["label"] for row in measured.rows()} == set(names)
    assert [row["stability"] for row in measured.rows()] == measured.similarity.tolist()
    for row in measured.rows():
        assert row["prevalence_low"] <= row["prevalence"] <= row["prevalence_high"]
    model.measure_stability(sampled.corpus, n_replicates=3, n_shards=8)
    reordered = aw.reorder_topics(model, [3, 1, 0, 2, 4])
    rows = {row["topic"]: row for row in model.model_.stability.rows()}
    assert [row["topic"] for row in reordered.model_.stability.rows()] == [3, 1, 0, 2, 4]
    for row in reordered.model_.stability.rows():
        # The prevalence is a sum in another order.
        assert row["prevalence"] == pytest.approx(rows[row["topic"]]["prevalence"], rel=1e-12)
        assert row | {"prevalence": 0} == rows[row["topic"]] | {"prevalence": 0}


def test_models_show_their_topics(labelled, sampled):
    record = Parsed(labelled.model_._repr_html_())
    assert len(record.rows) == 5
    assert f"{LABEL} 3" in [row[1] for row in record.rows]
    assert record.texts["caption"][0].startswith("Topic model: 4 topics, 120 words")
    assert repr(labelled.model_) == "TopicModel(120 words, 4 topics)"


def test_an_estimator_shows_its_diagram_until_it_is_fitted(sampled, labelled):
    from sklearn import config_context

    for estimator in (aw.AnchorTopicModel(5), aw.TextTopicModel(5)):
        html = estimator._repr_mimebundle_()["text/html"]
        assert "sk-top-container" in html
        assert "anchorwords-output" not in html
        assert estimator._repr_html_() == html or "sk-top-container" in estimator._repr_html_()
    bundle = labelled._repr_mimebundle_()
    parsed = Parsed(bundle["text/html"].split("<details>")[0] + "</div>")
    assert parsed.texts["caption"][0].startswith("AnchorTopicModel: 4 topics")
    assert "sk-top-container" in bundle["text/html"]
    assert "<script>alert" not in bundle["text/html"]
    assert "anchorwords-output" in labelled._repr_html_()
    assert bundle["text/plain"] == repr(labelled)
    with config_context(display="text"):
        assert "text/html" not in labelled._repr_mimebundle_()
        assert not hasattr(labelled, "_repr_html_")


def test_display_does_not_learn_topics_from_batches(sampled):
    model = aw.AnchorTopicModel(5).partial_fit(sampled.corpus)
    assert "anchorwords-output" not in model._repr_mimebundle_()["text/html"]
    assert "model_" not in vars(model)
    _ = model.components_
    assert "anchorwords-output" in model._repr_mimebundle_()["text/html"]


def test_a_text_model_shows_its_topics():
    animals = ["cats purr while kittens sleep on warm blankets", "dogs bark when puppies chase thrown sticks"]
    texts = [f"{first} {second}" for first in animals for second in animals] * 30
    model = aw.TextTopicModel(2, vectorizer=aw.TextVectorizer(min_df=1, max_df=1.0)).fit(texts)
    assert "TextTopicModel: 2 topics" in model._repr_mimebundle_()["text/html"]
    assert "Edited 1 time: rename." in aw.rename_topics(model, {0: "pets"})._repr_html_()


def test_real_topics_print_as_a_table(real_corpus):
    corpus = real_corpus("kos", 1000)
    model = aw.AnchorTopicModel(8).fit(corpus)
    table = aw.topic_table(model, 6)
    lines = str(table).split("\n")
    assert len(lines) == 10
    assert [int(line.split()[0]) for line in lines[2:]] == [row["topic"] for row in table]
    for line, row in zip(lines[2:], table, strict=True):
        assert row["anchor"] in line
        assert f"{100 * row['prevalence']:.1f}%" in line

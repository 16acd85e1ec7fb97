from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import anchorwords as aw
from anchorwords.cli.app import app
from anchorwords.datasets import make_topics


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    data = make_topics(n_docs=400, n_words=200, n_topics=5, random_state=0)
    folder = tmp_path_factory.mktemp("edit") / "model"
    model = aw.AnchorTopicModel(5).fit(data.corpus)
    model.save(folder)
    return folder, model, data.corpus


def invoke(*arguments):
    return CliRunner().invoke(app, ["edit", *map(str, arguments)])


def test_edit_is_the_python_functions_in_turn(saved, tmp_path):
    folder, model, corpus = saved
    labels = tmp_path / "labels.json"
    content = {"format": "anchorwords-topic-labels", "format_version": 1, "labels": {"0": "zero", "2": "gone"}}
    labels.write_text(json.dumps(content), encoding="utf-8")
    arguments = ("--merge", "3,1", "--drop", "4", "--rename", "2=space flight", "--labels", labels, "--order", "2")
    found = invoke(folder, *arguments, "-o", tmp_path / "new", "--json")
    assert found.exit_code == 0, found.output
    record = aw.load_model(tmp_path / "new").model_
    assert record.ids == (2, 0, 3)
    assert record.labels == ("space flight", "zero", "")
    assert {row["topic"] for row in json.loads(found.stdout)["topics"]} == {0, 2, 3}
    again = aw.drop_topics(aw.merge_topics(model, [[3, 1]]), [4])
    expected = aw.reorder_topics(again, [2]).transform(corpus)
    np.testing.assert_array_equal(aw.load_model(tmp_path / "new").transform(corpus), expected)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to edit"),
        (("--merge", "a,b"), "topic ids"),
        (("--rename", "space"), "--rename takes"),
    ],
)
def test_bad_usage(saved, tmp_path, arguments, words):
    found = invoke(saved[0], *arguments, "-o", tmp_path / "new")
    assert found.exit_code == 2
    assert words in " ".join(found.output.split())
    assert not (tmp_path / "new").exists()


def test_a_file_that_holds_no_labels_is_refused(saved, tmp_path):
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[1]", encoding="utf-8")
    found = invoke(saved[0], "--labels", wrong, "-o", tmp_path / "new")
    assert found.exit_code != 0
    assert "not a file of topic labels" in str(found.exception)

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
    example = '{"format": "anchorwords-topic-labels", "format_version": 1, "labels": {"3": "space flight"}}'
    for content in ("[1]", "{", '{"3": "space flight"}'):
        wrong.write_text(content, encoding="utf-8")
        found = invoke(saved[0], "--labels", wrong, "-o", tmp_path / "new")
        assert found.exit_code != 0
        assert "wrong.json is not a file of topic labels, such as the explorer's page exports" in str(found.exception)
        assert f"it must be JSON like {example}." in str(found.exception)
    wrong.write_bytes(b"\xff\xfe")
    found = invoke(saved[0], "--labels", wrong, "-o", tmp_path / "new")
    assert "cannot be read: it is not text in UTF-8." in str(found.exception)


def test_a_missing_file_of_labels_is_named(saved, tmp_path):
    found = invoke(saved[0], "--labels", tmp_path / "nosuch.json", "-o", tmp_path / "new")
    assert found.exit_code != 0
    assert "file of topic labels" in str(found.exception)
    assert "nosuch.json cannot be read: No such file or directory." in str(found.exception)
    assert "Errno" not in str(found.exception)


def test_split_learns_from_documents(saved, tmp_path):
    folder, model, corpus = saved
    corpus.save(tmp_path / "corpus")
    arguments = ("--split", "4:3", "--split", 1, "--corpus", tmp_path / "corpus", "--merge", "5,8", "--rename", "6=six")
    found = invoke(folder, *arguments, "-o", tmp_path / "new", "--json")
    assert found.exit_code == 0, found.output
    record = aw.load_model(tmp_path / "new").model_
    expected = aw.split_topic(aw.split_topic(model, 4, corpus, into=3), 1, corpus)
    expected = aw.rename_topics(aw.merge_topics(expected, [[5, 8]]), {6: "six"}).model_
    assert (record.ids, record.labels, record.edits) == (expected.ids, expected.labels, expected.edits)
    np.testing.assert_array_equal(record.B, expected.B)


def test_a_sub_topic_can_be_split_in_the_same_command(saved, tmp_path):
    folder, _, corpus = saved
    corpus.save(tmp_path / "corpus")
    found = invoke(folder, "--split", 2, "--split", 5, "--corpus", tmp_path / "corpus", "-o", tmp_path / "new")
    assert found.exit_code == 0, found.output
    assert aw.load_model(tmp_path / "new").model_.ids == (0, 1, 7, 8, 6, 3, 4)


def test_a_model_of_texts_stays_one(tmp_path):
    corpus = make_topics(n_docs=300, n_words=150, n_topics=3, random_state=0).corpus
    texts = [
        " ".join(word for word, count in document.counts.items() for _ in range(int(count))) for document in corpus
    ]
    aw.TextTopicModel(3).fit(texts).save(tmp_path / "model")
    (tmp_path / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    arguments = ("--split", 1, "--corpus", tmp_path / "texts.txt", "--rename", "0=zero", "-o", tmp_path / "new")
    found = invoke(tmp_path / "model", *arguments)
    assert found.exit_code == 0, found.output
    loaded = aw.load_model(tmp_path / "new")
    assert isinstance(loaded, aw.TextTopicModel)
    assert loaded.get_feature_names_out()[0] == "zero"
    assert loaded.transform(texts[:3]).shape == (3, 4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--split", "1"), "name them with --corpus"),
        (("--split", "1:1", "--corpus", "x"), "from 2 on"),
        (("--split", "a", "--corpus", "x"), "--split takes a topic id"),
        (("--split", "1:", "--corpus", "x"), "--split takes a topic id"),
        (("--drop", "1", "--corpus", "x"), "--corpus is read for --split only"),
        (("--drop", "1", "--text-column", "text"), "--text-column"),
    ],
)
def test_splits_and_documents_go_together(saved, tmp_path, arguments, words):
    found = invoke(saved[0], *arguments, "-o", tmp_path / "new")
    assert found.exit_code == 2
    assert words in " ".join(found.output.replace("│", " ").split())
    assert not (tmp_path / "new").exists()


def test_an_unknown_topic_is_reported_before_documents_are_read(saved, tmp_path):
    found = invoke(saved[0], "--split", 9, "--corpus", tmp_path / "nowhere", "-o", tmp_path / "new")
    assert "there is no topic 9" in str(found.exception)


def test_history_and_names_are_listed(saved, tmp_path):
    folder, _, _ = saved
    invoke(folder, "--merge", "3,1", "--drop", 4, "--rename", "2=$x$ [red]", "--order", 2, "-o", tmp_path / "new")
    told = CliRunner().invoke(app, ["topics", str(tmp_path / "new"), "--history", "--json"])
    edits = [entry["sentence"] for entry in json.loads(told.stdout)["history"]]
    assert edits == ["merged 3, 1 into 3", "dropped 4", "reordered to 2, 0, 3", 'renamed 2 to "$x$ [red]"']
    for style in ("table", "paper", "markdown"):
        shown = CliRunner().invoke(app, ["topics", str(tmp_path / "new"), "--history", "--style", style]).stdout
        assert "merged 3, 1 into 3" in shown
        assert "[red]" in shown.replace("\\", "")
    none = CliRunner().invoke(app, ["topics", str(folder), "--history"])
    assert "there were no edits" in none.output


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_the_tree_is_drawn(saved, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / "deep" / f"tree{suffix}"
    found = CliRunner().invoke(app, ["topics", str(saved[0]), "--tree", str(path), "--cut", "2"])
    assert found.exit_code == 0, found.output
    assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--cut", "2"), 2, "--tree"),
        (("--tree", "tree.gif"), 2, "must end in .svg, .png or .pdf"),
        (("--tree", "tree.svg", "--cut", "9"), 1, "at most 5"),
    ],
)
def test_trees_that_cannot_be_drawn(saved, tmp_path, monkeypatch, arguments, code, words):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, ["topics", str(saved[0]), *arguments])
    assert found.exit_code == code
    assert words in " ".join(f"{found.output} {found.exception}".replace("│", " ").split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("linked", [False, True])
def test_the_model_to_edit_is_not_replaced(saved, tmp_path, linked):
    folder, model, _ = saved
    output = folder
    if linked:
        output = tmp_path / "link"
        output.symlink_to(folder, target_is_directory=True)
    found = invoke(folder, "--drop", 0, "-o", output)
    assert found.exit_code == 2
    assert "name another folder" in " ".join(found.output.replace("│", " ").split())
    assert aw.load_model(folder).model_.ids == model.model_.ids


def test_replacing_another_model_is_said(saved, tmp_path):
    first = invoke(saved[0], "--drop", 0, "-o", tmp_path / "new")
    assert "in place of" not in first.output
    again = invoke(saved[0], "--drop", 1, "-o", tmp_path / "new")
    assert "in place of the model that was there" in " ".join(again.output.split())
    assert aw.load_model(tmp_path / "new").model_.ids == (0, 2, 3, 4)


def test_long_labels_are_refused_or_cut_in_a_terminal(saved, tmp_path):
    folder, _, corpus = saved
    found = invoke(folder, "--rename", f"1={'x' * 201}", "-o", tmp_path / "new")
    assert "must have at most 200 characters, but has 201" in str(found.exception)
    found = invoke(folder, "--rename", f"1={'x' * 200}", "-o", tmp_path / "new", "-q", "--json")
    assert {row["label"] for row in json.loads(found.stdout)["topics"]} >= {"x" * 200}
    table = {"label": ["one", "other"] * 200, "year": list(range(2000, 2008)) * 50}
    aw.Corpus(corpus.counts, corpus.vocabulary, documents=table).save(tmp_path / "corpus")
    for command in (
        ["topics"],
        ["groups", "--by", "label", "--top", "5"],
        ["trends", "--by", "year"],
    ):
        source = [] if command == ["topics"] else [str(tmp_path / "corpus")]
        shown = CliRunner().invoke(
            app, [command[0], str(tmp_path / "new"), *source, *command[1:]], env={"COLUMNS": "200"}
        )
        assert f"{'x' * 59}…" in "".join(shown.output.split()), shown.output
        assert "x" * 60 not in "".join(shown.output.split())


def test_edit_says_what_it_did(saved, tmp_path):
    first = invoke(saved[0], "--drop", 4, "-o", tmp_path / "first")
    assert "dropped 4" in first.output.splitlines()
    arguments = ("--merge", "3,1", "--rename", "2=space", "--rename", "0=", "-n", 2)
    found = invoke(tmp_path / "first", *arguments, "-o", tmp_path / "new")
    lines = found.output.splitlines()
    assert "dropped 4" not in lines
    assert "merged 3, 1 into 3" in lines
    assert 'renamed 2 to "space", 0 to its automatic name' in lines
    quiet = invoke(tmp_path / "first", *arguments, "-q", "-o", tmp_path / "new")
    assert quiet.output == ""
    one = invoke(saved[0], "--reduce", 1, "-o", tmp_path / "one")
    assert "1 topic written to" in " ".join(one.output.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--merge", "1,1"),
        ("--merge", "1"),
        ("--merge", "1,2", "--merge", "2,3"),
        ("--drop", "1,1"),
        ("--rename", "9=x"),
        ("--reduce", "9"),
        ("--reduce", "0"),
    ],
)
def test_messages_have_no_names_of_python_parameters(saved, tmp_path, arguments):
    found = invoke(saved[0], *arguments, "-o", tmp_path / "new")
    assert found.exit_code != 0
    assert not {"n_topics", "groups", "order"} & set(f"{found.output} {found.exception}".split())
    assert not (tmp_path / "new").exists()

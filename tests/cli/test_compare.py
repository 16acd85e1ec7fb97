"""``anchorwords compare``."""

from __future__ import annotations

import json

import pytest

import anchorwords as aw

from .test_text import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    """Models of the first and of the second half of the documents, the latter with words of its own."""
    folder = tmp_path_factory.mktemp("changed")
    corpus = sampled.corpus
    aw.AnchorTopicModel(4).fit(aw.Corpus(corpus.counts[:300], corpus.vocabulary)).save(folder / "old")
    words = ["[red]new|[/red]", *corpus.vocabulary[1:]]
    aw.AnchorTopicModel(5).fit(aw.Corpus(corpus.counts[300:], words)).save(folder / "new")
    return folder


def compare(*arguments, code=0):
    done = run("compare", *arguments)
    assert done.returncode == code, done.stderr
    return done


def test_the_rows_are_those_of_changes(folder):
    rows = json.loads(compare(folder / "old", folder / "new", "-n", 3, "--json").stdout)
    assert rows == aw.changes(aw.load_model(folder / "old"), aw.load_model(folder / "new"), 3)
    assert {row["change"] for row in rows} >= {"kept", "new"}
    near = json.loads(compare(folder / "old", folder / "new", "--max-distance", 0.01, "--json").stdout)
    assert {row["change"] for row in near} == {"new", "gone"}


def test_a_table_and_markdown(folder):
    rows = aw.changes(aw.load_model(folder / "old"), aw.load_model(folder / "new"))
    kinds = [row["change"] for row in rows]
    head, _, columns, *lines = compare(folder / "old", folder / "new").stdout.splitlines()
    assert head.startswith(
        f"{kinds.count('kept')} topics in both, {kinds.count('new')} new, {kinds.count('gone')} gone"
    )
    assert columns.split() == ["change", "old", "new", "share", "now", "apart", "words", "gained", "lost"]
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == kinds
    text = compare(folder / "old", folder / "new", "--style", "markdown").stdout
    assert len(text.splitlines()) == 2 + len(rows)
    assert len({line.replace(r"\|", "").count("|") for line in text.splitlines()}) == 1
    assert r"\[red\]new\|" in text


def test_a_model_has_not_changed_from_itself(folder):
    rows = json.loads(compare(folder / "old", folder / "old", "--json").stdout)
    assert all(row["change"] == "kept" and row["old"] == row["new"] for row in rows)
    assert max(row["size"] for row in rows) < 1e-12
    assert compare(folder / "old", folder / "old").stdout.startswith("4 topics in both, 0 new, 0 gone")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["OLD", "nowhere"], 1, "nowhere is not a model folder"),
        (["OLD"], 2, "new"),
        (["OLD", "NEW", "--max-distance", "0"], 2, "above 0 and up to 1, but is 0"),
        (["OLD", "NEW", "--style", "poem"], 2, "poem"),
    ],
)
def test_what_does_not_go_is_said_in_a_line(folder, arguments, code, message):
    done = compare(*[folder / a.lower() if a in ("OLD", "NEW") else a for a in arguments], code=code)
    assert message in " ".join(done.stderr.lower().replace("│", " ").split())
    assert done.stdout == ""


def test_help_has_examples():
    assert compare("--help").stdout.count("Example: anchorwords compare") == 2

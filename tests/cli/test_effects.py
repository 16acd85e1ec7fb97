"""``anchorwords effects``: topics by id, and figures."""

from __future__ import annotations

import json
import os

import pytest

import anchorwords as aw

from .test_text import run

pytest.importorskip("formulaic")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    folder = tmp_path_factory.mktemp("effects")
    aw.AnchorTopicModel(3).fit(sampled.corpus).save(folder / "model")
    table = {"year": [2000 + i % 7 for i in range(600)], "kind": ["ab"[i % 2] for i in range(600)]}
    aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, documents=table).save(folder / "corpus")
    return folder


def effects(folder, *arguments, cwd=None):
    return run("effects", folder / "model", folder / "corpus", "year + C(kind)", *arguments, cwd=cwd)


def test_some_topics(folder):
    done = effects(folder, "--topics", "2,0", "--json")
    assert done.returncode == 0, done.stderr
    assert {row["topic"] for row in json.loads(done.stdout)["rows"]} == {0, 2}


@pytest.mark.parametrize("options", [[], ["--predict", "year"], ["--predict", "kind"]])
def test_a_figure_in_a_new_folder(folder, tmp_path, options):
    done = effects(folder, "--plot", tmp_path / "new" / "effects.svg", *options)
    assert done.returncode == 0, done.stderr
    assert "figure written to" in done.stderr
    assert (tmp_path / "new" / "effects.svg").read_text().count("<svg") == 1
    assert os.listdir(tmp_path / "new") == ["effects.svg"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--topics", "a"], "--topics must be ids such as 3,5, but is a"),
        (["--plot", "effects.gif"], "--plot must end in .svg, .png or .pdf, but is effects.gif"),
        (["--predict", "year"], "--predict says what --plot draws: give both"),
    ],
)
def test_bad_usage(folder, tmp_path, options, message):
    done = effects(folder, *options, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert os.listdir(tmp_path) == []

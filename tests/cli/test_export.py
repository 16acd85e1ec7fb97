"""``anchorwords export``."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.export import pyldavis_data, show_topics
from anchorwords.interpret.association import topic_association

from .test_text import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    folder = tmp_path_factory.mktemp("exported")
    aw.AnchorTopicModel(4).fit(sampled.corpus).save(folder / "model")
    sampled.corpus.save(folder / "corpus")
    return folder


def export(folder, path, *arguments, code=0):
    done = run("export", folder / "model", "-o", path, *arguments)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_a_graph_of_topics(folder, tmp_path, kind):
    def counted(*options):
        export(folder, tmp_path / "topics.xml", "--to", kind, *options)
        tags = [element.tag.split("}")[1] for element in ET.parse(tmp_path / "topics.xml").iter()]
        return tags.count("node"), tags.count("edge")

    A = aw.load_model(folder / "model").model_.A
    ratio = topic_association(aw.load_model(folder / "model")).ratio
    pairs = np.triu(np.ones_like(A, dtype=bool), 1) & (A > 0)
    assert counted() == (4, pairs.sum())
    assert counted("--min-association", 1) == (4, (pairs & (ratio >= 1.0)).sum())
    with pytest.warns(FutureWarning, match="use --min-association instead"):
        assert counted("--min-lift", 1) == counted("--min-association", 1)


def test_gensims_lines(folder, tmp_path):
    done = export(folder, tmp_path / "topics.txt", "--to", "gensim", "-n", 3)
    lines = (tmp_path / "topics.txt").read_text().splitlines()
    assert lines == [f"{k}\t{text}" for k, text in show_topics(aw.load_model(folder / "model"), -1, 3)]
    assert "4 topics written to" in done.stderr


def test_what_pyldavis_takes(folder, tmp_path, sampled):
    export(folder, tmp_path / "vis.json", folder / "corpus", "--to", "pyldavis")
    data = json.loads((tmp_path / "vis.json").read_text())
    expected = pyldavis_data(aw.load_model(folder / "model"), sampled.corpus)
    assert set(data) == set(expected)
    assert data["vocab"] == expected["vocab"]
    for name in set(expected) - {"vocab"}:
        np.testing.assert_array_equal(np.array(data[name]), expected[name])


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--to", "pyldavis"], 2, "needs the documents: name them after the model"),
        (["--to", "gexf", "CORPUS"], 2, "needs no documents"),
        (["--to", "gexf", "--keep-case"], 2, "needs no documents"),
        (["--to", "gexf", "--min-lift", 1, "--min-association", 1], 2, "use --min-association only"),
        (["--to", "paper"], 2, "paper"),
        ([], 2, "--to"),
        (["--to", "pyldavis", "nowhere.txt"], 1, "nowhere.txt does not exist"),
    ],
)
def test_what_does_not_go_leaves_nothing(folder, tmp_path, arguments, code, message):
    arguments = [folder / "corpus" if a == "CORPUS" else a for a in arguments]
    done = export(folder, tmp_path / "out", *arguments, code=code)
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert os.listdir(tmp_path) == []


def test_help_has_examples():
    text = run("export", "--help").stdout
    assert text.count("Example: anchorwords export") == 2
    assert "--min-association" in text
    assert "--min-lift" not in text

"""Graphs of topics, read back by another program."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export import write_graph
from anchorwords.interpret.association import topic_association
from anchorwords.interpret.naming import automatic_labels
from anchorwords.interpret.topic_words import top_words
from tests.interpret.records import random_topics, record_of

networkx = pytest.importorskip("networkx")
READERS = {"graphml": networkx.read_graphml, "gexf": networkx.read_gexf}
NASTY = [
    "a<b",
    'q"uote',
    "am&p",
    "]]>",
    "nul\0",
    "bell\x07",
    "half\ud800",
    "tab\tnew\nline\r",
    "\ufffe",
    "τέχνη",
    "🎵",
    "",
]


@pytest.fixture
def model():
    B, _ = random_topics(0, N=40, K=4)
    A = np.random.default_rng(1).random((4, 4))
    A = A + A.T
    A[0, 3] = A[3, 0] = 0.0
    words = NASTY + [f"w{i}" for i in range(40 - len(NASTY))]
    A /= A.sum()
    return record_of(B, A.sum(axis=1), words, A=A)


def cleaned(text):
    for bad in "\0\x07\ud800\ufffe":
        text = text.replace(bad, "\N{REPLACEMENT CHARACTER}")
    return text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_networkx_reads_it_back(model, tmp_path, kind):
    path = tmp_path / f"topics.{kind}"
    write_graph(model, path, n_words=40)
    graph = READERS[kind](path)
    assert not graph.is_directed()
    assert list(graph) == ["0", "1", "2", "3"]
    words = aw.prominent_words(model, 40)
    assert any(word in words[0] for word in NASTY)
    for k in range(4):
        node = graph.nodes[str(k)]
        assert node["prevalence"] == model.prevalence[k]
        assert node["anchor"] == cleaned(model.vocabulary[model.anchors[k]])
        assert node["words"] == cleaned(" ".join(words[k]))
        assert node["label"] == cleaned(automatic_labels(model)[k])
    ratio = topic_association(model).ratio
    expected = {(k, m) for k in range(4) for m in range(k + 1, 4)} - {(0, 3)}
    assert {(int(a), int(b)) for a, b in graph.edges} == expected
    for k, m in expected:
        edge = graph.edges[str(k), str(m)]
        assert edge["weight"] == edge["correlation"] == model.A[k, m]
        assert edge["association"] == ratio[k, m]
        assert "lift" not in edge
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_both_formats_are_the_same_graph_and_the_format_may_be_named(model, tmp_path):
    labels = ["one", "two <2>", "three", "four"]
    for kind in READERS:
        write_graph(model, tmp_path / kind, format=kind, labels=labels, ranking="frex")
    graphs = [READERS[kind](tmp_path / kind) for kind in READERS]
    for name in ("label", "prevalence", "anchor", "words"):
        first, second = (networkx.get_node_attributes(graph, name) for graph in graphs)
        assert first == second
    assert list(networkx.get_node_attributes(graphs[0], "label").values()) == labels
    frex = top_words(model, 10, ranking="frex")
    assert graphs[0].nodes["2"]["words"] == cleaned(" ".join(frex[2]))
    for name in ("weight", "correlation", "association"):
        first, second = (networkx.get_edge_attributes(graph, name) for graph in graphs)
        assert first == second


def test_small_edges_are_left_out(model, tmp_path):
    path, A, ratio = tmp_path / "t.graphml", model.A, topic_association(model).ratio
    pairs = [(k, m) for k in range(4) for m in range(k + 1, 4) if A[k, m] > 0]
    for weight, least in ((float(np.median(A)), 0.0), (0.0, 1.0), (1.0, 0.0)):
        write_graph(model, path, min_weight=weight, min_association=least)
        found = {tuple(map(int, edge)) for edge in networkx.read_graphml(path).edges}
        assert found == {(k, m) for k, m in pairs if A[k, m] >= weight and ratio[k, m] >= least}
    assert len(networkx.read_graphml(path)) == 4


def test_min_lift_is_an_alias_that_warns(model, tmp_path):
    write_graph(model, tmp_path / "new.gexf", min_association=1.0)
    with pytest.warns(FutureWarning, match="write min_association instead"):
        write_graph(model, tmp_path / "old.gexf", min_lift=1.0)
    assert (tmp_path / "old.gexf").read_bytes() == (tmp_path / "new.gexf").read_bytes()
    with pytest.warns(FutureWarning), pytest.raises(InputError, match="give min_association only"):
        write_graph(model, tmp_path / "both.gexf", min_lift=1.0, min_association=2.0)


def test_what_is_written_is_the_standard(model, tmp_path):
    for kind, space in (("graphml", "http://graphml.graphdrawing.org/xmlns"), ("gexf", "http://www.gexf.net/1.2draft")):
        write_graph(model, tmp_path / f"t.{kind}")
        root = ET.parse(tmp_path / f"t.{kind}").getroot()
        assert root.tag == f"{{{space}}}{kind}"
        assert (tmp_path / f"t.{kind}").read_bytes().startswith(b"<?xml version='1.0' encoding='utf-8'?>")


def test_names_with_spaces_stay_apart(tmp_path):
    model = record_of(np.array([[0.6, 0.1], [0.3, 0.2], [0.1, 0.7]]), None, ["Die Hard", "Up", "The Matrix"])
    write_graph(model, tmp_path / "t.gexf")
    assert networkx.read_gexf(tmp_path / "t.gexf").nodes["0"]["words"] == "Die Hard · Up · The Matrix"


def test_a_single_topic_is_a_graph_too(tmp_path):
    for kind, read in READERS.items():
        write_graph(record_of([[0.5], [0.5]]), tmp_path / f"t.{kind}")
        assert len(read(tmp_path / f"t.{kind}")) == 1


def test_bad_input_is_refused_and_nothing_written(model, tmp_path):
    for options, message in (
        ({"path": tmp_path / "t.xml"}, r"must end in \.graphml or \.gexf"),
        ({"path": tmp_path / "t.gexf", "format": "dot"}, "format must be 'graphml' or 'gexf', but is 'dot'"),
        ({"path": tmp_path / "t.gexf", "labels": ["a"]}, "labels must name each of the 4 topics once"),
        ({"path": tmp_path / "no" / "t.gexf"}, "does not exist; make it first"),
        ({"path": tmp_path / "t.gexf", "n_words": 0}, "n_words must be"),
        ({"path": tmp_path / "t.gexf", "ranking": "best"}, "ranking must be one of"),
    ):
        with pytest.raises(InputError, match=message):
            write_graph(model, **options)
    assert list(tmp_path.iterdir()) == []

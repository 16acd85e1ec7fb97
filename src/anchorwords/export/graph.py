"""Topics and their correlations as a graph, for Gephi, Cytoscape, networkx and others."""

from __future__ import annotations

import os
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._markdown import separator_of
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..interpret.association import topic_association
from ..interpret.naming import topic_names
from ..interpret.topic_table import topic_table
from ..model import TopicModel, as_topic_model, checked_labels
from ..storage.writing import file_written_whole

# What XML 1.0 cannot hold, not even escaped; and white space, which its readers are free to change.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACE = re.compile("[\t\n\r]")
_NODE = {"label": "string", "prevalence": "double", "anchor": "string", "words": "string"}
_EDGE = {"weight": "double", "correlation": "double", "association": "double"}


class _Graph(NamedTuple):
    """Attributes of the nodes, by topic id, and of the edges between two of them."""

    nodes: dict[int, dict[str, str]]
    edges: list[tuple[int, int, dict[str, str]]]


def write_graph(
    model: Any,
    path: str | os.PathLike[str],
    *,
    min_weight: float = 0.0,
    min_association: float = 0.0,
    format: str | None = None,  # noqa: A002
    n_words: int = 10,
    ranking: str | None = None,
    labels: Sequence[str] | None = None,
    vocabulary: Sequence[str] | None = None,
    min_lift: float | None = None,
) -> None:
    """Write topics and how they go together as GraphML or GEXF, whole or not at all.

    Each node is a topic, with ``label``, ``prevalence``, ``anchor`` and ``words``; its id is that of the topic. Each edge
    joins two topics that share documents. Its attribute ``correlation`` is the joint probability A_kl, and ``weight``, which
    programs draw by, is the same number. ``association`` is A_kl divided by what the sizes of the topics lead one to expect:
    above 1 if they share documents more often than that (see :mod:`anchorwords.interpret.association`).

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    path : path
        ``.graphml`` or ``.gexf``.
    min_weight, min_association : float
        Leave out edges with a smaller correlation, or a smaller association. Edges with correlation 0 are never written.
    format : {"graphml", "gexf"}, optional
        By default as the path ends.
    n_words : int
        Words of a topic.
    ranking : str
        Which words, as in :func:`top_words`.
    labels : sequence of K str, optional
        Names of the topics, such as :func:`label_topics` gives; by default those of the model or,
        without any, its automatic labels.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else their indices.
    min_lift : float, optional
        Deprecated name of ``min_association``.

    Notes
    -----
    Characters that XML cannot hold, control characters and lone surrogates, become U+FFFD.
    """
    if min_lift is not None:
        warnings.warn(
            "min_lift is now called min_association: write min_association instead, as the old name will be removed.",
            FutureWarning,
            stacklevel=2,
        )
        if min_association != 0.0:
            raise InputError("min_lift is the old name of min_association: give min_association only.")
        min_association = min_lift
    record = as_topic_model(model)
    check_positive_integer(n_words, "n_words")
    target = Path(path)
    build = {"graphml": _graphml, "gexf": _gexf}[_format_of(target, format)]
    named = record if vocabulary is None else record.with_vocabulary(vocabulary)
    labels = topic_names(named) if labels is None else checked_labels(labels, record.n_components)
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be written: the folder {target.parent} does not exist; make it first.")
    rows = topic_table(record, n_words, ranking=ranking, vocabulary=vocabulary)
    root = build(_Graph(_nodes(record, rows, labels), _edges(record, min_weight, min_association)))
    ET.indent(root)
    with file_written_whole(target) as partial:
        ET.ElementTree(root).write(partial, encoding="utf-8", xml_declaration=True)


def _format_of(path: Path, format: str | None) -> str:  # noqa: A002
    known = ("graphml", "gexf")
    if format is None:
        if (ending := path.suffix.lower().removeprefix(".")) in known:
            return ending
        raise InputError(f"{path} must end in .graphml or .gexf, or format say which of the two it is.")
    if format not in known:
        raise InputError(f"format must be 'graphml' or 'gexf', but is {format!r}.")
    return format


def _nodes(record: TopicModel, rows: list[dict[str, Any]], labels: Sequence[str]) -> dict[int, dict[str, str]]:
    """Attributes of the nodes, by topic id, in the order of the model."""
    nodes = {}
    for row in sorted(rows, key=lambda row: record.position(row["topic"])):
        words = row.get("words", row["prominent"])
        between = separator_of(words)
        nodes[row["topic"]] = {
            "label": _text(str(labels[record.position(row["topic"])])),
            "prevalence": repr(row["prevalence"]),
            "anchor": _text(row["anchor"]),
            "words": _text(between.join(words)),
        }
    return nodes


def _edges(model: TopicModel, min_weight: float, min_association: float) -> list[tuple[int, int, dict[str, str]]]:
    A, ratio = model.A, topic_association(model).ratio
    edges = []
    for k, m in zip(*np.nonzero(np.triu(A, 1) > 0.0), strict=True):
        weight = float(A[k, m])
        association = float(ratio[k, m])
        if weight >= min_weight and association >= min_association:
            edge = {"weight": repr(weight), "correlation": repr(weight), "association": repr(association)}
            edges.append((model.ids[k], model.ids[m], edge))
    return edges


def _graphml(graph: _Graph) -> ET.Element:
    root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for kind, attributes in (("node", _NODE), ("edge", _EDGE)):
        for name, type_ in attributes.items():
            key = {"id": f"{kind}-{name}", "for": kind, "attr.name": name, "attr.type": type_}
            ET.SubElement(root, "key", key)
    body = ET.SubElement(root, "graph", id="topics", edgedefault="undirected")
    for topic, node in graph.nodes.items():
        _data(ET.SubElement(body, "node", id=str(topic)), "node", node)
    for k, m, edge in graph.edges:
        _data(ET.SubElement(body, "edge", source=str(k), target=str(m)), "edge", edge)
    return root


def _data(element: ET.Element, kind: str, values: dict[str, str]) -> None:
    for name, value in values.items():
        ET.SubElement(element, "data", key=f"{kind}-{name}").text = value


def _gexf(graph: _Graph) -> ET.Element:
    root = ET.Element("gexf", xmlns="http://www.gexf.net/1.2draft", version="1.2")
    body = ET.SubElement(root, "graph", defaultedgetype="undirected", mode="static")
    # Labels of nodes and weights of edges have places of their own there.
    for kind, attributes in (("node", _NODE), ("edge", _EDGE)):
        declared = ET.SubElement(body, "attributes", {"class": kind})
        for name, type_ in attributes.items():
            if name not in ("label", "weight"):
                ET.SubElement(declared, "attribute", id=name, title=name, type=type_)
    nodes, edges = ET.SubElement(body, "nodes"), ET.SubElement(body, "edges")
    for topic, node in graph.nodes.items():
        _attvalues(ET.SubElement(nodes, "node", id=str(topic), label=node["label"]), node)
    for number, (k, m, edge) in enumerate(graph.edges):
        ends = {"id": str(number), "source": str(k), "target": str(m), "weight": edge["weight"]}
        _attvalues(ET.SubElement(edges, "edge", ends), edge)
    return root


def _attvalues(element: ET.Element, values: dict[str, str]) -> None:
    holder = ET.SubElement(element, "attvalues")
    for name, value in values.items():
        if name not in ("label", "weight"):
            ET.SubElement(holder, "attvalue", {"for": name, "value": value})


def _text(words: str) -> str:
    return _SPACE.sub(" ", _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", words))

"""Draw the pictures of the pages on metrics, time and groups, editing, and effects.

Of docs/metrics.md: nips12 with 5,000 words. Of docs/time-and-groups.md: cve by year, 20ng by group. Of docs/editing.md:
the tree of the same topics of 20ng. Of docs/choosing.md: a scan of 20ng with 5,000 words. Of docs/effects.md: its own
example.

python docs/make_gallery.py [--only metrics|time|groups|scan|effects] [--data ../shared/data]
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Any

import anchorwords as aw
from anchorwords import plot
from anchorwords.metrics import topic_trees

IMAGES = Path(__file__).resolve().parent / "images"


def metrics(data: Path) -> None:
    corpus = aw.read_corpus(data / "nips12").prune(n_words=5000)
    model = aw.AnchorTopicModel(20).fit(corpus)
    plot.save(plot.cooccurrence_space(model).figure, IMAGES / "space.png")
    plot.save(plot.topic_correlation(model, order="similar").figure, IMAGES / "correlation.png")
    tree = max(topic_trees(model, corpus), key=lambda one: len(one.words))
    plot.save(plot.topic_tree(tree).figure, IMAGES / "tree.png")
    operator = aw.CooccurrenceOperator(corpus.prune(n_words=1000).counts)
    C = operator.to_matrix()
    rectified = {
        "AP": aw.rectify_ap(C, 20, tol=0.0),
        "ENN, as in the paper": aw.rectify_enn(C, 20, relaxation=1.0, tol=0.0, max_iter=150),
        "ENN, by default": aw.rectify_enn(C, 20),
    }
    plot.save(plot.convergence(rectified).figure, IMAGES / "convergence.png")


def time(data: Path) -> None:
    with gzip.open(data / "cve" / "cve.tsv.gz", "rt", encoding="utf-8") as stream:
        lines = (line.rstrip("\n").split("\t", 1) for line in stream)
        rows = [{"id": name, "year": int(name.split("-")[1]), "text": text} for name, text in lines]
    corpus = aw.read_corpus(rows, text_column="text", id_column="id", columns="year")
    model = aw.TextTopicModel(30).fit(corpus)
    plot.save(plot.over_time(aw.topics_over_time(model, corpus, by="year")), IMAGES / "over-time-cve.png", dpi=150)


def groups(data: Path) -> None:
    labels = [line.split("\t")[1] for line in (data / "20ng" / "labels.20ng.tsv").read_text().splitlines()]
    corpus = aw.read_corpus(data / "20ng", table={"group": labels})
    # Counts are not text, so that the rule for words of text is spelled out: a fifth of the root of 18,774 documents.
    pruned = corpus.prune(stop_words="english", min_df=27, max_df=0.5)
    model = aw.AnchorTopicModel.from_preset("readers", 20).fit(pruned)
    plot.save(plot.groups(aw.prevalence_by(model, corpus, by="group")), IMAGES / "groups-20ng.png", dpi=150)
    plot.save(plot.hierarchy(model, n_topics=8), IMAGES / "hierarchy-20ng.png", dpi=150)


def scan(data: Path) -> None:
    corpus = aw.read_corpus(data / "20ng").prune(n_words=5000)
    plot.save(plot.scan(aw.scan(corpus, min_anchor_docs="auto")), IMAGES / "scan.png", dpi=150)


def effects(data: Path) -> None:  # noqa: ARG001
    """Run the example of the page, and draw its last figure."""
    blocks = re.findall(r"```python\n(.*?)```", (IMAGES.parent / "effects.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for block in blocks:
            exec(block, names)
    plot.save(plot.predicted(names["effects"], "year"), IMAGES / "effects.png", dpi=150)


PICTURES = {"metrics": metrics, "time": time, "groups": groups, "scan": scan, "effects": effects}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--only", choices=PICTURES, help="draw the pictures of one kind")
    options = parser.parse_args()
    for name, draw in PICTURES.items():
        if options.only in (None, name):
            draw(options.data)


if __name__ == "__main__":
    main()

"""Draw the pictures of docs/metrics.md: nips12, 5,000 words.

python docs/make_gallery.py [--data ../shared/data]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import anchorwords as aw
from anchorwords import plot
from anchorwords.metrics import topic_trees

IMAGES = Path(__file__).resolve().parent / "images"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    corpus = aw.read_corpus(parser.parse_args().data / "nips12").prune(n_words=5000)
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


if __name__ == "__main__":
    main()

"""How well `split_topic` finds topics that were merged, with sub-topics refined on the documents and without.

    python benchmarks/splits.py [--quick] [--data ../shared/data] [--output docs/tables/splits]

Two topics of a model are merged, and the merged topic is split again. The distance is the total variation between the
sub-topics and the topics that were merged, matched as well as possible: 0 if they are found exactly. The model is unrefined
("paper"), so that refined sub-topics have no advantage. Pairs are those of the hierarchy's first steps ("near") and pairs
drawn at random.
"""

from __future__ import annotations

import sys
import warnings
from unittest import mock

import numpy as np
from common import arguments, circumstances, commit, described, real_corpus, seconds_of, table, write_tables

PRESETS = ("readers", "paper")


def corpora(quick: bool, data):
    from anchorwords.datasets import make_topics

    for seed in range(1 if quick else 3):
        name = f"synthetic, seed {seed}: 2,000 documents, 500 words"
        yield name, 10, make_topics(n_docs=2000, n_words=500, n_topics=10, random_state=seed).corpus
    for name in ("nips12",) if quick else ("nips12", "kos", "20ng"):
        yield f"{name}, 5,000 words", 30, real_corpus(data, name).prune(n_words=5000)


def pairs_of(model, n: int) -> dict[str, list[list[int]]]:
    """Pairs of topics that are merged first, and others."""
    import anchorwords as aw

    first = [row for row in aw.topic_hierarchy(model).rows() if len(row["topics"]) == len(row["with_topics"]) == 1]
    rng = np.random.default_rng(0)
    K = model.model_.n_components
    drawn = [sorted(map(int, rng.choice(K, 2, replace=False))) for _ in range(n)]
    return {"near": [[*row["topics"], *row["with_topics"]] for row in first[:n]], "random": drawn}


def distance(model, pair: list[int], corpus, preset: str) -> float:
    """Mean total variation between two topics and what a split of their merger finds."""
    import anchorwords as aw
    from anchorwords.edit import split
    from anchorwords.presets import PAPER, READERS

    merged = aw.merge_topics(model, [pair])
    with mock.patch.object(split, "READERS", {"readers": READERS, "paper": PAPER}[preset]):
        record = aw.split_topic(merged, pair[0], corpus).model_
    new = [record.position(topic) for topic in record.edits[-1].result]
    before = model.model_.B[:, [model.model_.position(topic) for topic in pair]]
    apart = np.abs(record.B[:, new][:, :, None] - before[:, None, :]).sum(axis=0) / 2.0
    return float(min(apart.trace(), apart[::-1].trace()) / 2.0)


def measured(name: str, K: int, corpus, n: int) -> dict:
    import anchorwords as aw

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = aw.AnchorTopicModel(K).fit(corpus)
        row: dict = {"corpus": name, "K": K, "documents": corpus.n_docs}
        for kind, pairs in pairs_of(model, n).items():
            row[f"{kind}_pairs"] = len(pairs)
            for preset in PRESETS:
                row[f"{kind}_{preset}"] = [distance(model, pair, corpus, preset) for pair in pairs]
        merged = aw.merge_topics(model, [pairs[0]])
        row["seconds"] = float(
            np.median([seconds_of(lambda: aw.split_topic(merged, pairs[0][0], corpus)) for _ in range(3)])
        )
    print(row, file=sys.stderr, flush=True)
    return row


def markdown(records: list[dict]) -> str:
    record = records[0]
    rows = [
        [row["corpus"], str(row["K"]), *(f"{np.mean(row[f'{kind}_{preset}']):.3f}" for kind in ("near", "random")
         for preset in PRESETS), f"{row['seconds']:.1f}"]
        for row in record["rows"]
    ]  # fmt: skip
    heads = [f"{kind} pairs, {how}" for kind in ("near", "random") for how in ("refined", "spectral")]
    return (
        described(record)
        + f"\nMean distance of the sub-topics to the topics that were merged; {record['n']} pairs of each kind at most.\n\n"
        + table(["corpus", "topics", *heads, "seconds"], rows)
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="one synthetic corpus and nips12, two pairs each")
    options = parser.parse_args()
    n = 2 if options.quick else 8
    rows = [measured(name, K, corpus, n) for name, K, corpus in corpora(options.quick, options.data)]
    record = {**circumstances(), "commit": commit(), "n": n, "rows": rows}
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

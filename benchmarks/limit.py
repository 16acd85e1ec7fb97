"""Where ENN ends: plain steps, over-relaxation and Newton steps, each against the limit of the plain iteration.

python benchmarks/limit.py [--data ../shared/data] [--output docs/tables/limit]
"""

from __future__ import annotations

import warnings

from common import arguments, table, write_tables

import anchorwords as aw
from anchorwords.datasets import load_docstrings
from anchorwords.linalg.factored import factored_distance
from anchorwords.linalg.randomized import randomized_eigh

LIMIT = 2000
WAYS = {
    "plain, the paper's 150 steps": {"relaxation": 1.0, "tol": 1e-14, "max_iter": 150},
    "over-relaxed by 1.8": {"relaxation": 1.8, "tol": 1e-14, "max_iter": 1000},
    "Newton (default)": {},
}


def compare(counts, name: str, K: int) -> list[dict]:
    pairs = randomized_eigh(aw.CooccurrenceOperator(counts), K, random_state=0)
    start = (pairs.vectors, pairs.values)
    limit = aw.rectify_enn(start, K, relaxation=1.0, tol=1e-14, max_iter=LIMIT)
    rows = []
    for way, options in WAYS.items():
        result = aw.rectify_enn(start, K, **options)
        rows.append(
            {
                "corpus": name, "words": counts.shape[1], "K": K, "way": way, "steps": result.n_iter,
                "violation": result.history[-1].violation, "distance": factored_distance(result.Y, limit.Y),
                "limit_violation": limit.history[-1].violation,
            }
        )  # fmt: skip
    return rows


def markdown(rows: list[dict]) -> str:
    columns = [
        "corpus",
        "words",
        "K",
        "way",
        "steps",
        "violation left",
        f"distance from {LIMIT:,} plain steps",
        "their violation",
    ]
    return table(
        columns,
        [
            [
                r["corpus"], f"{r['words']:,}", f"{r['K']}", r["way"], f"{r['steps']}", f"{r['violation']:.1e}",
                f"{r['distance']:.1e}", f"{r['limit_violation']:.1e}",
            ]
            for r in rows
        ],
    )  # fmt: skip


def main() -> None:
    options = arguments(__doc__).parse_args()
    warnings.simplefilter("ignore")  # runs of a fixed length end on max_iter by design
    corpora = {"docstrings": load_docstrings().prune(min_df=15)}
    if options.data.is_dir():
        corpora["nips12"] = aw.read_corpus(options.data / "nips12").prune(n_words=1000)
        corpora["ml1m"] = aw.read_corpus(options.data / "ml1m").prune()
    rows = []
    for name, corpus in corpora.items():
        rows += compare(corpus.counts, name, 20)
        print(markdown(rows[-len(WAYS) :]).split("\n", 2)[2], end="", flush=True)
    write_tables(options.output, rows, markdown)


if __name__ == "__main__":
    main()

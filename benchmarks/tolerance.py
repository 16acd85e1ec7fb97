"""How far topics move when the tolerance of ENN is made ten times smaller.

For each corpus, K and tolerance: steps of ENN, and the largest and mean total variation between matched
topics at this tolerance and at a tenth of it. Writes a Markdown table and JSON.

    python benchmarks/tolerance.py [--quick] [--data ../shared/data] [--output docs/tables/tolerance]
"""

from __future__ import annotations

import warnings
from itertools import pairwise

from common import arguments, table, write_tables

import anchorwords as aw
from anchorwords.exceptions import ConvergenceWarning
from anchorwords.linalg.randomized import randomized_eigh
from anchorwords.metrics.matching import match_topics

FULL = [("nips12", 1000), ("nips12", 2500), ("nips12", 5000), ("kos", None), ("ml1m", None)]
TOLERANCES = (1e-6, 1e-7, 1e-8)


def rows_for(counts, name: str, K: int, tolerances=TOLERANCES) -> list[dict]:
    pairs = randomized_eigh(aw.CooccurrenceOperator(counts), K, random_state=0)
    fits = {}
    for tol in (*tolerances, tolerances[-1] / 10):
        result = aw.rectify_enn((pairs.vectors, pairs.values), K, tol=tol, max_iter=3000)
        fits[tol] = (result.n_iter, aw.low_rank_anchor_words(result.Y))
    rows = []
    ordered = sorted(fits, reverse=True)
    for tol, tighter in pairwise(ordered):
        steps, model = fits[tol]
        moved = match_topics(model.B, fits[tighter][1].B).total_variation
        common = len(set(model.anchors.tolist()) & set(fits[tighter][1].anchors.tolist()))
        rows.append(
            {
                "corpus": name, "words": counts.shape[1], "K": K, "tol": tol, "steps": steps,
                "max_tv": float(moved.max()), "mean_tv": float(moved.mean()),
                "anchors_kept": common,
            }
        )  # fmt: skip
    return rows


def markdown(rows: list[dict]) -> str:
    columns = ["corpus", "words", "K", "tol", "steps", "largest TV to tol/10", "mean TV", "anchors kept"]
    return table(
        columns,
        [
            [
                r["corpus"], f"{r['words']:,}", f"{r['K']}", f"{r['tol']:.0e}", f"{r['steps']}", f"{r['max_tv']:.4f}",
                f"{r['mean_tv']:.5f}", f"{r['anchors_kept']} of {r['K']}",
            ]
            for r in rows
        ],
    )  # fmt: skip


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="one small problem")
    options = parser.parse_args()
    warnings.simplefilter("error", ConvergenceWarning)
    if options.data.is_dir():
        problems = [(name, n) for name, n in (FULL[:1] if options.quick else FULL)]
        corpora = [(name, aw.read_corpus(options.data / name).prune(n_words=n)) for name, n in problems]
    else:
        from anchorwords.datasets import load_docstrings

        print(f"{options.data} is not there: using the embedded docstrings")
        corpora = [("docstrings", load_docstrings().prune(min_df=15))]
    rows = []
    for name, corpus in corpora:
        for K in (20,) if options.quick else (10, 20, 50):
            new = rows_for(corpus.counts, name, K)
            rows += new
            print(markdown(new).split("\n", 2)[2], end="", flush=True)
    write_tables(options.output, rows, markdown)


if __name__ == "__main__":
    main()

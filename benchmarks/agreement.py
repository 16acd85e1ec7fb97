"""ENN against AP, the unrectified baseline against both, and five seeds of the estimator against each other.

    python benchmarks/agreement.py [--data ../shared/data] [--output docs/tables/agreement]
    python benchmarks/agreement.py --converged [--output docs/tables/converged]

With --converged: the default estimator against AP run until it hardly moves, on the problem of peers.py.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import arguments, real_corpus, table, write_tables

import anchorwords as aw
from anchorwords.exceptions import ConvergenceWarning
from anchorwords.metrics.accuracy import relative_approximation
from anchorwords.metrics.distinctness import dissimilarity, relative_dominancy, specificity
from anchorwords.metrics.matching import match_topics

PROBLEMS = [("nips12", n, K) for n in (1000, 2500) for K in (10, 20, 50)] + [("kos", n, 20) for n in (1000, 2500)]


def compare(counts, K: int) -> dict:
    C, operator = aw.cooccurrence(counts), aw.CooccurrenceOperator(counts)
    rectified = aw.rectify_ap(C, K, max_iter=150, tol=0).C
    ap = aw.anchor_words(rectified, K)
    Y = aw.rectify_enn(operator, K, relaxation=1.0, tol=0, max_iter=150).Y
    enn = aw.low_rank_anchor_words(Y)
    seeds = [aw.AnchorTopicModel(K, random_state=seed).fit(counts).model_ for seed in range(5)]
    baseline = aw.anchor_words(C, K)
    p = operator.row_sums()

    def metrics(model):
        return np.array(
            [
                relative_approximation(model, operator),
                relative_dominancy(model),
                specificity(model, p),
                dissimilarity(model),
            ]
        )

    return {
        "distance": float(np.linalg.norm(rectified - Y @ Y.T) / np.linalg.norm(rectified)),
        "anchors": len(set(ap.anchors.tolist()) & set(enn.anchors.tolist())),
        "metrics": float(np.abs(metrics(enn) / metrics(ap) - 1).max()),
        "seeds_tv": max(float(match_topics(seeds[0].B, other.B).total_variation.max()) for other in seeds[1:]),
        "seeds_anchors": min(len(set(seeds[0].anchors.tolist()) & set(other.anchors.tolist())) for other in seeds[1:]),
        "approximation": [relative_approximation(model, operator, raw=True) for model in (baseline, enn)],
        "specificity": [specificity(model, p) for model in (baseline, enn)],
    }


def compare_converged(counts, K: int, max_iter: int = 400) -> dict:
    operator = aw.CooccurrenceOperator(counts)
    ours = aw.AnchorTopicModel(K).fit(counts).model_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = aw.rectify_ap(aw.cooccurrence(counts), K, max_iter=max_iter, tol=2e-5)
    ap = aw.anchor_words(result.C, K)
    return {
        "steps": result.n_iter,
        "violation": result.history[-1].violation,
        "anchors": len(set(ap.anchors.tolist()) & set(ours.anchors.tolist())),
        "approximation": [relative_approximation(model, operator) for model in (ap, ours)],
        "approximation_raw": [relative_approximation(model, operator, raw=True) for model in (ap, ours)],
    }


def markdown_converged(rows: list[dict]) -> str:
    columns = [
        "corpus", "words", "K", "steps of AP", "what they still change", "anchors in common",
        "RelativeApproximation: AP", "ours", "raw: AP", "ours",
    ]  # fmt: skip
    lines = [
        [
            r["corpus"], f"{r['words']:,}", f"{r['K']}", f"{r['steps']}", f"{r['violation']:.1e}",
            f"{r['anchors']} of {r['K']}", *(f"{value:.4f}" for value in (*r["approximation"], *r["approximation_raw"])),
        ]
        for r in rows
    ]  # fmt: skip
    return table(columns, lines)


def markdown(rows: list[dict]) -> str:
    lines = [
        "| corpus | words | K | distance of matrices | anchors in common | metrics differ by "
        "| five seeds: largest TV | five seeds: anchors | baseline raw RelativeApproximation | ENN's "
        "| baseline Specificity | ENN's |",
        "|---|" + "---:|" * 11,
    ]
    for r in rows:
        lines.append(
            f"| {r['corpus']} | {r['words']:,} | {r['K']} | {r['distance']:.1e} | {r['anchors']} of {r['K']} "
            f"| {100 * r['metrics']:.2f} % "
            f"| {r['seeds_tv']:.1e} | {r['seeds_anchors']} of {r['K']} "
            f"| {r['approximation'][0]:.2f} | {r['approximation'][1]:.3f} "
            f"| {r['specificity'][0]:.2f} | {r['specificity'][1]:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--converged", action="store_true", help="the default against AP in 400 steps; ten minutes")
    options = parser.parse_args()
    problems, measure, shown = PROBLEMS, compare, markdown
    if options.converged:
        problems, measure, shown = [("nips12", 5000, 50)], compare_converged, markdown_converged
    rows = []
    for name, n_words, K in problems:
        counts = real_corpus(options.data, name).prune(n_words=n_words).counts
        rows.append({"corpus": name, "words": n_words, "K": K, **measure(counts, K)})
        print(shown(rows[-1:]).split("\n")[2], flush=True)
    write_tables(options.output, rows, shown)


if __name__ == "__main__":
    main()

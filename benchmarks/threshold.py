"""How frequent an anchor must be: topics by the fewest documents of a word that is chosen.

    python benchmarks/threshold.py [--quick] [--data ../shared/data] [--output docs/tables/threshold]

Each corpus and number of topics is decomposed and rectified once; only the choice of anchors and what follows from it (LAW)
is done anew for each threshold: shares of the documents, and multiples of the square root of their number.
NPMI is of the top 10 words in the corpus itself, diversity of the top 25, dissimilarity of the top 20. The first tables
sum up what a threshold changes, on corpora pruned as they are called and on text pruned by ``text_preset``.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from common import arguments, circumstances, commit, described, real_corpus, table, write_tables

import anchorwords as aw
from anchorwords.exceptions import DegenerateWarning
from anchorwords.metrics.accuracy import relative_recovery
from anchorwords.metrics.coherence import npmi_coherence, topic_diversity
from anchorwords.metrics.distinctness import dissimilarity, specificity
from anchorwords.metrics.reference import Reference
from anchorwords.rectify.start import starting_eigenpairs

# How each is pruned; 20ng is the only one that comes with its stop words.
RULES = {
    "nips12": {"n_words": 5_000},
    "20ng": {"n_words": 5_000, "stop_words": "english"},
    "imdb100k": {"n_words": 20_000, "min_df": 20},
    "spotify": {"min_df": 20},
}
# And text once more by the rule of the command line.
TEXT = ("nips12", "20ng", "imdb100k", "kos")
TOPICS = (20, 50)
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
ROOTS = (0.5, 1.0, 2.0, 4.0)


def thresholds(n_docs: int) -> list[tuple[str, int]]:
    """Name and number of documents of each, fewest first; none is the paper's choice."""
    found = [("none", 1)]
    found += [(f"{100 * share:g} %", math.ceil(share * n_docs)) for share in SHARES]
    found += [(f"{factor:g} √M", math.ceil(factor * math.sqrt(n_docs))) for factor in ROOTS]
    return sorted(found, key=lambda pair: pair[1])


def measure(name: str, corpus: aw.Corpus, K: int) -> list[dict]:
    reference = Reference(corpus)
    operator = reference.operator
    pairs = starting_eigenpairs(operator, K, search=True)
    Y = aw.rectify_enn((pairs.vectors, pairs.values), K).Y
    df = operator.document_frequencies
    rows = []
    for label, fewest in thresholds(operator.n_docs):
        candidates = df >= fewest
        row = {"corpus": name, "K": K, "threshold": label, "documents": fewest, "candidates": int(candidates.sum())}
        if row["candidates"] >= K:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateWarning)
                model = aw.low_rank_anchor_words(Y, candidates=candidates).with_vocabulary(corpus.vocabulary)
            row |= {
                "npmi": npmi_coherence(model, reference), "diversity": topic_diversity(model),
                "dissimilarity": dissimilarity(model), "recovery": relative_recovery(model),
                "specificity": specificity(model, reference.unigram), "A_raw_sum": model.A_raw_sum,
                "anchor_documents": float(np.median(df[model.anchors])),
                "anchors": [corpus.vocabulary[i] for i in model.anchors[:3]],
            }  # fmt: skip
        rows.append(row)
        print(" | ".join(cells(row)), flush=True)
    return rows


def cells(row: dict) -> list[str]:
    first = [row["threshold"], f"{row['documents']:,}", f"{row['candidates']:,}"]
    if "npmi" not in row:
        return [*first, *["-"] * 7]
    return [
        *first, f"{row['npmi']:.3f}", f"{row['diversity']:.3f}", f"{row['dissimilarity']:.1f}",
        f"{1e4 * row['recovery']:.2f}", f"{row['specificity']:.2f}", f"{row['anchor_documents']:,.0f}",
        ", ".join(shortened(word) for word in row["anchors"]),
    ]  # fmt: skip


def shortened(word: str) -> str:
    word = word.replace("|", "/")
    return word if len(word) <= 24 else word[:23] + "…"


COLUMNS = [
    "threshold", "documents", "candidates", "NPMI", "diversity", "dissimilarity", "recovery (1e-4)", "specificity",
    "documents of the median anchor", "first anchors",
]  # fmt: skip
CHANGES = [
    "threshold", "problems", "NPMI", "worst", "diversity", "worst", "dissimilarity", "recovery", "specificity",
]  # fmt: skip


def changes(problems: list[dict]) -> str:
    """What each threshold changes on average, and at worst; problems it leaves too few candidates for are not counted."""
    lines = []
    for label in dict.fromkeys(row["threshold"] for row in problems[0]["rows"] if row["threshold"] != "none"):
        pairs = [
            (problem["rows"][0], row) for problem in problems for row in problem["rows"] if row["threshold"] == label
        ]
        pairs = [(before, after) for before, after in pairs if "npmi" in after]
        if not pairs:
            continue
        npmi, recovery = (
            [after[name] / before[name] - 1.0 for before, after in pairs] for name in ("npmi", "recovery")
        )
        diversity, dissimilar, specific = (
            [after[name] - before[name] for before, after in pairs]
            for name in ("diversity", "dissimilarity", "specificity")
        )
        lines.append(
            [
                label, f"{len(pairs)} of {len(problems)}", f"{100 * np.mean(npmi):+.1f} %", f"{100 * min(npmi):+.1f} %",
                f"{np.mean(diversity):+.3f}", f"{min(diversity):+.3f}", f"{np.mean(dissimilar):+.2f}",
                f"{100 * np.mean(recovery):+.0f} %", f"{np.mean(specific):+.2f}",
            ]
        )  # fmt: skip
    return table(CHANGES, lines)


def markdown(records: list[dict]) -> str:
    record = records[0]
    text = [described(record)]
    for preset, name in ((False, "Change against no threshold, all corpora"), (True, "The same, text by text_preset")):
        problems = [problem for problem in record["problems"] if problem["preset"] == preset]
        if problems:
            text.append(f"{name}:\n\n" + changes(problems))
    for problem in record["problems"]:
        title = (
            f"{problem['corpus']}, {problem['words']:,} words in {problem['documents']:,} documents, K {problem['K']}"
        )
        title += ", text_preset" if problem["preset"] else ""
        text.append(f"{title}:\n\n" + table(COLUMNS, [cells(row) for row in problem["rows"]]))
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="kos, K 10")
    options = parser.parse_args()
    wanted = [("kos", {"n_words": 2_000})] if options.quick else [*RULES.items(), *((name, None) for name in TEXT)]
    problems = []
    for name, rule in wanted:
        corpus = real_corpus(options.data, name)
        corpus = corpus.prune(**(rule or corpus.text_preset()))
        for K in (10,) if options.quick else TOPICS:
            print(f"{name}, {corpus.n_words:,} words, {corpus.n_docs:,} documents, K {K}", flush=True)
            sizes = {"words": corpus.n_words, "documents": corpus.n_docs, "K": K}
            problems.append({"corpus": name, "preset": rule is None, **sizes, "rows": measure(name, corpus, K)})
    record = {**circumstances(), "commit": commit(), "problems": problems}
    if options.quick:
        print(changes(problems))
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

"""Whether a scan finds the true number of topics, and which levels it names for real corpora.

    python benchmarks/choosing.py [--quick] [--data ../shared/data] [--output docs/tables/choosing]

Every scan chooses the numbers of topics itself. The answer of a scan is the number that it recommends, or the plausible
numbers that the data do not distinguish; a scan without either names levels only. Synthetic: 20 draws for each of three true
numbers, with weakly overlapping topics, with strongly overlapping ones, and with those of latent Dirichlet allocation, which
have no anchor words, then 10 draws of each of other settings. None of the draws was used to choose the constants of
``scanning/directions.py``. Real: the levels of six corpora, and those of two with other splits.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from common import arguments, circumstances, commit, described, real_corpus, table, write_tables

CORPORA = ("kos", "nips12", "20ng", "cve", "spotify", "ml1m")
RESPLIT = ("kos", "nips12")
# Correlation is the share of a topic's weight that its two neighbours receive. True K, documents, words, correlation, mean
# length of documents, exponent of Zipf's law, whether lengths vary.
MAIN = [(K, 5000, 500, correlation, 100, 0.9, False) for correlation in (0.1, 0.3) for K in (5, 10, 20)]
OTHERS = [
    (3, 1000, 300, 0.2, 50, 1.0, True), (5, 1000, 300, 0.0, 100, 0.9, True), (5, 5000, 2000, 0.3, 50, 1.1, True),
    (5, 20000, 300, 0.4, 20, 0.9, True), (8, 5000, 500, 0.2, 50, 0.9, True), (8, 1000, 300, 0.3, 20, 0.9, True),
    (10, 1000, 300, 0.1, 200, 0.9, False), (10, 5000, 500, 0.4, 100, 0.9, True), (10, 20000, 2000, 0.1, 20, 1.0, True),
    (20, 5000, 500, 0.0, 100, 0.9, True), (20, 20000, 500, 0.2, 50, 1.0, True), (20, 5000, 500, 0.3, 200, 0.9, True),
    (20, 5000, 2000, 0.1, 100, 1.1, True), (30, 20000, 500, 0.1, 100, 0.9, False), (30, 5000, 500, 0.0, 200, 0.9, True),
    (30, 20000, 500, 0.3, 100, 0.9, False),
]  # fmt: skip


# Latent Dirichlet allocation: true K, documents, words, mean length of documents, parameters of the topics and of documents.
DIRICHLET = [(K, 5000, 1000, 100, 0.05, 2.0 / K) for K in (10, 20, 50)]


def dirichlet_row(setting: tuple, seeds: range) -> dict:
    """As ``drawn``, for topics and documents of latent Dirichlet allocation."""
    import scipy.sparse as sp

    K, n_docs, n_words, length, of_topics, of_documents = setting
    answers = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 10])
        B = rng.dirichlet(np.full(n_words, of_topics), size=K)
        proportions = rng.dirichlet(np.full(K, of_documents), size=n_docs)
        lengths = np.maximum(2, rng.poisson(length, size=n_docs))
        counts = [rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, proportions @ B, strict=True)]
        answers.append(answer(sp.csr_array(np.array(counts, dtype=float))))
    return reported({"K": K, "documents": n_docs, "words": n_words, "length": length, "answers": answers})


def drawn(setting: tuple, seeds: range) -> dict:
    from anchorwords.datasets import make_topics

    K, n_docs, n_words, correlation, length, zipf, varying = setting
    answers = []
    for seed in seeds:
        # Lengths that vary: negative binomial, with a standard deviation of a little more than half of the mean.
        rng = np.random.default_rng([seed, 9])
        lengths = np.maximum(2, rng.negative_binomial(4, 4 / (4 + length), size=n_docs)) if varying else length
        corpus = make_topics(
            n_docs=n_docs, n_words=n_words, n_topics=K, correlation=correlation, doc_length=lengths, zipf=zipf,
            random_state=seed,
        ).corpus  # fmt: skip
        answers.append(answer(corpus))
    return reported({
        "K": K, "documents": n_docs, "words": n_words, "correlation": correlation, "length": length, "zipf": zipf,
        "varying": varying, "answers": answers,
    })  # fmt: skip


def answer(documents) -> dict:
    """What a scan that chooses its numbers says of documents."""
    import anchorwords as aw

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on fits of more topics than there are
        scan = aw.scan(documents, metrics=())
    directions = scan.directions
    return {
        "plausible": scan.plausible, "levels": [level.n_components for level in scan.levels],
        "directions": None if directions is None else [directions.n, directions.n_most],
    }  # fmt: skip


def reported(row: dict) -> dict:
    print(
        counts_of(row), [one["plausible"] or one["directions"] for one in row["answers"]], file=sys.stderr, flush=True
    )
    return row


def counts_of(row: dict) -> dict:
    """How often the answer contains the true number, its size, and how often a single number is right or wrong."""
    given = [one["plausible"] for one in row["answers"] if one["plausible"]]
    single = [one[0] for one in given if len(one) == 1]
    return {
        "draws": len(row["answers"]), "contained": sum(row["K"] in one for one in given), "answers": len(given),
        "size": float(np.mean([len(one) for one in given])) if given else float("nan"),
        "right": single.count(row["K"]), "wrong": len(single) - single.count(row["K"]),
    }  # fmt: skip


def real(name: str, data, seed: int = 0) -> dict:
    import anchorwords as aw

    corpus = real_corpus(data, name).prune(n_words=5000)
    scan = aw.scan(corpus, min_anchor_docs="auto", random_state=seed)
    print(name, scan, file=sys.stderr, flush=True)
    return {"corpus": name, "documents": corpus.n_docs, "plausible": scan.plausible, "numbers": scan.n_components,
            "levels": [level.row() for level in scan.levels], "reasons": scan.reasons, "seed": seed}  # fmt: skip


def results(row: dict) -> list[str]:
    counts = counts_of(row)
    draws = counts["draws"]
    return [f"{counts['contained']} of {draws}", "-" if not counts["answers"] else f"{counts['size']:.1f}",
            str(counts["right"]), str(counts["wrong"]), str(draws - counts["answers"])]  # fmt: skip


RESULTS = ["contained", "mean size", "single, right", "single, wrong", "levels only"]


def markdown(records: list[dict]) -> str:
    record = records[0]
    main = [
        [f"{'weak' if row['correlation'] < 0.2 else 'strong'} overlap", str(row["K"]), *results(row)]
        for row in record["main"]
    ]  # fmt: skip
    main += [["Dirichlet, no anchor words", str(row["K"]), *results(row)] for row in record["dirichlet"]]
    others = [
        [str(row["K"]), f"{row['documents']:,}", f"{row['words']:,}", f"{row['correlation']:.1f}",
         f"{row['length']}{', varying' if row['varying'] else ''}", f"{row['zipf']:.1f}", *results(row)]
        for row in record["others"]
    ]  # fmt: skip
    levels = [
        [part["corpus"], level["name"], f"{level['n_components']}{' (end of the grid)' if level['at_grid_end'] else ''}",
         f"{level['replicated']:.0%}", f"{level['heldout_perplexity']:,.0f}", f"{level['npmi_coherence']:.3f}",
         f"{level['topic_diversity']:.2f}"]
        for part in record["real"] for level in part["levels"]
    ]  # fmt: skip
    splits = [
        [part["corpus"], str(part["seed"]), ", ".join(f"{one['name']} {one['n_components']}" for one in part["levels"])]
        for part in record["resplit"]
    ]  # fmt: skip
    return (
        described(record)
        + "\nSynthetic corpora of 5,000 documents of 100 tokens, and 500 words (Dirichlet: 1,000): how often the answer "
        "contains the true number of topics, how many numbers it has, and how often it is a single number.\n\n"
        + table(["topics", "true K", *RESULTS], main)
        + "\nOther settings. Overlap is the share of a topic's weight that its two neighbours receive; 0.4 leaves the last "
        "directions hardly any strength.\n\n"
        + table(["true K", "documents", "words", "overlap", "tokens", "Zipf", *RESULTS], others)
        + "\nLevels of real corpora (best 5,000 words).\n\n"
        + table(
            ["corpus", "level", "topics", "replicated", "held-out perplexity", "coherence (NPMI)", "diversity"], levels
        )
        + "\nLevels with other random splits into halves.\n\n"
        + table(["corpus", "seed", "levels"], splits)
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="two draws, four settings, kos only")
    options = parser.parse_args()
    quick = options.quick
    record = {
        **circumstances(), "commit": commit(),
        "main": [drawn(setting, range(4000, 4002 if quick else 4020)) for setting in (MAIN[:2] if quick else MAIN)],
        "dirichlet": [
            dirichlet_row(setting, range(4000, 4002 if quick else 4020)) for setting in DIRICHLET[: 1 if quick else 3]
        ],
        "others": [drawn(setting, range(5000, 5002 if quick else 5010)) for setting in (OTHERS[:2] if quick else OTHERS)],
        "real": [real(name, options.data) for name in (("kos",) if quick else CORPORA)],
    }  # fmt: skip
    record["resplit"] = [
        real(name, options.data, seed) for name in (() if quick else RESPLIT) for seed in (1, 2)
    ]  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

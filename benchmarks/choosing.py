"""Whether a scan finds the true number of topics, and which levels it names for real corpora.

    python benchmarks/choosing.py [--quick] [--data ../shared/data] [--output docs/tables/choosing]

Synthetic: 20 draws for each of three numbers of true topics, with weakly and strongly overlapping topics. A scan is right if
the true number is recommended, or is among its levels. Real: levels for small grids of numbers.
"""

from __future__ import annotations

import sys

from common import arguments, circumstances, commit, described, real_corpus, table, write_tables

CORPORA = ("kos", "nips12", "20ng", "cve", "spotify", "ml1m")
GRID = (5, 10, 15, 20, 30, 40, 60, 80)
# Correlation is the share of a topic's weight that its neighbours have too.
STRUCTURES = {"weak overlap": 0.1, "strong overlap": 0.3}
TRUE = {5: tuple(range(2, 13)), 10: tuple(range(5, 17)), 20: (10, 15, 18, 19, 20, 21, 22, 25, 30)}


def drawn(K: int, correlation: float, draws: int) -> dict:
    import anchorwords as aw
    from anchorwords.datasets import make_topics

    answers = []
    for draw in range(draws):
        corpus = make_topics(
            n_docs=5000, n_words=500, n_topics=K, correlation=correlation, random_state=100 + draw
        ).corpus
        scan = aw.scan(corpus, TRUE[K], metrics=())
        answers.append({"recommended": scan.recommended, "levels": [level.n_components for level in scan.levels]})
    print(K, correlation, answers, file=sys.stderr, flush=True)
    return {"K": K, "answers": answers, "right": sum(K in one["levels"] for one in answers)}


def real(name: str, data) -> dict:
    import anchorwords as aw

    corpus = real_corpus(data, name).prune(n_words=5000)
    scan = aw.scan(corpus, GRID, min_anchor_docs="auto")
    print(name, scan, file=sys.stderr, flush=True)
    return {"corpus": name, "documents": corpus.n_docs, "recommended": scan.recommended,
            "levels": [level.row() for level in scan.levels], "reasons": scan.reasons}  # fmt: skip


def markdown(records: list[dict]) -> str:
    record = records[0]
    truth = [
        [row["structure"], str(row["K"]), f"{row['right']} of {len(row['answers'])}",
         f"{sum(one['recommended'] == row['K'] for one in row['answers'])}",
         f"{sum(one['recommended'] not in (None, row['K']) for one in row['answers'])}"]
        for row in record["truth"]
    ]  # fmt: skip
    levels = [
        [part["corpus"], level["name"], f"{level['n_components']}{' (end of the grid)' if level['at_grid_end'] else ''}",
         f"{level['replicated']:.0%}", f"{level['heldout_perplexity']:,.0f}", f"{level['npmi_coherence']:.3f}",
         f"{level['topic_diversity']:.2f}"]
        for part in record["real"] for level in part["levels"]
    ]  # fmt: skip
    return (
        described(record)
        + "\nSynthetic corpora of 5,000 documents and 500 words: how often the answer contains the true number.\n\n"
        + table(["topics", "true K", "contained", "recommended, right", "recommended, wrong"], truth)
        + f"\nLevels of real corpora (best 5,000 words; numbers {', '.join(map(str, GRID))}).\n\n"
        + table(
            ["corpus", "level", "topics", "replicated", "held-out perplexity", "coherence (NPMI)", "diversity"], levels
        )
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="two draws, kos only")
    options = parser.parse_args()
    draws, names = (2, ("kos",)) if options.quick else (20, CORPORA)
    record = {
        **circumstances(), "commit": commit(),
        "truth": [
            {"structure": structure, **drawn(K, correlation, draws)}
            for structure, correlation in STRUCTURES.items() for K in TRUE
        ],
        "real": [real(name, options.data) for name in names],
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

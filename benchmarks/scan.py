"""How many topics: what a scan costs, whether it finds the true number, and what it says of real corpora.

    python benchmarks/scan.py [--quick] [--repeats 3] [--data ../shared/data] [--output docs/tables/scan]

Cost: a fit of 100 topics and a scan of 10, 20, ..., 100, one after the other in the same process, several times; medians of
processor seconds (of all threads) and of seconds. True numbers: ten corpora of known topics for each number, with a dense
grid of numbers and with a coarse one. Halves: the rough topics of a scan beside refits of the same halves. Real corpora:
what is recommended for several splits in halves.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
from common import arguments, circumstances, commit, described, real_corpus, table, warm_up_counts, write_tables

WORDS = 5000
NUMBERS = tuple(range(10, 101, 10))
CORPORA = ("nips12", "kos", "20ng", "ml1m", "spotify")
# What is drawn: clear structure, and the defaults of make_topics, whose neighbouring topics share a third of their weight.
CLEAR = {"n_docs": 5000, "n_words": 1000, "correlation": 0.1}
FAINT = {"n_docs": 5000, "n_words": 500, "correlation": 0.3}
GRIDS = {"2, 3, ..., 30": tuple(range(2, 31)), "5, 10, ..., 40": tuple(range(5, 41, 5))}


def cost(corpus, numbers: tuple[int, ...], repeats: int) -> dict:
    """Medians of a fit of the largest number and of a scan, in turn."""
    import anchorwords as aw
    from anchorwords.scanning.scan import scan

    seconds: dict[str, list[tuple[float, float]]] = {"fit": [], "scan": []}
    work = {"fit": lambda: aw.AnchorTopicModel(numbers[-1]).fit(corpus), "scan": lambda: scan(corpus, numbers)}
    for _ in range(repeats):
        for name, run in work.items():
            begin = time.process_time(), time.perf_counter()
            run()
            seconds[name].append((time.process_time() - begin[0], time.perf_counter() - begin[1]))
            print(name, seconds[name][-1], file=sys.stderr, flush=True)
    medians = {
        name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in seconds.items()
    }
    ratios = [
        statistics.median(s[i] / f[i] for s, f in zip(seconds["scan"], seconds["fit"], strict=True)) for i in (0, 1)
    ]
    return {"runs": seconds, "medians": medians, "processor_ratio": ratios[0], "wall_ratio": ratios[1]}


def true_numbers(K: int, options: dict, numbers: tuple[int, ...], draws: int) -> list[int]:
    """Numbers recommended for corpora of K topics."""
    from anchorwords.datasets import make_topics
    from anchorwords.scanning.scan import scan

    found = []
    for draw in range(draws):
        corpus = make_topics(n_topics=K, random_state=draw, **options).corpus
        found.append(scan(corpus, numbers, metrics=()).recommended)
    print(K, options, found, file=sys.stderr, flush=True)
    return found


def beside_refits(corpus, numbers: tuple[int, ...]) -> list[dict]:
    """Rough topics of the halves, and topics that a fit of either half gives."""
    import anchorwords as aw
    from anchorwords.metrics.matching import match_topics
    from anchorwords.resampling.shards import shard_of
    from anchorwords.scanning.halves import halves_of
    from anchorwords.scanning.replication import reproduced_topics, sampled_words
    from anchorwords.sources.convert import as_source

    counts = corpus.counts
    operator = aw.CooccurrenceOperator(counts)
    halves = halves_of(as_source(corpus), operator, numbers[-1], 0, None)
    side = shard_of(0, corpus.n_docs, 40, 0) % 2
    sample = sampled_words(operator.row_sums())
    compared = sample.words[: sample.n_compared]
    rows = []
    for K in numbers:
        begin = time.process_time()
        rough = reproduced_topics(halves, K, sample, None)
        rough_seconds = time.process_time() - begin
        begin = time.process_time()
        fits = [aw.AnchorTopicModel(K).fit(counts[np.flatnonzero(side == i)]).model_.B for i in (0, 1)]
        fit_seconds = time.process_time() - begin
        some = [B[compared] / B[compared].sum(axis=0) for B in fits]
        whole, part = (1.0 - match_topics(*pair).total_variation for pair in (fits, some))
        rows.append({
            "K": K, "rough": float(rough.similarity.mean()), "refits": float(part.mean()),
            "refits_all_words": float(whole.mean()), "rough_found": rough.n_found, "refits_found": int((part > 0.5).sum()),
            "rough_seconds": rough_seconds, "refit_seconds": fit_seconds,
        })  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def recommended(corpus, numbers: tuple[int, ...], splits: int) -> list[dict]:
    """What halves alone say, for several splits: a scan without its fits."""
    import anchorwords as aw
    from anchorwords.scanning.directions import shared_directions
    from anchorwords.scanning.halves import halves_of
    from anchorwords.scanning.recommend import recommend
    from anchorwords.scanning.record import Candidate
    from anchorwords.scanning.replication import reproduced_topics, sampled_words
    from anchorwords.sources.convert import as_source

    operator = aw.CooccurrenceOperator(corpus.counts)
    sample = sampled_words(operator.row_sums())
    rows = []
    for seed in range(splits):
        halves = halves_of(as_source(corpus), operator, numbers[-1], seed, None)
        directions = shared_directions(*halves, numbers[-1], seed)
        found = [reproduced_topics(halves, K, sample, None) for K in numbers]
        candidates = [Candidate(K, {}, (one,), 0, True) for K, one in zip(numbers, found, strict=True)]
        number, _ = recommend(candidates, directions, np.ones(numbers[-1] + 2))
        rows.append({
            "seed": seed, "directions": directions.n, "beyond": directions.beyond, "recommended": number,
            "found_again": [one.n_found for one in found], "similarity": [float(one.similarity.mean()) for one in found],
        })  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def markdown(records: list[dict]) -> str:
    record = records[0]
    numbers = record["numbers"]
    costs = [
        [
            f"{row['corpus']}, {row['documents']:,} documents", f"{row['words']:,}",
            *(f"{value:.1f}" for name in ("fit", "scan") for value in row["medians"][name]),
            f"{row['processor_ratio']:.2f}", f"{row['wall_ratio']:.2f}",
        ]
        for row in record["cost"]
    ]  # fmt: skip
    truth = [
        [row["structure"], row["grid"], str(row["K"]), f"{row['recommended'].count(row['K'])} of {len(row['recommended'])}",
         ", ".join(map(str, row["recommended"]))]
        for row in record["truth"]
    ]  # fmt: skip
    halves = [
        [
            part["corpus"] if i == 0 else "", str(row["K"]), f"{row['rough']:.2f}", f"{row['refits']:.2f}",
            f"{row['refits_all_words']:.2f}", str(row["rough_found"]), str(row["refits_found"]),
            f"{row['rough_seconds']:.2f}", f"{row['refit_seconds']:.1f}",
        ]
        for part in record["halves"] for i, row in enumerate(part["rows"])
    ]  # fmt: skip
    real = [
        [
            f"{part['corpus']}, {part['documents']:,} documents" if row["seed"] == 0 else "", str(row["seed"]),
            f"more than {numbers[-1]}" if row["beyond"] else str(row["directions"]), str(row["recommended"]),
            ", ".join(map(str, row["found_again"])),
        ]
        for part in record["real"] for row in part["rows"]
    ]  # fmt: skip
    listed = f"{numbers[0]}, {numbers[1]}, ..., {numbers[-1]}"
    return (
        described(record)
        + f"\nA fit of {numbers[-1]} topics, and a scan of {listed}: medians of {record['repeats']} turns, "
        f"{record['threads']} thread{'s' if record['threads'] > 1 else ''}.\n\n"
        + table(
            ["corpus", "words", "fit, processor s", "s", "scan, processor s", "s", "ratio, processor", "ratio, s"],
            costs,
        )
        + "\nCorpora of 5,000 documents with known, separable topics: how often the true number is recommended.\n\n"
        + table(["structure", "numbers scanned", "true K", "right", "recommended"], truth)
        + "\nTopics of two halves of the documents as a scan makes them, and as fits of the halves give them: mean "
        "similarity, topics found again, processor seconds for both halves.\n\n"
        + table(
            ["corpus", "K", "scan", "refits", "refits, all words", "found again", "by refits", "scan s", "refits s"],
            halves,
        )
        + f"\nReal corpora (best {WORDS:,} words, numbers {listed}), several splits in halves.\n\n"
        + table(["corpus", "split", "directions in both halves", "recommended", "topics found again"], real)
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="small numbers, two draws, kos only")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    import anchorwords as aw
    from anchorwords.linalg.parallel import n_threads
    from anchorwords.scanning.scan import scan

    numbers = (5, 10, 20) if options.quick else NUMBERS
    names = ("kos",) if options.quick else CORPORA
    draws, splits = (2, 2) if options.quick else (10, 3)
    aw.AnchorTopicModel(5).fit(warm_up_counts())
    scan(warm_up_counts(), (3, 5))
    corpora = {name: real_corpus(options.data, name).prune(n_words=WORDS) for name in names}
    structures = {"clear": CLEAR} if options.quick else {"clear": CLEAR, "faint": FAINT}
    record = {
        **circumstances(), "commit": commit(), "numbers": numbers, "repeats": options.repeats,
        "threads": n_threads(None),
        "cost": [
            {"corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, **cost(corpus, numbers, options.repeats)}
            for name, corpus in corpora.items() if name in ("nips12", "kos")
        ],
        "halves": [
            {"corpus": name, "rows": beside_refits(corpora[name], numbers)} for name in ("nips12", "kos") if name in names
        ],
        "real": [
            {"corpus": name, "documents": corpus.n_docs, "rows": recommended(corpus, numbers, splits)}
            for name, corpus in corpora.items()
        ],
        "truth": [
            {"structure": structure, **drawn, "grid": grid, "K": K, "recommended": true_numbers(K, drawn, given, draws)}
            for structure, drawn in structures.items() for grid, given in GRIDS.items() for K in (5, 10, 20)
        ],
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

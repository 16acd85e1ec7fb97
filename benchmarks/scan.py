"""What a scan costs, and whether its approximate topics of halves agree with refits.

    python benchmarks/scan.py [--quick] [--repeats 3] [--data ../shared/data] [--output docs/tables/scan]

Cost: a fit of 100 topics and a scan of 10, 20, ..., 100, one after the other in the same process, several times; medians of
processor seconds (of all threads) and of seconds. Halves: the approximate topics of a scan next to refits of the same
halves. Whether a scan finds the true number of topics is measured by benchmarks/choosing.py.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
from common import arguments, circumstances, commit, described, real_corpus, table, warm_up_counts, write_tables

WORDS = 5000
NUMBERS = tuple(range(10, 101, 10))
CORPORA = ("nips12", "kos")


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
    halves = [
        [
            part["corpus"] if i == 0 else "", str(row["K"]), f"{row['rough']:.2f}", f"{row['refits']:.2f}",
            f"{row['refits_all_words']:.2f}", str(row["rough_found"]), str(row["refits_found"]),
            f"{row['rough_seconds']:.2f}", f"{row['refit_seconds']:.1f}",
        ]
        for part in record["halves"] for i, row in enumerate(part["rows"])
    ]  # fmt: skip
    listed = f"{numbers[0]}, {numbers[1]}, ..., {numbers[-1]}"
    return (
        described(record)
        + f"\nA fit of {numbers[-1]} topics, and a scan of {listed}: medians of {record['repeats']} runs, "
        f"{record['threads']} thread{'s' if record['threads'] > 1 else ''}.\n\n"
        + table(
            ["corpus", "words", "fit, processor s", "s", "scan, processor s", "s", "ratio, processor", "ratio, s"],
            costs,
        )
        + "\nTopics of two halves of the documents as approximated by a scan, and from fits of the halves: mean "
        "similarity, topics that replicate, processor seconds for both halves.\n\n"
        + table(
            ["corpus", "K", "scan", "refits", "refits, all words", "replicate", "by refits", "scan s", "refits s"],
            halves,
        )
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="small numbers, kos only")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    import anchorwords as aw
    from anchorwords.linalg.parallel import n_threads
    from anchorwords.scanning.scan import scan

    numbers = (5, 10, 20) if options.quick else NUMBERS
    names = ("kos",) if options.quick else CORPORA
    aw.AnchorTopicModel(5).fit(warm_up_counts())
    scan(warm_up_counts(), (3, 5))
    corpora = {name: real_corpus(options.data, name).prune(n_words=WORDS) for name in names}
    record = {
        **circumstances(), "commit": commit(), "numbers": numbers, "repeats": options.repeats,
        "threads": n_threads(None),
        "cost": [
            {"corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, **cost(corpus, numbers, options.repeats)}
            for name, corpus in corpora.items()
        ],
        "halves": [
            {"corpus": name, "rows": beside_refits(corpora[name], numbers)} for name in names
        ],
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

"""Fits side by side: one after the other, in joblib's processes and in threads, with everybody's default threads.

    python benchmarks/side_by_side.py [--quick] [--fits 8] [--data ../shared/data] [--output docs/tables/side_by_side]

Nothing may be slower than one after the other by more than the cost of handing over the counts: a fit in a worker takes
its share of the cores, not all of them. The row of one thread is the floor for fits that do not share anything. "Same
topics" is the largest difference of any probability from those of the first way.
"""

from __future__ import annotations

from common import (
    arguments,
    circumstances,
    commit,
    described,
    real_corpus,
    seconds_of,
    table,
    warm_up_counts,
    write_tables,
)
from joblib import Parallel, delayed

import anchorwords as aw


def one(counts, K: int, seed: int, n_jobs: int | None):
    return aw.AnchorTopicModel(K, random_state=seed, n_jobs=n_jobs).fit(counts).components_


def warm(_: int) -> None:
    aw.AnchorTopicModel(3).fit(warm_up_counts())


def ways(counts, K: int, n_fits: int, n_workers: int):
    """Name of each way, and what it runs."""

    def side_by_side(backend: str, n_jobs: int | None):
        with Parallel(n_jobs=n_workers, backend=backend) as pool:
            pool(delayed(warm)(i) for i in range(4 * n_workers))
            return seconds_of(lambda: found.extend(pool(delayed(one)(counts, K, i, n_jobs) for i in range(n_fits))))

    found: list = []
    for name, run in (
        (
            "one after the other",
            lambda: seconds_of(lambda: found.extend(one(counts, K, i, None) for i in range(n_fits))),
        ),
        (
            "one after the other, n_jobs=1",
            lambda: seconds_of(lambda: found.extend(one(counts, K, i, 1) for i in range(n_fits))),
        ),
        ("processes", lambda: side_by_side("loky", None)),
        ("threads", lambda: side_by_side("threading", None)),
        ("threads, n_jobs=1", lambda: side_by_side("threading", 1)),
    ):
        found.clear()
        yield name, run(), list(found)


def markdown(records: list[dict]) -> str:
    return "\n".join(
        described(record)
        + f"\n{record['corpus']}, {record['words']:,} words, K {record['K']}, {record['fits']} fits.\n\n"
        + table(
            ["way", "seconds", "of one after the other", "largest difference"],
            [
                [
                    row["way"],
                    f"{row['seconds']:.2f}",
                    f"{row['seconds'] / record['rows'][0]['seconds']:.2f}",
                    f"{row['difference']:.1e}",
                ]
                for row in record["rows"]
            ],
        )
        for record in records
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--fits", type=int, default=8)
    parser.add_argument("--quick", action="store_true", help="made-up counts, four fits")
    options = parser.parse_args()
    if options.quick:
        name, counts, K, n_fits = "made up", warm_up_counts(), 3, 4
    else:
        name, counts, K, n_fits = (
            "nips12",
            real_corpus(options.data, "nips12").prune(n_words=5000).counts,
            50,
            options.fits,
        )
    record = {
        **circumstances(),
        "commit": commit(),
        "corpus": name,
        "words": counts.shape[1],
        "K": K,
        "fits": n_fits,
        "rows": [],
    }
    warm(0)
    first = None
    for way, seconds, found in ways(counts, K, n_fits, record["machine"]["cores"]):
        first = found if first is None else first
        difference = max(float(abs(a - b).max()) for a, b in zip(first, found, strict=True))
        record["rows"].append({"way": way, "seconds": seconds, "difference": difference})
        print(f"{way}: {seconds:.2f} s, {difference:.1e}", flush=True)
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

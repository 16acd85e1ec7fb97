"""Fits side by side: one after the other, in joblib's processes and in threads, with everybody's default threads.

    python benchmarks/side_by_side.py [--quick] [--fits 8] [--data ../shared/data] [--output docs/tables/side_by_side]

Nothing may be slower than one after the other by more than the cost of handing over the counts: a fit in a worker takes
its share of the cores, not all of them. The row of one thread is the floor for fits that do not share anything. "Same
topics" is the largest difference of any probability from those of the first way.
"""

from __future__ import annotations

from functools import partial

from common import (
    arguments,
    circumstances,
    commit,
    described,
    real_corpus,
    seconds_of,
    table,
    usable_cores,
    warm_up_counts,
    write_tables,
)
from joblib import Parallel, delayed

import anchorwords as aw


def one(counts, K: int, seed: int, n_jobs: int | None):
    return aw.AnchorTopicModel(K, random_state=seed, n_jobs=n_jobs).fit(counts).components_


def warm(_: int) -> None:
    aw.AnchorTopicModel(3).fit(warm_up_counts())


def timed(function) -> tuple[float, list]:
    found: list = []
    seconds = seconds_of(lambda: found.extend(function()))
    return seconds, found


def one_by_one(counts, K: int, n_fits: int, n_jobs: int | None) -> tuple[float, list]:
    return timed(lambda: (one(counts, K, seed, n_jobs) for seed in range(n_fits)))


def at_once(counts, K: int, n_fits: int, n_jobs: int | None, backend: str) -> tuple[float, list]:
    """The same by joblib, in as many workers as there are cores, each warmed up."""
    n_workers = len(usable_cores())
    with Parallel(n_jobs=n_workers, backend=backend) as pool:
        pool(delayed(warm)(i) for i in range(4 * n_workers))
        return timed(lambda: pool(delayed(one)(counts, K, seed, n_jobs) for seed in range(n_fits)))


WAYS = {
    "one after the other": partial(one_by_one, n_jobs=None),
    "one after the other, n_jobs=1": partial(one_by_one, n_jobs=1),
    "processes": partial(at_once, n_jobs=None, backend="loky"),
    "threads": partial(at_once, n_jobs=None, backend="threading"),
    "threads, n_jobs=1": partial(at_once, n_jobs=1, backend="threading"),
}


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
    for way, run in WAYS.items():
        seconds, found = run(counts, K, n_fits)
        first = found if first is None else first
        difference = max(float(abs(a - b).max()) for a, b in zip(first, found, strict=True))
        record["rows"].append({"way": way, "seconds": seconds, "difference": difference})
        print(f"{way}: {seconds:.2f} s, {difference:.1e}", flush=True)
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

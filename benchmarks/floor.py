"""Each stage of a fit against its floor: what matrix products and memory of this machine allow, measured in the same run.

    python benchmarks/floor.py [--quick] [--large] [--repeat 5] [--data ../shared/data] [--output docs/tables/floor]

nips12 with 5,000 words and 50 topics; with --large also imdb100k with all words and 100 topics. Two tables a problem.
The first takes one whole fit apart, by stopwatches on the functions named; the second times single operations (median
of --repeat). Floors:

- product with C: the counts, 12 bytes each, and the dense block in and out must move, at the memory bandwidth. Twice
  the counts, as C = G'G uses every one twice; once, where a document stays in the cache between its two uses. A corpus
  that fits into the last cache as a whole can be faster than either.
- sweep, which finds E: one matrix product of 2 |I| N K operations in single precision, at the best rate of all cores on
  tiles of the same shape. (Symmetry inside I saves |I| / 2N of it.) For comparison the classical sweep, three such
  products, in single and in double precision.
- product of the conjugate gradients: 8 K operations a negative pair, at the rate of single precision, or two tall
  matrices read and one written, at the memory bandwidth, whichever takes longer.
- pivots: the coordinates of the words are read once.

The rates are the best of several tries; the bandwidth is the better of copying (read and written bytes counted) and
reading.
"""

from __future__ import annotations

import functools
import warnings
from contextlib import ExitStack
from statistics import median
from time import perf_counter
from unittest.mock import patch

import numpy as np
from common import (
    STAGES,
    arguments,
    circumstances,
    commit,
    described,
    real_corpus,
    seconds_of,
    table,
    timed_fit,
    warm_up_counts,
    write_tables,
)

import anchorwords as aw
from anchorwords.anchors import recover, select
from anchorwords.exceptions import ConvergenceWarning
from anchorwords.kernels import pairs
from anchorwords.kernels.pairs import SparseCorrection
from anchorwords.kernels.tiled import TiledCorrection
from anchorwords.linalg.parallel import for_each_block, n_threads, one_library_thread
from anchorwords.rectify.correction import CorrectedOperator, correction_of
from anchorwords.rectify.start import starting_eigenpairs
from anchorwords.rectify.tangent import Point

PROBLEMS = {"quick": [("nips12", 1000, 10)], "small": [("nips12", 5000, 50)], "large": [("imdb100k", None, 100)]}
LANES = 8
BYTES_A_COUNT = 12
TITLES = {"eigenpairs": "start: eigenpairs", "rectification": "ENN"}


# ---- What the machine can do.


def best(function, at_least: float) -> float:
    """Seconds of the fastest of several calls."""
    times = [seconds_of(function) for _ in range(3)]
    while sum(times) < at_least:
        times.append(seconds_of(function))
    return min(times)


def gemm_rates(K: int, n: int, at_least: float) -> dict[str, dict[str, float]]:
    """Operations a second of tile rows x K times K x n: one core, and all cores by our threads and by the library's."""
    width = max(8, pairs._TILE_ENTRIES // n)
    cores, tiles = n_threads(None), 8
    rates = {}
    for dtype in (np.float32, np.float64):
        rows = np.random.default_rng(0).standard_normal((cores * tiles * width, K)).astype(dtype)
        across = np.ascontiguousarray(rows[np.arange(n) % rows.shape[0]].T)
        outs = np.empty((cores, width, n), dtype=dtype)
        whole = np.empty((cores * width, n), dtype=dtype)

        def one(core: int, _: int = 0, rows=rows, across=across, outs=outs) -> None:
            for t in range(core * tiles, (core + 1) * tiles):
                np.matmul(rows[t * width : (t + 1) * width], across, out=outs[core])

        def library(rows=rows, across=across, whole=whole) -> None:
            for t in range(tiles):
                np.matmul(rows[t * whole.shape[0] : (t + 1) * whole.shape[0]], across, out=whole)

        operations = 2.0 * tiles * width * K * n
        with one_library_thread():
            single = operations / best(lambda one=one: one(0), at_least)
            ours = cores * operations / best(lambda one=one: for_each_block(one, cores, 1), at_least)
        theirs = cores * operations / best(library, at_least)
        rates[np.dtype(dtype).name] = {"one": single, "ours": ours, "library": theirs, "all": max(single, ours, theirs)}
    return rates


def bandwidth(at_least: float, megabytes: int) -> dict[str, float]:
    """Bytes a second of all cores, copying and reading."""
    source = np.ones(megabytes * 125_000)
    target = np.empty_like(source)

    def copy(first: int, last: int) -> None:
        target[first:last] = source[first:last]

    def read(first: int, last: int) -> None:
        np.dot(source[first:last], source[first:last])

    block = -(-source.size // n_threads(None))
    with one_library_thread():
        copied = 2 * source.nbytes / best(lambda: for_each_block(copy, source.size, block), at_least)
        was_read = source.nbytes / best(lambda: for_each_block(read, source.size, block), at_least)
    return {"copy": copied, "read": was_read, "best": max(copied, was_read)}


# ---- A whole fit, taken apart.


class Stopwatch:
    """Calls of a function, the seconds spent in it, and the floor of what it was asked for."""

    def __init__(self, floor) -> None:
        self.calls, self.seconds, self.floor_seconds = 0, 0.0, 0.0
        self._floor = floor

    def on(self, owner, name: str, *, counts: bool = True):
        """Patch that times ``owner.name``; one that does not count only adds its seconds."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def timed(*args, **options):
            begin = perf_counter()
            try:
                return original(*args, **options)
            finally:
                self.seconds += perf_counter() - begin
                if counts:
                    self.calls += 1
                    self.floor_seconds += self._floor(*args)

        return patch.object(owner, name, timed)


def take_apart(counts, K: int, floors) -> tuple[list[dict], dict]:
    """Rows of the first table, and the seconds of the fit."""
    product = Stopwatch(lambda C, V: floors.product(C, V.shape[1]))
    sweep = Stopwatch(lambda _, Y, n, *__: floors.sweep(Y, n))
    gradient = Stopwatch(lambda E, V, _: floors.curvature(E, V))
    pivots = Stopwatch(lambda X, *_: floors.pivots(X))
    least_squares = Stopwatch(lambda *_: 0.0)
    patches = [
        product.on(aw.CooccurrenceOperator, "__matmul__"),
        sweep.on(SparseCorrection, "__init__"),
        sweep.on(SparseCorrection, "times", counts=False),
        sweep.on(TiledCorrection, "times", counts=False),
        gradient.on(SparseCorrection, "curvature"),
        gradient.on(TiledCorrection, "curvature"),
        pivots.on(select, "pivot_rows"),
        least_squares.on(recover, "simplex_least_squares"),
    ]
    with ExitStack() as stack:
        for each in patches:
            stack.enter_context(each)
        seconds, model, n_products = timed_fit(counts, K)
    parts = {
        "eigenpairs": {"products with C": product},
        "rectification": {"sweeps for E": sweep, "products of conjugate gradients": gradient},
        "topics": {"pivots": pivots, "least squares": least_squares},
    }
    rows = []
    for stage in STAGES:
        rows.append(row(TITLES.get(stage, stage), seconds[stage], share=seconds[stage] / seconds["whole"]))
        for name, watch in parts.get(stage, {}).items():
            share = watch.seconds / seconds["whole"]
            rows.append(row(f"- {name}", watch.seconds, watch.floor_seconds, share=share, calls=watch.calls))
    seconds["least_squares_us_a_word"] = 1e6 * least_squares.seconds / model.n_words
    return rows, {**seconds, "steps": model.provenance.n_iter, "products": n_products}


def row(title: str, seconds: float, floor: float = 0.0, **more) -> dict:
    """A row of a table; a floor of zero is none."""
    return {
        "title": title, "seconds": seconds, "floor": floor or None, "ratio": seconds / floor if floor else None, **more,
    }  # fmt: skip


class Floors:
    """Least seconds of each operation on this machine."""

    def __init__(self, rates: dict, bandwidth: float) -> None:
        self.rates, self.bandwidth = rates, bandwidth

    def product(self, C, n_columns: int, uses: int = 2) -> float:
        """Product of C with a block: memory, every count used so many times for eight columns."""
        passes = -(-n_columns // LANES)
        block = 2 * 8 * C.shape[0] * n_columns
        return (passes * uses * BYTES_A_COUNT * C._G.nnz + block) / self.bandwidth

    def sweep(self, Y, n: int, precision: str = "float32", products: int = 1) -> float:
        """Matrix products of the checked rows with all."""
        return products * 2.0 * n * Y.shape[0] * Y.shape[1] / self.rates[precision]["all"]

    def curvature(self, E, V) -> float:
        """Product of the conjugate gradients: the larger of its operations and its memory."""
        pairs = E.nnz // 2 if isinstance(E, SparseCorrection) else 0
        return max(8.0 * V.shape[1] * pairs / self.rates["float32"]["all"], 3 * V.nbytes / self.bandwidth)

    def pivots(self, X) -> float:
        """One look at every row."""
        return X.nbytes / self.bandwidth


# ---- Single operations.


def single_operations(counts, K: int, floors, repeat: int) -> list[dict]:
    """Rows of the second table."""

    def timed(function) -> float:
        return median(seconds_of(function) for _ in range(repeat))

    operator = aw.CooccurrenceOperator(counts)
    V = np.random.default_rng(0).standard_normal((operator.shape[0], LANES))
    seconds = timed(lambda: operator @ V)
    rows = [
        row(f"product of C with {LANES} columns", seconds, floors.product(operator, LANES, uses), against=against)
        for uses, against in ((2, "memory, counts twice"), (1, "memory, counts once"))
    ]
    pairs = starting_eigenpairs(operator, K)
    n = min(operator.shape[0], 10 * K + 1000)
    for moment, options in {"1 step": {"max_iter": 1}, "10 steps": {"max_iter": 10}, "the last step": {}}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            Y = aw.rectify_enn((pairs.vectors, pairs.values), K, **options).Y
        rows += after(moment, Y, n, floors, timed)
    return rows


def after(moment: str, Y, n: int, floors, timed) -> list[dict]:
    """A sweep and a product of conjugate gradients at one Y."""
    with one_library_thread():  # as in rectify_enn
        violation = CorrectedOperator(Y, n).violation()
        point = Point(Y, n)
        ordered, V = point._Y, point._V
        direction = point._L / max(float(np.abs(point._L).max()), np.finfo(np.float32).tiny)
        E = correction_of(ordered, n)
        sweep = timed(lambda: correction_of(ordered, n).times(V))
        gradient = timed(lambda: E.curvature(V, direction))
    form = "by tiles" if isinstance(E, TiledCorrection) else "pair by pair"
    filled = E.nnz / (n * (2 * Y.shape[0] - n)) if isinstance(E, SparseCorrection) else None
    more = {"moment": moment, "violation": violation, "filled": filled, "form": form}
    against = {
        "one product, single precision": floors.sweep(Y, n),
        "three products, single precision": floors.sweep(Y, n, products=3),
        "three products, double precision": floors.sweep(Y, n, "float64", 3),
    }
    title = f"sweep after {moment}, {form}" + ("" if filled is None else f", {100 * filled:.2g} % negative")
    rows = [row(title, sweep, floor, against=name, **more) for name, floor in against.items()]
    title = f"product of conjugate gradients after {moment}"
    return [*rows, row(title, gradient, floors.curvature(E, V), against="operations or memory", **more)]


# ---- The tables.


def measure(data, name: str, n_words: int | None, K: int, repeat: int, quick: bool) -> dict:
    counts = real_corpus(data, name).prune(n_words=n_words).counts
    N = counts.shape[1]
    at_least = 0.1 if quick else 1.0
    rates = gemm_rates(K, min(N, 10 * K + 1000), at_least)
    memory = bandwidth(at_least, 128 if quick else 1024)
    floors = Floors(rates, memory["best"])
    fit_rows, seconds = take_apart(counts, K, floors)
    return {
        "corpus": name, "words": N, "counts": counts.nnz, "K": K, "rates": rates, "bandwidth": memory, "fit": seconds,
        "stages": fit_rows, "operations": single_operations(counts, K, floors, repeat),
    }  # fmt: skip


def markdown(records: list[dict]) -> str:
    return "\n".join(
        text for record in records for text in (described(record), *map(problem_markdown, record["problems"]))
    )


def problem_markdown(problem: dict) -> str:
    rates, memory, fit = problem["rates"], problem["bandwidth"], problem["fit"]
    speeds = "; ".join(
        f"{name} {rate['one'] / 1e9:.0f} Gflop/s on one core, {rate['ours'] / 1e9:.0f} on all by our threads, "
        f"{rate['library'] / 1e9:.0f} by the library's"
        for name, rate in rates.items()
    )
    stages = [
        [r["title"], str(r.get("calls", "")), duration(r["seconds"]), duration(r["floor"]), number(r["ratio"]),
         f"{100 * r['share']:.1f} %"]
        for r in problem["stages"]
    ]  # fmt: skip
    operations = [
        [r["title"], duration(r["seconds"]), duration(r["floor"]), number(r["ratio"]), r["against"]]
        for r in problem["operations"]
    ]
    return "\n".join(
        [
            f"{problem['corpus']}, {problem['words']:,} words, {problem['counts']:,} counts, K {problem['K']}: "
            f"{fit['whole']:.2f} s, {fit['products']} products with C, {fit['steps']} steps of ENN, least squares "
            f"{fit['least_squares_us_a_word']:.1f} microseconds a word. Matrix products: {speeds}. Memory: "
            f"{memory['copy'] / 1e9:.1f} GB/s copying, {memory['read'] / 1e9:.1f} reading.\n",
            table(["stage", "calls", "seconds", "floor", "ratio", "share of the fit"], stages),
            table(["operation", "seconds", "floor", "ratio", "floor of"], operations),
        ]
    )


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.3f}" if seconds >= 1e-2 else f"{1e3 * seconds:.3f} ms"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--large", action="store_true", help="also imdb100k with all words and 100 topics")
    parser.add_argument("--repeat", type=int, default=5, help="times each single operation is timed")
    parser.add_argument("--quick", action="store_true", help="nips12 with 1,000 words and 10 topics only")
    options = parser.parse_args()
    problems = PROBLEMS["quick" if options.quick else "small"] + (PROBLEMS["large"] if options.large else [])
    timed_fit(warm_up_counts(), 3)
    record = {**circumstances(), "commit": commit(), "problems": []}
    for name, n_words, K in problems:
        record["problems"].append(measure(options.data, name, n_words, K, options.repeat, options.quick))
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

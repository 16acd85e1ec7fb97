"""What each part of the fast ENN is worth: ways to iterate against each other, and its pieces switched off one by one.

    python benchmarks/ablation.py [--quick] [--part ways|pieces|operations|all] [--reference-steps 3000] [--limit 600]
                                  [--repeat 3] [--cache FOLDER] [--data ../shared/data] [--output docs/tables/ablation]

Both tables measure relative Frobenius distances from a long run of the plain iteration (--reference-steps warm-started
steps, relaxation 1); how far that run still moved in its second half says how well it is known itself.

Ways (nips12, 12,000 words, 100 topics): steps and seconds until a way is as near to the long run as the default ends.
All start from the same eigenpairs. A way stops there, when its violation is at most the default's tolerance, after as
many steps as the long run has, or after --limit seconds; then the seconds are a lower bound, nothing is extrapolated.
Measuring is not timed; the default, which the others are measured by, is the median of --repeat runs. "Lanczos" is
what one would write from the paper with SciPy: a sparse E and eigsh, to its default tolerance, at every step, with one
thread of the linear algebra library or all, whichever makes its first step faster.

Pieces (nips12, 5,000 words, 50 topics): the default with one piece changed; median seconds of --repeat runs of ENN.

Operations (imdb100k, 98,217 words, 100 topics): the three that such a fit consists of, after the plain steps, each beside
the other ways that were tried (other_operations.py); median seconds of --repeat calls.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
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
from other_operations import compare_operations, plain_steps
from scipy.sparse.linalg import LinearOperator, eigsh

import anchorwords as aw
from anchorwords.exceptions import ConvergenceWarning
from anchorwords.kernels.tiled import TiledCorrection
from anchorwords.linalg.factored import factored_distance
from anchorwords.linalg.parallel import limited_threads, one_library_thread
from anchorwords.metrics.matching import match_topics
from anchorwords.rectify import enn, tangent
from anchorwords.rectify.correction import CorrectedOperator
from anchorwords.rectify.start import starting_eigenpairs

WAYS_PROBLEM, PIECES_PROBLEM, QUICK_PROBLEM = ("nips12", 12_000, 100), ("nips12", 5_000, 50), ("nips12", 1_000, 10)
OPERATIONS_PROBLEM = ("imdb100k", None, 100)
TOL = 1e-8
# Distances are measured after each of the first steps, then after every so many.
EACH, EVERY = 30, 5
TILE_ROWS = 128


class Problem:
    """Counts, their starting eigenpairs and the long plain run from them."""

    def __init__(self, options, name: str, n_words: int, K: int) -> None:
        counts = real_corpus(options.data, name).prune(n_words=n_words).counts
        self.name, self.K = name, K
        self.operator = aw.CooccurrenceOperator(counts)
        self.words = self.operator.shape[0]
        self.n_rows = min(self.words, 10 * K + 1000)
        pairs = starting_eigenpairs(self.operator, K)
        self.start = (pairs.vectors, pairs.values)
        self.reference, self.moved = self._long_run(options.reference_steps, options.cache)

    def first(self):
        """Y before the first step."""
        return enn.compression(*self.start)

    def _long_run(self, n_steps: int, cache: Path | None):
        """Y after the plain steps, and how far the second half of them moved it."""
        path = cache and cache / f"{self.name}-{self.words}-{self.K}-{n_steps}.npz"
        if path and path.is_file():
            stored = np.load(path)
            return stored["Y"], float(stored["moved"])
        steps = package_steps(self, 1.0, 1e-300)
        with one_library_thread():
            for t in range(n_steps):
                Y, _ = next(steps)
                if t + 1 == n_steps // 2:
                    halfway = Y
        moved = factored_distance(halfway, Y)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez(path, Y=Y, moved=moved)
        return Y, moved

    def described(self) -> dict:
        """Its sizes, and what is known of the long run."""
        return {
            "corpus": self.name, "words": self.words, "K": self.K, "reference_moved": self.moved,
            "reference_violation": self.violation(self.reference),
        }  # fmt: skip

    def violation(self, Y) -> float:
        """What the correction would still change, by its definition and in double precision."""
        return CorrectedOperator(Y, self.n_rows).violation()


# ---- Ways: generators of Y and the violation, which is that of the Y before or inf.


def package_steps(problem: Problem, relaxation, tol: float):
    """Steps of the package; tol=0 solves every eigenproblem exactly."""
    step, state = enn._Step(problem.n_rows, relaxation, tol, None), enn._State(problem.first())
    for t in count():
        state, report = step(state, t)
        yield state.Y, report.violation


def lanczos_steps(problem: Problem):
    """Algorithm 3 with SciPy's Lanczos iteration from scratch at every step."""
    Y, N, K = problem.first(), problem.words, problem.K
    v0 = np.random.default_rng(0).standard_normal(N)
    while True:
        E = sparse_correction(Y, problem.n_rows)
        sums = Y.sum(axis=0)
        r = (1.0 - sums @ sums - E.sum()) / N**2

        def times(x, Y=Y, E=E, r=r):
            return Y @ (Y.T @ x) + E @ x + r * x.sum()

        values, vectors = eigsh(LinearOperator((N, N), times, dtype=np.float64), K, which="LA", v0=v0)
        Y = vectors * np.sqrt(np.maximum(values, 0.0))
        yield Y, np.inf


def sparse_correction(Y, n_rows: int):
    """E as CSR: the negative part on the rows I of largest norm and, by symmetry, on columns I."""
    checked = np.argsort(-np.einsum("ij,ij->i", Y, Y), kind="stable")[:n_rows]
    N = Y.shape[0]
    tiles = [
        sp.csr_array(np.maximum(-(Y[checked[at : at + TILE_ROWS]] @ Y.T), 0.0)) for at in range(0, n_rows, TILE_ROWS)
    ]
    place = sp.csr_array((np.ones(n_rows), (checked, np.arange(n_rows))), shape=(N, n_rows))
    rows = place @ sp.vstack(tiles, format="csr")
    outside = np.ones(N)
    outside[checked] = 0.0
    return sp.csr_array(rows + (rows @ sp.diags_array(outside)).T)


# The first sets the goal for the others.
WAYS = {
    "default: Newton steps": partial(package_steps, relaxation="newton", tol=TOL),
    "plain, one warm-started product a step": partial(package_steps, relaxation=1.0, tol=TOL),
    "over-relaxed by 1.8": partial(package_steps, relaxation=1.8, tol=TOL),
    "plain, exact eigenproblems": partial(package_steps, relaxation=1.0, tol=0.0),
    "plain, Lanczos at every step": lanczos_steps,
}


def library_threads(problem: Problem, way) -> int | None:
    """Threads of the linear algebra library: one where the package brings its own, else what is faster (None: all)."""
    if way is not lanczos_steps:
        return 1

    def first_step(threads: int | None) -> float:
        with limited_threads(threads):
            return seconds_of(partial(next, lanczos_steps(problem)))

    return min((1, None), key=first_step)


def follow(problem: Problem, steps, threads: int | None, goal: float, max_steps: int, limit: float) -> dict:
    """Go one way until it is as near to the long run as the goal, has converged, or has taken too long."""
    seconds, curve = 0.0, []
    for t in range(1, max_steps + 1):
        with limited_threads(threads):
            begin = perf_counter()
            Y, violation = next(steps)
            seconds += perf_counter() - begin
        over = violation <= TOL or t == max_steps or seconds > limit
        if over or t <= EACH or t % EVERY == 0:
            distance = factored_distance(Y, problem.reference)
            curve.append({"step": t, "seconds": seconds, "distance": distance, "violation_before": violation})
            if over or distance <= goal:
                break
    near = curve[-1]["distance"] <= goal
    curve = [{**point, "violation_before": finite(point["violation_before"])} for point in curve]
    return {
        "steps": t, "seconds": seconds, "distance": distance, "violation": problem.violation(Y), "reached": near,
        "curve": curve,
    }  # fmt: skip


def finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def compare_ways(problem: Problem, options) -> list[dict]:
    rows, goal = [], 0.0
    for title, way in WAYS.items():
        threads = library_threads(problem, way)
        runs = [
            follow(problem, way(problem), threads, goal, options.reference_steps, options.limit)
            for _ in range(1 if rows else options.repeat)
        ]
        row = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
        if not rows:
            goal, row["reached"] = row["distance"], True
        rows.append({"way": title, "library_threads": threads, **row})
        rows[-1]["factor"] = row["seconds"] / rows[0]["seconds"]
        show(f"{title}: {row['steps']} steps, {row['seconds']:.2f} s, distance {row['distance']:.1e}")
    return rows


# ---- Pieces.


def tiled(Y, n_checked: int, n_jobs=None):  # noqa: ARG001
    """In place of correction_of: tiles always (but in the finite end, which needs the pairs)."""
    return TiledCorrection(Y, n_checked)


# Title, what is patched, and options of rectify_enn.
PIECES = [
    ("default", [], {}),
    ("Newton steps to the end, no finite one", [(enn, "_LEAP", 0.0)], {"max_iter": 300}),
    ("moves not stretched", [(tangent, "_STRETCH", 1.0)], {}),
    *((f"{n} plain steps first", [(enn, "_BURN_IN", n)], {}) for n in (0, 10, 30, 50)),
    ("one thread", [], {"n_jobs": 1}),
    ("tiles instead of a sparse E", [(tangent, "correction_of", tiled)], {}),
]


def compare_pieces(problem: Problem, options) -> list[dict]:
    there = aw.low_rank_anchor_words(problem.reference)
    starts = [
        (title, lambda block=block: starting_eigenpairs(problem.operator, problem.K, block=block))
        for title, block in (("default", None), ("start by wide blocks", problem.K + problem.K // 4))
    ]
    start_seconds = {title: median(seconds_of(start) for _ in range(options.repeat)) for title, start in starts}
    wide = starts[-1][1]()
    pieces = [(title, problem.start, patches, more) for title, patches, more in PIECES]
    pieces.append((starts[-1][0], (wide.vectors, wide.values), [], {}))
    rows, default = [], None
    for title, start, patches, more in pieces:
        seconds, result = run_patched(start, problem.K, patches, more, options.repeat)
        model = aw.low_rank_anchor_words(result.Y)
        default = default or model
        rows.append(
            {
                "piece": title, "start_seconds": start_seconds.get(title), "seconds": seconds, "steps": result.n_iter,
                "converged": result.converged, "violation": problem.violation(result.Y),
                "distance": factored_distance(result.Y, problem.reference),
                "anchors": len(set(model.anchors.tolist()) & set(there.anchors.tolist())),
                "mean_tv": float(match_topics(default.B, model.B).total_variation.mean()),
            }
        )  # fmt: skip
        show(f"{title}: {seconds:.2f} s, {result.n_iter} steps")
    return rows


def run_patched(start, K: int, patches, more: dict, repeat: int):
    """Median seconds of ENN with module constants changed, and the last result."""
    results = []
    with ExitStack() as stack:
        for owner, name, value in patches:
            stack.enter_context(patch.object(owner, name, value))
        seconds = median(seconds_of(lambda: results.append(aw.rectify_enn(start, K, **more))) for _ in range(repeat))
    return seconds, results[-1]


# ---- Operations.


def compare_in_detail(options) -> dict:
    name, n_words, K = QUICK_PROBLEM if options.quick else OPERATIONS_PROBLEM
    corpus = real_corpus(options.data, name)
    operator = aw.CooccurrenceOperator(corpus.prune(n_words=n_words).counts if n_words else corpus.counts)
    pairs = starting_eigenpairs(operator, K)
    n_rows = min(operator.shape[0], 10 * K + 1000)
    Y = plain_steps(enn.compression(pairs.vectors, pairs.values), n_rows)
    rows = compare_operations(operator, Y, n_rows, options.repeat)
    return {"corpus": name, "words": operator.shape[0], "K": K, "rows": rows}


# ---- The tables.


def show(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        text.append(described(record))
        if "ways" in record:
            text += [heading(record["ways"], record), ways_table(record["ways"]["rows"])]
        if "pieces" in record:
            text += [heading(record["pieces"], record), pieces_table(record["pieces"])]
        if "operations" in record:
            part = record["operations"]
            text += [f"{part['corpus']}, {part['words']:,} words, K {part['K']}.\n", operations_table(part["rows"])]
    return "\n".join(text)


def heading(part: dict, record: dict) -> str:
    return (
        f"{part['corpus']}, {part['words']:,} words, K {part['K']}. Distances are from {record['reference_steps']:,} plain "
        f"steps, of which the second half moved by {part['reference_moved']:.1e}; their violation is "
        f"{part['reference_violation']:.1e}.\n"
    )


def ways_table(rows: list[dict]) -> str:
    columns = [
        "way", f"steps to distance {rows[0]['distance']:.1e}", "seconds", "times the default", "distance at the end",
        "violation at the end",
    ]  # fmt: skip
    lines = []
    for row in rows:
        more = "" if row["reached"] else "> "
        lines.append(
            [
                row["way"], f"{more}{row['steps']}", f"{more}{row['seconds']:.2f}", f"{more}{row['factor']:.1f}",
                f"{row['distance']:.1e}", f"{row['violation']:.1e}",
            ]
        )  # fmt: skip
    return table(columns, lines)


def pieces_table(part: dict) -> str:
    columns = [
        "piece changed", "start s", "ENN s", "steps", "violation", "distance", "anchors in common", "mean TV to default",
    ]  # fmt: skip
    lines = [
        [
            r["piece"], "" if r["start_seconds"] is None else f"{r['start_seconds']:.2f}", f"{r['seconds']:.2f}",
            f"{r['steps']}{'' if r['converged'] else ', not converged'}", f"{r['violation']:.1e}", f"{r['distance']:.1e}",
            f"{r['anchors']} of {part['K']}", f"{r['mean_tv']:.4f}",
        ]
        for r in part["rows"]
    ]  # fmt: skip
    return table(columns, lines)


def operations_table(rows: list[dict]) -> str:
    lines = [
        [
            r["operation"], r["way"], f"{r['seconds']:.3f}" if r["difference"] is not None else "-",
            f"{r['factor']:.2f}" if r["difference"] is not None else "-",
            "-" if r["difference"] is None else f"{r['difference']:.0e}",
        ]
        for r in rows
    ]  # fmt: skip
    return table(["operation", "way", "seconds", "times the default", "relative difference"], lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=["ways", "pieces", "operations", "all"], default="all")
    parser.add_argument("--reference-steps", type=int, help="plain steps of the long run; default 3000")
    parser.add_argument("--limit", type=float, help="seconds a way may take; default 600")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the median is taken")
    parser.add_argument("--cache", type=Path, help="folder that keeps the long runs")
    parser.add_argument("--quick", action="store_true", help="nips12, 1,000 words, 10 topics, a long run of 200 steps")
    options = parser.parse_args()
    options.reference_steps = options.reference_steps or (200 if options.quick else 3000)
    options.limit = options.limit or (2.0 if options.quick else 600.0)
    if options.reference_steps < 2:
        parser.error("--reference-steps must be at least 2")
    warnings.simplefilter("ignore", ConvergenceWarning)  # some pieces cannot do without each other: that is the point
    record = {
        **circumstances(), "commit": commit(), "reference_steps": options.reference_steps, "limit": options.limit,
        "repeat": options.repeat,
    }  # fmt: skip
    aw.AnchorTopicModel(3).fit(warm_up_counts())
    parts = {"ways": (WAYS_PROBLEM, compare_ways), "pieces": (PIECES_PROBLEM, compare_pieces)}
    for part in [part for part in parts if options.part in (part, "all")]:
        where, compare = parts[part]
        problem = Problem(options, *(QUICK_PROBLEM if options.quick else where))
        record[part] = {**problem.described(), "rows": compare(problem, options)}
    if options.part in ("operations", "all"):
        record["operations"] = compare_in_detail(options)
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

"""Check that a refactoring changes neither the topics nor the time and memory of a fit.

    python benchmarks/before_after.py --before REV_OR_PATH [--quick] [--parts topics,stages] [--corpora nips12,kos,...]
                                      [--configurations nips12-paper,...] [--repeats 5] [--data ../shared/data]
                                      [--write [--append]]

Compare the source tree of an earlier version ("before") with the checkout that contains this script ("after"). Every
measurement runs in a new process that imports only one of the two, and the trees take turns, so that a change in the
load of the machine affects both.

Topics: fit the paper's model and the "readers" preset with 20 topics on the best 5,000 words of each corpus (all words
of ml1m), and once more on a corpus folder that is read block by block. Topics are compared in their order, without
matching. Reading and pruning are done once, by the earlier version, and are not compared.

Stages: time from the first progress report of a stage to the first report of the next one. Statistics and eigenpairs count
as one stage, because versions differ in when they first report the eigenpairs: at their start, or after some products.
Work before a first report counts towards the preceding stage. Each process fits a small corpus first, so that loading
compiled kernels is not part of a stage. The first run of each tree is discarded. The table also has the ratio of CPU
time, over all threads, which depends less on what else the machine does. Peak memory comes from separate processes that
do nothing but load the corpus and fit. The topics of these fits are matched and compared, too.

The exit status is 1 if the total variation of a topic exceeds 1e-10, if a stage of at least 0.2 s or the whole fit is
more than 3 % slower, if only one version reports a stage, or if peak memory grows by more than 3 %. To see how much two
equal trees differ on your machine, run the script with its own checkout as --before.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common import (
    arguments,
    circumstances,
    commit,
    described,
    peak_mb,
    real_corpus,
    table,
    warm_up_counts,
    write_tables,
)

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("topics", "stages")
# Stages that are timed together.
TOGETHER = dict.fromkeys(("statistics", "eigenpairs"), "statistics and eigenpairs")
PRESETS = ("paper", "readers")
# Number of words by corpus; None is the whole vocabulary.
TOPIC_CORPORA = {"nips12": 5000, "kos": 5000, "ml1m": None, "20ng": 5000, "spotify": 5000}
TOPICS = 20
# Corpus, number of words, number of topics. kos is for trying out the script, spotify for work on the rectification; they
# are only measured on request.
STAGE_PROBLEMS = {
    "nips12": ("nips12", 5000, 50),
    "imdb100k": ("imdb100k", None, 100),
    "kos": ("kos", 5000, 20),
    "spotify50": ("spotify", None, 50),
    "spotify100": ("spotify", None, 100),
}
ON_REQUEST = ("kos", "spotify50", "spotify100")
CONFIGURATIONS = [f"{name}-{preset}" for name in STAGE_PROBLEMS for preset in PRESETS]

LARGEST_VARIATION = 1e-10
LARGEST_RATIO = 1.03
SHORTEST_STAGE = 0.2  # seconds; 3 % of less than this is within the noise of a clock on a shared machine
MEMORY_RUNS = 2  # the smaller peak counts: memory allocators add a little from run to run


# ---- In the child process: only here is anchorwords imported.


def child(task: dict) -> dict:
    """Do a task with the package of one tree."""
    import anchorwords as aw

    if not Path(aw.__file__).resolve().is_relative_to(Path(task["source"]).resolve()):
        sys.exit(f"anchorwords was imported from {aw.__file__} instead of {task['source']}.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(task) if task["do"] == "read" else fit(task)


def read(task: dict) -> dict:
    """Read a corpus and cache it in a form that loads quickly."""
    import scipy.sparse as sp

    corpus = real_corpus(Path(task["data"]), task["corpus"])
    if task["words"] is not None:
        corpus = corpus.prune(n_words=task["words"])
    sp.save_npz(task["cache"] + ".npz", corpus.counts, compressed=False)
    Path(task["cache"] + ".json").write_text(json.dumps(corpus.vocabulary))
    return {"documents": corpus.n_docs, "words": corpus.n_words}


def fit(task: dict) -> dict:
    """Fit a cached corpus: seconds of the stages, peak memory, and the topics as files."""
    import numpy as np
    import scipy.sparse as sp

    import anchorwords as aw

    if task.get("warm_up"):
        estimator(3, task["preset"]).fit(warm_up_counts())
    corpus = aw.Corpus(sp.load_npz(task["cache"] + ".npz"), json.loads(Path(task["cache"] + ".json").read_text()))
    with tempfile.TemporaryDirectory() as folder:
        if task.get("streamed"):
            corpus = streamed(corpus, Path(folder) / "corpus")
        loaded_mb = peak_mb()
        first_reports: dict[str, dict] = {}
        begin = clocks()
        model = estimator(task["topics"], task["preset"]).fit(
            corpus, progress=lambda stage, _: first_reports.setdefault(TOGETHER.get(stage, stage), clocks())
        )
        end = clocks()
        fit_mb = peak_mb()
    if "results" in task:
        for name in ("components_", "topic_correlation_", "anchors_"):
            np.save(Path(task["results"]) / f"{name}.npy", getattr(model, name))
    ends = [*list(first_reports.values())[1:], end]
    spans = dict(zip(first_reports, zip(first_reports.values(), ends, strict=True), strict=True))
    spans["whole fit"] = (begin, end)
    taken = {clock: {stage: b[clock] - a[clock] for stage, (a, b) in spans.items()} for clock in begin}
    return taken | {"loaded_mb": loaded_mb, "peak_mb": fit_mb}


def clocks() -> dict[str, float]:
    return {"seconds": time.perf_counter(), "CPU seconds": time.process_time()}


def estimator(K: int, preset: str):
    import anchorwords as aw

    if preset == "paper":
        return aw.AnchorTopicModel(K, random_state=0)
    return aw.AnchorTopicModel.from_preset(preset, K, random_state=0)


def streamed(corpus, folder: Path):
    """The same corpus opened from a folder, so that a fit reads it block by block although it is small."""
    import anchorwords as aw

    corpus.save(folder)
    stored = aw.open_corpus(folder)
    aw.AnchorTopicModel  # noqa: B018 - names are lazy: this loads what a fit needs
    # Small corpora on disk are loaded into memory. The module with that limit differs between versions.
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "anchorwords"]
    holders = [module for module in modules if "_HELD" in vars(module)]
    if not holders:
        sys.exit("no module of anchorwords defines _HELD, the number of counts up to which a corpus is loaded.")
    for module in holders:
        module._HELD = 0

    def refuse(_):
        sys.exit("the fit loaded the counts of a corpus that it was to read block by block.")

    type(stored).counts = property(refuse)
    return stored


# ---- In the parent process.


@contextmanager
def source_tree(before: str) -> Iterator[Path]:
    """A checkout of the version before: the given folder, or a temporary worktree of the given revision."""
    if (Path(before) / "src" / "anchorwords").is_dir():
        yield Path(before).resolve()
        return
    git = ["git", "-C", str(ROOT)]
    known = subprocess.run([*git, "rev-parse", "--verify", "--quiet", f"{before}^{{commit}}"], capture_output=True)
    if known.returncode != 0:
        sys.exit(f"{before} is neither a checkout of anchorwords nor a git revision.")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "before"
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(tree), before], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(tree)], check=True)


def commit_of(tree: Path) -> str | None:
    command = ["git", "-C", str(tree), "describe", "--always", "--dirty", "--exclude", "*"]
    process = subprocess.run(command, capture_output=True, text=True)
    return process.stdout.strip() if process.returncode == 0 else None


class Bench:
    """Runs tasks in child processes, with corpora cached in a temporary folder."""

    def __init__(self, trees: dict[str, Path], data: Path, folder: Path) -> None:
        self.trees, self._data, self._folder = trees, data, folder
        self._sizes: dict[Path, dict] = {}

    def run(self, version: str, task: dict) -> dict:
        """Do a task with the package of one version, in a process of its own."""
        source = self.trees[version] / "src"
        path = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, str(Path(__file__).resolve()), "--child", json.dumps(task | {"source": str(source)})]
        process = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
        if process.returncode != 0:
            sys.exit(f"A run with the version {version} failed: {task}\n{process.stderr}")
        return json.loads(process.stdout.splitlines()[-1])

    def corpus(self, name: str, words: int | None) -> tuple[str, dict]:
        """Where a corpus is cached, and its size; it is read when it is first needed."""
        cache = self._folder / f"{name}-{words or 'all'}"
        if cache not in self._sizes:
            task = {"do": "read", "corpus": name, "words": words, "data": str(self._data), "cache": str(cache)}
            self._sizes[cache] = self.run("before", task)
        return str(cache), self._sizes[cache]

    def results(self, version: str, task: dict) -> dict:
        """Arrays of the topics of a fit."""
        import numpy as np

        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            self.run(version, task | {"results": folder})
            return {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}


def compare_topics(bench: Bench, name: str) -> list[dict]:
    """One row per fit of a corpus."""
    cache, size = bench.corpus(name, TOPIC_CORPORA[name])
    rows = []
    fits = [(preset, False) for preset in PRESETS]
    if name == "kos":
        fits.append(("readers", True))  # this preset also streams the sweeps of the refinement
    for preset, is_streamed in fits:
        task = {"do": "fit", "cache": cache, "topics": TOPICS, "preset": preset, "streamed": is_streamed}
        row = {"corpus": name, **size, "K": TOPICS, "preset": preset, "streamed": is_streamed}
        row |= differences(*(bench.results(version, task) for version in ("before", "after")))
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return rows


def differences(before: dict, after: dict) -> dict:
    """Total variation of the topics, difference of their correlations, and whether anchors are the same."""
    import numpy as np

    B, A = ([result[name] for result in (before, after)] for name in ("components_", "topic_correlation_"))
    same_shape = B[0].shape == B[1].shape and A[0].shape == A[1].shape
    return {
        "total_variation": float(0.5 * np.abs(B[0] - B[1]).sum(axis=1).max()) if same_shape else None,
        "correlation": float(np.abs(A[0] - A[1]).max()) if same_shape else None,
        "same_anchors": bool(np.array_equal(before["anchors_"], after["anchors_"])),
    }


def measure_stages(bench: Bench, configuration: str, repeats: int) -> dict:
    """Seconds of the stages and peak memory of both versions."""
    name, preset = configuration.rsplit("-", 1)
    corpus, words, K = STAGE_PROBLEMS[name]
    cache, size = bench.corpus(corpus, words)
    task = {"do": "fit", "cache": cache, "topics": K, "preset": preset}
    runs: dict[str, list[dict]] = {version: [] for version in bench.trees}
    for repeat in range(repeats):
        for version in bench.trees:
            found = bench.run(version, task | {"warm_up": True})
            print(f"{configuration}, run {repeat}, {version}: {found}", file=sys.stderr, flush=True)
            if repeat > 0:
                runs[version].append({clock: found[clock] for clock in ("seconds", "CPU seconds")})
    peaks: dict[str, list[dict]] = {version: [] for version in bench.trees}
    for _ in range(MEMORY_RUNS):
        for version in bench.trees:
            found = bench.run(version, task)
            peaks[version].append({key: found[key] for key in ("loaded_mb", "peak_mb")})
    print(f"{configuration}, memory: {peaks}", file=sys.stderr, flush=True)
    agreement = agreement_of(*(bench.results(version, task) for version in bench.trees))
    print(f"{configuration}, agreement: {agreement}", file=sys.stderr, flush=True)
    smallest = {version: min(found, key=lambda peak: peak["peak_mb"]) for version, found in peaks.items()}
    reported = [{stage for taken in found for stage in taken["seconds"]} for found in runs.values()]
    return {
        "configuration": configuration, **size, "K": K, "runs": runs, "stages": compared_stages(runs),
        "missing": sorted(reported[0] ^ reported[1]), "agreement": agreement,
        "memory": smallest | {"ratio": smallest["after"]["peak_mb"] / smallest["before"]["peak_mb"]},
    }  # fmt: skip


def agreement_of(before: dict, after: dict) -> dict:
    """Total variation of matched topics, on average and at most, and the anchors that both have."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    B, other = before["components_"], after["components_"]
    variation = np.array([0.5 * np.abs(other - topic).sum(axis=1) for topic in B])
    matched = variation[linear_sum_assignment(variation)]
    shared = len(set(np.ravel(before["anchors_"]).tolist()) & set(np.ravel(after["anchors_"]).tolist()))
    return {"mean": float(matched.mean()), "largest": float(matched.max()), "anchors": shared}


def compared_stages(runs: dict[str, list[dict]]) -> dict[str, dict]:
    """Minimum and median seconds of each stage, and the ratio of the minima; a missing stage takes no time."""
    stages = dict.fromkeys(stage for found in runs.values() for taken in found for stage in taken["seconds"])
    stages.pop("whole fit", None)  # shown last
    compared = {}
    for stage in [*stages, "whole fit"]:
        row: dict = {}
        for version, found in runs.items():
            seconds, cpu = ([taken[clock].get(stage, 0.0) for taken in found] for clock in ("seconds", "CPU seconds"))
            row[version] = {"minimum": min(seconds), "median": statistics.median(seconds), "CPU minimum": min(cpu)}
        compared[stage] = row | {"ratio": ratio_of(row, "minimum"), "CPU ratio": ratio_of(row, "CPU minimum")}
    return compared


def ratio_of(row: dict, key: str) -> float | None:
    """After to before; None where before is zero."""
    return row["after"][key] / row["before"][key] if row["before"][key] > 0.0 else None


def failures(record: dict) -> list[str]:
    """A sentence for each result outside the limits."""
    found = []
    for row in record["topics"]:
        what = f"{row['corpus']}, {row['preset']}{', streamed' if row['streamed'] else ''}"
        if row["total_variation"] is None:
            found.append(f"{what}: the topics have different shapes.")
        elif not row["total_variation"] <= LARGEST_VARIATION:
            found.append(f"{what}: the total variation is {row['total_variation']:.1e}.")
    for row in record["stages"]:
        if row["missing"]:
            found.append(f"{row['configuration']}: only one version reports {', '.join(row['missing'])}.")
        for stage, seconds in row["stages"].items():
            before, after = (seconds[version]["minimum"] for version in ("before", "after"))
            if max(before, after) >= SHORTEST_STAGE and after > LARGEST_RATIO * before:
                found.append(f"{row['configuration']}: {stage} takes {after:.3f} s instead of {before:.3f} s.")
        if row["memory"]["ratio"] > LARGEST_RATIO:
            before, after = (row["memory"][version]["peak_mb"] for version in ("before", "after"))
            found.append(f"{row['configuration']}: the fit needs {after:,.0f} MB instead of {before:,.0f} MB.")
    return found


def markdown(records: list[dict]) -> str:
    parts = []
    for record in records:
        parts.append(f"Before: {record['before']}, after: {record['after']}. {described(record)}")
        if record["topics"]:
            columns = ["topics", "documents", "words", "total variation", "difference of A", "same anchors"]
            parts.append(table(columns, [topic_line(row) for row in record["topics"]]))
        if record["stages"]:
            columns = [
                "before: minimum s",
                "median s",
                "after: minimum s",
                "median s ",
                "ratio of minima",
                "of CPU time",
            ]
            parts += [f"Each version ran {record['repeats']} times; the first run is discarded.\n"]
            parts += [table([row["configuration"], *columns], stage_lines(row)) for row in record["stages"]]
            columns = ["peak memory", "before: MB", "loaded MB", "after: MB", "loaded MB ", "ratio"]
            parts.append('"Loaded" is the peak before the fit starts.\n')
            parts.append(table(columns, [memory_line(row) for row in record["stages"]]))
            compared = [row for row in record["stages"] if "agreement" in row]
            if compared:
                columns = ["matched topics", "mean total variation", "largest", "anchors in common"]
                parts.append(table(columns, [agreement_line(row) for row in compared]))
        if record["failures"]:
            parts.append(
                "\n".join(["Outside the limits:", "", *(f"- {sentence}" for sentence in record["failures"]), ""])
            )
        else:
            parts.append("Everything is within the limits.\n")
    return "\n".join(parts).rstrip() + "\n"


def topic_line(row: dict) -> list[str]:
    name = f"{row['corpus']}, K {row['K']}, {row['preset']}{', streamed' if row['streamed'] else ''}"
    numbers = [row["total_variation"], row["correlation"]]
    shown = ["different shape" if number is None else f"{number:.1e}" for number in numbers]
    return [name, f"{row['documents']:,}", f"{row['words']:,}", *shown, "yes" if row["same_anchors"] else "no"]


def stage_lines(row: dict) -> list[list[str]]:
    lines = []
    for stage, seconds in row["stages"].items():
        numbers = [seconds[version][key] for version in ("before", "after") for key in ("minimum", "median")]
        ratios = ["-" if seconds[key] is None else f"{seconds[key]:.3f}" for key in ("ratio", "CPU ratio")]
        lines.append([stage, *(f"{number:.3f}" for number in numbers), *ratios])
    return lines


def memory_line(row: dict) -> list[str]:
    memory = row["memory"]
    numbers = [memory[version][key] for version in ("before", "after") for key in ("peak_mb", "loaded_mb")]
    return [row["configuration"], *(f"{number:,.0f}" for number in numbers), f"{memory['ratio']:.3f}"]


def agreement_line(row: dict) -> list[str]:
    found = row["agreement"]
    return [
        row["configuration"],
        f"{found['mean']:.1e}",
        f"{found['largest']:.1e}",
        f"{found['anchors']} of {row['K']}",
    ]


def chosen(given: str, known: list[str] | tuple[str, ...], option: str) -> list[str]:
    """The names in a comma-separated option."""
    names = [name for name in given.split(",") if name]
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"{option} does not know {', '.join(unknown)}: choose from {', '.join(known)}.")
    return names


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(json.loads(sys.argv[2]))))
        return
    parser = arguments(__doc__)
    parser.add_argument("--before", required=True, help="git revision or path of a checkout to compare with")
    parser.add_argument("--parts", default=",".join(PARTS), help="parts to run: topics, stages or both")
    parser.add_argument("--corpora", help="corpora whose topics are compared (default: all five)")
    parser.add_argument(
        "--configurations",
        help=f"fits to measure, from {', '.join(CONFIGURATIONS)} (default: not {', '.join(ON_REQUEST)})",
    )
    parser.add_argument("--repeats", type=int, help="runs per configuration and version, at least 2 (default: 5)")
    parser.add_argument("--quick", action="store_true", help="topics of kos and nips12, stages of nips12, 3 repeats")
    parser.add_argument("--write", action="store_true", help="write docs/tables/before_after.md and .json")
    parser.add_argument("--append", action="store_true", help="keep the earlier runs in the files that are written")
    options = parser.parse_args()

    quick_configurations = [name for name in CONFIGURATIONS if name.startswith("nips12-")]
    all_configurations = [name for name in CONFIGURATIONS if not name.startswith(ON_REQUEST)]
    corpora = options.corpora or ("kos,nips12" if options.quick else ",".join(TOPIC_CORPORA))
    fits = options.configurations or ",".join(quick_configurations if options.quick else all_configurations)
    repeats = options.repeats if options.repeats is not None else (3 if options.quick else 5)
    parts = chosen(options.parts, PARTS, "--parts")
    corpora = chosen(corpora, list(TOPIC_CORPORA), "--corpora") if "topics" in parts else []
    fits = chosen(fits, CONFIGURATIONS, "--configurations") if "stages" in parts else []
    if repeats < 2:
        sys.exit("--repeats must be at least 2, because the first run is discarded.")
    if not options.data.is_dir():
        print(f"Nothing was compared, because the folder of corpora {options.data} does not exist.")
        return
    if options.write and options.output is None:
        options.output = ROOT / "docs" / "tables" / "before_after"

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the temporary worktree is removed
    record: dict = circumstances()
    with source_tree(options.before) as before, tempfile.TemporaryDirectory() as folder:
        bench = Bench({"before": before, "after": ROOT}, options.data.resolve(), Path(folder))
        record |= {"before": commit_of(before), "after": commit(), "quick": options.quick, "repeats": repeats}
        record["topics"] = [row for name in corpora for row in compare_topics(bench, name)]
        record["stages"] = [measure_stages(bench, name, repeats) for name in fits]
    record["failures"] = failures(record)
    print(markdown([record]), end="")
    earlier = options.output.with_suffix(".json") if options.append and options.output else None
    records = json.loads(earlier.read_text()) if earlier and earlier.is_file() else []
    write_tables(options.output, [*records, record], markdown)
    sys.exit(1 if record["failures"] else 0)


if __name__ == "__main__":
    main()

"""Time, peak memory and quality beside other packages: the same counts, number of topics and cores for all.

    python benchmarks/peers.py [--quick] [--python PATH] [--corpus nips12] [--words 5000] [--topics 50] [--jobs 2]
                               [--systems anchorwords,sklearn-nmf] [--repeat 3] [--output docs/tables/peers]

Each system runs in a fresh Python process of its own; they take turns, --repeat times, so that what slows the machine
for a while slows all: anchorwords in this interpreter, the others in the one --python names (by default this one),
where a package that is missing makes a row "not installed". A process loads the counts, brings them into the form its
system wants, fits a tiny made-up corpus so that nothing is imported, compiled, read from a compiler's cache or started
(worker processes) later, and is then timed on the fit alone. Its largest resident memory is that of the whole process,
imports and counts included. The topics of all systems are judged here, by the same functions.
"""

from __future__ import annotations

import importlib.metadata
import json
import multiprocessing
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

from common import arguments, commit, machine, peak_mb, usable_cores, warm_up_counts, write_tables

# Nothing of anchorwords is imported up here: the peers' interpreter need not have it.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # fmt: skip
QUALITY = ("npmi", "diversity", "dissimilarity", "specificity", "approximation", "approximation_raw")


# ---- One system each: (counts, K, cores, seed, settings, clock) -> (topics K x N in any scale, extras).
# Only what stands inside `with clock` is timed. extras: "settings", all that was asked for; "A", correlations of topics
# as found; "listed", K x N, what the system ranks words by, if not by the topics; "worker_peak_mb", memory of the largest
# worker process; anything else is copied into the record.


class Clock:
    """Seconds spent inside ``with clock``."""

    seconds = 0.0

    def __enter__(self) -> None:
        self._begin = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._begin


def fit_anchorwords(counts, K, cores, seed, settings, clock):
    from anchorwords import AnchorTopicModel

    estimator = AnchorTopicModel(K, n_jobs=cores, random_state=seed, **settings)
    with clock:
        estimator.fit(counts)
    return estimator.components_, {
        "settings": estimator.get_params(),
        "A": estimator.model_.A * estimator.model_.A_raw_sum,
        "n_iter": estimator.n_iter_,
        "converged": estimator.converged_,
    }


def fit_readers(counts, K, cores, seed, settings, clock):
    from anchorwords import AnchorTopicModel

    estimator = AnchorTopicModel.from_preset("readers", K, n_jobs=cores, random_state=seed, **settings)
    with clock:
        estimator.fit(counts)
    extras = {"settings": estimator.get_params(), "converged": estimator.converged_}
    weights = getattr(estimator.model_, "keyword_weights", None)  # missing in earlier versions
    return estimator.components_, extras if weights is None else {**extras, "listed": weights.T}


def fit_anchortopics(counts, K, cores, seed, settings, clock):  # noqa: ARG001
    from anchortopics import OTFR

    model = OTFR(K, random_state=seed, **settings)
    asked = {name: value for name, value in vars(model).items() if not name.endswith("_")}
    with clock:
        model.fit(counts)
    return model.components_, {
        "settings": asked,
        "A": model.topic_correlation_,
        "n_iter": model.rectification_info_["n_iter"],
    }


def fit_sklearn_lda(counts, K, cores, seed, settings, clock):
    from sklearn.decomposition import LatentDirichletAllocation

    estimator = LatentDirichletAllocation(K, n_jobs=cores, random_state=seed, **settings)
    with clock:
        estimator.fit(counts)
    workers = [peak_mb(worker.pid) for worker in multiprocessing.active_children()]
    return estimator.components_, {
        "settings": estimator.get_params(),
        "n_iter": estimator.n_iter_,
        "worker_peak_mb": max(workers, default=0.0),
    }


def fit_sklearn_nmf(counts, K, cores, seed, settings, clock):  # noqa: ARG001
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfTransformer

    asked = dict(settings)
    tfidf = TfidfTransformer(sublinear_tf=asked.pop("sublinear_tf", False))
    estimator = NMF(K, random_state=seed, **asked)
    with clock:
        estimator.fit(tfidf.fit_transform(counts))
    return estimator.components_, {
        "settings": {**estimator.get_params(), "sublinear_tf": tfidf.sublinear_tf},
        "n_iter": estimator.n_iter_,
    }


def fit_gensim_lda(counts, K, cores, seed, settings, clock):
    from gensim.models import LdaMulticore

    bounds = counts.indptr.tolist()
    words, times = counts.indices.tolist(), counts.data.astype(int).tolist()
    documents = [list(zip(words[a:b], times[a:b], strict=True)) for a, b in pairwise(bounds)]
    # One process feeds the workers, so the package asks for one worker fewer than cores.
    asked = {"workers": max(1, cores - 1), "eval_every": None, **settings}
    with clock:
        model = LdaMulticore(
            documents, num_topics=K, id2word={i: str(i) for i in range(counts.shape[1])}, random_state=seed, **asked
        )
    return model.get_topics(), {
        "settings": {**asked, "chunksize": model.chunksize, "iterations": model.iterations},
        "worker_peak_mb": largest_ended_worker_mb(),
    }


def fit_tomotopy_lda(counts, K, cores, seed, settings, clock):
    import numpy as np
    import tomotopy

    asked = dict(settings)
    iterations = asked.pop("iterations")
    model = tomotopy.LDAModel(k=K, seed=seed, **asked)
    for m in range(counts.shape[0]):
        row = slice(counts.indptr[m], counts.indptr[m + 1])
        model.add_doc(np.repeat(counts.indices[row], counts.data[row].astype(int)).astype(str).tolist())
    with clock:
        model.train(iterations, workers=cores)
    topics = np.zeros((K, counts.shape[1]))
    columns = [int(word) for word in model.used_vocabs]
    for k in range(K):
        topics[k, columns] = model.get_topic_word_dist(k)
    return topics, {
        "settings": {**settings, "workers": cores, "eta": float(model.eta), "optim_interval": model.optim_interval},
        "instructions": tomotopy.isa,
    }


@dataclass(frozen=True)
class System:
    """How one system is run.

    Attributes
    ----------
    title : str
        With the settings it names put in.
    fit : function
    packages : names whose versions are recorded; the first must be there
    settings, quick : arguments other than its defaults, in its own words; with --quick the second replaces the first
    processes : whether it shares work among processes, which then get one thread each from the linear algebra library
    """

    title: str
    fit: Callable
    packages: tuple[str, ...]
    settings: dict = field(default_factory=dict)
    quick: dict = field(default_factory=dict)
    processes: bool = False


SYSTEMS = {
    "anchorwords": System("anchorwords", fit_anchorwords, ("anchorwords", "numba", "scikit-learn")),
    "anchorwords-readers": System(
        "anchorwords, preset for readers", fit_readers, ("anchorwords", "numba", "scikit-learn")
    ),
    "anchortopics": System("anchortopics OTFR", fit_anchortopics, ("anchortopics",)),
    "sklearn-nmf": System(
        "scikit-learn NMF on tf-idf", fit_sklearn_nmf, ("scikit-learn",), {}, {"max_iter": 20}
    ),
    "sklearn-nmf-log": System(
        "scikit-learn NMF on tf-idf of 1 + log counts", fit_sklearn_nmf, ("scikit-learn",),
        {"sublinear_tf": True}, {"sublinear_tf": True, "max_iter": 20},
    ),
    "sklearn-lda-online": System(
        "scikit-learn LDA, online, {max_iter} epoch(s)", fit_sklearn_lda, ("scikit-learn", "joblib"),
        {"learning_method": "online", "max_iter": 10}, {"learning_method": "online", "max_iter": 1}, processes=True,
    ),
    "sklearn-lda-batch": System(
        "scikit-learn LDA, batch, {max_iter} iteration(s)", fit_sklearn_lda, ("scikit-learn", "joblib"),
        {"learning_method": "batch", "max_iter": 10}, {"learning_method": "batch", "max_iter": 1}, processes=True,
    ),
    "gensim-lda": System(
        "gensim LdaMulticore, {passes} pass(es)", fit_gensim_lda, ("gensim",),
        {"passes": 10}, {"passes": 1}, processes=True,
    ),
    "tomotopy-lda": System(
        "tomotopy LDA, {iterations:,} iterations", fit_tomotopy_lda, ("tomotopy",), {"iterations": 1000}, {"iterations": 20}
    ),
}  # fmt: skip


# ---- The process of one system.


def run_here(folder: Path) -> None:
    """Run the job described in folder/job.json and leave result.json, topics.npy and perhaps A.npy there."""
    import numpy as np
    import scipy.sparse as sp

    job = json.loads((folder / "job.json").read_text())
    system = SYSTEMS[job["system"]]
    try:
        importlib.metadata.version(system.packages[0])
    except importlib.metadata.PackageNotFoundError:
        (folder / "result.json").write_text(json.dumps({"status": "not installed"}))
        return
    counts = sp.csr_matrix(sp.load_npz(job["counts"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system.fit(warm_up_counts(), 3, job["cores"], job["seed"], system.quick, Clock())
    clock = Clock()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        topics, extras = system.fit(counts, job["K"], job["cores"], job["seed"], job["settings"], clock)
    peak = peak_mb()
    for name in ("A", "listed"):
        if name in extras:
            np.save(folder / f"{name}.npy", extras.pop(name))
    np.save(folder / "topics.npy", np.asarray(topics, dtype=np.float64))
    names = ("numpy", "scipy", *system.packages)
    result = {
        "status": "ok", "seconds": clock.seconds, "peak_mb": peak, "worker_peak_mb": 0.0, **extras,
        "warnings": sorted({f"{w.category.__name__}: {w.message}" for w in caught}),
        "versions": {"python": platform.python_version(), **{n: importlib.metadata.version(n) for n in names}},
    }  # fmt: skip
    (folder / "result.json").write_text(
        json.dumps(result, default=lambda value: value.item() if hasattr(value, "item") else str(value))
    )


def largest_ended_worker_mb() -> float:
    """The same of the largest forked worker that has ended; pages it shares with this process count."""
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


# ---- The process that starts them and judges their topics.


def run_apart(python: str, job: dict, limit: float) -> tuple[dict, dict]:
    """Run a job in a process of its own: its result, and its arrays by name."""
    import numpy as np

    threads = 1 if SYSTEMS[job["system"]].processes else job["cores"]
    environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads)), "PYTHONHASHSEED": "0"}
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryFile("w+") as log:
        folder = Path(name)
        (folder / "job.json").write_text(json.dumps(job))
        command = [python, str(Path(__file__).resolve()), "--run", name]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            end_group(process)
            return {"status": f"stopped after {limit:g} s"}, {}
        except BaseException:
            end_group(process)
            raise
        if code != 0 or not (folder / "result.json").is_file():
            log.seek(0)
            last = ([line.strip() for line in log if line.strip()] or [f"exit code {code}"])[-1]
            return {"status": f"failed: {last}"}, {}
        arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        return {**json.loads((folder / "result.json").read_text()), "blas_threads": threads}, arrays


def end_group(process: subprocess.Popen) -> None:
    """End a process that still runs and the workers it started: they form a session of their own."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Judge:
    """Quality of topics, by the same functions for every system."""

    def __init__(self, counts) -> None:
        from anchorwords import CooccurrenceOperator

        self.counts = counts
        self.operator = CooccurrenceOperator(counts)
        self.unigram = self.operator.row_sums()

    def __call__(self, topics, A=None, listed=None) -> dict:  # noqa: ARG002
        """Metrics of topics K x N in any scale, and of A, their correlations as found, where the system has them."""
        import numpy as np

        from anchorwords import TopicModel, metrics

        if not np.isfinite(topics).all() or topics.min() < 0:
            return {"status": "failed: topics are not probabilities"}
        sums = topics.sum(axis=1)
        B = (topics / np.where(sums > 0, sums, 1.0)[:, None]).T
        N, K = B.shape
        total = 1.0 if A is None else float(A.sum())
        # Only B and A are looked at.
        model = TopicModel(
            B, np.eye(K) / K if A is None else A / total, total, np.arange(K), np.full((N, K), 1 / K), self.unigram
        )
        quality = {
            "npmi": metrics.npmi_coherence(model, self.counts, 10),
            "diversity": metrics.topic_diversity(model, 25),
            "dissimilarity": metrics.dissimilarity(model, 20),
            "specificity": metrics.specificity(model, self.unigram),
            "empty_topics": int((sums <= 0).sum()),
        }
        if A is not None:
            quality["approximation"] = metrics.relative_approximation(model, self.operator)
            quality["approximation_raw"] = metrics.relative_approximation(model, self.operator, raw=True)
        return quality


def measure(name: str, seed: int, options, counts_file: Path, judge: Judge) -> dict:
    """One run of one system: its seconds, memory and quality."""
    system = SYSTEMS[name]
    job = {
        "system": name, "counts": str(counts_file), "K": options.topics, "cores": options.jobs, "seed": seed,
        "settings": settings_of(system, options),
    }  # fmt: skip
    run, arrays = run_apart(sys.executable if name.startswith("anchorwords") else options.python, job, options.limit)
    return run | judge(**arrays) if run["status"] == "ok" else run


def settings_of(system: System, options) -> dict:
    return system.quick if options.quick else system.settings


def summary(name: str, runs: list[dict], options) -> dict:
    """All runs of one system as a row."""
    system = SYSTEMS[name]
    row = {
        "system": name,
        "title": system.title.format(**settings_of(system, options)),
        "status": runs[-1]["status"],
        "runs": runs,
    }
    if row["status"] == "ok":
        row["seconds"] = median(run["seconds"] for run in runs)
        row |= {key: max(run[key] for run in runs) for key in ("peak_mb", "worker_peak_mb")}
        row |= {key: mean(run[key] for run in runs) for key in QUALITY if key in runs[0]}
        row |= {key: runs[0].pop(key) for key in ("settings", "versions")}
        for run in runs[1:]:
            del run["settings"], run["versions"]
    return row


# ---- The table.


def markdown(records: list[dict]) -> str:
    return "\n".join(line for record in records for line in (*heading(record), *table(record["rows"]), ""))


def heading(record: dict) -> list[str]:
    host = record["machine"]
    versions: dict[str, set] = {}
    for row in record["rows"]:
        for name, version in row.get("versions", {}).items():
            versions.setdefault(name, set()).add(version)
    repeats = f", {record['repeat']} runs each: median time, mean quality" if record["repeat"] > 1 else ""
    short = ", few iterations (--quick): not for comparison" if record["quick"] else ""
    return [
        f"{record['corpus']}, {record['documents']:,} documents, {record['words']:,} words, K {record['K']}{repeats}"
        f"{short}; {host['cpu']}, {host['cores_used']} of {host['cores']} cores; {record['date']}"
        + "".join(f", {name} {' and '.join(sorted(found))}" for name, found in sorted(versions.items()))
        + ".",
        "",
        "| system | seconds | times slower than anchorwords | peak MB (largest worker) | NPMI top 10 | diversity top 25 "
        "| dissimilarity of 20 | Specificity | RelativeApproximation |",
        "|---|" + "---:|" * 8,
    ]


def table(rows: list[dict]) -> list[str]:
    ours = next((row.get("seconds") for row in rows if row["system"] == "anchorwords"), None)
    return [table_line(row, ours) for row in rows]


def table_line(row: dict, ours: float | None) -> str:
    if row["status"] != "ok":
        return f"| {row['title']} | {row['status'].replace('|', '/')} |" + " - |" * 7
    ratio = f"{row['seconds'] / ours:.1f}" if ours else "-"
    workers = f" ({row['worker_peak_mb']:,.0f})" if row["worker_peak_mb"] else ""
    fit = f"{row['approximation']:.3f}" if "approximation" in row else "-"
    return (
        f"| {row['title']} | {row['seconds']:.2f} | {ratio} | {row['peak_mb']:,.0f}{workers} | {row['npmi']:.3f} "
        f"| {row['diversity']:.2f} | {row['dissimilarity']:.1f} | {row['specificity']:.2f} | {fit} |"
    )


def parsed_options():
    parser = arguments(__doc__)
    parser.add_argument("--corpus", help="folder under --data, or any path read_corpus takes; default nips12")
    parser.add_argument("--words", type=int, help="best words to keep, 0 for all; default 5000")
    parser.add_argument("--topics", type=int, help="default 50")
    parser.add_argument("--jobs", type=int, default=len(usable_cores()), help="cores for every system; default all")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="comma-separated, of: " + ", ".join(SYSTEMS))
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the other packages")
    parser.add_argument("--repeat", type=int, default=1, help="processes a system, each with another seed")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds a process may take in all")
    parser.add_argument(
        "--quick", action="store_true", help="kos, every 8th document, 1,000 words, K 10, few iterations"
    )
    options = parser.parse_args()
    small = {"corpus": "kos", "words": 1000, "topics": 10}
    for name, value in (small if options.quick else {"corpus": "nips12", "words": 5000, "topics": 50}).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    options.systems = options.systems.split(",")
    unknown = [name for name in options.systems if name not in SYSTEMS]
    if unknown:
        parser.error(f"no system is called {unknown[0]!r}: choose of {', '.join(SYSTEMS)}")
    if shutil.which(options.python) is None:
        parser.error(f"--python must name a Python interpreter, but {options.python!r} is none")
    if min(options.jobs, options.repeat, options.topics) < 1 or options.words < 0:
        parser.error("--jobs, --repeat and --topics must be at least 1, --words at least 0")
    return options


def load_corpus(options):
    """Its name, and the corpus with the best words; with --quick every eighth document of it."""
    import anchorwords as aw

    source = options.data / options.corpus
    if not source.exists():
        source = Path(options.corpus)
    if source.exists() or options.data.is_dir():
        name, corpus = options.corpus, aw.read_corpus(source)
    else:
        from anchorwords.datasets import load_docstrings

        print(f"{options.data} is not there: using the embedded docstrings")
        name, corpus = "docstrings", load_docstrings()
    if options.quick:
        corpus = aw.Corpus(corpus.counts[::8], corpus.vocabulary)
    return name, corpus.prune(n_words=options.words or None)


def main() -> None:
    if sys.argv[1:2] == ["--run"]:  # a process that run_apart started
        run_here(Path(sys.argv[2]))
        return
    import scipy.sparse as sp

    options = parsed_options()
    host = machine(options.jobs)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, usable_cores()[: options.jobs])  # what is started from here stays on these cores
    name, corpus = load_corpus(options)
    judge = Judge(corpus.counts)
    rows: list[dict] = []
    record = {
        "corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, "tokens": corpus.n_tokens,
        "K": options.topics, "repeat": options.repeat, "quick": options.quick, "limit": options.limit,
        "date": time.strftime("%Y-%m-%d"), "commit": commit(), "machine": host, "rows": rows,
    }  # fmt: skip
    runs: dict[str, list[dict]] = {system: [] for system in options.systems}
    with tempfile.TemporaryDirectory() as folder:
        counts_file = Path(folder) / "counts.npz"
        sp.save_npz(counts_file, sp.csr_matrix(corpus.counts), compressed=False)
        for seed in range(options.repeat):
            for system in options.systems:
                if seed == 0 or runs[system][-1]["status"] == "ok":
                    runs[system].append(measure(system, seed, options, counts_file, judge))
                    said = runs[system][-1].get("seconds", runs[system][-1]["status"])
                    print(f"round {seed + 1}, {system}: {said}", flush=True)
    for system in options.systems:
        row = summary(system, runs[system], options)
        if not (options.quick and row["status"] == "not installed"):
            rows.append(row)
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

"""Seconds and memory of a whole fit as the vocabulary, the number of topics or the documents grow.

    python benchmarks/scaling.py [--quick] [--part words|topics|documents|all] [--corpus imdb100k] [--topics 100]
                                 [--repeat 3] [--data ../shared/data] [--output docs/tables/scaling]

Three series: the best 1,000 to all words with --topics topics; 10 to 200 topics on 12,000 words; an eighth to all of
the documents on 12,000 words with 50 topics (random samples, each part of the next). Every fit runs in a fresh process
that has imported everything, fitted a tiny made-up corpus and loaded its counts; seconds are medians over --repeat
processes, memory is the largest. "Peak" is the largest resident memory during the fit (VmHWM), "over base" is peak less
what the process held before it loaded the counts, "growth" is peak less what it held with the counts loaded. Exponents
are least squares on logarithms; those of the vocabulary start at 12,000 words, where overheads no longer matter.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median

import numpy as np
import scipy.sparse as sp
from common import (
    STAGES,
    arguments,
    circumstances,
    commit,
    described,
    peak_mb,
    real_corpus,
    table,
    timed_fit,
    warm_up_counts,
    write_tables,
)

WORDS = (1_000, 3_000, 12_000, 25_000, 50_000, None)
TOPICS = (10, 20, 50, 100, 200)
SHARES = (0.125, 0.25, 0.5, 1.0)
FROM_WORDS = 12_000
# What grows in each series, and what is claimed of the exponents of seconds and of memory over base.
GROWS = {"words": "words", "topics": "K", "documents": "documents"}
CLAIMS = {"words": (1.15, 1.05)}
MEMORY = ("peak_mb", "over_base_mb", "growth_mb")


def settings(part: str, n_words: int, options) -> list[dict]:
    """Words (None for all), topics and share of the documents of every fit of a series."""
    if options.quick:
        series = {"words": [(500, 10, 1.0), (1000, 10, 1.0)], "topics": [(500, 5, 1.0)], "documents": [(500, 10, 0.5)]}
    else:
        series = {
            "words": [(n, options.topics, 1.0) for n in WORDS if n is None or n < n_words],
            "topics": [(FROM_WORDS, K, 1.0) for K in TOPICS],
            "documents": [(FROM_WORDS, 50, share) for share in SHARES],
        }
    return [{"part": part, "n_words": n, "K": K, "share": share} for n, K, share in series[part]]


def counts_for(corpus, setting: dict):
    counts = corpus.prune(n_words=setting["n_words"]).counts
    order = np.random.default_rng(0).permutation(counts.shape[0])
    return counts[np.sort(order[: round(setting["share"] * counts.shape[0])])]


def measure(corpus, setting: dict, repeat: int) -> dict:
    """All repeats of one setting, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.npz"
        sp.save_npz(path, counts_for(corpus, setting), compressed=False)
        command = [sys.executable, str(Path(__file__).resolve()), "--run", str(path), str(setting["K"])]
        runs = []
        for _ in range(repeat):
            process = subprocess.run(command, capture_output=True, text=True)
            if process.returncode != 0:
                sys.exit(f"the fit of {setting} failed:\n{process.stderr}")
            runs.append(json.loads(process.stdout.splitlines()[-1]))
    row = {**setting, **runs[0], "runs": runs}
    row |= {stage: median(run[stage] for run in runs) for stage in (*STAGES, "whole")}
    return row | {name: max(run[name] for run in runs) for name in MEMORY}


def run_here(path: str, K: int) -> None:
    """The process of one fit: prints what it measured as a line of JSON."""
    timed_fit(warm_up_counts(), 3)
    base = resident_mb()
    counts = sp.csr_array(sp.load_npz(path))
    held = resident_mb()
    forget_peak()
    seconds, model, n_products = timed_fit(counts, K)
    peak = peak_mb()
    result = {
        "documents": model.provenance.n_docs, "words": np.unique(counts.indices).size, "counts": counts.nnz,
        **seconds, "peak_mb": peak, "over_base_mb": peak - base, "growth_mb": peak - held,
        "products": n_products, "steps": model.provenance.n_iter, "converged": model.provenance.converged,
    }  # fmt: skip
    print(json.dumps(result))


def resident_mb() -> float:
    """Memory that this process holds now; where that is not known, the most it has held."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.is_file() else []
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmRSS")), peak_mb())


def forget_peak() -> None:
    """Let VmHWM start again from what is held now, where the system allows it: loading is not fitting."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def exponents(rows: list[dict]) -> dict[str, float]:
    """Slopes of log seconds and log memory on the log of what grows; empty where there are too few fits."""
    if len(rows) < 2:
        return {}
    logs = np.log([row[GROWS[rows[0]["part"]]] for row in rows])
    values = {name: [max(row[name], 1e-6) for row in rows] for name in (*STAGES, "whole", *MEMORY)}
    return {name: float(np.polyfit(logs, np.log(column), 1)[0]) for name, column in values.items()}


def far_along(rows: list[dict]) -> list[dict]:
    """The fits that exponents are taken from: in the series of words the large ones, where there are two."""
    large = [row for row in rows if row["part"] != "words" or (row["n_words"] or FROM_WORDS) >= FROM_WORDS]
    return large if len(large) > 1 else rows


def markdown(records: list[dict]) -> str:
    columns = [
        "words", "documents", "counts", "K", "statistics s", "start s", "ENN s", "topics s", "whole s", "peak MB",
        "over base MB", "growth MB", "steps",
    ]  # fmt: skip
    text = []
    for record in records:
        text.append(f"{record['corpus']}, {record['repeat']} run(s) each; {described(record)}")
        for part, slopes in record["exponents"].items():
            rows = [row for row in record["rows"] if row["part"] == part]
            lines = [line(row) for row in rows]
            if slopes:
                label = f"exponent, {len(far_along(rows))} fits"
                lines.append([label, *[""] * 3, *(f"{slope:.2f}" for slope in slopes.values()), ""])
            text.append(table(columns, lines))
            if part in CLAIMS and not record["quick"]:
                time, memory = CLAIMS[part]
                text.append(
                    f"Claimed from {FROM_WORDS:,} words on: exponents of at most {time} for the whole and {memory} for "
                    "memory over base.\n"
                )
    return "\n".join(text)


def line(row: dict) -> list[str]:
    return [
        f"{row['words']:,}", f"{row['documents']:,}", f"{row['counts']:,}", str(row["K"]),
        *(f"{row[stage]:.2f}" for stage in (*STAGES, "whole")), *(f"{row[name]:,.0f}" for name in MEMORY),
        f"{row['steps']}{'' if row['converged'] else ', not converged'}",
    ]  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["--run"]:  # a process that measure started
        run_here(sys.argv[2], int(sys.argv[3]))
        return
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=[*GROWS, "all"], default="all")
    parser.add_argument("--corpus", help="folder under --data; default imdb100k")
    parser.add_argument("--topics", type=int, default=100, help="K of the series of words")
    parser.add_argument("--repeat", type=int, help="processes a setting; default 3")
    parser.add_argument("--quick", action="store_true", help="kos, at most 1,000 words, one process a setting")
    options = parser.parse_args()
    name = options.corpus or ("kos" if options.quick else "imdb100k")
    repeat = options.repeat or (1 if options.quick else 3)
    record = {
        **circumstances(), "commit": commit(), "corpus": name, "repeat": repeat, "quick": options.quick,
        "rows": [], "exponents": {},
    }  # fmt: skip
    corpus = real_corpus(options.data, name)
    for part in GROWS if options.part == "all" else [options.part]:
        rows = []
        for setting in settings(part, corpus.n_words, options):
            rows.append(measure(corpus, setting, repeat))
            print(" ".join(line(rows[-1])), file=sys.stderr, flush=True)
        record["rows"] += rows
        record["exponents"][part] = exponents(far_along(rows))
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()

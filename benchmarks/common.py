"""What the benchmark scripts share: options, corpora, timing, the machine, and tables as Markdown and JSON."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import logging
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Nothing of anchorwords is imported up here: peers.py runs in interpreters that need not have it.
STAGES = ("statistics", "eigenpairs", "rectification", "topics")


def arguments(description: str) -> argparse.ArgumentParser:
    """Parser with --data and --output."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--output", type=Path, help="write OUTPUT.md and OUTPUT.json")
    return parser


def write_tables(output: Path | None, rows: list[dict], markdown: Callable[[list[dict]], str]) -> None:
    """Write the rows as OUTPUT.md and OUTPUT.json, if an output was asked for."""
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.with_suffix(".md").write_text(markdown(rows))
        output.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def real_corpus(data: Path, name: str):
    """One of the real corpora; where it is missing, the script ends with a sentence."""
    import anchorwords as aw

    if not (data / name).is_dir():
        sys.exit(f"{data / name} is not there: name the folder that holds the corpora with --data.")
    return aw.read_corpus(data / name)


def seconds_of(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def timed_fit(counts, K: int):
    """A fit as the estimator does it: seconds of each stage and of the whole, the model, and the products with C."""
    from anchorwords.fitting import FitOptions, fit_documents
    from anchorwords.sources.convert import as_source

    clock = _StageClock()
    with clock:
        model = fit_documents(as_source(counts), FitOptions(K))
    return clock.seconds, model, clock.n_products


class _StageClock(logging.Handler):
    """Seconds of the stages of the fit inside ``with``: each ends with a line in the log of the package."""

    def __enter__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.n_products = 0
        self._logger = logging.getLogger("anchorwords.fit")
        self._before = self._logger.level, self._logger.propagate
        self._logger.addHandler(self)
        self._logger.setLevel(logging.INFO)
        self._logger.propagate = False
        self._begin = self._last = time.perf_counter()

    def emit(self, record: logging.LogRecord) -> None:
        now = time.perf_counter()
        stage = str(record.msg).split(":")[0]
        if stage == "eigenpairs":
            self.n_products = record.args[0]  # the number of products comes first
        self.seconds[stage] = now - self._last
        self._last = now

    def __exit__(self, *_: object) -> None:
        self.seconds["whole"] = time.perf_counter() - self._begin
        self._logger.removeHandler(self)
        level, self._logger.propagate = self._before
        self._logger.setLevel(level)


# ---- Where and with what it was measured.


def circumstances() -> dict:
    """Date, machine and versions."""
    names = ("anchorwords", "numpy", "scipy", "numba")
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": machine(len(usable_cores())),
        "versions": {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in names}},
    }


def described(record: dict) -> str:
    """The circumstances as one line of Markdown."""
    host = record["machine"]
    versions = "".join(f", {name} {version}" for name, version in record["versions"].items())
    busy = f", others busy (load {host['load']:.1f})" if (host["load"] or 0.0) > 0.5 else ""
    return f"{host['cpu']}, {host['cores_used']} of {host['cores']} cores{busy}; {record['date']}{versions}.\n"


def machine(jobs: int) -> dict:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)
    return {
        "cpu": model or platform.processor() or platform.machine(),
        "cores": len(usable_cores()), "cores_used": jobs, "system": platform.platform(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }  # fmt: skip


def usable_cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def commit() -> str | None:
    """The commit of this checkout, with -dirty where files have changed since."""
    command = ["git", "-C", str(Path(__file__).resolve().parent), "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def peak_mb(process: int | str = "self") -> float:
    """Largest resident memory of a process so far, in MB.

    Read from /proc where there is one: getrusage's ru_maxrss, which Linux carries over from the process that started
    this one, makes a small program look as large as the one that started it.
    """
    status = Path(f"/proc/{process}/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024 / 1e6
    if process != "self":
        return 0.0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


# ---- Commands in processes of their own.

# A program that tells its peak memory at the end: what the system tells of a child includes what its parent held.
_PROGRAM = """
import atexit, sys
sys.path.insert(0, {here!r})
from common import peak_mb
atexit.register(lambda: print(peak_mb(), file=sys.stderr))
{body}
"""


def program(body: str, *arguments: str) -> dict:
    """Seconds and peak memory of a Python program, and the JSON it prints, without paths."""
    text = _PROGRAM.format(here=str(Path(__file__).resolve().parent), body=body)
    begin = time.perf_counter()
    process = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if process.returncode != 0:
        sys.exit(f"{' '.join(arguments)} failed: {process.stderr}")
    summary = {name: value for name, value in json.loads(process.stdout).items() if name not in ("corpus", "model")}
    return {"seconds": seconds, **summary, "peak_mb": float(process.stderr.split()[-1])}


def command_line(*arguments: str) -> dict:
    """The same of a command of anchorwords, whose seconds are those of the whole process."""
    begin = time.perf_counter()
    result = program("from anchorwords.cli import main\nmain()", *arguments)
    return result | {"seconds": time.perf_counter() - begin}


# ---- A fit to warm up with.


def warm_up_counts():
    """Four hundred noisy documents of 1,500 words: small, yet a fit of them runs every part that a large one runs."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(1500, 0.1), size=6)
    return sp.csr_matrix(rng.poisson(60.0 * rng.dirichlet(np.full(6, 0.3), size=400) @ topics).astype(np.float64))

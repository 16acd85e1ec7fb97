"""Much at once: threads and forked workers, fits side by side, and interruptions at any time."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.linalg.parallel import n_threads

from ..degenerate import judged
from .campaign import Area, Trial

# Growth of a process that is warm, over all trials that follow: what the allocator keeps in pieces, and no more.
_GROWTH = 64 << 20
_WARM_TRIALS = 5
# Seconds from a signal to its KeyboardInterrupt: blocks of work are a hundredth of one; the rest is for a busy machine.
_PROMPT = 10.0


@cache
def _corpus() -> Any:
    return make_topics(n_docs=300, n_words=200, n_topics=6, doc_length=40, random_state=0).corpus


def digest(*arrays: Any) -> str:
    """Of the bits of arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _fit(**options: Any) -> str:
    model = aw.AnchorTopicModel(6, **options).fit(_corpus())
    return digest(model.components_, model.topic_correlation_, model.word_topics_)


@cache
def _server() -> Any:
    return aw.AnchorTopicModel(6).fit(_corpus())


def _answer() -> str:
    return digest(_server().transform(_corpus().counts[:100]))


def fit_digest() -> str:
    """Of a fit and a transform, for processes that do the same."""
    return _fit() + _answer()


def _evaluate() -> str:
    found = aw.evaluate(_server(), _corpus(), n_draws=20)
    return digest([found[name] for name in ("relative_recovery", "npmi_coherence", "log_relative_volume")])


def _scan() -> str:
    return digest(aw.scan(_corpus(), [3, 6], n_replicates=1).directions.energies)


def _stability() -> str:
    found = aw.stability(_server(), _corpus(), n_replicates=3, n_shards=4)
    return digest(found.prevalence_low, found.prevalence_high)


WORK: dict[str, Callable[[], str]] = {
    "fit": _fit,
    "transform": _answer,
    "fit with refinement": lambda: _fit(refinement=aw.Refinement(n_sweeps=3, split_sweeps=2, decorrelation=3.0)),
    "fit, prior-aware": lambda: _fit(composition="prior-aware"),
    "fit by AP": lambda: _fit(rectifier=aw.AP(tol=1e-2)),
    "evaluate": _evaluate,
    "scan": _scan,
    "stability": _stability,
}


@cache
def _alone(name: str) -> str:
    with judged():
        return WORK[name]()


def _threads() -> list[int]:
    """The limits that hold now, here and for a fit in another thread."""
    found = [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    def share() -> None:
        found.append(n_threads(None))

    other = threading.Thread(target=share)
    other.start()
    other.join()
    return found


def _resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


_SEEN: list[int] = []


def _serve(trial: Trial) -> str:
    """Threads that transform, others that do something else, and children that are forked meanwhile."""
    rng = trial.rng
    # Not AP: it alone leaves its threads to the linear algebra library, and OpenBLAS stops these for a fork, also in the
    # midst of a product.
    names = sorted(set(WORK) - {"fit by AP"})
    expected, other = _alone("transform"), names[rng.integers(len(names))]
    aside = _alone(other)
    before, wrong = _threads(), []
    done = threading.Event()

    def transform() -> None:
        while not done.is_set():
            if _answer() != expected:
                wrong.append("transform in a thread")

    def work() -> None:
        if WORK[other]() != aside:
            wrong.append(f"{other} in a thread")

    threads = [threading.Thread(target=transform) for _ in range(int(rng.integers(1, 4)))]
    fits = [threading.Thread(target=work) for _ in range(int(rng.integers(1, 3)))]
    with judged():
        for thread in (*threads, *fits):
            thread.start()
        children = [_forked(other if rng.random() < 0.5 else "transform") for _ in range(int(rng.integers(1, 4)))]
        for thread in fits:
            thread.join()
        done.set()
        for thread in threads:
            thread.join()
    for child in children:
        wrong += _ended(child)
    assert not wrong, wrong
    assert _threads() == before
    gc.collect()
    _SEEN.append(_resident())
    if len(_SEEN) > _WARM_TRIALS:
        grown = _SEEN[-1] - max(_SEEN[:_WARM_TRIALS])
        assert grown < _GROWTH, f"{grown / 2**20:.0f} MiB more than when it was warm"
    return "same bits, memory flat"


def _forked(name: str) -> int:
    """A child that does the same and ends with 0 if its bits are the same."""
    expected = _alone(name)
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = 0 if WORK[name]() == expected and _answer() == _alone("transform") else 2
    finally:
        os._exit(code)


def _ended(child: int) -> list[str]:
    """What is wrong with a child; one that does not end is killed."""
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return [] if status == 0 else [f"a child ended with status {status}"]
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return ["a child hangs"]


def _side_by_side(trial: Trial) -> str:
    """Eight processes that fit at the same time."""
    program = "import sys; from tests.campaign.load import fit_digest; print(fit_digest())"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env=environment | ({} if trial.rng.random() < 0.5 else {"OMP_NUM_THREADS": str(trial.rng.integers(1, 4))}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(8)
    ]  # fmt: skip
    found = [process.communicate() for process in running]
    for process, (_, errors) in zip(running, found, strict=True):
        assert process.returncode == 0, errors
    assert {output.strip() for output, _ in found} == {fit_digest()}
    return "same bits as alone"


def _interrupted(trial: Trial) -> str:
    """SIGINT at a random time of a computation, which is then done again."""
    name = sorted(WORK)[trial.rng.integers(len(WORK))]
    expected, before = _alone(name), _threads()
    begin = time.monotonic()
    with judged():
        WORK[name]()
    wait, sent = float(trial.rng.random()) * (time.monotonic() - begin), []

    def interrupt() -> None:
        time.sleep(wait)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread, text = threading.Thread(target=interrupt), "finished before"
    try:
        with judged():
            thread.start()
            WORK[name]()
            thread.join()
            time.sleep(0.1)  # the signal may be on its way
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0]
        assert late < _PROMPT, f"KeyboardInterrupt after {late:.1f} seconds"
        text = "interrupted, same bits again"
    thread.join()
    assert _threads() == before, (_threads(), before)
    helpers = [thread for thread in threading.enumerate() if thread.name == "anchorwords"]
    assert len(helpers) <= 2 * (os.cpu_count() or 1), len(helpers)
    with judged():
        assert WORK[name]() == expected
    return text


def _no_fork() -> str | None:
    return None if hasattr(os, "fork") else "this system has no fork"


def _no_signals() -> str | None:
    return None if os.name == "posix" else "this system has no POSIX signals"


AREAS: tuple[Area, ...] = (
    Area(
        "load: threads and forked workers",
        "Threads and forked workers that transform while others compute answer with the same bits, and memory stays flat.",
        _serve, short=8, limit=300.0, needs=_no_fork,
    ),
    Area(
        "load: eight fits side by side",
        "Fits in eight processes at once give the same bits as one alone.",
        _side_by_side, short=1, limit=300.0, weight=0.5,
    ),
    Area(
        "load: Ctrl-C",
        "An interruption is prompt, leaves no limit on threads, and the same work gives the same bits afterwards.",
        _interrupted, short=30, limit=120.0, needs=_no_signals,
    ),
)  # fmt: skip

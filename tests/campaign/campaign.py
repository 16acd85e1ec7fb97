"""What an area of the campaign is, and the workers that try it.

An area is a function that tries one fault, drawn from a random generator, and returns in a few words what happened. A broken
promise is any exception; a worker that dies is a crash; a trial that outlives its limit is a hang. Trials run in processes
of their own, so that none of the three ends the campaign, and trial ``n`` of an area depends on the seed and on ``n`` alone,
so that each can be run again.
"""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import tempfile
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Trial:
    """One trial.

    Parameters
    ----------
    number : int
        Its number within the area, from 0: an area that goes through a list of cases takes ``number`` modulo its length.
    rng : numpy.random.Generator
        The only source of chance, seeded by the campaign's seed, the area and the number.
    folder : Path
        An empty folder, removed after the trial.
    shared : Path
        A folder of this worker and this area, kept between trials, for what is expensive to make.
    """

    number: int
    rng: np.random.Generator
    folder: Path
    shared: Path

    def once(self, name: str, make: Callable[[Path], Any]) -> Path:
        """A path in ``shared`` that ``make`` has filled: called at the first trial of a worker only."""
        path = self.shared / name
        if not path.exists():
            partial = self.shared / f"{name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            make(partial)
            partial.rename(path)
        return path


def _nothing() -> None:
    """No need."""


@dataclass(frozen=True)
class Area:
    """A kind of fault.

    Parameters
    ----------
    name : str
        Short, for the table and ``--only``.
    promise : str
        What must hold, as one sentence of the table.
    trial : callable
        Tries one fault and returns what happened, in a few words that are counted ("refused", "old result intact").
        Raises, usually AssertionError, if the promise is broken.
    short : int
        Number of trials in the short form, which CI runs.
    limit : float
        Seconds after which a trial is a hang: a bound that a slow machine does not reach.
    weight : float
        Share of the long form's time, relative to the other areas.
    needs : callable, optional
        Returns why this area cannot be tried on this machine, or None.
    """

    name: str
    promise: str
    trial: Callable[[Trial], str]
    short: int
    limit: float = 60.0
    weight: float = 1.0
    needs: Callable[[], str | None] = _nothing


@dataclass(frozen=True)
class Find:
    """A broken promise: which trial, and how."""

    area: str
    number: int
    kind: str
    report: str


@dataclass
class Tally:
    """What was tried in an area."""

    area: Area
    outcomes: Counter[str] = field(default_factory=Counter)
    finds: list[Find] = field(default_factory=list)
    seconds: float = 0.0
    skipped: str | None = None

    @property
    def n_trials(self) -> int:
        """Trials that have ended, however they did."""
        return self.outcomes.total() + len(self.finds)


def run_campaign(
    areas: Sequence[Area],
    *,
    seed: int = 0,
    n_workers: int = 1,
    trials: int | None = None,
    minutes: float | None = None,
    report: Callable[[Tally], None] | None = None,
) -> list[Tally]:
    """Try areas one after the other.

    Parameters
    ----------
    areas : sequence of Area
    seed : int
    n_workers : int
        Processes that try at once.
    trials : int, optional
        Trials of each area; by default its ``short``.
    minutes : float, optional
        Time in all, shared out by weight, in place of a number of trials.
    report : callable, optional
        Called with the tally of each area when it is done.

    Returns
    -------
    list of Tally
    """
    tallies = []
    total = sum(area.weight for area in areas)
    for area in areas:
        tally = Tally(area, skipped=area.needs())
        if tally.skipped is None:
            seconds = None if minutes is None else 60.0 * minutes * area.weight / total
            _try(tally, seed, n_workers, trials or area.short, seconds)
        tallies.append(tally)
        if report is not None:
            report(tally)
    return tallies


def run_trial(area: Area, seed: int, number: int, shared: Path) -> str:
    """Run one trial in this process."""
    folder = Path(tempfile.mkdtemp(prefix="campaign-"))
    try:
        rng = np.random.default_rng([seed, zlib.crc32(area.name.encode()), number])
        return area.trial(Trial(number, rng, folder, shared))
    finally:
        _remove(folder)


def _try(tally: Tally, seed: int, n_workers: int, trials: int, seconds: float | None) -> None:
    """Hand out numbers to workers until trials or seconds are used up; a worker that dies or hangs is replaced."""
    area, begin = tally.area, time.monotonic()

    def numbers() -> Iterator[int]:
        number = 0
        while number < trials if seconds is None else time.monotonic() - begin < seconds:
            yield number
            number += 1

    left, workers = numbers(), [_Worker(area, seed) for _ in range(n_workers)]
    try:
        busy = [worker for worker in workers if worker.give(next(left, None))]
        while busy:
            wait([worker.answers for worker in busy], timeout=0.5)
            for worker in list(busy):
                ended = worker.ended()
                if ended is None:
                    continue
                if isinstance(ended, Find):
                    tally.finds.append(ended)
                else:
                    tally.outcomes[ended] += 1
                if not worker.give(next(left, None)):
                    busy.remove(worker)
    finally:
        for worker in workers:
            worker.stop()
        tally.seconds = time.monotonic() - begin


class _Worker:
    """A process that tries one number after the other."""

    def __init__(self, area: Area, seed: int) -> None:
        self._area, self._seed = area, seed
        self._shared = Path(tempfile.mkdtemp(prefix="campaign-shared-"))
        self._number, self._begin = -1, 0.0
        self._start()

    def _start(self) -> None:
        # Spawned, not forked: a worker has threads of its own, as a user's program has, and none of the campaign's.
        context = multiprocessing.get_context("spawn")
        self.answers, theirs = context.Pipe()
        arguments = (theirs, self._area, self._seed, str(self._shared))
        self._process = context.Process(target=_work, args=arguments, daemon=False)
        self._process.start()
        theirs.close()
        self.answers.recv()  # once it has loaded everything, so that no trial is charged for that

    def give(self, number: int | None) -> bool:
        """Start a trial; False if there is none left."""
        if number is None:
            return False
        self._number, self._begin = number, time.monotonic()
        self.answers.send(number)
        return True

    def ended(self) -> str | Find | None:
        """What came of the trial, or None while it goes on."""
        if self.answers.poll():
            try:
                kind, text = self.answers.recv()
            except (EOFError, OSError):
                self._process.join(10)
                return self._lost("crash", f"the worker ended with exit code {self._process.exitcode}")
            return text if kind == "outcome" else Find(self._area.name, self._number, kind, text)
        if time.monotonic() - self._begin > self._area.limit:
            return self._lost("hang", f"not done after {self._area.limit:.0f} seconds")
        return None

    def _lost(self, kind: str, text: str) -> Find:
        self._kill()
        self._start()
        return Find(self._area.name, self._number, kind, text)

    def _kill(self) -> None:
        self._process.kill()
        self._process.join()
        self.answers.close()

    def stop(self) -> None:
        """End the process and remove what it kept."""
        self._kill()
        _remove(self._shared)


def _work(answers: Connection, area: Area, seed: int, shared: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a campaign in the background has it ignored
    answers.send("ready")
    while True:
        try:
            number = answers.recv()
        except EOFError:
            return
        try:
            answer = ("outcome", run_trial(area, seed, number, Path(shared)))
        except BaseException:
            answer = ("broken promise", traceback.format_exc())
        answers.send(answer)


def _remove(folder: Path) -> None:
    """Remove a folder, also one whose trial took away permissions."""

    def allow(function: Any, path: str, _: Any) -> None:
        Path(path).parent.chmod(0o700)
        function(path)

    shutil.rmtree(folder, onerror=allow)

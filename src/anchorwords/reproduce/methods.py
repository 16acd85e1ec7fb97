"""The five methods of the paper's first series, each timed stage by stage.

Baseline is AW on C as it is; AP+AW, ENN+LAW and PALM+LAW rectify the explicit C; LR-JSMF starts from the counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import eigsh

from .._lazy import cached_property
from .._typing import FloatArray
from ..corpus.corpus import Corpus
from ..exceptions import ConvergenceWarning, DegenerateWarning
from ..learn import KnownEigenpairs, learn, with_original_rows
from ..metrics.reference import Reference
from ..model import TopicModel
from ..rectify.progress import Report
from ..rectify.rectifiers import AP, ENN, PALM, Rectifier, RectifyContext, Unrectified
from ..rectify.result import Rectified
from ..rectify.start import starting_eigenpairs
from ..sources.in_use import WordsInUse
from ..statistics.explicit import ExplicitCooccurrence
from ..statistics.operator import CooccurrenceOperator


class Outcome(NamedTuple):
    """A model and how it came about.

    Attributes
    ----------
    model : TopicModel
    matrix : (N, N) array or None
        What the model was read off, where that is not its Y.
    rectified : Rectified or None
    seconds : dict
        Of processor time, by stage: ``start`` (eigenpairs; for LR-JSMF with Eq. 1), ``rectification``,
        ``factorisation``.
    """

    model: TopicModel
    matrix: FloatArray | None
    rectified: Rectified | None
    seconds: dict[str, float]

    @property
    def converged(self) -> bool | None:
        """Whether the rectification met its stop rule; None where there is none, as AP's number of steps is fixed."""
        return None if self.rectified is None or self.rectified.method == "ap" else self.rectified.converged


class Experiment:
    """A corpus, and what all methods share on it; made when first needed."""

    def __init__(self, corpus: Corpus, n_jobs: int | None = None) -> None:
        self.corpus = corpus
        self.n_jobs = n_jobs
        self._starts: dict[int, tuple[tuple[FloatArray, FloatArray], float]] = {}

    @cached_property
    def reference(self) -> Reference:
        """The documents as metrics see them."""
        return Reference(self.corpus.counts, n_jobs=self.n_jobs)

    @property
    def operator(self) -> Any:
        """C, implicit."""
        return self.reference.operator

    @cached_property
    def explicit(self) -> ExplicitCooccurrence:
        """C, explicit: what the older methods start from."""
        return ExplicitCooccurrence(self.operator.to_matrix())

    def start(self, K: int) -> tuple[tuple[FloatArray, FloatArray], float]:
        """The K leading eigenpairs from the counts, made once, and the seconds they took."""
        if K not in self._starts:
            clock = Clock()
            with _quiet():
                self._starts[K] = raw_start(self, K, 0, clock), clock.seconds["start"]
        return self._starts[K]


def run_method(name: str, experiment: Experiment, K: int, *, seed: int = 0, ap_steps: int = 150) -> Outcome:
    """Run a method of :data:`anchorwords.reproduce.plan.METHODS`."""
    with _quiet():
        outcome = _METHODS[name](experiment, K, seed, ap_steps)
        return outcome._replace(model=with_original_rows(outcome.model, experiment.operator))


def enn_and_law(start: tuple[FloatArray, FloatArray], K: int, clock: Clock, n_jobs: int | None) -> Outcome:
    """ENN from eigenpairs, of which the K largest are used, then LAW."""
    vectors, values = start
    return _learned(KnownEigenpairs(vectors, values, WordsInUse.every(vectors.shape[0])), K, ENN(), clock, n_jobs)


def _learned(statistics: Any, K: int, rectifier: Rectifier, clock: Clock, n_jobs: int | None) -> Outcome:
    """Rectify and factorise, each on the clock."""
    with _quiet(), clock.by_stage() as report:
        model, rectified = learn(statistics, K, rectifier, context=RectifyContext(n_jobs=n_jobs, report=report))
    return Outcome(model, rectified.C, rectified if rectified.history else None, clock.seconds)


class Clock:
    """Seconds of processor time by stage, of all threads together: other work on the machine does not count."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, stage: str, work: Callable[[], Any]) -> Any:
        """Do the work and add its time to the stage."""
        begin = process_time()
        result = work()
        self._add(stage, process_time() - begin)
        return result

    @contextmanager
    def by_stage(self) -> Iterator[Report]:
        """What :func:`anchorwords.learn.learn` reports to: the time until topics begin is that of the rectification."""
        begin, begun = process_time(), list[float]()

        def report(stage: str, share: float) -> None:  # noqa: ARG001
            if stage == "topics" and not begun:
                begun.append(process_time())

        yield report
        end = process_time()
        topics = begun[0] if begun else end
        self._add("rectification", topics - begin)
        self._add("factorisation", end - topics)

    def _add(self, stage: str, seconds: float) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds


def _baseline(experiment: Experiment, K: int, seed: int, ap_steps: int) -> Outcome:  # noqa: ARG001
    return _learned(experiment.explicit, K, Unrectified(), Clock(), experiment.n_jobs)


def _ap(experiment: Experiment, K: int, seed: int, ap_steps: int) -> Outcome:  # noqa: ARG001
    return _learned(experiment.explicit, K, AP(max_iter=ap_steps, tol=0.0), Clock(), experiment.n_jobs)


def _enn(experiment: Experiment, K: int, seed: int, ap_steps: int) -> Outcome:  # noqa: ARG001
    clock, C = Clock(), experiment.explicit.to_matrix()
    v0 = np.ones(C.shape[0])  # a fixed start, so that the exact eigenpairs are the same bits every time
    values, vectors = clock("start", lambda: eigsh(C, k=K, which="LA", v0=v0))
    return enn_and_law((vectors[:, ::-1], values[::-1]), K, clock, experiment.n_jobs)


def _palm(experiment: Experiment, K: int, seed: int, ap_steps: int) -> Outcome:  # noqa: ARG001
    return _learned(experiment.explicit, K, PALM(), Clock(), experiment.n_jobs)


def _lr_jsmf(experiment: Experiment, K: int, seed: int, ap_steps: int) -> Outcome:  # noqa: ARG001
    clock = Clock()
    start = raw_start(experiment, K, seed, clock)
    return enn_and_law(start, K, clock, experiment.n_jobs)


def raw_start(experiment: Experiment, K: int, seed: int, clock: Clock) -> tuple[FloatArray, FloatArray]:
    """Leading eigenpairs from the counts, by randomised products with the implicit C."""
    counts = experiment.corpus.counts
    operator = clock("start", lambda: CooccurrenceOperator(counts, n_jobs=experiment.n_jobs))
    pairs = clock("start", lambda: starting_eigenpairs(operator, K, seed, search=True))
    return pairs.vectors, pairs.values


@cache
def warm_up() -> None:
    """Run every method on a few documents, once a process, so that no time includes the compilation of kernels."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(40.0 * rng.dirichlet(np.full(4, 0.3), size=120) @ rng.dirichlet(np.full(60, 0.2), size=4))
    counts[np.arange(60), np.arange(60)] += 1  # every word occurs
    experiment = Experiment(Corpus(counts, [f"w{i}" for i in range(60)]))
    for name in _METHODS:
        run_method(name, experiment, 3, ap_steps=2)


_METHODS: dict[str, Callable[[Experiment, int, int, int], Outcome]] = {
    "Baseline": _baseline,
    "AP+AW": _ap,
    "ENN+LAW": _enn,
    "PALM+LAW": _palm,
    "LR-JSMF": _lr_jsmf,
}


@contextmanager
def _quiet() -> Any:
    """What does not converge, or fails, is in the results; it need not be said a hundred times."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        yield

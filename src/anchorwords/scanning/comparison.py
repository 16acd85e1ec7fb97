"""Comparison of random halves of the documents at every number of topics."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..anchors.given import Choice
from ..exceptions import ConvergenceWarning, FractionalCountsWarning
from ..rectify.progress import Report
from ..sources.source import Source
from ..statistics.cooccurrence import Cooccurrence
from .directions import Directions, shared_directions
from .grid import extended, refined
from .halves import FEWEST, Half, halves_of, sides_of
from .heldout import HeldOut, held_out
from .levels import levels_of
from .record import Candidate
from .replication import Reproduced, SampledWords, reproduced_topics, sampled_words

logger = logging.getLogger("anchorwords.scan")


class Compared(NamedTuple):
    """What halves of the documents show at every number of topics.

    Attributes
    ----------
    numbers : list of int
        Numbers of topics, in ascending order.
    directions : Directions or None
        Of the first split; None if the documents were not split.
    reproduced, heldout : list of list
        For each split, one entry for each number of topics.
    """

    numbers: list[int]
    directions: Directions | None
    reproduced: list[list[Reproduced]]
    heldout: list[list[float]]

    def candidate(self, i: int, metrics: Mapping[str, float], n_iter: int, converged: bool) -> Candidate:
        """The record of the i-th number of topics."""
        reproduced = tuple(part[i] for part in self.reproduced)
        return Candidate(
            self.numbers[i], metrics, reproduced, n_iter, converged, tuple(part[i] for part in self.heldout)
        )


class HalvesComparison:
    """Compare halves of the documents, in one or more random splits.

    Parameters
    ----------
    source : Source
    C : Cooccurrence
        Statistics of all documents.
    choice : Choice
        Which words may be anchors.
    n_splits : int
    seed : int
    n_jobs : int or None
    report : callable
        Progress.
    """

    def __init__(
        self,
        source: Source,
        C: Cooccurrence,
        choice: Choice,
        n_splits: int,
        seed: int,
        n_jobs: int | None,
        report: Report,
    ) -> None:
        self._source, self._C, self._choice = source, C, choice
        self._n_splits, self._seed, self._n_jobs, self._report = n_splits, seed, n_jobs, report

    def of(self, numbers: list[int]) -> Compared:
        """Compare halves at these numbers of topics."""
        if not self._possible:
            return Compared(numbers, None, [], [])
        begin = perf_counter()
        first = self._split(0, numbers[-1])
        directions = first.directions(numbers[-1])
        return self._over_splits(first, numbers, directions, begin)

    def of_chosen_numbers(self, numbers: list[int], n_possible: int) -> Compared:
        """Compare halves at these numbers of topics, and at those that the comparison shows to be needed.

        The first split decides: larger numbers are added while a level lies at the largest one, then the neighbours of
        the end of the spectrum.
        """
        if not self._possible:
            return Compared(numbers, None, [], [])
        begin = perf_counter()
        while True:
            first = self._split(0, numbers[-1])
            directions = first.directions(numbers[-1])
            longer = extended(numbers, self._C.n_docs, n_possible)
            if longer == numbers:
                break
            reproduced, heldout = first.at(numbers)
            compared = Compared(numbers, directions, [reproduced], [heldout])
            levels = levels_of([compared.candidate(i, {}, 0, True) for i in range(len(numbers))], directions)
            if not any(level.at_grid_end for level in levels):
                break
            numbers = longer
        return self._over_splits(first, refined(numbers, directions), directions, begin)

    @property
    def _possible(self) -> bool:
        return self._n_splits > 0 and self._C.n_docs >= 2 * FEWEST

    def _over_splits(self, first: _Split, numbers: list[int], directions: Directions, begin: float) -> Compared:
        compared = Compared(numbers, directions, [], [])
        for r in range(self._n_splits):
            split = self._split(r, numbers[-1]) if r else first
            reproduced, heldout = split.at(numbers, partial(self._report_split, r))
            compared.reproduced.append(reproduced)
            compared.heldout.append(heldout)
        logger.info("halves: %d split(s), %.2f s", self._n_splits, perf_counter() - begin)
        return compared

    def _report_split(self, number: int, share: float) -> None:
        self._report("halves", (number + share) / self._n_splits)

    def _split(self, number: int, largest: int) -> _Split:
        if number == 0:
            self._report("halves", 0.0)
        return _Split(self._source, self._C, self._choice, largest, (self._seed + number) % 2**32, self._n_jobs)


class _Split:
    """One split of the documents into halves, decomposed for up to ``largest`` topics."""

    def __init__(
        self, source: Source, C: Cooccurrence, choice: Choice, largest: int, seed: int, n_jobs: int | None
    ) -> None:
        self._C, self._choice, self._seed, self._n_jobs = C, choice, seed, n_jobs
        self._sample: SampledWords = sampled_words(C.row_sums())
        sides = sides_of(source, C, seed)
        with warnings.catch_warnings():
            # Warnings on counts were given for all documents; eigenpairs of halves need not be accurate.
            warnings.simplefilter("ignore", FractionalCountsWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._halves: tuple[Half, Half] = halves_of(source, C, largest, seed, n_jobs, sides)
        self._documents: HeldOut = held_out(*sides, C.n_docs, seed)
        self._known: dict[int, tuple[Reproduced, float]] = {}

    def directions(self, largest: int) -> Directions:
        """Directions that replicate in both halves."""
        return shared_directions(*self._halves, largest, self._seed, self._n_jobs)

    def at(
        self, numbers: Sequence[int], report: Callable[[float], None] | None = None
    ) -> tuple[list[Reproduced], list[float]]:
        """Replication and held-out log-likelihood at every number of topics."""
        shares = np.cumsum(np.array(numbers, dtype=np.float64) ** 1.5)  # the work grows faster than the number
        for K, done in zip(numbers, shares / shares[-1], strict=True):
            if K not in self._known:
                self._known[K] = self._at(K)
            if report is not None:
                report(float(done))
        return [self._known[K][0] for K in numbers], [self._known[K][1] for K in numbers]

    def _at(self, K: int) -> tuple[Reproduced, float]:
        reproduced = reproduced_topics(self._halves, K, self._sample, self._choice.candidates, self._n_jobs)
        heldout = self._documents.log_likelihood(self._halves[0], self._C.words, K, self._choice, self._n_jobs)
        return reproduced, heldout

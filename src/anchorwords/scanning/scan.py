"""Many numbers of topics from one decomposition of the co-occurrence.

Every K starts ENN from the leading K of the same eigenpairs, as a fit of its own would. Nothing is handed on from one K to
the next: where ENN ends is decided by its first steps, and a start near another solution leads to other topics.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable
from time import perf_counter
from typing import Any

import numpy as np

from .._progress import shown_progress
from .._validation import check_n_jobs, check_seed
from ..anchors.given import guided_choice
from ..exceptions import ConvergenceWarning, FractionalCountsWarning, InputError
from ..learn import KnownEigenpairs, learn
from ..linalg.parallel import limited_threads, one_library_thread
from ..linalg.randomized import Eigenpairs
from ..model import TopicModel
from ..rectify.progress import Report, eigenpair_progress
from ..rectify.rectifiers import ENN, RectifyContext
from ..rectify.result import Rectified
from ..rectify.start import starting_eigenpairs
from ..statistics.of_source import cooccurrence_of
from .directions import Directions, shared_directions
from .halves import FEWEST, Half, HalfSource, halves_of, sides_of
from .heldout import held_out
from .inputs import checked_metrics, checked_numbers, documents_of, possible_numbers
from .judged import Judge, ManyGroups
from .levels import levels_of, recommended_level
from .recommend import recommend
from .record import Candidate, Scan
from .replication import Reproduced, reproduced_topics, sampled_words

logger = logging.getLogger("anchorwords.scan")

# Cheap ones: accuracy against the original co-occurrence takes norms that cost as much as a fit of few topics.
_METRICS = ("npmi_coherence", "topic_diversity", "dissimilarity", "specificity")
# Eigenvalues after the last, for its gap.
_FURTHER = 2


def scan(
    X: Any,
    n_components: Any = tuple(range(10, 101, 10)),
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    n_replicates: int = 1,
    min_anchor_docs: float | str = 1,
    metrics: Iterable[str] = _METRICS,
    keep_models: bool = False,
    progress: Report | None = None,
    verbose: int = 0,
) -> Scan:
    """Compare numbers of topics: recommend one if the data support a single one, else name two or three levels.

    Topics of every number are those of :class:`anchorwords.AnchorTopicModel` with that ``n_components``, from one
    decomposition for all. Beside metrics there are two judgements by halves of the documents: how many directions of
    the co-occurrence are in both, and how many topics both find.

    Parameters
    ----------
    X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks of counts
        What is larger than memory is read pass by pass, as in ``fit``.
    n_components : iterable of int
        Numbers of topics, in any order. Those larger than the number of words are left out, with a warning.
    random_state : int
        Seed of the splits in halves. Topics do not depend on it beyond rounding.
    n_jobs : int or None
        Threads; results do not depend on it.
    n_replicates : int
        Splits in halves that stability is the mean over. One is cheap; each further one costs about a fifth of a fit. With 0
        documents are not split: no stability, and the recommendation goes by eigenvalues alone.
    min_anchor_docs : int, float or "auto"
        As in :class:`anchorwords.AnchorTopicModel`; "auto" is decided by the largest number of topics.
    metrics : iterable of str
        Names of :data:`anchorwords.metrics.METRICS`. Those of accuracy cost more than those that are measured by default.
    keep_models : bool
        Whether to keep the model of every number.
    progress : callable, optional
        Called with the name of a stage and the share of it that is done.
    verbose : int
        1 shows a progress bar in a notebook, and elsewhere the log on standard error; 0 shows nothing.

    Returns
    -------
    Scan

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=2000, n_words=200, n_topics=4, random_state=0).corpus
    >>> aw.scan(corpus, range(2, 9)).recommended
    4
    """
    numbers, names = checked_numbers(n_components), checked_metrics(metrics)
    seed, jobs = check_seed(random_state), check_n_jobs(n_jobs)
    if isinstance(n_replicates, bool) or not isinstance(n_replicates, (int, np.integer)) or n_replicates < 0:
        raise InputError(f"n_replicates must be a whole number from 0 on, but is {n_replicates!r}.")
    with shown_progress("Scan", verbose, progress) as report, limited_threads(jobs), one_library_thread():
        return _Scanner(X, numbers, names, seed, jobs, int(n_replicates), min_anchor_docs, report).run(keep_models)


class _Scanner:
    """The stages of a scan, one after the other."""

    def __init__(
        self,
        X: Any,
        numbers: list[int],
        names: list[str],
        seed: int,
        n_jobs: int | None,
        n_replicates: int,
        min_anchor_docs: float | str,
        report: Report,
    ) -> None:
        self._names, self._seed, self._n_jobs = names, seed, n_jobs
        self._n_replicates, self._report = n_replicates, report
        report("statistics", 0.0)
        self._source = documents_of(X)
        self._C = operator = cooccurrence_of(self._source, n_jobs=n_jobs)
        numbers = possible_numbers(numbers, operator.shape[0], "usable words")
        self._choice = choice = guided_choice(
            numbers[-1 if isinstance(min_anchor_docs, str) else 0], None, None, min_anchor_docs,
            used=operator.words.mask, df=operator.document_frequencies, n_docs=operator.n_docs,
        )  # fmt: skip
        if choice.candidates is not None:
            numbers = possible_numbers(numbers, int(choice.candidates.sum()), "words that may be anchors")
        self._numbers = numbers
        report("statistics", 1.0)

    def run(self, keep_models: bool) -> Scan:
        """All of it."""
        pairs = self._eigenpairs()
        directions, reproduced, heldout = self._compare_halves()
        fits, measured, models = self._fits(pairs, keep_models)
        candidates = tuple(
            Candidate(
                K,
                measured[i],
                tuple(part[i] for part in reproduced),
                fits[i].n_iter,
                fits[i].converged,
                tuple(part[i] for part in heldout),
            )
            for i, K in enumerate(self._numbers)
        )
        levels = levels_of(candidates, directions)
        recommended, reasons = recommend(candidates, directions, pairs.values, levels)
        if recommended is not None:
            chosen = candidates[self._numbers.index(recommended)]
            levels = [recommended_level(chosen)] if chosen.reproduced else []
        return Scan(
            tuple(self._numbers), recommended, reasons, pairs.values, directions, candidates, models,
            self._C.n_docs, self._C.shape[0], self._choice.threshold, tuple(levels),
        )  # fmt: skip

    def _eigenpairs(self) -> Eigenpairs:
        """The decomposition that every number of topics starts from."""
        operator, begin = self._C, perf_counter()
        pairs = starting_eigenpairs(
            operator,
            min(operator.shape[0], self._numbers[-1] + _FURTHER),
            self._seed,
            block=operator.pass_width,
            callback=eigenpair_progress(self._report),
        )
        logger.info("eigenpairs: %d products with C, %.2f s", pairs.n_passes, perf_counter() - begin)
        return pairs

    def _compare_halves(self) -> tuple[Directions | None, list[list[Reproduced]], list[list[float]]]:
        """What both halves of the documents show: directions, and for each split the topics of every number."""
        begin = perf_counter()
        if self._n_replicates == 0 or self._C.n_docs < 2 * FEWEST:
            return None, [], []
        sample = sampled_words(self._C.row_sums())
        directions: Directions | None = None
        reproduced: list[list[Reproduced]] = []
        heldout: list[list[float]] = []
        self._report("halves", 0.0)
        for r in range(self._n_replicates):
            sides = sides_of(self._source, self._C, (self._seed + r) % 2**32)
            halves = self._halves(r, sides)
            documents = held_out(*sides, self._C.n_docs, self._seed + r)
            if directions is None:
                directions = shared_directions(*halves, self._numbers[-1], self._seed, self._n_jobs)
            parts, scores = [], []
            for i, K in enumerate(self._numbers):
                parts.append(reproduced_topics(halves, K, sample, self._choice.candidates, self._n_jobs))
                scores.append(documents.log_likelihood(halves[0], self._C.words, K, self._choice, self._n_jobs))
                self._report("halves", (r + self._share_until(i)) / self._n_replicates)
            reproduced.append(parts)
            heldout.append(scores)
        logger.info("halves: %d split(s), %.2f s", self._n_replicates, perf_counter() - begin)
        return directions, reproduced, heldout

    def _halves(self, split: int, sides: tuple[HalfSource, HalfSource]) -> tuple[Half, Half]:
        with warnings.catch_warnings():
            # Said of the whole already; and halves need not be accurate.
            warnings.simplefilter("ignore", FractionalCountsWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            seed = (self._seed + split) % 2**32
            return halves_of(self._source, self._C, self._numbers[-1], seed, self._n_jobs, sides)

    def _fits(
        self, pairs: Eigenpairs, keep_models: bool
    ) -> tuple[list[Rectified], list[dict[str, float]], dict[int, TopicModel]]:
        """Topics of every number: how ENN went, metrics, and the models where they are kept."""
        C, begin = self._C, perf_counter()
        reference = ManyGroups(self._source, n_jobs=self._n_jobs, random_state=self._seed)
        if C.words.all_used:
            reference.operator = C
        judge = Judge(reference, self._names, self._seed, self._n_jobs)
        fits: list[Rectified] = []
        models: dict[int, TopicModel] = {}
        for i, K in enumerate(self._numbers):
            self._report("fits", self._share_until(i - 1))
            known = KnownEigenpairs(pairs.vectors, pairs.values, C.words)
            # Incoherence reads characteristic words off the anchors' rows.
            rows = C if keep_models or "mst_incoherence" in self._names else None
            learned = learn(known, K, ENN(), self._choice, RectifyContext(n_jobs=self._n_jobs), rows=rows)
            model = learned.model.with_vocabulary(self._source.words)
            judge.add(model)
            fits.append(learned.rectified)
            if keep_models:
                models[K] = model
        results = judge.results()
        self._report("fits", 1.0)
        logger.info("fits: %d numbers of topics, %.2f s", len(self._numbers), perf_counter() - begin)
        return fits, results, models

    def _share_until(self, last: int) -> float:
        """Share of the work of numbers up to this one, which grows faster than they do."""
        work = np.array(self._numbers, dtype=np.float64) ** 1.5
        return float(work[: last + 1].sum() / work.sum())

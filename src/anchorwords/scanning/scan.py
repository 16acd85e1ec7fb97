"""Many numbers of topics from one decomposition of the co-occurrence.

Every K starts ENN from the leading K of the same eigenpairs, as a separate fit would. No K starts from the solution of
another: the first steps of ENN decide which solution it converges to, and a start near another solution leads to other
topics.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from time import perf_counter
from typing import Any

import numpy as np

from .._progress import shown_progress
from .._validation import check_n_jobs, check_seed
from ..anchors.given import guided_choice
from ..exceptions import InputError
from ..learn import KnownEigenpairs, learn
from ..linalg.parallel import limited_threads, one_library_thread
from ..linalg.randomized import Eigenpairs
from ..model import TopicModel
from ..rectify.progress import Report, eigenpair_progress
from ..rectify.rectifiers import ENN, RectifyContext
from ..rectify.result import Rectified
from ..rectify.start import starting_eigenpairs
from ..statistics.of_source import cooccurrence_of
from .comparison import HalvesComparison
from .grid import first_numbers
from .inputs import checked_metrics, checked_numbers, documents_of, possible_numbers
from .judged import Judge, ManyGroups
from .levels import levels_of, supported_levels
from .recommend import recommend
from .record import Scan

logger = logging.getLogger("anchorwords.scan")

# Cheap metrics: those of accuracy need norms of the original co-occurrence, which cost as much as a fit of few topics.
_METRICS = ("npmi_coherence", "topic_diversity", "dissimilarity", "specificity")
# Eigenvalues after the last one, for its gap.
_FURTHER = 2


def scan(
    X: Any,
    n_components: Any = None,
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
    """Compare numbers of topics, and recommend one if the data single it out.

    If the data support a few neighbouring numbers that they do not distinguish, the scan names these. If they do not
    narrow the choice, it names up to three levels of detail. The topics of every number are those of
    :class:`anchorwords.AnchorTopicModel` with that ``n_components``, computed from one decomposition for all. Besides
    metrics, the scan compares two random halves of the documents: how many directions of the co-occurrence replicate in
    both, how many topics do, and how well topics of one half predict documents of the other.

    Parameters
    ----------
    X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks of counts
        Data larger than memory are read in several passes, as in ``fit``.
    n_components : iterable of int, or None
        Numbers of topics, in any order. Those larger than the number of words are left out, with a warning. By default the
        scan chooses numbers from 5 to 80 (fewer for fewer than 800 documents), adds numbers up to 160 if a level lies at the
        end, and adds the neighbours of the number that the data support.
    random_state : int
        Seed of the splits into halves. Topics do not depend on it beyond rounding.
    n_jobs : int or None
        Number of threads; results do not depend on it.
    n_replicates : int
        Number of splits into halves to average over. One is cheap; each further one costs about a fifth of a fit. With 0 the
        documents are not split: there are no levels, and a recommendation is based on eigenvalues alone.
    min_anchor_docs : int, float or "auto"
        As in :class:`anchorwords.AnchorTopicModel`; "auto" is decided by the largest number of topics.
    metrics : iterable of str
        Names of :data:`anchorwords.metrics.METRICS`. Metrics of accuracy cost more than the default ones.
    keep_models : bool
        Whether to keep the model of every number.
    progress : callable, optional
        Called with the name of a stage and the completed share of it.
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
    numbers = None if n_components is None else checked_numbers(n_components)
    names = checked_metrics(metrics)
    seed, jobs = check_seed(random_state), check_n_jobs(n_jobs)
    if isinstance(n_replicates, bool) or not isinstance(n_replicates, (int, np.integer)) or n_replicates < 0:
        raise InputError(f"n_replicates must be a non-negative whole number, but is {n_replicates!r}.")
    with shown_progress("Scan", verbose, progress) as report, limited_threads(jobs), one_library_thread():
        return _Scanner(X, numbers, names, seed, jobs, int(n_replicates), min_anchor_docs, report).run(keep_models)


class _Scanner:
    """The stages of a scan, one after the other."""

    def __init__(
        self,
        X: Any,
        numbers: list[int] | None,
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
        n_possible = operator.shape[0]
        self._chosen_here = numbers is None
        if numbers is None:
            numbers = first_numbers(operator.n_docs, n_possible)
        numbers = possible_numbers(numbers, n_possible, "usable words")
        self._choice = choice = guided_choice(
            numbers[-1 if isinstance(min_anchor_docs, str) else 0], None, None, min_anchor_docs,
            used=operator.words.mask, df=operator.document_frequencies, n_docs=operator.n_docs,
        )  # fmt: skip
        if choice.candidates is not None:
            n_possible = int(choice.candidates.sum())
            if self._chosen_here:
                numbers = [K for K in numbers if n_possible >= K] or [n_possible]
            numbers = possible_numbers(numbers, n_possible, "words that may be anchors")
        self._numbers, self._n_possible = numbers, n_possible
        report("statistics", 1.0)

    def run(self, keep_models: bool) -> Scan:
        """Run all stages."""
        comparison = HalvesComparison(
            self._source, self._C, self._choice, self._n_replicates, self._seed, self._n_jobs, self._report
        )
        halves = (
            comparison.of_chosen_numbers(self._numbers, self._n_possible)
            if self._chosen_here
            else comparison.of(self._numbers)
        )
        self._numbers = halves.numbers
        pairs = self._eigenpairs()
        fits, measured, models = self._fits(pairs, keep_models)
        candidates = tuple(
            halves.candidate(i, measured[i], fits[i].n_iter, fits[i].converged) for i in range(len(self._numbers))
        )
        levels = levels_of(candidates, halves.directions)
        plausible, reasons = recommend(candidates, halves.directions, pairs.values, levels)
        supported = [one for one in candidates if one.n_components in plausible]
        if supported:
            levels = supported_levels(supported) if supported[0].reproduced else []
        return Scan(
            tuple(self._numbers), plausible[0] if len(plausible) == 1 else None, reasons, pairs.values, halves.directions,
            candidates, models, self._C.n_docs, self._C.shape[0], self._choice.threshold, tuple(levels), plausible,
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

    def _fits(
        self, pairs: Eigenpairs, keep_models: bool
    ) -> tuple[list[Rectified], list[dict[str, float]], dict[int, TopicModel]]:
        """Topics of every number: the result of ENN, the metrics, and the models if they are kept."""
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
            # mst_incoherence takes characteristic words from the rows of the anchors.
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
        """Share of the work up to this number, which grows faster than the number of topics."""
        work = np.array(self._numbers, dtype=np.float64) ** 1.5
        return float(work[: last + 1].sum() / work.sum())

"""From counts to a TopicModel: LR-JSMF (Algorithm 6), RAW (Algorithm 2), PALM + LAW, and plain AW."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ._typing import BoolArray, FloatArray, SparseLike
from ._validation import check_n_components
from .anchors.dense import anchor_words
from .anchors.given import Choice, guided_choice
from .anchors.lowrank import clipped_rows, low_rank_anchor_words
from .anchors.tandem import anchor_rows_of
from .corpus.blocks import BlockSource
from .exceptions import InputError
from .linalg.fixed_point import Iteration
from .linalg.randomized import Eigenpairs
from .model import TopicModel, embed_words
from .rectify.alternating import rectify_ap
from .rectify.course import Course
from .rectify.enn import rectify_enn
from .rectify.options import AP, ENN, PALM, resolve_rectifier
from .rectify.palm import rectify_palm
from .rectify.result import Callback, Rectified
from .rectify.start import starting_eigenpairs
from .refine.refinement import Refinement, refine_topics
from .statistics.moments import carries_a_pair, with_pairs
from .statistics.operator import CooccurrenceOperator
from .statistics.sketch import CooccurrenceSketch
from .statistics.streamed import StreamedOperator

logger = logging.getLogger("anchorwords.fit")

# Columns that are multiplied in one pass over documents on disk: wider than in memory, for fewer passes.
_STREAMED_WIDTH = 16

# Called with the name of the stage and the share of it that is done.
Progress: TypeAlias = Callable[[str, float], None]


class Fit(NamedTuple):
    """A model and the records of the stages that led to it.

    Attributes
    ----------
    model : TopicModel
    rectified : Rectified or None
    eigenpairs : Eigenpairs or None
        The start of ENN.
    n_docs, n_skipped : int
        Documents used, and those with fewer than two tokens.
    """

    model: TopicModel
    rectified: Rectified | None
    eigenpairs: Eigenpairs | None
    n_docs: int
    n_skipped: int

    @property
    def course(self) -> Course:
        """How it went, as the estimator and its folder remember it."""
        history = () if self.rectified is None else self.rectified.history
        converged = self.rectified is None or self.rectified.converged
        return Course(len(history), converged, self.n_docs, self.n_skipped, history)


def fit_topics(
    data: SparseLike | BlockSource,
    n_components: int,
    *,
    rectifier: Any = "enn",
    anchors: Any = None,
    forbidden: Any = None,
    min_anchor_docs: float = 1,
    vocabulary: Sequence[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    start: FloatArray | None = None,
    refinement: Refinement | None = None,
) -> Fit:
    """Learn topics from counts as check_counts returns them, or from blocks of them that are read anew for each pass.

    Words that never occur in a usable document take no part and are put back at the end. Parameters are those
    of :class:`anchorwords.AnchorTopicModel`, guidance among them (see :func:`guided_choice`), whose words are looked up
    in the ``vocabulary``. ``start`` has a row a column of the data, and columns near its leading eigenvectors. A
    ``refinement`` goes over the documents again: :mod:`anchorwords.refine.refinement`.
    """
    options = resolve_rectifier(rectifier)
    if start is not None and not isinstance(options, ENN):
        raise InputError("a start serves the eigenpairs that ENN begins with: use rectifier='enn', or leave it out.")
    report = progress or _silent
    begin = perf_counter()
    report("statistics", 0.0)
    operator, used, n_counts = _operator(data, n_jobs)
    K = check_n_components(n_components, operator.shape[0], f"usable words (n_features = {used.size})")
    choice = guided_choice(
        K, anchors, forbidden, min_anchor_docs,
        used=used, df=operator.document_frequencies, n_docs=operator.n_docs, vocabulary=vocabulary,
    )  # fmt: skip
    report("statistics", 1.0)
    logger.info(
        "statistics: %d documents (%d too short), %d words, %d counts, %.2f s",
        operator.n_docs, operator.n_skipped, operator.shape[0], n_counts, perf_counter() - begin,
    )  # fmt: skip

    eigenpairs = rectified = None
    if isinstance(options, (ENN, PALM)):
        begin = perf_counter()
        if isinstance(options, ENN):
            eigenpairs = starting_eigenpairs(
                operator,
                K,
                random_state,
                start=None if start is None else start[used],
                search=True,  # a sketch may never have seen a part of the data
                block=_STREAMED_WIDTH if isinstance(operator, StreamedOperator) else None,
                callback=lambda _, worst: report("eigenpairs", _share(worst, 1.0, 1e7)),
            )
            logger.info("eigenpairs: %d products with C, %.2f s", eigenpairs.n_passes, perf_counter() - begin)
            begin = perf_counter()
            rectified = rectify_enn(
                (eigenpairs.vectors, eigenpairs.values),
                K,
                n_jobs=n_jobs,
                callback=_reporter(report, options.tol, options.max_iter),
                **asdict(options),
            )
        else:
            rectified = rectify_palm(
                operator, K, random_state=random_state,
                callback=_reporter(report, options.tol, options.max_iter), **asdict(options),
            )  # fmt: skip
        _log_rectified(rectified, begin)
        begin = perf_counter()
        report("topics", 0.0)
        model = low_rank_anchor_words(rectified.Y, anchors=choice.groups, candidates=choice.candidates, n_jobs=n_jobs)
    else:
        C = operator.to_matrix()
        if isinstance(options, AP):
            begin = perf_counter()
            rectified = rectify_ap(C, K, callback=_reporter(report, options.tol, options.max_iter), **asdict(options))
            _log_rectified(rectified, begin)
            C = rectified.C  # type: ignore[assignment]
        begin = perf_counter()
        report("topics", 0.0)
        model = anchor_words(C, K, anchors=choice.groups, candidates=choice.candidates, n_jobs=n_jobs)
    model = with_original_rows(model, operator)
    report("topics", 1.0)
    logger.info("topics: %d anchors, raw sum of A %.4f, %.2f s", K, model.A_raw_sum, perf_counter() - begin)
    model = embed_words(model, used)
    if refinement is not None:
        model = _refined(model, data, refinement, choice, used, operator, n_jobs, report)
    return Fit(model, rectified, eigenpairs, operator.n_docs, operator.n_skipped)


def _refined(
    model: TopicModel,
    data: SparseLike | BlockSource,
    options: Refinement,
    choice: Choice,
    used: BoolArray,
    operator: CooccurrenceOperator | StreamedOperator,
    n_jobs: int | None,
    report: Progress,
) -> TopicModel:
    begin = perf_counter()
    report("refinement", 0.0)
    candidates = used.copy()
    if choice.candidates is not None:
        candidates[np.flatnonzero(used)] = choice.candidates
    # Documents that carry no pair, which Eq. 1 leaves out, would draw A to the prior.
    counts = None if isinstance(data, BlockSource) else with_pairs(data)
    refined = refine_topics(
        model, counts, lambda: (with_pairs(block()) for block in data.lazy_blocks()) if counts is None else [counts],
        options, n_given=len(choice.groups), candidates=candidates, n_jobs=n_jobs, progress=report,
    )  # fmt: skip
    assert refined.log_likelihood is not None
    logger.info(
        "refinement: %d sweeps, log-likelihood a token %.4f -> %.4f, %.2f s", len(refined.log_likelihood),
        refined.log_likelihood[0], refined.log_likelihood[-1], perf_counter() - begin,
    )  # fmt: skip
    report("refinement", 1.0)
    place = np.cumsum(used) - 1
    rows = sp.coo_array(anchor_rows_of(refined, lambda words: operator.rows(place[words])))
    shape = (refined.n_components, refined.n_words)
    placed = sp.csr_array((rows.data, (rows.row, np.flatnonzero(used)[rows.col])), shape=shape)
    return replace(refined, anchor_rows=placed)


def fit_sketch(
    sketch: CooccurrenceSketch,
    n_components: int,
    *,
    rectifier: Any = "enn",
    anchors: Any = None,
    forbidden: Any = None,
    min_anchor_docs: float = 1,
    vocabulary: Sequence[str] | None = None,
    used: BoolArray | None = None,
    min_df: int = 1,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Learn topics of the words of a sketch, ``sketch.words(min_df)``; parameters are those of :func:`fit_topics`.

    Guidance speaks of the columns that ``vocabulary`` names, of which the words of the sketch are those in ``used``; by
    default these are the words of the sketch themselves.
    The rows of the original statistics at the anchors are not known: those of the rectified ones stand in for them.
    """
    options = resolve_rectifier(rectifier)
    if not isinstance(options, ENN):
        raise InputError(
            "a sketch holds leading eigenpairs, which only ENN rectifies: use rectifier='enn', or give the documents."
        )
    report = progress or _silent
    begin = perf_counter()
    report("eigenpairs", 0.0)
    values, vectors = sketch.eigh(n_components, min_df=min_df)
    report("eigenpairs", 1.0)
    logger.info("eigenpairs: of the sketch, %.2f s", perf_counter() - begin)
    K = values.size
    df = sketch.document_frequencies
    choice = guided_choice(
        K, anchors, forbidden, min_anchor_docs,
        used=np.ones(vectors.shape[0], dtype=bool) if used is None else used, df=df[df >= min_df], n_docs=sketch.n_docs,
        vocabulary=sketch.words(min_df) if vocabulary is None and sketch.named else vocabulary,
    )  # fmt: skip
    begin = perf_counter()
    rectified = rectify_enn(
        (vectors, values), K, n_jobs=n_jobs, callback=_reporter(report, options.tol, options.max_iter), **asdict(options)
    )  # fmt: skip
    _log_rectified(rectified, begin)
    report("topics", 0.0)
    model = low_rank_anchor_words(rectified.Y, anchors=choice.groups, candidates=choice.candidates, n_jobs=n_jobs)
    rows = anchor_rows_of(model, lambda words: sp.csr_array(clipped_rows(rectified.Y, words)))
    model = replace(model, anchor_rows=rows)
    report("topics", 1.0)
    return Fit(model, rectified, None, sketch.n_docs, sketch.n_skipped)


def with_original_rows(model: TopicModel, operator: CooccurrenceOperator | StreamedOperator) -> TopicModel:
    """The model with its anchors' rows of the original co-occurrence, scaled to sum to one; of groups their mean."""
    return replace(model, anchor_rows=anchor_rows_of(model, operator.rows))


def _operator(
    data: SparseLike | BlockSource, n_jobs: int | None
) -> tuple[CooccurrenceOperator | StreamedOperator, BoolArray, int]:
    """C of the words in use, which those are, and how many counts there are."""
    if isinstance(data, BlockSource):
        streamed = StreamedOperator(data, n_jobs=n_jobs)
        return streamed, streamed.used, streamed.n_entries
    counts, used = _drop_unused(data)
    return CooccurrenceOperator(counts, n_jobs=n_jobs), used, counts.nnz


def _drop_unused(counts: SparseLike) -> tuple[SparseLike, Any]:
    used = np.bincount(counts[carries_a_pair(counts)].indices, minlength=counts.shape[1]) > 0
    return (counts if used.all() else sp.csr_array(counts[:, np.flatnonzero(used)])), used


def _log_rectified(rectified: Rectified, begin: float) -> None:
    logger.info(
        "rectification: %s, %d steps, %s, violation %.2g, %.2f s",
        rectified.method, rectified.n_iter, "converged" if rectified.converged else "not converged",
        rectified.history[-1].violation, perf_counter() - begin,
    )  # fmt: skip


def _reporter(report: Progress, tol: float, max_iter: int) -> Callback:
    """Share of a rectification that is done: by its steps, or by the digits of the violation, whichever is more."""
    first: list[float] = []

    def callback(step: int, iteration: Iteration) -> None:
        if not first:
            first.append(iteration.violation)
        digits = _share(iteration.violation, tol, first[0] / tol) if tol > 0.0 else 0.0
        report("rectification", min(max(step / max_iter, digits), 1.0))

    return callback


def _share(value: float, goal: float, span: float) -> float:
    """How far value has come down, on a logarithmic scale, from goal * span to goal."""
    if not value > goal:
        return 1.0
    if not span > 1.0:
        return 0.0
    return float(np.clip(1.0 - np.log(value / goal) / np.log(span), 0.0, 1.0))


def _silent(stage: str, share: float) -> None:
    """No progress wanted."""

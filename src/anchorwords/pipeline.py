"""From counts to a TopicModel: LR-JSMF (Algorithm 6), RAW (Algorithm 2), PALM + LAW, and plain AW."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, replace
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from ._typing import BoolArray, FloatArray, SparseLike
from ._validation import check_n_components
from .anchors.dense import anchor_words
from .anchors.lowrank import low_rank_anchor_words
from .anchors.select import check_anchors
from .corpus.blocks import BlockSource
from .exceptions import InputError
from .linalg.fixed_point import Iteration
from .linalg.randomized import Eigenpairs
from .model import TopicModel, embed_words
from .rectify.alternating import rectify_ap
from .rectify.enn import rectify_enn
from .rectify.options import AP, ENN, PALM, resolve_rectifier
from .rectify.palm import rectify_palm
from .rectify.result import Callback, Rectified
from .rectify.start import starting_eigenpairs
from .statistics.moments import carries_a_pair
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


def fit_topics(
    data: SparseLike | BlockSource,
    n_components: int,
    *,
    rectifier: Any = "enn",
    anchors: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    start: FloatArray | None = None,
) -> Fit:
    """Learn topics from counts as check_counts returns them, or from blocks of them that are read anew for each pass.

    Words that never occur in a usable document take no part and are put back at the end. Parameters are those
    of :class:`anchorwords.AnchorTopicModel`; ``anchors`` are column indices here. ``start`` has a row a column of the
    data, and columns near its leading eigenvectors.
    """
    options = resolve_rectifier(rectifier)
    if start is not None and not isinstance(options, ENN):
        raise InputError("a start serves the eigenpairs that ENN begins with: use rectifier='enn', or leave it out.")
    report = progress or _silent
    begin = perf_counter()
    report("statistics", 0.0)
    operator, used, n_counts = _operator(data, n_jobs)
    K = check_n_components(n_components, operator.shape[0], f"usable words (n_features = {used.size})")
    fixed = used_positions(anchors, used, K)
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
        model = low_rank_anchor_words(rectified.Y, anchors=fixed, n_jobs=n_jobs)
    else:
        C = operator.to_matrix()
        if isinstance(options, AP):
            begin = perf_counter()
            rectified = rectify_ap(C, K, callback=_reporter(report, options.tol, options.max_iter), **asdict(options))
            _log_rectified(rectified, begin)
            C = rectified.C  # type: ignore[assignment]
        begin = perf_counter()
        report("topics", 0.0)
        model = anchor_words(C, K, anchors=fixed, n_jobs=n_jobs)
    model = with_original_rows(model, operator)
    report("topics", 1.0)
    logger.info("topics: %d anchors, raw sum of A %.4f, %.2f s", K, model.A_raw_sum, perf_counter() - begin)
    return Fit(embed_words(model, used), rectified, eigenpairs, operator.n_docs, operator.n_skipped)


def fit_sketch(
    sketch: CooccurrenceSketch,
    n_components: int,
    *,
    rectifier: Any = "enn",
    anchors: Any = None,
    min_df: int = 1,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Learn topics of the words of a sketch, ``sketch.words(min_df)``; parameters are those of :func:`fit_topics`.

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
    K, n_words = values.size, vectors.shape[0]
    fixed = check_anchors(anchors, n_words, K)
    begin = perf_counter()
    rectified = rectify_enn(
        (vectors, values), K, n_jobs=n_jobs, callback=_reporter(report, options.tol, options.max_iter), **asdict(options)
    )  # fmt: skip
    _log_rectified(rectified, begin)
    report("topics", 0.0)
    model = low_rank_anchor_words(rectified.Y, anchors=fixed, n_jobs=n_jobs)
    assert rectified.Y is not None
    rows = np.maximum(rectified.Y[model.anchors] @ rectified.Y.T, 0.0)
    model = replace(model, anchor_rows=sp.csr_array(rows / rows.sum(axis=1, keepdims=True)))
    report("topics", 1.0)
    return Fit(model, rectified, None, sketch.n_docs, sketch.n_skipped)


def with_original_rows(model: TopicModel, operator: CooccurrenceOperator | StreamedOperator) -> TopicModel:
    """The model with its anchors' rows of the original co-occurrence, scaled to sum to one."""
    rows = operator.rows(model.anchors)
    sums = np.asarray(rows.sum(axis=1)).ravel()
    return replace(model, anchor_rows=sp.csr_array(sp.diags_array(1.0 / sums) @ rows))


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


def used_positions(anchors: Any, used: Any, K: int) -> Any:
    """Given anchors, columns of all words, as positions among the used ones."""
    index = check_anchors(anchors, used.size, K)
    if index.size and not used[index].all():
        raise InputError(f"anchors must occur in the documents, but column {index[~used[index]][0]} never does.")
    return (np.cumsum(used) - 1)[index]


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

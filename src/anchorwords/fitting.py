"""A whole fit: documents or a sketch in, a model with its provenance out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from ._typing import FloatArray, SparseLike
from ._validation import check_n_components
from .anchors.given import Choice, guided_choice
from .anchors.tandem import anchor_rows_of
from .learn import Learned, learn, with_rectified_rows
from .model import TopicModel
from .provenance import Provenance
from .rectify.progress import Report, silent
from .rectify.rectifiers import Rectifier, RectifyContext, resolve_rectifier
from .refine.refinement import Refinement, refine_topics
from .sources.source import Source
from .statistics.cooccurrence import Cooccurrence
from .statistics.of_sketch import SketchedCooccurrence
from .statistics.of_source import cooccurrence_of, documents_with_pairs

logger = logging.getLogger("anchorwords.fit")


@dataclass(frozen=True)
class FitOptions:
    """Parameters of a fit, those of :class:`anchorwords.AnchorTopicModel`.

    Attributes
    ----------
    n_components : int
    rectifier : str, object or None
    anchors, forbidden, min_anchor_docs
        Guidance; see :func:`anchorwords.anchors.given.guided_choice`.
    refinement : Refinement or None
    random_state : int
    n_jobs : int or None
    progress : callable
        Called with the name of a stage and the share of it that is done.
    """

    n_components: int
    rectifier: Any = "enn"
    anchors: Any = None
    forbidden: Any = None
    min_anchor_docs: Any = 1
    refinement: Refinement | None = None
    random_state: int = 0
    n_jobs: int | None = None
    progress: Report = silent


def fit_documents(
    source: Source, options: FitOptions, *, vocabulary: Sequence[str] | None = None, start: FloatArray | None = None
) -> TopicModel:
    """Learn topics from documents.

    Words that never occur in a document with two tokens take no part in the statistics; the model has rows for them.

    Parameters
    ----------
    source : Source
    options : FitOptions
    vocabulary : sequence of str, optional
        The word of each column, for guidance by words; by default those of the source.
    start : (all words, any) array, optional
        Columns near the leading eigenvectors: :meth:`CooccurrenceSketch.basis`.
    """
    report, n_jobs = options.progress, options.n_jobs
    rectifier = resolve_rectifier(options.rectifier)
    words = source.words if vocabulary is None else vocabulary
    begin = perf_counter()
    report("statistics", 0.0)
    C = cooccurrence_of(source, n_jobs=n_jobs)
    choice = _choice(C, options, words)
    report("statistics", 1.0)
    logger.info(
        "statistics: %d documents (%d too short), %d words, %d counts, %.2f s",
        C.n_docs, C.n_skipped, C.shape[0], C.n_counts, perf_counter() - begin,
    )  # fmt: skip
    context = _context(options, start=None if start is None else start[C.words.mask], like=source.like)
    learned = learn(C, options.n_components, rectifier, choice, context, rows=C)
    model = learned.model
    if options.refinement is not None:
        model = _refined(model, source, options.refinement, choice, C, n_jobs, report)
    facts = _provenance(learned, C, choice).with_changes(
        reading=source.reading, tokenized=source.tokenized, vocabulary_rule=source.vocabulary_rule
    )
    return replace(model, provenance=facts, left_out=source.left_out).with_vocabulary(words)


def fit_sketch(
    sketch: SketchedCooccurrence, options: FitOptions, *, vocabulary: Sequence[str] | None = None
) -> TopicModel:
    """Learn topics from a sketch; the rows of the rectified statistics stand in for those of the original ones."""
    rectifier: Rectifier = resolve_rectifier(options.rectifier)
    words = sketch.vocabulary if vocabulary is None else vocabulary
    choice = _choice(sketch, options, words)
    learned = learn(sketch, options.n_components, rectifier, choice, _context(options))
    model = with_rectified_rows(learned.model)
    return replace(model, provenance=_provenance(learned, sketch, choice)).with_vocabulary(words)


def _choice(C: Cooccurrence | SketchedCooccurrence, options: FitOptions, words: Sequence[str] | None) -> Choice:
    K = check_n_components(options.n_components, C.shape[0], f"usable words (n_features = {C.words.n_words})")
    return guided_choice(
        K, options.anchors, options.forbidden, options.min_anchor_docs,
        used=C.words.mask, df=C.document_frequencies, n_docs=C.n_docs, vocabulary=words,
    )  # fmt: skip


def _context(options: FitOptions, *, start: Any = None, like: Any = None) -> RectifyContext:
    return RectifyContext(options.random_state, start, like, options.n_jobs, options.progress)


def _provenance(learned: Learned, C: Cooccurrence | SketchedCooccurrence, choice: Choice) -> Provenance:
    rectified = learned.rectified
    return Provenance(
        n_docs=C.n_docs, n_skipped=C.n_skipped, anchor_threshold=choice.threshold,
        n_iter=rectified.n_iter, converged=rectified.converged, history=rectified.history,
    )  # fmt: skip


def _refined(
    model: TopicModel,
    source: Source,
    options: Refinement,
    choice: Choice,
    C: Cooccurrence,
    n_jobs: int | None,
    report: Report,
) -> TopicModel:
    begin = perf_counter()
    report("refinement", 0.0)
    # Documents that carry no pair, which Eq. 1 leaves out, would draw A to the prior.
    refined = refine_topics(
        model, documents_with_pairs(source), options, n_given=len(choice.groups),
        candidates=choice.candidates_among(C.words), n_jobs=n_jobs, progress=report,
    )  # fmt: skip
    assert refined.log_likelihood is not None
    logger.info(
        "refinement: %d sweeps, log-likelihood per token %.4f -> %.4f, %.2f s", len(refined.log_likelihood),
        refined.log_likelihood[0], refined.log_likelihood[-1], perf_counter() - begin,
    )  # fmt: skip
    report("refinement", 1.0)

    def rows(words: Any) -> SparseLike:
        return C.rows(np.array(C.words.places(words), dtype=np.intp))

    return replace(refined, anchor_rows=C.words.spread_columns(anchor_rows_of(refined, rows)))

"""A whole fit: documents or a sketch in, a model with its provenance out."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from ._typing import FloatArray, SparseLike
from ._validation import check_n_components
from .anchors.forbidden import forbidden_topics
from .anchors.given import Choice, check_strength, guided_choice
from .anchors.tandem import Groups, anchor_rows_of
from .devices import on_gpu
from .exceptions import GuidanceWarning
from .fit_time import say_if_long
from .interpret.seeds import warn_of_drift
from .learn import Learned, learn, read_off, with_rectified_rows
from .model import TopicModel
from .provenance import ForbiddenTopic, Provenance
from .rectify.progress import Report, silent
from .rectify.rectifiers import ENN, Rectifier, RectifyContext, resolve_rectifier
from .refine.guided import Guided
from .refine.options import Refinement
from .refine.refinement import refine_topics
from .sources.in_use import WordsInUse
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
    strength : float
        How strongly the refinement holds guided topics to their seeds; see :mod:`anchorwords.refine.guided`.
    random_state : int
    n_jobs : int or None
    progress : callable
        Called with the name of a stage and the share of it that is done.
    like : array or None
        An array whose namespace and device the fit of a sketch is to use; documents have one of their own, ``Source.like``.
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
    strength: float = 0.0
    like: Any = None


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
    rule = source.vocabulary_rule
    choice = _choice(C, options, words, frozenset() if rule is None else rule.stop_set)
    report("statistics", 1.0)
    logger.info(
        "statistics: %d documents (%d too short), %d words, %d counts, %.2f s",
        C.n_docs, C.n_skipped, C.shape[0], C.n_counts, perf_counter() - begin,
    )  # fmt: skip
    context = _context(options, start=None if start is None else start[C.words.mask], like=source.like)
    strength = check_strength(options.strength)
    if isinstance(rectifier, ENN) and not on_gpu(source.like):  # the estimate is one for processors
        say_if_long(
            C.shape[0], C.n_counts, options.n_components, rectifier.rows_of(C.shape[0], options.n_components),
            options.refinement is not None, n_jobs,
        )  # fmt: skip
    learned = learn(C, options.n_components, rectifier, choice.lifted(), context, rows=C)

    def finished(model: TopicModel, choice: Choice) -> TopicModel:
        if options.refinement is None:
            return model
        return _refined(model, source, options.refinement, choice, strength, C, n_jobs, report)

    def again(choice: Choice) -> TopicModel:
        return read_off(learned.rectified, options.n_components, choice, context, words=C.words, rows=C).model

    model, excluded = _without_forbidden(finished(learned.model, choice.lifted()), choice, C.words, words,
                                         lambda choice: finished(again(choice), choice))  # fmt: skip
    facts = _provenance(learned, C, choice).with_changes(
        reading=source.reading, tokenized=source.tokenized, vocabulary_rule=source.vocabulary_rule,
        forbidden_topics=excluded,
    )  # fmt: skip
    model = replace(model, provenance=facts, left_out=source.left_out).with_vocabulary(words)
    warn_of_drift(model, _seeds(choice, C.words), None if options.refinement is None else strength)
    return model


def fit_sketch(
    sketch: SketchedCooccurrence, options: FitOptions, *, vocabulary: Sequence[str] | None = None
) -> TopicModel:
    """Learn topics from a sketch; the rows of the rectified statistics stand in for those of the original ones."""
    rectifier: Rectifier = resolve_rectifier(options.rectifier)
    words = sketch.vocabulary if vocabulary is None else vocabulary
    choice = _choice(sketch, options, words)
    context = _context(options, like=options.like)
    check_strength(options.strength)
    learned = learn(sketch, options.n_components, rectifier, choice.lifted(), context)

    def again(choice: Choice) -> TopicModel:
        return read_off(learned.rectified, options.n_components, choice, context, words=sketch.words).model

    model, excluded = _without_forbidden(learned.model, choice, sketch.words, words, again)
    facts = _provenance(learned, sketch, choice).with_changes(forbidden_topics=excluded)
    model = replace(with_rectified_rows(model), provenance=facts).with_vocabulary(words)
    warn_of_drift(model, _seeds(choice, sketch.words))
    return model


def _seeds(choice: Choice, words: WordsInUse) -> Groups:
    """Seed words of the first topics, in columns of all words."""
    positions = words.positions
    return tuple(tuple(int(positions[word]) for word in group) for group in choice.groups)


def _without_forbidden(
    model: TopicModel,
    choice: Choice,
    words: WordsInUse,
    vocabulary: Sequence[str] | None,
    again: Callable[[Choice], TopicModel],
) -> tuple[TopicModel, tuple[ForbiddenTopic, ...]]:
    """Learn topics again without those that forbidden words stand for; see :mod:`anchorwords.anchors.forbidden`.

    ``model`` was learned without the ban; if nothing is forbidden, it is returned as it is.
    """
    if not choice.forbidden:
        return model, ()
    positions = words.positions
    found = forbidden_topics(model, (int(positions[word]) for word in choice.forbidden), _seeds(choice, words))
    neutral = np.zeros(words.n_words, dtype=bool)
    for topic in found:
        neutral[list(topic.columns)] = True
    left = choice.without(neutral[words.mask]) if found else choice
    n_left, K = left.n_choosable(), model.n_components
    if found and n_left is not None and n_left < K:
        warnings.warn(
            f"without the topics that the forbidden words stand for, only {n_left} words are left to choose {K} anchors "
            "from, so that only the forbidden words themselves are excluded: forbid fewer words, or lower min_anchor_docs "
            "or n_components.",
            GuidanceWarning,
            stacklevel=3,
        )
        left, found = choice, ()
    for topic in found:
        logger.info("forbidden: %s", topic.sentence(vocabulary))
    return again(left), found


def _choice(
    C: Cooccurrence | SketchedCooccurrence,
    options: FitOptions,
    words: Sequence[str] | None,
    stop_words: Container[str] = (),
) -> Choice:
    K = check_n_components(options.n_components, C.shape[0], f"usable words (n_features = {C.words.n_words})")
    return guided_choice(
        K, options.anchors, options.forbidden, options.min_anchor_docs,
        used=C.words.mask, df=C.document_frequencies, n_docs=C.n_docs, vocabulary=words, stop_words=stop_words,
    )  # fmt: skip


def _context(options: FitOptions, *, start: Any = None, like: Any = None) -> RectifyContext:
    return RectifyContext(options.random_state, start, like, options.n_jobs, options.progress)


def _provenance(learned: Learned, C: Cooccurrence | SketchedCooccurrence, choice: Choice) -> Provenance:
    rectified = learned.rectified
    return Provenance(
        n_docs=C.n_docs, n_skipped=C.n_skipped, anchor_threshold=choice.threshold,
        n_iter=rectified.n_iter, converged=rectified.converged, history=rectified.history,
    )  # fmt: skip


def guided_by(choice: Choice, words: WordsInUse, strength: float) -> Guided:
    """Guidance of a refinement, in columns of all words."""
    neutral = None if choice.neutral is None else words.spread(choice.neutral, fill=False)
    return Guided(_seeds(choice, words), strength, neutral)


def _refined(
    model: TopicModel,
    source: Source,
    options: Refinement,
    choice: Choice,
    strength: float,
    C: Cooccurrence,
    n_jobs: int | None,
    report: Report,
) -> TopicModel:
    begin = perf_counter()
    report("refinement", 0.0)
    # Documents that carry no pair, which Eq. 1 leaves out, would draw A to the prior.
    refined = refine_topics(
        model, documents_with_pairs(source), options, guided=guided_by(choice, C.words, strength),
        candidates=choice.candidates_among(C.words), n_jobs=n_jobs, progress=report, like=source.like,
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

"""How sure the topics of a model are: error bars from documents drawn again.

Notation
--------
B, A : (N, K), (K, K)    topics and correlations: the model's own where it was refined by likelihood, else those that LAW
                         reads off its Y, of the words that occur
B_r, A_r                 those of replicate r, refined with its weights where the model was; in the order of their matches
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

from .._progress import shown_progress
from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_n_jobs, check_positive_integer, check_seed
from ..anchors.given import Choice, check_strength, guided_choice
from ..anchors.tandem import Groups
from ..exceptions import DegenerateWarning, InputError
from ..fitting import guided_by
from ..interpret.naming import topic_names
from ..interpret.ranking import columns_of, largest
from ..learn import KnownEigenpairs, topics_of
from ..linalg.parallel import limited_threads, one_library_thread
from ..metrics.matching import match_topics
from ..model import Parts, Stability, TopicModel, as_topic_model, embed_words
from ..rectify.progress import silent
from ..rectify.rectifiers import ENN, RECTIFIERS, rectifier_from_dict, resolve_rectifier
from ..refine.options import Refinement
from ..refine.refinement import refine_topics
from ..sources.convert import in_columns, read_by, require_known_words
from ..sources.in_use import WordsInUse
from .replicates import common_basis, leading_pairs, replicate_topics
from .reweighted import ReplicateStatistics

logger = logging.getLogger("anchorwords.stability")

# Words of a topic that are compared.
_TOP = 10
# The documents as they are must give the model's topics again: 0.998 on nips12 and kos (K 20), where replicates have 0.6 to
# 0.7 and a model rectified to a tolerance of 1e-6 instead of 1e-8 may have 0.85.
_SAME = 0.9


def stability(
    model: Any,
    X: Any,
    *,
    n_replicates: int = 20,
    n_shards: int = 32,
    level: float = 0.9,
    n_steps: int = 2,
    anchors: Any = None,
    forbidden: Any = None,
    min_anchor_docs: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    verbose: int = 0,
) -> Stability:
    """How much the topics of a model would differ had other documents of the same kind been collected.

    Documents are dealt to shards, shards are given random weights, and for each draw of weights topics are learned again:
    leading eigenpairs from a basis that all replicates share, then ENN and LAW as in a fit. Topics of replicates are matched
    to those read off the model's Y. Where the model was refined, each replicate is refined too, in the same way and with its
    own weights of the documents, and matched to the refined topics: it then costs somewhat more than a fit.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
        With ``Y``: fitted with ``rectifier="enn"``. Its provenance tells how it was fitted, and replicates are fitted in
        the same way; a refined model without a provenance gets ``Refinement()``, with a warning.
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        The documents of the fit, in memory or on disk. A Corpus is matched to the model by its words.
    n_replicates : int
        At least two. Twenty tell stable topics from others; the error bars of the error bars are then a fifth or so.
    n_shards : int
        At least two; no more are made than there are documents with two tokens. More cost nothing, and make the intervals
        a little more certain. Documents count as independent of each other: each run of ``n_shards`` consecutive ones is
        dealt out, one to a shard, in an order drawn for that run.
    level : float
        Of the intervals, between 0 and 1.
    n_steps : int
        Products of each replicate's own statistics with the common basis before its eigenpairs are taken. 0 is a fixed
        basis: one pass, but replicates look more alike than refits would. Each further step is a further pass.
    anchors, forbidden, min_anchor_docs : optional
        How the anchors of the fit were chosen, as given to it; replicates choose theirs likewise. By default as the model's
        provenance says; without one only groups of several words (tandem anchors) are known to have been given.
    random_state : int
        Seed. The same gives the same answer, whatever the threads, the size of blocks and where documents are kept, but
        for rounding.
    n_jobs : int or None
        Threads.
    progress : callable, optional
        Called with the name of the stage and the share of it that is done.
    verbose : int
        1 shows a progress bar in a notebook, and elsewhere the log on standard error; 0 shows nothing.

    Returns
    -------
    Stability
        Its ``n_shards`` are those made, ``n_replicates`` those that counted: one in which the anchors given do not span a
        topic each is left out. Intervals are the estimate plus and minus Student's t times the standard deviation over
        replicates, cut at 0 and 1.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=500, n_words=150, n_topics=3, random_state=0).corpus
    >>> sure = aw.stability(aw.AnchorTopicModel(3).fit(corpus), corpus)
    >>> bool((sure.prevalence_low <= sure.prevalence_high).all())
    True
    """
    begin = perf_counter()
    _check_numbers(n_replicates, n_shards, level, n_steps)
    matched: list[_Matched] = []
    guidance = (anchors, forbidden, min_anchor_docs)
    with shown_progress("Stability", verbose, progress) as report:
        fitted, statistics = _for_each_replicate(
            as_topic_model(model), read_by(model, X), lambda fitted, replicate: matched.append(_match(fitted, replicate)),
            (n_replicates, n_shards, n_steps), guidance, check_seed(random_state), check_n_jobs(n_jobs), report,
        )  # fmt: skip
        logger.info(
            "stability: %d replicates of %d shards, %d passes, %.2f s",
            len(matched), statistics.n_shards, statistics.n_passes, perf_counter() - begin,
        )  # fmt: skip
    record, found = as_topic_model(model), _summary(fitted, matched, statistics.n_shards, float(level))
    return found.with_topics(record.ids, fitted.prevalence, tuple(topic_names(record)))


def replicated_topics(
    model: Any,
    X: Any,
    use: Callable[[FloatArray, FloatArray, Parts | None], None],
    *,
    n_replicates: int = 20,
    n_shards: int = 32,
    n_steps: int = 2,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> int:
    """Call ``use(B, A, parts)`` with each replicate, its topics in the order of those of the model that they match.

    Parameters are those of :func:`stability`. Topics are not kept.

    Returns
    -------
    int
        Number of shards.
    """
    _check_numbers(n_replicates, n_shards, 0.9, n_steps)

    def matched(fitted: TopicModel, replicate: TopicModel) -> None:
        other, _ = match_topics(fitted.B, replicate.B)
        parts = replicate.parts
        if parts is not None:  # the topics, and the background as the last
            of = np.append(other, parts.n_components - 1)
            parts = replace(parts, B=parts.B[:, of], A=parts.A[np.ix_(of, of)])
        use(replicate.B[:, other], replicate.A[np.ix_(other, other)], parts)

    _, statistics = _for_each_replicate(
        as_topic_model(model), read_by(model, X), matched, (n_replicates, n_shards, n_steps), (None, None, None),
        check_seed(random_state), check_n_jobs(n_jobs), silent,
    )  # fmt: skip
    return statistics.n_shards


def _for_each_replicate(
    record: TopicModel,
    X: Any,
    use: Callable[[TopicModel, TopicModel], None],
    numbers: tuple[int, int, int],
    guidance: tuple[Any, Any, Any],
    seed: int,
    n_jobs: int | None,
    report: Callable[[str, float], None],
) -> tuple[TopicModel, ReplicateStatistics]:
    """Call ``use`` with the fitted topics and each replicate; return the fitted topics and the statistics."""
    n_replicates, n_shards, n_steps = numbers
    if not record.as_fitted:
        raise InputError(
            "the stability of edited topics cannot be measured: measure that of the model before the edits."
        )
    fitted_by = record.provenance.parameters
    rectifier, Y = _enn(fitted_by), _compression(record)
    refinement, strength = _refinement(record), check_strength(fitted_by.get("strength", 0.0))
    with limited_threads(n_jobs), one_library_thread():
        report("statistics", 0.0)
        source = require_known_words(in_columns(X, record.vocabulary, record.n_words))
        statistics = ReplicateStatistics(source, n_replicates, n_shards, seed, n_jobs)
        words = statistics.words
        choice = _choice(record, statistics, *guidance)
        _require_anchors(record, words)
        fitted = record if refinement else _fitted_topics(record, Y, words, choice, n_jobs)
        report("basis", 0.0)
        Q = common_basis(statistics, Y, seed)
        report("replicates", 0.0)
        for r, V, D in leading_pairs(statistics, Q, record.n_components, n_steps):
            pairs = KnownEigenpairs(V[words.mask], D, words)
            replicate = replicate_topics(pairs, record.n_components, rectifier, choice, n_jobs)
            if replicate is not None and refinement is not None:
                replicate = _refined(replicate, statistics, r, refinement, choice, strength, n_jobs)
            if r == 0:
                _warn_unless_same(fitted, replicate)
            elif replicate is not None:
                use(fitted, replicate)
            report("replicates", (r + 1) / (n_replicates + 1))
    return fitted, statistics


def _check_numbers(n_replicates: Any, n_shards: Any, level: Any, n_steps: Any) -> None:
    for value, name in ((n_replicates, "n_replicates"), (n_shards, "n_shards")):
        if check_positive_integer(value, name) < 2:
            raise InputError(f"{name} must be at least 2, as one says nothing about differences, but is {value!r}.")
    if not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise InputError(f"level must be a number between 0 and 1, such as 0.9, but is {level!r}.")
    if not isinstance(n_steps, (int, np.integer)) or isinstance(n_steps, bool) or n_steps < 0:
        raise InputError(f"n_steps must be a whole number, at least 0, but is {n_steps!r}.")


def _enn(parameters: Mapping[str, Any]) -> ENN:
    """ENN as the model was fitted with it, the default where that is not known."""
    rectifier = resolve_rectifier(rectifier_from_dict(parameters.get("rectifier", ENN.name)))
    if not isinstance(rectifier, ENN):
        name = repr(rectifier.name) if rectifier.name in RECTIFIERS else "None"
        raise InputError(
            f"replicates are rectified by ENN, but the model was fitted with rectifier={name}: fit it with rectifier='enn'."
        )
    return rectifier


def _compression(record: TopicModel) -> FloatArray:
    if record.Y is None:
        raise InputError(
            "the model holds no Y, which its replicates start from and are compared with: fit it with rectifier='enn'."
        )
    return np.asarray(record.Y, dtype=np.float64)


def _choice(
    record: TopicModel, statistics: ReplicateStatistics, anchors: Any, forbidden: Any, min_anchor_docs: Any
) -> Choice:
    """How replicates choose their anchors: as told, or as the model was fitted, or keeping the groups of the model."""
    fitted_by = record.provenance.parameters
    anchors = fitted_by.get("anchors") if anchors is None else anchors
    forbidden = fitted_by.get("forbidden_anchors") if forbidden is None else forbidden
    min_anchor_docs = fitted_by.get("min_anchor_docs", 1) if min_anchor_docs is None else min_anchor_docs
    if anchors is None and record.anchor_groups is not None:
        # Those given come first: up to the last group of several words all were.
        several = [k for k, group in enumerate(record.anchor_groups) if len(group) > 1]
        anchors = record.anchor_groups[: several[-1] + 1] if several else None
    words = statistics.words
    choice = guided_choice(
        record.n_components, anchors, forbidden, min_anchor_docs,
        used=words.mask, df=statistics.df[words.mask], n_docs=statistics.n_docs, vocabulary=record.vocabulary,
    )  # fmt: skip
    excluded = [column for topic in record.provenance.forbidden_topics for column in topic.columns]
    if not excluded or not choice.forbidden:
        return choice
    neutral = np.zeros(record.n_words, dtype=bool)
    neutral[excluded] = True
    return choice.without(neutral[words.mask])


def _refinement(record: TopicModel) -> Refinement | None:
    """How replicates are refined: as the model was, the defaults where nobody knows, None for spectral topics."""
    if record.log_likelihood is None:
        return None
    told = record.provenance.parameters.get("refinement")
    if told is None:
        warnings.warn(
            "the model does not say how its topics were refined, so that replicates are refined by Refinement(), which may "
            "be another way: give the fitted estimator, or the one that load_model returns.",
            DegenerateWarning,
            stacklevel=4,
        )
        return Refinement()
    return Refinement(**told)


def _refined(
    replicate: TopicModel,
    statistics: ReplicateStatistics,
    r: int,
    refinement: Refinement,
    choice: Choice,
    strength: float,
    n_jobs: int | None,
) -> TopicModel:
    """The replicate's topics after the sweeps of a fit, each document counting as often as the replicate says."""
    return refine_topics(
        replicate, statistics.paired, refinement, guided=guided_by(choice, statistics.words, strength),
        candidates=choice.candidates_among(statistics.words), weights=statistics.document_weights(r), flagged=False,
        n_jobs=n_jobs,
    )  # fmt: skip


def _groups(record: TopicModel) -> Groups:
    """Words of each topic's anchor."""
    return record.anchor_groups or tuple((int(anchor),) for anchor in record.anchors)


def _require_anchors(record: TopicModel, words: WordsInUse) -> None:
    lost = [i for group in _groups(record) for i in group if not words.mask[i]]
    if lost:
        name = f"in column {lost[0]}" if record.vocabulary is None else repr(record.vocabulary[lost[0]])
        raise InputError(f"the anchor {name} never occurs in these documents: give the documents of the fit.")


def _fitted_topics(
    record: TopicModel, Y: FloatArray, words: WordsInUse, choice: Choice, n_jobs: int | None
) -> TopicModel:
    """The model's topics read off Y, with its own anchors and in its order."""
    own, Y = [words.places(group) for group in _groups(record)], Y[words.mask]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # the fit has said it
        try:
            found = topics_of(
                Y, None, len(own), choice._replace(groups=tuple(map(tuple, own)), candidates=None), n_jobs
            )
        except InputError:  # more topics than the statistics carry: the last anchors are no pivots, but are found again
            found = topics_of(Y, None, len(own), choice, n_jobs)
    return embed_words(found, words)


class _Matched(NamedTuple):
    """A replicate beside the fitted topics: similarity, words and anchor are (K,), A is (K, K)."""

    similarity: FloatArray
    words: FloatArray
    anchor: BoolArray
    A: FloatArray


def _match(fitted: TopicModel, replicate: TopicModel) -> _Matched:
    """The replicate's topics in the order of the fitted ones they match."""
    other, distance = match_topics(fitted.B, replicate.B)
    tops, replicate_tops = _top_words(fitted), _top_words(replicate)
    shares = [np.isin(top, replicate_tops[match]).mean() for top, match in zip(tops, other, strict=True)]
    return _Matched(
        1.0 - distance, np.array(shares), replicate.anchors[other] == fitted.anchors, replicate.A[np.ix_(other, other)]
    )


def _top_words(model: TopicModel) -> list[IntArray]:
    """The most probable words of each topic, none of no probability."""
    return [(top := largest(column, _TOP))[column[top] > 0.0] for column in columns_of(model.B)]


def _warn_unless_same(fitted: TopicModel, as_they_are: TopicModel | None) -> None:
    """Warn where the documents as they are do not give the model again."""
    similarity = 0.0 if as_they_are is None else float(_match(fitted, as_they_are).similarity.mean())
    if similarity < _SAME:
        warnings.warn(
            f"the documents as they are give other topics than the model's (similarity {similarity:.2f}), so that stability "
            "says less than it seems: give the documents of the fit, and how its anchors were chosen; a model of a sketch "
            "or of another rectifier is not what they give again.",
            DegenerateWarning,
            stacklevel=4,
        )


def _summary(fitted: TopicModel, matched: list[_Matched], n_shards: int, level: float) -> Stability:
    if len(matched) < 2:
        raise InputError(
            "no two replicates could be made with the anchors given, as these are not independent of each other in parts of "
            "the documents: give more documents, or fewer anchors."
        )
    A = np.array([one.A for one in matched])
    prevalence = _interval(fitted.prevalence, A.sum(axis=2), n_shards, level)
    correlation = _interval(fitted.A, A, n_shards, level)
    return Stability(
        similarity=np.mean([one.similarity for one in matched], axis=0),
        words=np.mean([one.words for one in matched], axis=0),
        anchor=np.mean([one.anchor for one in matched], axis=0),
        prevalence_low=prevalence[0],
        prevalence_high=prevalence[1],
        correlation_low=correlation[0],
        correlation_high=correlation[1],
        level=level,
        n_replicates=len(matched),
        n_shards=n_shards,
    )


def _interval(
    estimate: FloatArray, replicates: FloatArray, n_shards: int, level: float
) -> tuple[FloatArray, FloatArray]:
    """Estimate plus and minus Student's t times the standard deviation of the replicates, cut at 0 and 1.

    That deviation is itself uncertain, by 1 / (2 (R - 1)) of its square for the replicates and 1 / (2 (S - 1)) for the
    shards: together as much as with so many degrees of freedom. Quantiles of the replicates would be centred on
    their mean, which lies elsewhere where a topic now and then finds another match.
    """
    freedom = 1.0 / (1.0 / (replicates.shape[0] - 1) + 1.0 / (n_shards - 1))
    reach = student.ppf((1.0 + level) / 2.0, freedom) * replicates.std(axis=0, ddof=1)
    return np.maximum(estimate - reach, 0.0), np.minimum(estimate + reach, 1.0)

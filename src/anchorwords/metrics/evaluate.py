"""Every metric of a model at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_n_jobs, check_positive_integer, check_seed
from ..exceptions import InputError, UndefinedMetricError
from ..interpret.naming import topic_names
from ..interpret.topic_words import stability_by_topic
from ..linalg.parallel import limited_threads, one_library_thread
from ..model import Stability, TopicModel, as_topic_model
from ..sources.convert import read_by
from .accuracy import measure_approximation, measure_recovery, rows_and_product
from .catalogue import BY_NAME, METRICS
from .coherence import measure_diversity, measure_npmi, measure_umass
from .distinctness import (
    entropy,
    measure_dissimilarity,
    measure_dominancy,
    measure_specificity,
    relative_dominancy,
    sparsity,
)
from .evaluation import Evaluation
from .incoherence import measure_incoherence
from .measure import Measure, mean_of
from .reference import Reference, as_reference, matrix_in_words
from .volume import ALL_ROWS, measure_volume


def evaluate(
    model: Any,
    X: Any,
    *,
    rectified: Any = None,
    metrics: Iterable[str] | None = None,
    n_draws: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Evaluation:
    """Judge a model by every metric of the paper, and those of the field.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, Corpus, blocks of counts, or Reference
        Documents to judge on, usually those of the fit. A Corpus is matched to the model by its words. A corpus on disk
        that is larger than memory is read pass by pass. A TextTopicModel also takes texts.
    rectified : (N, N) array or Rectified, optional
        The rectified co-occurrence, for a model that holds no compression Y of it (after AP); for an unrectified model
        the original co-occurrence.
    metrics : iterable of str, optional
        Names of :data:`anchorwords.metrics.METRICS` to measure; all by default.
    n_draws : int, optional
        Random hulls that the volume is compared with; see :func:`log_relative_volume`.
    random_state : int
        Seed of those, and of the sample of words where the norms of all rows of C are too much work.
    n_jobs : int or None
        Threads; no value depends on it.

    Returns
    -------
    Evaluation
        A dict that displays as a table and has ``to_frame()``, ``topic_rows()`` and ``to_dict()``, which JSON can hold. It
        holds the metrics by name; ``per_topic``: arrays by name, in the order of the topics; ``standard_error``: by name, of
        those that are estimates; ``undefined``: by name, why a metric that is nan has no value; ``reference``: documents,
        words that occur, and topics.

        Of a model whose stability was measured (:meth:`AnchorTopicModel.measure_stability`) also what is known of it,
        whatever ``metrics`` names: ``stability``, the mean over topics; ``correlation_low`` and ``correlation_high``, (K, K)
        arrays, the intervals of the entries of A; ``replicates``: their ``number``, the ``shards`` they were drawn from and
        the ``level`` of the intervals. ``per_topic`` then holds ``stability`` (of the whole topic), ``stable_words``,
        ``anchor_stability``, ``prevalence_low`` and ``prevalence_high``, as :func:`topic_table` does. X has no part in it.

    Notes
    -----
    Nothing is words x words. Exact, in time linear in the documents' pairs of words, where these are at most ten
    thousand million and the documents are in memory; otherwise the norms of C come from a sample of two thousand words.
    """
    record = as_topic_model(model)
    wanted = _wanted(metrics)
    jobs = check_n_jobs(n_jobs)
    if n_draws is not None:
        check_positive_integer(n_draws, "n_draws")
    seed = check_seed(random_state)
    reference = as_reference(record, read_by(model, X), jobs, seed)
    based, matrix = _rectified(rectified, record)
    values: dict[str, float] = {}
    per_topic: dict[str, FloatArray] = {}
    errors: dict[str, float] = {}
    undefined: dict[str, str] = {}
    with limited_threads(jobs), one_library_thread():
        for names, measured in _measures(record, based, reference, matrix, n_draws, seed, jobs):
            if not wanted & set(names):
                continue
            try:
                results = measured()
            except UndefinedMetricError as error:
                undefined.update((name, str(error)) for name in names if name in wanted)
                continue
            for name, result in zip(names, results, strict=True):
                if name not in wanted:
                    continue
                values[name] = result.value
                if result.per_topic is not None:
                    per_topic[name] = result.per_topic
                if result.standard_error:
                    errors[name] = result.standard_error
        n_occur = int(np.count_nonzero(reference.unigram > 0.0))
    per_topic |= {name: np.array(values) for name, values in stability_by_topic(record).items()}
    scalars = {metric.name: values.get(metric.name, float("nan")) for metric in METRICS if metric.name in wanted}
    found = {
        **scalars,
        "per_topic": per_topic,
        "standard_error": errors,
        "undefined": undefined,
        "reference": {
            "documents": reference.operator.n_docs,
            "too_short": reference.operator.n_skipped,
            "words": n_occur,
            "topics": record.n_components,
        },
        **_sureness(record.stability),
    }
    return Evaluation(found, record.ids, topic_names(record))


def _sureness(found: Stability | None) -> dict[str, Any]:
    """What is known of the topics together, where stability was measured."""
    if found is None:
        return {}
    return {
        "stability": float(found.similarity.mean()),
        "correlation_low": np.array(found.correlation_low),
        "correlation_high": np.array(found.correlation_high),
        "replicates": {"number": found.n_replicates, "shards": found.n_shards, "level": found.level},
    }


def _measures(
    record: TopicModel,
    based: TopicModel,
    reference: Reference,
    matrix: FloatArray | None,
    n_draws: int | None,
    seed: int,
    jobs: int | None,
) -> list[tuple[tuple[str, ...], Callable[[], tuple[Measure, ...]]]]:
    """Names, and the function that measures them together."""
    original = cache(lambda: rows_and_product(record, reference))

    def volume(all_rows: bool) -> tuple[Measure]:
        n_rows = None
        if all_rows:
            n_rows = int(np.count_nonzero(record.word_probs > 0.0))
            if n_rows > ALL_ROWS:
                raise UndefinedMetricError(f"all rows are drawn for up to {ALL_ROWS:,} words, but {n_rows:,} occur.")
        return (measure_volume(based, matrix, n_draws=n_draws, n_rows=n_rows, random_state=seed, n_jobs=jobs),)

    return [
        (("recovery", "relative_recovery"), lambda: measure_recovery(based, matrix)),
        (("recovery_original", "relative_recovery_original"), lambda: measure_recovery(record, reference)),
        (("approximation", "relative_approximation"), lambda: measure_approximation(record, original())),
        (
            ("approximation_raw", "relative_approximation_raw"),
            lambda: measure_approximation(record, original(), raw=True),
        ),
        (
            ("approximation_rectified", "relative_approximation_rectified"),
            lambda: measure_approximation(based, rows_and_product(based, matrix)),
        ),
        (("relative_dominancy",), lambda: (mean_of(relative_dominancy(record, per_topic=True)),)),
        (("dominancy",), lambda: (measure_dominancy(record),)),
        (("specificity",), lambda: (measure_specificity(record, reference.unigram),)),
        (("dissimilarity",), lambda: (measure_dissimilarity(record),)),
        (("log_relative_volume",), lambda: volume(False)),
        (("log_relative_volume_all_rows",), lambda: volume(True)),
        (("mst_incoherence",), lambda: (measure_incoherence(record, reference),)),
        (("npmi_coherence",), lambda: (measure_npmi(record, reference),)),
        (("umass_coherence",), lambda: (measure_umass(record, reference),)),
        (("topic_diversity",), lambda: (measure_diversity(record),)),
        (("entropy",), lambda: (mean_of(entropy(record, per_topic=True)),)),
        (("sparsity",), lambda: (mean_of(sparsity(record, per_topic=True)),)),
        (("A_raw_sum",), lambda: (Measure(record.A_raw_sum, record.A_raw_sum * record.prevalence),)),
    ]


def _wanted(metrics: Iterable[str] | None) -> set[str]:
    if metrics is None:
        return set(BY_NAME)
    if isinstance(metrics, str):
        raise InputError(f"metrics must be a list of names, but is the single string {metrics!r}: give [{metrics!r}].")
    wanted = set(metrics)
    if unknown := sorted(wanted - set(BY_NAME)):
        raise InputError(f"there is no metric {unknown[0]!r}: the names are {', '.join(BY_NAME)}.")
    return wanted


def _rectified(rectified: Any, record: TopicModel) -> tuple[TopicModel, FloatArray | None]:
    """The model with the compression it was read off, or the model and the matrix it was read off."""
    if rectified is None:
        return record, None
    from ..rectify.result import Rectified  # brings scikit-learn, which a page without documents does without

    if isinstance(rectified, Rectified):
        if rectified.Y is None:
            return record, matrix_in_words(record, rectified.C, "rectified")
        if rectified.Y.shape[0] != record.n_words:
            raise InputError(f"the model has {record.n_words} words, but rectified has {rectified.Y.shape[0]}.")
        return replace(record, Y=rectified.Y), None
    return record, matrix_in_words(record, rectified, "rectified")

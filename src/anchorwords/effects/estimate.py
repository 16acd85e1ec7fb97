"""Regression of topic proportions on covariates of the documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_n_jobs, check_seed
from ..corpus.documents import Documents, table_of
from ..exceptions import InputError
from ..infer.compose import prototype_of
from ..interpret.naming import topic_names
from ..model import Parts, TopicModel, as_topic_model, checked_topics
from ..resampling.stability import replicated_topics
from ..sources.convert import in_columns, read_by
from .design import Design, complete_rows, make_design, require_formulaic, table_values, triangular_factor, used_columns
from .record import Effects, TopicDoubt, estimates
from .regression import Fit, fit_least_squares, projected
from .responses import METHODS, Responses, known_tokens


def estimate_effects(
    model: Any,
    X: Any,
    formula: str,
    *,
    data: Any = None,
    topics: Sequence[int] | None = None,
    level: float = 0.9,
    weights: Any = None,
    method: str = "calibrated",
    replicates: int = 0,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Effects:
    """Estimate how topic proportions depend on covariates of the documents, by linear regression with intervals.

    The analogue of ``estimateEffect`` of the R package stm.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    X : Corpus, (M, N) sparse or array-like of counts, or blocks of counts
        The documents. A Corpus is matched to the model by its words. A :class:`TextTopicModel` also takes texts, which
        it reads as those of the fit; the same holds for all functions of a model and documents.
    formula : str
        The right-hand side of a formula, such as ``"year + C(venue)"``, of columns of the documents table. Formulas are
        those of the package formulaic: ``C()`` for categories, ``a:b`` and ``a*b`` for interactions, ``poly(year, 2)``,
        ``bs(year, df=4)`` and ``cr(year, df=4, constraints='center')`` for curves, ``center(year)``, and functions such as
        ``log()``. Dates enter as decimal years. A formula can run Python code: do not evaluate formulas from people you do
        not trust.
    data : mapping or data frame, optional
        Columns to use instead of the documents table of X, with one value per document.
    topics : sequence of int, optional
        Ids of the topics; all by default.
    level : float
        Level of the intervals, between 0 and 1.
    weights : str or (M,) array, optional
        Weights of the documents, such as their sampling weights: a column, or one number per document. Documents of weight
        zero are left out.
    method : {"calibrated", "unbiased", "posterior-mean"}
        How the proportions of a document are estimated; see the notes.
    replicates : int
        Number of replicates of the topics, such as 20, whose variation is added to the intervals. X must then hold the
        documents of the fit, and each replicate costs about as much as a fit. By default topics are held fixed.
    random_state : int
        Seed of the replicates.
    n_jobs : int or None
        Number of threads; the result does not depend on it.

    Returns
    -------
    Effects
        Coefficients for every topic, with ``contrast`` and ``predict``.

    Notes
    -----
    The proportions of a document are not observed. With "calibrated", the response is the posterior means that ``transform``
    returns, corrected for their shrinkage: they are shrunk towards the prevalence of the topics, in short documents most, so
    that effects would be underestimated. How much is found by simulating documents from the model. The robust
    sandwich (HC2) of the residuals covers both the sampling of documents and the uncertainty of their proportions. The
    coefficients of a term sum to zero over all topics.

    With "posterior-mean", there is no correction, and predictions agree with :func:`anchorwords.prevalence_by`. Intervals
    are those of the method of composition (draws from each document's Dirichlet posterior, combined by Rubin's rules) in the
    limit of infinitely many draws: the squared residual of a document is increased by twice the posterior variance.

    With "unbiased", the response is the linear unbiased estimate of a document's proportions given the topics, whatever
    the prior. It needs no simulation, but documents that differ from the model in more than their proportions, such as
    those of a source with its own phrases, can move it far, even below 0. The proportions are shares of the whole
    document: if the model has a background or dropped topics, those of the topics add up to less than 1.

    Documents count as independent. Intervals and p-values hold for one coefficient at a time.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=500, n_words=150, n_topics=3, random_state=0).corpus
    >>> effects = aw.estimate_effects(aw.AnchorTopicModel(3).fit(corpus), corpus, "x", data={"x": range(500)})
    >>> effects.terms
    ('Intercept', 'x')
    """
    require_formulaic()
    record = as_topic_model(model)
    _check(level, replicates, method)
    if replicates and not record.as_fitted:
        raise InputError(
            "the topics of this model were edited, and replicates are only made of topics as they were fitted: use "
            "replicates=0, or the model before the edits."
        )
    seed, jobs = check_seed(random_state), check_n_jobs(n_jobs)
    X = read_by(model, X)
    source = in_columns(X, record.vocabulary, record.n_words)
    columns = _columns(record, topics)
    tokens = known_tokens(record, source)
    documents = source.documents if data is None else table_of(data, tokens.size, None, None)
    names = used_columns(formula, documents)
    values = table_values(documents, names)
    dates = tuple(name for name in names if documents[name].dtype.kind == "M")
    given = _weights(weights, documents, tokens.size)
    complete = complete_rows(values, tokens.size) & ~np.isnan(given)
    kept = complete & (tokens > 0.0) & (given > 0.0)
    if not kept.any():
        raise InputError("no document has all values of the formula and a word the model knows: check the columns.")
    own = given[kept]
    design = make_design(formula, {name: column[kept] for name, column in values.items()}, int(kept.sum()), dates)
    prototype = prototype_of(model, source)
    responses = Responses(record, source, method, columns, tokens[kept], len(design.terms), jobs, prototype)
    # Weights matter up to a factor; a mean of one keeps numbers in range.
    own = own / own.mean()
    R = triangular_factor(design, np.sqrt(own), responses.step)
    fit = fit_least_squares(responses, design, kept, own, R)

    def replicated(B: FloatArray, A: FloatArray, parts: Parts | None) -> FloatArray:
        model = replace(record, B=B, A=A, parts=parts)
        other = Responses(model, source, method, columns, tokens[kept], len(design.terms), jobs, prototype)
        return projected(other, design, kept, own, R)

    doubt = _topic_doubt(record, X, replicated, replicates, seed, jobs) if replicates else None
    return _result(record, formula, method, float(level), columns, fit, design, doubt,
                   int(np.count_nonzero(~complete)), int(np.count_nonzero(complete & (tokens <= 0.0))))  # fmt: skip


def _check(level: Any, replicates: Any, method: Any) -> None:
    if not isinstance(level, (int, float, np.number)) or isinstance(level, bool) or not 0 < level < 1:
        raise InputError(f"level must be a number between 0 and 1, such as 0.9, but is {level!r}.")
    if (
        not isinstance(replicates, (int, np.integer))
        or isinstance(replicates, bool)
        or replicates < 0
        or replicates == 1
    ):
        raise InputError(f"replicates must be 0 or a whole number of at least 2, but is {replicates!r}.")
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, but is {method!r}.")


def _columns(record: TopicModel, topics: Sequence[int] | None) -> list[int]:
    """Columns of the topics that were asked for."""
    if topics is None:
        return list(range(record.n_components))
    found = checked_topics(record, topics, "topics")
    if not found:
        raise InputError("topics must hold at least one topic id.")
    return [record.position(topic) for topic in found]


def _weights(weights: Any, documents: Documents, n_docs: int) -> FloatArray:
    """Weights of all documents, NaN if missing."""
    if weights is None:
        return np.ones(n_docs)
    try:
        found = np.asarray(documents[weights] if isinstance(weights, str) else weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be numbers, one per document, but hold something else.") from None
    if found.shape != (n_docs,):
        raise InputError(
            f"weights must hold one number for each of the {n_docs} documents, but have shape {found.shape}."
        )
    if np.isinf(found).any() or (found < 0.0).any():
        raise InputError("weights must be finite and not negative.")
    return found


def _topic_doubt(
    record: TopicModel,
    X: Any,
    replicated: Callable[[FloatArray, FloatArray, Parts | None], FloatArray],
    n_replicates: int,
    seed: int,
    n_jobs: int | None,
) -> TopicDoubt:
    """How gamma varies over replicates of the topics, with the documents held fixed."""
    found: list[FloatArray] = []

    def use(B: FloatArray, A: FloatArray, parts: Parts | None) -> None:
        found.append(replicated(B, A, parts))

    n_shards = replicated_topics(record, X, use, n_replicates=n_replicates, random_state=seed, n_jobs=n_jobs)
    if len(found) < 2:
        raise InputError("no two replicates of the topics could be made: use replicates=0, or give more documents.")
    apart = np.array(found) - np.mean(found, axis=0)
    covariance = np.einsum("rpk,rqk->kpq", apart, apart) / (len(found) - 1)
    # As for the intervals of stability: replicates and shards both limit how well a variance is known.
    freedom = 1.0 / (1.0 / (len(found) - 1) + 1.0 / (n_shards - 1))
    return TopicDoubt(covariance, freedom, len(found))


def _result(
    record: TopicModel, formula: str, method: str, level: float, columns: list[int], fit: Fit, design: Design,
    doubt: TopicDoubt | None, n_missing: int, n_without_words: int,
) -> Effects:  # fmt: skip
    n_docs, P = design.matrix.shape
    names = topic_names(record)
    parts = estimates(fit, doubt, n_docs - P, np.eye(P), level)
    return Effects(
        tuple(record.ids[k] for k in columns), tuple(names[k] for k in columns), "term", design.terms, *parts, level,
        formula, method, n_docs, n_missing, n_without_words, fit, design, doubt,
    )  # fmt: skip

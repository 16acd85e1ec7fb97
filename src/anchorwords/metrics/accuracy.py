"""How well a model reproduces the statistics: Recovery and Approximation, plain and relative (paper, section 5).

Notation
--------
C : (N, N)     co-occurrence, original or rectified; p its row sums, Cbar its rows scaled to sum to one
Bt : (N, K)    p(topic | word)
S : (K,)       anchors
r : (N,)       |Cbar_i - Bt_i Cbar_S|_2, the error of each word
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray
from ..anchors.lowrank import rows_and_anchors
from ..anchors.tandem import anchor_rows_of
from ..exceptions import UndefinedMetricError
from ..model import TopicModel, as_topic_model
from ..statistics.norms import RowNorms
from .measure import Measure
from .reference import Reference, as_reference, matrix_in_words, require_anchors


def relative_approximation(model: Any, C: Any, *, raw: bool = False, per_topic: bool = False) -> Any:
    """|C - B A B'|_F / |C|_F; lower is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    C : (N, N) array, CooccurrenceOperator, Reference, or None
        Co-occurrence to compare with; None is the rectified one, Y Y', that the model was read off.
    raw : bool
        Use A before it was normalised, as the paper's figures do.
    per_topic : bool
        An array instead: the error of the rows of C, each word shared out to topics by p(topic | word). The square of
        the whole is the mean of their squares, weighted by the topics' parts of |C|_F^2.

    Notes
    -----
    Never forms N x N for an operator: row by row the norm is |C_i|^2 - 2 (C B)_i A'B_i' + (B A)_i B'B (B A)_i'.
    """
    record = as_topic_model(model)
    return measure_approximation(record, rows_and_product(record, _statistics(record, C)), raw=raw)[1].part(per_topic)


def approximation(model: Any, C: Any, *, raw: bool = False, per_topic: bool = False) -> Any:
    """|C - B A B'|_F; lower is better. Parameters are those of :func:`relative_approximation`."""
    record = as_topic_model(model)
    return measure_approximation(record, rows_and_product(record, _statistics(record, C)), raw=raw)[0].part(per_topic)


def relative_recovery(model: Any, C: Any = None, *, per_topic: bool = False) -> Any:
    """mean_i |Cbar_i - Bt_i Cbar_S|_2 / |Cbar|_F over words that occur; lower is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    C : (N, N) array, CooccurrenceOperator, Reference, or None
        Co-occurrence whose rows are recovered: None is the rectified one, in K dimensions, that the model was read
        off; a model without a compression Y (after AP) needs the matrix. Rows of Y Y' that cannot be probabilities (see
        :class:`anchorwords.anchors.lowrank.Coordinates`) count as zero.
    per_topic : bool
        An array instead: the mean over words weighted by p(topic | word).
    """
    record = as_topic_model(model)
    return measure_recovery(record, _statistics(record, C))[1].part(per_topic)


def recovery(model: Any, C: Any = None, *, per_topic: bool = False) -> Any:
    """mean_i |Cbar_i - Bt_i Cbar_S|_2; lower is better. Parameters are those of :func:`relative_recovery`."""
    record = as_topic_model(model)
    return measure_recovery(record, _statistics(record, C))[0].part(per_topic)


def _statistics(record: TopicModel, C: Any) -> Any:
    """What to compare with: None, a dense matrix, or a Reference-like holder of an operator."""
    if C is None or isinstance(C, Reference):
        return C if C is None else as_reference(record, C)
    if hasattr(C, "row_norms") and hasattr(C, "row_sums"):
        holder = Reference.of_operator(C)
        return as_reference(record, holder)
    return matrix_in_words(record, C)


def measure_approximation(
    record: TopicModel, statistics: tuple[RowNorms, FloatArray], *, raw: bool = False
) -> tuple[Measure, Measure]:
    """Approximation and RelativeApproximation, from what :func:`rows_and_product` gives."""
    B, A = _with_background(record)
    A = A * (record.A_raw_sum if raw else 1.0)
    norms, CB = statistics
    BA = B @ A
    fitted = np.einsum("ik,ik->i", BA @ (B.T @ B), BA) - 2.0 * np.einsum("ik,ik->i", CB, BA)
    # Squared errors of the rows; rounding may leave those of perfect ones below zero.
    errors = np.maximum(norms.squares + fitted[norms.words], 0.0)
    squared, whole = float(norms.total(errors)), float(norms.total(norms.squares))
    shares = record.word_topics[norms.words]
    topic_errors, topic_wholes = (norms.total(shares * part[:, None]) for part in (errors, norms.squares))
    plain, relative = np.sqrt(squared), np.sqrt(squared / whole)
    plain_error = relative_error = 0.0
    if squared > 0.0:
        # Linearised: d sqrt(s) = ds / (2 sqrt(s)),  d sqrt(s / w) = sqrt(s / w) (ds / (2 s) - dw / (2 w))
        plain_error = float(norms.standard_error(errors)) / (2.0 * plain)
        linear = errors / (2.0 * squared) - norms.squares / (2.0 * whole)
        relative_error = relative * float(norms.standard_error(linear))
    return (
        Measure(float(plain), np.sqrt(topic_errors), float(plain_error)),
        Measure(float(relative), _ratio(np.sqrt(topic_errors), np.sqrt(topic_wholes)), float(relative_error)),
    )


def measure_recovery(record: TopicModel, C: Any) -> tuple[Measure, Measure]:
    """Recovery and RelativeRecovery against a Reference, a dense matrix, or (None) Y Y'."""
    norms, errors, occurs = _word_errors(record, C)
    here = norms.words
    counted = np.where(occurs[here], errors, 0.0)
    n_occur = int(occurs.sum())
    mean = float(norms.total(counted)) / n_occur
    squared = float(norms.total(norms.squares))
    whole = np.sqrt(squared)
    shares = np.where(occurs[:, None], record.word_topics, 0.0)
    topics = _ratio(norms.total(shares[here] * counted[:, None]), shares.sum(axis=0))
    relative = mean / whole
    # Linearised: d (m / sqrt(s)) = (m / sqrt(s)) (dm / m - ds / (2 s))
    if mean > 0.0:
        linear = counted / (mean * n_occur) - norms.squares / (2.0 * squared)
        relative_error = relative * float(norms.standard_error(linear))
    else:
        relative_error = 0.0
    return (
        Measure(mean, topics, float(norms.standard_error(counted)) / n_occur),
        Measure(float(relative), topics / whole, float(relative_error)),
    )


def rows_and_product(record: TopicModel, C: Any) -> tuple[RowNorms, FloatArray]:
    """Norms of the rows of C, and C B with the background in B; C is a Reference, a dense matrix, or None for Y Y'."""
    if isinstance(C, Reference):
        return C.row_norms, C.operator @ _with_background(record)[0]
    if C is not None:
        return _every_row(np.einsum("ij,ij->i", C, C)), C @ _with_background(record)[0]
    Y = _compression(record)
    return _every_row(np.einsum("ik,ik->i", Y @ (Y.T @ Y), Y)), Y @ (Y.T @ _with_background(record)[0])


def _with_background(record: TopicModel) -> tuple[FloatArray, FloatArray]:
    """B and A of the topics and, as the last, of the background if the model has one, which documents are made of too."""
    parts = record.parts
    if parts is None or parts.background is None:
        return record.B, record.A
    K = record.n_components
    member = np.zeros((parts.n_components, K + 1))
    shown = np.flatnonzero(parts.topic_of >= 0)
    member[shown, parts.topic_of[shown]] = 1.0
    member[parts.background, K] = 1.0
    A = member.T @ parts.A @ member
    return np.column_stack([record.B, parts.B[:, parts.background]]), A / A.sum()


def _word_errors(record: TopicModel, C: Any) -> tuple[RowNorms, FloatArray, Any]:
    """Squared norms of the rows of Cbar, the errors of the same words, and which words occur."""
    if isinstance(C, Reference):
        return _expanded_errors(record, C)
    if C is None:
        _compression(record)
        rows, points = rows_and_anchors(record)
        occurs = record.word_probs > 0.0
    else:
        p = C.sum(axis=1)
        require_anchors(record, p)
        occurs = p > 0.0
        rows = np.where(occurs[:, None], C, 0.0) / np.where(occurs, p, 1.0)[:, None]
        points = rows[record.anchors]
        if record.anchor_groups is not None:
            points = anchor_rows_of(record, lambda words: sp.csr_array(np.maximum(C[words], 0.0))).toarray()
    residual = rows - record.word_topics @ points
    return _every_row(np.einsum("ik,ik->i", rows, rows)), np.linalg.norm(residual, axis=1), occurs


def _expanded_errors(record: TopicModel, reference: Reference) -> tuple[RowNorms, FloatArray, Any]:
    """As above without rows of Cbar: |Cbar_i|^2 - 2 Bt_i (Cbar Cbar_S')_i + Bt_i Cbar_S Cbar_S' Bt_i'."""
    p, norms, S = reference.unigram, reference.row_norms, record.anchors
    occurs = p > 0.0
    require_anchors(record, p)
    rows = anchor_rows_of(record, reference.operator.rows)
    words = norms.words
    scale = np.where(occurs, 1.0 / np.where(occurs, p, 1.0), 0.0)[words]
    cross = (reference.operator @ rows.toarray().T)[words] * scale[:, None]
    Bt = record.word_topics[words]
    squares = (np.sqrt(norms.squares) * scale) ** 2  # the square of a scale may be too large for a number
    errors = (
        squares - 2.0 * np.einsum("ik,ik->i", Bt, cross) + np.einsum("ik,ik->i", Bt @ (rows @ rows.T).toarray(), Bt)
    )
    groups = record.anchor_groups
    single = S if groups is None else np.array([group[0] for group in groups if len(group) == 1], dtype=np.intp)
    errors[np.isin(words, single)] = 0.0  # an anchor is its own row: what is left is rounding
    return RowNorms(words, squares, norms.n_certain, norms.n_words), np.sqrt(np.maximum(errors, 0.0)), occurs


def _compression(record: TopicModel) -> FloatArray:
    if record.Y is None:
        raise UndefinedMetricError(
            "this model holds no compression Y: give the rectified co-occurrence C it was read off."
        )
    return record.Y


def _every_row(squares: FloatArray) -> RowNorms:
    return RowNorms(np.arange(squares.size), squares, squares.size, squares.size)


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Quotients, nan where there is nothing to divide by."""
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator > 0.0)

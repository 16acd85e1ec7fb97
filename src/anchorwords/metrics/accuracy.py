"""How well a model reproduces the statistics: RelativeRecovery and RelativeApproximation (paper, section 5).

Notation
--------
C : (N, N)     original co-occurrence (operator or matrix); Cbar its rows scaled to sum to one
Bt : (N, K)    p(topic | word)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import check_square_symmetric
from ..anchors.lowrank import normalised_coordinates
from ..exceptions import InputError
from ..model import as_topic_model
from ..statistics.operator import CooccurrenceOperator


def relative_approximation(model: Any, C: Any, *, raw: bool = False) -> float:
    """|C - B A B'|_F / |C|_F; lower is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    C : CooccurrenceOperator, or (N, N) array
        Original co-occurrence.
    raw : bool
        Use A before it was normalised, as the paper's figures do.

    Notes
    -----
    Never forms N x N for an operator: the norm is expanded into |C|^2 - 2 tr(A B'CB) + tr(A B'B A B'B).
    """
    record = as_topic_model(model)
    operator = C if isinstance(C, CooccurrenceOperator) else check_square_symmetric(C)
    if operator.shape[0] != record.n_words:
        raise InputError(f"the model has {record.n_words} words, but C has {operator.shape[0]}.")
    A = record.A * (record.A_raw_sum if raw else 1.0)
    B = record.B
    norm = operator.frobenius_norm() if isinstance(operator, CooccurrenceOperator) else float(np.linalg.norm(operator))
    cross = float(np.sum(A * (B.T @ (operator @ B))))
    AG = A @ (B.T @ B)
    squared = norm**2 - 2.0 * cross + float(np.sum(AG * AG.T))
    return float(np.sqrt(max(squared, 0.0)) / norm)


def relative_recovery(model: Any, C: Any = None) -> float:
    """mean_i |Cbar_i - Bt_i Cbar_S|_2 / |Cbar|_F in the rectified space, over words that occur; lower is better.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    C : (N, N) array, optional
        Rectified co-occurrence; needed where the model holds no compression Y (after AP).
    """
    record = as_topic_model(model)
    if C is not None:
        matrix = check_square_symmetric(C)
        d = matrix.sum(axis=1)
        rows: FloatArray = np.where(d[:, None] > 0.0, matrix, 0.0) / np.where(d > 0.0, d, 1.0)[:, None]
    elif record.Y is not None:
        rows = normalised_coordinates(record.Y).X
    else:
        raise InputError("this model holds no compression Y: give the rectified co-occurrence C it was read off.")
    residual = rows - record.word_topics @ rows[record.anchors]
    occurs = record.word_probs > 0.0
    return float(np.linalg.norm(residual[occurs], axis=1).mean() / np.linalg.norm(rows))

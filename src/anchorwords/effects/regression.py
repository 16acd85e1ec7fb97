"""Least squares of topic proportions on a design, block by block, with a robust sandwich.

Notation
--------
Z : (n, P)      rows of the design, times the roots of the weights
Z = Q R         R from a QR decomposition made block by block; Q is never kept
gamma : (P, K)  Q' Y, so that the coefficients are R^-1 gamma
h_m = |q_m|^2   leverage of a document
e_mk            residual

Everything is kept in the coordinates of Q, in which a year and its square do no harm: with c a row of a design and
q = R^-T c, the prediction is q' gamma_k and its variance q' S_k q. The sandwich is HC2 (MacKinnon and White, 1985),
S_k = sum_m q_m q_m' e_mk^2 / (1 - h_m), which is unbiased if the variance is the same for all documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from .._typing import BoolArray, FloatArray, IntArray
from .design import Design
from .responses import Responses

# A document whose leverage is closer to one than this determines a coefficient alone, such as the only one of its category.
_ALONE = 1e-9


@dataclass(frozen=True, eq=False)
class Fit:
    """Least squares in the coordinates of Q.

    Attributes
    ----------
    R : (P, P) array
    gamma : (P, K) array
    sandwich : (K, P, P) array
    alone : (P, s) array
        Directions that a single document determines, which therefore have no standard error.
    """

    R: FloatArray
    gamma: FloatArray
    sandwich: FloatArray
    alone: FloatArray


def fit_least_squares(responses: Responses, design: Design, kept: BoolArray, weights: FloatArray, R: FloatArray) -> Fit:
    """Fit all topics in two passes over the documents.

    Parameters
    ----------
    responses : Responses
    design : Design
        Of the documents that are kept.
    kept : (M,) bool array
    weights : (n,) array
        Of the documents that are kept.
    R : (P, P) array
    """
    P, K = R.shape[0], len(responses.topics)
    gamma = projected(responses, design, kept, weights, R)
    place = np.cumsum(kept) - 1
    sandwich, alone = np.zeros((K, P, P)), []
    for part in responses:
        here = np.flatnonzero(kept[part.rows])
        Q, roots = _rows(design, place[part.rows][here], weights, R)
        leverage = np.einsum("mp,mp->m", Q, Q)
        by_itself = leverage > 1.0 - _ALONE
        alone += list(Q[by_itself])
        squares = (part.Y[here] * roots[:, None] - Q @ gamma) ** 2 / np.where(by_itself, 1.0, 1.0 - leverage)[:, None]
        if part.variance is not None:  # see the notes of estimate_effects
            squares += 2.0 * part.variance[here] * roots[:, None] ** 2
        for k in range(K):
            sandwich[k] += (Q * squares[:, k, None]).T @ Q
    return Fit(R, gamma, sandwich, np.array(alone).reshape(-1, P).T)


def projected(responses: Responses, design: Design, kept: BoolArray, weights: FloatArray, R: FloatArray) -> FloatArray:
    """Return gamma, in one pass over the documents; parameters are those of :func:`fit_least_squares`."""
    gamma = np.zeros((R.shape[0], len(responses.topics)))
    place = np.cumsum(kept) - 1  # row of the design of each document
    for part in responses:
        here = np.flatnonzero(kept[part.rows])
        Q, roots = _rows(design, place[part.rows][here], weights, R)
        gamma += Q.T @ (part.Y[here] * roots[:, None])
    return gamma


def _rows(design: Design, rows: IntArray, weights: FloatArray, R: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows of Q, and the roots of the weights."""
    roots = np.sqrt(weights[rows])
    Z = design.matrix[rows].toarray() * roots[:, None]
    return solve_triangular(R, Z.T, trans="T", check_finite=False).T, roots

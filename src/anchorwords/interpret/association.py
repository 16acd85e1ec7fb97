"""How much two topics go together, beside what their sizes would have it.

Notation
--------
A : (K, K)   p(topic, topic') of two words of a document
E_kl = a_k a_l for k != l, with the row sums of A off its diagonal: what to expect of words of different topics
affinity_kl = A_kl / E_kl: above 1 where two topics share documents more often than expected

Chance, p_k p_l, is no measure here: documents of few topics make most pairs of topics rarer than that.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray


def affinities(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Affinity and expectation E of each pair of topics; 1 and 0 on the diagonal, and 1 where nothing is expected.

    E is quasi-independence: of two words of one document that are of different topics, how often they would be of these
    two if topics went together by their frequency alone. Of three topics or fewer that is always as often as they do.
    """
    off = A - np.diag(np.diagonal(A))
    expected = _quasi_independent(off)
    return np.divide(off, expected, out=np.ones_like(off), where=expected > 0.0), expected


def _quasi_independent(off: FloatArray) -> FloatArray:
    """E of a symmetric matrix whose diagonal is 0, with its row sums m.

    a_k (S - a_k) = m_k, S being the sum of a: each a_k is a root of a quadratic, the smaller one, u_k, but for the largest
    topic, which may have more than S / 2. With x = 1 / S^2 and r_k = sqrt(1 - 4 m_k x) it is
    u_k = 2 m_k sqrt(x) / (1 + r_k), so that one equation in x is left.
    """
    from scipy.optimize import brentq

    m = off.sum(axis=1)
    most = int(m.argmax())
    others = np.arange(m.size) != most
    # What the others have among themselves: their m less the largest, had nothing cancelled.
    slack = float(off[np.ix_(others, others)].sum())
    if slack <= np.finfo(np.float64).tiny:
        return off.copy()  # all pairs, if any, are one topic's: E in the limit of an a without end

    def roots(x: float) -> FloatArray:
        return np.sqrt(np.maximum(1.0 - 4.0 * m * x, 0.0))

    def all_smaller(x: float) -> float:
        """Sum of u over S, less 1."""
        return float(x * (2.0 * m / (1.0 + roots(x))).sum()) - 1.0

    def one_larger(x: float) -> float:
        """S times the others' u less that of the largest; S u_k - m_k is 4 m_k^2 x / (1 + r_k)^2."""
        beyond = 4.0 * m**2 * x / (1.0 + roots(x)) ** 2
        return slack + float(beyond[others].sum() - beyond[most])

    end = 0.25 / float(m[most])
    larger = all_smaller(end) < 0.0
    equation = one_larger if larger else all_smaller
    if larger and one_larger(end) >= 0.0:
        x = end  # the largest has S / 2 to rounding
    else:
        x = brentq(equation, 0.0, end, xtol=np.finfo(np.float64).tiny, rtol=1e-15, maxiter=1000)
    a = 2.0 * m * np.sqrt(x) / (1.0 + roots(x))
    if larger:
        a[most] = 1.0 / np.sqrt(x) - a[most]
    expected = np.outer(a, a)
    np.fill_diagonal(expected, 0.0)
    return expected

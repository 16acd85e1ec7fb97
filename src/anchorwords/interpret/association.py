"""Association of topics: how much more often two topics share documents than their sizes lead one to expect.

This is the only definition in the package. The graph (:mod:`anchorwords.export.graph`), the heat map
(:mod:`anchorwords.plot.correlation`) and the explorer all use it.

Notation
--------
A : (K, K)           p(topic, topic') of two words of a document
m : (K,)             row sums of A without its diagonal, m_k = sum_{l != k} A_kl
E : (K, K)           expectation under quasi-independence: E_kl = a_k a_l for k != l, with row sums m; E_kk = 0
R_kl = A_kl / E_kl   association: above 1 if two topics share documents more often than expected

Quasi-independence is independence for a table whose diagonal is left out: given that two words of a document belong to
different topics, E_kl is how often these would be the topics k and l if nothing but their frequencies mattered. The vector a
is determined by the row sums m, so that the average of R_kl over l != k, weighted by E_kl, is 1 for every topic k.

Chance, p_k p_l with p = A e, is not a useful yardstick. Documents have few topics, so that much of the weight of A is on its
diagonal and nearly every pair of different topics is rarer than p_k p_l: 80% of the pairs for nips12 with 20 topics, 97%
for spotify with 50. A ratio to p_k p_l mostly tells how concentrated documents are, not which topics go together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..model import as_topic_model


@dataclass(frozen=True, eq=False)
class Association:
    """Association of each pair of topics.

    Attributes
    ----------
    ratio : (K, K) array
        R_kl = A_kl / E_kl, symmetric. It is 1 where there is nothing to compare: on the diagonal, and where E_kl is 0.
    expected : (K, K) array
        E_kl, symmetric, with zeros on the diagonal. Each row sums to what the row of A sums to without its diagonal.
    """

    ratio: FloatArray
    expected: FloatArray

    def log2(self, limit: float = 4.0) -> FloatArray:
        """Return log2 of the ratio, clipped to [-limit, limit] for drawing.

        Entries without an association are NaN: the diagonal, and pairs that are not expected to occur at all, such as those
        of a topic that shares no document with any other. Beyond the default limit, a factor of 16, the value says little
        more.
        """
        with np.errstate(divide="ignore"):  # topics that are never together: minus infinity, then clipped
            values = np.clip(np.log2(self.ratio), -limit, limit)
        values[self.expected <= 0.0] = np.nan
        return values


def topic_association(model: Any) -> Association:
    """Compute how much more often pairs of topics share documents than expected from their sizes.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel

    Returns
    -------
    Association
        Values above 1 in ``ratio`` mean more often than expected. With three topics or fewer the row sums determine all
        pairs, and every ratio is 1.
    """
    return association_of(as_topic_model(model).A)


def association_of(A: FloatArray) -> Association:
    """Compute the association of topics from the matrix A alone; see :func:`topic_association`."""
    off = A - np.diag(np.diagonal(A))
    expected = _quasi_independent(off)
    ratio = np.divide(off, expected, out=np.ones_like(off), where=expected > 0.0)
    return Association(ratio, expected)


def _quasi_independent(off: FloatArray) -> FloatArray:
    """Return E for a symmetric matrix with a zero diagonal and row sums m.

    With S the sum of a, the row sums require a_k (S - a_k) = m_k. Each a_k is therefore a root of a quadratic: the smaller
    root u_k, except that the largest topic may have more than S / 2. With x = 1 / S^2 and r_k = sqrt(1 - 4 m_k x), the
    smaller root is u_k = 2 m_k sqrt(x) / (1 + r_k), which leaves one equation in the single unknown x.
    """
    from scipy.optimize import brentq

    m = off.sum(axis=1)
    most = int(m.argmax())
    others = np.arange(m.size) != most
    # The sum of the other topics among themselves, which is sum(m) - 2 max(m) computed without cancellation.
    slack = float(off[np.ix_(others, others)].sum())
    if slack <= np.finfo(np.float64).tiny:
        return off.copy()  # every pair involves one topic: the limit of E as its a grows without bound

    def roots(x: float) -> FloatArray:
        return np.sqrt(np.maximum(1.0 - 4.0 * m * x, 0.0))

    def all_smaller(x: float) -> float:
        """Sum of u divided by S, minus 1."""
        return float(x * (2.0 * m / (1.0 + roots(x))).sum()) - 1.0

    def one_larger(x: float) -> float:
        """S times the others' u minus that of the largest; S u_k - m_k is 4 m_k^2 x / (1 + r_k)^2."""
        beyond = 4.0 * m**2 * x / (1.0 + roots(x)) ** 2
        return slack + float(beyond[others].sum() - beyond[most])

    end = 0.25 / float(m[most])
    larger = all_smaller(end) < 0.0
    equation = one_larger if larger else all_smaller
    if larger and one_larger(end) >= 0.0:
        x = end  # the largest is S / 2 up to rounding
    else:
        x = brentq(equation, 0.0, end, xtol=np.finfo(np.float64).tiny, rtol=1e-15, maxiter=1000)
    a = 2.0 * m * np.sqrt(x) / (1.0 + roots(x))
    if larger:
        a[most] = 1.0 / np.sqrt(x) - a[most]
    expected = np.outer(a, a)
    np.fill_diagonal(expected, 0.0)
    return expected

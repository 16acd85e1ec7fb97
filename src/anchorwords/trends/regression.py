"""Linear trends of topic proportions over time: weighted least squares over documents, from one pass.

Notation
--------
w_m          proportion of a topic in document m; y_m = w_m minus a constant, which changes no slope
a_m          weight of the document: 1, or its number of tokens; c_p its factor in period p, below
u_m          its time, shifted and scaled to mean 0 and standard deviation 1 over all dated documents
y_m ~ alpha + beta u_m, weighted by b_m = c_p a_m
d_m = u_m - sum b u / sum b
beta = sum b d y / D,   D = sum b d^2
e_m          residual

If documents are independent, c = 1. If those of one period share a deviation, a period of many documents says little more
than one of few, and c_p levels their weights (:mod:`anchorwords.trends.shared`).

The variance for independent documents is n / (n - 2) sum b^2 d^2 e^2 / D^2. It is White's with the HC1 factor: residuals may
differ in variance between documents, as those of proportions do. The sums a^2 u^p y^q of each period, for p <= 4 - q and
q <= 2, suffice; u is of order one and y centred, so that little cancels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from .._typing import BoolArray, FloatArray, IntArray
from .shared import period_factors, shared_error, variance_ratio

# Slopes below this are rounding: proportions are at most 1, and times have a standard deviation of 1.
_ROUNDING = 1e-14


class Line(NamedTuple):
    """The slopes of K topics per unit of time, with their errors.

    Attributes
    ----------
    slope : (K,) array
    error : (K,) array
        Standard error if documents are independent.
    shared_error : (K,) array
        Standard error if documents of one period share a deviation; nan with fewer than three periods.
    freedom : float
        Degrees of freedom of ``shared_error``.
    ratio : float
        Variance of shared deviations over that of documents, which weights are levelled by; 0 if they are not.
    """

    slope: FloatArray
    error: FloatArray
    shared_error: FloatArray
    freedom: float
    ratio: float


class TrendSums:
    """Running sums of the regression of every topic on time.

    Parameters
    ----------
    times : (M,) array
        Of all documents, nan if missing.
    centre : (K,) array
        Constants near the mean proportions.
    n_periods : int
        Periods that the documents are in.
    """

    def __init__(self, times: FloatArray, centre: FloatArray, n_periods: int) -> None:
        known = times[~np.isnan(times)]
        self._shift = float(known.mean())
        self._scale = float(known.std())
        # Times that are all the same but for rounding have no trend.
        self.has_trend = bool(self._scale > 1e-12 * max(1.0, abs(self._shift)))
        self._centre = centre
        K = centre.size
        self.n_docs = np.zeros(n_periods)
        # By power of u and period: a u^p, a u^p y, a^2 u^p, a^2 u^p y, a^2 u^p y^2.
        self._a, self._ay = np.zeros((3, n_periods)), np.zeros((2, n_periods, K))
        self._aa = np.zeros((5, n_periods))
        self._aay, self._aayy = np.zeros((4, n_periods, K)), np.zeros((3, n_periods, K))

    def add(self, periods: IntArray, times: FloatArray, w: FloatArray, a: FloatArray) -> None:
        """Add documents: the period, time, proportions and weight of each."""
        if not self.has_trend or not times.size:
            return
        here, own = np.unique(periods, return_inverse=True)
        order = np.argsort(own, kind="stable")
        first = np.searchsorted(own[order], np.arange(here.size))
        u, y, a = (times[order] - self._shift) / self._scale, w[order] - self._centre, a[order]
        self.n_docs[here] += np.bincount(own)
        for sums, factor in ((self._a, a), (self._aa, a**2)):
            for p, row in enumerate(sums):
                row[here] += np.add.reduceat(factor * u**p, first)
        weighted = a[:, None] * y
        for rows_of_powers, factors in (
            (self._ay, weighted), (self._aay, a[:, None] * weighted), (self._aayy, weighted**2),
        ):  # fmt: skip
            for p, rows in enumerate(rows_of_powers):
                rows[here] += np.add.reduceat(factors * u[:, None] ** p, first, axis=0)

    def line(self, *, levelled: bool) -> Line:
        """The slopes, by weights that are levelled between periods or not; nan without two times and three documents."""
        unknown = np.full(self._centre.size, np.nan)
        nothing = Line(unknown, unknown, unknown, np.nan, 0.0)
        n_docs = self.n_docs.sum()
        if not self.has_trend or n_docs < 3:
            return nothing
        ratio = self._ratio() if levelled else 0.0
        c = period_factors(self._a[0], self._aa[0], ratio)
        a, ay = (self._a * c).sum(axis=1), np.einsum("t,ptk->pk", c, self._ay)
        mean = a[1] / a[0]
        D = a[2] - mean * a[1]
        if not 1e-12 * a[0] < D:
            return nothing
        beta = (ay[1] - mean * ay[0]) / D
        # Of proportions that are all the same, rounding leaves a slope, which must not be called a trend.
        beta[np.abs(beta) < _ROUNDING] = 0.0
        alpha = ay[0] / a[0] - beta * mean
        error = np.sqrt(self._meat(c, alpha, beta, mean) * n_docs / (n_docs - 2)) / D
        shared, freedom = shared_error(self._a * c, self._ay * c[:, None], alpha, beta)
        return Line(beta / self._scale, error / self._scale, shared / self._scale, freedom, ratio)

    def _ratio(self) -> float:
        """Variance of shared deviations over that of documents."""
        some = self.n_docs > 0
        a, aa, n = self._a[:, some], self._aa[0, some], self.n_docs[some]
        means = self._ay[0, some] / a[0][:, None]
        about = self._aayy[0, some] - 2.0 * means * self._aay[0, some] + means**2 * aa[:, None]
        # A document tells nothing of the variance about a mean of itself alone.
        weight = float((aa * (1.0 - 1.0 / n)).sum())
        within = float(np.maximum(about, 0.0).sum()) / weight if weight > 0.0 else 0.0
        return variance_ratio(a[0], aa, a[1] / a[0], means, within)

    def _meat(self, c: FloatArray, alpha: FloatArray, beta: FloatArray, mean: float) -> FloatArray:
        """Sum of b^2 d^2 e^2 over documents."""
        one = self._aa @ c**2
        y, yy = (np.einsum("t,ptk->pk", c**2, sums) for sums in (self._aay, self._aayy))
        meat = np.zeros(alpha.size)
        # e^2 = y^2 - 2 y (alpha + beta u) + (alpha + beta u)^2 and d^2 = u^2 - 2 mean u + mean^2, as polynomials in u.
        for power, factor in ((2, 1.0), (1, -2.0 * mean), (0, mean**2)):
            meat += factor * (
                yy[power]
                - 2.0 * (alpha * y[power] + beta * y[power + 1])
                + alpha**2 * one[power]
                + 2.0 * alpha * beta * one[power + 1]
                + beta**2 * one[power + 2]
            )
        return np.maximum(meat, 0.0)


def interval_and_p(slope: FloatArray, error: FloatArray, freedom: float, level: float) -> tuple[FloatArray, FloatArray]:
    """Half of the interval of each slope, and its p-value, by Student's t; nan without an error."""
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
    # A slope without error, of proportions exactly on a line, is certain unless it is zero.
    certain = np.where(slope == 0.0, 0.0, np.inf)
    t = np.divide(np.abs(slope), error, out=certain, where=error != 0.0)
    return half, 2.0 * stdtr(freedom, -t)


def adjusted_p_values(p: FloatArray) -> FloatArray:
    """P-values adjusted for several tests by Benjamini and Hochberg: those at most q have a false discovery rate of q."""
    known: BoolArray = ~np.isnan(p)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p[known], kind="stable")[::-1]
    n = order.size
    stepped = np.minimum.accumulate(p[known][order] * n / np.arange(n, 0, -1)) if n else p[known]
    back = np.empty(n)
    back[order] = np.minimum(stepped, 1.0)
    adjusted[known] = back
    return adjusted

"""Linear trends of topic proportions over time: weighted least squares over documents, from one pass.

Notation
--------
w_m          proportion of a topic in document m; y_m = w_m minus a constant, which changes no slope
a_m          weight of the document: 1, or its number of tokens
u_m          its time, shifted and scaled to mean 0 and standard deviation 1 over all dated documents
y_m ~ alpha + beta u_m, weighted by a_m
d_m = u_m - sum a u / sum a
beta = sum a d y / D,   D = sum a d^2
variance of beta = n / (n - 2) sum a^2 d^2 e^2 / D^2,   e = residual

The variance is White's, with the HC1 factor: residuals may differ in variance between documents, as those of proportions
do. The sums a^2 u^p y^q for p <= 4, q <= 2 suffice; u is of order one and y centred, so that little cancels.
"""

from __future__ import annotations

import numpy as np

from .._typing import BoolArray, FloatArray


class TrendSums:
    """Running sums of the regression of every topic on time.

    Parameters
    ----------
    times : (M,) array
        Of all documents, nan if missing.
    centre : (K,) array
        Constants near the mean proportions.
    """

    def __init__(self, times: FloatArray, centre: FloatArray) -> None:
        known = times[~np.isnan(times)]
        self._shift = float(known.mean())
        self._scale = float(known.std())
        # Times that are all the same but for rounding have no trend.
        self.has_trend = bool(self._scale > 1e-12 * max(1.0, abs(self._shift)))
        self._centre = centre
        K = centre.size
        self.n_docs = 0
        self._a = np.zeros(3)  # a u^p
        self._ay = np.zeros((2, K))  # a u^p y
        self._aa = np.zeros((3, 5, K))  # a^2 y^q u^p, by q and p

    def add(self, times: FloatArray, w: FloatArray, a: FloatArray) -> None:
        """Add documents: the time, proportions and weight of each."""
        if not self.has_trend or not times.size:
            return
        self.n_docs += times.size
        u, y = (times - self._shift) / self._scale, w - self._centre
        powers = u[None, :] ** np.arange(5)[:, None]
        self._a += powers[:3] @ a
        self._ay += (powers[:2] * a) @ y
        squared = powers * a**2
        self._aa[0] += squared.sum(axis=1)[:, None]
        self._aa[1] += squared @ y
        self._aa[2] += squared @ y**2

    def slopes(self) -> tuple[FloatArray, FloatArray]:
        """Slope of each topic per unit of time and its standard error; nan without two times and three documents."""
        K = self._centre.size
        nothing = np.full(K, np.nan), np.full(K, np.nan)
        if not self.has_trend or self.n_docs < 3:
            return nothing
        mean = self._a[1] / self._a[0]
        D = self._a[2] - mean * self._a[1]
        if not 1e-12 * self._a[0] < D:
            return nothing
        beta = (self._ay[1] - mean * self._ay[0]) / D
        alpha = self._ay[0] / self._a[0] - beta * mean
        # e^2 = y^2 - 2 y (alpha + beta u) + (alpha + beta u)^2 and d^2 = u^2 - 2 mean u + mean^2, as polynomials in u.
        one, y, yy = self._aa
        meat = np.zeros(K)
        for power, factor in ((2, 1.0), (1, -2.0 * mean), (0, mean**2)):
            meat += factor * (
                yy[power]
                - 2.0 * (alpha * y[power] + beta * y[power + 1])
                + alpha**2 * one[power]
                + 2.0 * alpha * beta * one[power + 1]
                + beta**2 * one[power + 2]
            )
        error = np.sqrt(np.maximum(meat, 0.0) * self.n_docs / (self.n_docs - 2)) / D
        return beta / self._scale, error / self._scale


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

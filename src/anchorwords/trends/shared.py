"""Deviations from the line that the documents of one period share.

A large event, a new data provider or a change of guidelines moves all documents of a year together. Such a deviation does
not average out over the documents of the year, however many there are, so that the number of periods limits what is known
about a trend, not the number of documents.

Notation
--------
y_m = alpha + beta u_m + v_p + e_m     for document m of period p (other letters as in :mod:`anchorwords.trends.regression`)
v_p          shared deviation, of variance rho sigma^2; sigma^2 is the variance of e_m
n_p = (sum a)^2 / sum a^2              effective number of documents of period p; its number if weights are equal
m_p          its weight sum a, scaled so that both have the same sum over periods
c_p = 1 / (1 + rho m_p)                factor of the weights of its documents

With these weights, those of generalised least squares, a period counts by its documents if rho is 0, and as one observation
if it is large. The ratio rho is estimated by moments from the means of periods, for all topics together, so that slopes of
all topics still sum to zero.

b_m = c_p a_m            weight of document m
l_m = b_m d_m / D        its coefficient in the slope: beta = sum_m l_m y_m
s_p = sum_{m in p} l_m e_m       score of period p
L_p = sum_{m in p} l_m   coefficient of v_p in the slope
z_m = (1, u_m),   M = (sum b z z')^-1,   S_p = sum_{m in p} l_m z_m',   N_p = sum_{m in p} b_m z_m
s = (diag(L) - S M N) v = R v    scores of shared deviations: residuals are what the line leaves of them

V = sum_p s_p^2 L_p^2 / (R R')_pp

is the cluster-robust variance of the slope with periods as clusters. It does not rely on rho, nor on deviations of equal
variance. The plain sum of s_p^2 is too small, as the line follows the deviations; the factors make V unbiased for shared
deviations of equal variance. This is the bias-reduced linearisation of Bell and McCaffrey (2002) with shared deviations as
working model, as Imbens and Kolesar (2016) suggest for degrees of freedom; if each period has one time and the same
weight, it is the HC2 variance of a line through the T means. The degrees of freedom are Satterthwaite's,
2 (E V)^2 / Var V: T - 2 at most, and fewer if a few periods determine the slope.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray

# A period whose deviation the line follows up to this share is fitted exactly: its deviation cannot be estimated.
_FOLLOWED = 1e-9
# Largest ratio: periods then have equal weights unless they differ by more than this in size.
_LARGEST = 1e9


def period_factors(a: FloatArray, aa: FloatArray, ratio: float) -> FloatArray:
    """c_p, from the sums of a and a^2 over the documents of each period."""
    return 1.0 / (1.0 + ratio * _sizes(a, aa)[1])


def variance_ratio(a: FloatArray, aa: FloatArray, times: FloatArray, means: FloatArray, within: float) -> float:
    """Estimate rho from the means of periods: what they deviate from the line by, beyond the noise of their documents.

    Parameters
    ----------
    a, aa : (T,) arrays
        Sums of a and a^2 over the documents of each period.
    times : (T,) array
        Mean time of each period.
    means : (T, K) array
        Mean of y of each period.
    within : float
        Variance of documents about the mean of their period, summed over topics.

    Returns
    -------
    float
        At least 0; 0 with fewer than three periods, which a line fits exactly.
    """
    if a.size < 3:
        return 0.0
    n, m = _sizes(a, aa)
    Z = np.column_stack([np.ones(a.size), times])
    # The best weights depend on the ratio. The first are between those of small and of large ones.
    ratio = 1.0 / float(np.median(m))
    for _ in range(2):
        weights = a / (1.0 + ratio * m)
        moments = Z.T * weights @ Z
        if np.linalg.cond(moments) > 1.0 / _FOLLOWED:
            return 0.0
        hat = np.asarray(np.linalg.solve(moments, Z.T).T, dtype=np.float64)  # rows z_p M
        left = means - hat @ (Z.T * weights @ means)

        squares, unit = float(weights @ (left**2).sum(axis=1)), _squares_left(np.ones(a.size), weights, Z, hat)
        if not unit > _FOLLOWED * weights.sum():
            return 0.0
        excess = squares - within * _squares_left(1.0 / n, weights, Z, hat)
        ratio = 0.0 if excess <= 0.0 else min(excess / unit / within if within > 0.0 else _LARGEST, _LARGEST)
    return ratio


def shared_error(a: FloatArray, ay: FloatArray, alpha: FloatArray, beta: FloatArray) -> tuple[FloatArray, float]:
    """Standard error of each slope with periods as clusters, and its degrees of freedom.

    Parameters
    ----------
    a : (3, T) array
        Sums of b u^q over the documents of each period, for q = 0, 1, 2.
    ay : (2, T, K) array
        Sums of b u^q y, for q = 0, 1.
    alpha, beta : (K,) arrays
        The lines.

    Returns
    -------
    error : (K,) array
        nan if fewer than three periods determine the slope.
    freedom : float
    """
    some = a[0] > 0.0
    a, ay = a[:, some], ay[:, some]
    total = a.sum(axis=1)
    mean = total[1] / total[0]
    D = total[2] - mean * total[1]
    unknown = np.full(beta.size, np.nan), np.nan
    if a.shape[1] < 3:
        return unknown
    L = (a[1] - mean * a[0]) / D
    second = (a[2] - mean * a[1]) / D  # sum of l u
    S, N = np.column_stack([L, second]), np.column_stack([a[0], a[1]])
    moments = np.array([[total[0], total[1]], [total[1], total[2]]])
    scores = (ay[1] - mean * ay[0]) / D - L[:, None] * alpha - second[:, None] * beta
    # R R' = diag(L^2) + U C U' with four columns U.
    U = np.column_stack([np.linalg.solve(moments, S.T).T, L[:, None] * N])
    C = np.block([[N.T @ N, -np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    own = L**2
    spread = own + np.einsum("pi,ij,pj->p", U, C, U)
    # A period at the mean time has no part in the slope, and its deviation none in the variance.
    counts = own / own.sum() > _FOLLOWED
    if (spread[counts] <= _FOLLOWED * own[counts]).any():
        return unknown
    factor = np.divide(own, spread, out=np.zeros(own.size), where=counts)
    low_rank = U.T @ (factor[:, None] * U)
    # tr((F R R')^2) for F = diag(factor), by the two parts of R R'.
    half_variance = float((factor**2 * own * (2.0 * spread - own)).sum() + np.trace(C @ low_rank @ C @ low_rank))
    if not half_variance > 0.0:
        return unknown
    freedom = float(own[counts].sum()) ** 2 / half_variance
    return np.sqrt(factor @ scores**2), min(freedom, a.shape[1] - 2.0)


def _squares_left(x: FloatArray, weights: FloatArray, Z: FloatArray, hat: FloatArray) -> float:
    """Expected weighted sum of squares that the line leaves of independent deviations with variances x."""
    inner = Z.T * (weights**2 * x) @ Z
    leverage = weights * np.einsum("pi,pi->p", hat, Z)
    return float(weights @ (x - 2.0 * x * leverage + np.einsum("pi,ij,pj->p", hat, inner, hat)))


def _sizes(a: FloatArray, aa: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Effective numbers of documents n_p, and weights m_p in their scale."""
    n = np.divide(a**2, aa, out=np.zeros(a.size), where=aa > 0.0)
    return n, a * (n.sum() / a.sum())

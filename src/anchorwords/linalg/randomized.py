"""Largest eigenpairs of a symmetric operator that is known only by its products.

Notation
--------
C : (N, N)     symmetric, possibly indefinite; only ``C @ V`` is used
Omega : (N, l) Gaussian probe, l = K + oversampling
Z : (N, m)     orthonormal basis, Z'CZ its Rayleigh quotient
U, theta       Ritz vectors and values, the K *algebraically* largest kept

Two routes. :func:`one_pass_eigh` touches C once (Halko, Martinsson and Tropp 2011, section 5.5) for streams that
cannot be read again. :func:`randomized_eigh` goes on with further passes: a block Krylov iteration with
Rayleigh-Ritz on everything kept, restarted when the basis is full, until the residuals of the wanted pairs
say that they have converged. A large negative eigenvalue needs no shift: it takes one dimension of
the basis and is never among the algebraically largest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from .._typing import FloatArray, SymmetricOperator

# Below this size the whole matrix is formed and decomposed: cheaper than being clever.
_SMALL = 200
# Blocks of products kept before a restart.
_DEPTH = 4


class Eigenpairs(NamedTuple):
    """Eigenpairs in descending order, and how they were had.

    Attributes
    ----------
    values : (K,) array
    vectors : (N, K) array, orthonormal columns
    residuals : (K,) array
        |C u - theta u| of each pair (NaN after a single pass, where it is unknown).
    n_passes : int
        Products of C with a block.
    converged : bool
    basis : (N, l) array
        The wanted vectors and the runners-up: a warm start for a nearby operator.
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    n_passes: int
    converged: bool
    basis: FloatArray


def randomized_eigh(
    C: SymmetricOperator | FloatArray,
    k: int,
    *,
    n_oversamples: int | None = None,
    tol: float = 1e-7,
    max_passes: int = 200,
    start: FloatArray | None = None,
    random_state: np.random.Generator | int | None = None,
    callback: Callable[[int, float], None] | None = None,
) -> Eigenpairs:
    """Find the K algebraically largest eigenpairs by block Krylov iteration with Rayleigh-Ritz.

    Parameters
    ----------
    C : operator or (N, N) array
        Symmetric; ``C @ V`` must accept a block of columns.
    k : int
        How many pairs.
    n_oversamples : int, optional
        Extra columns in the block; ``max(8, k // 4)`` by default.
    tol : float
        Converged when every wanted residual is at most ``tol * max(theta_k, theta_1 / 10^4)``.
    max_passes : int
        Limit on the products with C.
    start : (N, any) array, optional
        Columns near the wanted space; completed by Gaussian columns.
    random_state : Generator, int or None
        Source of the Gaussian columns.
    callback : callable, optional
        Called after each pass with the passes made and the largest residual relative to its goal.

    Returns
    -------
    Eigenpairs
    """
    N = C.shape[0]
    rng = np.random.default_rng(random_state)
    extra = max(8, k // 4) if n_oversamples is None else n_oversamples
    block = min(N, k + extra)
    if max(_SMALL, 2 * block) >= N:
        if callback is not None:
            callback(1, 0.0)
        return _dense_eigh(C, k, block)
    Z = _starting_block(N, block, start, rng)
    CZ = C @ Z
    passes = 1
    while True:
        theta, S = _descending_eigh(Z.T @ CZ)
        U, CU = Z @ S[:, :block], CZ @ S[:, :block]
        R = CU - U * theta[:block]
        residuals = np.linalg.norm(R, axis=0)
        goal = tol * max(theta[k - 1], 1e-4 * abs(theta[0]), np.finfo(np.float64).tiny)
        worst = float(residuals[:k].max())
        if callback is not None:
            callback(passes, worst / goal if goal > 0 else np.inf)
        if worst <= goal or passes >= max_passes:
            values, vectors = theta[:k].copy(), _fix_signs(U[:, :k])
            return Eigenpairs(values, vectors, residuals[:k], passes, worst <= goal, U)
        if Z.shape[1] + block > min(_DEPTH * block, N):
            Z, CZ = U, CU
        # The residuals of all pairs not yet exact span the next Krylov block.
        V = _new_directions(Z, R[:, residuals > 0.1 * goal])
        if V.shape[1] == 0:  # the basis is invariant to rounding: nothing can improve
            return Eigenpairs(theta[:k].copy(), _fix_signs(U[:, :k]), residuals[:k], passes, True, U)
        Z, CZ = np.hstack([Z, V]), np.hstack([CZ, C @ V])
        passes += 1


def one_pass_eigh(
    C: SymmetricOperator | FloatArray,
    k: int,
    *,
    n_oversamples: int | None = None,
    random_state: np.random.Generator | int | None = None,
) -> Eigenpairs:
    """Estimate the K largest eigenpairs from a single product C Omega.

    The basis Q holds the leading left singular vectors of C Omega, fewer than Omega has columns, so that the
    least-squares problem T (Q'Omega) = Q'(C Omega) for the small symmetric T is overdetermined and stable.
    Expect relative errors of C's rank-K part of 10-40 % on word co-occurrences; use :func:`randomized_eigh`
    wherever a second pass is possible.

    Parameters
    ----------
    C : operator or (N, N) array
    k : int
    n_oversamples : int, optional
        Extra columns of the probe; ``3 k + 10`` by default.
    random_state : Generator, int or None

    Returns
    -------
    Eigenpairs
    """
    N = C.shape[0]
    rng = np.random.default_rng(random_state)
    extra = 3 * k + 10 if n_oversamples is None else n_oversamples
    width = min(N, k + extra)
    Omega = rng.standard_normal((N, width))
    return eigh_from_probe(Omega, C @ Omega, k)


def eigh_from_probe(Omega: FloatArray, product: FloatArray, k: int) -> Eigenpairs:
    """Eigenpairs from a probe and its product with C, the second half of :func:`one_pass_eigh`."""
    width = Omega.shape[1]
    rank = min(width, k + (width - k + 1) // 2)
    left, sigma, _ = np.linalg.svd(product, full_matrices=False)
    rank = max(k, min(rank, int(np.sum(sigma > 1e-12 * sigma[0]))))
    Q = left[:, :rank]
    F, W = Q.T @ Omega, Q.T @ product
    # Symmetric least squares: the normal equations T FF' + FF' T = W F' + F W' are a Lyapunov equation.
    T = scipy.linalg.solve_continuous_lyapunov(F @ F.T, W @ F.T + F @ W.T)
    theta, S = _descending_eigh(T)
    vectors = _fix_signs(Q @ S)
    unknown = np.full(k, np.nan)
    return Eigenpairs(theta[:k].copy(), vectors[:, :k], unknown, 1, False, vectors)


def _starting_block(N: int, block: int, start: FloatArray | None, rng: np.random.Generator) -> FloatArray:
    gaussian = rng.standard_normal((N, block))
    if start is not None:
        given = min(start.shape[1], block)
        gaussian[:, :given] = start[:, :given]
    return np.linalg.qr(gaussian)[0]


def _dense_eigh(C: SymmetricOperator | FloatArray, k: int, block: int) -> Eigenpairs:
    theta, U = _descending_eigh(C @ np.eye(C.shape[0]))
    return Eigenpairs(theta[:k].copy(), _fix_signs(U[:, :k]), np.zeros(k), 1, True, U[:, :block])


def _descending_eigh(T: FloatArray) -> tuple[FloatArray, FloatArray]:
    values, vectors = np.linalg.eigh((T + T.T) / 2.0)
    return values[::-1], vectors[:, ::-1]


def _new_directions(Z: FloatArray, R: FloatArray) -> FloatArray:
    """Orthonormal columns that span R outside the span of Z; those lost to rounding are dropped."""
    V = R / np.maximum(np.linalg.norm(R, axis=0), np.finfo(np.float64).tiny)
    for _ in range(2):  # twice is enough (Kahan)
        V = V - Z @ (Z.T @ V)
        V, upper = np.linalg.qr(V)
        V = V[:, np.abs(np.diagonal(upper)) > 1e-10]
    return V


def _fix_signs(U: FloatArray) -> FloatArray:
    """Make the entry of largest magnitude of each column positive."""
    pivots = np.argmax(np.abs(U), axis=0)
    signs = np.sign(U[pivots, np.arange(U.shape[1])])
    return U * np.where(signs == 0.0, 1.0, signs)

"""Largest eigenpairs of a symmetric operator that is known only by its products.

Notation
--------
C : (N, N)     symmetric, possibly indefinite; only ``C @ V`` is used
Omega : (N, l) Gaussian probe
Z : (N, m)     orthonormal basis of a block Krylov space, T = Z'CZ its Rayleigh quotient
Q : (N, b)     the block of Z that was multiplied last, or comes next: C Z = Z T + Q_next B [0 .. I]
U, theta       Ritz vectors and values, the K *algebraically* largest kept

Two routes. :func:`one_pass_eigh` touches C once (Halko, Martinsson and Tropp 2011, section 5.5) for streams that
cannot be read again. :func:`randomized_eigh` goes on with further passes: a block Lanczos iteration, orthogonalised in
full and restarted with its Ritz vectors when the basis is full (thick restart), until the residuals of the
wanted pairs say that they have converged. Blocks are narrower than K: for the same work the Krylov space
gets deeper, which is worth more than width. What width is for, eigenvalues repeated more often than a block
has columns, is looked for at the end with a fresh random block. A large negative eigenvalue needs no
shift: it takes one dimension of the basis and is never among the algebraically largest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from .._namespace import array_namespace, is_array, is_numpy, to_numpy, writeable
from .._namespace import like as as_like
from .._typing import FloatArray, SymmetricOperator
from .tall import gram, times, with_columns

# Below this size the whole matrix is formed and decomposed: cheaper than being clever.
_SMALL = 200
# Products of the fresh block that looks for repeated eigenvalues.
_FRESH_PASSES = 2
# The fresh block joins when the residuals are within this factor of their goal: the two searches end together.
_NEARLY = 100.0
# Share of the largest eigenvalue by which one of the wanted must rise for the search to have found something.
_NEWS = 1e-7
# Topics from which on wider blocks, of 16 columns, are as fast: the Krylov space gets less deep, but products go quicker.
_WIDER_FROM = 192
# Passes between two looks at the Ritz values: a decomposition of T costs as much as a pass or more.
_PASSES_A_LOOK = 3
# A direction of the next block shorter than this share of the largest eigenvalue is rounding; one shorter than that,
# in need of another orthogonalisation.
_ROUNDING = 1e-13
_SHORT = 1e-6
# A Gram matrix is trusted for an orthonormal basis where its eigenvalues lie within this ratio.
_CONDITION = 1e-10


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

    ``vectors`` and ``basis`` are in the namespace that was asked for; what is of size K is NumPy's.
    """

    values: FloatArray
    vectors: Any
    residuals: FloatArray
    n_passes: int
    converged: bool
    basis: Any


def randomized_eigh(
    C: SymmetricOperator | Any,
    k: int,
    *,
    block: int | None = None,
    tol: float = 1e-6,
    max_passes: int = 400,
    start: Any = None,
    like: Any = None,
    search: bool | None = None,
    random_state: np.random.Generator | int | None = None,
    n_jobs: int | None = None,
    callback: Callable[[int, float], None] | None = None,
) -> Eigenpairs:
    """Find the K algebraically largest eigenpairs by block Lanczos iteration with Rayleigh-Ritz.

    Parameters
    ----------
    C : operator or (N, N) array
        Symmetric; ``C @ V`` must accept a block of columns. An array may be of any array namespace.
    k : int
        How many pairs.
    block : int, optional
        Columns multiplied at a time; 8 by default, 16 from K = 192 on.
    tol : float
        Converged when every wanted residual is at most ``tol * max(theta_k, theta_1 / 10^4)``.
    max_passes : int
        Limit on the products with C.
    start : (N, any) array, optional
        Columns near the wanted space, all multiplied in the first pass.
    like : array, optional
        The results are in the namespace and on the device of this array; by default in those of ``start``, or of C, or
        NumPy's if C is an operator. Products of an operator must be in the namespace of the block they are asked for.
    search : bool, optional
        Whether to look, with a fresh random block, for eigenvectors that the first block is blind to; by default where
        there is no start.
    random_state : Generator, int or None
        Source of the Gaussian columns.
    n_jobs : int or None
        Threads; the result does not depend on it.
    callback : callable, optional
        Called after each pass with the passes made and the largest residual relative to its goal.

    Returns
    -------
    Eigenpairs
    """
    N = C.shape[0]
    model = next((array for array in (like, start) if array is not None), C)
    C, start = (as_like(array, model) if is_array(array) else array for array in (C, start))
    rng = np.random.default_rng(random_state)
    width = min(N, (8 if k < _WIDER_FROM else 16) if block is None else block)
    extra = max(8, k // 4)
    if max(_SMALL, 2 * (k + extra)) >= N:
        if callback is not None:
            callback(1, 0.0)
        return _dense_eigh(C, k, min(N, k + extra), model)
    xp = array_namespace(model)
    first_block = as_like(rng.standard_normal((N, width)), model) if start is None else start[:, : k + extra]
    Q = xp.linalg.qr(first_block)[0]
    first = Q.shape[1]
    size = min(N, max(4 * k, k + extra + 2 * first) + 4 * width)
    basis = xp.zeros((N, size), dtype=Q.dtype, device=Q.device)
    # On a GPU the Rayleigh quotient stays there: decomposed on the host, it would cost more than the passes.
    T = as_like(np.zeros((size, size)), Q) if writeable(Q) else np.zeros((size, size))
    m = passes = 0
    reach = 0  # C Q overlaps with the basis from this column on: by the three-term recurrence, with two blocks
    scale = 0.0  # the largest entry of T on the way: of the order of the largest eigenvalue
    look = start is None if search is None else search
    fresh = None if look else _FRESH_PASSES  # passes since the fresh block joined
    found: FloatArray | None = None  # the wanted eigenvalues when it did
    while True:
        W = C @ Q
        passes += 1
        b = Q.shape[1]
        basis = with_columns(basis, m, Q)
        Z = basis[:, : m + b]
        column = gram(Z[:, reach:], W, n_jobs)
        W = W - times(Z[:, reach:], column, n_jobs)
        T[:reach, m : m + b] = 0.0
        T[reach : m + b, m : m + b] = as_like(column, T)
        T[m : m + b, :m] = T[:m, m : m + b].T
        reach, m = m, m + b
        scale = max(scale, float(np.abs(to_numpy(T[m - b : m, m - b : m])).max()))
        Q, B = _next_block(Z, W, scale, n_jobs)
        fresh = fresh + 1 if fresh is not None else None
        full = m + Q.shape[1] + width > size
        if not (full or Q.shape[1] == 0 or passes % _PASSES_A_LOOK == 0 or passes >= max_passes or start is not None):
            continue
        theta, S = _descending_eigh(T[:m, :m])
        theta, last = to_numpy(theta), to_numpy(S[m - b :, :])
        residuals = np.linalg.norm(B @ last, axis=0)
        goal = tol * max(theta[min(k, m) - 1], 1e-4 * abs(theta[0]), np.finfo(np.float64).tiny)
        worst = float(residuals[:k].max()) if m >= k else np.inf
        if callback is not None:
            callback(passes, worst / goal)
        # A search is over when a fresh block has brought no larger eigenvalue to light.
        looked = m == N or (fresh is not None and fresh >= _FRESH_PASSES)
        searched = looked and (m == N or found is None or bool((theta[:k] <= found + _NEWS * theta[0]).all()))
        if (worst <= goal and searched) or (passes >= max_passes and m >= k):
            U = times(Z, _leading(S, min(m, k + extra), Q), n_jobs)
            return Eigenpairs(theta[:k].copy(), _fix_signs(U[:, :k]), residuals[:k], passes, worst <= goal, U)
        if full:
            # Thick restart: the Ritz vectors wanted, and the runners-up.
            keep = min(m, k + extra)
            basis = with_columns(basis, 0, times(Z, _leading(S, keep, Q), n_jobs))
            T[:keep, :keep] = as_like(np.diag(theta[:keep]), T)
            reach, m = 0, keep
        search = (fresh is None or (looked and not searched)) and worst <= _NEARLY * goal
        if search or Q.shape[1] == 0:
            if search:
                fresh, found = 0, theta[:k].copy()
            spanned = xp.concat([basis[:, :m], Q], axis=1)
            probe = as_like(rng.standard_normal((N, min(width, N - spanned.shape[1]))), basis)
            Q = xp.concat([Q, _orthonormal(spanned, probe, n_jobs)], axis=1)
            reach = 0


def _leading(S: Any, n: int, model: Any) -> Any:
    """The first columns of a small matrix, in the namespace of a large one."""
    return as_like(np.ascontiguousarray(S[:, :n]) if is_numpy(S) else S[:, :n], model)


def _next_block(Z: Any, W: Any, scale: float, n_jobs: int | None) -> tuple[Any, FloatArray]:
    """Orthonormal Q and small B with Q B = W outside the span of Z, without what is lost to rounding."""
    W = W - times(Z, gram(Z, W, n_jobs), n_jobs)  # once more and in full: twice is enough (Kahan)
    Q, B = _thin_qr(W, n_jobs)
    left, sigma, right = np.linalg.svd(B)
    kept = sigma > _ROUNDING * scale
    if not kept.all():
        Q = times(Q, as_like(np.ascontiguousarray(left[:, kept]), W), n_jobs)
        B = sigma[kept, None] * right[kept]
    # A short direction carries the rounding errors of W, enlarged: clean it once more.
    if (sigma[kept] < _SHORT * scale).any():
        clean = _orthonormal(Z, Q, n_jobs)
        B = to_numpy(gram(clean, Q, n_jobs)) @ B
        Q = clean
    return Q, B


def _thin_qr(W: Any, n_jobs: int | None) -> tuple[Any, FloatArray]:
    """Q with orthonormal columns and small B with Q B = W.

    By Gram matrices where W is well conditioned, twice, so that Q is orthonormal to rounding: matrix products only,
    where Householder's way goes column by column.
    """
    B = np.eye(W.shape[1])
    Q = W
    for _ in range(2):
        values, vectors = np.linalg.eigh(to_numpy(gram(Q, Q, n_jobs)))
        if not values[0] > _CONDITION * values[-1]:
            Q, upper = array_namespace(W).linalg.qr(W)
            return Q, to_numpy(upper)
        Q = times(Q, as_like(vectors / np.sqrt(values), W), n_jobs)
        B = (np.sqrt(values)[:, None] * vectors.T) @ B
    return Q, B


def _orthonormal(Z: Any, Q: Any, n_jobs: int | None) -> Any:
    """Columns of Q, made orthogonal to those of Z and to each other."""
    if Q.shape[1] == 0:
        return Q
    xp = array_namespace(Q)
    for _ in range(2):
        Q = xp.linalg.qr(Q - times(Z, gram(Z, Q, n_jobs), n_jobs))[0]
    return Q


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
    Expect relative errors of C's rank-K part of 10-40% on word co-occurrences; use :func:`randomized_eigh`
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


def _dense_eigh(C: SymmetricOperator | Any, k: int, width: int, model: Any) -> Eigenpairs:
    theta, U = _descending_eigh(to_numpy(C @ as_like(np.eye(C.shape[0]), model)))
    U = as_like(np.ascontiguousarray(U[:, :width]), model)
    return Eigenpairs(theta[:k].copy(), _fix_signs(U[:, :k]), np.zeros(k), 1, True, U)


def _descending_eigh(T: Any) -> tuple[Any, Any]:
    xp = array_namespace(T)
    values, vectors = xp.linalg.eigh((T + T.T) / 2.0)
    return xp.flip(values), xp.flip(vectors, axis=1)


def _fix_signs(U: Any) -> Any:
    """Make the entry of largest magnitude of each column positive."""
    xp = array_namespace(U)
    lowest, highest = xp.min(U, axis=0), xp.max(U, axis=0)
    return xp.where(highest >= -lowest, U, -U)

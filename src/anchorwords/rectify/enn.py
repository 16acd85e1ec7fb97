"""ENN, Epsilon Non-Negative rectification (Algorithm 3): rectify and compress at once, never N x N.

Notation
--------
Y : (N, K)   compression, C ~ Y Y'
I            the |I| rows of Y of largest norm, where negative entries of Y Y' are looked for
E : (N, N)   max(-Y Y', 0) on rows I and, by symmetry, columns I; never stored, swept over in tiles
r            (1 - |Y'e|^2 - sum E) / N^2, what each entry needs for the sum to be one
op           x -> Y (Y'x) + E x + r (e'x) e, of which Y becomes the rank-K positive semi-definite part

The iteration is projected gradient descent, with step one, on half the squared distance of Y Y' from the
non-negative matrices that sum to one. That view gives the fast mode: the same steps with momentum
(``relaxation="momentum"``), which turns the sublinear convergence of the plain iteration into a linear one. The
first steps stay plain, because where the limit lies is decided there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from .._validation import check_iteration_options, check_positive_integer
from ..exceptions import InputError
from ..linalg.factored import factored_distance
from ..linalg.fixed_point import FixedPoint, Iteration, iterate
from ..linalg.parallel import limited_threads
from ..linalg.randomized import randomized_eigh
from .correction import CorrectedOperator, Correction
from .result import Callback, Rectified, warn_unless_converged
from .start import starting_pairs

# Plain steps before momentum sets in.
_BURN_IN = 50
# In the first steps Y moves most; two products instead of one keep its eigenspace accurate there.
_CAREFUL_STEPS = 5
# Residual of each eigenproblem in the paper's step-for-step mode.
_EXACT_TOL = 1e-10
# A Rayleigh quotient with an eigenvalue below this share of its largest has lost a dimension.
_RANK_LOSS = 1e-12


def rectify_enn(
    C: Any,
    n_components: int,
    *,
    n_rows: int | None = None,
    relaxation: float | str = "momentum",
    max_iter: int = 1000,
    tol: float = 1e-8,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Rectified:
    """Rectify and compress C at once (Algorithm 3).

    Parameters
    ----------
    C : (N, N) array, operator, or pair (V, D)
        Symmetric co-occurrence, anything with ``shape`` and ``@``, or its K leading eigenvectors and eigenvalues.
    n_components : int
        K.
    n_rows : int, optional
        |I|, the rows checked for negative entries; ``min(N, 10 K + 1000)`` by default.
    relaxation : "momentum" or float
        "momentum": plain steps first, then accelerated ones. A number omega applies omega E instead of E and
        no momentum; ``relaxation=1.0`` with ``tol=0`` is the paper's iteration step for step, every
        eigenproblem solved to 1e-10.
    max_iter : int
        Limit on the steps.
    tol : float
        Stop when what the correction would still change, |E + r ee'|_F, is at most this share of |Y Y'|_F.
        0 runs exactly ``max_iter`` steps.
    random_state : int or None
        Seed of the probe for the starting eigenpairs.
    n_jobs : int or None
        Threads; the result does not depend on it.
    callback : callable, optional
        Called with the step and its :class:`Iteration`.

    Returns
    -------
    Rectified
        With ``Y``, ``eps`` and ``min_entry``.
    """
    check_iteration_options(max_iter, tol)
    if relaxation != "momentum" and not (isinstance(relaxation, (int, float)) and 0 < relaxation < 2):
        raise InputError(f"relaxation must be 'momentum' or a number between 0 and 2, but is {relaxation!r}.")
    V, D = starting_pairs(C, n_components, random_state)
    N, K = V.shape
    checked = min(N, 10 * K + 1000 if n_rows is None else check_positive_integer(n_rows, "n_rows"))
    Y0 = V * np.sqrt(np.maximum(D, 0.0))
    if not Y0.any():
        raise InputError("C has no positive eigenvalue, so nothing is left after the projection to PSD_K.")
    step = _Step(checked, relaxation, exact=relaxation != "momentum" and tol == 0.0, n_jobs=n_jobs)
    # The threads are ours, over tiles: the library's own would only spin beside them.
    with limited_threads(1):
        end: FixedPoint[_State] = iterate(step, _State(Y0, Y0, 0, None), max_iter=max_iter, tol=tol, callback=callback)
        Y = end.state.Y
        # The guarantee is about Y and E of the same iteration: sweep once more over the Y returned.
        correction = Correction(Y, checked, n_jobs=n_jobs)
        lowest = correction.sweep(Y[:, :1]).min_entry
    warn_unless_converged("ENN", end, tol)
    return Rectified("enn", Y, None, end.converged, end.history, eps=correction.eps, min_entry=lowest)


class _State(NamedTuple):
    Y: FloatArray
    Z: FloatArray  # Y, extrapolated along the last move: where the next correction is computed
    momentum: int
    basis: FloatArray | None  # eigenvectors and runners-up, to start the next exact eigenproblem from


class _Step:
    """One iteration of Algorithm 3 from Z, exact or by a single warm-started product."""

    def __init__(self, n_rows: int, relaxation: float | str, exact: bool, n_jobs: int | None) -> None:
        self.n_rows = n_rows
        self.accelerated = relaxation == "momentum"
        self.omega = 1.0 if relaxation == "momentum" else float(relaxation)
        self.exact = exact
        self.n_jobs = n_jobs

    def __call__(self, state: _State, t: int) -> tuple[_State, Iteration]:
        operator = CorrectedOperator(state.Z, self.n_rows, self.omega, keep=self.exact, n_jobs=self.n_jobs)
        products = 2 if t < _CAREFUL_STEPS else 1
        Y = None if self.exact else compress(operator, state.Z, products)
        basis, aligned = state.basis, products == 1 and Y is not None
        if Y is None:
            pairs = randomized_eigh(operator, state.Z.shape[1], tol=_EXACT_TOL, start=basis, random_state=0)
            Y, basis = pairs.vectors * np.sqrt(np.maximum(pairs.values, 0.0)), pairs.basis
        report = Iteration(factored_distance(state.Y, Y), operator.violation())
        if not (self.accelerated and aligned and t >= _BURN_IN):
            return _State(Y, Y, 0, basis), report
        move = Y - state.Y
        # Momentum starts afresh when it points against the step (O'Donoghue and Candes 2015).
        momentum = 0 if float(np.sum((state.Z - Y) * move)) > 0.0 else state.momentum + 1
        beta = momentum / (momentum + 3.0)
        return _State(Y, Y + beta * move, momentum, basis), report


def compress(operator: CorrectedOperator, Z: FloatArray, products: int = 1) -> FloatArray | None:
    """Rank-K positive semi-definite part of the operator by a warm-started Nystroem step.

    With V an orthonormal basis of the range of Z and W = op V, the approximation W (V'W)^-1 W' is exact where that
    range is invariant. Elsewhere it shrinks the angle to the wanted space as a step of subspace iteration does, by the
    ratio of the unwanted eigenvalues to the wanted ones, and its eigenvalues are off by the square of the
    angle only: one product serves both the step and its Rayleigh quotient. The symmetric square roots keep the
    result aligned with Z. Returns None where a dimension was lost, for the caller to solve the eigenproblem afresh.
    """
    V = _inverse_root_product(Z, Z.T @ Z)
    if V is None:
        return None
    for _ in range(products - 1):
        V = np.linalg.qr(operator @ V)[0]
    W = operator @ V
    return _inverse_root_product(W, V.T @ W)


def _inverse_root_product(W: FloatArray, T: FloatArray) -> FloatArray | None:
    """W T^(-1/2) for symmetric T; None unless T is safely positive definite."""
    values, vectors = np.linalg.eigh((T + T.T) / 2.0)
    if not values[0] > _RANK_LOSS * values[-1]:
        return None
    return W @ ((vectors / np.sqrt(values)) @ vectors.T)

"""PALM, Proximal Alternating Linearised Minimisation rectification (Algorithm 4), and its inertial variant.

Notation
--------
J(X, Y) = |C - X Y'|^2 / 2 + s |X - Y|^2 / 2   minimised over X, Y >= 0, both (N, K)   (Eq. 2)
L(Y) = |Y'Y + s I|_2                            Lipschitz modulus of the gradient in X    (Lemma 1)

Only products of C with N x K blocks are needed, never C itself nor X Y'.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._namespace import is_array, to_numpy
from .._typing import FloatArray
from .._validation import check_iteration_options, check_n_components, check_positive
from ..exceptions import InputError
from ..linalg.factored import factored_distance
from ..linalg.fixed_point import Iteration, iterate
from .result import Callback, Rectified, warn_unless_converged
from .start import as_operator, starting_eigenpairs


class _State(NamedTuple):
    X: FloatArray
    Y: FloatArray
    X_before: FloatArray
    Y_before: FloatArray
    momentum: int
    objective: float


def rectify_palm(
    C: Any,
    n_components: int,
    *,
    s: float = 1e-4,
    gamma: float = 1.005,
    max_iter: int = 100,
    inertial: bool = False,
    tol: float = 1e-4,
    init: FloatArray | None = None,
    random_state: int | None = 0,
    callback: Callback | None = None,
) -> Rectified:
    """Rectify C by a non-negative factor Y with C ~ Y Y' (Algorithm 4).

    Parameters
    ----------
    C : (N, N) array or operator
        Symmetric co-occurrence; only its products are used.
    n_components : int
        K.
    s : float
        Weight that ties X and Y together.
    gamma : float
        Step sizes are 1 / (gamma L), gamma > 1.
    max_iter : int
        Limit on the alternations.
    inertial : bool
        Extrapolate along the last move before each step (iPALM, Pock and Sabach 2016); the momentum starts afresh
        whenever the objective would rise, so that it never does.
    tol : float
        Stop when Y Y' changes by at most this in a step, relative to its Frobenius norm. 0 runs exactly
        ``max_iter`` alternations.
    init : (N, K) array, optional
        Non-negative start for X and Y; by default the truncated eigendecomposition with the sign of each
        eigenvector chosen so that clipping its negative part loses the least.
    random_state : int or None
        Seed of the probe for the starting eigenpairs.
    callback : callable, optional
        Called with the step and its :class:`Iteration`.

    Returns
    -------
    Rectified
        With ``Y >= 0``.
    """
    check_iteration_options(max_iter, tol)
    s = check_positive(s, "s")
    if not check_positive(gamma, "gamma") > 1:
        raise InputError(f"gamma must exceed 1, but is {gamma!r}: step 1/(gamma L) must be shorter than 1/L.")
    operator = as_operator(to_numpy(C) if is_array(C) else C)  # NumPy's alone
    K = check_n_components(n_components, operator.shape[0], "words")
    if init is None:
        pairs = starting_eigenpairs(operator, K, random_state)
        Y0 = _clipped_eigenvectors(pairs.vectors, pairs.values)
    else:
        Y0 = np.asarray(init, dtype=np.float64)
        if Y0.shape != (operator.shape[0], K) or not np.isfinite(Y0).all() or Y0.min() < 0:
            raise InputError(
                f"init must be a finite non-negative array of shape {(operator.shape[0], K)}, but has shape {Y0.shape}"
                f"{'' if Y0.shape != (operator.shape[0], K) else ' and negative or non-finite entries'}."
            )

    def attempt(state: _State, beta: float) -> tuple[FloatArray, FloatArray, float]:
        X = state.X + beta * (state.X - state.X_before)
        X = _proximal_step(X, operator @ state.Y, state.Y, s, gamma)
        Y = state.Y + beta * (state.Y - state.Y_before)
        CX = operator @ X
        Y = _proximal_step(Y, CX, X, s, gamma)
        return X, Y, palm_objective(X, Y, CX, s)

    def step(state: _State, _: int) -> tuple[_State, Iteration]:
        momentum = state.momentum + 1 if inertial else 0
        X, Y, objective = attempt(state, momentum / (momentum + 3.0))
        if inertial and objective > state.objective:
            momentum = 0
            X, Y, objective = attempt(state, 0.0)
        change = factored_distance(state.Y, Y)
        return _State(X, Y, state.X, state.Y, momentum, objective), Iteration(change, change, objective)

    first = palm_objective(Y0, Y0, operator @ Y0, s)
    end = iterate(step, _State(Y0, Y0, Y0, Y0, 0, first), max_iter=max_iter, tol=tol, callback=callback)
    warn_unless_converged("PALM", end, tol)
    return Rectified("palm", end.state.Y, None, end.converged, end.history)


def palm_objective(X: FloatArray, Y: FloatArray, CX: FloatArray, s: float) -> float:
    """J(X, Y) without its constant |C|^2 / 2, from K x K products: CX is C @ X."""
    coupling = float(np.sum((X.T @ X) * (Y.T @ Y))) / 2.0 - float(np.sum(CX * Y))
    return coupling + s * float(np.sum((X - Y) ** 2)) / 2.0


def lipschitz_modulus(Y: FloatArray, s: float) -> float:
    """|Y'Y + s I|_2, the Lipschitz modulus of the gradient of J in the other factor (Lemma 1)."""
    return float(np.linalg.norm(Y.T @ Y, 2)) + s


def gradient(X: FloatArray, CY: FloatArray, Y: FloatArray, s: float) -> FloatArray:
    """Gradient of J in X for fixed Y, (X Y' - C) Y + s (X - Y), with CY = C @ Y."""
    return X @ (Y.T @ Y) - CY + s * (X - Y)


def _proximal_step(X: FloatArray, CY: FloatArray, Y: FloatArray, s: float, gamma: float) -> FloatArray:
    return np.maximum(X - gradient(X, CY, Y, s) / (gamma * lipschitz_modulus(Y, s)), 0.0)


def _clipped_eigenvectors(vectors: FloatArray, values: FloatArray) -> FloatArray:
    Y = vectors * np.sqrt(np.maximum(values, 0.0))
    negative = np.sum(np.minimum(Y, 0.0) ** 2, axis=0)
    positive = np.sum(np.maximum(Y, 0.0) ** 2, axis=0)
    return np.maximum(np.where(negative > positive, -Y, Y), 0.0)

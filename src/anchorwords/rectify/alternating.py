"""AP, the Alternating Projection rectification (the loop of Algorithm 2). Dense by nature.

Notation
--------
C : (N, N)   co-occurrence
PSD_K        projection to rank K, positive semi-definite: K largest eigenpairs, eigenvalues clipped at zero
NOR          projection to sum one: (1 - sum)/N^2 added to every entry
NN           projection to non-negative entries
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .._memory import require_dense
from .._typing import FloatArray
from .._validation import (
    check_iteration_options,
    check_n_components,
    check_square_symmetric,
    require_square,
)
from ..linalg.factored import compression
from ..linalg.fixed_point import Iteration, iterate
from ..linalg.randomized import randomized_eigh
from .result import Callback, Rectified, warn_unless_converged

# Each truncated eigendecomposition is solved to this residual, relative to the K-th eigenvalue.
_EIGEN_TOL = 1e-10

# The iterate, and a basis to start its next eigendecomposition from.
_State: TypeAlias = tuple[FloatArray, FloatArray | None]


def rectify_ap(
    C: Any, n_components: int, *, max_iter: int = 150, tol: float = 1e-4, callback: Callback | None = None
) -> Rectified:
    """Rectify C by alternating projections (Algorithm 2).

    Parameters
    ----------
    C : (N, N) array
        Symmetric co-occurrence.
    n_components : int
        K.
    max_iter : int
        Limit on the rounds of three projections.
    tol : float
        Stop when the NOR and NN projections together move the matrix by at most this, relative to its Frobenius
        norm. The plain iteration converges sublinearly, hence a looser default than ENN's. 0 runs exactly
        ``max_iter`` rounds.
    callback : callable, optional
        Called with the step and its :class:`Iteration`.

    Returns
    -------
    Rectified
        With ``C`` dense: non-negative, symmetric, sums to one, close to rank K.

    Raises
    ------
    TooLargeError
        When the dense matrices do not fit in memory: ENN then serves.
    """
    check_iteration_options(max_iter, tol)
    require_dense(
        require_square(C),
        5.0,
        "AP rectification",
        "use ENN (rectify_enn, rectifier='enn'), which never forms the matrix.",
    )
    matrix = check_square_symmetric(C)
    K = check_n_components(n_components, matrix.shape[0], "words")

    def step(state: _State, _: int) -> tuple[_State, Iteration]:
        current, basis = state
        low_rank, basis = project_psd(current, K, basis)
        rectified = project_normalised(low_rank)
        rectified = project_nonnegative(rectified, out=rectified)
        norm = float(np.linalg.norm(low_rank))
        change = float(np.linalg.norm(rectified - current)) / norm
        violation = float(np.linalg.norm(rectified - low_rank)) / norm
        return (rectified, basis), Iteration(change, violation)

    start: _State = (matrix, None)
    end = iterate(step, start, max_iter=max_iter, tol=tol, callback=callback)
    warn_unless_converged("AP", end, tol)
    final = end.state[0] / end.state[0].sum()
    return Rectified("ap", None, final, end.converged, end.history)


def project_psd(C: FloatArray, K: int, basis: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
    """Nearest positive semi-definite matrix of rank at most K, and a basis to start the next call from."""
    pairs = randomized_eigh(C, K, tol=_EIGEN_TOL, start=basis, random_state=0)
    Y = compression(pairs.vectors, pairs.values)
    return Y @ Y.T, pairs.basis


def project_normalised(C: FloatArray) -> FloatArray:
    """Nearest matrix whose entries sum to one."""
    return C + (1.0 - C.sum()) / C.size


def project_nonnegative(C: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Nearest matrix without negative entries, in ``out`` if that is given."""
    return np.maximum(C, 0.0, out=out)

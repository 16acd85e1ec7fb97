"""What a rectification starts from: an operator, and its leading eigenpairs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._namespace import array_namespace, like
from .._typing import SymmetricOperator
from .._validation import as_real_array, check_n_components, check_square_symmetric
from ..exceptions import ConvergenceWarning, InputError
from ..linalg.parallel import one_library_thread
from ..linalg.randomized import Eigenpairs, randomized_eigh


def as_operator(C: Any) -> SymmetricOperator:
    """Return C itself if it is an operator (it has ``shape`` and ``@`` but no entries), else a checked array."""
    if hasattr(C, "shape") and hasattr(C, "__matmul__") and not hasattr(C, "__array__") and not hasattr(C, "toarray"):
        if len(C.shape) != 2 or C.shape[0] != C.shape[1]:
            raise InputError(f"C must be square, words x words, but the operator has shape {C.shape}.")
        return C
    return check_square_symmetric(C)


def starting_eigenpairs(C: SymmetricOperator, K: int, random_state: Any = 0, **options: Any) -> Eigenpairs:
    """K algebraically largest eigenpairs of C; warns where they did not converge."""
    with one_library_thread():
        pairs = randomized_eigh(C, K, random_state=random_state, **options)
    if not pairs.converged:
        warnings.warn(
            f"the starting eigenpairs had not converged after {pairs.n_passes} products with C: topics may depend on "
            "random_state; the K-th and the next eigenvalue may be nearly equal, so another n_components may help.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return pairs


def starting_pairs(C: Any, n_components: int, random_state: Any) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues from a matrix, an operator, or the pair itself."""
    if isinstance(C, tuple):
        return _check_pair(C, n_components)
    operator = as_operator(C)
    K = check_n_components(n_components, operator.shape[0], "words")
    pairs = starting_eigenpairs(operator, K, random_state)
    return pairs.vectors, like(pairs.values, pairs.vectors)


def _check_pair(pair: tuple[Any, ...], n_components: int) -> tuple[Any, Any]:
    if len(pair) != 2:
        raise InputError(f"an initial decomposition must be a pair (V, D), but has {len(pair)} parts.")
    xp = array_namespace(*pair)
    if xp is np:
        pair = tuple(as_real_array(part, "an initial decomposition", "a pair (V, D) of arrays") for part in pair)
    V, D = pair
    if D.ndim == 2:
        D = xp.linalg.diagonal(D)
    if (
        V.ndim != 2
        or D.ndim != 1
        or V.shape[1] != D.shape[0]
        or V.shape[0] < V.shape[1]
        or not bool(xp.all(xp.isfinite(V)) & xp.all(xp.isfinite(D)))
    ):
        raise InputError(
            "an initial decomposition (V, D) must hold finite eigenvectors (N, K) and eigenvalues (K,), but has "
            f"shapes {V.shape} and {D.shape}."
        )
    K = check_n_components(n_components, V.shape[1], "eigenpairs given")
    leading = xp.argsort(-D, stable=True)[:K]
    return xp.take(V, leading, axis=1), xp.take(D, leading)

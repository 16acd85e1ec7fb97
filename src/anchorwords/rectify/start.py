"""What a rectification starts from: an operator, and its leading eigenpairs."""

from __future__ import annotations

import logging
import warnings
from time import perf_counter
from typing import Any

from .._namespace import array_namespace, is_array, is_numpy, to_numpy
from .._namespace import like as as_like
from .._typing import SymmetricOperator
from .._validation import as_real_array, check_n_components, check_square_symmetric
from ..exceptions import InputError
from ..linalg.parallel import one_library_thread
from ..linalg.randomized import Eigenpairs, randomized_eigh
from .progress import Report, eigenpair_progress, silent

logger = logging.getLogger("anchorwords.fit")


def as_operator(C: Any) -> SymmetricOperator:
    """Return C itself if it is an operator (it has ``shape`` and ``@`` but no entries), else a checked array.

    An array keeps its namespace.
    """
    if is_array(C) and not is_numpy(C):
        return as_like(check_square_symmetric(to_numpy(C)), C)
    if hasattr(C, "shape") and hasattr(C, "__matmul__") and not hasattr(C, "__array__") and not hasattr(C, "toarray"):
        if len(C.shape) != 2 or C.shape[0] != C.shape[1]:
            raise InputError(f"C must be square, words x words, but the operator has shape {C.shape}.")
        return C
    return check_square_symmetric(C)


def starting_eigenpairs(
    C: SymmetricOperator, K: int, random_state: Any = 0, *, like: Any = None, **options: Any
) -> Eigenpairs:
    """K algebraically largest eigenpairs of C, in the namespace of ``like``; warns where they did not converge."""
    with one_library_thread():
        pairs = randomized_eigh(C, K, random_state=random_state, like=like, **options)
    if not pairs.converged:
        from ..exceptions import ConvergenceWarning  # imports scikit-learn

        warnings.warn(
            f"the starting eigenpairs had not converged after {pairs.n_passes} products with C: topics may depend on "
            "random_state; the K-th and the next eigenvalue may be nearly equal, so another n_components may help.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return pairs


def leading_eigenpairs(
    C: Any, K: int, random_state: Any = 0, *, start: Any = None, like: Any = None, report: Report = silent
) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues that ENN starts from.

    C may know its leading eigenpairs (a method ``eigenpairs``, as a sketch has); else they are found by products. ``start``
    has columns near the leading eigenvectors; what it does not span is searched for.
    """
    begin = perf_counter()
    report("eigenpairs", 0.0)
    if hasattr(C, "eigenpairs"):
        vectors, values = C.eigenpairs(K)
        report("eigenpairs", 1.0)
        return as_like(vectors, like), as_like(values, like)
    operator = as_operator(C)
    pairs = starting_eigenpairs(
        operator,
        check_n_components(K, operator.shape[0], "words"),
        random_state,
        start=start,
        search=True,  # a start, such as a sketch gives, may never have seen a part of the data
        block=getattr(C, "pass_width", None),
        callback=eigenpair_progress(report),
        like=like,
    )
    logger.info("eigenpairs: %d products with C, %.2f s", pairs.n_passes, perf_counter() - begin)
    return pairs.vectors, as_like(pairs.values, pairs.vectors)


def starting_pairs(C: Any, n_components: int, random_state: Any) -> tuple[Any, Any]:
    """Eigenvectors and eigenvalues from a matrix, an operator, or the pair itself."""
    if isinstance(C, tuple):
        return _check_pair(C, n_components)
    operator = as_operator(C)
    K = check_n_components(n_components, operator.shape[0], "words")
    pairs = starting_eigenpairs(operator, K, random_state)
    return pairs.vectors, as_like(pairs.values, pairs.vectors)


def _check_pair(pair: tuple[Any, ...], n_components: int) -> tuple[Any, Any]:
    if len(pair) != 2:
        raise InputError(f"an initial decomposition must be a pair (V, D), but has {len(pair)} parts.")
    xp = array_namespace(*pair)
    if not any(is_array(part) and not is_numpy(part) for part in pair):
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

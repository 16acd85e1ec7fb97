"""Input checks. Each failure is one sentence: what was expected, what came, what to try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import FloatArray, SparseLike
from .exceptions import InputError


def check_counts(X: Any, name: str = "X") -> SparseLike:
    """Return counts as a canonical float64 CSR array, documents x words, or raise InputError."""
    if sp.issparse(X):
        counts = sp.csr_array(X)
        if counts.dtype.kind not in "buif":
            raise InputError(f"{name} must hold real numbers, but its entries are of type {counts.dtype}.")
        # csr_array shares memory with its source: never sort or merge in the caller's arrays.
        counts = counts.astype(np.float64, copy=True)
    else:
        try:
            dense = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{name} must be a matrix of counts, documents x words, but it holds something that is not a "
                "number: turn text into counts first, for example with CountVectorizer."
            ) from error
        if dense.ndim != 2:
            raise InputError(
                f"{name} must be two-dimensional, documents x words, but has {dense.ndim} dimension(s): "
                "reshape it to one row a document."
            )
        # The explicit test keeps NaN (which is not > 0 nor == 0) in the sparse copy, where it is reported.
        counts = sp.csr_array(dense)
    n_docs, n_words = counts.shape
    if n_words == 0:
        raise InputError(f"{name} has no words (0 columns): give at least one word.")
    if n_docs == 0:
        raise InputError(f"{name} has no documents (0 rows): give at least one document.")
    counts.sum_duplicates()
    counts.eliminate_zeros()
    data = counts.data
    if not np.isfinite(data).all():
        raise InputError(f"{name} must hold finite counts, but contains NaN or infinity: remove or fill them.")
    if data.size and data.min() < 0:
        raise InputError(
            f"Negative values in data: {name} must hold counts of words in documents, but contains {data.min():g}."
        )
    return counts


def has_fractions(counts: SparseLike) -> bool:
    """Whether any count is not a whole number."""
    return bool((counts.data != np.floor(counts.data)).any())


def check_square_symmetric(C: Any, name: str = "C") -> FloatArray:
    """Return C as a float64 array, or raise InputError unless it is finite, square and symmetric."""
    matrix = np.asarray(C.toarray() if sp.issparse(C) else C, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"{name} must be a square matrix, words x words, but has shape {matrix.shape}: "
            "cooccurrence(X) builds it from counts."
        )
    if matrix.shape[0] == 0:
        raise InputError(f"{name} is empty: give statistics of at least one word.")
    if not np.isfinite(matrix).all():
        raise InputError(f"{name} must be finite, but contains NaN or infinity.")
    scale = float(np.abs(matrix).max())
    # Rounding of a product of two factors stays orders below this; a transposed typo does not.
    if not np.allclose(matrix, matrix.T, rtol=0.0, atol=1e-10 * scale):
        raise InputError(
            f"{name} must be symmetric, but entries and their mirror images differ by up to "
            f"{np.abs(matrix - matrix.T).max():.3g}: use (C + C.T) / 2 if that is intended."
        )
    if scale == 0.0:
        raise InputError(f"{name} is all zeros: no pair of words occurs together.")
    return matrix


def check_n_components(n_components: Any, n_usable: int, what: str = "usable words") -> int:
    """Return K as an int, or raise InputError unless 1 <= K <= n_usable."""
    if not isinstance(n_components, (int, np.integer)) or isinstance(n_components, bool):
        raise InputError(f"n_components must be a whole number, but is {n_components!r}.")
    if n_components < 1:
        raise InputError(f"n_components must be at least 1, but is {n_components}.")
    if n_components > n_usable:
        raise InputError(
            f"n_components={n_components} exceeds the {n_usable} {what}: ask for at most {n_usable} topic(s) "
            "or give more data."
        )
    return int(n_components)


def check_iteration_options(max_iter: Any, tol: Any) -> None:
    """Raise InputError unless max_iter is a positive whole number and tol a non-negative one."""
    if not isinstance(max_iter, (int, np.integer)) or max_iter < 1:
        raise InputError(f"max_iter must be a positive whole number, but is {max_iter!r}.")
    if not isinstance(tol, (int, float, np.number)) or not tol >= 0:
        raise InputError(f"tol must be a non-negative number, but is {tol!r}.")


def check_vocabulary(vocabulary: Sequence[str] | None, n_words: int) -> tuple[str, ...] | None:
    """Return the vocabulary as a tuple of distinct strings of length n_words, or raise InputError."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str):
        raise InputError("vocabulary must be a sequence of words, but is a single string.")
    words = tuple(str(word) for word in vocabulary)
    if len(words) != n_words:
        raise InputError(
            f"vocabulary must name each of the {n_words} columns once, but has {len(words)} words: "
            "check that it belongs to these counts."
        )
    if len(set(words)) != len(words):
        seen: set[str] = set()
        repeated = next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise InputError(f"vocabulary must hold distinct words, but {repeated!r} occurs more than once.")
    return words

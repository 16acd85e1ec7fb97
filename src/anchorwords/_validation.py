"""Input checks. Each failure is one sentence: what was expected, what came, what to try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._typing import FloatArray, SparseLike
from .exceptions import InputError


def refuse_masked(X: Any, name: str, what: str) -> None:
    """Raise InputError for a masked array, also as one of a list of rows: what is under the mask is not data."""
    rows = X if isinstance(X, (list, tuple)) else ()
    if np.ma.isMaskedArray(X) or any(np.ma.isMaskedArray(row) for row in rows):
        raise InputError(f"{name} must be {what} without masked entries: fill them first, for example with zeros.")


def as_real_array(X: Any, name: str, what: str) -> FloatArray:
    """X as a float64 array of any shape, or InputError where it does not hold real numbers."""
    refuse_masked(X, name, what)
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US":
            raise TypeError("text")
        if array.dtype.kind == "c":
            raise InputError(f"{name} must hold real numbers, but its entries are complex.")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{name} must be {what}, but {type(X).__name__} holds something that is not a number or has rows of "
            "different lengths."
        ) from error


def check_counts(X: Any, name: str = "X", *, copy: bool = True) -> SparseLike:
    """Return counts as a canonical float64 CSR array, documents x words, or raise InputError.

    With ``copy=False``, for what is read once and not kept, it may share its arrays with X.
    """
    what = "a matrix of counts, documents x words"
    if sp.issparse(X):
        if X.dtype.kind not in "buif":
            raise InputError(f"{name} must hold real numbers, but its entries are of type {X.dtype}.")
        _require_two_dimensions(X.ndim, name)
        # Cast first: small integers must not overflow where duplicates are added.
        counts = sp.csr_array(X.astype(np.float64, copy=copy))
        try:
            counts.check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"{name} is not a valid sparse matrix ({error}): build it anew.") from error
    else:
        dense = as_real_array(X, name, what)
        _require_two_dimensions(dense.ndim, name)
        counts = sp.csr_array(dense)
    n_docs, n_words = counts.shape
    if n_words == 0:
        raise InputError(f"{name} has no words (0 columns): give at least one word.")
    if n_docs == 0:
        raise InputError(f"{name} has no documents (0 rows): give at least one document.")
    # The least and the largest say it all, without arrays as long as the data: of data with NaN both are NaN.
    least = counts.data.min(initial=np.inf)
    if not (counts.has_canonical_format and least > 0.0):
        if not copy:
            counts = counts.copy()  # the caller's arrays are not to be sorted
        counts.sum_duplicates()
        counts.eliminate_zeros()
        least = counts.data.min(initial=np.inf)
    largest = counts.data.max(initial=0.0)
    if np.isnan(least) or least == -np.inf or largest == np.inf:
        raise InputError(f"{name} must hold finite counts, but contains NaN or infinity: remove or fill them.")
    if least < 0:
        raise InputError(
            f"Negative values in data: {name} must hold counts of words in documents, but contains {least:g}."
        )
    return counts


def _require_two_dimensions(ndim: int, name: str) -> None:
    if ndim != 2:
        raise InputError(
            f"{name} must be two-dimensional, documents x words, but has {ndim} dimension(s): reshape it to one row a "
            "document."
        )


def has_fractions(counts: SparseLike) -> bool:
    """Whether any count is not a whole number."""
    return bool((counts.data != np.floor(counts.data)).any())


def check_square_symmetric(C: Any, name: str = "C") -> FloatArray:
    """Return C as a float64 array, or raise InputError unless it is finite, square and symmetric."""
    require_square(C, name)
    matrix = as_real_array(C.toarray() if sp.issparse(C) else C, name, "a square matrix, words x words")
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


def require_square(C: Any, name: str = "C") -> int:
    """Return N of an N x N matrix, sparse or dense, without converting it; InputError where it is none."""
    shape = getattr(C, "shape", None)
    if shape is None:
        shape = as_real_array(C, name, "a square matrix, words x words").shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"{name} must be a square matrix, words x words, but has shape {tuple(shape)}: "
            "cooccurrence(X) builds it from counts."
        )
    if hasattr(C, "to_matrix"):
        raise InputError(f"{name} must be the matrix itself here, not an operator: give cooccurrence(X).")
    return int(shape[0])


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


def check_positive(value: Any, name: str) -> float:
    """Return value as a float, or raise InputError unless it is a positive finite number."""
    if not isinstance(value, (int, float, np.number)) or isinstance(value, bool) or not 0 < value < np.inf:
        raise InputError(f"{name} must be a positive number, but is {value!r}.")
    return float(value)


def check_positive_integer(value: Any, name: str) -> int:
    """Return value as an int, or raise InputError unless it is a positive whole number."""
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"{name} must be a positive whole number, but is {value!r}.")
    return int(value)


def check_seed(random_state: Any) -> int:
    """A seed as a whole number from 0 to 2^32 - 1, or InputError."""
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not whole or not 0 <= random_state < 2**32:
        raise InputError(f"random_state must be a whole number from 0 to {2**32 - 1}, but is {random_state!r}.")
    return int(random_state)


def check_n_jobs(n_jobs: Any) -> int | None:
    """Return n_jobs as an int or None, or raise InputError."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, (int, np.integer)) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise InputError(f"n_jobs must be None or a whole number other than 0, but is {n_jobs!r}.")
    return int(n_jobs)


def check_iteration_options(max_iter: Any, tol: Any) -> None:
    """Raise InputError unless max_iter is a positive whole number and tol a non-negative one."""
    check_positive_integer(max_iter, "max_iter")
    if not isinstance(tol, (int, float, np.number)) or not tol >= 0:
        raise InputError(f"tol must be a non-negative number, but is {tol!r}.")


def check_vocabulary(vocabulary: Sequence[str] | None, n_words: int) -> tuple[str, ...] | None:
    """Return the vocabulary as a tuple of distinct strings of length n_words, or raise InputError."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str):
        raise InputError("vocabulary must be a sequence of words, but is a single string.")
    try:
        words = tuple(str(word) for word in vocabulary)
    except TypeError:
        raise InputError(f"vocabulary must be a sequence of words, but is {vocabulary!r}.") from None
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

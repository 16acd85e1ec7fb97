"""LAW, the Low-rank Anchor Word algorithm (Algorithm 5): AW from a compression Y, linear in the vocabulary.

Notation
--------
Y : (N, K)      compression, C ~ Y Y' = Q R (Y'), Q orthonormal
d : (N,)        row sums Y (Y'e)
X : (N, K)      diag(d)^-1 Y R', coordinates of the rows of Cbar in the basis Q
S : (K,)        anchors
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._namespace import array_namespace, like, to_numpy
from .._typing import BoolArray, FloatArray
from .._validation import as_real_array, check_n_components
from ..exceptions import InputError
from ..linalg.parallel import limited_threads, one_library_thread
from ..linalg.tall import squared_lengths, times
from ..model import TopicModel
from .recover import recover_topics
from .select import select_anchors

# Entries of Y Y' alive at a time while rows are repaired: 32 MiB of float64.
_TILE_ENTRIES = 1 << 22


class Coordinates(NamedTuple):
    """Rows of the normalised co-occurrence in K dimensions.

    Attributes
    ----------
    X : (N, K) array
        Zero where the row is not usable.
    d : (N,) array
        Row sums of Y Y'.
    usable : (N,) bool array
        Whether the row can be a probability vector: its sum is positive and its norm at most one. Where Y Y' >= 0
        that is every word that occurs; negative entries of Y Y' can spoil rows of rare words.
    """

    X: Any
    d: FloatArray
    usable: BoolArray


def normalised_coordinates(Y: Any) -> Coordinates:
    """X = diag(d)^-1 Y R' of Algorithm 5: same norms and inner products as the rows of Cbar (Lemma 2, Eq. 5).

    Where fewer than K rows could be probability vectors, every row of positive sum is taken as usable. X is in the
    namespace of Y, the rest NumPy's.
    """
    xp = array_namespace(Y)
    d = to_numpy(Y @ xp.sum(Y, axis=0))
    R = xp.linalg.qr(Y, mode="reduced")[1]
    floor = np.finfo(np.float64).eps * float(np.abs(d).max(initial=0.0))
    positive = d > floor
    scale = like(np.where(positive, 1.0 / np.where(positive, d, 1.0), 0.0), Y)
    X = times(Y, R.T) * scale[:, None]
    usable = positive & (to_numpy(squared_lengths(X)) <= 1.0 + 1e-9)
    if usable.sum() < Y.shape[1]:
        usable = positive
    if not usable.all():
        X = xp.where(like(usable, Y)[:, None], X, xp.zeros_like(X))
    return Coordinates(X, d, usable)


def low_rank_anchor_words(Y: Any, *, anchors: Any = None, n_jobs: int | None = None) -> TopicModel:
    """Low-rank Anchor Word algorithm (Algorithm 5).

    Agrees with :func:`anchor_words` on Y Y' to rounding where Y Y' >= 0, and returns a valid model also where it
    has small negative entries: anchors are chosen first, then the anchors' rows, and rows that could not be
    probability vectors, are clipped at zero before the least squares.

    Parameters
    ----------
    Y : (N, K) array
        Compression of the co-occurrence, C ~ Y Y'.
    anchors : sequence of int, optional
        Up to K words taken as anchors; the rest are chosen by pivoting.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    TopicModel
        With ``Y``; ``anchor_rows`` is None, as the original co-occurrence is not known here.
    """
    xp = array_namespace(Y)
    if xp is np:
        Y = as_real_array(Y, "Y", "a matrix, words x topics")  # a copy: the record keeps it
    if Y.ndim != 2 or 0 in Y.shape:
        raise InputError(f"Y must be a matrix, words x topics, but has shape {Y.shape}.")
    if not bool(xp.all(xp.isfinite(Y))):
        raise InputError("Y must be finite, but contains NaN or infinity.")
    K = check_n_components(Y.shape[1], Y.shape[0], "words")
    with limited_threads(n_jobs), one_library_thread():
        return _anchor_words(Y, K, anchors, n_jobs)


def _anchor_words(Y: Any, K: int, anchors: Any, n_jobs: int | None) -> TopicModel:
    xp = array_namespace(Y)
    X, d, usable = normalised_coordinates(Y)
    S = select_anchors(X, K, usable, d, anchors)

    rows = xp.take(Y, like(S, Y), axis=0) @ Y.T
    rows = xp.where(rows > 0.0, rows, xp.zeros_like(rows))
    d = d.copy()
    d[S] = to_numpy(xp.sum(rows, axis=1))
    C_SS = to_numpy(xp.take(rows, like(S, Y), axis=1))
    rows = rows / like(d[S], Y)[:, None]
    # The least squares run where the compiled solver does: from here on NumPy's arrays.
    safe = np.where(usable, d, 1.0)[:, None]
    rhs = to_numpy(times(Y, (rows @ Y).T, n_jobs)) / safe
    Y, anchor_rows = to_numpy(Y), to_numpy(rows)
    _repair(Y, np.flatnonzero(~usable), anchor_rows, rhs, d)
    model = recover_topics(S, anchor_rows @ anchor_rows.T, rhs, d, C_SS, n_jobs=n_jobs)
    return replace(model, Y=Y)


def _repair(Y: FloatArray, words: Any, anchor_rows: FloatArray, rhs: FloatArray, d: FloatArray) -> None:
    """Clip the rows of unusable words at zero; fill their sums in d and their products in rhs."""
    N = Y.shape[0]
    step = max(1, _TILE_ENTRIES // N)
    for start in range(0, words.size, step):
        part = words[start : start + step]
        rows = np.maximum(Y[part] @ Y.T, 0.0)
        d[part] = rows.sum(axis=1)
        rhs[part] = (rows @ anchor_rows.T) / np.where(d[part] > 0.0, d[part], 1.0)[:, None]

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

from .._namespace import array_namespace, is_array, is_numpy, like, to_numpy
from .._typing import BoolArray, FloatArray
from .._validation import as_real_array, check_n_components
from ..devices import own_numpy
from ..exceptions import InputError
from ..linalg.parallel import limited_threads, one_library_thread
from ..linalg.tall import squared_lengths, times, with_rows
from ..model import TopicModel
from .given import anchor_groups, check_candidates, choosable
from .recover import recover_topics
from .select import select_anchors
from .tandem import Groups, Tandem, heads, is_group, tandem_row, topic_groups

# Entries of Y Y' alive at a time while rows are repaired: 32 MiB of float64; on a GPU, where small steps cost as much as
# large ones, 512 MiB.
_TILE_ENTRIES = 1 << 22
_MORE_ENTRIES = 1 << 26


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


def rows_and_anchors(model: TopicModel) -> tuple[FloatArray, FloatArray]:
    """Coordinates of the rows of Cbar and of the model's anchors, in one orthonormal basis: distances are those in words.

    The basis is that of :func:`normalised_coordinates`, which the coordinates of single anchors are rows of; pseudo-rows of
    groups may leave its span, and have a coordinate more for each.
    """
    assert model.Y is not None
    X = normalised_coordinates(model.Y).X
    if model.anchor_groups is None:
        return X, X[model.anchors]
    Q = np.linalg.qr(model.Y)[0]
    topics = np.flatnonzero(is_group(model.anchor_groups))
    words = [np.sort(np.array(model.anchor_groups[k], dtype=np.intp)) for k in topics]
    rows = np.array([tandem_row(clipped_rows(model.Y, group), quiet=True) for group in words])
    points = X[model.anchors]
    points[topics] = rows @ Q
    beyond = np.zeros((points.shape[0], topics.size))
    beyond[topics] = np.linalg.qr((rows - points[topics] @ Q.T).T)[1].T
    return np.hstack([X, np.zeros((X.shape[0], topics.size))]), np.hstack([points, beyond])


def low_rank_anchor_words(
    Y: Any, *, anchors: Any = None, candidates: Any = None, n_jobs: int | None = None
) -> TopicModel:
    """Low-rank Anchor Word algorithm (Algorithm 5).

    Agrees with :func:`anchor_words` on Y Y' to rounding where Y Y' >= 0, and returns a valid model also where it
    has small negative entries: anchors are chosen first, then the anchors' rows, and rows that could not be
    probability vectors, are clipped at zero before the least squares.

    Parameters
    ----------
    Y : (N, K) array
        Compression of the co-occurrence, C ~ Y Y'.
    anchors : sequence of int or of lists of int, optional
        Up to K words taken as anchors, in this order; the rest are chosen by pivoting. A list of words is the anchor of
        one topic, by the harmonic mean of their rows (tandem anchors); such a mean can leave the span of Y, and anchors
        chosen after it keep away from its projection there.
    candidates : (N,) bool array, optional
        Words that may be chosen; those given need not be among them.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    TopicModel
        With ``Y``; ``anchor_rows`` is None, as the original co-occurrence is not known here.
    """
    xp = array_namespace(Y)
    if is_numpy(Y) or not is_array(Y):
        Y = as_real_array(Y, "Y", "a matrix, words x topics")  # a copy: the record keeps it
    if Y.ndim != 2 or 0 in Y.shape:
        raise InputError(f"Y must be a matrix, words x topics, but has shape {Y.shape}.")
    if not bool(xp.all(xp.isfinite(Y))):
        raise InputError("Y must be finite, but contains NaN or infinity.")
    K = check_n_components(Y.shape[1], Y.shape[0], "words")
    groups, allowed = anchor_groups(anchors, Y.shape[0], K), check_candidates(candidates, Y.shape[0])
    with limited_threads(n_jobs), one_library_thread():
        return _anchor_words(Y, K, groups, allowed, n_jobs)


def _anchor_words(Y: Any, K: int, given: Groups, candidates: BoolArray | None, n_jobs: int | None) -> TopicModel:
    xp = array_namespace(Y)
    X, d, usable = normalised_coordinates(Y)
    made = _made_rows(Y, given, usable)
    X = _placed(X, Y, made, given)
    S = select_anchors(X, K, choosable(usable, candidates, given), d, heads(given))
    groups = topic_groups(S, given)
    several = is_group(groups)

    rows = clipped_rows(Y, S)
    sums = to_numpy(xp.sum(rows, axis=1))
    C_SS = to_numpy(xp.take(rows, like(S, Y), axis=1))
    rows = rows / like(np.where(sums > 0.0, sums, 1.0), Y)[:, None]
    groups_made = np.flatnonzero(several)
    if groups_made.size:
        rows = with_rows(rows, groups_made, like(np.stack([made[int(k)] for k in groups_made]), Y))
    d = d.copy()
    d[S[~several]] = sums[~several]
    rhs = times(Y, (rows @ Y).T, n_jobs) / like(np.where(usable, d, 1.0)[:, None], Y)
    rhs = _repaired(Y, np.flatnonzero(~usable), rows, rhs, d)
    tandem = Tandem(groups, to_numpy(rows)) if several.any() else None
    model = recover_topics(S, rows @ rows.T, rhs, d, C_SS, tandem=tandem, n_jobs=n_jobs)
    # The record keeps Y: its memory must not be that of an array which others may write to.
    return replace(model, Y=own_numpy(Y))


def clipped_rows(Y: Any, words: Any) -> Any:
    """Rows of Y Y' at these words, clipped at zero."""
    xp = array_namespace(Y)
    rows = xp.take(Y, like(words, Y), axis=0) @ Y.T
    return xp.where(rows > 0.0, rows, xp.zeros_like(rows))


def _made_rows(Y: Any, given: Groups, usable: BoolArray) -> dict[int, FloatArray]:
    """Rows, by topic, of groups of words, and of words given as anchors whose own row cannot be one."""
    # In the order of their columns: that of a list must not matter, not even to rounding.
    return {
        k: tandem_row(to_numpy(clipped_rows(Y, np.sort(np.array(group, dtype=np.intp)))))
        for k, group in enumerate(given)
        if len(group) > 1 or not usable[group[0]]
    }


def _placed(X: Any, Y: Any, made: dict[int, FloatArray], given: Groups) -> Any:
    """X with the coordinates of these rows, in the basis Q, at the words that their groups are called by."""
    if not made:
        return X
    xp = array_namespace(Y)
    Q = xp.linalg.qr(Y, mode="reduced")[0]
    coordinates = xp.stack([like(row, Y) @ Q for row in made.values()])
    return with_rows(X, np.array([given[k][0] for k in made], dtype=np.intp), coordinates)


def _repaired(Y: Any, words: Any, anchor_rows: Any, rhs: Any, d: FloatArray) -> Any:
    """Right-hand sides with the rows of unusable words clipped at zero; their sums go into d, which is our own."""
    step = max(1, (_TILE_ENTRIES if is_numpy(Y) else _MORE_ENTRIES) // Y.shape[0])
    repaired = []
    for start in range(0, words.size, step):
        part = words[start : start + step]
        rows = clipped_rows(Y, part)
        d[part] = to_numpy(array_namespace(Y).sum(rows, axis=1))
        scale = like(np.where(d[part] > 0.0, d[part], 1.0)[:, None], Y)
        repaired.append((rows @ anchor_rows.T) / scale)
    # Placed together: each placement is a copy.
    return with_rows(rhs, words, array_namespace(Y).concat(repaired, axis=0)) if repaired else rhs

"""AW, the Anchor Word algorithm on an explicit co-occurrence matrix (Algorithm 1).

Notation
--------
C : (N, N)      co-occurrence; d its row sums
Cbar : (N, N)   C with rows scaled to sum to one
S : (K,)        anchors
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._memory import require_dense
from .._typing import BoolArray, FloatArray
from .._validation import check_n_components, check_square_symmetric, require_square
from ..model import TopicModel
from .given import anchor_groups, check_candidates, choosable
from .recover import recover_topics
from .select import select_anchors
from .tandem import Groups, Tandem, heads, is_group, tandem_row, topic_groups


def anchor_words(
    C: Any, n_components: int, *, anchors: Any = None, candidates: Any = None, n_jobs: int | None = None
) -> TopicModel:
    """Anchor Word algorithm (Algorithm 1), without rectification.

    Parameters
    ----------
    C : (N, N) array
        Symmetric co-occurrence, rectified or not. Small negative entries are tolerated: anchors are chosen first,
        then their rows are clipped at zero so that the result is always valid.
    n_components : int
        K.
    anchors : sequence of int or of lists of int, optional
        Up to K words taken as anchors, in this order; the rest are chosen by pivoting. A list of words is the anchor of
        one topic, by the harmonic mean of their rows (tandem anchors).
    candidates : (N,) bool array, optional
        Words that may be chosen; those given need not be among them.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    TopicModel
        With ``anchor_rows`` taken from C; ``Y`` is None.
    """
    require_dense(
        require_square(C),
        3.25,
        "the Anchor Word algorithm",
        "use ENN with low_rank_anchor_words (rectifier='enn').",
    )
    matrix = check_square_symmetric(C)
    K = check_n_components(n_components, matrix.shape[0], "words")
    given, allowed = anchor_groups(anchors, matrix.shape[0], K), check_candidates(candidates, matrix.shape[0])
    d = matrix.sum(axis=1)
    positive = d > 0.0
    Cbar = np.where(positive[:, None], matrix, 0.0) / np.where(positive, d, 1.0)[:, None]
    made = _made_rows(matrix, given, positive)
    with _in_their_places(Cbar, made, given):
        S = select_anchors(Cbar, K, choosable(positive, allowed, given), d, heads(given))
    groups = topic_groups(S, given)
    several = is_group(groups)

    rows = np.maximum(matrix[S], 0.0)
    sums = rows.sum(axis=1)
    d[S[~several]] = sums[~several]
    anchor_rows = rows / np.where(sums > 0.0, sums, 1.0)[:, None]
    for k in np.flatnonzero(several):
        anchor_rows[k] = made[int(k)]
    rhs = Cbar @ anchor_rows.T
    # Rows whose sum is not positive are corrected like the anchors'; for a word that never occurs nothing is left.
    repaired = np.maximum(matrix[~positive], 0.0)
    d[~positive] = repaired.sum(axis=1)
    rhs[~positive] = (repaired @ anchor_rows.T) / np.where(d > 0.0, d, 1.0)[~positive][:, None]
    tandem = Tandem(groups, anchor_rows) if several.any() else None
    model = recover_topics(S, anchor_rows @ anchor_rows.T, rhs, d, rows[:, S], tandem=tandem, n_jobs=n_jobs)
    return replace(model, anchor_rows=sp.csr_array(anchor_rows))


def _made_rows(matrix: FloatArray, given: Groups, positive: BoolArray) -> dict[int, FloatArray]:
    """Rows, by topic, of groups of words, and of words given as anchors whose own row cannot be one."""
    # In the order of their columns: that of a list must not matter, not even to rounding.
    return {
        k: tandem_row(np.maximum(matrix[np.sort(group)], 0.0))
        for k, group in enumerate(given)
        if len(group) > 1 or not positive[group[0]]
    }


@contextmanager
def _in_their_places(Cbar: FloatArray, made: dict[int, FloatArray], given: Groups) -> Iterator[None]:
    """Cbar, without a copy of it, with these rows at the words that their groups are called by."""
    places = [given[k][0] for k in made]
    own = Cbar[places]
    for place, row in zip(places, made.values(), strict=True):
        Cbar[place] = row
    yield
    Cbar[places] = own

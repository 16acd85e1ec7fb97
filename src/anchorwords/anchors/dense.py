"""AW, the Anchor Word algorithm on an explicit co-occurrence matrix (Algorithm 1).

Notation
--------
C : (N, N)      co-occurrence; d its row sums
Cbar : (N, N)   C with rows scaled to sum to one
S : (K,)        anchors
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._memory import require_dense
from .._validation import check_n_components, check_square_symmetric, require_square
from ..model import TopicModel
from .recover import recover_topics
from .select import select_anchors


def anchor_words(C: Any, n_components: int, *, anchors: Any = None, n_jobs: int | None = None) -> TopicModel:
    """Anchor Word algorithm (Algorithm 1), without rectification.

    Parameters
    ----------
    C : (N, N) array
        Symmetric co-occurrence, rectified or not. Small negative entries are tolerated: anchors are chosen first,
        then their rows are clipped at zero so that the result is always valid.
    n_components : int
        K.
    anchors : sequence of int, optional
        Up to K words taken as anchors; the rest are chosen by pivoting.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    TopicModel
        With ``anchor_rows`` taken from C; ``Y`` is None.
    """
    require_dense(
        require_square(C),
        3.0,
        "the Anchor Word algorithm",
        "use ENN with low_rank_anchor_words (rectifier='enn').",
    )
    matrix = check_square_symmetric(C)
    K = check_n_components(n_components, matrix.shape[0], "words")
    d = matrix.sum(axis=1)
    positive = d > 0.0
    Cbar = np.where(positive[:, None], matrix, 0.0) / np.where(positive, d, 1.0)[:, None]
    S = select_anchors(Cbar, K, positive, d, anchors)

    rows = np.maximum(matrix[S], 0.0)
    d[S] = rows.sum(axis=1)
    anchor_rows = rows / d[S][:, None]
    rhs = Cbar @ anchor_rows.T
    # Rows whose sum is not positive are corrected like the anchors'; for a word that never occurs nothing is left.
    repaired = np.maximum(matrix[~positive], 0.0)
    d[~positive] = repaired.sum(axis=1)
    rhs[~positive] = (repaired @ anchor_rows.T) / np.where(d > 0.0, d, 1.0)[~positive][:, None]
    model = recover_topics(S, anchor_rows @ anchor_rows.T, rhs, d, rows[:, S], n_jobs=n_jobs)
    return replace(model, anchor_rows=sp.csr_array(anchor_rows))

"""From anchors to topics: the second half that Algorithms 1 and 5 share.

Notation
--------
S : (K,)       anchors
G : (K, K)     Cbar_S Cbar_S', Gram matrix of the anchors' normalised rows
rhs : (N, K)   Cbar Cbar_S'
d : (N,)       row sums of C
Bt : (N, K)    p(topic | word), the paper's breve-B
B : (N, K)     p(word | topic)
A : (K, K)     p(topic, topic')
"""

from __future__ import annotations

import warnings

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import DegenerateWarning
from ..linalg.simplex import simplex_least_squares
from ..model import TopicModel

# A raw sum this small is rounding: it is near one where the statistics fit the model, and orders above where they do not.
_NO_CORRELATION = 1e-10


def recover_topics(
    anchors: IntArray,
    G: FloatArray,
    rhs: FloatArray,
    d: FloatArray,
    C_SS: FloatArray,
    *,
    n_jobs: int | None = None,
) -> TopicModel:
    """Solve for p(topic | word), turn it round by Bayes' rule, and read A off the anchors.

    ``d`` and ``C_SS`` must be non-negative and d positive at the anchors; then B, A and word_topics are valid
    probabilities whatever the rest: where no two anchors co-occur (rare words without rectification) A is the diagonal
    of the topic probabilities, with a warning. Words with d = 0 get a zero row in B and the prevalence in word_topics.
    """
    K = anchors.size
    Bt = simplex_least_squares(G, rhs, n_jobs=n_jobs)
    Bt[anchors] = np.eye(K)
    joint = Bt * d[:, None]
    p_topic = joint.sum(axis=0)
    B = joint / p_topic
    # B_S is diagonal in the model, with entries d_s / p(topic): A = B_S^-1 C_SS B_S^-1.
    inverse = p_topic / d[anchors]
    A = C_SS * inverse[:, None] * inverse[None, :]
    A = (A + A.T) / 2.0
    raw_sum = float(A.sum())
    if raw_sum > _NO_CORRELATION:
        A /= raw_sum
    else:
        warnings.warn(
            "no two anchors co-occur, so the correlations of topics are unknown and taken to be none: rectify the "
            "statistics (rectifier='enn') or leave out rare words.",
            DegenerateWarning,
            stacklevel=3,
        )
        A = np.diag(p_topic / p_topic.sum())
    Bt[d == 0.0] = A.sum(axis=1)
    return TopicModel(B, A, raw_sum, anchors, Bt, d / d.sum())

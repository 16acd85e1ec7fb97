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
from typing import Any

import numpy as np

from .._namespace import array_namespace, like, to_numpy
from .._typing import FloatArray, IntArray
from ..devices import own_numpy
from ..exceptions import DegenerateWarning
from ..linalg.simplex import simplex_least_squares
from ..linalg.tall import put_rows
from ..model import TopicModel
from .tandem import Groups, Tandem, is_group

# A raw sum this small is rounding: it is near one where the statistics fit the model, and orders above where they do not.
_NO_CORRELATION = 1e-10


def recover_topics(
    anchors: IntArray,
    G: Any,
    rhs: Any,
    d: FloatArray,
    C_SS: FloatArray,
    *,
    tandem: Tandem | None = None,
    n_jobs: int | None = None,
) -> TopicModel:
    """Solve for p(topic | word), turn it round by Bayes' rule, and read A off the anchors.

    ``d`` and ``C_SS`` must be non-negative and d positive at the anchors; then B, A and word_topics are valid
    probabilities whatever the rest: where no two anchors co-occur (rare words without rectification) A is the diagonal
    of the topic probabilities, with a warning. Words with d = 0 get a zero row in B and the prevalence in word_topics.

    With ``tandem`` anchors G, rhs and its rows are those of groups of words: words of a group of two or more are recovered
    like any other, and A is fitted to the rows, as no single entry of C is theirs.
    """
    # What is as long as the vocabulary stays in the namespace of its arrays; the record is NumPy's.
    Bt = simplex_least_squares(G, rhs, n_jobs=n_jobs)
    if tandem is not None:
        Bt = to_numpy(Bt)
    single = slice(None) if tandem is None else np.flatnonzero(~is_group(tandem.groups))
    Bt = put_rows(Bt, anchors[single], like(np.eye(anchors.size)[single], Bt))
    if tandem is not None:
        _give_own_words(Bt, d, tandem.groups)
    xp = array_namespace(Bt)
    joint = Bt * like(d, Bt)[:, None]
    topic_sums = xp.sum(joint, axis=0)
    B, p_topic = joint / topic_sums, to_numpy(topic_sums)
    A = _read_off(C_SS, p_topic / d[anchors]) if tandem is None else _fitted(B, p_topic, tandem.rows)
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
    never = np.flatnonzero(d == 0.0)
    if never.size:
        Bt = put_rows(Bt, never, like(np.tile(A.sum(axis=1), (never.size, 1)), Bt))
    groups = None if tandem is None else tandem.groups
    return TopicModel(own_numpy(B), A, raw_sum, anchors, own_numpy(Bt), d / d.sum(), anchor_groups=groups)


def _read_off(C_SS: FloatArray, inverse: FloatArray) -> FloatArray:
    """A = B_S^-1 C_SS B_S^-1: B_S is diagonal in the model, with entries d_s / p(topic)."""
    A = C_SS * inverse[:, None] * inverse[None, :]
    return (A + A.T) / 2.0


def _fitted(B: FloatArray, p_topic: FloatArray, rows: FloatArray) -> FloatArray:
    """A = diag(p) a, made symmetric: the row r_k of an anchor is B a_k in the model, a_k being p(topic' | topic k)."""
    a = simplex_least_squares(B.T @ B, rows @ B)
    A = p_topic[:, None] * a
    return (A + A.T) / 2.0


def _give_own_words(Bt: FloatArray, d: FloatArray, groups: Groups) -> None:
    """Topics of groups that no word needs get the words of their group, with a warning: no topic may be empty."""
    taken: set[int] = set()
    while True:
        p_topic = d @ Bt
        none = np.flatnonzero(p_topic <= np.finfo(np.float64).eps * float(d.sum()))
        empty = [int(k) for k in none if len(groups[k]) > 1 and k not in taken]
        if not empty:
            break
        for k in empty:
            Bt[list(groups[k])] = np.eye(len(groups))[k]
        taken.update(empty)
    if taken:
        warnings.warn(
            f"no word needs the anchors of {len(taken)} topic(s), group {min(taken) + 1} of those given among them: such a "
            "topic is the words given for it alone; give other words, or fewer groups.",
            DegenerateWarning,
            stacklevel=5,
        )

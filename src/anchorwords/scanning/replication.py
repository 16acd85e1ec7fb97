"""Topics that replicate: two halves of the documents find them independently.

Notation
--------
U, lambda   leading eigenpairs of a half
Y : (n, K)  compression of its co-occurrence at a sample of n words
S           anchors
B : (t, K)  p(word | topic) at the t most probable words

Fitting both halves at every K would cost twice as much as the fits themselves. This approximation costs a twentieth of
that. It takes one plain step of ENN instead of twenty, because the first step corrects what matters for the choice of
anchors; a quarter of the less probable words, among which anchors are as good; and topics at the most probable words
only, which carry a third to a half of their probability. docs/choosing.md compares it with refits.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..anchors.lowrank import clipped_rows, normalised_coordinates
from ..linalg.factored import compression
from ..linalg.parallel import one_library_thread
from ..linalg.pivoted import pivot_rows
from ..linalg.simplex import simplex_least_squares
from ..metrics.matching import best_pairing, topic_distances
from ..rectify.tangent import Point, RankLost
from .halves import Half

# Words used: all of the most probable ones, and every fourth of the others.
_CERTAIN, _STRIDE = 800, 4
# The most probable words, at which topics are compared.
_COMPARED = 300
# Rows that the step of ENN checks: a constant, plus a number per topic.
_ROWS, _ROWS_A_TOPIC = 100, 2
# Topics closer than this share more than half of their probability: the topic replicates.
_SAME = 0.5


class SampledWords(NamedTuple):
    """Words at which topics of halves are learned.

    Attributes
    ----------
    words : (n,) int array
        Most probable first.
    n_compared : int
        Number of words, from the first on, at which topics are compared.
    """

    words: IntArray
    n_compared: int


class Reproduced(NamedTuple):
    """Matched topics of two halves.

    Attributes
    ----------
    similarity : (K,) array
        One minus the total variation between each topic of the first half and its match; 0 if it has none.
    n_found : int
        Number of pairs that share more than half of their probability.
    """

    similarity: FloatArray
    n_found: int


def sampled_words(probabilities: FloatArray) -> SampledWords:
    """All of the most probable words, and every fourth of the others."""
    order = np.argsort(-probabilities, kind="stable")
    return SampledWords(np.concatenate([order[:_CERTAIN], order[_CERTAIN::_STRIDE]]), min(_COMPARED, order.size))


def reproduced_topics(
    halves: tuple[Half, Half], K: int, sample: SampledWords, candidates: BoolArray | None, n_jobs: int | None = None
) -> Reproduced:
    """Learn K topics of each half, approximately, and match them."""
    with one_library_thread():
        first, second = (_rough_topics(half, K, sample, candidates, n_jobs) for half in halves)
        distances = np.ones((K, K))  # a topic that a half lacks has the largest distance
        distances[: first.shape[1], : second.shape[1]] = topic_distances(first, second)
        similarity = np.clip(1.0 - best_pairing(distances).total_variation, 0.0, 1.0)
    return Reproduced(similarity, int(np.count_nonzero(similarity > _SAME)))


def _rough_topics(
    half: Half, K: int, sample: SampledWords, candidates: BoolArray | None, n_jobs: int | None
) -> FloatArray:
    """Topics of a half at the words compared, (t, at most K)."""
    words, t = sample
    Y = compression(half.vectors[words, :K], half.values[:K])
    length = float(np.linalg.norm(Y.sum(axis=0)))
    if not length > 0.0:
        return np.zeros((t, 0))
    Y = Y / length  # entries sum to one over the words used
    with suppress(RankLost):  # fewer dimensions than topics: leave Y unrectified
        Y, _ = Point(Y, _ROWS + _ROWS_A_TOPIC * K, n_jobs=n_jobs).plain_step(1)
    X, d, usable = normalised_coordinates(Y)
    allowed = usable if candidates is None else usable & candidates[words]
    S = pivot_rows(X, min(K, int(allowed.sum())), candidates=allowed).indices
    rows = clipped_rows(Y, S)
    sums = rows.sum(axis=1)
    rows = rows[sums > 0.0] / sums[sums > 0.0, None]
    mass = np.where(usable[:t], d[:t], 0.0)
    right = Y[:t] @ (rows @ Y).T / np.where(mass > 0.0, mass, 1.0)[:, None]
    joint = simplex_least_squares(rows @ rows.T, right, n_jobs=n_jobs) * mass[:, None]
    shares = joint.sum(axis=0)
    return joint[:, shares > 0.0] / shares[shares > 0.0]

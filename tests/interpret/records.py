"""Small models whose every number is known."""

from __future__ import annotations

import numpy as np

import anchorwords as aw


def record_of(B, prevalence=None, vocabulary=None, **more) -> aw.TopicModel:
    """A record with these topics, independent of each other; anchors are the words of largest exclusivity."""
    B = np.asarray(B, dtype=float)
    K = B.shape[1]
    pi = np.full(K, 1.0 / K) if prevalence is None else np.asarray(prevalence, dtype=float)
    joint = B * pi
    p = joint.sum(axis=1)
    topics_of_words = np.divide(joint, p[:, None], out=np.tile(pi, (B.shape[0], 1)), where=p[:, None] > 0.0)
    A = more.pop("A", np.diag(pi))
    return aw.TopicModel(B, A, 1.0, topics_of_words.argmax(axis=0), topics_of_words, p, vocabulary, **more)


def random_topics(seed: int, N: int = 60, K: int = 5, zeros: float = 0.3):
    """Topics, some of whose words have no probability, and a prevalence."""
    rng = np.random.default_rng(seed)
    B = rng.gamma(0.3, size=(N, K))
    B[rng.random((N, K)) < zeros] = 0.0
    return B / B.sum(axis=0), rng.dirichlet(np.ones(K))

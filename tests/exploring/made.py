"""Models to show: made directly, of any size, where a fit would take minutes, and fitted in many ways to a small corpus."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.provenance import Provenance


def made_model(n_words: int, K: int, *, vocabulary=None, words_a_topic: int = 3000, seed: int = 0) -> aw.TopicModel:
    """A model whose parts agree with each other: C = Y Y' = B A B', anchors are words of one topic alone.

    Words are as frequent as words are (Zipf), topics hold some of them each, and topics go together in groups.
    """
    rng = np.random.default_rng(seed)
    base = 1.0 / np.arange(10, n_words + 10)
    held = np.zeros((n_words, K), dtype=bool)
    held[: min(200, n_words // 4)] = True  # words that all topics have
    for k in range(K):
        held[rng.choice(n_words, min(words_a_topic, n_words), replace=False), k] = True
    held[np.arange(n_words), rng.integers(0, K, n_words)] = True
    anchors = np.sort(rng.choice(np.arange(n_words // 4, n_words // 2), K, replace=False))
    held[anchors] = np.eye(K, dtype=bool)
    B = np.where(held, base[:, None] * rng.gamma(0.5, size=(n_words, K)), 0.0)
    B[anchors, np.arange(K)] += base[anchors]
    B /= B.sum(axis=0)
    theta = rng.dirichlet(np.full(K, 0.1) * rng.gamma(1.0, size=K).clip(0.2), size=40 * K)
    group = np.arange(K) // 5
    theta += 0.3 * theta @ (group[:, None] == group[None])
    theta /= theta.sum(axis=1, keepdims=True)
    A = theta.T @ theta / theta.shape[0]
    A = (A + A.T) / 2.0
    A /= A.sum()
    pi = A.sum(axis=1)
    p = B @ pi
    rows = (B @ (A[:, :] / pi)).T
    rows[rows < np.quantile(rows, 0.98, axis=1, keepdims=True)] = 0.0
    return aw.TopicModel(
        B=B,
        A=A,
        A_raw_sum=1.0,
        anchors=anchors,
        word_topics=B * pi / p[:, None],
        word_probs=p,
        vocabulary=vocabulary,
        Y=B @ np.linalg.cholesky(A),
        anchor_rows=sp.csr_array(rows / rows.sum(axis=1, keepdims=True)),
    )


def bare(model: aw.TopicModel) -> aw.TopicModel:
    """The same model without its provenance."""
    return dataclasses.replace(model, provenance=Provenance())


@cache
def sampled() -> aw.Corpus:
    """A small corpus with names for its documents; some have two tokens, and one has none."""
    lengths = [2] * 5 + [60] * 295
    made = make_topics(n_docs=300, n_words=90, n_topics=5, doc_length=lengths, random_state=3).corpus
    counts = sp.csr_array(sp.vstack([made.counts, sp.csr_array((1, 90), dtype=made.counts.dtype)]))
    return aw.Corpus(counts, made.vocabulary, [f"report {m}" for m in range(301)])


@cache
def fitted(kind: str = "enn") -> aw.AnchorTopicModel:
    """A model of it, in one of many ways."""
    corpus = sampled()
    if kind in ("enn", "ap"):
        return aw.AnchorTopicModel(5, rectifier=kind).fit(corpus)
    if kind == "palm":
        return aw.AnchorTopicModel(5, rectifier=aw.PALM(tol=1e-3)).fit(corpus)
    if kind == "unrectified":
        return aw.AnchorTopicModel(5, rectifier=None).fit(corpus)
    if kind == "nameless":
        return aw.AnchorTopicModel(5).fit(corpus.counts)
    if kind == "tandem":
        words = corpus.vocabulary
        return aw.AnchorTopicModel(5, anchors=[[words[0], words[1]], words[2]]).fit(corpus)
    if kind == "refined":
        return aw.AnchorTopicModel.from_preset("readers", 5).fit(corpus)
    if kind == "stable":
        model = aw.AnchorTopicModel(5).fit(corpus)
        model.measure_stability(corpus, n_replicates=3)
        return model
    return aw.AnchorTopicModel(int(kind)).fit(corpus)  # of so many topics

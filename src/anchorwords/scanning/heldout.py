"""Held-out log-likelihood by document completion: topics of one half of the documents predict those of the other half.

Notation
--------
B : (N, K)   topics learned from the first half, smoothed by its word frequencies
p : (N,)     word frequencies of the first half, add-one-half smoothed

Every second token of a document of the second half is seen; its topic proportions are inferred from these, and the other
tokens are scored. Every number of topics is scored on the same tokens, so values can be compared.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, SparseLike
from ..anchors.given import Choice
from ..exceptions import ConvergenceWarning
from ..infer.complete import halves
from ..infer.penalised import ScaledTopics, penalised_compositions
from ..infer.prior import prior_of
from ..learn import KnownEigenpairs, learn
from ..linalg.sparse import csr_parts
from ..rectify.rectifiers import ENN, RectifyContext
from ..resampling.shards import shard_of
from ..sources.in_use import WordsInUse
from .halves import Half, HalfSource

# Documents scored: the standard error of differences between numbers of topics is below 0.01 per token from there on.
_DOCUMENTS = 500
# Share of the word frequencies in every topic, so that no word is impossible.
_SMOOTHING = 0.01
# ENN steps: on nips12, one step gives 0.587 nats per token over word frequencies at 100 topics, convergence 0.594.
_STEPS = 1


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Documents to complete, split into seen and hidden tokens.

    Attributes
    ----------
    seen, hidden : (M, N) sparse array of counts
    frequencies : (N,) array
        p, of the half that the topics are learned from.
    """

    seen: SparseLike
    hidden: SparseLike
    frequencies: FloatArray

    def log_likelihood(self, half: Half, words: WordsInUse, K: int, choice: Choice, n_jobs: int | None) -> float:
        """Mean log-likelihood per hidden token (natural logarithm) of K topics of ``half``; nan without hidden tokens."""
        indptr, indices, data = csr_parts(self.hidden)
        if not data.sum() > 0.0:
            return float("nan")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # one step is intended
            known = KnownEigenpairs(half.vectors, half.values, words)
            model = learn(known, K, ENN(max_iter=_STEPS), choice, RectifyContext(n_jobs=n_jobs)).model
        B = (1.0 - _SMOOTHING) * model.B + _SMOOTHING * self.frequencies[:, None]
        weights = penalised_compositions(self.seen, ScaledTopics(B), prior_of(model.A), n_jobs=n_jobs).weights
        rows = np.repeat(np.arange(self.hidden.shape[0]), np.diff(indptr))
        p = np.zeros(data.size)
        for k in range(B.shape[1]):
            p += B[indices, k] * weights[rows, k]
        return float(data @ np.log(p) / data.sum())


def held_out(first: HalfSource, second: HalfSource, n_docs: int, seed: int) -> HeldOut:
    """Word frequencies of the first half, and a sample of documents of the second; one pass over each."""
    stride = max(1, n_docs // (2 * _DOCUMENTS))
    frequencies = np.full(first.n_words, 0.5)
    for block in first.blocks():
        frequencies += np.asarray(block.sum(axis=0)).ravel()
    chosen = []
    for counts, numbers in second.numbered_blocks():
        last = int(numbers[-1]) + 1 if numbers.size else 0
        shards = shard_of(0, last, stride, seed + 1) if stride > 1 else np.zeros(last, dtype=np.intp)
        chosen.append(sp.csr_array(counts[np.flatnonzero(shards[numbers] == 0)]))
    documents = sp.csr_array(sp.vstack(chosen, format="csr")) if chosen else sp.csr_array((0, first.n_words))
    seen, hidden = halves(documents, np.ones(first.n_words, dtype=bool))
    return HeldOut(seen, hidden, frequencies / frequencies.sum())

"""Synthetic corpora from a correlated topic model whose parameters are known.

Notation
--------
B : (N, K)      p(word | topic), Zipf-like
theta : (K,)    Dirichlet draw of a document
L : (K, K)      column-stochastic: each topic lends some of its weight to its neighbours on a ring
w = L theta     composition of the document, so that neighbouring topics are correlated
A = E[w w'] = L E[theta theta'] L', in closed form
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray
from .._validation import check_n_components, check_positive, check_positive_integer
from ..corpus.corpus import Corpus
from ..exceptions import InputError

_DOCS = 1024


@dataclass(frozen=True, eq=False)
class SyntheticTopics:
    """A corpus and the truth it was drawn from.

    Attributes
    ----------
    corpus : Corpus
    B : (N, K) array
        p(word | topic).
    A : (K, K) array
        Second moment of the compositions in the population; sums to one.
    anchors : (K, n_anchors) int array, or None
        Words that occur in one topic only; None where B is not separable.
    compositions : (M, K) array
        Topic weights of the documents drawn.
    """

    corpus: Corpus
    B: FloatArray
    A: FloatArray
    anchors: IntArray | None
    compositions: FloatArray

    @property
    def C(self) -> FloatArray:
        """Population co-occurrence B A B'."""
        return self.B @ self.A @ self.B.T


def make_topics(
    n_docs: int = 1000,
    n_words: int = 500,
    n_topics: int = 10,
    *,
    doc_length: int | Sequence[int] = 100,
    separable: bool = True,
    n_anchors: int = 1,
    zipf: float = 0.9,
    concentration: float = 0.1,
    correlation: float = 0.3,
    random_state: Any = None,
) -> SyntheticTopics:
    """Draw a corpus from a correlated topic model with known topics, correlations and anchors.

    Parameters
    ----------
    n_docs, n_words, n_topics : int
        M, N, K.
    doc_length : int or sequence of int
        Tokens of every document, or of each.
    separable : bool
        Whether each topic has words of its own.
    n_anchors : int
        How many, where separable.
    zipf : float
        Exponent of the word frequencies: the i-th word's is proportional to i^-zipf.
    concentration : float
        Mean parameter of the Dirichlet: small values give documents of few topics.
    correlation : float
        Share of a topic's weight, from 0 to 0.5, that goes to its two neighbours.
    random_state : int, Generator or None

    Returns
    -------
    SyntheticTopics
    """
    K = check_n_components(n_topics, n_words, "words")
    if separable and K * n_anchors >= n_words:
        raise InputError(f"{K} topics with {n_anchors} anchors each need more than {n_words} words.")
    if not 0.0 <= correlation <= 0.5:
        raise InputError(f"correlation must lie between 0 and 0.5, but is {correlation!r}.")
    check_positive_integer(n_docs, "n_docs")
    check_positive(concentration, "concentration")
    lengths = np.asarray(doc_length, dtype=np.int64)
    if lengths.shape not in ((), (n_docs,)) or lengths.min() < 0:
        raise InputError(
            f"doc_length must be one non-negative whole number or {n_docs} of them, but is {doc_length!r}."
        )
    lengths = np.broadcast_to(lengths, (n_docs,))
    rng = np.random.default_rng(random_state)
    B, anchors = _draw_topics(n_words, K, n_anchors if separable else 0, zipf, rng)
    alpha = concentration * K * rng.dirichlet(np.full(K, 20.0))
    lend = (1.0 - correlation) * np.eye(K)
    for shift in (1, -1):
        lend += correlation / 2.0 * np.roll(np.eye(K), shift, axis=0)
    total = alpha.sum()
    A = lend @ ((np.diag(alpha) + np.outer(alpha, alpha)) / (total * (total + 1.0))) @ lend.T
    compositions = rng.dirichlet(alpha, size=n_docs) @ lend.T
    blocks = []
    for start in range(0, n_docs, _DOCS):
        part = slice(start, min(start + _DOCS, n_docs))
        probabilities = compositions[part] @ B.T
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        blocks.append(sp.csr_array(rng.multinomial(lengths[part], probabilities).astype(np.float64)))
    width = len(str(n_words - 1))
    corpus = Corpus(sp.vstack(blocks, format="csr"), [f"w{i:0{width}d}" for i in range(n_words)])
    return SyntheticTopics(corpus, B, (A + A.T) / 2.0, anchors if separable else None, compositions)


def _draw_topics(N: int, K: int, n_anchors: int, zipf: float, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
    frequency = np.arange(1, N + 1, dtype=np.float64) ** -zipf
    # Each topic likes and dislikes words at random; the floor keeps every word in every topic, so that only the
    # anchors placed below are anchors.
    taste = rng.gamma(0.3, size=(N, K)) + 0.01
    B = frequency[:, None] * taste
    # Anchors are neither the most frequent words nor the rarest.
    places = rng.permutation(np.arange(N // 10, N - N // 10 if N >= 20 else N))
    if places.size < K * n_anchors:
        places = rng.permutation(N)
    anchors = places[: K * n_anchors].reshape(K, n_anchors)
    for k in range(K):
        own = B[anchors[k]].max(axis=1)
        B[anchors[k]] = 0.0
        B[anchors[k], k] = own
    return B / B.sum(axis=0), anchors

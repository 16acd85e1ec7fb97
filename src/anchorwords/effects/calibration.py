"""How posterior means answer to the true proportions of documents, found by simulating documents from the model.

Notation
--------
theta : (S, K)   proportions of simulated documents, drawn from the model's Dirichlet prior
t : (S, K)       their posterior means, given words drawn from the model and lengths like those of the documents
L : (K, K)       least-squares solution of theta L = t; its rows sum to one, as theta and t do

The posterior mean is shrunk towards the prevalence of the topics, and tokens of words that several topics share are
assigned by prevalence too. E[t | theta] is nearly theta L, with L between the identity (long documents) and a matrix of
equal rows (no words at all). A regression of t is attenuated by L. A regression of t L^-1 is not, if the documents follow
the model. If they do not, posterior means still lie between 0 and 1, and L^-1 moves their averages only a little. An
estimate that is linear in the words has no such bounds: words that are common in some documents for reasons of their own
can make it any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray
from ..exceptions import InputError
from ..infer.compose import compositions
from ..infer.prior import prior_of
from ..model import TopicModel
from ..sources.convert import as_source

# Simulated documents: as many as have this number of tokens, within limits. An entry of L is then known to about 1%. Fewer
# long documents are enough, as their posterior means are nearly their proportions.
_TOKENS, _FEWEST, _MOST = 4_000_000, 1_000, 20_000
_PER_TOPIC = 20
# With entries known to 1%, an inverse beyond this condition number has no digits left.
_SINGULAR = 100.0


def calibration(model: TopicModel, lengths: FloatArray, n_jobs: int | None = None, *, like: Any = None) -> FloatArray:
    """Return L^-1: posterior means of documents times this are not attenuated.

    Parameters
    ----------
    model : TopicModel
    lengths : (M,) array
        Known tokens of the documents. Their order does not matter.
    n_jobs : int or None
    like : array or None
        As in :func:`anchorwords.infer.compose.compositions`.

    Raises
    ------
    InputError
        If documents of these lengths cannot tell the topics apart.
    """
    theta, counts = simulated(model, lengths)
    parts = [part.weights for part in compositions(model, as_source(counts), like=like, n_jobs=n_jobs)]
    L = np.linalg.lstsq(theta, np.concatenate(parts), rcond=None)[0]
    if not np.isfinite(L).all() or np.linalg.cond(L) > _SINGULAR:
        raise InputError(
            "documents of this length cannot tell some topics of the model apart, so that effects on each of them cannot be "
            "estimated: merge topics that are alike, or use method='posterior-mean'."
        )
    return np.asarray(np.linalg.inv(L))


def simulated(model: TopicModel, lengths: FloatArray) -> tuple[FloatArray, sp.csr_array]:
    """Return the topic proportions and the counts of documents drawn from a model."""
    rng = np.random.default_rng(0)
    known = np.sort(lengths[lengths > 0.0])
    basis = model.inference
    size = max(int(np.clip(_TOKENS / known.mean(), _FEWEST, _MOST)), _PER_TOPIC * basis.n_components)
    # Evenly spaced in the order of lengths, and then in random order.
    n = known[np.linspace(0, known.size - 1, size).round().astype(np.intp)][rng.permutation(size)]
    n_tokens = np.maximum(1, n.round()).astype(np.int64)
    gamma = np.maximum(rng.gamma(prior_of(basis.A).parameters, size=(size, basis.n_components)), 1e-12)
    theta = gamma / gamma.sum(axis=1, keepdims=True)
    by_topic = rng.multinomial(n_tokens, theta)
    documents, words = [], []
    for k in range(basis.n_components):
        document = np.repeat(np.arange(size), by_topic[:, k])
        cumulated = np.cumsum(basis.B[:, k], dtype=np.float64)
        words.append(np.searchsorted(cumulated, rng.random(document.size) * cumulated[-1], side="right"))
        documents.append(document)
    rows, columns = np.concatenate(documents), np.minimum(np.concatenate(words), model.n_words - 1)
    counts = sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(size, model.n_words))
    return theta if model.parts is None else model.parts.proportions(theta, model.prevalence), counts

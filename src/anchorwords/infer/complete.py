"""Document completion: how well a model foretells one half of a document from the other."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, SparseLike
from ..exceptions import InputError
from ..linalg.sparse import csr_parts
from ..model import TopicModel, as_explained
from ..sources.kinds import MappedSource
from ..sources.source import Source
from .compose import compositions
from .penalised import known_words

# Entries of B that are gathered at a time: 64 MB.
_GATHERED = 1 << 23


class Completion(NamedTuple):
    """How well hidden tokens were foretold.

    Attributes
    ----------
    log_likelihood : float
        Sum of the natural logarithms of their probabilities.
    n_tokens : float
        Hidden tokens of known words.
    """

    log_likelihood: float
    n_tokens: float

    @property
    def perplexity(self) -> float:
        """exp(-log-likelihood a token): as if each were drawn from so many equally likely words."""
        return float(np.exp(-self.log_likelihood / self.n_tokens))


def complete_documents(
    model: TopicModel,
    source: Source,
    *,
    method: str = "posterior-mean",
    like: Any = None,
    n_jobs: int | None = None,
) -> Completion:
    """Infer each document's composition from every second token, and score the others.

    Tokens are taken in the order of the columns, so that the two halves of a document depend on nothing but the document.
    Words the model has never seen count on neither side, and documents with one known token or none are left out. Tokens are
    foretold by what documents are explained by: a background is part of it, and so are topics that were dropped. ``like``
    is as in :func:`anchorwords.infer.compose.compositions`.
    """
    model = as_explained(model)
    known = known_words(model.B)
    waiting: deque[SparseLike] = deque()

    def seen_half(block: SparseLike) -> SparseLike:
        seen, hidden = halves(block, known)
        waiting.append(hidden)
        return seen

    total = tokens = 0.0
    first = 0
    for part in compositions(model, MappedSource(source, seen_half), method=method, like=like, n_jobs=n_jobs):
        stop = first + part.weights.shape[0]
        usable = part.n_known > 0.0
        score, number = _score(waiting[0][first:stop][usable], model.B, part.weights[usable])
        total, tokens, first = total + score, tokens + number, stop
        if stop == waiting[0].shape[0]:  # a block may come in several parts
            waiting.popleft()
            first = 0
    if tokens == 0.0:
        raise InputError("no document holds two tokens of words the model knows: nothing can be completed.")
    return Completion(total, tokens)


def halves(counts: SparseLike, known: BoolArray) -> tuple[SparseLike, SparseLike]:
    """Every second known token of each document, from the first one on, and the others; of a count its whole part."""
    csr = sp.csr_array(counts)
    if not csr.has_sorted_indices:
        csr = csr.sorted_indices()  # a copy: the caller's stay as they are
    indptr, indices, data = csr_parts(csr)
    data = np.where(known[indices], np.floor(data), 0.0)
    ends = np.cumsum(data)
    before = np.concatenate([[0.0], ends])[indptr[:-1]]
    # Token number t of a document (from 0) is seen where t is even; an entry holds tokens from begin to end.
    end = ends - np.repeat(before, np.diff(indptr))
    seen = np.ceil(end / 2.0) - np.ceil((end - data) / 2.0)

    def like_counts(values: FloatArray) -> SparseLike:
        # Of copies: zeros are taken out of the very arrays that are given.
        part = sp.csr_array((values, indices, indptr), shape=csr.shape, copy=True)
        part.eliminate_zeros()
        return part

    return like_counts(seen), like_counts(data - seen)


def _score(hidden: SparseLike, B: FloatArray, weights: FloatArray) -> tuple[float, float]:
    indptr, indices, data = csr_parts(hidden)
    rows = np.repeat(np.arange(hidden.shape[0]), np.diff(indptr))
    step = max(1, _GATHERED // B.shape[1])
    total = 0.0
    for start in range(0, data.size, step):
        part = slice(start, start + step)
        p = np.einsum("ik,ik->i", B[indices[part]], weights[rows[part]])
        with np.errstate(divide="ignore"):
            total += float(data[part] @ np.log(p))
    return total, float(data.sum())

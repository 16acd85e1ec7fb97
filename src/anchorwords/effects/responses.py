"""Topic proportions as the response of a regression: calibrated or plain posterior means, or linear in the words.

Notation
--------
x, n         counts of a document and their sum, known words only
B : (N, K)   topics, p : (K,) prevalence
D            diagonal matrix of B p, the word probabilities of the mean document
G : (K, N)   (B' D^-1 B)^-1 B' D^-1

Given the topics, E[x / n] = B w for a document with proportions w, and G B is the identity: G x / n is an unbiased estimate
of w, whatever the prior. Among linear ones it has the smallest variance for the mean document (generalised least squares).
It sums to one, since D^-1 B p = 1 implies B' D^-1 B p = 1, so that 1' G = p' B' D^-1 = 1'. It may be negative, and its noise
is large in short documents; but noise in a response leaves a regression unbiased, and the residuals show it to the sandwich.

The posterior mean is shrunk towards the prevalence, with all documents alike: its regression is attenuated, and so is that
of draws from the posterior. :mod:`anchorwords.effects.calibration` undoes this on average.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError
from ..infer.compose import compositions
from ..infer.penalised import known_words
from ..infer.prior import prior_of
from ..linalg.sparse import rows_between
from ..model import TopicModel
from ..sources.source import Source
from .calibration import calibration

METHODS = ("calibrated", "unbiased", "posterior-mean")
# Numbers of a dense block of documents: 16 MB.
BLOCK = 1 << 21
# Topics count as linearly dependent beyond this condition number of B' D^-1 B: its inverse has no digits left.
_DEPENDENT = 1e12


class Part(NamedTuple):
    """Responses of consecutive documents.

    Attributes
    ----------
    rows : slice
        Which documents of the source.
    Y : (m, K) array
    variance : (m, K) array or None
        Posterior variance of Y; None where residuals show it.
    """

    rows: slice
    Y: FloatArray
    variance: FloatArray | None


def unbiased_weights(B: FloatArray, prevalence: FloatArray) -> FloatArray:
    """Return G', (N, K): word frequencies of a document times this are unbiased estimates of its proportions.

    Raises
    ------
    InputError
        If the topics are linearly dependent.
    """
    p = np.maximum(prevalence, 1e-12)
    total = B @ p
    scaled = np.divide(B, total[:, None], out=np.zeros(B.shape), where=(total > 0.0)[:, None])
    gram = B.T @ scaled
    # Scaled to a unit diagonal, so that rare topics do not count as dependent.
    scale = 1.0 / np.sqrt(np.diagonal(gram))
    unit = scale[:, None] * gram * scale
    if not np.isfinite(unit).all() or np.linalg.cond(unit) > _DEPENDENT:
        raise InputError(
            "the topics of the model are linearly dependent, so that proportions have no unbiased estimate: merge topics "
            "that are alike, or use method='posterior-mean'."
        )
    return np.asarray((scaled * scale) @ np.linalg.inv(unit) * scale)


def topic_weights(model: TopicModel) -> FloatArray:
    """Return G', (N, K), of the topics of a model; of edited topics, the sums of those of their parts.

    A merged topic thus has the sum of the effects of its topics. The words of a dropped topic are explained by it and set
    aside. The proportions of the other topics stay shares of the whole document, since a division would not be linear.
    """
    parts = model.parts
    if parts is None:
        return unbiased_weights(model.B, model.prevalence)
    return parts.gathered(unbiased_weights(parts.B, parts.prevalence), model.n_components)


def known_tokens(model: TopicModel, source: Source) -> FloatArray:
    """Tokens of known words of each document."""
    known = known_words(model.inference.B).astype(np.float64)
    parts = [np.asarray(block @ known) for block in source.blocks()]
    return np.concatenate(parts) if parts else np.zeros(0)


class Responses:
    """Proportions of all documents of a source, block by block, as often as needed.

    Parameters
    ----------
    model : TopicModel
    source : Source
        In the columns of the model.
    method : {"calibrated", "unbiased", "posterior-mean"}
    topics : list of int
        Columns of the model.
    lengths : (n,) array
        Known tokens of the documents in the regression.
    width : int
        Columns of the design, which bounds the size of blocks.
    n_jobs : int or None
    like : array or None
        As in :func:`anchorwords.infer.compose.compositions`.
    """

    def __init__(
        self,
        model: TopicModel,
        source: Source,
        method: str,
        topics: list[int],
        lengths: FloatArray,
        width: int,
        n_jobs: int | None,
        like: Any = None,
    ) -> None:
        self.model, self.source, self.topics, self.n_jobs, self.like = model, source, topics, n_jobs, like
        self.step = max(1, BLOCK // max(len(topics), width, 1))
        self._weights = topic_weights(model)[:, topics] if method == "unbiased" else None
        self._calibration = None
        if method == "calibrated":
            self._calibration = calibration(model, lengths, n_jobs, like=like)[:, topics]

    def __iter__(self) -> Iterator[Part]:
        return self._unbiased() if self._weights is not None else self._posterior()

    def _unbiased(self) -> Iterator[Part]:
        assert self._weights is not None
        known, first = known_words(self.model.inference.B).astype(np.float64), 0
        for block in self.source.blocks():
            for start in range(0, block.shape[0], self.step):
                counts = rows_between(block, start, min(start + self.step, block.shape[0]))
                tokens = np.asarray(counts @ known)
                inverse = np.divide(1.0, tokens, out=np.zeros_like(tokens), where=tokens > 0.0)
                Y = np.asarray(counts @ self._weights) * inverse[:, None]
                yield Part(slice(first, first + tokens.size), Y, None)
                first += tokens.size

    def _posterior(self) -> Iterator[Part]:
        total, first = float(prior_of(self.model.inference.A).parameters.sum()), 0
        for part in compositions(self.model, self.source, like=self.like, n_jobs=self.n_jobs):
            rows = slice(first, first + part.weights.shape[0])
            first = rows.stop
            if self._calibration is not None:
                yield Part(rows, part.weights @ self._calibration, None)
                continue
            Y = part.weights[:, self.topics]
            yield Part(rows, Y, Y * (1.0 - Y) / (part.n_known[:, None] + total + 1.0))

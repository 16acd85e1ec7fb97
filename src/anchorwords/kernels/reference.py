"""The kernels as readable NumPy, straight from their definitions: what the fast implementations are compared with.

Small data only: matrices are made dense and documents are gone through one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import lsq_linear
from scipy.special import psi

from .._typing import FloatArray
from .protocol import CsrParts, Expectation, NegativePart, Proportions
from .reference_text import DictionaryWords
from .reference_text import marks_in as marks_in
from .reference_text import parse_triples as parse_triples
from .tiled import TiledCorrection

# EM steps of `compose`: those of the first estimate, and the limit on those that end it.
_FIRST, _MOST = 10, 200_000
# What `compose` divides a topic's probabilities by, at most.
_LARGEST_DIVISOR = 1e6


def _matrix(rows: CsrParts, n_columns: int) -> Any:
    indptr, indices, data = rows
    return sp.csr_array((data, indices, indptr), shape=(indptr.size - 1, n_columns))


def gram_apply(rows: CsrParts, V: FloatArray, n_jobs: int | None = None) -> FloatArray:  # noqa: ARG001
    """G'(G V)."""
    G = _matrix(rows, V.shape[0])
    return np.asarray(G.T @ (G @ V))


class DenseCounts:
    """Counts as a dense matrix."""

    def __init__(self, rows: CsrParts, n_columns: int) -> None:
        self._X = _matrix(rows, n_columns).toarray()
        self.largest, self.fractional = float(self._X.max(initial=0.0)), bool((self._X % 1.0).any())

    def lengths(self) -> FloatArray:
        """Sum of the counts of each document."""
        return np.asarray(self._X.sum(axis=1))

    def pair_sums(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        """Sums by word over documents of positive weight."""
        return weights @ self._X, weights @ self._X**2, (self._X[weights > 0.0] > 0.0).sum(axis=0)

    def gram(self, weights: FloatArray | None, V: FloatArray, n_jobs: int | None = None) -> FloatArray:  # noqa: ARG002
        """X'(w * (X V))."""
        return np.asarray(self._X.T @ ((1.0 if weights is None else weights[:, None]) * (self._X @ V)))


class GramSums:
    """The sum of G_b'(G_b V) over blocks."""

    n_groups = 2

    def __init__(self, V: FloatArray) -> None:
        self._V = V

    def add(self, total: FloatArray | None, rows: CsrParts) -> FloatArray:
        """Add one block to a running total."""
        product = gram_apply(rows, self._V)
        return product if total is None else total + product

    def result(self, total: FloatArray) -> FloatArray:
        """The product itself."""
        return total


def gram_rows(
    by_word: CsrParts,
    by_document: CsrParts,
    first: int,
    last: int,
    n_columns: int,
    n_jobs: int | None = None,  # noqa: ARG001
) -> FloatArray:
    """Rows of W G."""
    W, G = _matrix(by_word, by_document[0].size - 1), _matrix(by_document, n_columns)
    return np.asarray((W[first:last] @ G).toarray())


def squared_row_norms(
    by_word: CsrParts, by_document: CsrParts, diagonal: FloatArray, places: Any, n_jobs: int | None = None
) -> FloatArray:
    """Squared norms of the rows of W G with another diagonal."""
    rows = gram_rows(by_word, by_document, 0, places.size, diagonal.size, n_jobs)
    rows[np.arange(places.size), places] = diagonal[places]
    return np.sum(rows**2, axis=1)


def add_pair_sums(rows: CsrParts, weights: FloatArray, d: FloatArray, squares: FloatArray, df: Any) -> Any:
    """Sums by word over documents of positive weight."""
    X = _matrix(rows, d.size).toarray()[weights > 0.0]
    w = weights[weights > 0.0]
    return d + w @ X, squares + w @ X**2, df + (X != 0.0).sum(axis=0)


def negative_part(Y: Any, n_checked: int, *, n_jobs: int | None = None) -> NegativePart:  # noqa: ARG001
    """E by tiles."""
    return TiledCorrection(Y, n_checked)


def project_to_cone(
    indptr: Any,
    partners: Any,
    normals: FloatArray,
    start: FloatArray,
    *,
    spare: float,
    n_jobs: int | None = None,  # noqa: ARG001
) -> FloatArray:
    """Least distance programming (Lawson and Hanson, chapter 23): the shortest move x with V x >= goals - V u."""
    moved = np.array(start)
    for t, u in enumerate(start):
        V = normals[partners[indptr[t] : indptr[t + 1]]]
        goals = spare * np.linalg.norm(V, axis=1) * np.linalg.norm(u)
        if (V @ u >= goals).all():
            continue
        E = np.vstack([V.T, goals - V @ u])
        f = np.append(np.zeros(u.size), 1.0)
        # Not by scipy.optimize.nnls, which gives up or is wrong in some cases before SciPy 1.16.
        weights = lsq_linear(E, f, bounds=(0.0, np.inf), method="bvls", tol=1e-14).x
        residual = E @ weights - f
        moved[t] = u - residual[:-1] / residual[-1]
    return moved


def simplex_least_squares(G: FloatArray, rhs: FloatArray, n_jobs: int | None = None) -> FloatArray:  # noqa: ARG001
    """Active sets: add the vertex of lowest gradient, solve on the face, walk there until a weight is zero."""
    return np.array([_simplex_one(G, b) for b in rhs]).reshape(rhs.shape)


def _simplex_one(G: FloatArray, b: FloatArray) -> FloatArray:
    K = b.size
    w = np.zeros(K)
    w[np.argmin(0.5 * np.diagonal(G) - b)] = 1.0
    for _ in range(10 * K + 100):
        gradient = G @ w - b
        entering = int(np.argmin(gradient))
        if gradient[entering] >= w @ gradient - 1e-13:
            break
        face = np.flatnonzero((w > 0.0) | (np.arange(K) == entering))
        while True:
            n = face.size
            equations = np.block([[G[np.ix_(face, face)], np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
            best = np.linalg.lstsq(equations, np.append(b[face], 1.0), rcond=None)[0][:n]
            if (best > 0.0).all():
                w = np.zeros(K)
                w[face] = best
                break
            leaving = best <= 0.0
            steps = w[face][leaving] / np.maximum(w[face][leaving] - best[leaving], 1e-300)
            w[face] += steps.min() * (best - w[face])
            w[face[leaving][steps <= steps.min()]] = 0.0
            face = face[w[face] > 0.0]
    return np.asarray(w / w.sum())


def expect(
    rows: CsrParts,
    B: FloatArray,
    alpha: FloatArray,
    gamma: FloatArray,
    steps: int,
    n_jobs: int | None = None,  # noqa: ARG001
) -> Expectation:
    """Fixed-point steps of the Dirichlet parameters."""
    X = _matrix(rows, B.shape[0]).toarray()
    for _ in range(steps):
        v = np.maximum(np.exp(psi(gamma)), 1e-200)
        v = v / v.sum(axis=1, keepdims=True)
        P = v @ B.T
        possible = P > 1e-290
        R = np.where(possible, X / np.where(possible, P, 1.0), 0.0)
        likelihood = np.sum(X * np.log(np.where(possible, P, 1.0)), axis=1)
        gamma = alpha + v * (R @ B)
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(rows[0]))
    return Expectation(gamma, v, R[row_of, rows[1]], likelihood)


def gather(
    by_word: Any,
    ratio: FloatArray,
    v: FloatArray,
    B: FloatArray,
    words: FloatArray,
    n_jobs: int | None = None,  # noqa: ARG001
) -> FloatArray:
    """Expected tokens of words and topics."""
    indptr, documents, places = by_word
    R = _matrix((indptr, documents, ratio[places]), v.shape[0])
    return np.asarray(words + B * (R @ v))


def removal_losses(
    rows: CsrParts,
    B: FloatArray,
    gamma: FloatArray,
    background: FloatArray,
    n_jobs: int | None = None,  # noqa: ARG001
) -> FloatArray:
    """The formula of the protocol, document by document."""
    losses = np.zeros(B.shape[1])
    W = gamma / gamma.sum(axis=1, keepdims=True)
    for x, w in zip(_matrix(rows, B.shape[0]).toarray(), W, strict=True):
        p = B @ w
        seen = (x > 0.0) & (p > 0.0)
        own = w * B[seen] / p[seen, None]
        rest = 0.95 * (1.0 - own) / (1.0 - w + 1e-6) + (0.05 * background[seen] / p[seen])[:, None]
        losses += x[seen] @ np.where(own > 1e-3, -np.log(np.maximum(rest, 1e-300)), own - w)
    return losses


def sparse_product(rows: CsrParts, V: FloatArray, n_jobs: int | None = None) -> FloatArray:  # noqa: ARG001
    """X V."""
    return np.asarray(_matrix(rows, V.shape[0]) @ V)


def descend(
    P: FloatArray,
    G: FloatArray,
    W: FloatArray,
    rounds: int,
    n_jobs: int | None = None,  # noqa: ARG001
) -> FloatArray:
    """Each coordinate of all rows to its minimum, given the others."""
    W = np.array(W)
    for _ in range(rounds):
        for k in np.flatnonzero(np.diagonal(G) > 0.0):
            W[:, k] = np.maximum(0.0, W[:, k] + (P[:, k] - W @ G[:, k]) / G[k, k])
    return W


def compose(
    rows: CsrParts,
    topics: Any,
    chance: FloatArray,
    prior: tuple[FloatArray, FloatArray, FloatArray],
    n_jobs: int | None = None,  # noqa: ARG001
) -> Proportions:
    """EM steps to the end, in double precision."""
    alpha, penalties, parameters = prior
    M, K = rows[0].size - 1, topics.shape[1]
    found = Proportions(np.tile(parameters / parameters.sum(), (M, 1)), np.zeros(M), np.zeros(M), np.zeros(M))
    for m, x in enumerate(_matrix(rows, chance.size).toarray()):
        seen = (x > 0.0) & (topics.sum(axis=1) > 0.5)
        found.n_known[m] = x[seen].sum()
        if not seen.any():
            continue
        B, tokens = topics[seen].astype(np.float64), x[seen].sum() + alpha.sum()
        share, a = x[seen] / tokens, alpha / tokens
        w = 0.5 * alpha / alpha.sum() + 0.5 / K
        d = np.ones(K)
        if penalties.max() > 0.0:
            for step in range(_FIRST):
                g = (share / (B @ w)) @ B
                w = w * g + a
                w = w * g + a if step else w
                w /= w.sum()
            d = np.minimum(1.0 + penalties / np.maximum(tokens * w, 1e-300), _LARGEST_DIVISOR)
        for _ in range(_MOST):
            g = (share / (B / d @ w)) @ (B / d)
            w = w * g + a
            w /= w.sum()
            found.gap[m] = max(float(np.max((share / (B / d @ w)) @ (B / d) + a / w)) - 1.0, 0.0)
            if found.gap[m] <= 1e-9:
                break
        if penalties.max() > 0.0:
            w = parameters + np.maximum(tokens * w - alpha, 0.0)
            w /= w.sum()
        found.weights[m] = w
        found.log_likelihood[m] = x[seen] @ np.log(B @ w * chance[seen])
    return found


prepared, gram_stream, word_table = DenseCounts, GramSums, DictionaryWords

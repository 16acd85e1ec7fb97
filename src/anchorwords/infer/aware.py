"""Prior-aware compositions: documents whose average second moment is the model's A.

After Lee, Bindel and Mimno, "Prior-aware Composition Inference for Spectral Topic Models" (AISTATS 2020).

Notation
--------
x : (N,)         counts of one document, n their sum
p : (N,)         word probabilities of the model, B A e
G : (K, K)       B' diag(1/p) B
b : (K,)         B' diag(1/p) x / n
Lambda : (K, K)  symmetric dual matrix, shared by all documents
w : (K,)         composition, on the simplex
S : (K, K)       (1/M) sum w w' over the documents Lambda is learned on

Each document minimises |x/n - B w|^2 + <Lambda, w w'> over the simplex, the square weighted by 1/p so that frequent words
do not drown the others: w'(G + Lambda)w/2 - b'w, the least squares of :mod:`anchorwords.linalg.simplex`. Lambda is what
makes S = A: the gradient of the dual function is (S - A)/2. Without the simplex w = H^-1 b, H = G + Lambda, and a change
D of Lambda changes S by -(H^-1 D S + S D H^-1); the D that takes S to A solves the Sylvester equation
D S H + H S D = H (S - A) H. Ten such steps are usual where gradient steps would need thousands.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from .._typing import FloatArray, SparseLike
from ..exceptions import InputError
from ..linalg.simplex import simplex_least_squares
from ..linalg.sparse import times_dense
from ..model import Parts, TopicModel
from ..sources.source import Source
from .proportions import Compositions, require_columns

# Documents that Lambda is learned on, at most: every s-th of more.
MAX_DOCS = 50_000
# |S - A| / |A| at which S counts as A.
TOLERANCE = 1e-3
# What may be left of it before it is said.
_FAR = 1e-2
_MAX_STEPS = 60
# G + Lambda keeps eigenvalues of at least this share of G's mean one, so that every document has one answer, and of at most
# so many times it: more says nothing that this does not, and ends in numbers that are too large.
_CONVEX, _STEEP = 1e-6, 1e6
# A step changes G + Lambda by at most so many times its norm: where documents are too few or too much alike for A, the
# equation has no solution to speak of.
_LONGEST = 1e3
# A word counts as one that never occurs if its topics have less prevalence than this: its weight 1/p would have no bound.
_RAREST = 1e-9


class Dual(NamedTuple):
    """Lambda, and how it was had.

    Attributes
    ----------
    matrix : (K, K) array
    mismatch : float
        |S - A| / |A| that is left.
    n_iter : int
    n_docs : int
        Documents it was learned on.
    n_bound : int
        Eigenvalues of G + Lambda that had to be kept from becoming negative: where there are any, S need not reach A.
    """

    matrix: FloatArray
    mismatch: float
    n_iter: int
    n_docs: int
    n_bound: int


def aware_compositions(
    counts: SparseLike, model: TopicModel | Parts, dual: FloatArray, *, n_jobs: int | None = None
) -> Compositions:
    """Compositions under a frozen Lambda; no document's answer depends on another's.

    Their likelihood is not what they maximise, and can be zero: it is not computed (nan).
    """
    require_columns(counts, model.B)
    weighted, G = _weighted(model)
    targets, n_known = _targets(counts, weighted, n_jobs)
    weights = simplex_least_squares(G + dual, targets, n_jobs=n_jobs)
    weights[n_known == 0.0] = model.prevalence
    unknown = np.full(n_known.size, np.nan)
    return Compositions(weights, unknown, n_known, np.zeros(n_known.size))


def learn_dual(model: TopicModel | Parts, source: Source, *, n_jobs: int | None = None) -> Dual:
    """Lambda with which the compositions of these documents have the second moment A.

    Parameters
    ----------
    model : TopicModel
    source : Source
        Documents in the model's columns, read once; of more than fifty thousand documents every s-th is used.
    n_jobs : int or None
    """
    weighted, G = _weighted(model)
    targets = _sample(source, weighted, n_jobs)
    if targets.shape[0] == 0:
        raise InputError("no document holds a word the model knows: check that the vocabularies match.")
    return _ascend(G, targets, model.A, n_jobs)


def _ascend(G: FloatArray, targets: FloatArray, A: FloatArray, n_jobs: int | None) -> Dual:
    n_docs, K = targets.shape
    size = float(np.linalg.norm(A))
    matrix = np.zeros((K, K))
    best = Dual(matrix, np.inf, 0, n_docs, 0)
    length, last, n_bound = 1.0, np.inf, 0
    for step in range(1, _MAX_STEPS + 1):
        H = G + matrix
        weights = simplex_least_squares(H, targets, n_jobs=n_jobs)
        S = weights.T @ weights / n_docs
        mismatch = float(np.linalg.norm(S - A)) / size
        if mismatch < best.mismatch:
            best = Dual(matrix, mismatch, step, n_docs, n_bound)
        if mismatch <= TOLERANCE:
            return best
        # Faces of the simplex answer less than the equation supposes: longer steps while they pay.
        length = 0.5 * length if mismatch > 1.02 * last else min(1.2 * length, 4.0)
        last = mismatch
        change = _change(H, S, A)
        if change is None:
            break
        matrix, n_bound = _convex(G, matrix + length * change)
    if best.mismatch <= _FAR:
        return best
    from ..exceptions import ConvergenceWarning  # brings scikit-learn

    warnings.warn(
        f"the average second moment of {n_docs} documents is {best.mismatch:.1%} from A after {step} steps: "
        + (
            f"{best.n_bound} directions would need a problem that is not convex."
            if best.n_bound
            else "no compositions of these documents may have that moment."
        ),
        ConvergenceWarning,
        stacklevel=4,
    )
    return best


def _change(H: FloatArray, S: FloatArray, A: FloatArray) -> FloatArray | None:
    """D of the Sylvester equation, symmetric, or None where it has no solution in numbers.

    A trace of the identity keeps it solvable where a topic is never used.
    """
    left = H @ S
    left += 1e-9 * np.trace(left) / H.shape[0] * np.eye(H.shape[0])
    try:
        D = scipy.linalg.solve_sylvester(left, left.T, H @ (S - A) @ H)
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(D).all():
        return None
    size, longest = float(np.linalg.norm(D)), _LONGEST * float(np.linalg.norm(H))
    return (D + D.T) / 2.0 * min(1.0, longest / size if size > 0.0 else 1.0)


def _convex(G: FloatArray, matrix: FloatArray) -> tuple[FloatArray, int]:
    """The nearest Lambda for which G + Lambda is positive definite and not too steep, and how many eigenvalues were low."""
    values, vectors = np.linalg.eigh(G + matrix)
    mean = float(np.trace(G)) / G.shape[0]
    least, most = _CONVEX * mean, _STEEP * mean
    low = int((values < least).sum())
    if low == 0 and values[-1] <= most:
        return matrix, 0
    return (vectors * np.clip(values, least, most)) @ vectors.T - G, low


def _weighted(model: TopicModel | Parts) -> tuple[FloatArray, FloatArray]:
    """diag(1/p) B and G."""
    p = model.B @ model.prevalence
    occurs = p > _RAREST * model.B.sum(axis=1)
    weighted = model.B / np.where(occurs, p, 1.0)[:, None]
    return weighted, weighted.T @ model.B


def _targets(counts: SparseLike, weighted: FloatArray, n_jobs: int | None) -> tuple[FloatArray, FloatArray]:
    """Targets of the documents, and their tokens of known words, over which n counts."""
    known = weighted.any(axis=1).astype(np.float64)
    n_known = np.asarray(counts @ known, dtype=np.float64)
    scale = 1.0 / np.where(n_known > 0.0, n_known, 1.0)
    return times_dense(sp.csr_array(counts), weighted, n_jobs) * scale[:, None], n_known


def _sample(source: Source, weighted: FloatArray, n_jobs: int | None) -> Any:
    """Targets of every s-th document with a known word, s a power of two that keeps them few enough."""
    kept, stride, seen = np.zeros((0, weighted.shape[1])), 1, 0
    for block in source.blocks():
        targets, n_known = _targets(block, weighted, n_jobs)
        targets = targets[n_known > 0.0]
        kept = np.concatenate([kept, targets[-seen % stride :: stride]])
        seen += targets.shape[0]
        while kept.shape[0] > MAX_DOCS:
            kept, stride = kept[::2], 2 * stride
    return kept

"""Topics of replicates: leading eigenpairs from a basis that all share, then ENN and LAW as in a fit.

Notation
--------
Q : (N, L)     orthonormal basis near the leading eigenvectors of C, made once, from the model's Y and a few products
V_r : (N, L)   a replicate's own basis: Q, or what is left of it after products with C_r
T_r : (L, L)   V_r' C_r V_r, whose leading eigenpairs stand for those of C_r

Why products of its own: the topics hang on directions that the documents at hand hardly show, and a basis that is the
same for all replicates holds still what would move. On real papers topics of a fixed basis looked 0.1 to 0.15 more alike
(one minus total variation) than those of true refits; after two products with C_r the difference is 0.01 to 0.02. The
eigenvalues are taken by Rayleigh and Ritz, in a further pass: C is indefinite, and estimates from the products alone
(Nystrom's) overshoot where a Ritz value is small because positive and negative eigenvalues cancel.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from .._typing import FloatArray
from ..anchors.given import Choice
from ..exceptions import ConvergenceWarning, DegenerateWarning, InputError
from ..learn import KnownEigenpairs, learn
from ..linalg.randomized import randomized_eigh
from ..model import TopicModel
from ..rectify.rectifiers import ENN, RectifyContext
from .reweighted import AsTheyAre, ReplicateStatistics

# Eigenvectors sought, as a multiple of K, and passes for them: enough for every replicate to find its own K among them.
_WIDTH = 1.5
_PASSES = 3
# Numbers of all bases that are alive at a time: 512 MiB. Where these are more, replicates go in several rounds of passes.
_TOGETHER = 1 << 26


def common_basis(statistics: ReplicateStatistics, Y: FloatArray, seed: int) -> FloatArray:
    """Q from the span of Y, random columns, and a few products with C of the documents as they are."""
    N, K = Y.shape
    k = min(N, int(np.ceil(_WIDTH * K)))
    rng = np.random.default_rng([seed, 1])
    probe = rng.standard_normal((N, max(8, K)))
    probe[~statistics.words.mask] = 0.0
    pairs = randomized_eigh(
        AsTheyAre(statistics),
        k,
        start=np.concatenate([Y, probe], axis=1),
        max_passes=_PASSES,
        search=False,
        random_state=rng,
    )
    return np.asarray(pairs.basis)


def leading_pairs(
    statistics: ReplicateStatistics, Q: FloatArray, K: int, n_steps: int
) -> Iterator[tuple[int, FloatArray, FloatArray]]:
    """Number, eigenvectors (N, K) and eigenvalues of each replicate in turn, the documents as they are first."""
    n_together = max(1, _TOGETHER // Q.size)
    everyone = range(statistics.weights.shape[0])
    for start in everyone[::n_together]:
        replicates = everyone[start : start + n_together]
        V = Q
        for _ in range(n_steps):
            V = statistics.products(replicates, V)
            for part in V:
                part[...] = np.linalg.qr(part)[0]
        for i, (r, T) in enumerate(zip(replicates, statistics.quotients(replicates, V), strict=True)):
            values, vectors = np.linalg.eigh(T)
            U = (Q if n_steps == 0 else V[i]) @ vectors[:, ::-1][:, :K]
            U[~statistics.occurs(r)] = 0.0  # not even dust is left of a word whose documents have no weight
            yield r, U, values[::-1][:K]


def replicate_topics(
    statistics: KnownEigenpairs, K: int, rectifier: ENN, choice: Choice, n_jobs: int | None
) -> TopicModel | None:
    """Topics from leading eigenpairs; None where the documents of most weight cannot carry the anchors that are given."""
    with warnings.catch_warnings():
        # A replicate of few documents may be of lower rank; what it says then is a part of the answer.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DegenerateWarning)
        try:
            return learn(statistics, K, rectifier, choice, RectifyContext(n_jobs=n_jobs)).model
        except InputError:
            return None

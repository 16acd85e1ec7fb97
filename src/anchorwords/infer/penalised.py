"""Compositions by penalised likelihood: the default of ``transform``, "posterior-mean".

Notation
--------
x : (N,)      counts of one document, n their sum
alpha : (K,)  weights of the prior, alpha_0 their sum
b, f : (K,)   its parameters, b_0 their sum, and penalties: see :mod:`anchorwords.infer.prior`
w : (K,)      composition, on the simplex
p = B w       word probabilities
s = x / (n + alpha_0), a = alpha / (n + alpha_0)

Maximise sum_i s_i log p_i + sum_k a_k log w_k. The problem is strictly concave and its solution has no zero. It is the
mode of the Dirichlet posterior in the coordinates log w, where a mode is near the mean also of short documents; a
document without words has the prevalence.

With g_k = sum_i s_i B_ik / p_i the solution has g_k + a_k / w_k = 1 for every topic, and max_k (g_k + a_k / w_k) - 1,
the gap, bounds what the objective can still gain. The multiplier of the simplex being one, the problem is also to
maximise sum_i s_i log p_i + sum_k a_k log w_k - sum_k w_k over w >= 0: its slopes are g_k + a_k / w_k - 1.

But the mode gives a little to topics that are not there. The prior's exponents are b - 1, and where b is small the -1, which
is not concave, would take that out. One step of a convex-concave procedure does it: in the second form -log w_k is replaced
by its tangent at a first estimate v, so that sum_k f_k / ((n + alpha_0) v_k) w_k is taken off as well. With
d_k = 1 + f_k / ((n + alpha_0) v_k) and u = d w that is the same problem with topics B_k / d_k: one that explains f_k tokens
or less has half of its say, or less. The first estimate are ten EM steps from half an even composition and half the prior's.
The answer is the mean of the Dirichlet with the tokens of each topic that this leaves,
w_k = (b_k + (n + alpha_0) (u_k - a_k)) / (n + b_0) for the solution u.

The solver is :mod:`anchorwords.kernels.proportions`.

Rows of B count up to a factor, so each is divided by its sum, and then rounded to single precision: g changes by a share of
1.2e-7 at most. EM steps and the curvature are in single precision too; what is certified is computed in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._namespace import like as as_like
from .._namespace import to_numpy
from .._typing import BoolArray, FloatArray, SparseLike
from ..exceptions import InputError
from ..kernels import kernels_for
from ..kernels.protocol import PROPORTIONS_GAP
from ..linalg.sparse import csr_parts
from .prior import Prior
from .proportions import Compositions, require_columns

# What the objective may still gain when a document counts as solved.
GAP = PROPORTIONS_GAP
# A word whose probabilities do not add up to more than this is unknown: their inverse would overflow.
_NEVER = 1e-100
# Weights that are made on a device at a time: 128 MB. What they are does not depend on it.
_ON_DEVICE = 1 << 24


class ScaledTopics:
    """Rows of B divided by their sums, in single precision: made once for documents that come in blocks.

    Parameters
    ----------
    B : (N, K) array
        Words with a zero row are unknown.
    like : array or None
        An array whose namespace and device documents are composed with; None is NumPy.
    """

    def __init__(self, B: FloatArray, like: Any = None) -> None:
        self.B, self.like = B, like
        self._all: tuple[Any, Any] | None = None

    def of(self, words: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], Any, Any]:
        """Sums and scaled rows, like the prototype, and where in them the words are; of few words, these alone."""
        if self._all is None and words.size < self.B.shape[0]:
            used, places = np.unique(words, return_inverse=True)
            return places.astype(np.int32), *self._placed(*_scaled(self.B[used]))
        if self._all is None:
            self._all = self._placed(*_scaled(self.B))
        return words, *self._all

    def _placed(self, chance: FloatArray, rows: npt.NDArray[np.float32]) -> tuple[Any, Any]:
        return as_like(chance, self.like), as_like(rows, self.like)


def known_words(B: FloatArray) -> BoolArray:
    """Which words the topics have any probability for, (N,)."""
    return np.asarray(B.sum(axis=1, dtype=np.float64) > _NEVER)


def _scaled(B: FloatArray) -> tuple[FloatArray, npt.NDArray[np.float32]]:
    """Sums of the rows of B, and the rows divided by them; zero where the word is unknown."""
    # The order in memory is that of the sums: the same for all words and for some.
    B = np.ascontiguousarray(B, dtype=np.float64)
    chance = B.sum(axis=1)
    known = chance > _NEVER
    chance[~known] = 0.0
    rows = np.empty(B.shape, np.float32)
    scale = np.divide(1.0, chance, out=np.zeros_like(chance), where=known)
    np.multiply(B, scale[:, np.newaxis], out=rows, casting="same_kind")
    return chance, rows


def penalised_compositions(
    counts: SparseLike,
    topics: FloatArray | ScaledTopics,
    prior: FloatArray | Prior,
    *,
    like: Any = None,
    n_jobs: int | None = None,
) -> Compositions:
    """Compositions by penalised likelihood; no document's answer depends on another's.

    Parameters
    ----------
    counts : (M, N) CSR
    topics : (N, K) array or ScaledTopics
        Words with a zero row are unknown and ignored.
    prior : Prior or (K,) array
        An array is alpha alone, positive: the answer is then the mode. A document without any known word gets the shares
        of the parameters, or of alpha.
    like : array or None
        An array whose namespace and device to compute with; ScaledTopics bring their own. The answer is always NumPy's.
    n_jobs : int or None
    """
    if not isinstance(topics, ScaledTopics):
        topics = ScaledTopics(topics, like)
    require_columns(counts, topics.B)
    K = topics.B.shape[1]
    if not isinstance(prior, Prior):
        prior = Prior(prior, np.zeros(K), prior)
    alpha, penalties, parameters = (np.ascontiguousarray(part, dtype=np.float64) for part in prior)
    prior_parts = (alpha, penalties, parameters)
    if alpha.shape != (K,) or not (np.isfinite(alpha) & (alpha > 0.0)).all():
        raise InputError(f"alpha must hold one positive number for each of the {K} topics.")
    if penalties.shape != (K,) or not ((penalties >= 0.0) & (penalties <= 1.0)).all():
        raise InputError(f"penalties must hold one number from 0 to 1 for each of the {K} topics.")
    if parameters.shape != (K,) or not (np.isfinite(parameters) & (parameters > 0.0)).all():
        raise InputError(f"parameters must hold one positive number for each of the {K} topics.")
    if topics.like is not None:
        return _composed_like(topics.like, counts, topics, prior_parts, n_jobs)
    indptr, words, data = csr_parts(counts)
    places, chance, rows = topics.of(words)
    return Compositions(*kernels_for(chance).compose((indptr, places, data), rows, chance, prior_parts, n_jobs))


def _composed_like(
    prototype: Any, counts: SparseLike, topics: ScaledTopics, prior: tuple[FloatArray, ...], n_jobs: int | None
) -> Compositions:
    """As above, on the device of the prototype, some documents at a time."""
    M, K = counts.shape[0], topics.B.shape[1]
    indptr, words, data = csr_parts(counts)
    places, chance, rows = topics.of(words)
    kernels, prior_parts = kernels_for(prototype), tuple(as_like(part, prototype) for part in prior)
    step = max(1, _ON_DEVICE // K)
    if step >= M:
        found = kernels.compose((indptr, places, data), rows, chance, prior_parts, n_jobs)
        return Compositions(*map(to_numpy, found))
    whole = Compositions(np.empty((M, K)), np.empty(M), np.empty(M), np.empty(M))
    for start in range(0, M, step):
        ends = indptr[start : start + step + 1]
        entries = slice(ends[0], ends[-1])
        found = kernels.compose((ends - ends[0], places[entries], data[entries]), rows, chance, prior_parts, n_jobs)
        for part, values in zip(whole, found, strict=True):
            part[start : start + step] = to_numpy(values)
    return whole

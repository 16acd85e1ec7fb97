"""How many directions of the co-occurrence are in both halves of the documents.

Notation
--------
U_1, U_2 : (N, L)   leading eigenvectors of the halves, the noise of either half in them
T_12, T_21          U_1'C_2 U_1 and U_2'C_1 U_2: each basis judged by documents that had no part in it
M : (N, N)          (U_1 T_12 U_1' + U_2 T_21 U_2') / 2, in 2 L dimensions; mu_k its eigenvalues, in descending order
nu_k                the largest eigenvalue that noise gives in the dimensions after the first k

A topic model of K topics has a C of rank K; what a sample adds is noise. In C itself, noise has eigenvalues that are as
large as those of faint topics. In M a direction of noise has none: it was found in one half, and the other half,
which is independent of it, gives it as much as any direction, zero in the mean. What is left of noise is that of C_1 and
C_2 within 2 L dimensions instead of N. Its size is had by turning the signs of whole shards of documents at
random: where shards agree on nothing that is as good as the sum itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .._typing import FloatArray
from ..linalg.tall import gram
from .halves import Half

# Draws of signs: so many in few dimensions, and in more of them.
_DRAWS = 48
_FEWER_DRAWS, _MANY = 16, 120
# Standard deviations by which a direction must exceed the mean of what noise gives.
_SIGMAS = 2.25
# Noise now and then does, too. The last few directions, where they exceed it by no more than this, and come after one that
# is so many times as strong, are not counted.
_LOOK_BACK = 5
_DOUBTFUL = 6.0
_GAP = 2.5


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions that both halves of the documents show.

    Attributes
    ----------
    n : int
        How many, of those looked at.
    n_looked_at : int
        One more than the largest number of topics; where ``n`` is that, there may be more.
    energies : (n_looked_at + 1,) array
        mu_k: strength of each direction in documents that had no part in finding it.
    at, noise : (any,) array
        Numbers k of directions, ascending, and nu_k after these.
    gap : float
        Strength of the last direction over that of the next, inf where the next has none.
    """

    n: int
    n_looked_at: int
    energies: FloatArray
    at: FloatArray
    noise: FloatArray
    gap: float

    @property
    def beyond(self) -> bool:
        """Whether every direction looked at is in both halves."""
        return self.n >= self.n_looked_at

    def noise_at(self, k: Sequence[int]) -> FloatArray:
        """Nu after k directions, between those computed by interpolation."""
        return np.exp(np.interp(k, self.at, np.log(np.maximum(self.noise, np.finfo(np.float64).tiny))))


def shared_directions(first: Half, second: Half, n_components: int, seed: int, n_jobs: int | None = None) -> Directions:
    """Count the directions that both halves show, up to one more than ``n_components``."""
    crossed = _Crossed(first, second, seed, n_jobs)
    most = max(1, min(n_components + 1, crossed.energies.size - 1))
    energies = np.concatenate([crossed.energies, np.zeros(1)])  # of a single word there is no next
    levels: dict[int, tuple[float, float]] = {}

    def excess(k: int) -> float:
        """Standard deviations by which direction k + 1 exceeds what noise gives after the first k."""
        if k not in levels:
            levels[k] = crossed.noise(k)
        level, spread = levels[k]
        return float((energies[k] - level) / max(spread, np.finfo(np.float64).tiny))

    low, high = 0, most  # directions up to low stand out; those after high do not, or are not looked at
    if excess(most - 1) > _SIGMAS:
        low = most
        excess(most // 4)  # for the picture
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if excess(middle) > _SIGMAS else (low, middle)
    n = low
    for last in range(low, max(1, low - _LOOK_BACK), -1) if low < most else ():
        if excess(last - 1) >= _DOUBTFUL:
            break
        n = last - 1 if energies[last - 2] > _GAP * energies[last - 1] else n
    at = sorted(levels)
    gap = float(energies[n - 1] / energies[n]) if n and energies[n] > 0.0 else float("inf")
    return Directions(n, most, energies[: most + 1], np.array(at), np.array([levels[k][0] for k in at]), gap)


class _Crossed:
    """M in 2 L dimensions, and what noise gives in parts of these."""

    def __init__(self, first: Half, second: Half, seed: int, n_jobs: int | None) -> None:
        overlap = gram(first.basis, second.basis, n_jobs)
        L = overlap.shape[0]
        eye = np.eye(L), np.eye(overlap.shape[1])
        values, vectors = np.linalg.eigh(np.block([[eye[0], overlap], [overlap.T, eye[1]]]))
        # [U_1 U_2] = Q F with orthonormal Q: M is F diag(T_12, T_21) F' / 2 there.
        kept = values > 1e-10
        F = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, kept].T
        frames = F[:, :L], F[:, L:]
        shards = second.shards, first.shards  # T_12 is of the documents of the second half
        M = sum(frame @ part.sum(axis=0) @ frame.T for frame, part in zip(frames, shards, strict=True)) / 2.0
        energies, V = np.linalg.eigh((M + M.T) / 2.0)
        self.energies: FloatArray = energies[::-1].copy()
        V = V[:, ::-1]
        turned = [np.ascontiguousarray(V.T @ frame) for frame in frames]
        rng = np.random.default_rng([seed, 2])
        n_draws = _DRAWS if energies.size <= _MANY else _FEWER_DRAWS
        signs = [rng.choice([-1.0, 1.0], size=(n_draws, part.shape[0])) for part in shards]
        flipped = [np.tensordot(sign, part, axes=(1, 0)) for sign, part in zip(signs, shards, strict=True)]
        self._noise = [
            sum(frame @ part @ frame.T for frame, part in zip(turned, parts, strict=True)) / 2.0
            for parts in zip(*flipped, strict=True)
        ]

    def noise(self, k: int) -> tuple[float, float]:
        """Mean and standard deviation, over draws of signs, of the largest eigenvalue after the first k dimensions."""
        largest = [_largest_eigenvalue((noise[k:, k:] + noise[k:, k:].T) / 2.0) for noise in self._noise]
        return max(float(np.mean(largest)), 0.0), float(np.std(largest, ddof=1))


def _largest_eigenvalue(matrix: FloatArray) -> float:
    last = matrix.shape[0] - 1
    try:
        return float(scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=(last, last))[0])
    except np.linalg.LinAlgError:
        # LAPACK's driver for some of the eigenvalues gives up where many are the same; the one for all of them does not.
        return float(np.linalg.eigvalsh(matrix)[-1])

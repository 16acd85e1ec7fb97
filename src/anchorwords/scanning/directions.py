"""How many directions of the co-occurrence replicate in both halves of the documents.

Notation
--------
U_1, U_2 : (N, L)   leading eigenvectors of the halves, which include the noise of their half
T_12, T_21          U_1'C_2 U_1 and U_2'C_1 U_2: each basis evaluated on documents that were not used to find it
M : (N, N)          (U_1 T_12 U_1' + U_2 T_21 U_2') / 2, in 2 L dimensions; mu_k are its eigenvalues, in descending order
mu_k+               largest eigenvalue of M once the first k directions are removed from both bases
nu_k, sigma_k       mean and standard deviation of the largest eigenvalue that noise then has

The co-occurrence C of K topics has rank K, plus sampling noise. The noise in C has eigenvalues as large as those of faint
topics. In M it does not: a direction of noise that was found in one half has strength zero, on average, in the other half,
which is independent of it. The noise that remains in M is that of C_1 and C_2 within 2 L dimensions instead of N. It is
estimated by flipping the signs of whole shards of documents at random, which removes what shards have in common and keeps
their noise.

Counting. A direction certainly exceeds noise, or possibly, or it does not. The spectrum ends clearly if the last certain
direction is several times as strong as whatever follows it, be it the next direction or the noise, which would hide a
fainter one. "Several times" is relative to the usual fall from one direction to the next. The count is then a single number.
Otherwise it is a range: from the last certain direction to the last possible one, and at least to the next one, which noise
may hide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy.linalg

from .._typing import FloatArray
from ..linalg.tall import gram
from .halves import Half

# Draws of signs, and the smaller number of them from so many dimensions on, where each takes longer.
_DRAWS = 48
_FEWER_DRAWS, _MANY = 16, 120
# A direction certainly exceeds noise if it does so by five standard deviations and by half of the mean. In 300 comparisons
# of halves of synthetic corpora, the first direction after the last topic exceeded the mean by 1.3 standard deviations in
# the median, by 3.4 at the 95th percentile, and by more than 5 three times.
_CERTAIN_SIGMAS, _CERTAIN_RATIO = 5.0, 1.5
# It is possible that a direction belongs to a topic if it is at least as strong as noise is on average.
_POSSIBLE_SIGMAS = 0.0
# The spectrum ends clearly if it falls by this factor more than it usually does from one direction to the next. These
# constants were chosen on synthetic corpora of 5 to 30 topics; benchmarks/choosing.py measures the rule on others.
_CLEAR_FALL = 2.5
# The usual fall is the mean over the last four falls. If fewer than three are known, it is taken to be at least two.
_FALLS, _KNOWN_FALLS, _LARGE_FALL = 4, 3, 2.0
# Numbers of directions at which the noise is known for tables and figures, beside those around the count.
_POINTS = 10
# Excess over noise need not decrease from one direction to the next: look so many directions ahead.
_LOOK_AHEAD = 8

# Vectors of each basis that a count needs, relative to the directions and in number, and the share of those at hand below
# which the count is worth repeating. Half as many again as there are directions leave room for faint ones.
_DIMENSIONS, _FEWEST_SPARE = 1.5, 6
_MANY_FEWER = 0.75

# Once the first k directions are removed: the strength of the next one; mean and standard deviation of the noise.
Strength = Callable[[int], float]
Noise = Callable[[int], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions that replicate in both halves of the documents.

    Attributes
    ----------
    n : int
        Number of directions that certainly exceed noise.
    n_most : int
        Number of directions that possibly exceed noise: equal to ``n`` if the spectrum ends clearly.
    n_looked_at : int
        One more than the largest number of topics scanned; if ``n_most`` reaches it, there may be more.
    energies : (at most n_looked_at + 1,) array
        The strength of each direction in documents that were not used to find it: mu_k, and after the ``n``-th direction
        the eigenvalues that M has without the first n.
    at, noise : (any,) array
        Numbers k of directions, in ascending order, and nu_k after these.
    gap : float
        Strength of the ``n``-th direction divided by that of the next; inf if the next has none.
    """

    n: int
    n_most: int
    n_looked_at: int
    energies: FloatArray
    at: FloatArray
    noise: FloatArray
    gap: float

    @property
    def beyond(self) -> bool:
        """Whether the spectrum goes on beyond the directions that were looked at."""
        return self.n_most >= self.n_looked_at

    def noise_at(self, k: Sequence[int]) -> FloatArray:
        """Interpolate nu after the first k directions."""
        return np.exp(np.interp(k, self.at, np.log(np.maximum(self.noise, np.finfo(np.float64).tiny))))


def shared_directions(first: Half, second: Half, n_components: int, seed: int, n_jobs: int | None = None) -> Directions:
    """Count the directions that replicate in both halves, up to one more than ``n_components``.

    Noise grows with the number of dimensions. If there are many fewer directions than dimensions, the count is repeated with
    the leading vectors of each basis alone, so that it hardly depends on the largest number of topics scanned.
    """
    found = _directions(first, second, n_components + 1, seed, n_jobs)
    looked_at = found.n_looked_at
    L = min(half.basis.shape[1] for half in (first, second))
    while (needed := max(found.n_most + _FEWEST_SPARE, round(_DIMENSIONS * found.n_most))) <= _MANY_FEWER * L:
        first, second = (_truncated(half, needed) for half in (first, second))
        L, found = needed, replace(_directions(first, second, looked_at, seed, n_jobs), n_looked_at=looked_at)
    return found


def _truncated(half: Half, L: int) -> Half:
    """A half with the leading L vectors of its basis; its own statistics are in the basis of the other, also truncated."""
    return half._replace(basis=half.basis[:, :L], shards=half.shards[:, :L, :L])


def _directions(first: Half, second: Half, looked_at: int, seed: int, n_jobs: int | None) -> Directions:
    crossed = _Crossed(first, second, seed, n_jobs)
    most = max(1, min(looked_at, crossed.energies.size - 1))
    strength, noise = cache(crossed.strength), cache(crossed.noise)
    n, n_most = counted(crossed.energies, strength, noise, most)
    # As the bases run out of directions, so does the noise: it is taken to be constant after the last possible direction.
    last = min(n_most, crossed.n_dimensions - 1)
    at = sorted({0, max(n - 1, 0), n, *np.geomspace(1, max(last, 1), _POINTS).astype(int).tolist()})
    energies = np.concatenate([crossed.energies[:n], crossed.remaining(n), np.zeros(most + 1)])[: most + 1]
    gap = float(energies[n - 1] / energies[n]) if n and energies[n] > 0.0 else float("inf")
    return Directions(n, n_most, looked_at, energies, np.array(at), np.array([noise(k)[0] for k in at]), gap)


def counted(energies: FloatArray, strength: Strength, noise: Noise, most: int) -> tuple[int, int]:
    """Number of directions that certainly exceed noise, and of those that possibly do, at most ``most``.

    Parameters
    ----------
    energies : (at least most,) array
        mu_k, in descending order.
    strength : callable
        mu_k+.
    noise : callable
        nu_k and sigma_k.
    most : int
        Number of directions to look at.
    """

    def excess(k: int) -> float:
        """Standard deviations by which direction k + 1 exceeds the noise after the first k."""
        level, spread = noise(k)
        if strength(k) <= 0.0:  # nothing is left of one basis or both
            return -np.inf
        return float((strength(k) - level) / max(spread, np.finfo(np.float64).tiny))

    def significant(k: int) -> bool:
        return excess(k) >= _CERTAIN_SIGMAS and strength(k) >= _CERTAIN_RATIO * noise(k)[0]

    def certain(k: int) -> bool:
        """Significant, and not a faint direction alone after a clear fall, which noise now and then gives."""
        fallen = k > 0 and energies[k - 1] >= _CLEAR_FALL * strength(k) and strength(k) < _CLEAR_FALL * noise(k)[0]
        return significant(k) and not fallen

    n = _first_not(significant, 0, most)
    ahead = n
    while ahead < min(n + _LOOK_AHEAD, most):
        n, ahead = (ahead + 1 if certain(ahead) else n), ahead + 1
    while n > 0 and not certain(n - 1):
        n -= 1
    if n >= most:
        return most, most
    if n > 0 and energies[n - 1] >= _CLEAR_FALL * usual_fall(energies, n) * max(strength(n), noise(n)[0]):
        return n, n + significant(n)
    near = n + 1
    while near < min(n + _LOOK_AHEAD, most) and excess(near) >= _POSSIBLE_SIGMAS:
        near += 1
    if near == n + _LOOK_AHEAD:
        near = _first_not(lambda k: excess(k) >= _POSSIBLE_SIGMAS, near, most)
    return n, near if n > 0 or excess(0) >= _POSSIBLE_SIGMAS else 0


def usual_fall(energies: FloatArray, n: int) -> float:
    """Factor by which the strength usually falls before the n-th direction: the geometric mean over the last few falls.

    The first direction is left out: it is that of the mean document, and stronger than the others. If fewer than three falls
    are known, the factor is at least two.
    """
    first = max(1, n - 1 - _FALLS)
    falls = n - 1 - first
    mean = float((energies[first] / energies[n - 1]) ** (1.0 / falls)) if falls > 0 and energies[n - 1] > 0.0 else 1.0
    return max(mean, 1.0 if falls >= _KNOWN_FALLS else _LARGE_FALL)


def _first_not(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number from ``low`` on for which a condition that fails at most once does not hold, or ``high``."""
    if low < high and holds(high - 1):
        return high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if holds(middle) else (low, middle)
    return low


class _Crossed:
    """M in 2 L dimensions, and its noise."""

    def __init__(self, first: Half, second: Half, seed: int, n_jobs: int | None) -> None:
        overlap = gram(first.basis, second.basis, n_jobs)
        L = overlap.shape[0]
        self.n_dimensions = min(overlap.shape)
        eye = np.eye(L), np.eye(overlap.shape[1])
        values, vectors = np.linalg.eigh(np.block([[eye[0], overlap], [overlap.T, eye[1]]]))
        # [U_1 U_2] = Q F with orthonormal Q: M is F diag(T_12, T_21) F' / 2 there.
        kept = values > 1e-10
        F = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, kept].T
        frames = F[:, :L], F[:, L:]
        shards = second.shards, first.shards  # T_12 is computed from the documents of the second half
        self._statistics = [part.sum(axis=0) for part in shards]
        energies, V = np.linalg.eigh(_combined(frames, self._statistics))
        self.energies: FloatArray = energies[::-1].copy()
        self._frames = [np.ascontiguousarray(V[:, ::-1].T @ frame) for frame in frames]
        self._known: dict[int, list[FloatArray]] = {}  # frames without the first k directions, by k
        rng = np.random.default_rng([seed, 2])
        n_draws = _DRAWS if energies.size <= _MANY else _FEWER_DRAWS
        signs = [rng.choice([-1.0, 1.0], size=(n_draws, part.shape[0])) for part in shards]
        flipped = [np.tensordot(sign, part, axes=(1, 0)) for sign, part in zip(signs, shards, strict=True)]
        self._flipped = list(zip(*flipped, strict=True))

    def noise(self, k: int) -> tuple[float, float]:
        """Mean and standard deviation, over draws of signs, of the largest eigenvalue without the first k directions."""
        frames = self._without(k)
        largest = [_largest_eigenvalue(_combined(frames, parts)) for parts in self._flipped]
        return max(float(np.mean(largest)), 0.0), float(np.std(largest, ddof=1))

    def strength(self, k: int) -> float:
        """Largest eigenvalue of M without the first k directions."""
        return _largest_eigenvalue(_combined(self._without(k), self._statistics))

    def remaining(self, k: int) -> FloatArray:
        """Eigenvalues of M without the first k directions, in descending order."""
        return np.asarray(np.linalg.eigvalsh(_combined(self._without(k), self._statistics))[::-1])

    def _without(self, k: int) -> list[FloatArray]:
        """The frames of both bases without the first k directions of M, nor what each basis has of them.

        They are expressed in as few dimensions as they then span, of which M has all eigenvalues other than zero.
        """
        if k in self._known:
            return self._known[k]
        rest: list[FloatArray] = []
        for frame in self._frames:
            own, _ = np.linalg.qr(frame[:k].T, mode="complete")
            rest.append(own[:, k:])
        left = [frame[k:] @ part for frame, part in zip(self._frames, rest, strict=True)]
        R = np.asarray(np.linalg.qr(np.concatenate(left, axis=1), mode="r"))
        n = rest[0].shape[1]
        return self._known.setdefault(k, [R[:, :n] @ rest[0].T, R[:, n:] @ rest[1].T])


def _combined(frames: Sequence[FloatArray], parts: Sequence[FloatArray]) -> FloatArray:
    """The mean over both bases of F T F', symmetric to the last bit."""
    one, other = (frame @ part @ frame.T for frame, part in zip(frames, parts, strict=True))
    M = (one + other) / 2.0
    return (M + M.T) / 2.0


def _largest_eigenvalue(matrix: FloatArray) -> float:
    last = matrix.shape[0] - 1
    if last < 0:
        return 0.0
    try:
        return float(scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=(last, last))[0])
    except np.linalg.LinAlgError:
        # LAPACK's driver for a subset of eigenvalues may fail if many are equal; the one for all eigenvalues does not.
        return float(np.linalg.eigvalsh(matrix)[-1])

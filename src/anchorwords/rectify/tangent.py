"""Steps of ENN from one Y: the plain one of Algorithm 3 and the Newton step that speeds it up.

Notation
--------
Y : (N, K)   compression, its checked rows first; Y = V R with V'V = I and R = (Y'Y)^(1/2)
g : (N, N)   E + r ee', what the correction adds to Y Y'
P_T          projection to the tangent space T, at Y Y', of the matrices of rank K
L : (N, K)   a tangent matrix X = L V' + V L' - V (V'L) V' by its product L = X V; P_T g has L = g V
S : (K, K)   V'L, so that <X1, X2> = 2 <L1, L2> - <S1, S2>
Omega, D     where E is positive, and the projection to matrices that live there
J            projection to the multiples of ee'

The plain step is a projected gradient step of length one on f(X) = |g|^2 / 2: add g, project to rank K. Near a
solution it creeps, as gradient steps do. The Newton step solves

    P_T (D + J) P_T X = P_T g

for the tangent move X by a few conjugate gradients from zero (Omega covers so little that D and J commute but
for a per cent). f is smooth but for the set Omega, which is taken as it stands: a semi-smooth Newton method. Started
from zero, conjugate gradients stay in the span of what plain steps would add, so a truncated solve is many plain
steps at once and leads towards the same limit.
"""

from __future__ import annotations

from typing import Any

from .._namespace import array_namespace
from ..linalg.tall import add_row, add_scaled, column_sums, dot, gram, scaled_sum, take_rows, times
from .correction import CheckedFirst, checked_first, correction_of, normalisation, violation

# A Gram matrix or Rayleigh quotient with an eigenvalue below this share of its largest has lost a dimension.
_RANK_LOSS = 1e-12
# A Newton system is solved at most to this residual: Omega changes with the move, so more is wasted.
_ENOUGH = 1e-2
# Newton steps before their systems get one more conjugate gradient.
_PATIENCE = 2
# Once the violation is below this, a move is stretched: entries that it would bring to zero exactly, and half of them
# back across it at the next step, come to lie on the right side instead, and the iteration ends.
_NEAR = 1e-4
_STRETCH = 1.5


class Point:
    """Y, the correction it needs, and the frame of the tangent space there.

    Parameters
    ----------
    Y : (N, K) array
        Words in any order.
    n_rows : int
        |I|.
    omega : float
        Relaxation of the plain step.
    n_jobs : int or None
        Threads.
    target : float
        What Y Y' should sum to.

    Raises
    ------
    RankLost
        Where the columns of Y are dependent.
    """

    def __init__(
        self,
        Y: Any,
        n_rows: int,
        omega: float = 1.0,
        n_jobs: int | None = None,
        *,
        target: float = 1.0,
    ) -> None:
        xp, N = array_namespace(Y), Y.shape[0]
        self._xp, self._n_jobs, self._omega, self._target = xp, n_jobs, omega, target
        self._chosen: CheckedFirst = checked_first(Y, n_rows, n_jobs)
        self.eps = self._chosen.eps
        self._Y = take_rows(Y, self._chosen.order, n_jobs)
        self._R, self._R_inverse, self._norm = roots(gram(self._Y, self._Y, n_jobs))
        self.correction = correction_of(self._Y, self._chosen.n_checked, n_jobs)
        # What moves Y is in single precision: off by 1e-7 of what is left to correct, not of Y Y'. So are the numbers that
        # it is multiplied by, such as r: rounded once, not in every product, they hide what an order of sums left in them.
        self._V = times(self._Y, self._R_inverse, n_jobs, dtype=xp.float32)
        self._V_sums = xp.astype(column_sums(self._V, n_jobs), xp.float32)
        L = self.correction.times(self._V)
        sums = column_sums(self._Y, n_jobs)
        self._r = normalisation(sums, N, omega * self.correction.total, target)
        self._L = add_row(L if omega == 1.0 else omega * L, self._r * self._V_sums, n_jobs)
        self._S = gram(self._V, self._L, n_jobs)
        r = normalisation(sums, N, self.correction.total, target)
        self.violation = violation(self.correction, r, N, self._norm)  # |E + r ee'|_F / |Y Y'|_F

    def plain_step(self, products: int) -> tuple[Any, float]:
        """Rank-K part of Y Y' + g by a warm-started Nystroem step, and the size of the move relative to Y Y'.

        With W = op V, the approximation W (V'W)^-1 W' is exact where the range of V is invariant. Elsewhere it shrinks
        the angle to the wanted space as a step of subspace iteration does, by the ratio of the unwanted
        eigenvalues to the wanted ones, and its eigenvalues are off by the square of the angle only: one product
        serves both the step and its Rayleigh quotient. The symmetric root keeps the result aligned with Y.
        """
        xp, double = self._xp, self._xp.float64
        T = self._R @ self._R + xp.astype(self._S, double)
        if products == 1:
            root = roots(T)[1]
            # W = op V = Y R + L, as Y'V = R
            Y = times(self._Y, self._R @ root, self._n_jobs)
            Y = times(self._L, root, self._n_jobs, dtype=xp.float32, plus=Y)
        else:
            W = times(self._Y, self._R, self._n_jobs, plus=self._L)
            for _ in range(products - 1):
                V = times(W, xp.linalg.inv(T), self._n_jobs)  # again nearly orthonormal
                W = self._operator_times(V)
                T = gram(V, W, self._n_jobs)
            Y = times(W, roots(T)[1], self._n_jobs)
        return self._unsorted(Y), self._length(self._L, self._S) / self._norm

    def newton_step(self, n_products: int) -> tuple[Any, float]:
        """Y after a tangent move by at most ``n_products`` conjugate gradients, and its size relative to Y Y'.

        The system is solved in single precision: the answer is a direction that a truncated solve leaves wrong by a
        per cent, and where it leads is measured in double precision at the next point.
        """
        xp, N, single, n_jobs = self._xp, self._Y.shape[0], self._xp.float32, self._n_jobs
        V, V_sums = self._V, self._V_sums
        scale = float(xp.max(xp.abs(self._L)))
        if not scale > 0.0:
            return self._unsorted(self._Y), 0.0
        R, S_R = self._L / scale, self._S / scale
        P, S_P = xp.asarray(R, copy=True), xp.asarray(S_R, copy=True)
        X, S_X = xp.zeros_like(R), xp.zeros_like(S_R)
        squared = first = self._inner(R, S_R, R, S_R)
        for _ in range(n_products):
            half = times(V, S_P / -2.0, n_jobs, plus=P)  # the move is half V' + V half'
            H = self.correction.curvature(V, half)
            total = 2.0 * float(xp.astype(column_sums(half, n_jobs), single) @ V_sums)  # of the move
            H = add_row(H, (total / N**2) * V_sums, n_jobs)
            S_H = gram(V, H, n_jobs)
            bend = self._inner(P, S_P, H, S_H)
            if not bend > 0.0:
                break
            step = squared / bend
            X, S_X = add_scaled(X, step, P, n_jobs), add_scaled(S_X, step, S_P)
            R, S_R = add_scaled(R, -step, H, n_jobs), add_scaled(S_R, -step, S_H)
            before, squared = squared, self._inner(R, S_R, R, S_R)
            if squared <= _ENOUGH**2 * first:
                break
            P, S_P = scaled_sum(squared / before, P, R, n_jobs), scaled_sum(squared / before, S_P, S_R)
        stretch = _STRETCH if self.violation < _NEAR else 1.0
        half = times(V, S_X / -2.0, n_jobs, plus=X)
        Y = times(half, (stretch * scale) * xp.astype(self._R_inverse, single), n_jobs, plus=self._Y)
        if self.violation < _NEAR:  # let scaling take care of the sum: it leaves every sign as it is
            Y *= (self._target / float(xp.sum(column_sums(Y, n_jobs) ** 2))) ** 0.5
        return self._unsorted(Y), stretch * scale * self._length(X, S_X) / self._norm

    def _operator_times(self, V: Any) -> Any:
        """Y (Y'V) + omega E V + r e (e'V)."""
        product = times(self._Y, gram(self._Y, V, self._n_jobs), self._n_jobs)
        corrected = self.correction.times(self._xp.astype(V, self._xp.float32))
        product = add_scaled(product, self._omega, self._xp.astype(corrected, product.dtype), self._n_jobs)
        return add_row(product, self._r * column_sums(V, self._n_jobs), self._n_jobs)

    def _inner(self, L1: Any, S1: Any, L2: Any, S2: Any) -> float:
        """Inner product of tangent matrices."""
        return 2.0 * dot(L1, L2, self._n_jobs) - dot(S1, S2)

    def _length(self, L: Any, S: Any) -> float:
        """Frobenius norm of a tangent matrix."""
        return max(self._inner(L, S, L, S), 0.0) ** 0.5

    def _unsorted(self, Y: Any) -> Any:
        return take_rows(Y, self._xp.argsort(self._chosen.order), self._n_jobs)


def roots(T: Any) -> tuple[Any, Any, float]:
    """T^(1/2), T^(-1/2) and |T|_F for a symmetric positive definite T; RankLost where it is not that."""
    xp = array_namespace(T)
    values, vectors = xp.linalg.eigh((T + T.T) / 2.0)
    if not float(values[0]) > _RANK_LOSS * float(values[-1]):
        raise RankLost
    root = xp.sqrt(values)
    return (vectors * root) @ vectors.T, (vectors / root) @ vectors.T, float(xp.sqrt(xp.sum(values * values)))


def paced(rounds: int, fell: bool) -> tuple[int, int]:
    """Newton steps made at this pace, and the conjugate gradients that the next may have.

    Short moves first, while Omega still changes much; where the last one overshot, shorter ones again.
    """
    rounds = rounds + 1 if fell else rounds // 2
    return rounds, 1 + rounds // _PATIENCE


class RankLost(Exception):
    """A compression has fewer than K dimensions."""

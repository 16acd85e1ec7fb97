"""ENN, Epsilon Non-Negative rectification (Algorithm 3): rectify and compress at once, never N x N.

Notation
--------
Y : (N, K)   compression, C ~ Y Y'
I            the |I| rows of Y of largest norm, where negative entries of Y Y' are looked for
E : (N, N)   max(-Y Y', 0) on rows I and, by symmetry, columns I: a sparse matrix, see correction
r            (1 - |Y'e|^2 - sum E) / N^2, what each entry needs for the sum to be one
op           x -> Y (Y'x) + E x + r (e'x) e, of which Y becomes the rank-K positive semi-definite part

The iteration is projected gradient descent, with step one, on half the squared distance of Y Y' from the
non-negative matrices that sum to one. That view gives the fast mode (``relaxation="newton"``): some plain steps,
because where the limit lies is decided there, then Newton steps on the same objective, which end the sublinear
creeping of the plain iteration (:mod:`anchorwords.rectify.tangent`), then an end in finitely many steps
(:mod:`anchorwords.rectify.finish`).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from .._namespace import array_namespace, like
from .._validation import check_iteration_options, check_positive_integer
from ..exceptions import InputError
from ..linalg.factored import compression, factored_distance
from ..linalg.fixed_point import FixedPoint, Iteration, iterate
from ..linalg.parallel import limited_threads, one_library_thread
from ..linalg.randomized import randomized_eigh
from .correction import CorrectedOperator, checked_first, correction_of
from .finish import finish
from .result import Callback, Rectified, warn_unless_converged
from .start import starting_pairs
from .tangent import Point, RankLost, paced

# Plain steps before the first Newton step.
_BURN_IN = 10
# In the first steps Y moves most; two products instead of one keep its eigenspace accurate there.
_CAREFUL_STEPS = 2
# Newton steps go on until the violation is this many times the tolerance; from there the end is had piece by piece.
_LEAP = 1e3
# One attempt at the end is enough where Y Y' is near; after so many, Newton steps go on alone.
_FINISHES = 3
# Residual of each eigenproblem in the paper's step-for-step mode.
_EXACT_TOL = 1e-10


def rectify_enn(
    C: Any,
    n_components: int,
    *,
    n_rows: int | None = None,
    relaxation: float | str = "newton",
    max_iter: int = 1000,
    tol: float = 1e-8,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> Rectified:
    """Rectify and compress C at once (Algorithm 3).

    Parameters
    ----------
    C : (N, N) array, operator, or pair (V, D)
        Symmetric co-occurrence, anything with ``shape`` and ``@``, or its K leading eigenvectors and eigenvalues.
    n_components : int
        K.
    n_rows : int, optional
        |I|, the rows checked for negative entries; ``min(N, 10 K + 1000)`` by default.
    relaxation : "newton" or float
        "newton": plain steps first, then Newton steps. A number omega applies omega E instead of E, in plain steps
        only; ``relaxation=1.0`` with ``tol=0`` is the paper's iteration step for step, every eigenproblem
        solved to 1e-10.
    max_iter : int
        Limit on the steps.
    tol : float
        Stop when what the correction would still change, |E + r ee'|_F, is at most this share of |Y Y'|_F.
        0 runs exactly ``max_iter`` steps.
    random_state : int or None
        Seed of the probe for the starting eigenpairs.
    n_jobs : int or None
        Threads; the result does not depend on it.
    callback : callable, optional
        Called with the step and its :class:`Iteration`.

    Returns
    -------
    Rectified
        With ``Y``, ``eps`` and ``min_entry``.
    """
    check_iteration_options(max_iter, tol)
    if relaxation != "newton" and not (isinstance(relaxation, (int, float)) and 0 < relaxation < 2):
        raise InputError(f"relaxation must be 'newton' or a number between 0 and 2, but is {relaxation!r}.")
    with limited_threads(n_jobs), one_library_thread():
        V, D = starting_pairs(C, n_components, random_state)
        N, K = V.shape
        n_rows = rows_checked(N, K, n_rows)
        Y = compression(V, D)
        if not array_namespace(Y).any(Y != 0.0):
            raise InputError("C has no positive eigenvalue, so nothing is left after the projection to PSD_K.")
        step = _Step(n_rows, relaxation, tol, n_jobs)
        end: FixedPoint[_State] = iterate(step, _State(Y), max_iter=max_iter, tol=tol, callback=callback)
        Y = end.state.Y
        # The guarantee is about Y and E of the same iteration: where the last step moved Y, sweep once more.
        eps, lowest = end.state.guarantee or _guarantee(Y, n_rows, n_jobs)
    warn_unless_converged("ENN", end, tol)
    return Rectified("enn", Y, None, end.converged, end.history, eps=eps, min_entry=lowest)


def rows_checked(N: int, K: int, n_rows: int | None) -> int:
    """|I| for N words and K topics: as many as asked for, or a number that grows with K."""
    return min(N, 10 * K + 1000 if n_rows is None else check_positive_integer(n_rows, "n_rows"))


def _guarantee(Y: Any, n_rows: int, n_jobs: int | None) -> tuple[float, float]:
    """eps, and the lowest entry of Y Y' on the checked rows."""
    chosen = checked_first(Y, n_rows)
    left = correction_of(array_namespace(Y).take(Y, chosen.order, axis=0), chosen.n_checked, n_jobs)
    return chosen.eps, left.min_entry


class _State(NamedTuple):
    Y: Any
    basis: Any = None  # eigenvectors and runners-up, to start the next exact eigenproblem from
    rounds: int = 0  # Newton steps since the last time they had to be made shorter
    violation: float = float("inf")
    finishes: int = 0  # attempts at the end
    guarantee: tuple[float, float] | None = None  # eps and the lowest entry, where they are known of this Y


class _Step:
    """One iteration of Algorithm 3: exact, by a single warm-started product, or a Newton step."""

    def __init__(self, n_rows: int, relaxation: float | str, tol: float, n_jobs: int | None) -> None:
        self.n_rows = n_rows
        self.tol = tol
        self.newton = relaxation == "newton"
        self.omega = 1.0 if self.newton else float(relaxation)
        self.exact = not self.newton and tol == 0.0
        self.n_jobs = n_jobs

    def __call__(self, state: _State, t: int) -> tuple[_State, Iteration]:
        if self.exact:
            return self._solve_afresh(state)
        try:
            return self._fast(state, t)
        except RankLost:
            return self._solve_afresh(state)

    def _fast(self, state: _State, t: int) -> tuple[_State, Iteration]:
        point = Point(state.Y, self.n_rows, self.omega, self.n_jobs)
        report = Iteration(0.0, point.violation)
        if point.violation <= self.tol:  # done: leave Y as it is
            return state._replace(guarantee=(point.eps, point.correction.min_entry)), report
        if not self.newton or t < _BURN_IN:
            Y, change = point.plain_step(2 if t < _CAREFUL_STEPS else 1)
            return _State(Y, violation=point.violation), report._replace(change=change)
        if point.violation <= _LEAP * self.tol and state.finishes < _FINISHES:
            with suppress(RankLost):  # fewer checked words than topics: there is no block to finish first
                Y = finish(state.Y, self.n_rows, self.tol / 2.0, self.n_jobs)
                change = factored_distance(state.Y, Y)
                after = _State(Y, violation=point.violation, finishes=state.finishes + 1)
                return after, report._replace(change=change)
        rounds, n_products = paced(state.rounds, point.violation < state.violation)
        Y, change = point.newton_step(n_products)
        return _State(Y, None, rounds, point.violation, state.finishes), report._replace(change=change)

    def _solve_afresh(self, state: _State) -> tuple[_State, Iteration]:
        operator = CorrectedOperator(state.Y, self.n_rows, self.omega, n_jobs=self.n_jobs)
        pairs = randomized_eigh(
            operator, state.Y.shape[1], tol=_EXACT_TOL, start=state.basis, like=state.Y, random_state=0
        )
        Y = compression(pairs.vectors, like(pairs.values, pairs.vectors))
        violation = operator.violation()
        return _State(Y, pairs.basis, 0, violation), Iteration(factored_distance(state.Y, Y), violation)

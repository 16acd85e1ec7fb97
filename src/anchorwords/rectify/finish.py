"""The end of ENN: from nearly non-negative to non-negative, in finitely many steps.

Notation
--------
Y : (N, K)   compression, checked words first; Y = V R with V'V = I
I            the checked words
u_j          R y_j, so that |u_j - u_j'| is what a change of row j costs in Y Y'

Near the end the steps of ENN run in circles: each move that mends some entries of Y Y' spoils others. But the last
stretch falls apart into easy pieces. First the block I x I is made non-negative by itself, which is the same problem
with a few thousand words. Then, with the rows of I fixed, every other word asks only for a row in the cone
{y : Y_I y >= 0}, the same for all, and nothing it does matters to anyone else: its row is projected to
the cone, in the metric of R. Constraints are collected from sweeps; those of a word only grow, so
few sweeps are needed and the loop ends.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..kernels.compiled import CSR, FLOAT, INT, MATRIX, READ_MATRIX, VOID, compiled
from ..linalg.parallel import for_each_block
from ..linalg.tall import gram, times
from .correction import checked_first
from .pairs import SparseCorrection, TooDense
from .tangent import Point, paced, roots

# A constraint y_i . y >= 0 is met with this much to spare, relative to the lengths: rounding cannot undo it.
_SPARE = 1e-9
# Limits that no case has come near: Newton steps on the block, sweeps for constraints, rounds of a projection.
_STEPS = 300
_SWEEPS = 30
_ROUNDS = 1000
_ROWS = 64


def finish(Y: FloatArray, n_rows: int, tol: float, n_jobs: int | None = None) -> FloatArray:
    """Y near the one given with Y Y' >= 0 on the checked rows, and sum one."""
    chosen = checked_first(Y, n_rows)
    n, ordered = chosen.n_checked, Y[chosen.order]
    root, inverse, norm = roots(gram(ordered, ordered, n_jobs))
    goal = tol * norm
    ordered[:n] = _block(ordered[:n], goal, n_jobs)
    if n < Y.shape[0]:
        with suppress(TooDense):  # too far away for this: the caller goes on as before
            _into_cone(ordered, n, root, inverse, goal, n_jobs)
    result = np.empty_like(ordered)
    result[chosen.order] = ordered / np.linalg.norm(ordered.sum(axis=0))
    return result


def _block(Y: FloatArray, goal: float, n_jobs: int | None) -> FloatArray:
    """Newton steps on the words of I alone, until |E| is below the goal; their sum stays."""
    sums = Y.sum(axis=0)
    target = float(sums @ sums)
    rounds, before = 0, np.inf
    for _ in range(_STEPS):
        point = Point(Y, Y.shape[0], 1.0, n_jobs, target=target)
        left = float(np.sqrt(point.correction.squares))
        if left <= goal:
            break
        rounds, n_products = paced(rounds, left < before)
        before = left
        Y, _ = point.newton_step(n_products)
    return Y


def _into_cone(Y: FloatArray, n: int, root: FloatArray, inverse: FloatArray, goal: float, n_jobs: int | None) -> None:
    """Project the rows of Y from n on, in place, to the cone where their products with the first n rows are >= 0."""
    anchored = np.ascontiguousarray(Y[:n] @ inverse)
    start = times(Y[n:], root, n_jobs)
    known = np.zeros(0, dtype=np.int64)  # constraints, as row * n + partner
    for _ in range(_SWEEPS):
        correction = SparseCorrection(Y, n, n_jobs)
        if correction.squares <= goal**2:
            return
        rows, partners = correction.pairs()
        outside = rows >= n
        new = np.setdiff1d((rows[outside] - n) * n + partners[outside], known, assume_unique=True)
        if new.size == 0:
            return
        known = np.sort(np.concatenate([known, new]))
        # Project again the rows that have a new constraint, each with all of its own.
        touched = np.zeros(Y.shape[0] - n, dtype=bool)
        touched[new // n] = True
        rows, partners = np.divmod(known, n)
        mine = touched[rows]
        counts = np.bincount(rows[mine], minlength=touched.size)[touched]
        moved = start[touched]
        _project(np.concatenate([[0], np.cumsum(counts)]), partners[mine].astype(np.int32), anchored, moved, n_jobs)
        Y[n + np.flatnonzero(touched)] = times(moved, inverse, n_jobs)


def _project(indptr: Any, partners: Any, anchored: FloatArray, moved: FloatArray, n_jobs: int | None) -> None:
    """Project every row u of ``moved``, in place, to v_i . u >= 0 for its partners i."""

    def work(first: int, last: int) -> None:
        _project_rows(indptr, partners, first, anchored, moved[first:last], _SPARE, _ROUNDS)

    for_each_block(work, moved.shape[0], _ROWS, n_jobs)


@compiled(VOID, *CSR[:2], INT, READ_MATRIX, MATRIX, FLOAT, INT, reorder=True)
def _project_rows(indptr, partners, first, anchored, moved, spare, rounds):  # type: ignore[no-untyped-def]
    """Project rows u to v_i . u >= 0 for their partners i, by Hildreth's method on the multipliers of a working set.

    u = u0 + sum of lambda_i v_i. One multiplier of the set at a time is given what its own constraint asks for, until
    the moves of a round are a thousandth of the whole; then those of the other constraints that are violated most join
    the set, and those whose multiplier is zero leave it. The end is where all constraints hold: few of them are
    active, as a row has K dimensions, while hundreds may begin violated.
    """
    K = anchored.shape[1]
    most = K // 4 + 8
    for t in range(moved.shape[0]):
        begin = indptr[first + t]
        size = indptr[first + t + 1] - begin
        u = moved[t].copy()
        length = 0.0
        for k in range(K):
            length += u[k] * u[k]
        goals = np.empty(size)
        products = np.empty(size)
        inside = np.zeros(size, dtype=np.bool_)
        for a in range(size):
            i = partners[begin + a]
            square = 0.0
            for k in range(K):
                square += anchored[i, k] * anchored[i, k]
            goals[a] = spare * np.sqrt(square * length)
        room = min(size, 2 * K + 2 * most)
        members = np.empty(room, dtype=np.int64)
        places = np.empty(room, dtype=np.int64)
        multipliers = np.zeros(room)
        G = np.empty((room, room))
        slack = np.empty(room)
        n_members = 0
        done = 0
        while done < rounds:
            for a in range(size):
                i = partners[begin + a]
                product = 0.0
                for k in range(K):
                    product += anchored[i, k] * u[k]
                products[a] = product
            # Those that matter stay.
            kept = 0
            for m in range(n_members):
                if multipliers[m] > 0.0:
                    places[kept] = m  # rows of G move up; those below, which are still to be read, stay as they are
                    members[kept], multipliers[kept] = members[m], multipliers[m]
                    for b in range(kept + 1):
                        entry = G[m, places[b]]
                        G[kept, b] = entry
                        G[b, kept] = entry
                    kept += 1
                else:
                    inside[members[m]] = False
            n_members = kept
            # The worst of the others join.
            joined = 0
            while joined < most and n_members < room:
                worst, depth = -1, 0.0
                for a in range(size):
                    if not inside[a] and products[a] < 0.5 * goals[a]:
                        below = (goals[a] - products[a]) / goals[a]
                        if below > depth:
                            worst, depth = a, below
                if worst < 0:
                    break
                inside[worst] = True
                members[n_members], multipliers[n_members] = worst, 0.0
                i = partners[begin + worst]
                for b in range(n_members + 1):
                    j = partners[begin + members[b]]
                    entry = 0.0
                    for k in range(K):
                        entry += anchored[i, k] * anchored[j, k]
                    G[n_members, b] = entry
                    G[b, n_members] = entry
                n_members += 1
                joined += 1
            held = joined == 0
            for m in range(n_members):
                slack[m] = products[members[m]] - goals[members[m]]
                held = held and slack[m] >= -0.5 * goals[members[m]]
            if held:
                break
            while done < rounds:
                done += 1
                feasible = True
                largest = 0.0
                for m in range(n_members):
                    feasible = feasible and slack[m] >= -0.5 * goals[members[m]]
                    step = max(-slack[m] / G[m, m], -multipliers[m])
                    if step != 0.0:
                        multipliers[m] += step
                        largest = max(largest, step * step * G[m, m])
                        for b in range(n_members):
                            slack[b] += step * G[m, b]
                if feasible and done % 4 == 3:
                    whole = 0.0
                    for m in range(n_members):
                        for b in range(n_members):
                            whole += multipliers[m] * G[m, b] * multipliers[b]
                    if largest <= 1e-6 * whole:
                        break
            for k in range(K):
                u[k] = moved[t, k]
            for m in range(n_members):
                i = partners[begin + members[m]]
                for k in range(K):
                    u[k] += multipliers[m] * anchored[i, k]
        moved[t] = u

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

from math import sqrt
from typing import Any

import numpy as np

from .._namespace import array_namespace, like
from ..kernels import kernels_for
from ..kernels.protocol import TooDense
from ..linalg.tall import column_sums, gram, take_rows, times, with_rows
from .correction import checked_first, correction_of
from .tangent import Point, paced, roots

# A constraint y_i . y >= 0 is met with this much to spare, relative to the lengths: rounding cannot undo it.
_SPARE = 1e-9
# Limits that no case has come near: Newton steps on the block, and sweeps for constraints.
_STEPS = 300
_SWEEPS = 30


def finish(Y: Any, n_rows: int, tol: float, n_jobs: int | None = None) -> Any:
    """Y near the one given with Y Y' >= 0 on the checked rows, and sum one."""
    xp = array_namespace(Y)
    chosen = checked_first(Y, n_rows, n_jobs)
    n, ordered = chosen.n_checked, take_rows(Y, chosen.order, n_jobs)
    root, inverse, norm = roots(gram(ordered, ordered, n_jobs))
    goal = tol * norm
    ordered = xp.concat([_block(ordered[:n, :], goal, n_jobs), ordered[n:, :]], axis=0)
    if n < Y.shape[0]:
        ordered = _into_cone(ordered, n, root, inverse, goal, n_jobs)
    sums = column_sums(ordered, n_jobs)
    return take_rows(ordered, xp.argsort(chosen.order), n_jobs) / sqrt(float(sums @ sums))


def _block(Y: Any, goal: float, n_jobs: int | None) -> Any:
    """Newton steps on the words of I alone, until |E| is below the goal; their sum stays."""
    sums = array_namespace(Y).sum(Y, axis=0)
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


def _into_cone(Y: Any, n: int, root: Any, inverse: Any, goal: float, n_jobs: int | None) -> Any:
    """Y with its rows from n on projected to the cone where their products with the first n rows are >= 0."""
    xp = array_namespace(Y)
    normals = Y[:n, :] @ inverse
    start = times(Y[n:, :], root, n_jobs)
    known = like(np.zeros(0, dtype=np.int64), Y)  # constraints, as row * n + partner, sorted
    open_rows = like(np.arange(Y.shape[0] - n), Y)  # rows that may violate one: those without stay where they are
    for _ in range(_SWEEPS):
        looked_at = xp.concat([Y[:n, :], take_rows(Y, n + open_rows, n_jobs)], axis=0)
        correction = correction_of(looked_at, n, n_jobs)
        if correction.squares <= goal**2:
            break
        try:
            rows, partners = correction.pairs()
        except TooDense:  # too far away for this: the caller goes on as before
            break
        outside = rows >= n
        rows = xp.take(open_rows, rows[outside] - n)
        found = rows * n + partners[outside]
        new = found[~_among(found, known)]
        if new.shape[0] == 0:
            break
        known = xp.sort(xp.concat([known, new]))
        open_rows = xp.sort(xp.unique_values(rows))
        # Project again the rows that have a new constraint, each with all of its own.
        touched = xp.sort(xp.unique_values(new // n))
        ends = xp.cumulative_sum(xp.searchsorted(known, (touched + 1) * n) - xp.searchsorted(known, touched * n))
        indptr = xp.concat([xp.zeros_like(ends[:1]), ends])
        mine = known[_among(known // n, touched)]
        moved = kernels_for(Y).project_to_cone(
            indptr,
            xp.astype(mine % n, xp.int32),
            normals,
            take_rows(start, touched, n_jobs),
            spare=_SPARE,
            n_jobs=n_jobs,
        )
        Y = with_rows(Y, n + touched, times(moved, inverse, n_jobs))
    return Y


def _among(values: Any, known: Any) -> Any:
    """Which values are among the known ones, which are sorted."""
    xp = array_namespace(values)
    if known.shape[0] == 0:
        return xp.zeros_like(values, dtype=xp.bool)
    places = xp.searchsorted(known, values)
    inside = xp.where(places < known.shape[0], places, xp.zeros_like(places))
    return xp.take(known, inside) == values

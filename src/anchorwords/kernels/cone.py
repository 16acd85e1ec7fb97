"""Projection of many vectors, each to a cone of its own: Hildreth's method on a working set.

Notation
--------
v_i : (K,)   normals, rows of ``normals``
u : (K,)     a row of ``start``, to be moved to the nearest point with v_i . u >= 0 for its partners i
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..linalg.parallel import for_each_block
from .compiled import CSR, FLOAT, INT, MATRIX, READ_MATRIX, VOID, compiled

# Limit on the rounds of one projection. Only rows that the projection takes to the apex, the zero vector, reach it: they
# creep, and are left short of a constraint by a part of what is to spare.
_ROUNDS = 1000
_ROWS = 64


def project_to_cone(
    indptr: Any, partners: Any, normals: FloatArray, start: FloatArray, *, spare: float, n_jobs: int | None = None
) -> FloatArray:
    """Project every row u of ``start`` to v_i . u >= 0 for its partners i."""
    moved = np.array(start, order="C")
    normals = np.ascontiguousarray(normals)

    def work(first: int, last: int) -> None:
        _project_rows(indptr, partners, first, normals, moved[first:last], spare, _ROUNDS)

    for_each_block(work, moved.shape[0], _ROWS, n_jobs)
    return moved


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
        for k in range(K):  # assigning the array as a whole would take the compiler a second
            moved[t, k] = u[k]

"""Projection of many vectors, each to a cone of its own, one row per program: Hildreth's method on a working set.

Notation
--------
v_i : (K,)   normals, rows of ``normals``
u : (K,)     a row of ``start``, to be moved to the nearest point with v_i . u >= goal_i for its partners i
lambda_i     multipliers of the constraints of a row: u = u0 + sum lambda_i v_i

As in :mod:`..cone`, one multiplier of the working set at a time is given what its own constraint asks for, and the set
grows by constraints that are violated and loses those whose multiplier is zero. Two things are different. The vector u
itself is kept up to date instead of the products of the set with it, because the Gram matrix of a set does not fit
into registers. And the constraints that join are the worst ones of as many groups of partners, not the worst of all,
because one pass finds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from ..._namespace import to_numpy
from .memory import temporary_bytes, with_less_memory
from .tensors import block_of, on_device

# Limit on the rounds of one projection: see kernels/cone.py.
_ROUNDS = 1000
# Entries of normals that a program holds at a time, for 32 registers per thread, and columns per warp.
_TILE = 1024
_COLUMNS = 512
# Bytes of a member of a working set (normal, place among the partners, multiplier), and of a partner (number, flag).
_MEMBER, _PARTNER = 16, 5


@with_less_memory
def project_to_cone(
    indptr: Any,
    partners: Any,
    normals: Any,
    start: Any,
    *,
    spare: float,
    n_jobs: int | None = None,  # noqa: ARG001
) -> Any:
    """Project every row u of ``start`` to v_i . u >= 0 for its partners i."""
    start = on_device(start, start.device, torch.float64)
    normals = on_device(normals, start.device, torch.float64)
    moved = torch.empty_like(start)
    K = start.shape[1]
    lengths = torch.linalg.vector_norm(normals, dim=1)
    inverses = torch.where(lengths > 0.0, 1.0 / lengths**2, 0.0)
    reach = spare * torch.linalg.vector_norm(start, dim=1)
    ends = to_numpy(indptr, dtype=np.int64)
    most = K // 4 + 8
    columns = block_of(K, 2)
    for first, last, room in _blocks(ends, 2 * K + 2 * most):
        own = partners[int(ends[first]) : int(ends[last])]
        places = torch.empty((2, last - first, room), dtype=torch.int32, device=start.device)
        _project[(last - first,)](
            on_device(ends[first : last + 1] - ends[first], start.device),
            on_device(own, start.device, torch.int32),
            *(normals, lengths, inverses, start[first:last], reach[first:last], moved[first:last]),
            *(places[0], places[1], torch.empty((last - first, room), dtype=torch.float64, device=start.device)),
            torch.zeros(max(1, own.shape[0]), dtype=torch.int8, device=start.device),
            *(K, room, most, _ROUNDS),
            C=max(2, min(16, _TILE // columns)),
            BK=columns,
            num_warps=max(1, columns // _COLUMNS),
        )
    return moved


def _blocks(ends: Any, most_room: int) -> Iterator[tuple[int, int, int]]:
    """Runs of rows whose working sets fit into memory, and the members that a set of each run has room for."""
    sizes = np.diff(ends)
    bytes_so_far = np.concatenate([[0], np.cumsum(_MEMBER * np.minimum(sizes, most_room) + _PARTNER * sizes)])
    first = 0
    while first < sizes.size:
        room = max(1, int(min(sizes.max(), most_room)))
        # By the bytes of partners and by those of sets of the common size.
        last = np.searchsorted(bytes_so_far, bytes_so_far[first] + temporary_bytes() // 2, side="right") - 1
        last = int(min(max(last, first + 1), first + max(1, temporary_bytes() // (2 * _MEMBER * room)), sizes.size))
        yield first, last, room
        first = last


@triton.jit
def _project(
    indptr,
    partners,
    normals,
    lengths,
    inverses,
    start,
    reach,
    moved,
    members,
    places,
    multipliers,
    flags,
    K,
    room,
    most,
    rounds,
    C: tl.constexpr,
    BK: tl.constexpr,
):
    """Project one row."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BK)
    chunk = tl.arange(0, C)
    real = cols < K
    begin = tl.load(indptr + row)
    size = (tl.load(indptr + row + 1) - begin).to(tl.int32)
    partners += begin
    flags += begin
    members += row * room
    places += row * room
    multipliers += row * room
    near = tl.load(reach + row)
    u0 = tl.load(start + row * K + cols, mask=real, other=0.0)
    u = u0
    # Partners of a group, of which at most one joins at a time.
    group = C * tl.cdiv(tl.cdiv(size, C), most)
    done = 0
    n_members = 0
    searching = True
    while searching:
        # Members that matter stay; u without what rounding has added to it.
        u = u0
        kept = 0
        for m in range(n_members):
            i = tl.load(members + m)
            place = tl.load(places + m)
            multiplier = tl.load(multipliers + m)
            u += multiplier * tl.load(normals + i.to(tl.int64) * K + cols, mask=real, other=0.0)
            stays = multiplier > 0.0
            tl.debug_barrier()  # every thread has read what is written now
            tl.store(members + kept, i, mask=stays)
            tl.store(places + kept, place, mask=stays)
            tl.store(multipliers + kept, multiplier, mask=stays)
            tl.store(flags + place, 0, mask=stays == 0)
            kept += tl.where(stays, 1, 0)
        n_members = kept
        tl.debug_barrier()
        # The worst of each group of the others joins.
        n_short = 0
        worst = -1
        normal = -1
        depth = near * 0.0
        for at in range(0, size, C):
            mine = at + chunk < size
            i = tl.load(partners + at + chunk, mask=mine, other=0)
            V = tl.load(
                normals + i[:, None].to(tl.int64) * K + cols[None, :], mask=mine[:, None] & real[None, :], other=0.0
            )
            products = tl.sum(V * u[None, :], 1)
            goals = tl.load(lengths + i, mask=mine, other=0.0) * near
            short = mine & (products < 0.5 * goals)
            n_short += tl.sum(tl.where(short, 1, 0), 0)
            outside = tl.load(flags + at + chunk, mask=mine, other=1) == 0
            # Goals of all zeros are not short.
            below = tl.where(short & outside, (goals - products) / tl.where(short, goals, 1.0), 0.0)
            deepest = tl.max(below, 0)
            if deepest > depth:
                depth = deepest
                here = tl.argmax(below, 0)
                worst = at + here
                normal = tl.sum(tl.where(chunk == here, i, 0), 0)
            if ((at + C) % group == 0) | (at + C >= size):
                joins = (worst >= 0) & (n_members < room)
                tl.store(members + n_members, normal, mask=joins)
                tl.store(places + n_members, worst, mask=joins)
                tl.store(multipliers + n_members, near * 0.0, mask=joins)
                tl.store(flags + worst, 1, mask=joins)
                n_members += tl.where(joins, 1, 0)
                worst = -1
                depth = near * 0.0
        tl.debug_barrier()
        searching = (n_short > 0) & (done < rounds)
        settled = searching == 0
        while (settled == 0) & (done < rounds):
            done += 1
            feasible = 1
            largest = near * 0.0
            # The normal of the next member is fetched while the product with this one is summed.
            i = tl.load(members)
            v = tl.load(normals + i.to(tl.int64) * K + cols, mask=real, other=0.0)
            for m in range(n_members):
                i_next = tl.load(members + tl.minimum(m + 1, n_members - 1))
                v_next = tl.load(normals + i_next.to(tl.int64) * K + cols, mask=real, other=0.0)
                length = tl.load(lengths + i)
                goal = length * near
                inverse = tl.load(inverses + i)
                multiplier = tl.load(multipliers + m)
                slack = tl.sum(v * u, 0) - goal
                feasible = tl.where(slack >= -0.5 * goal, feasible, 0)
                step = tl.maximum(-slack * inverse, -multiplier)
                u += step * v
                largest = tl.maximum(largest, (step * length) * (step * length))
                tl.debug_barrier()
                tl.store(multipliers + m, multiplier + step)
                i = i_next
                v = v_next
            tl.debug_barrier()
            if (feasible > 0) & (done % 4 == 3):
                away = u - u0
                settled = largest <= 1e-6 * tl.sum(away * away, 0)
    tl.store(moved + row * K + cols, u, mask=real)

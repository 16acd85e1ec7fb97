"""Least squares on the probability simplex, one row per program, by the active-set method of :mod:`..simplex`.

Notation
--------
G : (K, K)   Gram matrix of the vertices
b : (K,)     a row of ``rhs``
face : (S,)  vertices that carry w, -1 where a slot is free
w : (S,)     their weights
A : (S, S)   G on the face; rows and columns of free slots are not used
M : (S, S)   inverse of A, zero in the rows and columns of free slots

A vertex that enters or leaves costs one update of rank one of the inverse, which stays in registers. An inverse loses
digits where a Cholesky factor does not, so that every solution is refined with the residual of the equations
themselves, and rows are only accepted with a certificate: a gradient that is level on the face and nowhere lower.
Rows with a larger face start again with more slots; those without a certificate are solved on the host.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from .. import simplex as host
from .memory import temporary_bytes
from .tensors import block_of, on_device

# See kernels/simplex.py for both.
_TOLERANCE = tl.constexpr(host.KKT_TOLERANCE)
_DEPENDENT = tl.constexpr(1e-15)
# Largest deviation of the gradient on a face that is accepted: some ten times what is found after refinement.
_LEVEL = tl.constexpr(3e-12)
# A solution is refined until the correction is below this, relative to the largest weight, or six times: each
# refinement gains the digits that the inverse still has, about eight on a face as narrow as _DEPENDENT admits.
_REFINED = tl.constexpr(1e-13)
_REFINEMENTS = tl.constexpr(6)
# How a row ended.
_SOLVED = tl.constexpr(0)
_OUTGROWN = tl.constexpr(1)
_UNSOUND = tl.constexpr(2)
# Slots for the vertices of a face, and warps per row. The inverse of the last still mostly fits into the registers of a
# block of threads.
_SLOTS = ((16, 1), (32, 2), (64, 8), (128, 16))
# Rows that are tried first, and the share of them that may outgrow their slots when all others begin with as many.
_TRIED, _OUTGROWING = 1024, 0.3


def simplex_least_squares(G: Any, rhs: Any, n_jobs: int | None = None) -> Any:
    """Minimise w'Gw/2 - rhs_i'w on the simplex for every row of ``rhs``."""
    G = on_device(G, rhs.device, torch.float64)
    rhs = on_device(rhs, rhs.device, torch.float64)
    n = rhs.shape[0]
    weights = torch.zeros_like(rhs)
    if n == 0:
        return weights
    endings = torch.full((n,), _OUTGROWN.value, dtype=torch.int32, device=rhs.device)
    rows = torch.arange(n, device=rhs.device)
    tried, level = rows[:: max(1, n // _TRIED)].contiguous(), 0
    while n > _TRIED and level < len(_SLOTS) - 1:
        _solve_rows(G, rhs, weights, tried, endings, *_SLOTS[level])
        if float((endings[tried] == _OUTGROWN.value).to(torch.float64).mean()) <= _OUTGROWING:
            break
        level += 1
    for slots, warps in _SLOTS[level:]:
        rows = torch.nonzero(endings == _OUTGROWN.value).ravel()
        if rows.numel() == 0:
            break
        _solve_rows(G, rhs, weights, rows, endings, slots, warps)
    rest = torch.nonzero(endings != _SOLVED.value).ravel()
    if rest.numel():
        solved = host.simplex_least_squares(G.cpu().numpy(), rhs[rest].cpu().numpy(), n_jobs)
        weights[rest] = on_device(solved, rhs.device)
    return weights


def _solve_rows(G: Any, rhs: Any, weights: Any, rows: Any, endings: Any, slots: int, warps: int) -> None:
    """Solve these rows with this number of slots, in blocks as long as memory for the slots allows."""
    K, columns = G.shape[0], block_of(G.shape[0], 2)
    slots = min(slots, columns)
    step = max(1, temporary_bytes() // (16 * slots))
    faces = torch.empty(min(step, rows.numel()) * slots, dtype=torch.int64, device=rhs.device)
    shares = torch.empty(faces.shape, dtype=torch.float64, device=rhs.device)
    for start in range(0, rows.numel(), step):
        part = rows[start : start + step]
        _solve[(part.numel(),)](
            *(G, rhs, weights, part, endings, faces, shares, K, 10 * K + 100),
            S=slots,
            BK=columns,
            BS=min(slots, 4 if warps == 1 else 8),
            num_warps=max(warps, columns // 512),
        )


@triton.jit
def _times(M, vector):
    """M vector for symmetric M: sums down the columns, which a thread mostly does by itself."""
    return tl.sum(M * vector[:, None], 0)


@triton.jit
def _entry(vector, places, place):
    """vector[place] as a scalar."""
    return tl.sum(tl.where(places == place, vector, 0), 0)


@triton.jit
def _with_row(A, row, slots, slot):
    """A with this row and column in place of what was in the slot."""
    A = tl.where(slots[:, None] == slot, row[None, :], A)
    return tl.where(slots[None, :] == slot, row[:, None], A)


@triton.jit
def _border(M, y, slot, distance, slots):
    """The inverse after the vertex y, in terms of the face, enters at this squared distance from its affine hull."""
    y = tl.where(slots == slot, -1.0, y)
    return M + y[:, None] * (y / distance)[None, :]


@triton.jit
def _without(M, slots, slot):
    """The inverse after the vertex in a slot leaves."""
    column = tl.sum(tl.where(slots[:, None] == slot, M, 0.0), 0)
    M -= column[:, None] * (column / _entry(column, slots, slot))[None, :]
    return tl.where((slots[:, None] == slot) | (slots[None, :] == slot), 0.0, M)


@triton.jit
def _inverse(A, used, slots, S: tl.constexpr):
    """M from the start, vertex by vertex."""
    M = tl.zeros((S, S), tl.float64)
    for slot in range(S):
        if tl.sum(tl.where((slots == slot) & used, 1, 0), 0) > 0:
            column = tl.sum(tl.where(slots[:, None] == slot, A, 0.0), 0)
            own = _entry(column, slots, slot)
            g = tl.where(used & (slots < slot), column, 0.0)
            y = _times(M, g)
            distance = tl.maximum(own - tl.sum(g * y, 0), _DEPENDENT * own)
            M = _border(M, y, slot, distance, slots)
    return M


@triton.jit
def _face_optimum(A, M, b_face, used):
    """Minimise over the affine hull of the face, A z + nu e = b, e'z = 1; and whether that came to an end."""
    Me = tl.sum(M, 0)
    eMe = tl.sum(Me, 0)
    z = tl.zeros_like(b_face)
    nu = tl.sum(z, 0)
    attempt = 0
    refined = False
    while (attempt < _REFINEMENTS) & ((attempt < 2) | (not refined)):
        residual = tl.where(used, b_face - nu - _times(A, z), 0.0)
        change = _times(M, residual)
        level = (tl.sum(change, 0) - (1.0 - tl.sum(z, 0))) / eMe
        change -= level * Me
        nu += level
        z += change
        refined = tl.max(tl.abs(change), 0) <= _REFINED * tl.max(tl.abs(z), 0)
        attempt += 1
    return z, refined


@triton.jit
def _gradient(G, b, face, w, slots, cols, real, K, face_at, w_at, BK: tl.constexpr, BS: tl.constexpr):
    """G w - b for all vertices, and which vertices are on the face."""
    # By way of memory, some slots at a time: one by one, each would wait for its row of G.
    tl.store(face_at + slots, face.to(tl.int64))
    tl.store(w_at + slots, w)
    tl.debug_barrier()
    total = tl.zeros((BS, BK), tl.float64)
    on_face = tl.zeros((BS, BK), tl.int32)
    top = tl.max(tl.where(face >= 0, slots, -1), 0) + 1
    for start in range(0, top, BS):
        some = start + tl.arange(0, BS)
        vertex = tl.load(face_at + some)[:, None]
        weight = tl.load(w_at + some)[:, None]
        there = (vertex >= 0) & real[None, :]
        total += weight * tl.load(G + tl.maximum(vertex, 0) * K + cols[None, :], mask=there, other=0.0)
        on_face = tl.where(vertex == cols[None, :], 1, on_face)
    tl.debug_barrier()  # all have read what the next call overwrites
    return tl.sum(total, 0) - b, tl.max(on_face, 0) > 0


@triton.jit
def _solve(
    G, rhs, weights, rows, endings, faces, shares, K, max_steps, S: tl.constexpr, BK: tl.constexpr, BS: tl.constexpr
):
    """Active set for one row."""
    program = tl.program_id(0).to(tl.int64)
    row = tl.load(rows + program)
    face_at, w_at = faces + program * S, shares + program * S
    cols = tl.arange(0, BK)
    slots = tl.arange(0, S)
    real = cols < K
    b = tl.load(rhs + row * K + cols, mask=real, other=0.0)
    diagonal = tl.load(G + cols * (K + 1), mask=real, other=0.0)
    # The nearest vertex.
    entering = tl.argmin(tl.where(real, 0.5 * diagonal - b, float("inf")), 0)
    face = tl.where(slots == 0, entering, -1)
    w = tl.where(slots == 0, 1.0, 0.0).to(tl.float64)
    A = tl.where((slots[:, None] == 0) & (slots[None, :] == 0), tl.load(G + entering * (K + 1)), 0.0)
    M = tl.where(A > 0.0, 1.0 / tl.where(A > 0.0, A, 1.0), 0.0)
    barred = cols < 0
    ending = 2
    steps = 0
    searching = True
    while searching & (steps < max_steps):
        steps += 1
        gradient, inside = _gradient(G, b, face, w, slots, cols, real, K, face_at, w_at, BK, BS)
        used = face >= 0
        b_face = tl.load(rhs + row * K + face, mask=used, other=0.0)
        level = tl.sum(w * (_times(A, w) - b_face), 0)
        outside = tl.where(real & (inside == 0) & (barred == 0), gradient, float("inf"))
        lowest = tl.min(outside, 0)
        if lowest < level - _TOLERANCE:
            entering = tl.argmin(outside, 0)
            free = tl.min(tl.where(used, S, slots), 0)
            if free == S:
                ending = 1
                searching = False
            else:
                g = tl.load(G + entering * K + face, mask=used, other=0.0)
                own = tl.load(G + entering * (K + 1))
                # Refined once; the distance, a minimum over y, is then right to second order.
                y = _times(M, g)
                missing = g - _times(A, y)
                distance = own - tl.sum(y * (g + missing), 0)
                y += _times(M, missing)
                if distance <= _DEPENDENT * own:
                    barred = barred | (cols == entering)  # in the affine hull of the face: cannot improve
                else:
                    A = _with_row(A, tl.where(slots == free, own, g), slots, free)
                    M = _border(M, y, free, distance, slots)
                    face = tl.where(slots == free, entering, face)
                    w = tl.where(slots == free, 0.0, w)
                    moved = False
                    walking = True
                    fresh = False
                    while walking:
                        used = face >= 0
                        b_face = tl.load(rhs + row * K + face, mask=used, other=0.0)
                        z, sound = _face_optimum(A, M, b_face, used)
                        if sound:
                            # Towards z as far as no weight turns negative.
                            ends = used & (z <= 0.0)
                            ratio = tl.where(w > 0.0, w / tl.where(ends & (w > 0.0), w - z, 1.0), 0.0)
                            ratio = tl.where(ends, ratio, 1.0)
                            step = tl.min(ratio, 0)
                            moved = moved | (step > 0.0)
                            if step < 1.0:
                                leaving = tl.argmin(ratio, 0)
                                dropped = _entry(face, slots, leaving)
                                w = tl.where(slots == leaving, 0.0, tl.maximum(w + step * (z - w), 0.0))
                                face = tl.where(slots == leaving, -1, face)
                                M = _without(M, slots, leaving)
                                fresh = False
                                if (dropped == entering) & (not moved):  # entered and left without a step: rounding
                                    barred = barred | (cols == entering)
                                    walking = False
                                if tl.sum(tl.where(face >= 0, 1, 0), 0) == 1:
                                    w = tl.where(face >= 0, 1.0, 0.0).to(tl.float64)
                                    walking = False
                            else:
                                w = z
                                walking = False
                        elif fresh:
                            walking = False
                            searching = False
                        else:
                            M = _inverse(A, used, slots, S)
                            fresh = True
                    if moved:
                        barred = cols < 0
        else:
            searching = False
            uneven = tl.max(tl.where(inside, tl.abs(gradient - level), 0.0), 0)
            if uneven <= _LEVEL:
                ending = 0
    tl.store(endings + row, ending)
    if ending == 0:
        tl.store(weights + row * K + face, w / tl.sum(w, 0), mask=face >= 0)

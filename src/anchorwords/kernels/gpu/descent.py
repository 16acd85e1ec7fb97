"""Non-negative least squares by coordinate descent, one tile of rows per program.

Notation is that of :mod:`anchorwords.refine.least_squares`; for a tile of R rows and a block of B coordinates,

slope : (B, R)   P - W G of the block, transposed

The slopes of a block are computed when its turn comes, with every change so far; within the block, changes are passed
on one coordinate at a time. A round so costs little more than the product W G, and as P and W are transposed before,
every row belongs to one thread, which never has to ask another.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from .memory import temporary_bytes, with_less_memory
from .tensors import block_of, on_device

# Coordinates of a block, at most, and rows of a tile: two rows for every thread of a warp, whose slopes take 64
# registers.
_BLOCK, _TILE = 16, 64


def descend(P: Any, G: Any, W: Any, rounds: int, n_jobs: int | None = None) -> Any:  # noqa: ARG001
    """Improve the rows of W, in place where they are contiguous."""
    W = on_device(W, W.device, torch.float64)
    P, G = (on_device(array, W.device, torch.float64) for array in (P, G))
    n, K = W.shape
    if n and K:
        B = min(_BLOCK, block_of(K, 2))
        padded = torch.zeros((_up(K, B), _up(K, B)), dtype=torch.float64, device=W.device)
        padded[:K, :K] = G
        _descend_from([0], P, padded, W, rounds, B)
    return W


@with_less_memory
def _descend_from(reached: list[int], P: Any, G: Any, W: Any, rounds: int, B: int) -> None:
    """Go on where a failed attempt stopped: no row is improved twice."""
    n, K = W.shape
    most = max(_TILE, temporary_bytes() // (2 * 8 * G.shape[0]) // _TILE * _TILE)
    while reached[0] < n:
        first, last = reached[0], min(reached[0] + most, n)
        m = last - first
        turned = torch.zeros((2, G.shape[0], _up(m, _TILE)), dtype=torch.float64, device=W.device)
        turned[0, :K, :m] = P[first:last].T
        turned[1, :K, :m] = W[first:last].T
        stride = turned.shape[2]
        _descend[(stride // _TILE,)](
            *(turned[0], G, turned[1], stride, K, G.shape[0], rounds), R=_TILE, B=B, num_warps=1
        )
        W[first:last] = turned[1, :K, :m].T
        reached[0] = last


def _up(n: int, multiple: int) -> int:
    """The smallest multiple that is not less than n."""
    return -(-n // multiple) * multiple


@triton.jit
def _descend(P, G, W, n, K, padded, rounds, R: tl.constexpr, B: tl.constexpr):
    """Rounds of one tile of P and W (padded, n). Padding is zero: its coordinates stay because their G is."""
    rows = tl.program_id(0) * R + tl.arange(0, R)
    places = tl.arange(0, B)
    P += rows
    W += rows
    done = 0
    while done < rounds:
        done += 1
        moved = tl.zeros((R,), tl.int32)
        for first in range(0, K, B):
            block = first + places
            slope = tl.load(P[None, :] + block[:, None] * n)
            w = tl.load(W)
            for k in range(K):
                w_next = tl.load(W + tl.minimum(k + 1, K - 1) * n)  # asked for before it is needed
                slope -= tl.load(G + k * padded + block)[:, None] * w[None, :]
                w = w_next
            for place in tl.static_range(B):
                k = first + place
                g = tl.load(G + k * padded + block)
                own = tl.load(G + k * padded + k)
                old = tl.load(W + k * n)
                mine = tl.sum(tl.where(places[:, None] == place, slope, 0.0), 0)
                new = tl.where(own > 0.0, tl.maximum(old + mine / tl.where(own > 0.0, own, 1.0), 0.0), old)
                change = new - old
                moved = tl.where(change != 0.0, 1, moved)
                slope -= g[:, None] * change[None, :]
                tl.store(W + k * n, new)
            tl.debug_barrier()
        done = tl.where(tl.max(moved, 0) > 0, done, rounds)

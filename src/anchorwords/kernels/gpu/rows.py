"""Sums over the entries of sparse rows of any length: the product of a sparse matrix and a dense one.

Notation
--------
X : (M, N)       sparse rows; row i has entries (j, x)
V : (N, k)       dense, float64 or float32
s_i : (k,)       sum of x V_j over the entries of row i, in the precision of V

The lengths of rows may follow Zipf's law: a frequent word is in most documents, most words are in a few. Rows are therefore
cut into *chunks* of a fixed number of entries. One program sums one chunk; the sums of the chunks of a long row are kept
apart, and added in order by a second kernel. The order of every sum follows from the lengths of rows alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from .memory import temporary_bytes
from .tensors import block_of

# Entries of a chunk: about 100 us of work for one program, so that the longest rows do not keep the others waiting.
_ENTRIES = 1024
# Columns of a sum that one program makes at most.
_COLUMNS = 256
# Numbers that a warp holds of V at a time (32 doubles per thread), most columns of them, and most entries. Programs of one
# warp have no sums across warps, for which these would have to wait for each other.
_TILE, _OF_WARP, _TALLEST = 1024, 256, 16
# Columns up to which sums alone are made by more warps.
_NARROW = 32


class Chunks(NamedTuple):
    """Rows of a sparse matrix cut into chunks; depends on ``indptr`` alone, so that callers may keep it.

    Attributes
    ----------
    row_of : (chunks,) int32 tensor
        Row of each chunk.
    first : (rows + 1,) int64 tensor
        First chunk of each row. An empty row has one.
    long : (n,) int64 tensor
        Rows of more than one chunk.
    slot : (rows,) int64 tensor
        Where the sums of the chunks of a long row begin among all that are kept apart.
    n_slots : int
        How many these are.
    """

    row_of: Any
    first: Any
    long: Any
    slot: Any
    n_slots: int


def chunks_of(indptr: Any) -> Chunks:
    """Cut the rows of a CSR matrix, whose ``indptr`` is on the device, into chunks."""
    number = torch.clamp((indptr.diff() + (_ENTRIES - 1)) // _ENTRIES, min=1)
    first = torch.zeros_like(indptr)
    torch.cumsum(number, 0, out=first[1:])
    rows = torch.arange(number.numel(), dtype=torch.int32, device=indptr.device)
    apart = torch.where(number > 1, number, 0)
    slots = torch.cumsum(apart, 0)
    n_chunks, n_slots = (0, 0) if not number.numel() else torch.stack([first[-1], slots[-1]]).tolist()
    row_of = torch.repeat_interleave(rows, number, output_size=n_chunks)
    return Chunks(row_of, first, torch.nonzero(number > 1).reshape(-1), slots - apart, n_slots)


def tile_of(columns: int) -> dict[str, int]:
    """Options of a kernel: entries T and columns BK that a program goes through at a time, powers of two, and its warps."""
    wide = block_of(columns, 8)
    if wide <= _NARROW:  # many entries at a time, so that enough of them are on their way
        return {"T": min(64, _TILE // wide), "BK": wide, "num_warps": 2 if wide < 16 else 4}
    return {"T": max(4, min(_TALLEST, _TILE // wide)), "BK": wide, "num_warps": min(16, max(1, wide // _OF_WARP))}


def row_sums(
    rows: tuple[Any, Any, Any],
    V: Any,
    out: Any = None,
    *,
    places: Any = None,
    weights: Any = None,
    factor: Any = None,
    add: bool = False,
    chunks: Chunks | None = None,
) -> Any:
    """Return the sums s_i, as the rows of ``out`` if that is given.

    Parameters
    ----------
    rows : (indptr, indices, data)
        X on the device; data of any type.
    V : (N, k) tensor
        Contiguous.
    out : (M, k) tensor, optional
        Columns contiguous.
    places : (entries,) int tensor, optional
        Where the number of each entry stands in ``data``; by default numbers stand in the order of entries.
    weights : (M,) tensor, optional
        Factor of each row.
    factor : (M, k) tensor, optional
        Factor of each entry of the result; contiguous.
    add : bool
        Add to what is in ``out``.
    chunks : Chunks, optional
        Those of ``indptr``; found here by default.
    """
    indptr, indices, data = rows
    k = V.shape[1]
    if out is None:
        out = torch.empty((indptr.shape[0] - 1, k), dtype=V.dtype, device=V.device)
    if not out.numel():
        return out
    # All memory is taken before the first kernel changes ``out``: with less memory an operation begins again.
    chunks = chunks_of(indptr) if chunks is None else chunks
    tile = tile_of(min(k, _COLUMNS))
    wide = tile["BK"]
    # As many columns at a time as there is memory for the sums that are kept apart.
    blocks = -(-k // wide)
    width = wide * max(1, min(blocks, temporary_bytes() // max(8 * wide * chunks.n_slots, 1)))
    parts = torch.empty((chunks.n_slots, min(width, wide * blocks)), dtype=V.dtype, device=V.device)
    ways = {"WEIGHTED": weights is not None, "SCALED": factor is not None, "ADDED": add}
    # Triton asks for a pointer where an argument is not used, too.
    weights, factor = (out if given is None else given for given in (weights, factor))
    for start in range(0, k, width):
        grid = -(-min(width, k - start) // wide)
        _sum_chunks[(chunks.row_of.numel(), grid)](
            indptr, indices, data, indices if places is None else places, chunks.row_of, chunks.first, chunks.slot,
            V, weights, factor, out, parts, k, out.stride(0), start, parts.shape[1],
            ENTRIES=_ENTRIES, PLACED=places is not None, **ways, **tile,
        )  # fmt: skip
        if chunks.long.numel():
            _add_parts[(chunks.long.numel(), grid)](
                chunks.long, chunks.first, chunks.slot, parts, weights, factor, out, k, out.stride(0), start,
                parts.shape[1], **ways, **tile,
            )  # fmt: skip
    return out


def transposed(indptr: Any, indices: Any, n_columns: int) -> tuple[Any, Any, Any]:
    """The transposed matrix: its indptr, its indices (rows, in order), and the place of each of its entries here."""
    columns, places = torch.sort(indices, stable=True)
    ends = torch.searchsorted(columns, torch.arange(n_columns + 1, dtype=columns.dtype, device=columns.device))
    rows = torch.arange(indptr.shape[0] - 1, dtype=torch.int32, device=indices.device)
    rows = torch.repeat_interleave(rows, indptr.diff(), output_size=indices.shape[0])
    return ends, rows[places], places


@triton.jit
def _finish(
    row, columns, inside, total, weights, factor, out, k, stride,
    WEIGHTED: tl.constexpr, SCALED: tl.constexpr, ADDED: tl.constexpr,
):  # fmt: skip
    """Write the sum of one row."""
    if WEIGHTED:
        total = total * tl.load(weights + row)
    if SCALED:
        total = total * tl.load(factor + row * k + columns, mask=inside, other=0.0)
    at = row * stride + columns
    if ADDED:
        total += tl.load(out + at, mask=inside, other=0.0)
    tl.store(out + at, total, mask=inside)


@triton.jit
def _sum_chunks(
    indptr, indices, data, places, row_of, first, slot, V, weights, factor, out, parts, k, stride, start, width,
    ENTRIES: tl.constexpr, PLACED: tl.constexpr, WEIGHTED: tl.constexpr, SCALED: tl.constexpr, ADDED: tl.constexpr,
    T: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0).to(tl.int64)
    row = tl.load(row_of + chunk).to(tl.int64)
    before = tl.load(first + row)
    n_chunks = tl.load(first + row + 1) - before
    begin = tl.load(indptr + row) + (chunk - before) * ENTRIES
    end = tl.minimum(begin + ENTRIES, tl.load(indptr + row + 1))
    columns = start + tl.program_id(1) * BK + tl.arange(0, BK)
    inside = columns < k
    sums = tl.zeros((T, BK), dtype=V.dtype.element_ty)
    for q in range(begin, end, T):
        entries = q + tl.arange(0, T)
        there = entries < end
        x_at = tl.load(places + entries, mask=there, other=0) if PLACED else entries
        x = tl.load(data + x_at, mask=there, other=0).to(V.dtype.element_ty)
        j = tl.load(indices + entries, mask=there, other=0).to(tl.int64)
        v = tl.load(V + j[:, None] * k + columns[None, :], mask=there[:, None] & inside[None, :], other=0.0)
        sums += x[:, None] * v
    total = tl.sum(sums, axis=0)
    if n_chunks == 1:
        _finish(row, columns, inside, total, weights, factor, out, k, stride, WEIGHTED, SCALED, ADDED)
    else:
        at = (tl.load(slot + row) + chunk - before) * width + (columns - start)
        tl.store(parts + at, total, mask=inside)


@triton.jit
def _add_parts(
    long, first, slot, parts, weights, factor, out, k, stride, start, width,
    WEIGHTED: tl.constexpr, SCALED: tl.constexpr, ADDED: tl.constexpr, T: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    row = tl.load(long + tl.program_id(0))
    begin = tl.load(slot + row)
    end = begin + tl.load(first + row + 1) - tl.load(first + row)
    columns = start + tl.program_id(1) * BK + tl.arange(0, BK)
    inside = columns < k
    total = tl.zeros((BK,), dtype=parts.dtype.element_ty)
    for s in range(begin, end, T):
        chunks = s + tl.arange(0, T)
        mask = (chunks < end)[:, None] & inside[None, :]
        part = tl.load(parts + chunks[:, None] * width + (columns - start)[None, :], mask=mask, other=0.0)
        total += tl.sum(part, axis=0)
    _finish(row, columns, inside, total, weights, factor, out, k, stride, WEIGHTED, SCALED, ADDED)

"""Sums over the entries of sparse rows: products of sparse matrices with dense blocks, the same bits at every run.

Notation
--------
S : (n, m)   sparse, as indptr, indices and values
V : (m, k)   a block of columns

Rows are cut into chunks of bounded length, so that a word of a million documents keeps no processor waiting. The sums of the
chunks of a row are added in their order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from .tensors import block_of

# Entries of a chunk.
_CHUNK = 1024
# Columns that a program sums up, at most, and entries that it reads at a time for a number of columns.
_COLUMNS = 128
_TILE = 1024


class Chunks(NamedTuple):
    """Rows cut into pieces: piece c has the entries from begin[c] to end[c]; row i the pieces from first[i] to first[i + 1].

    ``first`` is None if every row is one piece.
    """

    begin: Any
    end: Any
    first: Any


def chunks_of(indptr: Any) -> Chunks:
    """The pieces of the rows of a CSR matrix."""
    begin, end = indptr[:-1], indptr[1:]
    if begin.shape[0] == 0 or int((end - begin).max()) <= _CHUNK:
        return Chunks(begin.contiguous(), end.contiguous(), None)
    numbers = torch.clamp((end - begin + _CHUNK - 1) // _CHUNK, min=1)
    first = torch.zeros(numbers.shape[0] + 1, dtype=torch.int64, device=indptr.device)
    torch.cumsum(numbers, 0, out=first[1:])
    row = torch.repeat_interleave(torch.arange(numbers.shape[0], device=indptr.device), numbers)
    start = begin[row] + _CHUNK * (torch.arange(row.shape[0], device=indptr.device) - first[row])
    return Chunks(start, torch.minimum(start + _CHUNK, end[row]), first)


def row_sums(
    chunks: Chunks, indices: Any, values: Any, V: Any, *, places: Any = None, scale: Any = None, out: Any = None
) -> Any:
    """S V, each row multiplied by its ``scale`` if there is one, in the precision of V.

    ``values`` may be of any type; entry q has the value ``values[places[q]]`` if places are given. The result is added to
    ``out`` if that is given.
    """
    n_chunks, k = chunks.begin.shape[0], V.shape[1]
    n = n_chunks if chunks.first is None else chunks.first.shape[0] - 1
    V = V if V.stride(1) == 1 or k == 1 else V.contiguous()
    adds = out is not None
    if out is None:
        out = torch.empty((n, k), dtype=V.dtype, device=V.device)
    if n == 0 or k == 0:
        return out
    columns = min(block_of(k, 4), _COLUMNS)
    tile = max(8, min(64, _TILE // columns))
    grid = (n_chunks, triton.cdiv(k, columns))
    direct = chunks.first is None
    sums = out if direct else torch.empty((n_chunks, k), dtype=V.dtype, device=V.device)
    _sum_chunks[grid](
        chunks.begin, chunks.end, indices, values, places, V, scale, sums, k, V.stride(0), sums.stride(0),
        T=tile, BK=columns, HAS_PLACES=places is not None, HAS_SCALE=direct and scale is not None, ADDS=direct and adds,
        num_warps=2 if tile * columns <= 512 else 4,
    )  # fmt: skip
    if not direct:
        _sum_pieces[(n, grid[1])](
            chunks.first, sums, scale, out, k, out.stride(0), BK=columns, HAS_SCALE=scale is not None, ADDS=adds,
            num_warps=1,
        )  # fmt: skip
    return out


@triton.jit
def _sum_chunks(
    begin, end, indices, values, places, V, scale, out, k, V_stride, out_stride,
    T: tl.constexpr, BK: tl.constexpr, HAS_PLACES: tl.constexpr, HAS_SCALE: tl.constexpr, ADDS: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BK + tl.arange(0, BK)
    inside = columns < k
    last = tl.load(end + chunk)
    total = tl.zeros([T, BK], dtype=V.dtype.element_ty)
    for start in range(tl.load(begin + chunk), last, T):
        entry = start + tl.arange(0, T)
        there = entry < last
        i = tl.load(indices + entry, mask=there, other=0).to(tl.int64)
        at = tl.load(places + entry, mask=there, other=0).to(tl.int64) if HAS_PLACES else entry
        x = tl.load(values + at, mask=there, other=0).to(V.dtype.element_ty)
        v = tl.load(V + i[:, None] * V_stride + columns[None, :], mask=there[:, None] & inside[None, :], other=0.0)
        total += x[:, None] * v
    found = tl.sum(total, axis=0)
    if HAS_SCALE:
        found = found * tl.load(scale + chunk)
    if ADDS:
        found += tl.load(out + chunk * out_stride + columns, mask=inside, other=0.0)
    tl.store(out + chunk * out_stride + columns, found, mask=inside)


@triton.jit
def _sum_pieces(
    first, pieces, scale, out, k, out_stride, BK: tl.constexpr, HAS_SCALE: tl.constexpr, ADDS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BK + tl.arange(0, BK)
    inside = columns < k
    total = tl.zeros([BK], dtype=pieces.dtype.element_ty)
    for chunk in range(tl.load(first + row), tl.load(first + row + 1)):
        total += tl.load(pieces + chunk * k + columns, mask=inside, other=0.0)
    if HAS_SCALE:
        total = total * tl.load(scale + row)
    if ADDS:
        total += tl.load(out + row * out_stride + columns, mask=inside, other=0.0)
    tl.store(out + row * out_stride + columns, total, mask=inside)


def transposed(indptr: Any, indices: Any, n_columns: int) -> tuple[Any, Any, Any]:
    """The transposed matrix: its indptr, its indices (rows, in order), and the place of each of its entries here."""
    columns, places = torch.sort(indices, stable=True)
    ends = torch.searchsorted(columns, torch.arange(n_columns + 1, dtype=columns.dtype, device=columns.device))
    lengths = indptr[1:] - indptr[:-1]
    rows = torch.repeat_interleave(torch.arange(lengths.shape[0], dtype=torch.int32, device=indices.device), lengths)
    return ends, rows[places], places

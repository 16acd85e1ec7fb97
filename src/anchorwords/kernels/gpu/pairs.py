"""E as a sparse matrix on a GPU: the negative entries of Y Y', found by tiles and packed as bits.

Notation
--------
Y : (N, K)   compression, its rows sorted so that the checked words come first
I            the first n rows
E : (N, N)   max(-Y Y', 0) on rows I and columns I, zero elsewhere
pairs        (j, i) with i in I and i < j whose entry is, or may be, negative: likely pairs

A sweep computes the cosines of the rows tile by tile, as matrix products in single precision, and keeps one bit of each:
whether it is below its rounding error. The bits are counted and turned into two lists of pairs, by row j and by partner i.
Their entries are computed afterwards in double precision, and likely pairs that turn out to be positive have the entry zero.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..protocol import NegativePart, TooDense
from ..tiled import TiledCorrection, most_pairs
from .current import on_its_device
from .memory import temporary_bytes, with_less_memory
from .rows import Chunks, chunks_of, row_sums
from .tensors import block_of

# Pairs are listed up to this share of the entries on the checked rows; more of them are quicker by tiles.
_DENSE = 0.04
# Fewer pairs than this are always listed.
_FEW = 1 << 20
# Rows that a first look takes at least, and how far above the limit its estimate is believed.
_SAMPLE, _SURELY = 2048, 1.2
# Rows of Y that are shorter than this count as zero, as for the numba kernels.
_SHORTEST = 1e-150
# Rows and partners of a tile of bits that one program packs.
_PACK = 64
# Words of bits that one program unpacks.
_UNPACK = 32
# Entries of a tile that one program goes over.
_CLIP = 4096


@with_less_memory
def negative_part(Y: Any, n_checked: int) -> NegativePart:
    """E as a sparse matrix, or by tiles where it has too many entries to be worth keeping."""
    try:
        return PackedCorrection(Y, n_checked)
    except TooDense:
        return TiledOnGpu(Y, n_checked)


@on_its_device
class TiledOnGpu(TiledCorrection):
    """E by tiles, each of which is read and written once between its matrix products."""

    def __init__(self, Y: Any, n_checked: int) -> None:
        super().__init__(Y, n_checked)
        self._device = Y.device
        self._latest: Any = None

    @property
    def _width(self) -> int:
        return max(1, temporary_bytes() // (24 * self._n))

    @with_less_memory
    def times(self, V: Any) -> Any:
        """E V."""
        return super().times(V)

    @with_less_memory
    def curvature(self, V: Any, P: Any) -> Any:
        """D(P V' + V P') V."""
        return super().curvature(V, P)

    def _clipped(self, start: int, stop: int, dtype: Any) -> Any:
        tile = self._tile(start, stop)
        clipped = torch.empty(tile.shape, dtype=dtype, device=tile.device)
        blocks = triton.cdiv(tile.numel(), _CLIP)
        self._latest = torch.empty((3, blocks), dtype=torch.float64, device=tile.device)
        _clip[(blocks,)](tile, clipped, self._latest, tile.numel(), blocks, B=_CLIP, num_warps=4)
        return clipped

    def _measures(self, S: Any) -> tuple[Any, Any, Any]:  # noqa: ARG002
        total, squares, largest = self._latest
        return total.sum(), squares.sum(), largest.max()

    def _where_negative(self, tile: Any, moved: Any) -> Any:
        _keep_negative[(triton.cdiv(tile.numel(), _CLIP),)](tile, moved, tile.numel(), B=_CLIP, num_warps=4)
        return moved


@on_its_device
class PackedCorrection:
    """E for one Y as two lists of pairs, see :class:`anchorwords.kernels.protocol.NegativePart`.

    Parameters
    ----------
    Y : (N, K) tensor
        Checked rows first.
    n_checked : int
        |I|.

    Raises
    ------
    TooDense
        If more entries are negative than are worth a list.
    """

    def __init__(self, Y: Any, n_checked: int) -> None:
        self._n, self._device = n_checked, Y.device
        # Of the entries on the checked rows, each pair is two.
        most = min(most_pairs(Y), max(_FEW, _DENSE * n_checked * Y.shape[0] / 2))
        if n_checked * Y.shape[0] > most and _sampled_pairs(Y, n_checked) > _SURELY * most:
            raise TooDense
        bits, partner_bits = _packed_cosines(Y, n_checked)
        starts, self._indptr = _bounds_of(bits)
        n_pairs = int(self._indptr[-1])
        if n_pairs > most:
            raise TooDense
        # The same by partner, with the place of each pair in the list by row.
        partner_starts, self._partner_indptr = _bounds_of(partner_bits)
        self._partners, self._rows, self._places = (
            torch.empty(n_pairs, dtype=torch.int32, device=Y.device) for _ in range(3)
        )
        if n_pairs:
            width = bits.shape[1]
            _unpack_rows[(triton.cdiv(bits.numel(), _UNPACK),)](
                bits, starts, self._partners, bits.numel(), width, W=_UNPACK, num_warps=2
            )
            _unpack_partners[(triton.cdiv(partner_bits.numel(), _UNPACK),)](
                partner_bits, partner_starts, bits, starts, self._rows, self._places, partner_bits.numel(),
                partner_bits.shape[1], width, W=_UNPACK, num_warps=2,
            )  # fmt: skip
        self._by_row: Chunks = chunks_of(self._indptr)
        self._by_partner: Chunks = chunks_of(self._partner_indptr)
        del bits, partner_bits, starts, partner_starts

        Y, K = Y.contiguous(), Y.shape[1]
        self._values = torch.empty(n_pairs, dtype=Y.dtype, device=Y.device)
        total = squares = largest = 0.0
        if n_pairs:
            columns, values = block_of(K, 16), self._values
            _pair_entries[(Y.shape[0],)](
                self._indptr, Y, self._partners, values, K, T=max(4, min(64, 4096 // columns)), BK=columns, num_warps=4
            )
            total, squares, largest = torch.stack([values.sum(), (values * values).sum(), values.max()]).tolist()
        self.total, self.squares, self.min_entry = 2.0 * total, 2.0 * squares, -largest

    @property
    def n_pairs(self) -> int:
        """Number of likely pairs."""
        return int(self._partners.shape[0])

    def pairs(self) -> tuple[Any, Any]:
        """Rows j and partners i < j of the negative entries, sorted."""
        lengths = self._indptr[1:] - self._indptr[:-1]
        rows = torch.repeat_interleave(torch.arange(lengths.shape[0], device=lengths.device), lengths)
        negative = self._values > 0.0
        return rows[negative], self._partners[negative].to(torch.int64)

    @with_less_memory
    def times(self, V: Any) -> Any:
        """E V, in the precision of V."""
        V = V.contiguous()
        out = row_sums((self._indptr, self._partners, self._values), V, chunks=self._by_row)
        return self._with_mirror(out, self._values, V)

    @with_less_memory
    def curvature(self, V: Any, P: Any) -> Any:
        """D(P V' + V P') V."""
        V = V.contiguous()
        moved = torch.empty(self._partners.shape[0], dtype=V.dtype, device=V.device)
        out = torch.empty(V.shape, dtype=V.dtype, device=V.device)
        K = V.shape[1]
        columns = block_of(K, 16)
        _moved_entries[(V.shape[0],)](
            self._indptr, self._partners, self._values, V, P.contiguous(), moved, out, K,
            T=max(4, min(32, 2048 // columns)), BK=columns, num_warps=4,
        )  # fmt: skip
        return self._with_mirror(out, moved, V)

    def _with_mirror(self, out: Any, values: Any, V: Any) -> Any:
        """A product by row, with what these entries of the pairs give to the rows of their partners."""
        rows = self._partner_indptr, self._rows, values
        row_sums(rows, V, out[: self._n], places=self._places, add=True, chunks=self._by_partner)
        return out


def _bounds_of(bits: Any) -> tuple[Any, Any]:
    """Where the pairs of each number of bits begin in a list, and those of each row, with the end of the last."""
    counts = _bit_counts(bits)
    ends = torch.cumsum(counts.view(-1), 0, dtype=torch.int64)
    indptr = torch.zeros(bits.shape[0] + 1, dtype=torch.int64, device=bits.device)
    indptr[1:] = ends.view(bits.shape)[:, -1]
    return ends - counts.view(-1), indptr


def _sampled_pairs(Y: Any, n: int) -> float:
    """Number of negative pairs, estimated from some rows."""
    step = max(1, Y.shape[0] // _SAMPLE)
    sample = Y[::step].to(torch.float32)
    j, i = step * torch.arange(sample.shape[0], device=Y.device), torch.arange(n, device=Y.device)
    negative = (sample @ Y[:n].to(torch.float32).T < 0.0) & (i[None, :] < j[:, None])
    return float(negative.sum()) * step


def _packed_cosines(Y: Any, n: int) -> tuple[Any, Any]:
    """Which pairs are likely, as bits: for each row 32 partners in a number, and for each partner 32 rows."""
    N, K = Y.shape
    device = Y.device
    lengths = torch.linalg.vector_norm(Y, dim=1)
    used = lengths > _SHORTEST
    unit = (Y * torch.where(used, 1.0 / torch.where(used, lengths, 1.0), 0.0)[:, None]).to(torch.float32)
    checked = unit[:n].T.contiguous()
    # A sum of K products of rounded numbers, all vectors of length one, is off by less than this.
    exactness = torch.finfo(torch.float32).eps if not _rounds_inputs(device) else 2.0**-9
    threshold = float((K + 4) * exactness)
    bits = torch.empty((N, triton.cdiv(n, 32)), dtype=torch.int32, device=device)
    partner_bits = torch.empty((n, triton.cdiv(N, 32)), dtype=torch.int32, device=device)
    rows = max(_PACK, temporary_bytes() // (8 * n) // _PACK * _PACK)
    for start in range(0, N, rows):
        stop = min(start + rows, N)
        cosines = unit[start:stop] @ checked
        grid = (triton.cdiv(stop - start, _PACK), triton.cdiv(n, _PACK))
        _pack[grid](
            cosines, used, bits, partner_bits, threshold, start, stop - start, n, bits.shape[1], partner_bits.shape[1],
            BJ=_PACK, BI=_PACK, num_warps=4,
        )  # fmt: skip
    return bits, partner_bits


def _rounds_inputs(device: Any) -> bool:
    """Whether matrix products round their factors to half of single precision, as the user may have asked torch for."""
    return device.type == "cuda" and torch.get_float32_matmul_precision() != "highest"


def _bit_counts(bits: Any) -> Any:
    counts = torch.empty_like(bits)
    if bits.numel():
        _count[(triton.cdiv(bits.numel(), 1024),)](bits, counts, bits.numel(), B=1024, num_warps=4)
    return counts


@triton.jit
def _clip(tile, clipped, measures, size, width, B: tl.constexpr):
    """Entries of E from those of a tile; sum, sum of squares and largest of each block, in double precision."""
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    entries = tl.maximum(-tl.load(tile + at, mask=at < size, other=0.0), 0.0)
    tl.store(clipped + at, entries.to(clipped.dtype.element_ty), mask=at < size)
    entries = entries.to(tl.float64)
    block = tl.program_id(0)
    tl.store(measures + block, tl.sum(entries, axis=0))
    tl.store(measures + width + block, tl.sum(entries * entries, axis=0))
    tl.store(measures + 2 * width + block, tl.max(entries, axis=0))


@triton.jit
def _keep_negative(tile, moved, size, B: tl.constexpr):
    """Set entries of a matrix to zero, in place, where those of a tile are not negative."""
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    negative = tl.load(tile + at, mask=at < size, other=0.0) < 0.0
    tl.store(moved + at, tl.where(negative, tl.load(moved + at, mask=at < size, other=0.0), 0.0), mask=at < size)


@triton.jit
def _pack(
    cosines, used, bits, partner_bits, threshold, first, n_rows, n, width, partner_width,
    BJ: tl.constexpr, BI: tl.constexpr,
):  # fmt: skip
    """Bits of a tile of rows j = first + row and partners i < min(j, n), along either axis."""
    row = tl.program_id(0) * BJ + tl.arange(0, BJ)
    i = tl.program_id(1) * BI + tl.arange(0, BI)
    j = first + row
    there = (row < n_rows)[:, None] & (i < n)[None, :]
    near = tl.load(cosines + row[:, None].to(tl.int64) * n + i[None, :], mask=there, other=1.0) < threshold
    own = tl.load(used + j, mask=row < n_rows, other=0) != 0
    other = tl.load(used + i, mask=i < n, other=0) != 0
    set_ = (near & there & (i[None, :] < j[:, None]) & own[:, None] & other[None, :]).to(tl.int32)
    shift = tl.arange(0, 32)
    by_row = tl.sum(tl.reshape(set_, (BJ, BI // 32, 32)) << shift[None, None, :], axis=2)
    word = tl.program_id(1) * (BI // 32) + tl.arange(0, BI // 32)
    tl.store(
        bits + j[:, None].to(tl.int64) * width + word[None, :],
        by_row,
        mask=(row < n_rows)[:, None] & (word < width)[None, :],
    )
    by_partner = tl.sum(tl.reshape(set_, (BJ // 32, 32, BI)) << shift[None, :, None], axis=1)
    word = (first // 32) + tl.program_id(0) * (BJ // 32) + tl.arange(0, BJ // 32)
    tl.store(
        partner_bits + i[None, :].to(tl.int64) * partner_width + word[:, None],
        by_partner,
        mask=(i < n)[None, :] & (word < partner_width)[:, None],
    )


@triton.jit
def _ones(x):
    """Number of bits that are set."""
    x = x.to(tl.uint32, bitcast=True)
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) >> 24).to(tl.int32)


@triton.jit
def _count(bits, counts, size, B: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    tl.store(counts + at, _ones(tl.load(bits + at, mask=at < size, other=0)), mask=at < size)


@triton.jit
def _unpack_rows(bits, starts, partners, size, width, W: tl.constexpr):
    """The partners of each row: bit b of word w of a row is partner 32 w + b."""
    at = tl.program_id(0).to(tl.int64) * W + tl.arange(0, W)
    word = tl.load(bits + at, mask=at < size, other=0)[:, None]
    b = tl.arange(0, 32)[None, :]
    before = _ones(word & ((1 << b) - 1))
    place = tl.load(starts + at, mask=at < size, other=0)[:, None] + before
    partner = (at % width)[:, None].to(tl.int32) * 32 + b
    tl.store(partners + place, partner, mask=((word >> b) & 1) != 0)


@triton.jit
def _unpack_partners(
    partner_bits, starts, bits, row_starts, rows, places, size, width, row_width, W: tl.constexpr
):  # fmt: skip
    """The rows of each partner, and the place of each of these pairs in the list by row."""
    at = tl.program_id(0).to(tl.int64) * W + tl.arange(0, W)
    word = tl.load(partner_bits + at, mask=at < size, other=0)[:, None]
    b = tl.arange(0, 32)[None, :]
    there = ((word >> b) & 1) != 0
    place = tl.load(starts + at, mask=at < size, other=0)[:, None] + _ones(word & ((1 << b) - 1))
    j = (at % width)[:, None].to(tl.int32) * 32 + b
    i = (at // width)[:, None].to(tl.int32) + tl.zeros_like(b)
    of_row = j.to(tl.int64) * row_width + i // 32
    mine = tl.load(bits + of_row, mask=there, other=0)
    in_list = tl.load(row_starts + of_row, mask=there, other=0) + _ones(mine & ((1 << (i % 32)) - 1))
    tl.store(rows + place, j, mask=there)
    tl.store(places + place, in_list.to(tl.int32), mask=there)


@triton.jit
def _pair_entries(indptr, Y, partners, out, K, T: tl.constexpr, BK: tl.constexpr):
    """Entries of E for row j and each of its partners."""
    j = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BK)
    inside = k < K
    own = tl.load(Y + j * K + k, mask=inside, other=0.0)
    last = tl.load(indptr + j + 1)
    for start in range(tl.load(indptr + j), last, T):
        pair = start + tl.arange(0, T)
        there = pair < last
        i = tl.load(partners + pair, mask=there, other=0).to(tl.int64)
        other = tl.load(Y + i[:, None] * K + k[None, :], mask=there[:, None] & inside[None, :], other=0.0)
        entry = tl.sum(own[None, :] * other, axis=1)
        tl.store(out + pair, tl.maximum(-entry, 0.0), mask=there)


@triton.jit
def _moved_entries(indptr, partners, values, V, P, moved, out, K, T: tl.constexpr, BK: tl.constexpr):
    """Entries of P V' + V P' at the negative pairs of row j, and the row of their product with V."""
    j = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BK)
    inside = k < K
    v_j = tl.load(V + j * K + k, mask=inside, other=0.0)
    p_j = tl.load(P + j * K + k, mask=inside, other=0.0)
    total = tl.zeros([T, BK], dtype=V.dtype.element_ty)
    last = tl.load(indptr + j + 1)
    for start in range(tl.load(indptr + j), last, T):
        pair = start + tl.arange(0, T)
        there = pair < last
        negative = tl.load(values + pair, mask=there, other=0.0) > 0.0
        i = tl.load(partners + pair, mask=there, other=0).to(tl.int64)
        at = i[:, None] * K + k[None, :]
        v_i = tl.load(V + at, mask=negative[:, None] & inside[None, :], other=0.0)
        p_i = tl.load(P + at, mask=negative[:, None] & inside[None, :], other=0.0)
        entry = tl.sum(p_j[None, :] * v_i + v_j[None, :] * p_i, axis=1)
        tl.store(moved + pair, entry, mask=there)
        total += entry[:, None] * v_i
    tl.store(out + j * K + k, tl.sum(total, axis=0), mask=inside)

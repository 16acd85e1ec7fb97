"""Topic proportions of documents on a GPU: one program per document, from the first EM step to the certificate.

The problem and the notation are those of :mod:`anchorwords.infer.penalised`, and the course of the computation is that of
:mod:`anchorwords.kernels.proportions`: ten EM steps, penalties, then Newton steps until the gap is closed. Only the solution
of a Newton step differs.

Notation
--------
T               distinct words of a document, in tiles of BT
rows : (T, K)   p(word | topic) of its words, columns divided by d; ``factor`` is 1 / d, so that topics are read as they are
p : (T,)        rows w
root : (T,)     square roots of share / p^2: the likelihood's curvature is U'U with U = root rows
h : (K,)        its diagonal
D : (K,)        the prior's curvature

A Newton step solves (U'U + D) move = slope for the topics that depend on each other, by conjugate gradients with the
diagonal h + D as preconditioner. A product with the curvature reads the document's rows once, from the caches, and the
matrix is never formed. Topics along which the likelihood curves much less than the prior move by themselves, so few
directions are left and about four products per step are enough. Systems are solved loosely at first, and more closely as the
document gets nearer to its solution.

EM steps and products with the curvature are in single precision, and what is certified is in double precision, as in
numba's kernel. Documents that this does not solve are left to that kernel.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import triton
import triton.language as tl

from ..._namespace import to_numpy
from .. import numba_kernels
from ..newton import KEEP
from ..protocol import PROPORTIONS_GAP, CsrParts, Proportions
from .memory import temporary_bytes, with_less_memory
from .tensors import block_of, csr_on_device, on_device

_EM_STEPS = tl.constexpr(10)
# Documents usually need 6 to 12. More are only needed for nearly identical topics under a very weak prior, and there the
# direct solver of numba's kernel needs far fewer.
_NEWTON_STEPS = tl.constexpr(40)
_GAP = tl.constexpr(PROPORTIONS_GAP)
# A step goes this share of the way to zero at most.
_FARTHEST = tl.constexpr(1.0 - KEEP)
# A topic moves by itself where the likelihood's curvature along it is less than this share of the prior's.
_COUPLED = tl.constexpr(0.2)
# Limits on the products for one Newton step: directions, and how often topics may be stopped before the rest moves on.
_DIRECTIONS, _ROUNDS = tl.constexpr(60), tl.constexpr(6)
# The squared error of a Newton step is at most this share of that of no step, and less near the solution.
_LOOSE = tl.constexpr(0.01)
# Trials of a line search.
_TRIALS = tl.constexpr(30)
# Words per step of loops that only read p and q.
_LINE = tl.constexpr(128)
# Entries of a tile of rows, and columns up to which four warps hold it.
_TILE, _NARROW = 2048, 256
# More topics than this are left to numba.
_MOST_TOPICS = 1024
# Temporary bytes per entry: counts, p, q and root, and indices on the way to counts.
_ENTRY_BYTES = 40


@with_less_memory
def compose(
    rows: CsrParts, topics: Any, chance: Any, prior: tuple[Any, Any, Any], n_jobs: int | None, device: Any
) -> Proportions:
    """Topic proportions; no document's answer depends on another's, and threads work on those left to the host."""
    topics, chance = on_device(topics, device, torch.float32), on_device(chance, device, torch.float64)
    alpha, penalties, parameters = (on_device(part, device, torch.float64) for part in prior)
    ends = to_numpy(rows[0], dtype=np.int64)
    M, K = ends.size - 1, topics.shape[1]
    found = Proportions(
        (parameters / parameters.sum()).repeat(M, 1),
        *(torch.zeros(M, dtype=torch.float64, device=device) for _ in range(3)),
    )
    if K <= _MOST_TOPICS:
        known = topics.sum(dim=1) > 0.5  # one, or zero
        aligned, penalised = _aligned(topics), bool((penalties > 0.0).any())
        for first, last in _blocks(ends):
            indptr, words, data = csr_on_device(_between(rows, ends, first, last), device)
            counts = torch.where((data > 0.0) & known.index_select(0, words), data.to(torch.float64), 0.0)
            _compose_block(
                (indptr, words, counts), aligned, chance, (alpha, penalties, parameters), penalised,
                Proportions(*(part[first:last] for part in found)),
            )  # fmt: skip
        unsolved = torch.nonzero(~(found.gap <= PROPORTIONS_GAP)).flatten()
    else:
        unsolved = torch.arange(M, device=device)
    if unsolved.numel() > 0:
        _on_host(rows, ends, topics, chance, (alpha, penalties, parameters), n_jobs, unsolved, found)
    return found


def _aligned(topics: Any) -> Any:
    """The rows, padded with zeros, so that each begins at an address where four numbers load at once.

    Always: how they load decides on the order of sums, which is not to depend on how much memory there is.
    """
    N, K = topics.shape
    stride = -(-K // 32) * 32
    if stride == K:
        return topics
    aligned = torch.zeros((N, stride), dtype=torch.float32, device=topics.device)
    aligned[:, :K] = topics
    return aligned


def _blocks(ends: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Ranges of documents whose entries fit into half the temporary memory, or of one document; only if they have any."""
    most = temporary_bytes() // 2 // _ENTRY_BYTES
    bounds = [0]
    while bounds[-1] < ends.size - 1:
        last = int(np.searchsorted(ends, ends[bounds[-1]] + most, side="right")) - 1
        bounds.append(max(bounds[-1] + 1, last))
    return [(first, last) for first, last in pairwise(bounds) if ends[last] > ends[first]]


def _between(rows: CsrParts, ends: npt.NDArray[np.int64], first: int, last: int) -> CsrParts:
    """Documents from ``first`` up to ``last``."""
    start, stop = int(ends[first]), int(ends[last])
    return ends[first : last + 1] - start, rows[1][start:stop], rows[2][start:stop]


def _compose_block(
    rows: tuple[Any, Any, Any],
    topics: Any,
    chance: Any,
    prior: tuple[Any, Any, Any],
    penalised: bool,
    found: Proportions,
) -> None:
    """Fill what is found for some documents, of which the counts of unknown words are zero."""
    indptr, words, counts = rows
    p, q = torch.empty_like(counts), torch.empty_like(counts)
    root = torch.empty(counts.shape, dtype=torch.float32, device=counts.device)
    # The longest documents first, so that none is left over when all others are done.
    order = torch.sort(indptr[1:] - indptr[:-1], descending=True, stable=True).indices
    K = found.weights.shape[1]
    BK = block_of(K, 16)
    _compose_document[(order.numel(),)](
        order, indptr, words, counts, topics, topics.stride(0), chance, *prior, p, q, root, *found, K,
        PENALISED=penalised, BT=min(64, max(4, _TILE // BK)), BK=BK, num_warps=4 if BK <= _NARROW else 8,
    )  # fmt: skip


def _on_host(
    rows: CsrParts,
    ends: npt.NDArray[np.int64],
    topics: Any,
    chance: Any,
    prior: tuple[Any, Any, Any],
    n_jobs: int | None,
    documents: Any,
    found: Proportions,
) -> None:
    """Fill what is found for the documents by the kernel for the processor."""
    chosen = to_numpy(documents, dtype=None)
    lengths = ends[chosen + 1] - ends[chosen]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(ends[chosen] - indptr[:-1], lengths) + np.arange(indptr[-1])
    words, counts = to_numpy(rows[1], dtype=np.int32)[places], to_numpy(rows[2])[places]
    alpha, penalties, parameters = map(to_numpy, prior)
    solved = numba_kernels.compose(
        (indptr, words, counts), to_numpy(topics, dtype=None), to_numpy(chance), (alpha, penalties, parameters), n_jobs
    )
    for part, values in zip(found, solved, strict=True):
        part[documents] = on_device(values, part.device)


@triton.jit
def _tile(words, values, t, stop, topics, stride, columns, BT: tl.constexpr):
    """Places of some words of a document, what stands there, and their rows, zero where that is zero."""
    places = t + tl.arange(0, BT)
    value = tl.load(values + places, mask=places < stop, other=0.0)
    word = tl.load(words + places, mask=places < stop, other=0).to(tl.int64)
    used = (value > 0.0)[:, None] & (columns < stride)[None, :]
    rows = tl.load(topics + word[:, None] * stride + columns[None, :], mask=used, other=0.0)
    return places, value, rows


@triton.jit
def _em_products(words, counts, per_token, start, stop, topics, stride, v, BT: tl.constexpr, BK: tl.constexpr):
    """Return rows' (share / (rows v))."""
    columns = tl.arange(0, BK)
    sums = tl.zeros([BT, BK], tl.float32)
    for t in range(start, stop, BT):
        _, count, tile = _tile(words, counts, t, stop, topics, stride, columns, BT)
        p = tl.where(count > 0.0, tl.sum(tile * v[None, :], axis=1), 1.0)
        r = (count * per_token).to(tl.float32) / p
        sums += tile * r[:, None]
    return tl.sum(sums, axis=0).to(tl.float64)


@triton.jit
def _likelihood_slopes(
    words, counts, per_token, start, stop, topics, stride, v, p_at, root_at, BT: tl.constexpr, BK: tl.constexpr
):
    """Keep p = rows v (one for words without a count) and roots; return rows' (share / p) and the curvature's diagonal."""
    columns = tl.arange(0, BK)
    sums, squares = tl.zeros([BT, BK], tl.float64), tl.zeros([BT, BK], tl.float32)
    for t in range(start, stop, BT):
        places, count, tile = _tile(words, counts, t, stop, topics, stride, columns, BT)
        double = tile.to(tl.float64)
        p = tl.where(count > 0.0, tl.sum(double * v[None, :], axis=1), 1.0)
        r = count * per_token / p
        root = tl.sqrt(r / p).to(tl.float32)
        tl.store(p_at + places, p, mask=places < stop)
        tl.store(root_at + places, root, mask=places < stop)
        sums += double * r[:, None]
        scaled = tile * root[:, None]
        squares += scaled * scaled
    tl.debug_barrier()  # other threads read what was stored
    return tl.sum(sums, axis=0), tl.sum(squares, axis=0).to(tl.float64)


@triton.jit
def _curve(words, root_at, start, stop, topics, stride, v, BT: tl.constexpr, BK: tl.constexpr):
    """Return the product of the likelihood's curvature and v."""
    columns = tl.arange(0, BK)
    sums = tl.zeros([BT, BK], tl.float32)
    for t in range(start, stop, BT):
        _, root, tile = _tile(words, root_at, t, stop, topics, stride, columns, BT)
        u = tl.sum(tile * v[None, :], axis=1) * root
        sums += tile * (u * root)[:, None]
    return tl.sum(sums, axis=0).to(tl.float64)


@triton.jit
def _combine(words, counts, start, stop, topics, stride, v, q_at, BT: tl.constexpr, BK: tl.constexpr):
    """Keep q = rows v."""
    columns = tl.arange(0, BK)
    for t in range(start, stop, BT):
        places, _, tile = _tile(words, counts, t, stop, topics, stride, columns, BT)
        tl.store(q_at + places, tl.sum(tile.to(tl.float64) * v[None, :], axis=1), mask=places < stop)
    tl.debug_barrier()


@triton.jit
def _slope_along(counts, per_token, start, stop, p_at, q_at, length, LINE: tl.constexpr):
    """Slope of the likelihood at p + length q, in the direction of q."""
    sums = tl.zeros([LINE], tl.float64)
    for t in range(start, stop, LINE):
        places = t + tl.arange(0, LINE)
        count = tl.load(counts + places, mask=places < stop, other=0.0)
        p = tl.load(p_at + places, mask=places < stop, other=1.0)
        q = tl.load(q_at + places, mask=places < stop, other=0.0)
        sums += count * per_token * q / (p + length * q)
    return tl.sum(sums, axis=0)


@triton.jit
def _log_likelihood(counts, words, chance, start, stop, p_at, LINE: tl.constexpr):
    sums = tl.zeros([LINE], tl.float64)
    for t in range(start, stop, LINE):
        places = t + tl.arange(0, LINE)
        count = tl.load(counts + places, mask=places < stop, other=0.0)
        word = tl.load(words + places, mask=places < stop, other=0)
        p = tl.load(p_at + places, mask=places < stop, other=1.0) * tl.load(chance + word)
        sums += count * tl.log(tl.where(count > 0.0, p, 1.0))
    return tl.sum(sums, axis=0)


@triton.jit
def _newton_direction(
    words,
    root_at,
    start,
    stop,
    topics,
    stride,
    factor,
    w,
    slope,
    h,
    D,
    gain,
    inside,
    BT: tl.constexpr,
    BK: tl.constexpr,
):
    """Solve (U'U + D) move = slope, no topic going too far: those that would stop there, and the others solve anew."""
    low = -_FARTHEST * w
    diagonal = h + D
    free = inside & (h >= D * _COUPLED)
    move = tl.where(free, 0.0, tl.maximum(slope / D, low))
    enough = tl.sum(slope * slope / diagonal, axis=0) * tl.minimum(gain, _LOOSE)
    rounds = 0
    while rounds < _ROUNDS:
        product = factor * _curve(words, root_at, start, stop, topics, stride, (factor * move).to(tl.float32), BT, BK)
        rest = tl.where(free, slope - D * move - product, 0.0)
        ahead = rest / diagonal
        error = tl.sum(rest * ahead, axis=0)
        tries = 0
        while (tries < _DIRECTIONS) & (error > enough):
            product = factor * _curve(
                words, root_at, start, stop, topics, stride, (factor * ahead).to(tl.float32), BT, BK
            )
            product = tl.where(free, product + D * ahead, 0.0)
            curvature = tl.sum(ahead * product, axis=0)
            # Not positive by rounding alone: what was found so far has to do.
            length = tl.where(curvature > 0.0, error / curvature, 0.0)
            move += length * ahead
            rest -= length * product
            scaled = rest / diagonal
            left = tl.sum(rest * scaled, axis=0)
            ahead = scaled + left / error * ahead
            error = tl.where(curvature > 0.0, left, 0.0)
            tries += 1
        too_far = free & (move < low)
        move = tl.where(too_far, low, move)
        free = free & (move > low)
        rounds = tl.where(tl.sum(too_far.to(tl.int32), axis=0) > 0, rounds + 1, _ROUNDS)
    return move


# Compiled once for all numbers of topics of one BK, and wherever a block of documents begins in memory: another form of the
# kernel may add in another order.
@triton.jit(
    do_not_specialize=["K"],
    do_not_specialize_on_alignment=[
        "order", "indptr", "words", "counts", "p_at", "q_at", "root_at", "weights", "likelihood", "n_known", "gap"
    ],
)  # fmt: skip
def _compose_document(
    order, indptr, words, counts, topics, stride, chance, alpha_at, penalties_at, parameters_at, p_at, q_at, root_at,
    weights, likelihood, n_known, gap, K, PENALISED: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    document = tl.load(order + tl.program_id(0))
    start, stop = tl.load(indptr + document), tl.load(indptr + document + 1)
    counted = tl.zeros([_LINE], tl.float64)
    for t in range(start, stop, _LINE):
        places = t + tl.arange(0, _LINE)
        counted += tl.load(counts + places, mask=places < stop, other=0.0)
    total = tl.sum(counted, axis=0)
    tl.store(n_known + document, total)
    if total > 0.0:
        columns = tl.arange(0, BK)
        inside = columns < K
        infinite = tl.full((), float("inf"), tl.float64)
        alpha = tl.load(alpha_at + columns, mask=inside, other=0.0)
        concentration = tl.sum(alpha, axis=0)
        tokens = total + concentration
        per_token = 1.0 / tokens
        a = alpha / tokens
        # Half the prior's shares, and half even ones.
        first = tl.where(inside, 0.5 * alpha / concentration + tl.full((), 0.5, tl.float64) / K, 0.0)
        w = first
        for step in range(_EM_STEPS):
            g = _em_products(words, counts, per_token, start, stop, topics, stride, w.to(tl.float32), BT, BK)
            w = w * g + a
            if step > 0:
                w = w * g + a
            w = w / tl.sum(w, axis=0)
        # EM may lead out of single precision: then not all numbers are positive, or one is none.
        whole = tl.sum(w, axis=0)
        usable = (tl.sum((inside & (w > 0.0)).to(tl.int32), axis=0) == K) & (whole < infinite)
        w = tl.where(usable, w, first)
        factor = tl.where(inside, 1.0, 0.0).to(tl.float64)
        if PENALISED:
            penalties = tl.load(penalties_at + columns, mask=inside, other=0.0)
            d = tl.minimum(1.0 + penalties / tl.maximum(tokens * w, 1e-300), 1e6)
            factor = (factor / d).to(tl.float32).to(tl.float64)
        gain = infinite
        damping = tl.full((), 0.0, tl.float64)
        w = tl.where(inside, w, 1.0)  # past the last topic: divided by, but in no sum
        step = 0
        while step <= _NEWTON_STEPS:
            g, h = _likelihood_slopes(
                words, counts, per_token, start, stop, topics, stride, factor * w, p_at, root_at, BT, BK
            )
            g, h = g * factor, h * factor * factor
            prior = a / w
            D = tl.where(inside, (tl.maximum(1.0 - g, prior) + damping) / w, 1.0)
            slope = tl.where(inside, g + prior - 1.0, 0.0)
            whole = tl.sum(slope, axis=0)
            gain = tl.where(whole - whole == 0.0, tl.max(slope, axis=0), infinite)
            gain = tl.maximum(gain, 0.0)
            if (gain > _GAP) & (gain < infinite) & (step < _NEWTON_STEPS):
                move = _newton_direction(
                    words, root_at, start, stop, topics, stride, factor, w, slope, h, D, gain, inside, BT, BK
                )
                rise = tl.sum(slope * move, axis=0)
                rises = rise > 0.0
                # Bounds or rounding have turned the move round: that of an EM step always rises.
                move = tl.where(rises, move, w * slope)
                rise = tl.where(rises, rise, tl.sum(w * slope * slope, axis=0))
                _combine(words, counts, start, stop, topics, stride, factor * move, q_at, BT, BK)
                change = tl.sum(move, axis=0)
                length = tl.full((), 1.0, tl.float64)
                tries = 0
                while tries < _TRIALS:
                    ahead = _slope_along(counts, per_token, start, stop, p_at, q_at, length, _LINE) - change
                    ahead += tl.sum(a * move / (w + length * move), axis=0)
                    # Where it falls more than half as steeply as it rose: to where the line through both slopes is zero.
                    steep = ahead < -0.5 * rise
                    length = tl.where(steep, length * rise / (rise - ahead), length)
                    tries = tl.where(steep, tries + 1, _TRIALS)
                w = w + length * move
                w = w / tl.sum(tl.where(inside, w, 0.0), axis=0)
                # Shorter steps where the model of the objective was no good.
                good = rises & (length > 0.5)
                damping = tl.where(good, 0.1 * damping, tl.maximum(10.0 * damping, gain))
                step += 1
            else:
                step = _NEWTON_STEPS + 1
        tl.store(gap + document, tl.where(tokens < infinite, gain, infinite))
        if PENALISED:
            # The mean of the Dirichlet that has the tokens of each topic beside its parameters.
            parameters = tl.load(parameters_at + columns, mask=inside, other=0.0)
            w = tl.where(inside, parameters + tl.maximum(tokens * w - alpha, 0.0), 0.0)
            w = w / tl.sum(w, axis=0)
            _combine(words, counts, start, stop, topics, stride, w, p_at, BT, BK)
        tl.store(weights + document * K + columns, w, mask=inside)
        tl.store(likelihood + document, _log_likelihood(counts, words, chance, start, stop, p_at, _LINE))

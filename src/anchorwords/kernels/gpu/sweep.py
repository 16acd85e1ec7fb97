"""Expected counts of topics in documents and of words in topics, on a GPU; notation of :mod:`anchorwords.refine.sweep`.

One program goes through the words of one document, some at a time, with all topics side by side. Sums over the documents
of a word are those of :mod:`.rows`.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..protocol import Expectation
from .memory import with_less_memory
from .rows import row_sums, tile_of
from .tensors import csr_on_device, on_device

# Documents whose losses one program adds up, and words whose logarithms one program takes at a time.
_DOCS, _WORDS = 32, 64
# The limits of the kernels for the processor: see anchorwords.kernels.sweep.
_LEAST = tl.constexpr(1e-200)
_IMPOSSIBLE = tl.constexpr(1e-290)
_REMAINDER = tl.constexpr(1e-6)


@with_less_memory
def expect(rows: Any, B: Any, alpha: Any, gamma: Any, steps: int, device: Any) -> Expectation:
    """Improve gamma by this number of steps, in place where it is on the device already."""
    indptr, indices, data = csr_on_device(rows, device)
    B, alpha, gamma = (on_device(array, device, torch.float64) for array in (B, alpha, gamma))
    M, K = gamma.shape
    # All memory is taken before gamma changes: with less memory an operation begins again.
    ratio = torch.empty(data.numel(), dtype=torch.float64, device=device)
    v, likelihood = torch.empty_like(gamma), torch.empty_like(gamma[:, 0])
    if M:
        _expect_rows[(M,)](indptr, indices, data, B, alpha, gamma, v, ratio, K, steps, **tile_of(K))
        _add_logarithms[(M,)](indptr, data, ratio, likelihood, T=_WORDS, num_warps=1)
    return Expectation(gamma, v, ratio, likelihood)


@with_less_memory
def gather(by_word: Any, ratio: Any, v: Any, B: Any, words: Any, device: Any) -> Any:
    """Add the expected tokens of every word and topic to ``words``, in place where they are on the device already."""
    indptr, documents, places = csr_on_device(by_word, device)
    ratio, v, B, words = (on_device(array, device, torch.float64) for array in (ratio, v, B, words))
    return row_sums((indptr, documents, ratio), v, words, places=places, factor=B, add=True)


@with_less_memory
def sparse_product(rows: Any, V: Any, device: Any) -> Any:
    """X V."""
    return row_sums(csr_on_device(rows, device), on_device(V, device, torch.float64))


@with_less_memory
def removal_losses(rows: Any, B: Any, gamma: Any, background: Any, device: Any) -> Any:
    """What the log-likelihood would lose, to first order, without each topic."""
    indptr, indices, data = csr_on_device(rows, device)
    B, gamma, background = (on_device(array, device, torch.float64) for array in (B, gamma, background))
    M, K = gamma.shape
    groups = -(-M // _DOCS)
    losses = torch.empty((groups, K), dtype=torch.float64, device=device)
    if groups:
        _lose_rows[(groups,)](indptr, indices, data, B, gamma, background, losses, M, K, DOCS=_DOCS, **tile_of(K))
    return losses.sum(dim=0)


@triton.jit
def _exp_digamma(x):
    """exp(digamma(x)) for x > 0: six steps up, then the asymptotic series; see anchorwords.kernels.sweep."""
    u = x * (x + 5.0)
    back = (2.0 * x + 5.0) * (u * (3.0 * u + 20.0) + 24.0) / (u * (u + 4.0) * (u + 6.0))
    inverse = 1.0 / (x + 6.0)
    f = inverse * inverse
    series = f * (1.0 / 12.0 - f * (1.0 / 120.0 - f * (1.0 / 252.0 - f * (1.0 / 240.0 - f / 132.0))))
    return (x + 6.0) * tl.exp(-back - 0.5 * inverse - series)


@triton.jit
def _expect_rows(indptr, indices, data, B, alpha, gamma, v, ratio, K, steps, T: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(indptr + row), tl.load(indptr + row + 1)
    columns = tl.arange(0, BK)
    inside = columns < K
    prior = tl.load(alpha + columns, mask=inside, other=0.0)
    parameters = tl.load(gamma + row * K + columns, mask=inside, other=1.0)
    for step in range(steps):
        weights = tl.where(inside, tl.maximum(_exp_digamma(parameters), _LEAST), 0.0)
        weights = weights / tl.sum(weights, axis=0)
        n = tl.zeros((BK,), dtype=tl.float64)
        for q in range(begin, end, T):
            entries = q + tl.arange(0, T)
            there = entries < end
            word = tl.load(indices + entries, mask=there, other=0).to(tl.int64)
            x = tl.load(data + entries, mask=there, other=0.0).to(tl.float64)
            b = tl.load(B + word[:, None] * K + columns[None, :], mask=there[:, None] & inside[None, :], other=0.0)
            p = tl.sum(b * weights[None, :], axis=1)
            possible = p > _IMPOSSIBLE
            r = tl.where(possible, x / tl.where(possible, p, 1.0), 0.0)
            n += tl.sum(r[:, None] * b, axis=0)
            if step == steps - 1:
                tl.store(ratio + entries, r, mask=there)
        parameters = tl.where(inside, prior + weights * n, 1.0)
        if step == steps - 1:
            tl.store(v + row * K + columns, weights, mask=inside)
    tl.store(gamma + row * K + columns, parameters, mask=inside)


@triton.jit
def _add_logarithms(indptr, data, ratio, likelihood, T: tl.constexpr):
    """Log-likelihood of a document from x and r = x / p, in a kernel in which each thread takes a logarithm of its own."""
    row = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(indptr + row), tl.load(indptr + row + 1)
    value = tl.zeros((T,), dtype=tl.float64)
    for q in range(begin, end, T):
        entries = q + tl.arange(0, T)
        x = tl.load(data + entries, mask=entries < end, other=0.0).to(tl.float64)
        r = tl.load(ratio + entries, mask=entries < end, other=0.0)
        value += x * tl.log(tl.where(r > 0.0, x / tl.where(r > 0.0, r, 1.0), 1.0))
    tl.store(likelihood + row, tl.sum(value, axis=0))


@triton.jit
def _lose_rows(
    indptr, indices, data, B, gamma, background, losses, M, K, DOCS: tl.constexpr, T: tl.constexpr, BK: tl.constexpr
):
    group = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BK)
    inside = columns < K
    total = tl.zeros((BK,), dtype=tl.float64)
    for row in range(group * DOCS, tl.minimum(group * DOCS + DOCS, M)):
        begin, end = tl.load(indptr + row), tl.load(indptr + row + 1)
        w = tl.load(gamma + row * K + columns, mask=inside, other=0.0)
        w = w / tl.sum(w, axis=0)
        scale = 0.95 / (1.0 - w + _REMAINDER)
        for q in range(begin, end, T):
            entries = q + tl.arange(0, T)
            there = entries < end
            word = tl.load(indices + entries, mask=there, other=0).to(tl.int64)
            x = tl.load(data + entries, mask=there, other=0.0).to(tl.float64)
            common = tl.load(background + word, mask=there, other=0.0)
            b = tl.load(B + word[:, None] * K + columns[None, :], mask=there[:, None] & inside[None, :], other=0.0)
            part = b * w[None, :]
            p = tl.sum(part, axis=1)
            possible = p > 0.0
            x = tl.where(possible, x, 0.0)
            inverse = tl.where(possible, 1.0 / tl.where(possible, p, 1.0), 0.0)
            own = part * inverse[:, None]
            # The logarithm to first order; that itself, of the rest, where a topic has some of the word.
            rest = tl.abs(1.0 - own) * scale[None, :] + (0.05 * common * inverse)[:, None]
            lost = tl.where(own > 1e-3, -tl.log(tl.maximum(rest, 1e-300)), own - w[None, :])
            total += tl.sum(x[:, None] * lost, axis=0)
    tl.store(losses + group * K + columns, total, mask=inside)

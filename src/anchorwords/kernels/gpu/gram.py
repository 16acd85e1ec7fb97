"""Products with G'WG for documents that stay on the GPU, or stream through it.

Notation
--------
G : (M, N)   counts, documents x words
w : (M,)     weights of documents, W = diag(w)
V : (N, k)   a block of columns

Documents are cut into blocks by their number of counts alone, and the products of blocks are added in their order: a result
does not depend on whether the blocks are on the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from .current import on_its_device
from .sums import Chunks, chunks_of, row_sums, transposed
from .tensors import csr_on_device, on_device

# Counts of a block.
_COUNTS = 1 << 26
# Share of the memory of the device that counts may take; the rest of them waits in the memory of the host.
_SHARE = 0.4
# Columns that are multiplied together.
_COLUMNS = 32


class Block:
    """Some documents on the device: by document, and by word with the places of the entries.

    Parameters
    ----------
    parts : tuple
        On the device: indptr, indices and values of the counts by document, and the weights, or None for ones.
    n_words : int
    """

    def __init__(self, parts: Any, n_words: int) -> None:
        indptr, indices, values, weights = parts
        self._indices, self._values, self._weights = indices, values, weights
        self._by_document: Chunks = chunks_of(indptr)
        ends, self._documents, places = transposed(indptr, indices, n_words)
        self._by_word: Chunks = chunks_of(ends)
        self._word_values = values[places]

    @property
    def n_bytes(self) -> int:
        """Memory of the counts."""
        parts = (self._indices, self._values, self._documents, self._word_values)
        return sum(part.numel() * part.element_size() for part in parts)

    def add_to(self, out: Any, V: Any) -> None:
        """Add G'W(G V)."""
        for start in range(0, V.shape[1], _COLUMNS):
            columns = slice(start, start + _COLUMNS)
            part = V[:, columns].contiguous()
            middle = row_sums(self._by_document, self._indices, self._values, part, scale=self._weights)
            row_sums(self._by_word, self._documents, self._word_values, middle, out=out[:, columns])


@on_its_device
class GpuGram:
    """See :class:`anchorwords.kernels.protocol.GramProduct`."""

    def __init__(self, rows: Any, weights: Any, n_columns: int, device: Any) -> None:
        self._n_words, self._device = n_columns, device
        indptr, indices, data = rows
        goals = np.arange(_COUNTS, max(int(indptr[-1]), 1), _COUNTS)
        host_indptr = indptr if isinstance(indptr, np.ndarray) else indptr.cpu().numpy()
        cuts = np.unique(np.concatenate([[0], np.searchsorted(host_indptr, goals), [host_indptr.size - 1]]))
        room = _SHARE * _memory_of(device)
        self._blocks: list[Any] = []  # a Block, or what it is made of, in the memory of the host
        for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            first, last = int(host_indptr[start]), int(host_indptr[stop])
            parts = (
                on_device(indptr[start : stop + 1], device, torch.int64) - first,
                on_device(indices[first:last], device, torch.int32),
                smallest(on_device(data[first:last], device)),
                None if weights is None else on_device(weights[start:stop], device, torch.float64),
            )
            if room > 0.0:
                block = Block(parts, n_columns)
                room -= block.n_bytes
                self._blocks.append(block)
            else:
                self._blocks.append(tuple(None if part is None else _on_host(part) for part in parts))

    def times(self, V: Any, n_jobs: int | None = None) -> Any:  # noqa: ARG002
        """G'W(G V)."""
        out = torch.zeros((self._n_words, V.shape[1]), dtype=V.dtype, device=V.device)
        for block in self._resident():
            block.add_to(out, V)
        return out

    def _resident(self) -> Iterator[Block]:
        """The blocks one after the other; those that wait on the host are copied while the one before is multiplied."""
        waiting = [block for block in self._blocks if not isinstance(block, Block)]
        upload = torch.cuda.Stream(self._device) if waiting and self._device.type == "cuda" else None
        coming = [self._fetched(waiting.pop(0), upload)] if waiting else []
        for block in self._blocks:
            if isinstance(block, Block):
                yield block
                continue
            here, done = coming.pop()
            if done is not None:
                torch.cuda.current_stream(self._device).wait_event(done)
            if waiting:
                coming = [self._fetched(waiting.pop(0), upload)]
            yield Block(here, self._n_words)

    def _fetched(self, parts: Any, upload: Any) -> tuple[Any, Any]:
        """The parts of a block on the device, and the event after which they are there."""
        if upload is None:
            return parts, None
        current = torch.cuda.current_stream(self._device)
        with torch.cuda.stream(upload):
            upload.wait_stream(current)
            here = tuple(None if part is None else part.to(self._device, non_blocking=True) for part in parts)
        for part in here:
            if part is not None:
                part.record_stream(current)
        return here, upload.record_event()


@on_its_device
class GpuStream:
    """The sum of G_b'(G_b V) over blocks: see :class:`anchorwords.kernels.protocol.GramStream`."""

    n_groups = 1

    def __init__(self, V: Any) -> None:
        self._V, self._device = V, V.device

    def add(self, total: Any, rows: Any) -> Any:
        """Add one block to a running total."""
        if total is None:
            total = torch.zeros_like(self._V)
        block = Block((*csr_on_device(rows, self._device), None), self._V.shape[0])
        block.add_to(total, self._V)
        return total

    def result(self, total: Any) -> Any:
        """The product that a total stands for."""
        return total


def add_pair_sums(rows: Any, weights: Any, d: Any, squares: Any, df: Any) -> tuple[Any, Any, Any]:
    """Sums by word over documents of positive weight: see :class:`anchorwords.kernels.protocol.Kernels`."""
    indptr, indices, data = rows
    ends, documents, places = transposed(indptr, indices, d.shape[0])
    chunks, values = chunks_of(ends), data[places]
    w = weights.to(torch.float64)[:, None]

    def summed(of_entries: Any, of_documents: Any) -> Any:
        return row_sums(chunks, documents, of_entries, of_documents)[:, 0]

    held = (w > 0.0).to(torch.float64)
    number = summed(torch.ones_like(values, dtype=torch.uint8), held)
    return d + summed(values, w), squares + summed(values * values, w), df + number.to(df.dtype)


def smallest(values: Any) -> Any:
    """The same numbers in the smallest type that holds them exactly."""
    if values.numel() == 0 or values.dtype not in (torch.float64, torch.float32):
        return values
    single = values.to(torch.float32)
    least, largest, fractions, rounded = torch.stack(
        [values.min(), values.max(), (values - values.floor()).max(), (values - single).abs().max()]
    ).tolist()
    if fractions == 0.0 and least >= 0.0 and largest <= 255.0:
        return values.to(torch.uint8)
    if fractions == 0.0 and least >= -32768.0 and largest <= 32767.0:
        return values.to(torch.int16)
    return single if rounded == 0.0 else values


def _memory_of(device: Any) -> float:
    return float(torch.cuda.get_device_properties(device).total_memory) if device.type == "cuda" else float("inf")


def _on_host(part: Any) -> Any:
    """A copy in memory that the device can read while it works."""
    if part.device.type == "cpu":
        return part
    copy = torch.empty(part.shape, dtype=part.dtype, pin_memory=True)
    copy.copy_(part)
    return copy

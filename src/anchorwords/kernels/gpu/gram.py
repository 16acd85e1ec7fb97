"""Counts on a GPU: sums and products over all documents, which stay on the device or stream through it.

Notation
--------
X : (M, N)   counts, documents x words
w : (M,)     weights of documents
V : (N, k)   a block of columns

Documents are cut into blocks by their number of counts alone, and what is summed over blocks is added in their order: a
result does not depend on whether the blocks are on the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from ..._memory import gpu_is_full
from .current import on_its_device
from .rows import Chunks, chunks_of, row_sums, transposed
from .tensors import csr_on_device, on_device

# Counts of a block.
_COUNTS = 1 << 26
# Share of the memory of the device that counts may take; the rest of them waits in the memory of the host.
_SHARE = 0.4
# Columns that are multiplied together.
_COLUMNS = 32


class Block:
    """Some documents on the device, by document and by word.

    Parameters
    ----------
    parts : tuple
        indptr, indices and values of the counts by document, on the device.
    n_words : int
    """

    def __init__(self, parts: tuple[Any, Any, Any], n_words: int) -> None:
        indptr, indices, values = parts
        ends, documents, places = transposed(indptr, indices, n_words)
        self.by_document, self.by_word = parts, (ends, documents, values[places])
        self._document_chunks: Chunks = chunks_of(indptr)
        self._word_chunks: Chunks = chunks_of(ends)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.by_document[0].shape[0]) - 1

    @property
    def n_bytes(self) -> int:
        """Memory of the counts."""
        return sum(part.numel() * part.element_size() for part in (*self.by_document, *self.by_word))

    def add_gram(self, out: Any, V: Any, weights: Any) -> None:
        """Add X'(w * (X V)) to ``out``."""
        for start in range(0, V.shape[1], _COLUMNS):
            columns = slice(start, start + _COLUMNS)
            middle = self.over_words(V[:, columns].contiguous(), weights)
            row_sums(self.by_word, middle, out[:, columns], add=True, chunks=self._word_chunks)

    def over_words(self, V: Any, weights: Any = None) -> Any:
        """W * (X V)."""
        return row_sums(self.by_document, V, weights=weights, chunks=self._document_chunks)

    def over_documents(self, values: Any, V: Any) -> Any:
        """X'V for other values of the counts."""
        return row_sums((*self.by_word[:2], values), V, chunks=self._word_chunks)


@on_its_device
class GpuCounts:
    """See :class:`anchorwords.kernels.protocol.PreparedCounts`."""

    def __init__(self, rows: Any, n_columns: int, device: Any) -> None:
        self._n_words, self._device = n_columns, device
        indptr, indices, data = rows
        ends = indptr if isinstance(indptr, np.ndarray) else indptr.cpu().numpy()
        goals = np.arange(_COUNTS, max(int(ends[-1]), 1), _COUNTS)
        self._bounds = np.unique(np.concatenate([[0], np.searchsorted(ends, goals), [ends.size - 1]])).tolist()
        self.largest, self.fractional = 0.0, False
        room = _SHARE * _memory_of(device)
        self._blocks: list[Any] = []  # a Block, or what it is made of, in the memory of the host
        for start, stop in zip(self._bounds[:-1], self._bounds[1:], strict=True):
            first, last = int(ends[start]), int(ends[stop])
            parts = (
                on_device(indptr[start : stop + 1], device, torch.int64) - first,
                on_device(indices[first:last], device, torch.int32),
                self._smallest(on_device(data[first:last], device)),
            )
            block = _block(parts, n_columns) if room > 0.0 else None
            room = 0.0 if block is None else room - block.n_bytes
            self._blocks.append(tuple(map(_on_host, parts)) if block is None else block)

    def lengths(self) -> Any:
        """Sum of the counts of each document."""
        ones = torch.ones((self._n_words, 1), dtype=torch.float64, device=self._device)
        return torch.cat([block.over_words(ones)[:, 0] for _, block in self._resident()])

    def pair_sums(self, weights: Any) -> tuple[Any, Any, Any]:
        """Sums by word over documents of positive weight."""
        found = torch.zeros((3, self._n_words), dtype=torch.float64, device=self._device)
        for documents, block in self._resident():
            w = weights[documents, None].to(torch.float64)
            values = block.by_word[2]
            double = values.to(torch.float64)
            found[0] += block.over_documents(values, w)[:, 0]
            found[1] += block.over_documents(double * double, w)[:, 0]
            held = block.over_documents(torch.ones_like(values, dtype=torch.uint8), (w > 0.0).to(torch.float64))
            found[2] += held[:, 0]
        return found[0], found[1], found[2].to(torch.int64)

    def gram(self, weights: Any, V: Any, n_jobs: int | None = None) -> Any:  # noqa: ARG002
        """X'(w * (X V))."""
        out = torch.zeros((self._n_words, V.shape[1]), dtype=V.dtype, device=V.device)
        for documents, block in self._resident():
            block.add_gram(out, V, None if weights is None else weights[documents])
        return out

    def _smallest(self, values: Any) -> Any:
        """The same counts in the smallest type that holds them exactly."""
        if values.numel() == 0:
            return values
        values = values.to(torch.float64)
        largest, fractions, lost = torch.stack(
            [values.max(), (values - values.floor()).max(), (values - values.to(torch.float32)).abs().max()]
        ).tolist()
        self.largest, self.fractional = max(self.largest, largest), self.fractional or fractions > 0.0
        if fractions == 0.0 and largest <= torch.iinfo(torch.int16).max:
            return values.to(torch.uint8 if largest <= torch.iinfo(torch.uint8).max else torch.int16)
        return values.to(torch.float32) if lost == 0.0 else values

    def _resident(self) -> Iterator[tuple[slice, Block]]:
        """The documents of each block, and the block; those on the host are copied while the one before is multiplied."""
        waiting = [block for block in self._blocks if not isinstance(block, Block)]
        upload = torch.cuda.Stream(self._device) if waiting and self._device.type == "cuda" else None
        coming = [self._fetched(waiting.pop(0), upload)] if waiting else []
        for number, block in enumerate(self._blocks):
            documents = slice(self._bounds[number], self._bounds[number + 1])
            if isinstance(block, Block):
                yield documents, block
                continue
            here, done = coming.pop()
            if done is not None:
                torch.cuda.current_stream(self._device).wait_event(done)
            if waiting:
                coming = [self._fetched(waiting.pop(0), upload)]
            yield documents, Block(here, self._n_words)

    def _fetched(self, parts: Any, upload: Any) -> tuple[Any, Any]:
        """The parts of a block on the device, and the event after which they are there."""
        if upload is None:
            return parts, None
        current = torch.cuda.current_stream(self._device)
        with torch.cuda.stream(upload):
            upload.wait_stream(current)
            here = tuple(part.to(self._device, non_blocking=True) for part in parts)
        for part in here:
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
        Block(csr_on_device(rows, self._device), self._V.shape[0]).add_gram(total, self._V, None)
        return total

    def result(self, total: Any) -> Any:
        """The product that a total stands for."""
        return total


def _block(parts: Any, n_words: int) -> Block | None:
    """A block, or None if there is no memory for it."""
    try:
        return Block(parts, n_words)
    except RuntimeError as error:
        if not gpu_is_full(error):
            raise
    torch.cuda.empty_cache()
    return None


def _memory_of(device: Any) -> float:
    return float(torch.cuda.get_device_properties(device).total_memory) if device.type == "cuda" else float("inf")


def _on_host(part: Any) -> Any:
    """A copy in memory that the device can read while it works."""
    if part.device.type == "cpu":
        return part
    copy = torch.empty(part.shape, dtype=part.dtype, pin_memory=True)
    copy.copy_(part)
    return copy

"""The co-occurrence of a source, in the form that suits it."""

from __future__ import annotations

import numpy as np

from .._typing import IntArray, SparseLike
from ..sources.kinds import HeldCounts, MappedSource
from ..sources.source import Source
from .cooccurrence import Cooccurrence
from .moments import with_pairs
from .on_device import DeviceOperator
from .operator import CooccurrenceOperator
from .streamed import StreamedOperator


def cooccurrence_of(source: Source, *, n_jobs: int | None = None, every_word: bool = False) -> Cooccurrence:
    """C of Eq. 1 as an operator: on counts in memory, on a device if the source is for one, or read pass by pass.

    Parameters
    ----------
    source : Source
    n_jobs : int or None
        Threads; no result depends on it.
    every_word : bool
        Keep the words that never occur in a document with two tokens, whose rows are zero.
    """
    if source.counts is None:
        return StreamedOperator(source, n_jobs=n_jobs, every_word=every_word)
    if source.like is not None:
        return DeviceOperator(source, n_jobs=n_jobs, every_word=every_word)
    return CooccurrenceOperator(source, n_jobs=n_jobs, every_word=every_word)


def documents_with_pairs(source: Source) -> Source:
    """The documents of a source that carry a pair of words: those with two tokens."""
    if source.counts is None:
        return MappedSource(source, with_pairs)
    return HeldCounts(with_pairs(source.counts), source.words, like=source.like)


def documents_before(source: Source) -> IntArray:
    """How many documents come before each block, and how many there are: (blocks + 1,)."""

    def kernel(total: list[int] | None, counts: SparseLike, _: int) -> list[int]:
        return [*(total or []), counts.shape[0]]

    sizes = source.map_reduce(kernel, lambda one, other: one + other)
    return np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))])

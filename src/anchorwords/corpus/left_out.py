"""Words that a vocabulary rule has removed, as a compact set of hashes, so that a model can tell them from unknown words."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from .._typing import BoolArray, IntArray

# Sorted, 31 bits each: of n words removed, a word that was never seen is taken for one of them with probability n / 2^31.
LeftOut: TypeAlias = IntArray


def hashes_of_words(words: Iterable[str]) -> LeftOut:
    """Return a number for each word, the same on every machine."""
    return np.fromiter((zlib.crc32(word.encode("utf-8", "surrogatepass")) >> 1 for word in words), dtype=np.int32)


def hashes_except(words: Sequence[str], kept: Collection[str]) -> LeftOut:
    """Return the set of the words that were not kept."""
    stay = frozenset(kept)
    return np.unique(hashes_of_words(word for word in words if word not in stay))


def are_among(words: Sequence[str], left_out: LeftOut) -> BoolArray:
    """Return which words are in the set."""
    return np.isin(hashes_of_words(words), left_out)

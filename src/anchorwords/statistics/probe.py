"""Gaussian rows that belong to words: the same for a word and a seed on every machine, on every day, in any order.

A stable hash of the word keys a counter-based generator (SplitMix64), whose numbers are made normal by the
transformation of Box and Muller. Sketches of different vocabularies can therefore be added: a word that both know has
the same row in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# Rows made at a time, to bound what is held on the way.
_ROWS = 4096


def word_keys(words: Sequence[str], seed: int) -> npt.NDArray[np.uint64]:
    """64 bits of each word, by BLAKE2b keyed with the seed."""
    salt = int(seed).to_bytes(8, "little", signed=True)

    def digest(word: str) -> bytes:
        return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt).digest()

    return np.frombuffer(b"".join(map(digest, words)), dtype="<u8").astype(np.uint64)


def probe_rows(keys: npt.NDArray[np.uint64], n_columns: int) -> FloatArray:
    """Rows of standard normal numbers, one a key."""
    rows = np.empty((keys.size, n_columns))
    pairs = -(-n_columns // 2)
    steps = np.arange(1, 2 * pairs + 1, dtype=np.uint64) * _WEYL
    for start in range(0, keys.size, _ROWS):
        uniform = _mixed(keys[start : start + _ROWS, None] + steps)
        radius = np.sqrt(-2.0 * np.log(uniform[:, :pairs]))
        angle = 2.0 * np.pi * uniform[:, pairs:]
        both = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=2)
        rows[start : start + _ROWS] = both.reshape(-1, 2 * pairs)[:, :n_columns]
    return rows


def _mixed(states: npt.NDArray[np.uint64]) -> FloatArray:
    """Uniform numbers in (0, 1] from the states of SplitMix64."""
    z = states
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(np.float64) + 1.0) * 2.0**-53

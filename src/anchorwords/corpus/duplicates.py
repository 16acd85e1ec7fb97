"""Documents that repeat earlier ones, exactly or nearly, found in time linear in the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import IntArray, SparseLike

# Two documents whose sets of words have at least this Jaccard similarity are near duplicates.
NEAR = 0.9
# Two documents are compared if the least hashes of their words agree in all rows of a band. Documents of similarity 0.9
# agree in a band of three rows with probability 0.9^3 = 0.73, and in at least one of four bands with 0.995.
_BANDS, _ROWS = 4, 3
# Documents with fewer distinct words are compared exactly only: one word more or less is a large share of so few.
_FEWEST_WORDS = 10
# Pairs that are compared at once.
_PAIRS = 1 << 16


@dataclass(frozen=True, repr=False)
class Duplicates:
    """Which documents repeat an earlier one.

    Attributes
    ----------
    first : (M,) int array
        Row of the earliest document that each repeats; its own row if it repeats none.
    is_exact : (M,) bool array
        Whether a document that repeats an earlier one has the same words with the same counts.
    """

    first: IntArray
    is_exact: npt.NDArray[np.bool_]

    @property
    def repeats(self) -> npt.NDArray[np.bool_]:
        """Whether a document repeats an earlier one."""
        return self.first != np.arange(self.first.size)

    @property
    def n_repeats(self) -> int:
        """Number of documents that repeat an earlier one, exactly or nearly."""
        return int(self.repeats.sum())

    @property
    def n_exact(self) -> int:
        """Number of documents that repeat an earlier one exactly."""
        return int((self.repeats & self.is_exact).sum())

    @property
    def n_near(self) -> int:
        """Number of documents that repeat an earlier one nearly, but not exactly."""
        return int((self.repeats & ~self.is_exact).sum())

    def __repr__(self) -> str:
        n = self.first.size
        return f"Duplicates({n:,} documents: {self.n_exact:,} repeat another exactly, {self.n_near:,} nearly)"

    def sentence(self) -> str | None:
        """Describe the duplicates; None if there are none."""
        if not self.repeats.any():
            return None
        return (
            f"{self.n_exact:,} documents repeat an earlier one exactly and {self.n_near:,} nearly (at least {NEAR:.0%} of "
            "their words)"
        )


def find_duplicates(blocks: Callable[[], Iterable[SparseLike]], n_words: int, *, near: bool = True) -> Duplicates:
    """Find documents that repeat earlier ones.

    Exact repetitions are all found: documents with the same counts of the same words. Near repetitions have sets of words
    whose Jaccard similarity is at least 0.9. They are looked for by MinHash (Broder 1997) in bands, in which each document
    is compared with the first and with the one before it, and the similarity is computed exactly. Of two documents that are
    just similar enough, about one pair in two hundred is missed. Documents without words repeat none.

    Parameters
    ----------
    blocks : callable
        Returns an iterable of consecutive documents as CSR arrays; called twice. The words of documents that may be near
        repetitions are kept in memory.
    n_words : int
    near : bool
        Also look for near repetitions.
    """
    rng = np.random.default_rng(0)
    exact_hashes = rng.integers(2**63, size=(2, n_words), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    # The hash functions of the bands are one random number per word times random odd numbers, modulo 2^64.
    factors = rng.integers(2**63, size=_BANDS * _ROWS if near else 0, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    parts = [
        (_exact_keys(block, exact_hashes), _band_keys(block, exact_hashes[0], factors), np.diff(block.indptr))
        for block in blocks()
    ]
    if not parts:
        return Duplicates(np.zeros(0, np.int64), np.zeros(0, bool))
    keys, bands, sizes = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    first = np.arange(sizes.size)
    filled = np.flatnonzero(sizes)
    leaders, _ = _leaders(keys[:, filled])
    first[filled] = filled[leaders]
    is_exact = first < np.arange(first.size)
    if near:
        alone = np.flatnonzero(~is_exact & (sizes >= _FEWEST_WORDS))
        pairs = _candidates(bands[:, alone], alone)
        _join(first, pairs[_similar(pairs, blocks)])
        first = first[first]  # of an exact repetition, what its original repeats nearly
    return Duplicates(first, is_exact)


def _leaders(keys: npt.NDArray[np.uint64]) -> tuple[IntArray, IntArray]:
    """For each column of keys, the first column that is the same, and the last one before it (itself if there is none)."""
    order = np.lexsort(keys)  # stable: equal columns stay in order
    ordered = keys[:, order]
    begins = np.concatenate([[True], (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)])[: order.size]
    groups = np.maximum.accumulate(np.where(begins, np.arange(order.size), 0))
    leader, before = np.empty_like(order), np.empty_like(order)
    leader[order] = order[groups]
    before[order] = np.where(begins, order, np.roll(order, 1))
    return leader, before


def _candidates(bands: npt.NDArray[np.uint64], rows: IntArray) -> IntArray:
    """Pairs (later, earlier) of rows that agree in a band, each once."""
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for band in bands:
        for earlier in _leaders(band[None]):
            later = np.flatnonzero(earlier != np.arange(earlier.size))
            pairs.append(np.stack([rows[later], rows[earlier[later]]], axis=1))
    return np.unique(np.concatenate(pairs), axis=0)


def _similar(pairs: IntArray, blocks: Callable[[], Iterable[SparseLike]]) -> npt.NDArray[np.bool_]:
    """Whether the sets of words of each pair are similar enough."""
    wanted, places = np.unique(pairs, return_inverse=True)
    places = places.reshape(pairs.shape)
    found, done = [], 0
    for block in blocks():
        rows = wanted[(wanted >= done) & (wanted < done + block.shape[0])] - done
        part = block[rows]
        part.data = np.ones(part.nnz)
        found.append(part)
        done += block.shape[0]
    words = sp.csr_array(sp.vstack(found, format="csr"))
    sizes = np.diff(words.indptr)
    similar = np.zeros(len(pairs), dtype=bool)
    for begin in range(0, len(pairs), _PAIRS):
        one, other = places[begin : begin + _PAIRS].T
        common = np.asarray(words[one].multiply(words[other]).sum(axis=1)).ravel()
        similar[begin : begin + _PAIRS] = common >= NEAR * (sizes[one] + sizes[other] - common)
    return similar


def _join(first: IntArray, pairs: IntArray) -> None:
    """Let each document of a pair (later, earlier) repeat what the earliest of its partners repeats."""
    for later, earlier in pairs.tolist():  # in the order of the later ones, each with its earliest partner first
        if first[later] == later:
            first[later] = first[earlier]


def _exact_keys(block: SparseLike, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """128 bits of the words and counts of each document: sums, modulo 2^64, of products of hashes."""
    bits = block.data.astype(np.float64).view(np.uint64)
    mixed = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    return np.stack([_sums(own[block.indices] * mixed, block.indptr) for own in hashes])


def _sums(entries: npt.NDArray[np.uint64], indptr: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return totals[indptr[1:]] - totals[indptr[:-1]]


def _band_keys(
    block: SparseLike, hashes: npt.NDArray[np.uint64], factors: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """A number for each band and document: that of the least hashes of its words, once for each factor."""
    filled = np.flatnonzero(np.diff(block.indptr))
    keys = np.zeros((len(factors) // _ROWS, block.shape[0]), dtype=np.uint64)
    own = hashes[block.indices]
    for row, factor in enumerate(factors if filled.size else ()):
        least = np.minimum.reduceat(own * factor, block.indptr[filled])
        keys[row // _ROWS, filled] = keys[row // _ROWS, filled] * np.uint64(0x9E3779B97F4A7C15) + least
    return keys

"""Documents in two halves: what one half shows is real where the other shows it too.

Notation
--------
C_1, C_2 : (N, N)   co-occurrence (Eq. 1) of the halves
U_1, U_2 : (N, L)   leading eigenvectors of each, orthonormal
g_m : (N,)          scaled counts h_m / sqrt(n_m (n_m - 1)) of a document
T : (L, L)          U' C U with the C of one half and the U of the other, T_s the part of shard s
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from ..corpus.blocks import BlockSource
from ..corpus.parts import row_slices
from ..linalg.parallel import one_library_thread
from ..linalg.randomized import Eigenpairs, randomized_eigh
from ..linalg.sparse import times_dense
from ..linalg.tall import gram
from ..resampling.shards import shard_of
from ..statistics.operator import CooccurrenceOperator
from ..statistics.streamed import StreamedOperator
from ..statistics.sums import pair_weights

# Shards of each half, of which the noise is learned.
_SHARDS = 20
# Fewest documents of a half: with fewer, chance decides.
FEWEST = 5
# Eigenpairs of halves serve comparisons, which noise blurs far more than this.
_TOL = 0.15


class Half(NamedTuple):
    """What is known of one half.

    Attributes
    ----------
    values, vectors : (K,), (N, K) array
        Its leading eigenpairs.
    basis : (N, L) array
        The vectors and their runners-up.
    shards : (S, L, L) array
        T_s, the statistics of this half in the basis of the other; they sum to T.
    """

    values: FloatArray
    vectors: FloatArray
    basis: FloatArray
    shards: FloatArray


def halves_of(
    data: SparseLike | BlockSource, used: BoolArray, n_docs: int, n_components: int, seed: int, n_jobs: int | None
) -> tuple[Half, Half]:
    """Split documents at random, and decompose either half by itself.

    Each run of consecutive documents is dealt out anew, so that a trend in their order is in both halves alike. A
    document's half depends on its number, among those that carry a pair, and the seed.
    """
    n_shards = 2 * max(1, min(_SHARDS, n_docs // 4))
    source = _Numbered(data)
    sides = [_Side(source, side, n_shards, seed) for side in (0, 1)]
    pairs = [_eigenpairs(side, n_components, seed, n_jobs) for side in sides]
    bases = [np.ascontiguousarray(pair.basis[used]) for pair in pairs]
    shards = [side.quotients(pairs[1 - i].basis, n_jobs) for i, side in enumerate(sides)]
    first, second = (
        Half(pair.values, np.ascontiguousarray(pair.vectors[used]), basis, part)
        for pair, basis, part in zip(pairs, bases, shards, strict=True)
    )
    return first, second


def _eigenpairs(side: _Side, n_components: int, seed: int, n_jobs: int | None) -> Eigenpairs:
    """From a random start: the basis must know nothing of the other half."""
    counts = side.counts()
    operator: CooccurrenceOperator | StreamedOperator
    if counts is None:
        operator = StreamedOperator(side, n_jobs=n_jobs, every_word=True)
        block = max(16, n_components // 2)  # every product is a pass: fewer of them, and wider
    else:
        operator, block = CooccurrenceOperator(counts, n_jobs=n_jobs), None
    with one_library_thread():
        return randomized_eigh(
            operator, n_components, tol=_TOL, block=block, search=False, random_state=seed, n_jobs=n_jobs
        )


class _Numbered:
    """Blocks of documents, and how many before each carry a pair."""

    def __init__(self, data: SparseLike | BlockSource) -> None:
        self.counts = None if isinstance(data, BlockSource) else data
        self._data = data
        self.n_words = data.n_words if isinstance(data, BlockSource) else int(data.shape[1])
        carrying = [int((_lengths(block()) >= 2.0).sum()) for block in self.lazy_blocks()]
        self.first = np.concatenate([[0], np.cumsum(np.array(carrying, dtype=np.int64))])

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        if isinstance(self._data, BlockSource):
            yield from self._data.lazy_blocks()
        else:
            for rows in row_slices(self._data):
                yield partial(self._data.__getitem__, rows)


class _Side:
    """One half of the documents, itself a source of blocks."""

    def __init__(self, source: _Numbered, side: int, n_shards: int, seed: int) -> None:
        self._source, self._side, self._n_shards, self._seed = source, side, n_shards, seed
        self.n_words = source.n_words

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return the documents of this half, those that carry a pair."""
        for number, block in enumerate(self._source.lazy_blocks()):
            yield partial(self._mine, number, block)

    def _mine(self, number: int, block: Callable[[], SparseLike]) -> SparseLike:
        return self._dealt(number, block)[0]

    def _dealt(self, number: int, block: Callable[[], SparseLike]) -> tuple[SparseLike, IntArray]:
        """Documents of this half, and the shards of each."""
        counts = block()
        rows = np.flatnonzero(_lengths(counts) >= 2.0)
        shards = shard_of(int(self._source.first[number]), rows.size, self._n_shards, self._seed)
        mine = shards % 2 == self._side
        return counts[rows[mine]], shards[mine] // 2

    def counts(self) -> SparseLike | None:
        """All of them, where documents are in memory."""
        if self._source.counts is None:
            return None
        return sp.csr_array(sp.vstack([block() for block in self.lazy_blocks()]))

    def quotients(self, U: FloatArray, n_jobs: int | None) -> FloatArray:
        """T_s = sum_m (U'g_m)(U'g_m)' / M over the documents of shard s, less its share of U'diag(d)U, in one pass.

        What a shard itself would take from the diagonal differs from that share by the noise of single words, which is
        small beside that of pairs.
        """
        n_shards, L = self._n_shards // 2, U.shape[1]
        squares, sizes, d = np.zeros((n_shards, L, L)), np.zeros(n_shards), np.zeros(self.n_words)
        for number, block in enumerate(self._source.lazy_blocks()):
            counts, shards = self._dealt(number, block)
            if shards.size == 0:
                continue
            weights = pair_weights(_lengths(counts))
            d += counts.T @ weights
            order = np.argsort(shards, kind="stable")
            P = times_dense(sp.csr_array(sp.diags_array(np.sqrt(weights[order])) @ counts[order]), U, n_jobs)
            cuts = np.searchsorted(shards[order], np.arange(n_shards + 1))
            for s in range(n_shards):
                squares[s] += P[cuts[s] : cuts[s + 1]].T @ P[cuts[s] : cuts[s + 1]]
            sizes += np.diff(cuts)
        return (squares - (sizes / sizes.sum())[:, None, None] * gram(U, d[:, None] * U, n_jobs)) / sizes.sum()


def _lengths(counts: SparseLike) -> FloatArray:
    return np.asarray(counts.sum(axis=1)).ravel()

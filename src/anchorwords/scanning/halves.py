"""Two random halves of the documents: what replicates in both is real.

Notation
--------
C_1, C_2 : (N, N)   co-occurrence (Eq. 1) of the halves
U_1, U_2 : (N, L)   leading eigenvectors of each, orthonormal
g_m : (N,)          scaled counts h_m / sqrt(n_m (n_m - 1)) of a document
T : (L, L)          U' C U with the C of one half and the U of the other; T_s is the part of shard s
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._lazy import cached_property
from .._typing import FloatArray, IntArray, SparseLike
from ..linalg.parallel import one_library_thread
from ..linalg.randomized import Eigenpairs, randomized_eigh
from ..linalg.sparse import times_dense
from ..linalg.tall import gram
from ..resampling.shards import shard_of
from ..sources.source import Source
from ..statistics.cooccurrence import Cooccurrence
from ..statistics.moments import document_lengths
from ..statistics.of_source import cooccurrence_of, documents_before, documents_with_pairs
from ..statistics.sums import pair_weights

# Shards of each half, from which the noise is estimated.
_SHARDS = 20
# Fewest documents per half: with fewer, the comparison is left to chance.
FEWEST = 5
# Relative residual of the eigenpairs: sampling noise is far larger.
_TOL = 0.15


class Half(NamedTuple):
    """Statistics of one half.

    Attributes
    ----------
    values, vectors : (K,), (N, K) array
        Its leading eigenpairs.
    basis : (N, L) array
        The leading vectors and some that follow them.
    shards : (S, L, L) array
        T_s, the statistics of this half in the basis of the other; they sum to T.
    """

    values: FloatArray
    vectors: FloatArray
    basis: FloatArray
    shards: FloatArray


def sides_of(source: Source, C: Cooccurrence, seed: int) -> tuple[HalfSource, HalfSource]:
    """The two halves of the documents with at least two tokens, as sources."""
    n_shards = 2 * max(1, min(_SHARDS, C.n_docs // 4))
    paired = documents_with_pairs(source)
    first_of_block = documents_before(paired)
    first, second = (HalfSource(paired, first_of_block, side, n_shards, seed) for side in (0, 1))
    return first, second


def halves_of(
    source: Source,
    C: Cooccurrence,
    n_components: int,
    seed: int,
    n_jobs: int | None,
    sides: tuple[HalfSource, HalfSource] | None = None,
) -> tuple[Half, Half]:
    """Split the documents at random, and decompose each half on its own.

    Each run of consecutive documents is distributed over both halves, so that a trend in their order affects both equally.
    The half of a document depends on the seed and on its number among the documents with at least two tokens.
    """
    used = C.words.mask
    sides = sides or sides_of(source, C, seed)
    pairs = [_eigenpairs(side, n_components, seed, n_jobs) for side in sides]
    bases = [np.ascontiguousarray(pair.basis[used]) for pair in pairs]
    shards = [side.quotients(pairs[1 - i].basis, n_jobs) for i, side in enumerate(sides)]
    first, second = (
        Half(pair.values, np.ascontiguousarray(pair.vectors[used]), basis, part)
        for pair, basis, part in zip(pairs, bases, shards, strict=True)
    )
    return first, second


def _eigenpairs(side: HalfSource, n_components: int, seed: int, n_jobs: int | None) -> Eigenpairs:
    """Leading eigenpairs from a random start: the basis must be independent of the other half."""
    operator = cooccurrence_of(side, n_jobs=n_jobs, every_word=True)
    # If every product is a pass over the data: fewer and wider products.
    block = None if operator.pass_width is None else max(operator.pass_width, n_components // 2)
    with one_library_thread():
        return randomized_eigh(
            operator, n_components, tol=_TOL, block=block, search=False, random_state=seed, n_jobs=n_jobs
        )


class HalfSource(Source):
    """One half of the documents, as a source of its own."""

    def __init__(self, source: Source, first_of_block: IntArray, side: int, n_shards: int, seed: int) -> None:
        self._source, self._first, self._side, self._n_shards, self._seed = source, first_of_block, side, n_shards, seed
        self.n_words = source.n_words

    @cached_property
    def counts(self) -> SparseLike | None:
        """The counts of this half, if the documents are in memory."""
        if self._source.counts is None:
            return None
        return sp.csr_array(sp.vstack([block() for block in self.lazy_blocks()], format="csr"))

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return the documents of this half."""
        for number, block in enumerate(self._source.lazy_blocks()):
            yield partial(self._mine, number, block)

    def numbered_blocks(self) -> Iterator[tuple[SparseLike, IntArray]]:
        """Documents of this half, with their numbers among those of both halves."""
        for number, block in enumerate(self._source.lazy_blocks()):
            counts, first = block(), int(self._first[number])
            shards = shard_of(first, counts.shape[0], self._n_shards, self._seed)
            mine = np.flatnonzero(shards % 2 == self._side)
            yield counts[mine], first + mine

    def _mine(self, number: int, block: Callable[[], SparseLike]) -> SparseLike:
        return self._dealt(block(), number)[0]

    def _dealt(self, counts: SparseLike, number: int) -> tuple[SparseLike, IntArray]:
        """Documents of this half, and their shards."""
        shards = shard_of(int(self._first[number]), counts.shape[0], self._n_shards, self._seed)
        mine = shards % 2 == self._side
        return counts[mine], shards[mine] // 2

    def quotients(self, U: FloatArray, n_jobs: int | None) -> FloatArray:
        """T_s = sum_m (U'g_m)(U'g_m)' / M over the documents of shard s, minus its share of U'diag(d)U, in one pass.

        The diagonal of the shard itself differs from that share by the noise of single words, which is small compared with
        the noise of pairs.
        """
        n_shards, L = self._n_shards // 2, U.shape[1]

        def kernel(total: Any, block: SparseLike, number: int) -> Any:
            squares, sizes, d = total or (np.zeros((n_shards, L, L)), np.zeros(n_shards), np.zeros(self.n_words))
            counts, shards = self._dealt(block, number)
            if shards.size:
                weights = pair_weights(document_lengths(counts))
                d += counts.T @ weights
                order = np.argsort(shards, kind="stable")
                P = times_dense(sp.csr_array(sp.diags_array(np.sqrt(weights[order])) @ counts[order]), U, n_jobs)
                cuts = np.searchsorted(shards[order], np.arange(n_shards + 1))
                for s in range(n_shards):
                    squares[s] += P[cuts[s] : cuts[s + 1]].T @ P[cuts[s] : cuts[s + 1]]
                sizes += np.diff(cuts)
            return squares, sizes, d

        squares, sizes, d = self._source.map_reduce(kernel, lambda one, other: tuple(map(np.add, one, other)))
        return (squares - (sizes / sizes.sum())[:, None, None] * gram(U, d[:, None] * U, n_jobs)) / sizes.sum()

"""Statistics of the same documents under several sets of weights, in passes over blocks.

Notation
--------
G : (M, N)      scaled counts, g_m = h_m / sqrt(n_m (n_m - 1)), before any division by M
w : (R, S)      weights of the shards, a row a replicate; the first is all ones, the documents as they are
d : (R, N)      what is taken from the diagonal, d_ri = sum_m w_r(m) h_mi / (n_m (n_m - 1))
C_r : (N, N)    (G' diag(w_r) G - diag(d_r)) / sum_m w_r(m), Eq. 1 of documents that count w_r times
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from .._lazy import cached_property
from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from ..exceptions import InputError
from ..linalg.parallel import for_each_block
from ..linalg.sparse import times_dense
from ..sources.in_use import WordsInUse
from ..sources.source import Source
from ..statistics.moments import document_lengths, no_pair, require_exact
from ..statistics.of_source import documents_before, documents_with_pairs
from ..statistics.sums import pair_weights
from .shards import shard_of, shard_weights


class ReplicateStatistics:
    """C of the documents as they are, and of replicates of them; every product is a pass.

    Parameters
    ----------
    source : Source
    n_replicates, n_shards : int
        R - 1, as the documents themselves come first, and S.
    seed : int
    n_jobs : int or None
        Threads; no result depends on it.

    Attributes
    ----------
    weights : (R, S) array
    n_shards : int
        No more than there are documents.
    n_docs : int
        Those with two tokens; only these are numbered and dealt to shards.
    df : (N,) int array
        Such documents of each word.
    paired : Source
        The documents with two tokens.
    """

    def __init__(self, source: Source, n_replicates: int, n_shards: int, seed: int, n_jobs: int | None = None) -> None:
        self.paired = documents_with_pairs(source)
        self._seed, self._n_jobs = seed, n_jobs
        self.n_words = source.n_words
        self._n_passes_before = self.paired.n_passes
        self._first = documents_before(self.paired)
        self.n_docs = int(self._first[-1])
        if self.n_docs == 0:
            raise no_pair(source.count_documents(), self.n_words)
        if self.n_docs < 2:
            raise InputError(
                "replicates need at least two documents that hold two tokens each, but there is only one: give the "
                "documents of the fit."
            )
        self.n_shards = min(n_shards, self.n_docs)
        drawn = shard_weights(n_replicates, self.n_shards, seed)
        self.weights: FloatArray = np.concatenate([np.ones((1, self.n_shards)), drawn])
        self._sum_up()

    @property
    def n_passes(self) -> int:
        """Times the documents have been read."""
        return self.paired.n_passes - self._n_passes_before

    def _sum_up(self) -> None:
        """What Eq. 1 needs to know of every word, in each replicate."""
        R, N = self.weights.shape[0], self.n_words

        def kernel(total: _Sums | None, block: SparseLike, number: int) -> _Sums:
            lengths, weights = document_lengths(block), self._weights_of(block, number)
            by_document = (weights * pair_weights(lengths)).T
            sums = total or _Sums(np.zeros((N, R)), np.zeros((N, R)), np.zeros(R), np.zeros(R), np.zeros(N, np.int64))
            sums.d[...] += block.T @ by_document
            sums.squares[...] += block.multiply(block).T @ by_document
            sums.n_docs[...] += weights.sum(axis=1)
            sums.mass[...] += weights @ (lengths / (lengths - 1.0))
            sums.df[...] += np.bincount(block.indices, minlength=N)
            largest = max(sums.largest, float(block.data.max(initial=0.0)))
            fractions = sums.fractions or bool((block.data != np.floor(block.data)).any())
            return sums._replace(largest=largest, fractions=fractions)

        sums = self.paired.map_reduce(kernel, _Sums.plus)
        require_exact(sums.largest)
        self.df = sums.df
        # Of counts that are not whole, negative diagonal entries are clipped and C is renormalised, as in a fit.
        self._d = np.minimum(sums.d, sums.squares).T if sums.fractions else sums.d.T
        self._scale = sums.mass - self._d.sum(axis=1) if sums.fractions else sums.n_docs

    def _weights_of(self, block: SparseLike, number: int) -> FloatArray:
        """Weights (R, documents) of the documents of a block."""
        return self.weights[:, shard_of(int(self._first[number]), block.shape[0], self.n_shards, self._seed)]

    def document_weights(self, replicate: int) -> FloatArray:
        """How often each document that carries a pair counts."""
        return self.weights[replicate][shard_of(0, self.n_docs, self.n_shards, self._seed)]

    @cached_property
    def words(self) -> WordsInUse:
        """Words that occur."""
        return WordsInUse(self.df > 0)

    def occurs(self, replicate: int) -> BoolArray:
        """Words that occur in documents of positive weight."""
        return self._d[replicate] > 0.0

    def products(self, replicates: Sequence[int], V: FloatArray) -> FloatArray:
        """C_r V_r for each of these replicates, in one pass; V is (N, L), the same for all, or (replicates, N, L)."""

        def add(total: FloatArray, G: SparseLike, _P: FloatArray, weighted: FloatArray) -> None:
            total += times_dense(G.T, weighted, self._n_jobs)

        out = self._each(replicates, V, (self.n_words, V.shape[-1]), add)
        for i, r in enumerate(replicates):
            out[i] -= self._d[r][:, None] * (V if V.ndim == 2 else V[i])
            out[i] /= self._scale[r]
        return out

    def quotients(self, replicates: Sequence[int], V: FloatArray) -> FloatArray:
        """V_r' C_r V_r for each of these replicates, in one pass."""

        def add(total: FloatArray, _G: SparseLike, P: FloatArray, weighted: FloatArray) -> None:
            total += P.T @ weighted

        out = self._each(replicates, V, (V.shape[-1], V.shape[-1]), add)
        for i, r in enumerate(replicates):
            part = V if V.ndim == 2 else V[i]
            out[i] -= part.T @ (self._d[r][:, None] * part)
            out[i] /= self._scale[r]
        return (out + out.transpose(0, 2, 1)) / 2.0

    def _each(
        self, replicates: Sequence[int], V: FloatArray, shape: tuple[int, int], add: Callable[..., None]
    ) -> FloatArray:
        """Totals of ``add(total, G, P, weighted)``, P = G V_i and diag(w) P, over blocks G, one for each replicate."""

        def kernel(total: FloatArray | None, block: SparseLike, number: int) -> FloatArray:
            out = np.zeros((len(replicates), *shape)) if total is None else total
            G = sp.csr_array(sp.diags_array(np.sqrt(pair_weights(document_lengths(block)))) @ block)
            weights = self._weights_of(block, number)
            shared = times_dense(G, V, self._n_jobs) if V.ndim == 2 else None

            def one(i: int, _: int) -> None:
                P = times_dense(G, V[i], self._n_jobs) if shared is None else shared
                add(out[i], G, P, weights[replicates[i]][:, None] * P)

            for_each_block(one, len(replicates), 1, self._n_jobs)
            return out

        return self.paired.map_reduce(kernel, np.add)


class _Sums(NamedTuple):
    """Sums over documents, for each replicate."""

    d: FloatArray
    squares: FloatArray
    n_docs: FloatArray
    mass: FloatArray
    df: IntArray
    largest: float = 0.0
    fractions: bool = False

    def plus(self, other: _Sums) -> _Sums:
        """The sums of both."""
        d, squares, n_docs, mass, df = (np.add(one, two) for one, two in zip(self[:5], other[:5], strict=True))
        largest, fractions = max(self.largest, other.largest), self.fractions or other.fractions
        return _Sums(d, squares, n_docs, mass, df, largest, fractions)


class AsTheyAre:
    """C of the documents as they are, as an operator."""

    def __init__(self, statistics: ReplicateStatistics) -> None:
        self._statistics = statistics
        self.shape = (statistics.n_words, statistics.n_words)

    def __matmul__(self, V: FloatArray) -> FloatArray:
        return self._statistics.products([0], V)[0]

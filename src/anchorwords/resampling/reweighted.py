"""Statistics of the same documents under several sets of weights, in passes over blocks.

Notation
--------
G : (M, N)      scaled counts, g_m = h_m / sqrt(n_m (n_m - 1)), before any division by M
w : (R, S)      weights of the shards, a row a replicate; the first is all ones, the documents as they are
d : (R, N)      what is taken from the diagonal, d_ri = sum_m w_r(m) h_mi / (n_m (n_m - 1))
C_r : (N, N)    (G' diag(w_r) G - diag(d_r)) / sum_m w_r(m), Eq. 1 of documents that count w_r times
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, SparseLike
from ..corpus.blocks import BlockSource, InVocabulary, in_columns
from ..exceptions import InputError
from ..linalg.parallel import for_each_block
from ..linalg.sparse import times_dense
from ..model import TopicModel
from ..statistics.moments import no_pair, require_exact
from ..statistics.sums import pair_weights
from .shards import shard_of, shard_weights


def documents_of(record: TopicModel, X: Any) -> BlockSource:
    """Documents in the columns of a model, block by block, whatever they come as."""
    source = in_columns(X, record.vocabulary, record.n_words)
    if isinstance(source, InVocabulary) and not source.document_frequencies.any():
        raise InputError("the corpus holds none of the model's words: check that the vocabularies match.")
    return source


class ReplicateStatistics:
    """C of the documents as they are, and of replicates of them; every product is a pass.

    Parameters
    ----------
    source : BlockSource
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
    n_passes : int
    """

    def __init__(
        self, source: BlockSource, n_replicates: int, n_shards: int, seed: int, n_jobs: int | None = None
    ) -> None:
        self._source, self._seed, self._n_jobs = source, seed, n_jobs
        self.n_words = source.n_words
        self.n_passes = 0
        self._n_entries: int | None = None
        self._sum_up(n_replicates, n_shards)
        if self.n_docs < self.n_shards:
            if self.n_docs < 2:
                raise InputError(
                    "replicates need at least two documents that hold two tokens each, but there is only one: give the "
                    "documents of the fit."
                )
            self._sum_up(n_replicates, self.n_docs)

    def _sum_up(self, n_replicates: int, n_shards: int) -> None:
        """What Eq. 1 needs to know of every word, in each replicate."""
        self.n_shards = n_shards
        drawn = shard_weights(n_replicates, n_shards, self._seed)
        self.weights: FloatArray = np.concatenate([np.ones((1, n_shards)), drawn])
        R, N = self.weights.shape[0], self.n_words
        d, squares = np.zeros((N, R)), np.zeros((N, R))
        n_docs, mass = np.zeros(R), np.zeros(R)
        self.df = np.zeros(N, dtype=np.int64)
        self.n_docs, largest, fractions = 0, 0.0, False
        for block, lengths, weights in self._counted():
            by_document = (weights * pair_weights(lengths)).T
            d += block.T @ by_document
            squares += block.multiply(block).T @ by_document
            n_docs += weights.sum(axis=1)
            mass += weights @ (lengths / (lengths - 1.0))
            self.df += np.bincount(block.indices, minlength=N)
            self.n_docs += block.shape[0]
            largest = max(largest, float(block.data.max(initial=0.0)))
            fractions = fractions or bool((block.data != np.floor(block.data)).any())
        if self.n_docs == 0:
            raise no_pair(self._n_read, N)
        require_exact(largest)
        # Of counts that are not whole, negative diagonal entries are clipped and C is renormalised, as in a fit.
        self._d = np.minimum(d, squares).T if fractions else d.T
        self._scale = mass - self._d.sum(axis=1) if fractions else n_docs

    def _counted(self) -> Iterator[tuple[SparseLike, FloatArray, FloatArray]]:
        """Blocks of documents that carry a pair, their lengths, and their weights (R, documents)."""
        self.n_passes += 1
        n_docs = n_entries = self._n_read = 0
        for lazy in self._source.lazy_blocks():
            block = lazy()
            self._n_read += block.shape[0]
            lengths = np.asarray(block.sum(axis=1)).ravel()
            kept = lengths >= 2.0
            if not kept.all():
                block, lengths = block[kept], lengths[kept]
            if lengths.size:
                yield block, lengths, self.weights[:, shard_of(n_docs, lengths.size, self.n_shards, self._seed)]
            n_docs += lengths.size
            n_entries += block.nnz
        if self._n_entries not in (None, n_entries):
            raise InputError(
                f"the source gave {self._n_entries} counts when it was first read, and {n_entries} in pass {self.n_passes}: "
                "it must give the same documents every time; a function must return a new iterable."
            )
        self._n_entries = n_entries

    def blocks(self) -> Iterator[SparseLike]:
        """Blocks of documents that carry a pair, as they are."""
        return (block for block, _, _ in self._counted())

    def document_weights(self, replicate: int) -> FloatArray:
        """How often each document that carries a pair counts."""
        return self.weights[replicate][shard_of(0, self.n_docs, self.n_shards, self._seed)]

    def _scaled(self) -> Iterator[tuple[SparseLike, FloatArray]]:
        """Blocks of G, and the weights of their documents."""
        for block, lengths, weights in self._counted():
            yield sp.csr_array(sp.diags_array(np.sqrt(pair_weights(lengths))) @ block), weights

    @property
    def used(self) -> BoolArray:
        """Words that occur."""
        return self.df > 0

    def occurs(self, replicate: int) -> BoolArray:
        """Words that occur in documents of positive weight."""
        return self._d[replicate] > 0.0

    def products(self, replicates: Sequence[int], V: FloatArray) -> FloatArray:
        """C_r V_r for each of these replicates, in one pass; V is (N, L), the same for all, or (replicates, N, L)."""
        out = np.zeros((len(replicates), self.n_words, V.shape[-1]))

        def add(i: int, G: SparseLike, _P: FloatArray, weighted: FloatArray) -> None:
            out[i] += times_dense(G.T, weighted, self._n_jobs)

        self._each(replicates, V, add)
        for i, r in enumerate(replicates):
            out[i] -= self._d[r][:, None] * (V if V.ndim == 2 else V[i])
            out[i] /= self._scale[r]
        return out

    def quotients(self, replicates: Sequence[int], V: FloatArray) -> FloatArray:
        """V_r' C_r V_r for each of these replicates, in one pass."""
        out = np.zeros((len(replicates), V.shape[-1], V.shape[-1]))

        def add(i: int, _G: SparseLike, P: FloatArray, weighted: FloatArray) -> None:
            out[i] += P.T @ weighted

        self._each(replicates, V, add)
        for i, r in enumerate(replicates):
            part = V if V.ndim == 2 else V[i]
            out[i] -= part.T @ (self._d[r][:, None] * part)
            out[i] /= self._scale[r]
        return (out + out.transpose(0, 2, 1)) / 2.0

    def _each(self, replicates: Sequence[int], V: FloatArray, add: Callable[..., None]) -> None:
        """Call ``add(i, G, P, weighted)`` with P = G V_i and diag(w) P, for each block G and replicate, side by side."""
        for G, weights in self._scaled():
            shared = times_dense(G, V, self._n_jobs) if V.ndim == 2 else None

            def one(i: int, _: int, G: Any = G, weights: Any = weights, shared: Any = shared) -> None:
                P = times_dense(G, V[i], self._n_jobs) if shared is None else shared
                add(i, G, P, weights[replicates[i]][:, None] * P)

            for_each_block(one, len(replicates), 1, self._n_jobs)


class AsTheyAre:
    """C of the documents as they are, as an operator."""

    def __init__(self, statistics: ReplicateStatistics) -> None:
        self._statistics = statistics
        self.shape = (statistics.n_words, statistics.n_words)

    def __matmul__(self, V: FloatArray) -> FloatArray:
        return self._statistics.products([0], V)[0]

"""Leading eigenpairs of a sum of co-occurrences, block after block: each block is seen once and forgotten.

Notation
--------
U : (N, r)   orthonormal; U diag(theta) U' stands for the sum over all documents so far, before the division by M
B : (m, J)   scaled documents of a block, in the words J that it holds; d_J what is taken from the diagonal
Z : (N, .)   [U, V], V = U a + E_J y orthonormal: what the block adds to U

The decomposition is that of C itself, the diagonal of each block taken off before the block is truncated: on short
documents it is several times nearer than a decomposition of the documents, whose diagonal comes off at the end. All but
one product of U with a small matrix works on the words of the block alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..exceptions import InputError
from ..linalg.parallel import limited_threads, one_library_thread
from ..linalg.sparse import times_dense
from ..linalg.tall import gram, times
from .probe import probe_rows, word_keys
from .sums import PairSums

# Counts that wait to be worked on together: larger blocks are truncated less often.
_BLOCK_COUNTS = 1 << 21

# Rounds of Rayleigh-Ritz for a block; two come within some 10% of what many would give, the first block needs more.
_ROUNDS, _FIRST_ROUNDS = 2, 4
# Columns of a block whose words are not all known yet.
_ANY = 2**31 - 1
# Directions shorter than this share of the longest are rounding.
_SHORT = 1e-10
# What products of columns that are read from a file may be off by: far above what rounding leaves in thousands of blocks.
_LOOSE = 1e-6


class IncrementalPart:
    """The leading eigenpairs of a sketch, and the blocks that wait to be folded in.

    Parameters
    ----------
    rank : int
        Pairs to keep.
    seed : int
    """

    def __init__(self, rank: int, seed: int) -> None:
        self._rank, self._seed = rank, seed
        self._leading = nothing(0)
        self._names: list[str] = []
        self._pending: list[tuple[SparseLike, FloatArray]] = []
        self._n_pending = self._n_blocks = 0
        self._settled: Leading | None = None  # with what waits, where somebody has asked

    def grow(self, names: list[str]) -> None:
        """Make room for new words."""
        self._names = self._names + names
        U, theta = self._leading
        self._leading = Leading(np.concatenate([U, np.zeros((len(names), U.shape[1]))]), theta)
        self._settled = None

    def add(self, counts: SparseLike, weights: FloatArray, rows: IntArray, n_jobs: int | None) -> None:
        """Add documents; columns belong to these rows."""
        kept = np.flatnonzero(weights > 0.0)
        part = counts[kept]
        part = sp.csr_array((part.data, rows[part.indices], part.indptr), shape=(kept.size, _ANY))
        self._wait(part, weights[kept], n_jobs)

    def _wait(self, part: SparseLike, weights: FloatArray, n_jobs: int | None) -> None:
        self._pending = [*self._pending, (part, weights)]
        self._n_pending += part.nnz
        self._settled = None
        if self._n_pending >= _BLOCK_COUNTS:
            self.settle(n_jobs)

    def settle(self, n_jobs: int | None) -> None:
        """Fold in what waits."""
        if self._pending:
            self._n_blocks += 1
            self._leading = self._with_pending(n_jobs)
            self._pending, self._n_pending, self._settled = [], 0, None

    def _so_far(self, n_jobs: int | None) -> Leading:
        """The leading pairs, what waits included, which goes on waiting: looking must not change what is looked at."""
        if not self._pending:
            return self._leading
        if self._settled is None:
            self._settled = self._with_pending(n_jobs)
        return self._settled

    def _with_pending(self, n_jobs: int | None) -> Leading:
        counts = sp.csr_array(sp.vstack([part for part, _ in self._pending], format="csr"))
        weights = np.concatenate([part for _, part in self._pending])
        rows, columns = np.unique(counts.indices, return_inverse=True)
        scale = np.repeat(np.sqrt(weights), np.diff(counts.indptr))
        B = sp.csr_array(
            (counts.data * scale, columns.astype(np.int32), counts.indptr), shape=(counts.shape[0], rows.size)
        )
        d = np.bincount(columns, weights=counts.data * scale**2, minlength=rows.size).astype(np.float64)
        names = [self._names[i] for i in rows]
        with limited_threads(n_jobs), one_library_thread():
            return with_block(self._leading, B, d, rows, self._rank, names, self._seed + self._n_blocks + 1)

    def combine(self, other: IncrementalPart, rows: IntArray, sign: int, n_jobs: int | None) -> None:
        """Add another's documents, whose words are these rows here; they cannot be taken out."""
        if sign < 0:
            raise InputError(
                "an incremental sketch cannot forget documents: build linear ones where they must be removable."
            )
        aligned = np.zeros((len(self._names), other._leading.theta.size))
        aligned[rows] = other._leading.U
        self._leading = merged(self._leading, Leading(aligned, other._leading.theta), self._rank)
        self._n_blocks += other._n_blocks
        for part, weights in other._pending:
            self._wait(sp.csr_array((part.data, rows[part.indices], part.indptr), shape=part.shape), weights, n_jobs)

    def keep(self, rows: IntArray) -> None:
        """Forget all words but these."""
        self._names = [self._names[i] for i in rows]
        self._leading = Leading(self._leading.U[rows], self._leading.theta)

    def copy(self) -> IncrementalPart:
        """The same once more; arrays are never changed in place, so they are shared."""
        twin = IncrementalPart(self._rank, self._seed)
        twin.__dict__.update(self.__dict__)
        return twin

    def available(self, n_words: int, n_jobs: int | None) -> int:  # noqa: ARG002
        """Pairs that there are."""
        return self._so_far(n_jobs).theta.size

    def eigh(self, rows: IntArray, sums: PairSums, K: int, n_jobs: int | None) -> tuple[FloatArray, FloatArray]:
        """K leading eigenpairs of C; the diagonal came off block by block, unclipped, so that M is what to divide by."""
        U, theta = self._so_far(n_jobs)
        if theta.size < K:
            raise InputError(
                f"the sketch has only {theta.size} positive eigenvalues, but {K} are wanted: give more documents or ask for "
                "fewer topics."
            )
        return theta[:K] / sums.n_docs, U[rows, :K]

    def arrays(self, n_jobs: int | None) -> dict[str, Any]:
        """What is written to disk, with what waits folded in."""
        U, theta = self._so_far(n_jobs)
        return {"U": U, "theta": theta, "n_blocks": np.array([self._n_blocks + bool(self._pending)])}

    def restore(self, names: list[str], arrays: dict[str, Any]) -> None:
        """Take what was written; ValueError where it does not fit."""
        U, theta = np.asarray(arrays["U"]), np.asarray(arrays["theta"])
        if U.shape != (len(names), theta.size) or theta.ndim != 1 or theta.size > self._rank:
            raise ValueError(f"U has shape {U.shape}, theta {theta.shape}")
        if not (theta > 0.0).all() or (theta[1:] > theta[:-1]).any():
            raise ValueError("theta is not positive and descending")
        if theta.size and (np.abs(U).max() > 1.0 + _LOOSE or np.abs(U.T @ U - np.eye(theta.size)).max() > _LOOSE):
            raise ValueError("the columns of U are not orthonormal")
        blocks = np.asarray(arrays["n_blocks"])
        if blocks.shape != (1,) or not 0 <= blocks[0] < 2**31:
            raise ValueError("n_blocks is no number of blocks")
        self._names, self._leading = names, Leading(U, theta)
        self._n_blocks = int(blocks[0])


class Leading(NamedTuple):
    """U and theta, in descending order."""

    U: FloatArray
    theta: FloatArray


def nothing(n_words: int) -> Leading:
    """The sum over no documents."""
    return Leading(np.zeros((n_words, 0)), np.zeros(0))


def with_block(
    so_far: Leading, B: SparseLike, d: FloatArray, words: IntArray, rank: int, names: list[str], salt: int
) -> Leading:
    """Leading eigenpairs of U theta U' + B'B - diag(d).

    Parameters
    ----------
    so_far : Leading
    B : (m, J) CSR
        Scaled documents.
    d : (J,) array
    words : (J,) array
        Rows of U that the columns of B belong to.
    rank : int
        How many pairs to keep.
    names : list of str
        Words of the columns: the probe of a block belongs to them, so that the order of columns does not matter.
    salt : int
        Makes the probe of every block another one.
    """
    U, theta = so_far
    old = theta.size
    fresh = max(10, rank // 2) + (0 if old else rank)
    Bt = sp.csr_array(B.T)
    UJ = U[words]
    # Frequent words matter more: rows of the probe weighted by their share in the block find its space sooner.
    weights = np.bincount(B.indices, weights=B.data**2, minlength=words.size)
    gaussian = probe_rows(word_keys(names, salt), fresh)
    probe = np.concatenate([UJ, gaussian * (weights / weights.max())[:, None]], axis=1)
    for _ in range(_ROUNDS if old else _FIRST_ROUNDS):
        a, y = _orthonormal(UJ, times_dense(Bt, times_dense(B, probe)) - d[:, None] * probe)
        ZJ = np.concatenate([UJ, times(UJ, a) + y], axis=1)
        BZ = times_dense(B, ZJ)
        T = gram(BZ, BZ) - gram(ZJ, d[:, None] * ZJ)
        T[np.arange(old), np.arange(old)] += theta
        values, S = np.linalg.eigh((T + T.T) / 2.0)
        values, S = values[::-1], S[:, ::-1]
        probe = times(ZJ, np.ascontiguousarray(S[:, : rank if old else rank + fresh // 2]))
    kept = min(rank, int(np.sum(values > 0.0)))
    S = S[:, :kept]
    new = times(U, S[:old] + a @ S[old:])
    new[words] += times(y, np.ascontiguousarray(S[old:]))
    return Leading(new, values[:kept].copy())


def merged(one: Leading, other: Leading, rank: int) -> Leading:
    """Leading eigenpairs of the sum of two, exact for what the two hold."""
    if one.theta.size == 0 or other.theta.size == 0:
        return other if one.theta.size == 0 else one
    Q, R = np.linalg.qr(np.concatenate([one.U, other.U], axis=1))
    values, S = np.linalg.eigh((R * np.concatenate([one.theta, other.theta])) @ R.T)
    kept = np.argsort(-values)[: min(rank, int(np.sum(values > 0.0)))]
    return Leading(Q @ S[:, kept], values[kept])


def _orthonormal(UJ: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A and y: columns U a + E y that span what E Y adds to U, orthonormal. By Gram matrices of J rows, twice."""
    lengths = np.linalg.norm(Y, axis=0)
    y = Y[:, lengths > 0.0] / lengths[lengths > 0.0]
    a = np.zeros((UJ.shape[1], y.shape[1]))
    for _ in range(2):
        overlap = gram(UJ, y)
        products = gram(y, y) - overlap.T @ overlap
        values, vectors = np.linalg.eigh((products + products.T) / 2.0)
        kept = values > max(_SHORT * values[-1], 1e-14) if values.size else np.zeros(0, dtype=bool)
        turn = vectors[:, kept] / np.sqrt(values[kept])
        a, y = -overlap @ turn, times(y, turn)
    return a, y

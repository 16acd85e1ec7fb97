"""One sweep of variational EM over documents: expected counts of topics in documents and of words in topics.

Notation
--------
x : (N,)           counts of one document
gamma : (K,)       its expected tokens of each topic, plus alpha
v : (K,)           exp(digamma(gamma)), scaled to sum to one: the sparse prior at work
p = B v            word probabilities
r_i = x_i / p_i
gamma <- alpha + v * (B'r), and topic k is given r_i v_k B_ik tokens of word i
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, SparseLike
from ..kernels import kernels_for
from ..linalg.sparse import csr_parts, rows_between
from ..sources.source import Source
from ..storage.arrays import write_npy
from ..storage.temporary import remove_folder

# Weights of documents that are held beside their expected counts: 16 MB.
_WEIGHTS = 1 << 21
# Expected counts of documents beyond so many numbers (512 MB) are kept in files.
_IN_MEMORY = 1 << 26


class Documents(NamedTuple):
    """Some documents, by row and by word.

    Attributes
    ----------
    by_row : (indptr, indices, data)
    by_word : (indptr, rows, place)
        Documents of each word, and where its count stands in ``data``.
    weights : (M,) array or None
        How often each document counts; once where there are none.
    """

    by_row: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], FloatArray]
    by_word: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]
    weights: FloatArray | None = None

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return self.by_row[0].size - 1

    def number_with(self, words: BoolArray | None = None) -> float:
        """Number of documents, as often as they count, that hold one of these words, or any."""
        indptr, indices, _ = self.by_row
        if words is None:
            some = np.diff(indptr) > 0
        else:
            seen = np.concatenate([[0], np.cumsum(words[indices])])
            some = seen[indptr[1:]] > seen[indptr[:-1]]
        return float(np.count_nonzero(some) if self.weights is None else self.weights[some].sum())

    def row_sums(self, values: FloatArray) -> FloatArray:
        """Sum of values, one per count, in each document."""
        indptr = self.by_row[0]
        sums = np.add.reduceat(np.append(values, 0.0), indptr[:-1])
        sums[np.diff(indptr) == 0] = 0.0
        return np.asarray(sums)

    @property
    def lengths(self) -> FloatArray:
        """Tokens of each document."""
        return self.row_sums(self.by_row[2])

    @property
    def weighted(self) -> FloatArray:
        """Counts, each as often as its document."""
        return (
            self.by_row[2]
            if self.weights is None
            else self.by_row[2] * np.repeat(self.weights, np.diff(self.by_row[0]))
        )


def as_documents(counts: SparseLike, weights: FloatArray | None = None) -> Documents:
    """Both views of some documents."""
    rows = csr_parts(counts)
    places = sp.csr_array((np.arange(rows[2].size, dtype=np.int64), rows[1], rows[0]), shape=counts.shape).tocsc()
    return Documents(
        rows,
        (
            places.indptr.astype(np.int64, copy=False),
            places.indices.astype(np.int32, copy=False),
            places.data.astype(np.int64, copy=False),
        ),
        weights,
    )


class Pieces:
    """Documents in pieces of bounded size, in an order that is always the same.

    What is in memory is turned round once; what is read from a source, in every pass. ``weights`` (M,) say how often each
    document counts.
    """

    def __init__(self, source: Source, K: int, weights: FloatArray | None = None) -> None:
        self.n_words = source.n_words
        self._step = max(1, _WEIGHTS // K)
        self._source, self._weights = source, weights
        self._held = None if source.counts is None else list(self._cut([source.counts]))

    @property
    def held(self) -> bool:
        """Whether the pieces stay in memory between passes."""
        return self._held is not None

    def __iter__(self) -> Iterator[Documents]:
        return iter(self._held) if self._held is not None else self._cut(self._source.blocks())

    def _cut(self, blocks: Iterable[SparseLike]) -> Iterator[Documents]:
        first = 0
        for block in blocks:
            rows = sp.csr_array(block)
            for start in range(0, rows.shape[0], self._step):
                part = rows_between(rows, start, start + self._step)
                own = None if self._weights is None else self._weights[first : first + part.shape[0]]
                yield as_documents(part, own)
                first += part.shape[0]


class PerDocument:
    """A row of numbers per document, such as gamma, in pieces; in files where they are many."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[FloatArray] = []
        self._size = self._number = 0

    def append(self, part: FloatArray) -> None:
        """Add the next documents."""
        self._size += part.size
        if self._size > _IN_MEMORY:
            self._number += 1
            path = self._folder / f"{self._number}.npy"
            # Written before it is mapped, so that it has its room on the disk: mappings of holes die where it is full.
            write_npy(path, np.float64, part.shape, [part])
            part = np.lib.format.open_memmap(path, mode="r+")
        self._parts.append(part)

    def __getitem__(self, number: int) -> FloatArray:
        return self._parts[number]

    def __len__(self) -> int:
        return len(self._parts)

    def mapped(self, change: Callable[[FloatArray], FloatArray], folder: Path) -> PerDocument:
        """The same documents with other columns; what was held of them is given up."""
        other = PerDocument(folder)
        while self._parts:
            other.append(np.ascontiguousarray(change(self._parts.pop(0))))
        remove_folder(self._folder)
        return other

    def moments(self, weights: FloatArray | None = None, n_columns: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Sums over documents, as often as they count, of E[w] and E[w w'] under the Dirichlets with these parameters.

        With ``n_columns`` those of the first columns scaled to sum to one, which have the Dirichlet of their own parameters.
        """
        K = self._parts[0].shape[1] if n_columns is None else n_columns
        mean, square = np.zeros(K), np.zeros((K, K))
        first = 0
        for whole in self._parts:
            part = whole[:, :K]
            total = part.sum(axis=1)
            often = 1.0 if weights is None else weights[first : first + part.shape[0]]
            first += part.shape[0]
            scaled = part * (often / (total * (total + 1.0)))[:, None]
            mean += (part * (often / total)[:, None]).sum(axis=0)
            square += part.T @ scaled + np.diag(scaled.sum(axis=0))
        return mean, square


def expect(
    documents: Documents,
    B: FloatArray,
    alpha: FloatArray,
    gamma: FloatArray,
    steps: int,
    words: FloatArray | None,
    n_jobs: int | None,
) -> FloatArray:
    """Improve gamma in place by so many steps; returns the log-likelihood of each document at the last.

    ``words`` (N, K), if given, has the expected tokens of every word and topic at the last step added to it. The sums run
    over documents in order for each word: the same bits for any number of threads.
    """
    kernels = kernels_for(B)
    found = kernels.expect(documents.by_row, B, alpha, gamma, steps, n_jobs)
    if found.gamma is not gamma:
        gamma[...] = found.gamma
    if words is not None:
        ratio = found.ratio
        if documents.weights is not None:
            ratio = ratio * np.repeat(documents.weights, np.diff(documents.by_row[0]))
        added = kernels.gather(documents.by_word, ratio, found.v, B, words, n_jobs)
        if added is not words:
            words[...] = added
    return found.likelihood if documents.weights is None else found.likelihood * documents.weights


def removal_losses(
    documents: Documents, B: FloatArray, gamma: FloatArray, background: FloatArray, n_jobs: int | None
) -> FloatArray:
    """What the log-likelihood would lose, at first sight, without each topic: its share goes to the document's others.

    A word that no other topic explains is left to the ``background``, word probabilities that are mixed in with a twentieth.
    """
    rows = (*documents.by_row[:2], documents.weighted)
    return np.asarray(kernels_for(B).removal_losses(rows, B, gamma, background, n_jobs))

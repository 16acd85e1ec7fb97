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
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import array_api_compat
import numpy as np
import scipy.sparse as sp

from .._namespace import array_namespace, is_numpy, like, to_numpy
from .._typing import BoolArray, FloatArray, SparseLike
from ..kernels import kernels_for
from ..linalg.sparse import csr_parts, rows_between
from ..linalg.tall import contiguous
from ..sources.source import Source
from ..storage.arrays import write_npy
from ..storage.temporary import remove_folder

# Weights of documents that are held beside their expected counts: 16 MB.
_WEIGHTS = 1 << 21
# Expected counts of documents beyond so many numbers (512 MB) are kept in files.
_IN_MEMORY = 1 << 26
# The same for tensors: weights of a piece (512 MB), since it takes many documents to occupy a GPU, its counts (3 GB in both
# orders), counts of all pieces that are held on the device (6 GB, and 4 GB for damped ones), and expected counts (8 GB),
# of which more are kept on the host.
_DEVICE_WEIGHTS, _DEVICE_COUNTS, _DEVICE_HELD, _DEVICE_MEMORY = 1 << 26, 1 << 27, 1 << 28, 1 << 30
# Blocks of a source are joined until they have so many counts (200 MB on the host).
_JOINED = 1 << 24


class Documents(NamedTuple):
    """Some documents, by row and by word; arrays are NumPy's, or all on one device.

    Attributes
    ----------
    by_row : (indptr, indices, data)
    by_word : (indptr, rows, place)
        Documents of each word, and where its count stands in ``data``.
    weights : (M,) array or None
        How often each document counts; once where there are none.
    """

    by_row: tuple[Any, Any, Any]
    by_word: tuple[Any, Any, Any]
    weights: Any = None

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return int(self.by_row[0].shape[0]) - 1

    def number_with(self, words: BoolArray | None = None) -> float:
        """Number of documents, as often as they count, that hold one of these words, or any."""
        indptr, indices, _ = self.by_row
        xp = array_namespace(indptr)
        if words is None:
            some = xp.diff(indptr) > 0
        else:
            known = xp.astype(like(words, indices)[indices], xp.int64)
            seen = xp.cumulative_sum(known, include_initial=True)
            some = seen[indptr[1:]] > seen[indptr[:-1]]
        return float(xp.sum(some) if self.weights is None else xp.sum(self.weights[some]))

    def row_sums(self, values: Any) -> Any:
        """Sum of values, one per count, in each document."""
        indptr, indices, _ = self.by_row
        if not is_numpy(values):
            return _sums((indptr, array_namespace(indices).zeros_like(indices), values))
        sums = np.add.reduceat(np.append(values, 0.0), indptr[:-1])
        sums[np.diff(indptr) == 0] = 0.0
        return np.asarray(sums)

    def per_count(self, values: Any) -> Any:
        """Values of documents, for each of their counts."""
        xp = array_namespace(values)
        return xp.repeat(values, xp.diff(self.by_row[0]))

    @property
    def lengths(self) -> Any:
        """Tokens of each document."""
        return self.row_sums(self.by_row[2])

    @property
    def weighted(self) -> Any:
        """Counts, each as often as its document."""
        return self.by_row[2] if self.weights is None else self.by_row[2] * self.per_count(self.weights)

    @property
    def frequencies(self) -> Any:
        """Number of documents of each word, as often as they count."""
        indptr, rows, _ = self.by_word
        xp = array_namespace(indptr)
        if self.weights is None:
            return xp.diff(indptr)
        if is_numpy(indptr):
            return np.bincount(self.by_row[1], weights=self.per_count(self.weights), minlength=indptr.size - 1)
        return _sums((indptr, xp.zeros_like(rows), self.weights[rows]))


def _sums(rows: tuple[Any, Any, Any]) -> Any:
    """Sums of the rows of a matrix with one column."""
    one = array_namespace(rows[2]).ones_like(rows[2][:1])[:, None]
    return kernels_for(one).sparse_product(rows, one)[:, 0]


def as_documents(counts: SparseLike, weights: FloatArray | None = None, prototype: Any = None) -> Documents:
    """Both views of some documents, on the device of a prototype where there is one."""
    if prototype is not None:
        return _documents_on(counts, weights, prototype)
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


def _documents_on(counts: SparseLike, weights: FloatArray | None, prototype: Any) -> Documents:
    indptr, words, data = (like(part, prototype) for part in csr_parts(counts))
    xp, device = array_namespace(words), array_api_compat.device(words)
    M, N = counts.shape
    places = xp.argsort(words, stable=True)
    documents = xp.repeat(xp.arange(M, dtype=xp.int32, device=device), xp.diff(indptr))
    ends = xp.searchsorted(words[places], xp.arange(N + 1, dtype=xp.int32, device=device))
    return Documents(
        (indptr, words, data),
        (xp.astype(ends, xp.int64), documents[places], places),
        None if weights is None else like(weights, prototype),
    )


class Pieces:
    """Documents in pieces of bounded size, in an order that is always the same.

    What is in memory is turned round once; what is read from a source, in every pass. A device holds what is read as well,
    unless it is too large: then it is moved there in every pass.

    Parameters
    ----------
    source : Source
    K : int
        Numbers per document that are held beside its counts.
    weights : (M,) array, optional
        How often each document counts.
    prototype : array, optional
        Documents are arrays of its namespace, on its device; NumPy's by default.
    """

    def __init__(self, source: Source, K: int, weights: FloatArray | None = None, prototype: Any = None) -> None:
        self.n_words, self.like = source.n_words, prototype
        self._source, self._weights = source, weights
        self._counts = source.counts
        self._step = max(1, (_WEIGHTS if prototype is None else _DEVICE_WEIGHTS) // K)
        self._held = self._all_of_them()

    @property
    def held(self) -> bool:
        """Whether the pieces stay in memory between passes."""
        return self._held is not None

    def __iter__(self) -> Iterator[Documents]:
        return self._read() if self._held is None else iter(self._held)

    def _all_of_them(self) -> list[Documents] | None:
        """Pieces to hold; None if they are too many."""
        if self.like is None:
            return None if self._counts is None else list(self._read())
        if self._counts is not None and self._counts.nnz > _DEVICE_HELD:
            return None
        held, n_counts = [], 0
        for documents in self._read():
            n_counts += int(documents.by_row[1].shape[0])
            if n_counts > _DEVICE_HELD:
                return None
            held.append(documents)
        return held

    def _read(self) -> Iterator[Documents]:
        if self._counts is not None:
            return self._cut([self._counts])
        blocks = self._source.blocks()
        return self._cut(blocks if self.like is None else _joined(blocks))

    def _cut(self, blocks: Iterable[SparseLike]) -> Iterator[Documents]:
        first = 0
        for block in blocks:
            rows = sp.csr_array(block)
            start = 0
            while start < rows.shape[0]:
                part = rows_between(rows, start, self._end(rows.indptr, start))
                own = None if self._weights is None else self._weights[first : first + part.shape[0]]
                yield as_documents(part, own, self.like)
                first += part.shape[0]
                start += part.shape[0]

    def _end(self, indptr: Any, start: int) -> int:
        """Where a piece that begins at a row ends."""
        end = min(start + self._step, indptr.size - 1)
        if self.like is not None:
            most = int(np.searchsorted(indptr, int(indptr[start]) + _DEVICE_COUNTS, side="right")) - 1
            end = min(end, max(most, start + 1))
        return end


def _joined(blocks: Iterable[SparseLike]) -> Iterator[SparseLike]:
    """Blocks one above the other, as many as make a large one."""
    some: list[SparseLike] = []
    for block in blocks:
        some.append(sp.csr_array(block))
        if sum(part.nnz for part in some) >= _JOINED:
            yield sp.vstack(some, format="csr")
            some = []
    if some:
        yield sp.vstack(some, format="csr")


class PerDocument:
    """A row of numbers per document, such as gamma, in pieces; in files where they are many.

    Arrays on a device stay there until they are many; further ones are kept on the host, and copied when they are asked for.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[Any] = []
        self._size = self._device_size = self._number = 0
        self._prototype: Any = None

    def append(self, part: Any) -> None:
        """Add the next documents."""
        if not is_numpy(part):
            self._prototype = array_namespace(part).empty(0, device=array_api_compat.device(part))
            self._device_size += prod(part.shape)
            if self._device_size <= _DEVICE_MEMORY:
                self._parts.append(part)
                return
            part = to_numpy(part)
        self._size += part.size
        if self._size > _IN_MEMORY:
            self._number += 1
            path = self._folder / f"{self._number}.npy"
            # Written before it is mapped, so that it has its room on the disk: mappings of holes die where it is full.
            write_npy(path, np.float64, part.shape, [part])
            part = np.lib.format.open_memmap(path, mode="r+")
        self._parts.append(part)

    def __getitem__(self, number: int) -> Any:
        return like(self._parts[number], self._prototype)

    def put_back(self, number: int, part: Any) -> None:
        """Keep what has become of ``self[number]``, which may be a copy."""
        if is_numpy(self._parts[number]) and not is_numpy(part):
            self._parts[number][...] = to_numpy(part)

    def __len__(self) -> int:
        return len(self._parts)

    def mapped(self, change: Callable[[Any], Any], folder: Path) -> PerDocument:
        """The same documents with other columns; what was held of them is given up."""
        other = PerDocument(folder)
        while self._parts:
            other.append(contiguous(change(like(self._parts.pop(0), self._prototype))))
        remove_folder(self._folder)
        return other

    def moments(self, weights: FloatArray | None = None, n_columns: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Sums over documents, as often as they count, of E[w] and E[w w'] under the Dirichlets with these parameters.

        With ``n_columns`` those of the first columns scaled to sum to one, which have the Dirichlet of their own parameters.
        """
        K = self._parts[0].shape[1] if n_columns is None else n_columns
        mean, square = np.zeros(K), np.zeros((K, K))
        first = 0
        for number in range(len(self)):
            part = self[number][:, :K]
            total = part.sum(axis=1)
            often = 1.0 if weights is None else like(weights[first : first + part.shape[0]], part)
            first += part.shape[0]
            scaled = part * (often / (total * (total + 1.0)))[:, None]
            mean += to_numpy((part * (often / total)[:, None]).sum(axis=0))
            square += to_numpy(part.T @ scaled) + np.diag(to_numpy(scaled.sum(axis=0)))
        return mean, square


def expect(
    documents: Documents,
    B: Any,
    alpha: Any,
    gamma: Any,
    steps: int,
    words: Any,
    n_jobs: int | None,
) -> Any:
    """Improve gamma in place by so many steps; returns the log-likelihood of each document at the last.

    ``words`` (N, K), if given, has the expected tokens of every word and topic at the last step added to it. The sums run
    over documents in order for each word: the same bits for any number of threads.
    """
    kernels = kernels_for(B)
    found = kernels.expect(documents.by_row, B, like(alpha, B), gamma, steps, n_jobs)
    if found.gamma is not gamma:
        gamma[...] = found.gamma
    if words is not None:
        ratio = found.ratio
        if documents.weights is not None:
            ratio = ratio * documents.per_count(documents.weights)
        added = kernels.gather(documents.by_word, ratio, found.v, B, words, n_jobs)
        if added is not words:
            words[...] = added
    return found.likelihood if documents.weights is None else found.likelihood * documents.weights


def removal_losses(documents: Documents, B: Any, gamma: Any, background: Any, n_jobs: int | None) -> FloatArray:
    """What the log-likelihood would lose, at first sight, without each topic: its share goes to the document's others.

    A word that no other topic explains is left to the ``background``, word probabilities that are mixed in with a twentieth.
    """
    rows = (*documents.by_row[:2], documents.weighted)
    return to_numpy(kernels_for(B).removal_losses(rows, B, gamma, background, n_jobs))

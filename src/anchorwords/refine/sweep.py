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

import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import FloatArray, SparseLike
from ..kernels.compiled import CSR, INT, MATRIX, READ_INDICES, READ_MATRIX, READ_VECTOR, VECTOR, VOID, compiled, inner
from ..linalg.parallel import for_each_block
from ..linalg.sparse import csr_parts, rows_between

# Weights of documents that are held beside their expected counts: 16 MB.
_WEIGHTS = 1 << 21
# Expected counts of documents beyond so many numbers (512 MB) are kept in files.
_IN_MEMORY = 1 << 26
_DOCS, _WORDS = 64, 256
# exp(digamma) of a topic that a document all but lacks counts as this: a word of that topic alone stays explained.
_LEAST = 1e-200
# A word that is less probable than this in a document has no part in its step: counts divided by it would be infinite.
_IMPOSSIBLE = 1e-290
# Products of probabilities below this are turned into logarithms.
_TINY = 1e-250
# Share of a document that is left, at the least, without a topic: it is divided by.
_REMAINDER = 1e-6
# In products of ratios: factors from this to its inverse, of which four make at most 1e100, until they are beyond the other.
_SMALL_FACTOR, _SMALL_PRODUCT = 1e-25, 1e-100


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

    def __init__(
        self,
        counts: SparseLike | None,
        blocks: Callable[[], Iterable[SparseLike]],
        K: int,
        weights: FloatArray | None = None,
    ) -> None:
        self._step = max(1, _WEIGHTS // K)
        self._blocks, self._weights = blocks, weights
        self._held = None if counts is None else list(self._cut([counts]))

    def __iter__(self) -> Iterator[Documents]:
        return iter(self._held) if self._held is not None else self._cut(self._blocks())

    def _cut(self, blocks: Iterable[SparseLike]) -> Iterator[Documents]:
        first = 0
        for block in blocks:
            rows = sp.csr_array(block)
            for start in range(0, rows.shape[0], self._step):
                part = rows_between(rows, start, start + self._step)
                own = None if self._weights is None else self._weights[first : first + part.shape[0]]
                yield as_documents(part, own)
                first += part.shape[0]


class Expected:
    """Expected tokens of each topic in every document, gamma, in pieces; in files where they are many."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[FloatArray] = []
        self._size = self._number = 0

    def append(self, part: FloatArray) -> None:
        """Add the next documents."""
        self._size += part.size
        if self._size > _IN_MEMORY:
            self._number += 1
            file = np.lib.format.open_memmap(
                self._folder / f"{self._number}.npy", mode="w+", dtype=np.float64, shape=part.shape
            )
            file[:] = part
            part = file
        self._parts.append(part)

    def __getitem__(self, number: int) -> FloatArray:
        return self._parts[number]

    def __len__(self) -> int:
        return len(self._parts)

    def mapped(self, change: Callable[[FloatArray], FloatArray], folder: Path) -> Expected:
        """The same documents with other columns; what was held of them is given up."""
        other = Expected(folder)
        while self._parts:
            other.append(np.ascontiguousarray(change(self._parts.pop(0))))
        shutil.rmtree(self._folder, ignore_errors=True)
        return other

    def moments(self, weights: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Sums over documents, as often as they count, of E[w] and E[w w'] under the Dirichlets with these parameters."""
        K = self._parts[0].shape[1]
        mean, square = np.zeros(K), np.zeros((K, K))
        first = 0
        for part in self._parts:
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
    indptr, indices, data = documents.by_row
    M, K = gamma.shape
    v, ratio, likelihood = np.empty((M, K)), np.empty(data.size), np.empty(M)

    def work(start: int, stop: int) -> None:
        _expect_rows(
            indptr, indices, data, B, alpha, start, steps, gamma[start:stop], v[start:stop], likelihood[start:stop], ratio
        )  # fmt: skip

    for_each_block(work, M, _DOCS, n_jobs)
    if words is not None:
        begins, rows, place = documents.by_word
        if documents.weights is not None:
            ratio *= np.repeat(documents.weights, np.diff(indptr))
        gather = partial(_gather_words, begins, rows, place, ratio, v, B)
        for_each_block(lambda start, stop: gather(start, words[start:stop]), B.shape[0], _WORDS, n_jobs)
    return likelihood if documents.weights is None else likelihood * documents.weights


def removal_losses(
    documents: Documents, B: FloatArray, gamma: FloatArray, background: FloatArray, n_jobs: int | None
) -> FloatArray:
    """What the log-likelihood would lose, at first sight, without each topic: its share goes to the document's others.

    A word that no other topic explains is left to the ``background``, word probabilities that are mixed in with a twentieth.
    """
    indptr, indices, _ = documents.by_row
    data = documents.weighted
    M, K = gamma.shape
    n_blocks = -(-M // _DOCS)
    losses = np.zeros((n_blocks, K))

    def work(start: int, stop: int) -> None:
        _lose_rows(indptr, indices, data, B, gamma[start:stop], background, start, losses[start // _DOCS])

    for_each_block(work, M, _DOCS, n_jobs)
    return losses.sum(axis=0)


@inner
def _exp_digamma(x):  # type: ignore[no-untyped-def]
    """exp(digamma(x)) for x > 0: six steps up, 1/x + ... + 1/(x + 5) as one fraction, then the asymptotic series."""
    u = x * (x + 5.0)  # the pairs are 1/u, 1/(u + 4) and 1/(u + 6), each times 2 x + 5
    back = (2.0 * x + 5.0) * (u * (3.0 * u + 20.0) + 24.0) / (u * (u + 4.0) * (u + 6.0))
    inverse = 1.0 / (x + 6.0)
    f = inverse * inverse
    series = f * (1.0 / 12.0 - f * (1.0 / 120.0 - f * (1.0 / 252.0 - f * (1.0 / 240.0 - f / 132.0))))
    return (x + 6.0) * np.exp(-back - 0.5 * inverse - series)


@inner
def _small_power(x, n):  # type: ignore[no-untyped-def]
    """The n-th power of x for n = 1, 2, 3, 4, and zero for any other n."""
    if n == 1.0:
        return x
    if n == 2.0:
        return x * x
    if n == 3.0:
        return x * x * x
    return x * x * x * x if n == 4.0 else 0.0


@compiled(
    VOID, *CSR, READ_MATRIX, READ_VECTOR, INT, INT, MATRIX, MATRIX, VECTOR, VECTOR, reorder=True
)  # fmt: skip
def _expect_rows(  # type: ignore[no-untyped-def]
    indptr, indices, data, B, alpha, first, steps, gamma, v, likelihood, ratio
):
    K = B.shape[1]
    n = np.empty(K)
    for row in range(gamma.shape[0]):
        begin, end = indptr[first + row], indptr[first + row + 1]
        for _ in range(steps):
            # Sums stand in loops that store nothing: where a loop does both, a check made when it runs, by where arrays
            # lie in memory, decides whether it goes in vector lanes, and with that the order of the sum.
            for k in range(K):
                v[row, k] = max(_exp_digamma(gamma[row, k]), _LEAST)
                n[k] = 0.0
            total = 0.0
            for k in range(K):
                total += v[row, k]
            for k in range(K):
                v[row, k] /= total
            value, product = 0.0, 1.0  # one logarithm for many words
            for q in range(begin, end):
                word = indices[q]
                p = 0.0
                for k in range(K):
                    p += v[row, k] * B[word, k]
                if p > _IMPOSSIBLE:
                    r = data[q] / p
                    power = _small_power(p, data[q])
                    if product * power < _TINY:
                        value += np.log(product)
                        product = 1.0
                    if power < _TINY:
                        value += data[q] * np.log(p)
                    else:
                        product *= power
                    for k in range(K):
                        n[k] += r * B[word, k]
                else:
                    r = 0.0
                ratio[q] = r
            likelihood[row] = value + np.log(product)
            for k in range(K):
                gamma[row, k] = alpha[k] + v[row, k] * n[k]


@compiled(VOID, *CSR[:2], READ_INDICES, READ_VECTOR, READ_MATRIX, READ_MATRIX, INT, MATRIX, reorder=True)
def _gather_words(indptr, rows, place, ratio, v, B, first, words):  # type: ignore[no-untyped-def]
    K = B.shape[1]
    total = np.empty(K)
    for word in range(words.shape[0]):
        begin, end = indptr[first + word], indptr[first + word + 1]
        if begin == end:
            continue
        total[:] = 0.0
        for q in range(begin, end):
            r, row = ratio[place[q]], rows[q]
            for k in range(K):
                total[k] += r * v[row, k]
        for k in range(K):
            words[word, k] += B[first + word, k] * total[k]


@compiled(VOID, *CSR, READ_MATRIX, READ_MATRIX, READ_VECTOR, INT, VECTOR, reorder=True)
def _lose_rows(indptr, indices, data, B, gamma, background, first, losses):  # type: ignore[no-untyped-def]
    K = B.shape[1]
    w, part, lost, scale, product = np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    for row in range(gamma.shape[0]):
        begin, end = indptr[first + row], indptr[first + row + 1]
        if begin == end:
            continue
        total = n = 0.0
        for k in range(K):
            total += gamma[row, k]
        for k in range(K):
            w[k] = gamma[row, k] / total
            scale[k] = 0.95 / (1.0 - w[k] + _REMAINDER)
            lost[k] = 0.0
            product[k] = 1.0  # one logarithm for many words
        for q in range(begin, end):
            word, count = indices[q], data[q]
            p = 0.0
            for k in range(K):
                p += w[k] * B[word, k]
            for k in range(K):
                part[k] = w[k] * B[word, k]
            if p <= 0.0:
                continue
            n += count
            inverse, others = 1.0 / p, 0.05 * background[word] / p
            # The logarithm to first order; that itself, of the rest, where a topic has some of the word.
            for k in range(K):
                own = part[k] * inverse
                lost[k] += count * (w[k] if own > 1e-3 else own)
            least, largest = 1.0, 1.0
            if _SMALL_FACTOR < others < 1.0 / _SMALL_FACTOR and count <= 4.0 and count == int(count):
                for _ in range(int(count)):
                    for k in range(K):
                        own = part[k] * inverse
                        rest = abs(1.0 - own) * scale[k] + others
                        product[k] *= rest if own > 1e-3 else 1.0
                for k in range(K):
                    least, largest = min(least, product[k]), max(largest, product[k])
            else:
                for k in range(K):
                    own = part[k] * inverse
                    if own > 1e-3:
                        lost[k] -= count * np.log(abs(1.0 - own) * scale[k] + others)
            if least < _SMALL_PRODUCT or largest > 1.0 / _SMALL_PRODUCT:
                for k in range(K):
                    lost[k] -= np.log(product[k])
                    product[k] = 1.0
        for k in range(K):
            losses[k] += lost[k] - n * w[k] - np.log(product[k])

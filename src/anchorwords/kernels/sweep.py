"""Expected counts of topics in documents and of words in topics, for one sweep of variational EM.

Notation is that of :mod:`anchorwords.refine.sweep`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..linalg.parallel import for_each_block
from .compiled import CSR, INT, MATRIX, READ_INDICES, READ_MATRIX, READ_VECTOR, VECTOR, VOID, compiled, inner
from .protocol import CsrParts, Expectation

# Documents, and words, that a thread takes at a time.
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


def expect(
    rows: CsrParts, B: FloatArray, alpha: FloatArray, gamma: FloatArray, steps: int, n_jobs: int | None = None
) -> Expectation:
    """Improve gamma by so many steps, in place where it can be written to."""
    indptr, indices, data = rows
    gamma = np.require(gamma, requirements=["C", "W"])
    M, K = gamma.shape
    v, ratio, likelihood = np.empty((M, K)), np.empty(data.size), np.empty(M)

    def work(start: int, stop: int) -> None:
        _expect_rows(
            indptr, indices, data, B, alpha, start, steps, gamma[start:stop], v[start:stop], likelihood[start:stop], ratio
        )  # fmt: skip

    for_each_block(work, M, _DOCS, n_jobs)
    return Expectation(gamma, v, ratio, likelihood)


def gather(
    by_word: Any, ratio: FloatArray, v: FloatArray, B: FloatArray, words: FloatArray, n_jobs: int | None = None
) -> FloatArray:
    """Add the expected tokens of every word and topic to ``words``, in place where they can be written to.

    The sums run over documents in order for each word: the same bits for any number of threads.
    """
    words = np.require(words, requirements=["C", "W"])
    add = partial(_gather_words, *by_word, ratio, v, B)
    for_each_block(lambda start, stop: add(start, words[start:stop]), B.shape[0], _WORDS, n_jobs)
    return words


def removal_losses(
    rows: CsrParts, B: FloatArray, gamma: FloatArray, background: FloatArray, n_jobs: int | None = None
) -> FloatArray:
    """What the log-likelihood would lose, to first order, without each topic."""
    M, K = gamma.shape
    losses = np.zeros((-(-M // _DOCS), K))

    def work(start: int, stop: int) -> None:
        _lose_rows(*rows, B, gamma[start:stop], background, start, losses[start // _DOCS])

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

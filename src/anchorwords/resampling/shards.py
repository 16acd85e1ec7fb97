"""Documents dealt to shards, and the weights that shards are given in replicates.

Notation
--------
S            shards, R replicates
w : (R, S)   weights, non-negative, each row sums to S

Why these weights: with w of mean 1 and variance v, exchangeable and of fixed sum, the weighted mean of the shards' values
t_s varies by v / (S (S - 1)) sum_s (t_s - mean)^2. That is the unbiased estimate of the variance of the mean where v is one.
A multinomial draw has v = 1 - 1/S, Rubin's Bayesian bootstrap (S - 1) / (S + 1): both too sure of themselves when shards
are few. A Dirichlet draw of parameter 1 - 2/S has v = 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray, IntArray

# SplitMix64: a well mixed number for each number.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def shard_of(first: int, n_docs: int, n_shards: int, seed: int) -> IntArray:
    """Shards of documents number first, first + 1, ...

    Each run of S consecutive documents is dealt out one to a shard, in an order drawn for that run: shards have the same
    size but for one document, a trend in the order of documents is in all of them alike, and a period in it in none. A
    document's shard depends on its number and the seed, on nothing else.
    """
    runs = np.arange(first // n_shards, -(-(first + n_docs) // n_shards))
    numbers = (runs[:, None] * n_shards + np.arange(n_shards)).astype(np.uint64)
    order = np.argsort(_mixed(numbers, seed), axis=1, kind="stable")
    shards = np.empty_like(order)
    np.put_along_axis(shards, order, np.arange(n_shards)[None, :], axis=1)
    skipped = first - first // n_shards * n_shards
    return shards.ravel()[skipped : skipped + n_docs]


def shard_weights(n_replicates: int, n_shards: int, seed: int) -> FloatArray:
    """Weights (R, S) of mean and variance one, drawn from a Dirichlet distribution of parameter 1 - 2/S.

    Of two shards, where the parameter is zero, all weight goes to one.
    """
    rng = np.random.default_rng(seed)
    if n_shards == 2:
        return 2.0 * np.eye(2)[rng.integers(2, size=n_replicates)]
    return n_shards * rng.dirichlet(np.full(n_shards, 1.0 - 2.0 / n_shards), size=n_replicates)


def _mixed(numbers: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):  # arithmetic modulo 2^64 is meant
        z = (numbers + np.uint64(1)) * _GOLDEN + np.uint64(seed) * _SECOND
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        return z ^ (z >> np.uint64(31))

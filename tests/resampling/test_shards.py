"""Documents dealt to shards, and the weights of shards."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from anchorwords.resampling.shards import shard_of, shard_weights


@pytest.mark.parametrize("n_shards", [2, 7, 32])
def test_every_run_has_one_document_for_each_shard(n_shards):
    shards = shard_of(0, 5 * n_shards, n_shards, 3).reshape(5, n_shards)
    np.testing.assert_array_equal(np.sort(shards, axis=1), np.tile(np.arange(n_shards), (5, 1)))


def test_a_shard_depends_on_the_number_of_the_document_alone():
    whole = shard_of(0, 1000, 32, 5)
    for cuts in ([1, 31, 32, 33, 700], list(range(0, 1000, 13))):
        bounds = [0, *cuts, 1000]
        parts = [shard_of(a, b - a, 32, 5) for a, b in pairwise(bounds)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_seeds_deal_differently_and_periods_are_not_followed():
    first, second = shard_of(0, 3200, 32, 0), shard_of(0, 3200, 32, 1)
    # Two independent deals of 100 runs agree at a 32nd of the places, give or take a fifth of that.
    assert (first == second).mean() < 2 / 32
    every_eighth = np.bincount(first[::8], minlength=32)
    assert every_eighth.min() > 0  # modulo would leave 28 of 32 shards without any
    assert every_eighth.max() < 40  # 12.5 expected


@pytest.mark.parametrize("n_shards", [2, 3, 8, 32])
def test_weights_have_mean_and_variance_one(n_shards):
    w = shard_weights(40_000, n_shards, 0)
    assert (w >= 0).all()
    np.testing.assert_allclose(w.sum(axis=1), n_shards, rtol=1e-12)
    # Standard errors: of the mean 1 / 200; of the variance sqrt(kurtosis / 40,000) < 0.02.
    np.testing.assert_allclose(w.mean(axis=0), 1.0, atol=0.03)
    np.testing.assert_allclose(w.var(axis=0), 1.0, atol=0.1)


@pytest.mark.parametrize("n_shards", [2, 3, 8, 32])
def test_the_variance_of_a_weighted_mean_is_the_unbiased_one(n_shards):
    t = np.random.default_rng(1).standard_normal(n_shards)
    means = shard_weights(40_000, n_shards, 2) @ t / n_shards
    np.testing.assert_allclose(means.var(), t.var(ddof=1) / n_shards, rtol=0.05)


def test_the_same_seed_gives_the_same_weights():
    np.testing.assert_array_equal(shard_weights(5, 32, 4), shard_weights(5, 32, 4))
    assert (shard_weights(5, 32, 4) != shard_weights(5, 32, 5)).any()

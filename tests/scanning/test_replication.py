"""Topics of halves, roughly learned and matched."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.datasets import make_topics
from anchorwords.scanning import replication as reproduced
from anchorwords.scanning.halves import Half
from anchorwords.scanning.replication import reproduced_topics, sampled_words


def half_of(C, K):
    values, vectors = np.linalg.eigh(C)
    U = np.ascontiguousarray(vectors[:, ::-1][:, :K])
    return Half(values[::-1][:K], U, U, np.zeros((1, K, K)))


@pytest.fixture(scope="module")
def truth():
    return make_topics(n_docs=2, n_words=300, n_topics=6, random_state=1)


def test_exact_statistics_give_the_true_topics(truth):
    # Separable, rank K, non-negative, sum one: the step of ENN has nothing to mend and LAW is exact.
    half, sample = half_of(truth.C, 6), sampled_words(truth.C.sum(axis=1))
    B = reproduced._rough_topics(half, 6, sample, None, 1)
    expected = truth.B[sample.words[: sample.n_compared]]
    order = [int(np.argmin(np.abs(B - expected[:, [k]]).sum(axis=0))) for k in range(6)]
    assert sorted(order) == list(range(6))
    # E of single precision, in the step, is off by 1e-7 or so of Y Y'.
    np.testing.assert_allclose(B[:, order], expected / expected.sum(axis=0), atol=1e-4)


def test_equal_halves_agree_and_others_do_not(truth):
    half, sample = half_of(truth.C, 6), sampled_words(truth.C.sum(axis=1))
    same = reproduced_topics((half, half), 6, sample, None, 1)
    np.testing.assert_allclose(same.similarity, 1.0)
    assert same.n_found == 6
    other = make_topics(n_docs=2, n_words=300, n_topics=6, random_state=5)
    mixed = reproduced_topics((half, half_of(other.C, 6)), 6, sample, None, 1)
    assert mixed.similarity.mean() < 0.6
    assert mixed.n_found < 6


def test_fewer_topics_are_those_of_fewer_eigenpairs(truth):
    half, sample = half_of(truth.C, 6), sampled_words(truth.C.sum(axis=1))
    short = Half(half.values[:3], half.vectors[:, :3], half.basis, half.shards)
    np.testing.assert_array_equal(
        reproduced._rough_topics(half, 3, sample, None, 1), reproduced._rough_topics(short, 3, sample, None, 1)
    )


def test_anchors_are_chosen_among_candidates(truth):
    half, sample = half_of(truth.C, 6), sampled_words(truth.C.sum(axis=1))
    frequent = np.zeros(300, dtype=bool)
    frequent[sample.words[:50]] = True
    B = reproduced._rough_topics(half, 6, sample, frequent, 1)
    # Each anchor is wholly of its topic, so that it is in no other column.
    pure = np.flatnonzero((B > 0).sum(axis=1) == 1)
    assert np.isin(np.arange(50), pure).sum() >= 6


def test_topics_that_a_half_does_not_have_are_not_found(truth):
    half, sample = half_of(truth.C, 6), sampled_words(truth.C.sum(axis=1))
    nothing = Half(np.full(6, -1.0), half.vectors, half.basis, half.shards)
    found = reproduced_topics((half, nothing), 6, sample, None, 1)
    np.testing.assert_array_equal(found.similarity, 0.0)
    assert found.n_found == 0
    # A rank of 4: four topics at most, and the others are as far as can be.
    lame = Half(np.where(np.arange(6) < 4, half.values, 0.0), half.vectors, half.basis, half.shards)
    found = reproduced_topics((lame, lame), 6, sample, None, 1)
    assert np.count_nonzero(found.similarity > 0.99) == 4
    assert found.n_found == 4


def test_words_taken():
    p = np.random.default_rng(0).dirichlet(np.ones(2500))
    sample = sampled_words(p)
    assert sample.words.size == 800 + 425
    assert np.unique(sample.words).size == sample.words.size
    assert (np.diff(p[sample.words]) <= 0).all()
    assert sample.n_compared == 300
    assert sorted(sampled_words(p[:7]).words) == list(range(7))

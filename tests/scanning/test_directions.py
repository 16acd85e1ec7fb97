"""Directions that both halves of the documents show: the halves, the statistics across them, and the count."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords import CooccurrenceOperator
from anchorwords.datasets import make_topics
from anchorwords.resampling.shards import shard_of
from anchorwords.scanning.directions import _Crossed, counted, shared_directions, usual_fall
from anchorwords.scanning.halves import Half, halves_of
from anchorwords.sources.convert import as_source
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics.of_source import cooccurrence_of


@pytest.fixture(scope="module")
def corpus():
    return make_topics(n_docs=700, n_words=90, n_topics=4, random_state=2).corpus


def halves(X, K, seed=0):
    source = as_source(X)
    return halves_of(source, cooccurrence_of(source, every_word=True), K, seed, 1)


def split(X, seed=0, n_shards=40):
    """The two halves by hand."""
    side = shard_of(0, X.shape[0], n_shards, seed) % 2
    return [sp.csr_array(X[np.flatnonzero(side == i)]) for i in (0, 1)]


def test_a_half_is_judged_in_the_basis_of_the_other(corpus):
    X = corpus.counts
    both = halves(X, 6)
    for i, documents in enumerate(split(X)):
        U = both[1 - i].basis
        np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-10)
        # Shards leave out what the diagonal varies by between them; their sum does not.
        expected = U.T @ (CooccurrenceOperator(documents) @ U)
        np.testing.assert_allclose(both[i].shards.sum(axis=0), expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("n_words", "tolerance"), [(90, 1e-9), (300, 0.03)])
def test_eigenpairs_are_those_of_the_halves(n_words, tolerance):
    # Of few words they are exact. Else residuals up to 15 % are left, and Ritz values are off by the square of that.
    X = make_topics(n_docs=700, n_words=n_words, n_topics=4, random_state=2).corpus.counts
    for half, documents in zip(halves(X, 4), split(X), strict=True):
        exact = np.linalg.eigvalsh(CooccurrenceOperator(documents).to_matrix())[::-1]
        np.testing.assert_allclose(half.values, exact[:4], rtol=tolerance)


def test_halves_do_not_depend_on_blocks(corpus):
    X = corpus.counts
    whole = halves(X, 5)
    source = MatrixBlocks([sp.csr_array(X[a:b]) for a, b in ((0, 13), (13, 500), (500, 700))])
    blocks = halves_of(source, cooccurrence_of(source, every_word=True), 5, 0, 1)
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-9)
        # The basis is free in signs, which eigenvalues do not see.
        for part, same in zip(one.shards, other.shards, strict=True):
            scale = np.abs(part).max()
            np.testing.assert_allclose(np.linalg.eigvalsh(part), np.linalg.eigvalsh(same), atol=1e-9 * scale)


def test_documents_without_a_pair_have_no_number(corpus):
    X = corpus.counts
    short = np.zeros((3, X.shape[1]))
    short[:, 0] = 1
    mixed = sp.csr_array(sp.vstack([short[:1], X[:100], short[1:], X[100:]]))
    for one, other in zip(halves(X, 3), halves(mixed, 3), strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-10)


def test_energies_are_eigenvalues_of_the_crossed_matrix(corpus):
    first, second = halves(corpus.counts, 5)
    U1, U2 = first.basis, second.basis
    C1, C2 = (CooccurrenceOperator(part).to_matrix() for part in split(corpus.counts))
    M = (U1 @ (U1.T @ C2 @ U1) @ U1.T + U2 @ (U2.T @ C1 @ U2) @ U2.T) / 2.0
    exact = np.linalg.eigvalsh(M)[::-1]
    energies = _Crossed(first, second, 0, 1).energies
    # Of more dimensions than two bases span all eigenvalues are zero.
    np.testing.assert_allclose(energies[:10], exact[:10], atol=1e-12 * exact[0])


def test_noise_is_had_from_signs_alone():
    # Two shards of opposite sign: their sum is nothing, but each draw of signs that differ gives twice the first.
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.normal(size=(30, 3)))[0]
    part = np.diag([3.0, 2.0, 1.0])
    half = Half(np.ones(3), U, U, np.stack([part, -part]))
    crossed = _Crossed(half, half, 0, 1)
    np.testing.assert_allclose(crossed.energies, 0.0, atol=1e-12)
    level, spread = crossed.noise(0)
    assert 0.0 < level < 6.0
    assert spread > 0.0


def tilted_halves(K, error, seed=0, n_words=200, n_vectors=14):
    """Two bases with K directions, each a little off the truth, and others at random; statistics without noise."""
    rng = np.random.default_rng(seed)
    S = np.linalg.qr(rng.normal(size=(n_words, K)))[0]
    C = S @ np.diag(np.linspace(3.0, 2.0, K)) @ S.T
    tilted = S + error * rng.normal(size=(2, n_words, K)) / np.sqrt(n_words)
    bases = [np.linalg.qr(np.column_stack([one, rng.normal(size=(n_words, n_vectors - K))]))[0] for one in tilted]
    # The statistics of a half are in the basis of the other: here both halves have the same, C.
    return [Half(np.ones(K), U, U, (other.T @ C @ other)[None]) for U, other in zip(bases, bases[::-1], strict=True)]


@pytest.mark.parametrize("K", [1, 4, 9])
def test_removing_directions_removes_what_each_half_has_of_them(K):
    """M holds a direction twice if the halves find it a little differently: the second time is no direction."""
    error = 0.5
    crossed = _Crossed(*tilted_halves(K, error), 0, 1)
    # A direction that is off by an angle of about error leaves sigma error^2 / 2 in that of the difference.
    remainder = 2.0 * error**2 / 2.0
    assert crossed.energies[K] > 0.5 * remainder
    assert crossed.strength(K) < 0.1 * crossed.energies[K]
    np.testing.assert_allclose(crossed.remaining(K)[0], crossed.strength(K), rtol=1e-9)
    # Fewer of them, and the next is as strong as before.
    for k in range(K):
        np.testing.assert_allclose(crossed.strength(k), crossed.energies[k], rtol=0.05)


def test_without_an_error_nothing_but_the_directions_is_removed():
    crossed = _Crossed(*tilted_halves(4, 0.0), 0, 1)
    for k in range(8):
        np.testing.assert_allclose(crossed.strength(k), crossed.energies[k], atol=1e-12)
    np.testing.assert_allclose(crossed.strength(14), 0.0, atol=1e-12)  # nothing is left of either basis


def test_strong_topics_end_clearly():
    """Thirty topics with words of their own: each is many times as strong as noise, and so may be its remainders."""
    rng = np.random.default_rng(0)
    B, W = rng.dirichlet(np.full(600, 0.03), 30), rng.dirichlet(np.full(30, 0.05), 3000)
    X = sp.csr_array(np.array([rng.multinomial(100, p) for p in W @ B]).astype(float))
    found = shared_directions(*halves(X, 50), 50, 0, 1)
    assert (found.n, found.n_most) == (30, 30)
    assert found.gap > 5.0


@pytest.mark.parametrize("K", [1, 3, 8])
def test_as_many_directions_as_topics(K):
    X = make_topics(n_docs=3000, n_words=150, n_topics=K, correlation=0.1, random_state=K).corpus.counts
    found = shared_directions(*halves(X, 14), 14, 0, 1)
    assert found.n == K
    assert not found.beyond
    assert found.gap > 1.5
    assert found.n_most == K
    assert found.n_looked_at == 15
    noise = found.noise_at(range(K + 3))
    assert found.energies[K - 1] > noise[K - 1]
    assert found.energies[K + 2] < 1.5 * noise[K + 2]


def test_more_directions_than_looked_for():
    X = make_topics(n_docs=3000, n_words=150, n_topics=8, correlation=0.1, random_state=8).corpus.counts
    found = shared_directions(*halves(X, 4), 4, 0, 1)
    assert found.beyond
    assert found.n == 5


def test_the_count_hardly_depends_on_the_largest_number_scanned():
    # Noise grows with the number of dimensions, but the count is repeated in as many as it needs.
    X = make_topics(n_docs=5000, n_words=300, n_topics=10, correlation=0.3, random_state=3).corpus.counts
    narrow, wide = (shared_directions(*halves(X, largest), largest, 0, 1) for largest in (16, 80))
    assert (narrow.n, narrow.n_most) == (wide.n, wide.n_most) == (10, 10)


# Noise 1 with a standard deviation of 0.1 after any number of directions: certain from 1.5 on, possible from 1 on.
def steady(k):
    return 1.0, 0.1


@pytest.mark.parametrize(
    ("energies", "expected"),
    [
        ([40, 20, 18, 16, 1.2, 0.9, 0.8], (4, 4)),  # a clear end: what exceeds noise a little after it is noise
        ([40, 6, 5, 4, 0.9, 0.8, 0.7], (4, 5)),  # three directions do not show how fast the spectrum falls
        ([40, 6, 5.5, 5, 4.5, 0.9, 0.8], (5, 5)),
        ([40, 20, 18, 16, 2.0, 0.9, 0.8], (4, 5)),  # a faint direction alone after a clear fall, far above noise
        ([40, 20, 18, 2.2, 2.0, 0.9, 0.8], (5, 6)),  # two of them are not noise
        ([40, 6, 4, 2, 1.3, 1.1, 0.8, 0.7], (4, 6)),  # the end is hidden in the noise
        ([40, 6, 4, 2, 0.8, 0.7, 0.6], (4, 5)),  # the next may be hidden
        ([40, 16, 7, 3.2, 0.9, 0.8, 0.7], (4, 5)),  # a fall like those before it is not the end
        ([40, 20, 18, 16, 15, 14, 13], (6, 6)),  # of those looked at, all
        ([1.1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4], (0, 1)),
        ([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3], (0, 0)),
    ],
)
def test_counts_by_hand(energies, expected):
    assert counted(np.array(energies, dtype=float), energies.__getitem__, steady, 6) == expected


def test_a_long_tail_is_counted_to_its_end():
    # 10 certain directions, then 1.4 to 1.0 in 41 steps, then less than noise.
    energies = np.concatenate([np.geomspace(50, 2, 10), np.linspace(1.4, 1.0, 41), np.full(40, 0.5)])
    assert counted(energies, energies.__getitem__, steady, 80) == (10, 51)


def test_directions_after_one_that_noise_hides_are_found():
    # The noise after the second direction varies so much that the third is uncertain; the others are certain.
    def uneven(k):
        return (1.0, 2.0) if k == 2 else (1.0, 0.1)

    energies = np.array([40.0, 9.0, 8.0, 7.5, 7.0, 0.9, 0.8, 0.7])
    assert counted(energies, energies.__getitem__, uneven, 7) == (5, 5)


def test_the_usual_fall():
    energies = 100.0 * 0.5 ** np.arange(12)
    assert usual_fall(energies, 10) == pytest.approx(2.0)
    energies = np.array([100.0, 8.0, 8.0, 8.0, 8.0, 8.0])
    assert usual_fall(energies, 5) == pytest.approx(1.0)  # the first direction is not compared
    assert usual_fall(energies, 4) == pytest.approx(2.0)  # two falls are too few to rely on
    assert usual_fall(energies, 1) == pytest.approx(2.0)


def test_independent_words_have_one_direction():
    # Every document from the same distribution: C = p p' and noise. Noise stands out by chance in a few draws at most.
    counts = []
    for draw in range(8):
        rng = np.random.default_rng(draw)
        p = rng.dirichlet(np.full(120, 0.3))
        X = sp.csr_array(rng.multinomial(50, p, size=1500).astype(float))
        X = sp.csr_array(X[:, np.flatnonzero(X.sum(axis=0))])
        counts.append(shared_directions(*halves(X, 10, draw), 10, draw, 1).n)
    assert counts.count(1) >= 7

"""Volumes of simplices against geometry, and random hulls against hulls that are written out."""

from __future__ import annotations

from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.special import gammaln, logsumexp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.metrics import log_relative_volume, volume
from anchorwords.metrics.volume import affordable_draws, anchor_heights, log_simplex_volume, random_hulls
from tests.metrics import direct


def rotated(vertices, dimensions, seed=0):
    """The same simplex elsewhere in a larger space."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((dimensions, vertices.shape[1])))[0]
    return vertices @ Q.T + rng.standard_normal(dimensions)


# ---- the anchors' hull


@pytest.mark.parametrize("K", range(2, 9))
@pytest.mark.parametrize("size", [1.0, 1e-6, 300.0])
def test_regular_simplices(K, size):
    # K unit vectors: edges sqrt(2), volume sqrt(K) / (K - 1)!, height sqrt(K / (K - 1)). A factor counts K - 1 times.
    for vertices in (size * np.eye(K), size * rotated(np.eye(K), K + 3)):
        assert log_simplex_volume(vertices) == pytest.approx(log(K) / 2 + (K - 1) * log(size), rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(anchor_heights(vertices), size * sqrt(K / (K - 1)), rtol=1e-8)


def test_known_shapes():
    # The triangle of sides 3, 4 and 5: twice its area is 12; heights 12/5 from the right angle, 4 and 3 from the others.
    triangle = np.array([[0.0, 0], [4, 0], [0, 3]])
    assert log_simplex_volume(triangle) == pytest.approx(log(12))
    np.testing.assert_allclose(anchor_heights(triangle), [12 / 5, 4, 3])
    # The corner of a box of sides 1, 2 and 3: 3! times its volume is 6.
    corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    assert log_simplex_volume(corner) == pytest.approx(log(6))
    # From the origin to the plane x + y/2 + z/3 = 1: 1 / sqrt(1 + 1/4 + 1/9) = 6/7.
    np.testing.assert_allclose(anchor_heights(corner), [6 / 7, 1, 2, 3])
    # Two points: the distance.
    assert log_simplex_volume(np.array([[1.0, 1, 1], [3, 2, 3]])) == pytest.approx(log(3))
    np.testing.assert_allclose(anchor_heights(np.array([[1.0, 1, 1], [3, 2, 3]])), 3)


@pytest.mark.parametrize("seed", range(5))
def test_against_other_routes(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(3, 7))
    vertices = rng.standard_normal((K, K - 1))
    hull = log(ConvexHull(vertices).volume) + gammaln(K)  # Qhull's, times (K - 1)!
    assert log_simplex_volume(vertices) == pytest.approx(hull, rel=1e-9)
    assert log_simplex_volume(rotated(vertices, 12)) == pytest.approx(hull, rel=1e-9)
    assert direct.log_volume(vertices) == pytest.approx(hull, rel=1e-7)
    # Volume is base times height over the dimension; the dimension is in the factorials.
    for k, height in enumerate(anchor_heights(vertices)):
        base = log_simplex_volume(rotated(np.delete(vertices, k, axis=0), 12))
        assert log(height) == pytest.approx(hull - base, rel=1e-8, abs=1e-8)


def test_flat_hulls():
    line = np.array([[0.0, 0, 0], [1, 1, 1], [3, 3, 3]])
    assert log_simplex_volume(line) == -np.inf
    np.testing.assert_array_equal(anchor_heights(line), 0.0)
    # Four points in a plane, of which three in a line: only the fourth is off the others.
    plane = np.array([[0.0, 0, 0], [1, 0, 0], [3, 0, 0], [0, 2, 0]])
    assert log_simplex_volume(plane) == -np.inf
    np.testing.assert_allclose(anchor_heights(plane), [0, 0, 0, 2], atol=1e-15)
    same = np.array([[0.5, 0.5], [0.5, 0.5]])
    assert log_simplex_volume(same) == -np.inf
    np.testing.assert_array_equal(anchor_heights(same), 0.0)
    # More vertices than dimensions allow.
    assert log_simplex_volume(np.array([[0.0], [1], [3]])) == -np.inf


def test_the_volume_is_that_of_rows_of_the_rectified_co_occurrence(sampled):
    """K dimensions or N: the same, by Lemma 2."""
    model = aw.AnchorTopicModel(4).fit(sampled.corpus).model_
    C = model.Y @ model.Y.T
    rows = C[model.anchors] / C[model.anchors].sum(axis=1, keepdims=True)
    hulls = random_hulls(120, 4, 80, 20, 0)
    expected = direct.log_volume(rows) - hulls.log_mean_volume
    # Cayley and Menger's determinant squares the condition of the simplex; anchors are well apart.
    assert log_relative_volume(model) == pytest.approx(expected, abs=1e-8)
    assert log_relative_volume(model, C) == pytest.approx(expected, abs=1e-8)
    # A pure number: statistics need not sum to one.
    assert log_relative_volume(model, 5.0 * C) == pytest.approx(expected, abs=1e-8)


# ---- random hulls


def rows_written_out(N, R, seed):
    g = np.hstack(list(volume._columns(N, R, seed)))
    assert g.shape == (R, N)
    return g / g.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("N", "K", "R"),
    [(2, 2, 2), (12, 2, 12), (12, 12, 12), (30, 5, 30), (40, 3, 9), (60, 20, 60), (300, 4, 300), (400, 2, 200),
     (250, 30, 250), (90, 90, 90)],
)  # fmt: skip
@pytest.mark.parametrize("alive", [1 << 19, 1000])
def test_hulls_are_those_of_rows_written_out(N, K, R, alive, monkeypatch):
    monkeypatch.setattr(volume, "_ALIVE", alive)
    for draw in range(3):
        found = volume._random_log_volume(N, K, R, (7, draw))
        # Half the logarithm of a determinant: its condition, at K = N = 90 some 1e6, times rounding.
        assert found == pytest.approx(direct.random_hull(rows_written_out(N, R, (7, draw)), K), abs=1e-8)


def test_more_rows_are_taken_where_a_pivot_is_not_among_the_longest(monkeypatch):
    """Random rows are so alike that the shortcut holds at once; here they are not, and it must notice."""
    rng = np.random.default_rng(0)
    N, K, R = 40, 6, 400
    g = rng.standard_exponential((R, N)) * 0.01
    g[:300, :3] += rng.random((300, 3)) * 100  # long rows that span three dimensions
    g[300:, 3:] += 1.0 + rng.random((100, N - 3))  # short ones off them
    calls = []
    inner = volume._inner_products

    def counted(N, R, seed, rows, sums):
        calls.append(rows.size)
        return inner(N, R, seed, rows, sums)

    monkeypatch.setattr(volume, "_columns", lambda *_: iter([g[:, :15], g[:, 15:]]))
    monkeypatch.setattr(volume, "_inner_products", counted)
    found = volume._random_log_volume(N, K, R, (0, 0))
    assert calls[0] == 2 * K + 20
    assert len(calls) > 1
    assert found == pytest.approx(direct.random_hull(g / g.sum(axis=1, keepdims=True), K), abs=1e-8)


def test_rows_are_uniform_on_the_simplex():
    # Dirichlet(1) of N words: an entry has mean 1 / N and is below 1 / N with chance 1 - (1 - 1 / N)^(N - 1).
    N, R = 5, 20_000
    rows = rows_written_out(N, R, (0, 0))
    # Variance of an entry (N - 1) / (N^2 (N + 1)): 4 standard errors of a mean of R.
    np.testing.assert_allclose(rows.mean(axis=0), 1 / N, atol=4 * sqrt((N - 1) / (N**2 * (N + 1)) / R))
    share = 1 - (1 - 1 / N) ** (N - 1)
    np.testing.assert_allclose((rows < 1 / N).mean(axis=0), share, atol=4 * sqrt(share * (1 - share) / R))
    assert not np.array_equal(rows, rows_written_out(N, R, (0, 1)))


def test_the_mean_is_of_volumes_not_of_logarithms():
    logs = np.array([volume._random_log_volume(10, 3, 10, (4, draw)) for draw in range(50)])
    hulls = random_hulls(10, 3, 10, 50, 4)
    assert hulls.log_mean_volume == pytest.approx(log(np.exp(logs).mean()), rel=1e-12)
    assert hulls.log_mean_volume == pytest.approx(logsumexp(logs) - log(50), rel=1e-12)
    relative = np.exp(logs).std(ddof=1) / np.exp(logs).mean() / sqrt(50)
    assert hulls.standard_error == pytest.approx(relative, rel=1e-10)


def test_two_points_on_a_segment():
    # N = K = R = 2: rows (u, 1 - u) with u uniform; the volume is sqrt(2) |u - v|, on average sqrt(2) / 3.
    hulls = random_hulls(2, 2, 2, 4000, 0)
    # |u - v| has variance 1/18, so the logarithm of a mean of 4000 is known to 1/sqrt(2 x 4000): four of them.
    assert hulls.log_mean_volume == pytest.approx(log(sqrt(2) / 3), abs=4 / sqrt(8000))
    assert hulls.standard_error == pytest.approx(1 / sqrt(8000), rel=0.1)


def test_the_standard_error_falls_with_the_root_of_draws():
    errors = [random_hulls(8, 3, 8, n, 0).standard_error for n in (200, 3200)]
    # The spread of 200 values is known to 1 / sqrt(400) = 5 %, somewhat less for skewed ones: four of them.
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.25)
    # And it is the spread of the value between seeds: 100 of them give it to 7 %; three and a half of these.
    values = [random_hulls(8, 3, 8, 40, seed).log_mean_volume for seed in range(100)]
    errors = [random_hulls(8, 3, 8, 40, seed).standard_error for seed in range(100)]
    assert np.std(values) == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=0.25)


def test_more_rows_make_larger_hulls():
    sizes = [random_hulls(200, 5, R, 20, 0) for R in (5, 50, 200)]
    for small, large in pairwise(sizes):
        gap = large.log_mean_volume - small.log_mean_volume
        assert gap > 4 * (small.standard_error + large.standard_error)


def test_threads_and_repetition_do_not_matter():
    one = random_hulls(60, 4, 60, 9, 3, 1)
    assert random_hulls(60, 4, 60, 9, 3, 2) == one
    random_hulls.cache_clear()
    assert random_hulls(60, 4, 60, 9, 3, 1) == one
    assert random_hulls(60, 4, 60, 9, 4, 1) != one


def test_fewer_draws_where_they_are_large():
    assert affordable_draws(120, 80, None) == 20
    assert affordable_draws(5000, 5000, None) == 8  # 2 x 10^8 random numbers in all
    assert affordable_draws(10**6, 2000, None) == 3
    assert affordable_draws(10**6, 2000, 7) == 7


# ---- the public function


@pytest.fixture(scope="module")
def fitted(sampled):
    return aw.AnchorTopicModel(4).fit(sampled.corpus)


def test_options(fitted):
    base = log_relative_volume(fitted)
    assert (
        base == log_relative_volume(fitted.model_) == log_relative_volume(fitted, n_draws=20, n_rows=80, random_state=0)
    )
    assert log_relative_volume(fitted, random_state=1) != base
    assert log_relative_volume(fitted, n_rows=120) < base  # larger hulls to compare with
    rows = [rows_written_out(120, 80, (5, draw)) for draw in range(3)]
    mean = logsumexp([direct.random_hull(r, 4) for r in rows]) - log(3)
    C = fitted.model_.Y @ fitted.model_.Y.T
    vertices = C[fitted.model_.anchors] / C[fitted.model_.anchors].sum(axis=1, keepdims=True)
    found = log_relative_volume(fitted, n_draws=3, random_state=5)
    assert found == pytest.approx(direct.log_volume(vertices) - mean, abs=1e-8)


def test_words_that_never_occur_are_no_dimension():
    X = direct.random_counts(0, N=12)
    padded = np.hstack([X, np.zeros((60, 40), int)])
    one, other = aw.AnchorTopicModel(3).fit(X), aw.AnchorTopicModel(3).fit(padded)
    # The fits agree to the rectifier's tolerance at best; with 52 words the random hulls would be far smaller.
    assert log_relative_volume(other) == pytest.approx(log_relative_volume(one), abs=1e-3)


def test_bad_input_is_refused_in_one_sentence(fitted, sampled):
    one = aw.AnchorTopicModel(1).fit(sampled.corpus)
    with pytest.raises(InputError, match=r"the hull of a single anchor has no volume: .* at least two topics"):
        log_relative_volume(one)
    with pytest.raises(InputError, match="from n_components=4 to the 120 words that occur, but is 3"):
        log_relative_volume(fitted, n_rows=3)
    with pytest.raises(InputError, match="but is 121"):
        log_relative_volume(fitted, n_rows=121)
    with pytest.raises(InputError, match="n_rows must be a positive whole number"):
        log_relative_volume(fitted, n_rows=2.5)
    with pytest.raises(InputError, match="n_draws must be a positive whole number"):
        log_relative_volume(fitted, n_draws=0)
    with pytest.raises(InputError, match="no compression Y"):
        log_relative_volume(aw.anchor_words(aw.cooccurrence(sampled.corpus.counts), 3))


@pytest.mark.parametrize("N", [3, 119, 200])
def test_a_matrix_of_other_words_is_refused(fitted, N):
    with pytest.raises(InputError, match=f"120 words, but C has {N}"):
        log_relative_volume(fitted, np.ones((N, N)) + np.eye(N))


@pytest.mark.parametrize("seed", [None, -1, 0.5])
def test_a_bad_seed_is_refused(fitted, seed):
    with pytest.raises(InputError, match="random_state"):
        log_relative_volume(fitted, random_state=seed)

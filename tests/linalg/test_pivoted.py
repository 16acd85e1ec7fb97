from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from anchorwords.linalg.pivoted import pivot_rows


@pytest.mark.parametrize(("N", "D", "k"), [(30, 8, 8), (200, 40, 25), (50, 50, 50), (400, 300, 60)])
def test_same_pivots_as_lapack(N, D, k):
    X = np.random.default_rng(N).standard_normal((N, D))
    R, order = scipy.linalg.qr(X.T, mode="r", pivoting=True)
    pivots = pivot_rows(X, k)
    np.testing.assert_array_equal(pivots.indices, order[:k])
    np.testing.assert_allclose(pivots.residuals, np.abs(np.diagonal(R))[:k], rtol=1e-10)


def test_residuals_stay_accurate_when_they_shrink_by_ten_digits():
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((60, 60)))[0][:, :20]
    X = (rng.random((100, 20)) * 10.0 ** -np.arange(0, 10, 0.5)) @ U.T
    R, order = scipy.linalg.qr(X.T, mode="r", pivoting=True)
    pivots = pivot_rows(X, 20)
    np.testing.assert_array_equal(pivots.indices, order[:20])
    np.testing.assert_allclose(pivots.residuals, np.abs(np.diagonal(R))[:20], rtol=1e-4)


def test_candidates_and_given_rows():
    X = np.random.default_rng(1).standard_normal((40, 10))
    candidates = np.ones(40, bool)
    candidates[pivot_rows(X, 3).indices] = False
    chosen = pivot_rows(X, 6, candidates=candidates, first=np.array([7, 3])).indices
    assert chosen[:2].tolist() == [7, 3]
    assert candidates[chosen[2:]].all()
    # After the given rows, the next is the farthest from their span.
    Q = np.linalg.qr(X[[7, 3]].T)[0]
    rest = np.linalg.norm(X - X @ Q @ Q.T, axis=1)
    rest[~candidates] = -1
    assert chosen[2] == np.argmax(rest)


def test_stops_at_the_rank():
    rng = np.random.default_rng(2)
    X = rng.random((50, 4)) @ rng.random((4, 20))
    assert pivot_rows(X, 10).indices.size == 4
    assert pivot_rows(np.zeros((5, 3)), 2).indices.size == 0
    assert pivot_rows(X, 10, candidates=np.zeros(50, bool)).indices.size == 0


def test_ties_go_to_the_lowest_index():
    X = np.vstack([np.eye(4), np.eye(4)])
    assert pivot_rows(X, 4).indices.tolist() == [0, 1, 2, 3]

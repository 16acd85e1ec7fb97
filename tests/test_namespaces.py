"""The numerical core on other arrays than NumPy's own: read-only ones, and a strict reading of the array API standard.

What runs under a strict namespace uses nothing but the standard, so it can run on any array library that follows it.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import anchorwords as aw
from anchorwords._namespace import array_namespace, like, to_numpy
from anchorwords.datasets import make_topics
from anchorwords.linalg.factored import factored_distance, factored_norm
from anchorwords.linalg.pivoted import pivot_rows
from anchorwords.linalg.randomized import randomized_eigh
from anchorwords.linalg.tall import add_scaled, dot, gram, times
from anchorwords.rectify.correction import TiledCorrection, checked_first


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def strict(array):
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(np.array(array))


@pytest.fixture(params=[np.array, read_only, strict], ids=["numpy", "read-only", "strict"])
def other(request):
    """Function that turns a NumPy array into one of the kind under test."""
    return request.param


@pytest.fixture(scope="module")
def statistics():
    data = make_topics(n_docs=300, n_words=320, n_topics=5, doc_length=60, random_state=2)
    C = aw.cooccurrence(data.corpus.counts)
    values, vectors = np.linalg.eigh(C)
    return C, np.ascontiguousarray(vectors[:, :-6:-1]), values[:-6:-1].copy()


def test_conversions_keep_the_kind(other):
    array = other(np.arange(6.0).reshape(2, 3))
    assert array_namespace(array) is array_namespace(like(np.ones(2), array))
    np.testing.assert_array_equal(to_numpy(array), np.arange(6.0).reshape(2, 3))


def test_products_and_distances(other):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((50, 4)), rng.standard_normal((50, 4))
    np.testing.assert_allclose(to_numpy(gram(other(A), other(B))), A.T @ B, rtol=1e-12)
    np.testing.assert_allclose(to_numpy(times(other(A), other(B[:4]))), A @ B[:4], rtol=1e-12)
    assert dot(other(A), other(B)) == pytest.approx(np.sum(A * B), rel=1e-12)
    total = like(A.copy(), other(B))
    add_scaled(total, 2.0, other(B))
    np.testing.assert_allclose(to_numpy(total), A + 2 * B, rtol=1e-12)
    assert factored_norm(other(A)) == pytest.approx(np.linalg.norm(A @ A.T), rel=1e-12)
    direct = np.linalg.norm(A @ A.T - B @ B.T) / np.linalg.norm(B @ B.T)
    assert factored_distance(other(A), other(B)) == pytest.approx(direct, rel=1e-12)


def test_eigenpairs(statistics, other):
    C, vectors, values = statistics
    pairs = randomized_eigh(other(C), 5, tol=1e-9, random_state=0)
    assert pairs.converged
    assert array_namespace(pairs.vectors) is array_namespace(other(C))
    np.testing.assert_allclose(pairs.values, values, rtol=1e-10)
    np.testing.assert_allclose(np.abs(to_numpy(pairs.vectors).T @ vectors), np.eye(5), atol=1e-6)
    again = randomized_eigh(other(C), 5, tol=1e-9, start=pairs.basis)
    assert again.n_passes < pairs.n_passes


def test_pivots(other):
    X = np.random.default_rng(0).standard_normal((500, 12))
    expected = pivot_rows(X, 9, first=np.array([3]))
    found = pivot_rows(other(X), 9, first=np.array([3]))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.residuals, expected.residuals, rtol=1e-10)


def test_correction(statistics, other):
    Y = statistics[1] * np.sqrt(statistics[2])
    chosen = checked_first(other(Y), 100)
    order = np.asarray(to_numpy(chosen.order), dtype=int)
    E = np.maximum(-Y[order] @ Y[order].T, 0)
    E[100:, 100:] = 0
    found = TiledCorrection(other(Y[order]), 100)
    np.testing.assert_allclose(to_numpy(found.times(other(Y))), E @ Y, atol=1e-12)
    assert found.total == pytest.approx(E.sum(), rel=1e-10)


@pytest.mark.parametrize(
    "options", [{}, {"relaxation": 1.0, "tol": 0, "max_iter": 4}, {"relaxation": 1.5, "tol": 1e-4}]
)
@pytest.mark.parametrize("n_rows", [320, 90])
def test_enn(statistics, other, options, n_rows):
    """Every mode of ENN: the same Y Y' as with NumPy's arrays."""
    _, vectors, values = statistics
    expected = aw.rectify_enn((vectors, values), 5, n_rows=n_rows, **options)
    found = aw.rectify_enn((other(vectors), other(values)), 5, n_rows=n_rows, **options)
    assert array_namespace(found.Y) is array_namespace(other(vectors))
    # Without the compiled end Newton steps go on to the tolerance: the two end apart by what is left when they part.
    near = 1e-4 if other is strict and not options else 1e-9
    assert factored_distance(to_numpy(found.Y), expected.Y) < near
    assert found.converged == expected.converged
    assert found.eps == pytest.approx(expected.eps, rel=1e-3)


def test_enn_from_a_matrix(statistics, other):
    C, vectors, values = statistics
    expected = aw.rectify_enn((vectors, values), 5)
    found = aw.rectify_enn(other(C), 5)
    assert factored_distance(to_numpy(found.Y), expected.Y) < 1e-4


def test_low_rank_anchor_words(statistics, other):
    Y = aw.rectify_enn(statistics[1:], 5).Y
    expected, found = aw.low_rank_anchor_words(Y), aw.low_rank_anchor_words(other(Y))
    np.testing.assert_array_equal(found.anchors, expected.anchors)
    np.testing.assert_allclose(found.B, expected.B, atol=1e-9)
    np.testing.assert_allclose(found.A, expected.A, atol=1e-9)
    given = aw.low_rank_anchor_words(other(Y), anchors=[7, 3])
    assert given.anchors[:2].tolist() == [7, 3]


def test_rank_loss(other):
    C = np.diag([0.4, 0.3, 0.3, 0.0, 0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = aw.rectify_enn(other(C), 5, max_iter=10, tol=0)
    assert np.isfinite(to_numpy(result.Y)).all()

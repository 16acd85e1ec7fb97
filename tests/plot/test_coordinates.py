"""The plane of Figure 2, without drawing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.plot import space_coordinates
from anchorwords.plot.coordinates import hull


def direct(C):
    """Two leading principal coordinates of the rows of Cbar, and the shares of all axes."""
    rows = C / C.sum(axis=1, keepdims=True)
    U, s, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return (U * s)[:, :2], s**2 / (s**2).sum()


def same_up_to_signs(a, b):
    np.testing.assert_allclose(np.abs(np.sign((a * b).sum(axis=0))), 1.0)
    np.testing.assert_allclose(a * np.sign((a * b).sum(axis=0)), b, atol=1e-8 * np.abs(b).max())


@pytest.mark.parametrize(("N", "K"), [(40, 5), (150, 7), (150, 2)])
@pytest.mark.parametrize("dense", [False, True])
def test_agrees_with_a_full_decomposition(model_of, N, K, dense):
    model = model_of(N, K)
    C = model.Y @ model.Y.T
    xy, usable, explained = space_coordinates(model, C if dense else None)
    expected, shares = direct(C)
    assert usable.all()
    same_up_to_signs(xy, expected)
    np.testing.assert_allclose(explained, shares[:2], atol=1e-10)


@pytest.mark.parametrize("dense", [False, True])
def test_explained_is_the_share_of_squared_distances(model_of, dense):
    model = model_of(90, 6)
    C = model.Y @ model.Y.T
    rows = C / C.sum(axis=1, keepdims=True)
    xy, _, explained = space_coordinates(model, C if dense else None)

    def distances(points):
        return ((points[:, None] - points[None]) ** 2).sum()

    assert distances(xy) / distances(rows) == pytest.approx(explained.sum())
    np.testing.assert_allclose(xy.mean(axis=0), 0.0, atol=1e-10)
    assert explained[0] >= explained[1]


def test_order_of_words_does_not_matter(model_of):
    model = model_of(80, 5)
    order = np.random.default_rng(5).permutation(80)
    for rectified in (None, model.Y @ model.Y.T):
        moved = replace(model, Y=model.Y[order])
        other = None if rectified is None else rectified[np.ix_(order, order)]
        same_up_to_signs(space_coordinates(moved, other).xy, space_coordinates(model, rectified).xy[order])


def test_signs_are_fixed_and_repeatable(model_of):
    model = model_of(120, 5)
    C = model.Y @ model.Y.T
    xy = space_coordinates(model, C).xy
    assert ((xy**3).sum(axis=0) >= 0).all()
    np.testing.assert_array_equal(space_coordinates(model, C).xy, xy)
    np.testing.assert_allclose(space_coordinates(model).xy, xy, atol=1e-9)


def test_one_topic_is_one_point(model_of):
    for N in (30, 100):
        model = model_of(N, 1)
        for rectified in (None, model.Y @ model.Y.T):
            xy, usable, explained = space_coordinates(model, rectified)
            assert not xy[usable].any()
            assert not explained.any()


def test_words_that_never_occur_have_no_place(model_of):
    model = model_of(70, 4)
    Y = model.Y.copy()
    Y[[3, 9]] = 0.0
    for given in (replace(model, Y=Y), (replace(model, Y=None), Y @ Y.T)):
        xy, usable, _ = space_coordinates(*given) if isinstance(given, tuple) else space_coordinates(given)
        assert np.flatnonzero(~usable).tolist() == [3, 9]
        assert np.isnan(xy[~usable]).all()
        assert np.isfinite(xy[usable]).all()


def test_takes_what_a_rectifier_returns(sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    ap, enn = aw.rectify_ap(C, 5), aw.rectify_enn(C, 5)
    model = aw.anchor_words(ap.C, 5)
    np.testing.assert_array_equal(space_coordinates(model, ap).xy, space_coordinates(model, ap.C).xy)
    np.testing.assert_array_equal(
        space_coordinates(model, enn).xy, space_coordinates(aw.low_rank_anchor_words(enn.Y)).xy
    )


def test_says_what_is_missing(model_of):
    model = replace(model_of(30, 3), Y=None)
    with pytest.raises(InputError, match="no compression Y"):
        space_coordinates(model)
    with pytest.raises(InputError, match="has 20 words"):
        space_coordinates(model, np.eye(20))
    with pytest.raises(InputError, match="finite"):
        space_coordinates(model, np.full((30, 30), np.nan))
    with pytest.raises(InputError, match="square"):
        space_coordinates(model, np.ones((30, 4)))
    with pytest.raises(InputError, match="no row"):
        space_coordinates(model, np.zeros((30, 30)))
    with pytest.raises(InputError, match="fit first"):
        space_coordinates(np.eye(3))


@pytest.mark.parametrize("n", [3, 10, 100])
def test_hull_contains_every_point(n):
    points = np.random.default_rng(n).normal(size=(n, 2)) * [1.0, 1e-4]
    corners = hull(points)
    assert set(corners) == set(ConvexHull(points * [1.0, 1e4]).vertices)
    a, b = points[corners], points[np.roll(corners, -1)]
    side = (b - a)[:, None, 0] * (points - a[:, None])[..., 1] - (b - a)[:, None, 1] * (points - a[:, None])[..., 0]
    assert (side >= -1e-15).all() or (side <= 1e-15).all()


def test_hull_of_little():
    line = np.outer(np.array([2.0, -1.0, 0.5, 3.0]), [1.0, 2.0])
    assert set(hull(line)) == {1, 3}
    assert hull(np.ones((4, 2))).tolist() == [0]
    assert hull(np.array([[np.nan, 1.0], [2.0, 3.0]])).tolist() == [1]
    assert set(hull(np.array([[0.0, 0.0], [2.0, 3.0]]))) == {0, 1}
    assert hull(np.full((2, 2), np.nan)).size == 0

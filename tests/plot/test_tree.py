"""Trees of words: no edges cross, no label covers anything it need not."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from anchorwords.exceptions import InputError
from anchorwords.plot import save, topic_tree
from anchorwords.plot.tree_labels import best_view
from anchorwords.plot.tree_layout import rotated, tree_layout

from .conftest import ODD_WORDS

ROOM = np.array([340.0, 250.0])


def random_edges(n, seed):
    rng = np.random.default_rng(seed)
    reach = [n, 2, 1, 4][seed % 4]  # bushes, caterpillars, paths
    return tuple((i, int(rng.integers(max(0, i - reach), i)), float(rng.random())) for i in range(1, n))


def tree(words, edges, anchor=None):
    kinds = tuple(("prominent", "characteristic", "both")[i % 3] for i in range(len(words)))
    return SimpleNamespace(
        topic=0, words=tuple(words), kinds=kinds, anchor=anchor or words[0], edges=edges, weight=1.0
    )  # fmt: skip


def cross(p, q, r, s):
    def turn(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return turn(p, q, r) * turn(p, q, s) < -1e-12 and turn(r, s, p) * turn(r, s, q) < -1e-12


@pytest.mark.parametrize("seed", range(24))
def test_edges_do_not_cross(seed):
    n = 3 + seed % 12
    edges = random_edges(n, seed)
    places = tree_layout(n, edges)
    for view in (
        places,
        rotated(places, 0.3),
        best_view(places, [e[:2] for e in edges], np.full((n, 2), 9.0), ROOM)[0],
    ):
        pairs = [(a, b) for i, a in enumerate(edges) for b in edges[:i] if not {*a[:2]} & {*b[:2]}]
        assert not any(cross(view[a[0]], view[a[1]], view[b[0]], view[b[1]]) for a, b in pairs)
        gaps = np.hypot(*(view[:, None] - view[None]).T) + 9 * np.eye(n)
        assert gaps.min() > 1e-3
    np.testing.assert_allclose([np.hypot(*(places[i] - places[j])) for i, j, _ in edges], 1.0)
    np.testing.assert_array_equal(tree_layout(n, edges), places)


def test_layout_starts_at_the_centre():
    path = tree_layout(5, [(3, 1, 0.0), (1, 0, 0.0), (0, 4, 0.0), (4, 2, 0.0)])
    assert not path[0].any()
    star = tree_layout(6, [(i, 5, 0.0) for i in range(5)])
    assert not star[5].any()
    np.testing.assert_allclose(star.sum(axis=0), 0.0, atol=1e-12)
    assert tree_layout(1, []).tolist() == [[0.0, 0.0]]
    assert tree_layout(2, [(0, 1, 0.5)]).shape == (2, 2)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("width", [30.0, 100.0])
def test_labels_cover_neither_nodes_nor_each_other(seed, width):
    n = 14
    edges = random_edges(n, seed)
    sizes = np.column_stack([np.full(n, width), np.full(n, 9.0)])
    nodes, boxes = best_view(tree_layout(n, edges), [e[:2] for e in edges], sizes, ROOM)
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    assert not ((nodes > low) & (nodes < high)).all(axis=2).any()
    over = (np.minimum(high, boxes[:, 2:]) > np.maximum(low, boxes[:, :2])).all(axis=2)
    assert not (over & ~np.eye(n, dtype=bool)).any()
    assert (boxes[:, :2] >= -0.5).all()
    assert (boxes[:, 2:] <= ROOM + 0.5).all()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 14])
def test_draws(n, tmp_path):
    words = [*ODD_WORDS, "a very long name of a song with many words " * 2, "x", "y", "z"][:n]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        files = [save(topic_tree(tree(words, random_edges(n, 1))).figure, tmp_path / f"{i}.svg")[0] for i in (0, 1)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_draws_on_given_axes():
    from matplotlib.figure import Figure

    one, two = Figure(figsize=(8, 4)).subplots(1, 2)
    assert topic_tree(tree("ab", ((0, 1, 0.5),)), ax=two) is two
    assert not one.texts


def test_what_is_no_tree():
    with pytest.raises(InputError, match="spanning tree of 3 words"):
        topic_tree(tree("abc", ((0, 1, 0.5),)))
    with pytest.raises(InputError, match="spanning tree"):
        tree_layout(3, [(0, 1, 0.5), (1, 0, 0.5)])
    with pytest.raises(InputError, match="not between"):
        tree_layout(2, [(0, 5, 0.5)])
    with pytest.raises(InputError, match="needs words"):
        topic_tree(SimpleNamespace(topic=0, words=(), kinds=(), anchor="", edges=(), weight=0.0))

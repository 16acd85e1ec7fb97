"""Spaces, correlations and convergence as drawn."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.interpret.association import topic_association
from anchorwords.linalg.fixed_point import Iteration
from anchorwords.plot import convergence, cooccurrence_space, spaces, topic_correlation
from anchorwords.plot.correlation import topic_order
from anchorwords.plot.labels import label_points


@pytest.mark.parametrize("K", [1, 2, 5, 100])
def test_space(model_of, K):
    model = model_of(130, K)
    ax = cooccurrence_space(model, title="t", relative_volume=2.0)
    ax.figure.canvas.draw()
    assert ax.get_title() == "t\nlog relative volume 2"
    words = {model.vocabulary[i] for i in model.anchors}
    assert {text.get_text() for text in ax.texts} <= words
    assert 1 <= len(ax.texts) <= 12
    x, y = np.diff(ax.get_xlim())[0], np.diff(ax.get_ylim())[0]
    frame = ax.get_window_extent()
    assert x / frame.width == pytest.approx(y / frame.height, rel=1e-6)


def test_space_of_an_estimator_on_given_axes(sampled):
    from matplotlib.figure import Figure

    fitted = aw.AnchorTopicModel(4).fit(sampled.corpus.counts)
    ax = Figure().subplots()
    assert cooccurrence_space(fitted, ax=ax, label=0) is ax
    assert not ax.texts
    assert "% of variance" in ax.get_xlabel()


def test_within_a_sub_figure(model_of):
    from matplotlib.figure import Figure

    left, right = Figure(layout="constrained", figsize=(8, 4)).subfigures(1, 2)
    cooccurrence_space(model_of(40, 4), ax=left.subplots())
    ax = topic_correlation(model_of(40, 4), ax=right.subplots())
    ax.figure.figure.canvas.draw()


def test_spaces_from_kept_coordinates():
    rng = np.random.default_rng(0)
    xy = rng.normal(size=(50, 2))
    xy[7] = np.nan
    panels = [
        {"title": "by index", "xy": xy, "anchors": [0, 1, 2, 7], "anchor_words": list("abcd"), "explained": [0.5, 0.2]},
        {"xy": xy.tolist(), "anchors": xy[:3]},
        {"xy": xy, "anchors": np.outer([1.0, 2.0, 3.0], [1.0, 1.0]), "anchor_words": list("abc")},
    ]
    figure = spaces(panels, columns=2)
    assert len(figure.axes) == 4
    assert [ax.get_title() for ax in figure.axes[:3]] == ["by index", "", ""]
    assert "50% of variance" in figure.axes[0].get_xlabel()
    figure.canvas.draw()


def test_spaces_says_what_is_wrong():
    with pytest.raises(InputError, match="empty"):
        spaces([])
    with pytest.raises(InputError, match="shape"):
        spaces([{"xy": np.zeros((3, 3)), "anchors": [0]}])
    with pytest.raises(InputError, match="2 anchors, but 1 anchor_words"):
        spaces([{"xy": np.zeros((3, 2)), "anchors": [0, 1], "anchor_words": ["a"]}])


def test_labels_do_not_overlap():
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    points = np.random.default_rng(1).random((40, 2))
    labelled = label_points(ax, points, [f"word {i}" for i in range(40)], most=20, tied=5, obstacles=np.zeros((0, 2)))
    assert 5 <= len(labelled) <= 20
    boxes = np.array([text.get_window_extent().extents for text in ax.texts if not text.arrow_patch])
    over = (np.minimum(boxes[:, None, 2:], boxes[:, 2:]) > np.maximum(boxes[:, None, :2], boxes[:, :2]) + 1).all(axis=2)
    assert not (over & ~np.eye(len(boxes), dtype=bool)).any()


def test_correlation_shows_the_association(model_of):
    model = model_of(130, 6)
    order = np.argsort(-model.prevalence, kind="stable")
    shown = topic_correlation(model).images[0].get_array()
    np.testing.assert_array_equal(np.ma.getmaskarray(shown), np.eye(6, dtype=bool))  # none with itself
    expected = topic_association(model).log2()[np.ix_(order, order)]
    np.testing.assert_array_equal(shown.compressed(), expected[~np.eye(6, dtype=bool)])
    plain = topic_correlation(model, normalised=False).images[0].get_array()
    np.testing.assert_array_equal(plain, model.A[np.ix_(order, order)])


def test_orders_of_topics():
    prevalence = np.array([0.1, 0.4, 0.3, 0.2])
    ratios = np.array([[4.0, -4, 3, -4], [-4, 4, -4, 3], [3, -4, 4, -4], [-4, 3, -4, 4]])
    assert topic_order(prevalence, ratios, "prevalence").tolist() == [1, 2, 3, 0]
    similar = topic_order(prevalence, ratios, "similar").tolist()
    assert abs(similar.index(0) - similar.index(2)) == abs(similar.index(1) - similar.index(3)) == 1
    np.fill_diagonal(ratios, np.nan)  # as it is drawn
    assert topic_order(prevalence, ratios, "similar").tolist() == similar
    with pytest.raises(InputError, match="order must be"):
        topic_order(prevalence, ratios, "random")


@pytest.mark.parametrize("K", [1, 2, 5, 100])
@pytest.mark.parametrize("order", ["prevalence", "similar"])
def test_correlation(model_of, K, order):
    model = model_of(130, K)
    ax = topic_correlation(model, order=order, normalised=order == "similar")
    ax.figure.canvas.draw()
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert len(labels) == (K if K <= 30 else 20)
    assert all(label.split()[0].isdecimal() for label in labels)
    assert (len(labels[0].split()) == 3) == (K <= 30)


def rectified(values, converged=True):
    return aw.Rectified("enn", None, None, converged, tuple(Iteration(v, v) for v in values))


def test_convergence():
    nan = float("nan")
    ax = convergence({"a": rectified([1.0, nan, 0.0, 1e-3, -1.0]), "b": rectified([0.5, 0.4], False)})
    assert ax.get_yscale() == "log"
    first, last, _, unfinished = ax.lines
    assert first.get_xdata().tolist() == [1, 4]
    assert (last.get_xdata().tolist(), last.get_marker()) == ([4], "o")
    assert (unfinished.get_xdata().tolist(), unfinished.get_marker()) == ([2], "x")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["a: 5 steps", "b: 2 steps, not converged"]


def test_convergence_of_one_and_of_nothing():
    assert convergence(rectified([1.0]), quantity="change").get_legend().get_texts()[0].get_text().startswith("ENN")
    nothing = convergence(rectified([0.5]), quantity="objective")
    nothing.figure.canvas.draw()
    assert nothing.texts[0].get_text() == "no values"
    with pytest.raises(InputError, match="quantity must be one of"):
        convergence(rectified([1.0]), quantity="speed")

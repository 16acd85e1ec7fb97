"""Effects of covariates as drawn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import plot
from anchorwords.exceptions import InputError
from tests.interpret.records import record_of

from .conftest import ODD_WORDS

pytest.importorskip("formulaic")


@pytest.fixture(scope="module")
def found():
    """Topics of a word each, of which the first rises with x and is rarer in kind b."""
    rng = np.random.default_rng(0)
    x, kind = rng.uniform(size=400), rng.choice(["a", "b"], 400)
    mean = np.full((400, 4), 0.25)
    mean[:, 0] += 0.3 * (x - 0.5) - 0.1 * (kind == "b")
    shares = rng.gamma(8 * mean)
    counts = rng.multinomial(60, shares / shares.sum(axis=1, keepdims=True))
    model = dataclasses.replace(record_of(np.eye(4), vocabulary=["w0", "w1", "w2", "w3"]), ids=(7, 3, 0, 9))
    named = model.with_labels(["up", "down", "same", ODD_WORDS[0]])
    return aw.estimate_effects(named, counts, "x + C(kind)", data={"x": x, "kind": kind.tolist()})


def panels(figure):
    return [ax for ax in figure.axes if ax.axison]


def test_coefficients_are_those_of_the_result(found):
    figure = plot.effects(found, topics=[3, 7])
    first, second = panels(figure)
    assert (first.get_title(), second.get_title()) == ("x", "C(kind)[T.b]")
    for ax, term in ((first, "x"), (second, "C(kind)[T.b]")):
        row = found.terms.index(term)
        points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
        np.testing.assert_allclose(points, 100 * found.estimate[row, [0, 1]], rtol=1e-12)  # the first named is on top
        bars = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() != "o"]
        bars = [bar for bar in bars if bar[0] != bar[1]]
        expected = 100 * np.column_stack([found.lower[row, [0, 1]], found.upper[row, [0, 1]]])
        np.testing.assert_allclose(bars, expected, rtol=1e-12)
    assert [label.get_text() for label in first.get_yticklabels()] == ["7  up", "3  down"]
    figure.canvas.draw()


def test_the_largest_coefficient_is_on_top(found):
    (ax,) = panels(plot.effects(found, terms=["x"]))
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert points == sorted(points)
    assert ax.get_yticklabels()[-1].get_text() == "7  up"


def test_predictions_over_numbers_are_curves(found):
    values = np.linspace(0.0, 1.0, 5)
    figure = plot.predicted(found, "x", values=values, at={"kind": "b"}, topics=[0, 7])
    expected = found.predict({"x": values, "kind": "b"}, topics=[0, 7])
    for ax, k in zip(panels(figure), (0, 1), strict=True):
        np.testing.assert_allclose(ax.lines[0].get_xdata(), values)
        np.testing.assert_allclose(ax.lines[0].get_ydata(), 100 * expected.estimate[:, k], rtol=1e-12)
        assert ax.get_ylim()[0] == 0.0
    assert [ax.get_title() for ax in panels(figure)] == ["0  same", "7  up"]
    assert figure.get_supxlabel() == "x\nwith kind=b"
    figure.canvas.draw()


def test_predictions_over_categories_are_points(found):
    figure = plot.predicted(found, "kind", topics=[7])
    (ax,) = panels(figure)
    expected = found.predict({"kind": ["a", "b"]}, topics=[7]).estimate[:, 0]
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), 100 * expected, rtol=1e-12)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert figure.get_supxlabel().split("\n")[-1] == f"with x={found.design.typical('x'):g}"


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_column_of_panels_shows_the_values(found, n):
    figure = plot.predicted(found, "x", topics=[7, 3, 0, 9][:n])
    figure.canvas.draw()
    lowest = {round(ax.get_position().x0, 2): ax for ax in sorted(panels(figure), key=lambda ax: -ax.get_position().y0)}
    assert len(panels(figure)) == n
    for ax in lowest.values():
        assert any(tick.label1.get_text() and tick.label1.get_visible() for tick in ax.xaxis.get_major_ticks())


def test_a_line_at_zero_shows_where_predictions_are_negative(found):
    (below,) = panels(plot.predicted(found, "x", values=[-3.0, 0.0, 1.0], topics=[7]))
    assert below.get_ylim()[0] < 0.0
    assert any((np.asarray(line.get_ydata()) == 0.0).all() for line in below.lines)
    (above,) = panels(plot.predicted(found, "x", topics=[7]))
    assert not any((np.asarray(line.get_ydata()) == 0.0).all() for line in above.lines)


def test_wrong_requests_give_a_sentence(found):
    for call, sentence in (
        (lambda: plot.effects([1]), "estimate_effects"),
        (lambda: plot.effects(found, terms=["z"]), "no term 'z'"),
        (lambda: plot.effects(found, topics=[5]), "no topic 5"),
        (lambda: plot.predicted(found, "z"), "no column 'z'"),
        (lambda: plot.predicted(found, "x", topics=[5]), "no topic 5"),
    ):
        with pytest.raises(InputError, match=sentence):
            call()

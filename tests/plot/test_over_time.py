"""Topics over time as drawn."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import plot
from anchorwords.exceptions import InputError
from anchorwords.plot.over_time import gaps
from tests.interpret.records import record_of

from .conftest import ODD_WORDS

YEARS = (2000, 2001, 2002, 2003, 2006, 2007, 2008, 2010, 2012, 2013)


def dated(K=4, years=YEARS, n=40, drift=0.02, labels=None):
    """Topics of a word each: the first rises, the second falls."""
    rng = np.random.default_rng(0)
    year = np.repeat(years, n)
    mean = np.full((year.size, K), 1.0 / K)
    if K > 1:
        step = drift * (year - year.mean()) / 2.0
        mean[:, 0] += step
        mean[:, 1] -= step
    shares = rng.gamma(8 * np.maximum(mean, 0.01))
    counts = rng.multinomial(100, shares / shares.sum(axis=1, keepdims=True))
    model = record_of(np.eye(K), vocabulary=[f"w{k}" for k in range(K)])
    return (model if labels is None else model.with_labels(labels)), counts, year


@pytest.fixture(scope="module")
def found():
    model, counts, year = dated()
    edited = dataclasses.replace(model, ids=(7, 3, 0, 9), labels=("up", "down", "same", "too"))
    return aw.topics_over_time(edited, counts, year)


def panels(figure):
    return [ax for ax in figure.axes if ax.axison]


def names(figure):
    return [ax.get_title().split("\n")[0] for ax in panels(figure)]


def drawn(ax):
    """Points of all lines of a panel."""
    return [np.column_stack([line.get_xdata(), line.get_ydata()]) for line in ax.lines]


def test_a_panel_holds_its_topic(found):
    figure = plot.over_time(found, [9, 7])
    assert names(figure) == ["9  too", "7  up"]
    for ax, k in zip(panels(figure), (3, 0), strict=True):
        points = np.concatenate(drawn(ax))
        assert points[:, 0].tolist() == list(YEARS)
        np.testing.assert_allclose(points[:, 1], 100 * found.prevalence[:, k], rtol=1e-12)
        ends = np.concatenate([path.vertices for band in ax.collections for path in band.get_paths()])
        for part in (found.lower, found.upper):
            assert np.isin(np.round(100 * part[:, k], 9), np.round(ends[:, 1], 9)).all()
        assert ax.get_ylim()[0] == 0.0
    assert "rising" in panels(figure)[1].get_title()
    figure.canvas.draw()


def test_the_clearest_come_first(found):
    assert names(plot.over_time(found))[:2] in (["7  up", "3  down"], ["3  down", "7  up"])
    model, counts, year = dated(K=12)
    many = aw.topics_over_time(model, counts, year)
    assert len(panels(plot.over_time(many))) == 9
    titles = [ax.get_title() for ax in panels(plot.over_time(many))]
    clear = ["no clear trend" not in title for title in titles]
    assert clear == sorted(clear, reverse=True)


def test_gaps_are_gaps(found):
    assert gaps(found).tolist() == [b - a > 1 for a, b in pairwise(YEARS)]
    lines = [points[:, 0].tolist() for points in drawn(panels(plot.over_time(found, [7]))[0])]
    assert lines == [[2000, 2001, 2002, 2003], [2006, 2007, 2008], [2010], [2012, 2013]]


def test_gaps_of_other_periods():
    model, counts, year = dated()
    day = [f"{one}-0{1 + i % 9}-01" for i, one in enumerate(year)]
    by_year = aw.topics_over_time(model, counts, np.array(day, dtype="M8[D]"), "YE")
    assert gaps(by_year).sum() == 3
    five = aw.topics_over_time(model, counts, year, 2)  # 2000, 2002, 2006, 2008, 2010 and 2012
    assert gaps(five).tolist() == [False, True, False, False, False]
    assert not gaps(aw.topics_over_time(model, counts, year, "quantiles:4")).any()
    # Every second year throughout is no gap, and other numbers have no rhythm.
    assert not gaps(aw.topics_over_time(model, counts, 2 * np.unique(year, return_inverse=True)[1])).any()
    assert not gaps(aw.topics_over_time(model, counts, year**2 / 1000.5)).any()


def test_dates_are_on_the_axis():
    model, counts, year = dated(years=(2000, 2001, 2002, 2003))
    days = np.array([f"{one}-0{1 + i % 9}-01" for i, one in enumerate(year)], dtype="M8[D]")
    figure = plot.over_time(aw.topics_over_time(model, counts, days, "QE"), [0])
    figure.canvas.draw()
    ticks = [tick.get_text() for tick in panels(figure)[0].get_xticklabels()]
    assert {"2001", "2002", "2003"} & set(ticks)


def test_periods_without_known_words_and_of_one_document():
    model, counts, year = dated(n=5)
    counts[year == 2001] = 0
    keep = np.flatnonzero((year != 2007) | (np.arange(year.size) % 5 == 0))
    result = aw.topics_over_time(model, counts[keep], year[keep])
    assert np.isnan(result.prevalence).any()
    assert np.isnan(result.lower[~np.isnan(result.prevalence)]).any()
    figure = plot.over_time(result)
    shown = np.concatenate(drawn(panels(figure)[0]))[:, 0]
    assert shown.tolist() == [one for one in YEARS if one != 2001]
    figure.canvas.draw()


@pytest.mark.parametrize("K", [1, 2, 5, pytest.param(100, marks=pytest.mark.slow)])
def test_any_number_of_topics(tmp_path, K):
    model, counts, year = dated(K, n=12)
    result = aw.topics_over_time(model, counts, year, n_words=0)
    figure = plot.over_time(result, result.topics)
    assert names(figure) == [f"{k}  w{k}" for k in range(K)]
    if K < 100:  # the layout of a hundred panels takes seconds
        assert plot.save(figure, tmp_path / "x.png", dpi=40)[0].stat().st_size > 1000


@pytest.mark.filterwarnings("error")
def test_odd_labels_and_one_scale(tmp_path):
    labels = [*(word or "-" for word in ODD_WORDS), "a very long label of a topic with many words in it"]
    model, counts, year = dated(len(labels), labels=labels, n=10)
    result = aw.topics_over_time(model, counts, year)
    figure = plot.over_time(result, result.topics, share_y=True)
    plot.save(figure, tmp_path / "odd.svg")
    assert len({ax.get_ylim() for ax in panels(figure)}) == 1
    assert names(figure)[-1].startswith(f"{len(labels) - 1}  a very long")
    assert names(figure)[-1].endswith("…")


def test_one_period(tmp_path):
    model, counts, _ = dated()
    figure = plot.over_time(aw.topics_over_time(model, counts, np.full(len(counts), 1999)))
    assert {ax.get_title().split("\n")[1] for ax in panels(figure)} == {"no clear trend"}
    plot.save(figure, tmp_path / "one.png", dpi=50)


def test_bad_input(found):
    with pytest.raises(InputError, match="there is no topic 5 to draw: the topics are 7, 3, 0, 9"):
        plot.over_time(found, [5])
    with pytest.raises(InputError, match="must be what topics_over_time returns, but is dict"):
        plot.over_time({})
    with pytest.raises(InputError, match="there is no topic None to draw"):
        plot.over_time(found, [])

"""Groups as drawn."""

from __future__ import annotations

import dataclasses
import datetime

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import plot
from anchorwords.exceptions import InputError
from tests.interpret.records import record_of

from .conftest import ODD_WORDS


def grouped(G, K=None, n=12, labels=None, names=None):
    """Each group has a topic of its own, in another order, and a little of its neighbour's."""
    K = G if K is None else K
    rng = np.random.default_rng(0)
    own = rng.permutation(K)
    group = np.repeat(np.arange(G), n)
    mean = np.full((G, K), 0.2)
    mean[np.arange(G), own[np.arange(G) % K]] += 6.0
    mean[np.arange(G), own[(np.arange(G) + 1) % K]] += 2.0
    shares = rng.gamma(mean[group])
    counts = rng.multinomial(80, shares / shares.sum(axis=1, keepdims=True))
    model = record_of(np.eye(K), vocabulary=[f"w{k}" for k in range(K)])
    model = model if labels is None else model.with_labels(labels)
    shuffled = rng.permutation(G)
    names = [f"group {g}" for g in shuffled] if names is None else names
    return aw.prevalence_by(model, counts, [names[g] for g in group])


def panels(figure):
    return [ax for ax in figure.axes if ax.axison and ax.get_label() != "<colorbar>"]


def texts(labels):
    return [label.get_text() for label in labels]


def test_a_heat_map_holds_the_shares():
    found = grouped(12)
    (ax,) = panels(plot.groups(found, kind="heatmap", order="given", topics=found.topics))
    np.testing.assert_allclose(ax.images[0].get_array(), 100 * found.prevalence)
    assert texts(ax.get_yticklabels()) == list(found.groups)
    assert texts(ax.get_xticklabels()) == [f"{k}  w{k}" for k in found.topics]
    written = {text.get_position(): text.get_text() for text in ax.texts}
    for (g, k), share in np.ndenumerate(100 * found.prevalence):
        assert written.get((k, g), "") == (f"{share:.0f}" if share >= 0.95 else "")


def test_blocks_lie_along_the_diagonal():
    found = grouped(15)
    (ax,) = panels(plot.groups(found))
    shares = ax.images[0].get_array()
    # The largest share of each group is in its own column, as groups and topics go together one to one.
    assert np.asarray(shares).argmax(axis=1).tolist() == list(range(15))
    # Neighbours share a topic, so that the second largest is next to the largest nearly everywhere: at the ends of the chain
    # and where it is cut, it cannot be.
    order = np.argsort(-np.asarray(shares), axis=1)
    assert (np.abs(order[:, 0] - order[:, 1]) == 1).sum() >= 11


def test_groups_with_an_order_keep_it():
    for names in (range(1990, 2002), [datetime.date(2000, 1, 1 + i) for i in range(12)]):
        found = grouped(12, names=list(names))
        (ax,) = panels(plot.groups(found))
        assert texts(ax.get_yticklabels()) == [str(name) for name in names]
    similar = panels(plot.groups(found, order="similar"))[0]
    assert sorted(texts(similar.get_yticklabels())) == [str(name) for name in names]


def test_three_groups_are_told_apart_in_each_row():
    found = grouped(3, K=7)
    edited = dataclasses.replace(found, topics=(9, 8, 7, 6, 5, 4, 3))
    figure = plot.groups(edited, [3, 9])
    (ax,) = panels(figure)
    assert texts(ax.get_yticklabels()) == ["3  w6", "9  w0"]
    assert len(ax.lines) == len(ax.collections) == 3
    for g, (line, bars) in enumerate(zip(ax.lines, ax.collections, strict=True)):
        np.testing.assert_allclose(line.get_xdata(), 100 * found.prevalence[g, [6, 0]])
        ends = np.array([segment[:, 0] for segment in bars.get_segments()])
        np.testing.assert_allclose(ends, 100 * np.column_stack([found.low[g, [6, 0]], found.high[g, [6, 0]]]))
    legend = texts(figure.legends[0].get_texts())
    assert legend == [f"{name} (12 documents)" for name in found.groups]
    # Differences are largest on top.
    order = [int(text.split()[0]) for text in texts(panels(plot.groups(found))[0].get_yticklabels())]
    spread = np.ptp(found.prevalence, axis=0)
    assert order == np.argsort(-spread, kind="stable").tolist()


def test_few_topics_of_many_groups_have_a_panel_each():
    found = grouped(20)
    axes = panels(plot.groups(found, [4, 2]))
    assert [ax.get_title() for ax in axes] == ["4  w4", "2  w2"]
    for ax, k in zip(axes, (4, 2), strict=True):
        np.testing.assert_allclose(ax.lines[0].get_xdata(), 100 * found.prevalence[:, k])
        assert len(ax.collections[0].get_segments()) == 20
    assert texts(axes[0].get_yticklabels()) == list(found.groups)


def test_named_groups_in_their_order():
    found = grouped(8)
    wanted = [found.groups[5], found.groups[0], found.groups[2]]
    figure = plot.groups(found, groups=wanted)
    assert [text.split(" (")[0] for text in texts(figure.legends[0].get_texts())] == wanted
    rows = panels(plot.groups(found, groups=wanted, kind="heatmap"))[0]
    assert texts(rows.get_yticklabels()) == wanted


@pytest.mark.parametrize(("G", "K"), [(1, 1), (1, 100), (3, 1), (20, 1), (20, 100), (2, 100)])
def test_any_size(tmp_path, G, K):
    figure = plot.groups(grouped(G, K, n=5))
    assert plot.save(figure, tmp_path / "x.png", dpi=40)[0].stat().st_size > 1000


def test_what_is_not_drawn_is_said():
    found = grouped(70, K=50, n=5)
    (ax,) = panels(plot.groups(found))
    assert ax.images[0].get_array().shape == (60, 40)
    assert ax.get_title(loc="left") == "not drawn: 10 groups, 10 topics"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["heatmap", "intervals"])
@pytest.mark.parametrize("G", [4, 11])
def test_odd_names(tmp_path, kind, G):
    words = [word or "-" for word in ODD_WORDS]
    words.append("a very long name of a group or of a topic, with many words")
    plot.save(plot.groups(grouped(G, labels=words[-G:], names=words[-G:]), kind=kind), tmp_path / "odd.svg")


def test_a_group_of_one_document_has_no_interval(tmp_path):
    found = aw.prevalence_by(record_of(np.eye(3)), np.eye(3) * 5, ["a", "b", "b"], min_docs=1)
    assert np.isnan(found.low).any()
    plot.save(plot.groups(found), tmp_path / "one.png", dpi=50)


def test_bad_input():
    found = grouped(4)
    with pytest.raises(InputError, match="there is no topic 9 to draw: there are 0, 1, 2, 3"):
        plot.groups(found, [9])
    with pytest.raises(InputError, match="there is no group 'x' to draw"):
        plot.groups(found, groups=["x"])
    with pytest.raises(InputError, match="kind must be one of 'auto', 'intervals', 'heatmap', but is 'pie'"):
        plot.groups(found, kind="pie")
    with pytest.raises(InputError, match="order must be one of"):
        plot.groups(found, order="random")
    with pytest.raises(InputError, match="must be what prevalence_by returns, but is list"):
        plot.groups([])

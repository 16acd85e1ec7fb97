"""Curves of metrics: the numbers behind them first."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.exceptions import InputError
from anchorwords.plot import metric_curves, vocabulary_curves
from anchorwords.plot.aggregate import Line, distinct, dwarfing, error_band, line, range_band
from anchorwords.plot.curves import k_group


def flat(*values):
    values = np.array(values, dtype=float)
    return Line(np.arange(values.size, dtype=float), values, values, values)


def record(corpus="c", method="a", K=5, **metrics):
    return {"corpus": corpus, "method": method, "n_components": K, **metrics}


def test_means_and_ranges_by_hand():
    records = [record(K=10, m=4.0), record(K=5, m=1.0), record(K=5, m="2.0"), record(K="5", m=6.0)]
    found = line(records, "m", "n_components")
    assert found.x.tolist() == [5.0, 10.0]
    assert found.mean.tolist() == [3.0, 4.0]
    assert found.low.tolist() == [1.0, 4.0]
    assert found.high.tolist() == [6.0, 4.0]


def test_standard_error_by_hand():
    found = line([record(m=v) for v in (1.0, 2.0, 3.0, 6.0)], "m", "n_components", error_band)
    error = np.sqrt((4 + 1 + 0 + 9) / 3) / 2
    assert found.low[0] == pytest.approx(3 - error)
    assert found.high[0] == pytest.approx(3 + error)
    assert error_band(np.array([7.0])) == (7.0, 7.0)
    assert range_band(np.array([7.0])) == (7.0, 7.0)


@pytest.mark.parametrize("missing", [None, float("nan"), "", " ", "nan", "inf"])
def test_missing_values_are_skipped(missing):
    found = line([record(m=missing), record(K=missing, m=2.0), record(), record(K=7, m=1.0)], "m", "n_components")
    assert found.x.tolist() == [7.0]
    assert line([record(m=missing)], "m", "n_components").x.size == 0


def test_text_that_is_no_number_is_named():
    with pytest.raises(InputError, match="m must be a number in every record, but one holds 'fast'"):
        metric_curves([record(m="fast")], ["m"])


def test_order_of_first_appearance():
    assert distinct([{"a": 2}, {}, {"a": 1}, {"a": None}, {"a": 2}], "a") == [2, 1]


def test_dwarfing():
    usual = [flat(0.1, 0.2), flat(0.12, 0.2), flat(0.11, 0.19)]
    assert dwarfing([*usual, flat(3.0, 9.0)]) == [3]
    assert dwarfing([flat(-9.0, 0.1), *usual]) == [0]
    assert dwarfing([flat(3.0), *usual, flat(20.0)]) == [0, 4]
    assert dwarfing([*usual, flat(0.05, 0.3)]) == []
    assert dwarfing([flat(1.0), flat(100.0)]) == []  # of two, neither is the rule
    assert dwarfing([flat(1.0), flat(1.0), flat(100.0), flat()]) == [2]
    assert dwarfing([]) == []
    assert dwarfing([flat(0.0), flat(0.0), flat(0.0)]) == []


def test_a_dwarfing_method_is_cut_off_and_stated():
    records = [record(method=m, K=K, m=v * K) for m, v in (("a", 0.1), ("b", 0.11), ("c", 0.12)) for K in (5, 10)]
    records += [record(method="Baseline", K=5, m=30.0), record(method="Baseline", K=10, m=80.5)]
    figure = metric_curves(records, ["m"])
    ax = figure.axes[0]
    low, high = ax.get_ylim()
    assert low < 0.5
    assert 1.2 < high < 2
    assert "Baseline: 30 to 80.5" in [text.get_text() for text in ax.texts]
    logarithmic = metric_curves(records, ["m"], logs=["m"]).axes[0]
    assert logarithmic.get_yscale() == "log"
    assert logarithmic.get_ylim()[1] > 80


def test_panels_titles_and_legend():
    records = [
        record(corpus, method, K, specificity=1.0 + K, seconds=K)
        for corpus in ("x", "y", "z")
        for method in ("a", "b")
        for K in (5, 10)
    ]
    figure = metric_curves(
        records, ["specificity", "seconds", "absent"], logs=["seconds"], labels={"x": "X", "a": "A", "seconds": "time"}
    )
    assert len(figure.axes) == 9
    titles = [ax.get_title() for ax in figure.axes[:3]]
    assert titles == ["specificity\n(higher is better)", "time\n(lower is better)", "absent"]
    assert figure.axes[0].get_ylabel() == "X"
    assert figure.get_supxlabel() == "number of topics K"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["A", "b"]
    assert (
        metric_curves(records, ["absent"], directions={"absent": "lower"})
        .axes[0]
        .get_title()
        .endswith("(lower is better)")
    )
    figure.canvas.draw()


def test_nothing_to_draw():
    for arguments in (([], ["m"]), ([record(m=1.0)], []), ([{"m": 1.0}], ["m"])):
        with pytest.raises(InputError, match="nothing to draw"):
            metric_curves(*arguments)


def test_groups_of_topics():
    found = [k_group({"n_components": K}) for K in (5, 25, "30", 27, None, 100)]
    assert found == ["5-25", "5-25", "30-50", None, None, "80-100"]
    records = [
        {"corpus": "c", "n_words": N, "n_components": K, "m": N * K}
        for K in (50, 5, 15, 27, 35)
        for N in (15000, 5000)
    ]  # fmt: skip
    figure = vocabulary_curves(records, ["m"])
    small, large = figure.axes[0].lines[:2]
    assert small.get_xdata().tolist() == [5.0, 15.0]
    np.testing.assert_allclose(small.get_ydata(), [50_000, 150_000])
    np.testing.assert_allclose(large.get_ydata(), [212_500, 637_500])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["K = 5–25", "K = 30–50"]
    assert figure.axes[0].get_xlabel() == "words in the vocabulary (thousands)"
    given = vocabulary_curves([{**r, "K group": "all"} for r in records], ["m"])
    assert [text.get_text() for text in given.legends[0].get_texts()] == ["all"]

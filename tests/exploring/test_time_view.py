"""Topics over time in the page's data: the library's own numbers, bounded, and what was left out is said."""

from __future__ import annotations

import json

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.exploring import time_view
from anchorwords.exploring.data import explorer_data
from anchorwords.exploring.plain import number, numbers

from .made import fitted, sampled

YEARS = 2000 + np.arange(301) % 8


def over_time(model=None, time=YEARS, **options):
    return explorer_data(model or fitted(), sampled(), time=time, **options)["time"]


def named(data):
    """The time of a dict, with words as text."""
    text = data["words"]["text"]

    def changes(own):
        return {text[i]: ratio for i, ratio in zip(own[::2], own[1::2], strict=True)}

    return [
        row
        | {"words": [[text[i] for i in words] for words in row["words"]]}
        | {key: changes(row[key]) for key in ("rising", "falling")}
        for row in data["time"]["topics"]
    ]


@pytest.mark.parametrize("kind", ["enn", "refined"])
def test_curves_trends_and_words_are_the_library_s(kind):
    expected = aw.topics_over_time(fitted(kind), sampled(), YEARS)
    data = explorer_data(fitted(kind), sampled(), time=YEARS)
    found = data["time"]
    assert found["periods"] == [str(year) for year in range(2000, 2008)]
    assert found["at"] == list(range(2000, 2008))
    assert found["n_documents"] == expected.n_docs.tolist()
    assert (found["by"], found["freq"], found["level"]) == (None, "distinct", 0.9)
    trends = {row["topic"]: row for row in expected.trends().rows()}
    for k, row in enumerate(named(data)):
        topic = row["topic"]
        assert row["prevalence"] == numbers(expected.prevalence[:, k], 4)
        assert row["low"] == numbers(expected.lower[:, k], 4)
        assert row["high"] == numbers(expected.upper[:, k], 4)
        trend = trends[topic]
        assert row["verdict"] == trend["verdict"]
        assert row["change"] == number(trend["change"], 4)
        # Seven years lie between the first and the last document.
        assert row["change_low"] == pytest.approx(7.0 * trend["lower"], rel=1e-3)
        assert row["change_high"] == pytest.approx(7.0 * trend["upper"], rel=1e-3)
        words = expected.words(topic, 8)
        assert row["words"] == [top[:6] for top in words.top]
        for key in ("rising", "falling"):
            told = {entry["word"]: number(entry["late"] / entry["early"], 3) for entry in getattr(words, key)}
            assert row[key] == pytest.approx(told, rel=1e-2)


def test_a_topic_that_rises_is_found():
    """The year of a document is its share of a topic in six steps: the curve of the topic is nearly a rising line."""
    shares = fitted().transform(sampled())
    for k in range(5):
        years = 2000 + np.digitize(shares[:, k], np.linspace(0.0, shares[:, k].max(), 7)[1:-1])
        row = over_time(time=years)["topics"][k]
        assert row["verdict"] == "rising"
        assert 0.0 < row["change_low"] <= row["change"] <= row["change_high"]
        assert (np.diff(row["prevalence"]) > 0.0).all()


def test_a_column_of_dates():
    dates = np.datetime64("2001-01-01") + 30 * (np.arange(301) % 48)
    corpus = aw.Corpus(sampled().counts, sampled().vocabulary, documents={"when": dates})
    found = explorer_data(fitted(), corpus, time="when", freq="YE")["time"]
    assert (found["by"], found["freq"]) == ("when", "YE")
    assert found["periods"] == ["2001", "2002", "2003", "2004"]
    # The middle of each year, in years.
    np.testing.assert_allclose(found["at"], [2001.5, 2002.5, 2003.5, 2004.5], atol=0.01)


def test_edited_topics_are_called_by_their_ids():
    edited = aw.reorder_topics(aw.merge_topics(fitted(), [[4, 1]]), [3])
    found = over_time(edited)
    assert [row["topic"] for row in found["topics"]] == [3, 0, 4, 2] == list(edited.model_.ids)
    before = {row["topic"]: np.array(row["prevalence"]) for row in over_time()["topics"]}
    after = {row["topic"]: np.array(row["prevalence"]) for row in found["topics"]}
    # The proportion of a merged topic is the sum of those of its parts; numbers have four digits.
    np.testing.assert_allclose(after[4], before[4] + before[1], atol=2e-4)
    np.testing.assert_allclose(after[0], before[0], atol=2e-4)


def test_many_periods_are_cut_and_it_is_said(monkeypatch):
    monkeypatch.setattr(time_view, "_MOST_PERIODS", 20)
    data = explorer_data(fitted(), sampled(), time=np.arange(301), freq=10)
    found = data["time"]
    assert len(found["periods"]) == 20
    assert found["periods"][-1] == "300 to 309"
    assert found["notes"][-1] == "The latest 20 of 31 periods are shown; trends are of all of them."
    assert len(found["word_periods"]) == 16
    assert found["word_periods"][0] == 0
    assert found["word_periods"][-1] == 19
    assert {len(row["words"]) for row in found["topics"]} == {16}
    assert {len(row["prevalence"]) for row in found["topics"]} == {20}
    expected = aw.topics_over_time(fitted(), sampled(), np.arange(301), 10)
    assert found["topics"][2]["prevalence"] == numbers(expected.prevalence[-20:, 2], 4)


def test_many_topics_have_fewer_points(monkeypatch):
    monkeypatch.setattr(time_view, "_MOST_POINTS", 5 * 14)
    assert len(over_time(time=np.arange(301), freq=10)["periods"]) == 14
    monkeypatch.setattr(time_view, "_MOST_POINTS", 5)
    assert len(over_time(time=np.arange(301), freq=10)["periods"]) == 12  # and never less


def test_documents_without_a_time_are_counted():
    years = [None if m < 3 else int(year) for m, year in enumerate(YEARS)]
    notes = over_time(time=years)["notes"]
    assert notes[0] == "3 documents without a time were left out."
    assert notes[1] == "1 document without a word the model knows was left out."


def test_one_period_has_no_trend():
    data = explorer_data(fitted(), sampled(), time=[2000] * 301)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    for row in data["time"]["topics"]:
        assert (row["change"], row["change_low"], row["change_high"]) == (None, None, None)
        assert row["verdict"] == "no clear trend"


def test_without_a_time_there_is_none():
    assert explorer_data(fitted(), sampled())["time"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": "year"}, "time belongs to documents"),
        ({"freq": "YE"}, "say with time"),
        ({"corpus": sampled(), "freq": "YE"}, "say with time"),
        ({"corpus": sampled(), "time": "no such column"}, "column"),
        ({"corpus": sampled(), "time": [2000, 2001]}, "for each of the 301 documents"),
        ({"corpus": sampled(), "time": YEARS, "freq": "sometimes"}, "freq must be"),
    ],
)
def test_times_that_are_not(options, message):
    with pytest.raises(InputError, match=message):
        explorer_data(fitted(), **options)

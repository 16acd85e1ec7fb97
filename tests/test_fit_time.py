"""The estimate of a fit's time, and the sentence about it."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import fit_time

LARGE = {"n_words": 50_000, "n_counts": 5_000_000, "n_topics": 200, "n_rows": 3000, "refined": False}


def operations(**changes):
    return fit_time.expected_operations(**(LARGE | changes))


def test_the_work_grows_as_that_of_the_algorithms_does():
    assert operations(n_words=100_000, n_counts=10_000_000) == pytest.approx(2 * operations())
    assert operations(refined=True) > operations()
    # |I| grows with K and is a factor of ENN's sweeps, so twice the topics are more than twice the work.
    assert operations(n_topics=400, n_rows=5000) > 2 * operations()


def test_products_have_a_rate():
    assert fit_time.product_rate(1) > 1e8


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(60.0, "a minute"), (89.0, "a minute"), (100.0, "2 minutes"), (3000.0, "50 minutes"), (8000.0, "2 hours")],
)
def test_times_in_words(seconds, expected):
    assert fit_time.in_words(seconds) == expected


@pytest.mark.parametrize(("rate", "expected"), [(1e13, []), (1e11, ["2 minutes"]), (1e10, ["17 minutes"])])
def test_only_a_fit_of_minutes_is_announced(monkeypatch, caplog, rate, expected):
    monkeypatch.setattr(fit_time, "expected_operations", lambda *_: 1e13)
    monkeypatch.setattr(fit_time, "product_rate", lambda _: rate)
    fit_time.say_if_long(50_000, 5_000_000, 200, 3000, False, None)
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * len(expected)
    for record, time in zip(caplog.records, expected, strict=True):
        said = record.getMessage()
        assert (
            said == f"this fit of 200 topics over 50,000 words will take about {time}; fewer topics or words take less"
        )


def test_no_rate_is_measured_for_a_small_fit(monkeypatch):
    monkeypatch.setattr(fit_time, "product_rate", lambda _: pytest.fail("measured"))
    fit_time.say_if_long(5_000, 500_000, 50, 1500, True, None)


def test_a_fit_says_it_before_it_begins(monkeypatch, caplog):
    said = []
    monkeypatch.setattr("anchorwords.fitting.say_if_long", lambda *facts: said.append(facts))
    X = np.random.default_rng(0).poisson(0.5, (80, 30))
    aw.AnchorTopicModel(3).fit(X)
    aw.AnchorTopicModel(3, rectifier=aw.ENN(n_rows=7)).fit(X)
    aw.AnchorTopicModel(3, rectifier="ap").fit(X)
    counts = int(np.count_nonzero(X[X.sum(axis=1) > 1]))
    assert said == [(30, counts, 3, 30, False, None), (30, counts, 3, 7, False, None)]

"""Tables as data frames of any package."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export import to_frame
from anchorwords.interpret.common_words import common_words
from anchorwords.interpret.prevalence import prevalence_by
from tests.interpret.records import random_topics, record_of

pytest.importorskip("narwhals")
KINDS = {"pandas": "pandas", "polars": "polars", "pyarrow": "pyarrow"}


def rows_of(frame):
    """The frame as a list of dicts, lists as lists, missing values as None."""
    if type(frame).__module__.startswith("pandas"):
        found = frame.to_dict("records")
    elif type(frame).__module__.startswith("polars"):
        found = frame.to_dicts()
    else:
        found = frame.to_pylist()
    return [{name: None if value != value else value for name, value in row.items()} for row in found]


@pytest.fixture(scope="module")
def tables(sampled):
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    years = [2000 + m % 3 for m in range(600)]
    return {
        "topics": aw.topic_table(model, 4, ranking="frex"),
        "anchors": aw.anchor_table(model, sampled.corpus),
        "common": common_words(model, 5),
        "years": prevalence_by(model, sampled.corpus, years).rows(),
    }


@pytest.mark.parametrize("backend", KINDS)
@pytest.mark.parametrize("name", ["topics", "anchors", "common", "years"])
def test_our_tables_come_back_as_they_were(tables, name, backend):
    frame = to_frame(tables[name], backend)
    assert type(frame).__module__.split(".")[0] == backend
    assert rows_of(frame) == tables[name]


@pytest.mark.parametrize("backend", KINDS)
def test_groups_are_taken_as_they_are(sampled, backend):
    model = record_of(*random_topics(0, N=120))
    found = prevalence_by(model, sampled.corpus.counts, ["a"] + ["b"] * 599, min_docs=1, order="natural")
    frame = to_frame(found, backend)
    assert len(frame) == 10
    assert rows_of(frame)[0]["low"] is None  # a group of one document has no interval


@pytest.mark.parametrize("backend", KINDS)
def test_arrays_missing_columns_and_mixed_numbers(backend):
    rows = [
        {"a": np.array([1, 2]), "b": np.int64(3), "c": 1},
        {"a": np.array([4]), "d": "x", "c": 2.5},
        {"a": (5, 6), "b": None, "c": None},
    ]
    expected = [
        {"a": [1, 2], "b": 3, "c": 1.0, "d": None},
        {"a": [4], "b": None, "c": 2.5, "d": "x"},
        {"a": [5, 6], "b": None, "c": None, "d": None},
    ]
    assert rows_of(to_frame(rows, backend)) == expected
    assert len(to_frame([], backend)) == 0


def test_lists_are_columns_of_lists_where_there_are_such():
    import polars as pl
    import pyarrow as pa

    rows = [{"words": ["a", "b"], "none": []}, {"words": ["c"], "none": []}]
    assert to_frame(rows, "polars").schema["words"] == pl.List(pl.String)
    assert to_frame(rows, "pyarrow").schema.field("words").type == pa.list_(pa.string())


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_columns_of_several_kinds_are_refused_in_one_sentence(backend):
    with pytest.raises(InputError, match="a column must hold values of one kind") as caught:
        to_frame([{"a": 1}, {"a": "x"}], backend)
    assert "\n" not in str(caught.value)
    assert to_frame([{"a": 1}, {"a": "x"}], "pandas")["a"].tolist() == [1, "x"]


@pytest.mark.parametrize("missing", ["narwhals", "polars"])
def test_a_missing_package_is_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    message = f"to_frame needs {missing}, which is not installed: pip install"
    with pytest.raises(InputError, match=message):
        to_frame([{"a": 1}], "polars")
    if missing == "polars":
        assert len(to_frame([{"a": 1}], "pyarrow")) == 1


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="backend must be one of 'pandas', 'polars', 'pyarrow', but is 'dask'"):
        to_frame([{"a": 1}], "dask")
    for rows in ("abc", {"a": [1]}, 7):
        with pytest.raises(InputError, match="rows must be a list of dicts"):
            to_frame(rows)
    with pytest.raises(InputError, match="but one is int: 3"):
        to_frame([{"a": 1}, 3])

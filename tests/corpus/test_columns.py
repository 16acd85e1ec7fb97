"""Columns of the documents table: their types, and that nothing depends on batches, selection or saving."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import tracemalloc
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorwords.corpus import column_builder
from anchorwords.corpus.column_builder import ColumnBuilder, column_of
from anchorwords.corpus.columns import column_from_tensors
from anchorwords.exceptions import CorpusFormatError

TEXTS = st.text(max_size=5)
TIMES = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30))
VALUES = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False),
    "boolean": st.booleans(),
    "date": st.dates(),
    "time": TIMES,
    "text": TEXTS,
    "list": st.lists(TEXTS, max_size=3),
}
ANY = st.one_of(*VALUES.values(), st.none(), st.just(math.nan))


def built(parts, **options):
    builder = ColumnBuilder("c", **options)
    for part in parts:
        builder.add(part)
    return builder.finish()


def assert_same(one, other):
    assert one.kind == other.kind
    assert one.values.dtype == other.values.dtype
    np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("kind", ["integer", "number", "boolean", "date", "time"])
@given(data=st.data())
def test_values_of_one_type_are_kept_exactly(kind, data):
    values = data.draw(st.lists(VALUES[kind], min_size=1))
    column = column_of("c", values)
    assert column.kind == kind
    assert column.values.tolist() == values


@given(st.lists(st.one_of(st.none(), TEXTS)))
def test_texts_are_kept_exactly_and_empty_ones_are_missing(values):
    # Not dates: see below.
    column = column_of("c", values)
    assert column.kind == "text"
    assert column.values.tolist() == [value or None for value in values]


@given(st.lists(st.lists(st.one_of(TEXTS, st.integers(), st.none()), max_size=3), min_size=1))
def test_lists_are_tuples_of_texts(values):
    column = column_of("c", values)
    assert column.kind == "list"
    assert column.values.tolist() == [
        tuple(str(item) for item in value if item is not None and item != "") for value in values
    ]


@given(st.lists(st.lists(ANY, max_size=4), max_size=6), st.booleans())
def test_batches_do_not_matter(parts, typed):
    whole = [value for part in parts for value in part]
    assert_same(built(parts, typed=typed), built([whole], typed=typed))


WRITTEN = [
    "",
    "1",
    "-2",
    "007",
    "2.5",
    "2.50",
    "1e3",
    "9" * 18,
    "NA",
    "x",
    "2021-06-01",
    "2021-06",
    "2021-06-01 12:30:00",
]


@given(st.lists(st.lists(st.sampled_from(WRITTEN), max_size=3), max_size=3), st.booleans())
def test_texts_that_are_held_as_numbers_make_no_difference(parts, typed):
    with mock.patch.object(ColumnBuilder, "_compact", return_value=None):
        expected = built(parts, typed=typed)
    assert_same(built(parts, typed=typed), expected)


@given(st.lists(ANY, min_size=1), st.data())
def test_a_selection_is_that_of_the_values(values, data):
    column = column_of("c", values)
    rows = np.array(data.draw(st.lists(st.integers(0, len(values) - 1))), dtype=np.int64)
    taken = column.take(rows)
    assert taken.kind == column.kind
    assert len(taken) == rows.size
    np.testing.assert_array_equal(taken.values, column.values[rows])
    if column.kind == "text":  # what is not used any more takes no memory
        assert len(taken.strings) == len(set(taken.values.tolist()) - {None})


@given(st.lists(ANY))
def test_columns_survive_their_tensors(values):
    column = column_of("c", values)
    assert_same(column_from_tensors(column.kind, len(values), column.tensors()), column)


@given(st.lists(ANY, min_size=1))
def test_values_cannot_be_written_to(values):
    with pytest.raises(ValueError, match="read-only"):
        column_of("c", values).values[0] = None


def test_many_distinct_texts_are_kept_as_well(monkeypatch):
    monkeypatch.setattr(column_builder, "_MOST_SHARED", 2)
    values = ["a", "b", "c", "c", "a", None, "c"]
    column = built([values, values])
    assert column.values.tolist() == 2 * values
    assert column.take(np.array([6, 0])).values.tolist() == ["c", "a"]


@pytest.mark.parametrize(
    "parts",
    [
        [["1", "2"], ["x"]],
        [["1.5", "2"], ["1.50", "x"]],
        [["7"], ["007"]],
        [["2021-06-01", ""], ["soon"]],
        [["2021-06-01 12:30:00"], ["2021-06-01T12:30", "x"]],
        [["1"], ["2021-06-01"]],
    ],
)
def test_texts_that_began_as_numbers_or_dates_are_kept_exactly(parts):
    column = built(parts, typed=False)
    assert column.kind == "text"
    assert column.values.tolist() == [value or None for part in parts for value in part]


@pytest.mark.parametrize(
    "write",
    [
        str,
        lambda n: str(n + 0.5),
        lambda n: str(DAY + n % 10_000),
        lambda n: str(dt.datetime(2021, 6, 1) + dt.timedelta(seconds=n)),
    ],
    ids=["integer", "number", "date", "time"],
)
def test_texts_of_numbers_and_dates_take_little_memory(write):
    n_batches, size = 100, 1000
    tracemalloc.start()
    try:
        builder = ColumnBuilder("c", typed=False)
        for start in range(0, n_batches * size, size):
            builder.add([write(n) for n in range(start, start + size)])
        column = builder.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert column.kind != "text"
    assert peak < 3 * column.values.nbytes


def test_inferring_the_kind_of_texts_does_not_decode_them_for_good():
    column = column_of("c", [f"title {n}" for n in range(100)], typed=False)
    assert "objects" not in vars(column.strings)


DAY = np.datetime64("2021-06-01")


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1", "-2", "+3", "0"], "integer", [1, -2, 3, 0]),
        (["1", "", "3"], "number", [1.0, math.nan, 3.0]),
        (["1", "NA", "N/A"], "number", [1.0, math.nan, math.nan]),
        (["1.5", "2", ".5", "1e3", "-2.", " 7 "], "number", [1.5, 2.0, 0.5, 1000.0, -2.0, 7.0]),
        (["007", "42"], "text", ["007", "42"]),
        (["1_000"], "text", ["1_000"]),
        (["1,000"], "text", ["1,000"]),
        (["inf"], "text", ["inf"]),
        (["1e999"], "text", ["1e999"]),
        (["٣"], "text", ["٣"]),
        (["9" * 18], "integer", [10**18 - 1]),
        (["9" * 19], "number", [1e19]),
        (["2021-06-01", "2021-06", "2021/06/01", ""], "date", [DAY, DAY, DAY, np.datetime64("NaT")]),
        (["2021-13-01"], "text", ["2021-13-01"]),
        (["2021-02-30"], "text", ["2021-02-30"]),
        (["01/06/2021"], "text", ["01/06/2021"]),
        (["2021"], "integer", [2021]),
        (["2021-06-01 12:30", "2021-06-01"], "time", [DAY + np.timedelta64(750, "m"), DAY]),
        (["2021-06-01T12:30:00.25Z"], "time", [DAY + np.timedelta64(45_000_250, "ms")]),
        (["2021-06-01T12:30:00+02:00"], "time", [DAY + np.timedelta64(630, "m")]),
        (["2021-06-01T99:00"], "text", ["2021-06-01T99:00"]),
        (["0001-01-01T00:00:00+14:00"], "text", ["0001-01-01T00:00:00+14:00"]),
        (["yes", "no", ""], "text", ["yes", "no", None]),
        (["", "", ""], "text", [None, None, None]),
        (["NA", "NA"], "text", ["NA", "NA"]),
        (["true", "false"], "boolean", [True, False]),
    ],
)
def test_texts_of_a_format_without_types_are_numbers_and_dates_if_all_are(texts, kind, values):
    column = column_of("c", texts, typed=False)
    assert column.kind == kind
    np.testing.assert_array_equal(column.values, np.array(values, dtype=column.values.dtype))


def test_texts_of_a_format_with_types_stay_texts_unless_they_are_dates():
    assert column_of("c", ["1", "2"]).kind == "text"
    assert column_of("c", ["2021-06-01"]).kind == "date"


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2.5], "number", [1.0, 2.5]),
        ([1, None], "number", [1.0, math.nan]),
        ([2**60, None], "text", [str(2**60), None]),
        ([2**70, 1], "text", [str(2**70), "1"]),
        ([True, None, False], "number", [1.0, math.nan, 0.0]),
        ([True, 1], "text", ["True", "1"]),
        ([1, "x", 2.0, 2.5], "text", ["1", "x", "2", "2.5"]),
        ([["a"], "b", None, 3], "list", [("a",), ("b",), (), ("3",)]),
        ([{"b": 1, "a": [2]}], "text", ['{"a": [2], "b": 1}']),
        ([{"z", "a"}], "list", [("a", "z")]),
        ([decimal.Decimal("1.5")], "number", [1.5]),
        ([np.int32(3), np.float32(0.5)], "number", [3.0, 0.5]),
        ([np.str_("a"), np.bool_(True)], "text", ["a", "True"]),
        ([np.datetime64("2021-06-01T00:30"), np.datetime64("NaT")], "time", [DAY + np.timedelta64(30, "m"), None]),
        ([pd.NA, pd.NaT, 1], "number", [math.nan, math.nan, 1.0]),
        ([pd.Timestamp("2021-06-01", tz="Asia/Tokyo")], "time", [DAY - np.timedelta64(9, "h")]),
        ([dt.date(2021, 6, 1), dt.datetime(2021, 6, 1)], "time", [DAY, DAY]),
        ([pd.Series([1, 2]), np.array(["a"])], "list", [("1", "2"), ("a",)]),
        ([dt.time(10, 30)], "text", ["10:30:00"]),
    ],
)
def test_mixtures(values, kind, expected):
    column = column_of("c", values)
    assert column.kind == kind
    if kind == "list":
        assert column.values.tolist() == expected
    else:
        np.testing.assert_array_equal(column.values, np.array(expected, dtype=column.values.dtype))


@pytest.mark.parametrize("make", [pd.Series, pd.Categorical, np.array, list, tuple])
def test_sequences_of_any_kind(make):
    assert column_of("c", make(["b", "a", "b"])).values.tolist() == ["b", "a", "b"]


def test_values_that_cannot_be_read_are_refused():
    class Odd:
        def __str__(self):
            raise RuntimeError("no")

    with pytest.raises(CorpusFormatError, match="column 'c' holds bytes, which must be decoded first"):
        column_of("c", [b"x"])
    with pytest.raises(CorpusFormatError, match=r"column 'c': .* cannot be written as text"):
        column_of("c", [Odd()])


def test_separators_make_lists():
    column = built([["a; b;;c", "", None], ["d"]], typed=False, separator=";")
    assert column.values.tolist() == [("a", "b", "c"), (), (), ("d",)]


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("integer", {"values": np.zeros(3)}),
        ("integer", {"values": np.zeros(2, np.int64)}),
        ("integer", {"values": np.zeros((3, 1), np.int64)}),
        ("number", {}),
        ("date", {"values": np.zeros(3)}),
        ("text", {"codes": np.array([0, 1, 2], np.int32)}),
        ("text", {"codes": np.array([0, 1, -2], np.int32)}),
        ("text", {"ends": np.array([1, 5])}),
        ("text", {"ends": np.array([3, 2])}),
        ("text", {"text": np.array([255, 255], np.uint8)}),
        ("list", {"indptr": np.array([0, 1, 2])}),
        ("list", {"indptr": np.array([0, 2, 1, 3])}),
        ("list", {"indptr": np.array([1, 1, 2, 3])}),
        ("list", {"indptr": np.array([0, 1, 2, 4])}),
        ("list", {"codes": np.array([0, 1, -1], np.int32)}),
        ("cubes", {}),
    ],
    ids=str,
)
def test_tensors_that_are_no_column_are_refused(kind, changes):
    tensors = {
        "codes": np.array([0, 1, 1], np.int32), "text": np.array([97, 98], np.uint8), "ends": np.array([1, 2]),
        "indptr": np.array([0, 1, 2, 3]),
    }  # fmt: skip
    if kind in ("text", "list"):
        column_from_tensors(kind, 3, tensors)
    with pytest.raises(ValueError, match=r"type or size|missing|codes|strings|UTF|utf|lists|does not know"):
        column_from_tensors(kind, 3, tensors | changes)


@pytest.mark.parametrize("texts", [["true", "False", "TRUE"], ["True", "False", "True"]])
def test_texts_that_are_true_or_false(texts):
    assert column_of("x", texts, typed=False).kind == "boolean"
    assert column_of("x", texts, typed=False).values.tolist() == [True, False, True]
    gaps = column_of("x", [*texts, ""], typed=False)
    assert gaps.kind == "number"
    assert (gaps.values == True).tolist() == [True, False, True, False]  # noqa: E712 - as a mask is written
    assert column_of("x", texts).kind == "text"
    assert column_of("x", [*texts, "maybe"], typed=False).values.tolist() == [*texts, "maybe"]


@given(st.sampled_from(sorted(VALUES)).flatmap(lambda kind: st.lists(VALUES[kind] | st.none(), max_size=20)), st.data())
def test_values_of_consecutive_documents(values, data):
    column = built([values])
    first = data.draw(st.integers(0, len(values)))
    last = data.draw(st.integers(first, len(values) + 2))
    whole = [
        None if one is None or one != one else list(one) if isinstance(one, tuple) else one
        for one in column.values.tolist()
    ]
    assert column.between(first, last) == whole[first:last]


def test_consecutive_texts_take_the_memory_of_these_texts():
    column = built([[f"{m:07d} is a text of its own" for m in range(100_000)]])
    column.between(0, 10)
    tracemalloc.start()
    for first in range(0, 100_000, 1000):
        assert column.between(first, first + 1000)[0].startswith(f"{first:07d}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000

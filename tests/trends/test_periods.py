"""Which period a document belongs to."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from anchorwords.exceptions import InputError
from anchorwords.trends.periods import periods_of
from anchorwords.trends.shown import periods_in_words

# From before 1970, where numbers of days are negative, to a leap day.
DAYS = np.arange(np.datetime64("1957-11-23"), np.datetime64("1974-03-02"), 3)


@pytest.mark.parametrize(
    ("freq", "pandas", "shown"),
    [
        ("YE", "Y", lambda p: str(p.year)),
        ("y", "Y", lambda p: str(p.year)),
        ("QE", "Q", lambda p: f"{p.year}-Q{p.quarter}"),
        ("ME", "M", lambda p: f"{p.year}-{p.month:02d}"),
        ("W", "W-SUN", lambda p: str(p.start_time.date())),
        ("D", "D", lambda p: str(p.start_time.date())),
    ],
)
def test_the_calendar_is_that_of_pandas(freq, pandas, shown):
    found = periods_of(DAYS, freq)
    expected = pd.PeriodIndex(DAYS, freq=pandas)
    assert [found.names[code] for code in found.codes] == [shown(period) for period in expected]
    starts = np.array([period.start_time.date() for period in expected], dtype="M8[D]")
    np.testing.assert_array_equal(found.starts[found.codes], starts)
    assert (found.starts[found.codes] <= DAYS).all()
    assert (found.ends[found.codes] > DAYS).all()


def test_multiples_begin_at_round_years():
    found = periods_of(DAYS, "10YE")
    assert found.names == ("1950 to 1959", "1960 to 1969", "1970 to 1979")
    assert periods_of(DAYS, "6ME").names[:2] == ("1957-07 to 1957-12", "1958-01 to 1958-06")


@pytest.mark.parametrize("kind", ["dates", "datetimes", "text", "pandas", "numpy", "time"])
def test_dates_of_any_kind_with_missing_values(kind):
    days = [datetime.date(1969, 12, 31), None, datetime.date(1970, 1, 1)]
    values = {
        "dates": days,
        "datetimes": [None if d is None else datetime.datetime(d.year, d.month, d.day, 23, 59) for d in days],
        "text": [None if d is None else d.isoformat() for d in days],
        "pandas": pd.Series(pd.to_datetime(days)),
        "numpy": np.array(days, dtype="M8[D]"),
        "time": np.array(days, dtype="M8[us]"),
    }[kind]
    found = periods_of(values, "YE")
    assert found.names == ("1969", "1970")
    assert found.codes.tolist() == [0, -1, 1]
    assert np.isnan(found.times[1])
    assert found.times[2] - found.times[0] == pytest.approx(1 / 365.2425)
    assert found.unit == "year"


def test_numbers():
    found = periods_of([1999, 2003, None, 1999, 2001])
    assert (found.names, found.freq) == ((1999, 2001, 2003), "distinct")
    assert found.codes.tolist() == [0, 2, -1, 0, 1]
    assert periods_of([1999, 2003, 1999], "YE").names == (1999, 2003)
    assert periods_of([1999, 2003, -1], 5).names == ("-5 to -1", "1995 to 1999", "2000 to 2004")
    assert periods_of([0.1, 0.7, 0.3], 0.5).names == ("0 to 0.5", "0.5 to 1")
    many = periods_of(np.arange(1851, 2021))
    assert many.freq == "width 5"
    assert many.names[0] == "1850 to 1854"
    assert len(periods_of(np.random.default_rng(0).uniform(0, 0.01, 1000)).names) <= 40


def test_quantiles_hold_as_many_documents_each_and_keep_equal_times_together():
    rng = np.random.default_rng(0)
    times = rng.exponential(size=800)
    found = periods_of(times, "quantiles:8")
    np.testing.assert_array_equal(np.bincount(found.codes), [100] * 8)
    assert (np.diff(found.codes[np.argsort(times)]) >= 0).all()
    np.testing.assert_array_equal(periods_of(times, n_bins=8).codes, found.codes)
    tied = periods_of(rng.integers(0, 4, 800), n_bins=10)
    assert len(tied.names) <= 4
    assert periods_of(DAYS, n_bins=2).names[0].startswith("1957-11-23 to ")


def test_the_calendar_unit_that_is_chosen():
    assert periods_of(np.repeat(DAYS, 5)).freq == "YE"
    assert periods_of(np.repeat(DAYS[:10], 100)).freq == "D"
    assert periods_of(np.repeat(DAYS[:100], 2)).freq == "ME"  # 200 documents in 11 months
    assert periods_of(np.arange(np.datetime64("1700"), np.datetime64("2000")).astype("M8[D]")).freq == "10YE"
    assert periods_of([datetime.date(2000, 1, 1)]).names == ("2000-01-01",)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (["a", "b"], {}, "must hold dates or numbers, but is of the kind 'text': prevalence_by"),
        ([True, False], {}, "kind 'boolean'"),
        ([None, None], {}, "dates or numbers|no document has a value"),
        ([np.nan, np.nan], {}, "dates or numbers|no document has a value"),
        ([1.0, np.inf], {}, "finite numbers"),
        (DAYS, {"freq": "fortnight"}, "freq must be 'YE', 'QE'"),
        (DAYS, {"freq": "0D"}, "freq must be 'YE', 'QE'"),
        (DAYS, {"freq": 5}, "freq must be 'YE', 'QE'"),
        ([1, 2], {"freq": "ME"}, "for which freq must be a width"),
        ([1, 2], {"freq": "YE"}, "for which freq must be a width"),
        ([1, 2], {"freq": -1}, "positive width"),
        ([1, 2], {"freq": True}, "positive width"),
        ([1, 2], {"freq": 1, "n_bins": 3}, "give one of them"),
        ([1, 2], {"n_bins": 0}, "n_bins"),
        (np.arange(10000), {"freq": 1}, "10,000 periods are too many"),
        ("year", {}, "one date or number per document"),
        (7, {}, "one date or number per document"),
    ],
)
def test_bad_input_is_refused(values, options, message):
    with pytest.raises(InputError, match=message):
        periods_of(values, **options)


@pytest.mark.parametrize("values", [[None] * 4, [np.nan] * 4, np.full(4, np.datetime64("NaT"), dtype="M8[D]")])
def test_no_value_at_all(values):
    with pytest.raises(InputError, match="no document has a value in the column 'x', so that there is no period"):
        periods_of(values, name="the column 'x'")


def dirty(wrong="unknown", n=200, places=(16, 40, 41)):
    values = [f"{2000 + i % 20}-05-{1 + i % 28:02d}" for i in range(n)]
    for place in places:
        values[place] = wrong
    return values


def test_a_few_values_that_are_not_dates_are_named():
    with pytest.raises(InputError) as refused:
        periods_of([None, *dirty(), "NA"], name="the column 'day'")
    assert str(refused.value) == (
        "the column 'day' must hold dates or numbers, but 3 of its 200 values are not dates; the first is 'unknown' in row "
        '18. Correct or empty these values, for example with pandas.to_datetime(values, errors="coerce"): documents with an '
        "empty value are left out and counted."
    )
    assert periods_of(pd.to_datetime(pd.Series(dirty()), errors="coerce")).codes.tolist().count(-1) == 3
    with pytest.raises(InputError, match=r"1 of its 200 values is not a date: '13/05/2001' in row 4 \(document 'd4'\)"):
        periods_of(dirty("13/05/2001", places=[3]), ids=[f"d{i + 1}" for i in range(200)])
    with pytest.raises(InputError, match=r"1 of its 4 values is not a number: 'c\. 1990' in row 2\. .*to_numeric"):
        periods_of(["1989", "c. 1990", "1991", "1992"])
    with pytest.raises(InputError, match="1 of its 3 values is not a date: '2001' in row 3"):
        periods_of(["2000-01-01", "2000-02-01", "2001"])
    with pytest.raises(InputError, match="holds numbers that are written as text: convert them first"):
        periods_of(["1989", "1990"])
    with pytest.raises(InputError, match="prevalence_by and 'anchorwords groups'"):
        periods_of(dirty(places=range(120)))


@pytest.mark.parametrize(
    ("values", "freq", "words"),
    [
        ([1999, 2003], None, "of one value each"),
        ([1999, 2003], 5, "of width 5"),
        ([1999, 2003], "quantiles:2", "of about as many documents each"),
        (DAYS, "YE", "of one year each"),
        (DAYS, "10ye", "of 10 years each"),
        (DAYS, "2QE", "of 2 quarters each"),
        (DAYS, "ME", "of one month each"),
        (DAYS, "W", "of one week each"),
        (DAYS[:9], "D", "of one day each"),
    ],
)
def test_periods_in_words(values, freq, words):
    assert periods_in_words(periods_of(values, freq).freq) == words

"""Tables as text and as HTML: alignment, rounding, escaping, and styles that stay where they are."""

from __future__ import annotations

import math
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorwords.records.cells import (
    MISSING,
    Cell,
    decimals_of,
    p_value,
    percent,
    plain_number,
    points_cell,
    share_cell,
    small_percent,
    value_text,
)
from anchorwords.records.html import html_of
from anchorwords.records.table import (
    Field,
    counted,
    inferred_fields,
    points_field,
    share_field,
    table_of,
    text_field,
    words_field,
)
from anchorwords.records.text import spark, text_of

from .parsing import Parsed

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'single' \u202eturned\x1b[2J\ud800"
# Everything that could move a cursor, turn a line around or not be encoded.
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def cells_wide(text):
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (12345, 3, "12,345"),
        (0.123456, 3, "0.123"),
        (-477.7123, 4, "−477.7"),
        (123456.7, 3, "123,457"),
        (0.00001234, 3, "1.23e−05"),
        (0.0, 2, "0.0"),
        (math.nan, 3, MISSING),
        (None, 3, MISSING),
        ("as it is", 3, "as it is"),
    ],
)
def test_numbers_have_the_digits_asked_for(value, digits, expected):
    assert plain_number(value, digits) == expected


def test_percentages_and_intervals():
    assert percent(0.12345) == "12.3%"
    assert small_percent(0.000123) == "0.012%"
    assert share_cell(0.123, 0.11, 0.136).line == "12.3% (11.0 to 13.6)"
    assert share_cell(0.123, math.nan, math.nan).line == "12.3%"
    assert share_cell(math.nan, 0.1, 0.2).line == MISSING
    assert points_cell(0.012, 0.008, 0.016).line == "+1.2 (0.8 to 1.6)"
    assert points_cell(-0.012).line == "−1.2"
    # What rounds to zero has no sign, however small and of whatever sign it is.
    assert [points_cell(x).text for x in (1e-9, -1e-9, 0.0)] == ["0.0"] * 3
    assert (p_value(0.0004), p_value(0.04321), p_value(math.nan)) == ("< 0.001", "0.043", MISSING)
    assert (value_text(2005), value_text(0.5), value_text(None), value_text([1, 2])) == ("2005", "0.5", MISSING, "1 2")
    assert (counted(1, "topic"), counted(1200, "topic")) == ("1 topic", "1,200 topics")


@given(st.floats(1e-5, 1.0))
def test_decimals_leave_two_digits_of_small_percentages(size):
    shown = float(f"{100 * size:.{decimals_of(size)}f}")
    # Half a unit of the second digit, or of the tenth of a percent or the fourth decimal that bound the decimals.
    assert abs(shown - 100 * size) <= max(0.05 * 100 * size, 0.5e-4) + 1e-12
    assert 1 <= decimals_of(size) <= 4


def test_a_column_of_differences_has_one_number_of_decimals():
    rows = [{"x": x, "of": of} for of, values in (("a", [0.5, -0.02, 1e-12]), ("b", [0.0004, 0.0003])) for x in values]
    field = points_field(rows, "x", "points", by="of")
    assert [field.show(row).text for row in rows] == ["+50.0", "−2.0", "0.0", "+0.040", "+0.030"]


def test_text_is_aligned_for_every_script():
    rows = [{"name": name, "n": n} for name, n in (("plain", 1), ("宇宙飛行", 22), ("e\u0301te\u0301", 333), ("", 4))]
    lines = text_of([table_of(rows, [text_field("name"), Field("n", lambda row: Cell(str(row["n"])))], "Caption")])
    caption, *body = lines.split("\n")
    assert caption == "Caption"
    # Numbers are flush right: all lines end at the same place.
    assert len({cells_wide(line) for line in body}) == 1


@given(st.lists(st.lists(st.text(max_size=40), max_size=12), min_size=1, max_size=5))
def test_lines_of_text_have_a_limit_and_hold_nothing_dangerous(words):
    rows = [{"label": "x" * 10, "words": one} for one in words]
    text = text_of([table_of(rows, [text_field("label"), words_field("words")], "Words")])
    assert text.count("\n") == len(rows) + 1
    assert all(cells_wide(line) <= 120 for line in text.split("\n"))
    assert not BAD.search(text.replace("\n", ""))


def test_long_names_are_cut_and_wrap():
    long = "x" * 200
    table = table_of([{"label": long, "words": ["a", "b"]}], [text_field("label"), words_field("words")], "named")
    line = text_of([table]).splitlines()[-1]
    assert line == f"{'x' * 59}…  a b"
    html = html_of([table])
    assert f'<td class="aw-wide">{long}</td>' in html


def test_long_tables_are_cut_and_say_so():
    rows = [{"a": i} for i in range(400)]
    table = table_of(rows, inferred_fields(rows), "Numbers")
    assert text_of([table]).split("\n")[-1] == "showing 20 of 400 rows"
    parsed = Parsed(html_of([table]))
    assert len(parsed.rows) == 21
    assert parsed.texts["div"][-1] == "showing 20 of 400 rows"
    whole = table_of(rows, inferred_fields(rows), "Numbers", max_rows=None)
    assert len(Parsed(html_of([whole])).rows) == 401
    assert "showing" not in text_of([whole])


def test_no_rows_are_a_table_too():
    table = table_of([], inferred_fields([]), "Nothing")
    assert text_of([table]) == "Nothing"
    assert Parsed(html_of([table])).rows == []


def test_text_in_html_is_text():
    rows = [{HOSTILE: HOSTILE, "words": [HOSTILE], "share": 0.5}]
    fields = [text_field(HOSTILE), words_field("words"), share_field("share", HOSTILE, largest=1.0)]
    parsed = Parsed(html_of([table_of(rows, fields, HOSTILE, notes=[HOSTILE])]))
    shown = "<script>alert(1)</script> & \"quoted\" 'single' \ufffdturned\ufffd[2J"
    assert parsed.names() <= {"div", "style", "table", "caption", "thead", "tbody", "tr", "th", "td", "span"}
    assert parsed.rows[1][0].startswith(shown)
    assert parsed.texts["caption"][0].startswith(shown)
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)
    html_of([table_of(rows, fields, HOSTILE)]).encode("utf-8")


def test_styles_stay_below_our_own_class():
    style = Parsed(html_of([])).texts["style"][0]
    selectors = [part for rule in style.split("}") if "{" in rule for part in rule.split("{")[0].split(",")]
    assert len(selectors) > 10
    assert all(part.strip().startswith(".anchorwords-output") for part in selectors)
    # Colours are inherited or translucent, so that a dark theme needs no second set.
    assert not re.search(r"#[0-9a-f]{3}|:(white|black)", style)


def test_bars_and_curves():
    rows = [{"share": 0.25}, {"share": 0.5}, {"share": math.nan}]
    parsed = Parsed(html_of([table_of(rows, [share_field("share", largest=0.5)], "")]))
    styles = [attributes.get("style") or "" for tag, attributes in parsed.tags if tag == "td"]
    assert "50.0%" in styles[0]
    assert "100.0%" in styles[1]
    assert styles[2] == ""
    curve = Field("c", lambda _: Cell("name", curve=(0.1, math.nan, 0.2, 0.4)))
    parsed = Parsed(html_of([table_of([{}], [curve], "")]))
    # A gap divides the curve in two.
    assert [tag for tag, _ in parsed.tags].count("polyline") == 2
    assert spark((0.0, math.nan, 1.0)) == "▁ █"
    assert spark(()) == ""

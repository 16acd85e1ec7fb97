from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorwords.exploring.plain import LONGEST_NAME, LONGEST_TEXT, beginning, name, number, numbers

# Any character that Python can hold, lone surrogates and controls with them.
anything = st.text(st.characters(codec=None, min_codepoint=0, max_codepoint=0x10FFFF), max_size=400)


@given(st.floats(-1e307, 1e307, allow_subnormal=False), st.integers(1, 12))
def test_a_number_is_right_to_its_digits(x, digits):
    found = number(x, digits)
    # Half a unit of the last digit, and the double that is nearest to that.
    assert abs(found - x) <= (0.5 * 10.0 ** (1 - digits) + 1e-15) * abs(x)
    assert number(found, digits) == found
    assert json.loads(json.dumps(found)) == found
    assert len(json.dumps(found)) <= max(15, digits) + 8  # a sign, a point, an exponent; whole numbers to 1e15


@pytest.mark.parametrize(
    "x", [math.nan, math.inf, -math.inf, np.float64("nan"), np.float32("inf"), 1.7976931348623157e308]
)
def test_what_is_not_a_number_is_none(x):
    assert number(x) is None
    assert numbers([1.0, x, 2]) == [1, None, 2]


@pytest.mark.parametrize("x", [3.0, -0.0, np.int64(7), np.float32(2.0), True, 1e14])
def test_whole_numbers_have_no_point(x):
    assert type(number(x)) is int
    assert number(x, 15) == x
    assert "." not in json.dumps(number(x))


def test_numbers_keep_their_order():
    values = np.random.default_rng(0).standard_normal(50)
    assert numbers(values, 17) == values.tolist()
    assert numbers([]) == []
    assert numbers(iter_of := tuple(values), 3) == [number(value, 3) for value in iter_of]


@given(anything, st.integers(3, 90))
def test_a_name_is_bounded_and_printable(text, longest):
    found = name(text, longest)
    assert len(found) <= longest
    # Lone surrogates have no bytes at all.
    assert len(found.encode("utf-8")) + 5 * sum(map(found.count, "<>&")) <= 3 * longest // 2
    assert all(char.isprintable() or char in "\u200c\u200d" for char in found)
    assert name(found, longest) == found


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="<>&"), max_size=LONGEST_NAME))
def test_short_plain_names_stay_as_they_are(text):
    assert name(text) == text


def test_long_names_say_that_they_go_on():
    found = name("a" * 10_000)
    assert (len(found), found[-1], set(found[:-1])) == (LONGEST_NAME, "…", {"a"})
    assert name(" " * 10_000) == "…"
    assert name("a" * 5 + " " * 200, 10) == "aaaaa…"
    assert name("ж" * 60) == "ж" * 60  # 120 bytes
    assert name("ж" * 61) == "ж" * 58 + "…"
    assert name("<" * 20) == "<" * 20  # 120 bytes in a page
    assert name("<" * 21) == "<" * 19 + "…"
    assert name(12) == "12"  # what names a document need not be text


@pytest.mark.parametrize(
    "word", ["</script><img src=x onerror=alert(1)>", "مرحبا", "👩‍🚀", "می‌خواهم", "naïve", "a b", "…", "'\"&<>", ""]
)
def test_what_people_write_stays(word):
    assert name(word) == word


@pytest.mark.parametrize("char", "\u202e\u2066\ud800\x00\x1b\n\t\r\x7f\u2028\ufeff")
def test_what_turns_a_page_around_does_not(char):
    assert name(f"a{char}b") in ("a\N{REPLACEMENT CHARACTER}b", "a b")


@given(anything)
def test_a_text_begins_as_it_does(text):
    found = beginning(text)
    assert len(found) <= LONGEST_TEXT
    assert "  " not in found
    whole = " ".join(text.split())
    if whole.isascii() and whole.isprintable() and len(whole) <= LONGEST_TEXT and not set(whole) & set("<>&"):
        assert found == whole
    if whole.isprintable():
        assert whole.startswith(found.removesuffix("…").rstrip())


def test_a_book_is_not_read_to_its_end():
    book = "word \n\t" * 10**6
    assert beginning(book) == name(" ".join(["word"] * 100), LONGEST_TEXT)
    assert beginning(" " * 10**6 + "late") == ""

"""Markdown that shows words as they are."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anchorwords._markdown import markdown_escaped, markdown_table, printable, separator_of


def test_a_table():
    table = markdown_table(["a", "b"], [["1", "2"], ["3", "4"]], right=[True, False])
    assert table == "| a | b |\n| ---: | --- |\n| 1 | 2 |\n| 3 | 4 |"
    assert markdown_table(["a"], []) == "| a |\n| --- |"


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("plain", "plain"),
        ("a|b", r"a\|b"),
        ("*x*", r"\*x\*"),
        ("_x_", r"\_x\_"),
        ("<b>", r"\<b\>"),
        ("&amp;", r"\&amp\;"),
        ("`code`", r"\`code\`"),
        ("[a](b)", r"\[a\]\(b\)"),
        ("back\\", "back\\\\"),
        ("www.site.org", r"www\.site\.org"),
        ("it's 1.5-2 %", "it's 1.5-2 %"),
        ("two\nlines", "two\N{REPLACEMENT CHARACTER}lines"),
        ("\x1b[31m", "\N{REPLACEMENT CHARACTER}\\[31m"),
        ("café 機械", "café 機械"),
    ],
)
def test_words_are_escaped(word, shown):
    assert markdown_escaped(word) == shown


# What begins a construct inside a line of Markdown (CommonMark with tables and the autolinks of GitHub).
ACTIVE = r"\`*_[]<>&|~!#:@$"


@given(st.text(alphabet=st.sampled_from([*string.printable, "é", "\u2028", "\u202e"]), max_size=30))
def test_nothing_active_is_left(word):
    shown = markdown_escaped(word)
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", shown)  # a backslash before punctuation is that character
    assert not set(bare) & set(ACTIVE)
    assert bare.replace("\u200c", "").replace("\u200d", "").isprintable()
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", shown) == printable(word)


@given(st.text(max_size=30))
def test_printable_has_no_control_characters(word):
    shown = printable(word)
    assert len(shown) == len(word)
    assert shown.replace("\u200c", "").replace("\u200d", "").isprintable()
    assert all(a in (b, " ", "\N{REPLACEMENT CHARACTER}") for a, b in zip(shown, word, strict=True))


def test_letters_that_join_and_spaces_that_do_not_break_belong_to_words():
    assert printable("می\u200cخواهم") == "می\u200cخواهم"
    assert printable("a\xa0b\u3000c") == "a b c"
    assert printable("a\x1bb\u202ec") == "a\ufffdb\ufffdc"


def test_words_with_spaces_are_told_apart():
    assert separator_of(["a", "b"]) == " "
    assert separator_of(["a", "The Beatles"]) == " · "
    assert separator_of([]) == " "

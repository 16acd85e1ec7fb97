"""Words that are not there, and what may have been meant."""

from __future__ import annotations

import warnings

import pytest

from anchorwords.corpus.missing import UnknownWordWarning, close_matches, warn_of_absent, warn_of_missing

WORDS = ["neuron", "neurons", "Paris", "network", "STRASSE"]


def test_close_matches_ignore_capitals():
    assert close_matches("Neuron", WORDS)[0] == "neuron"
    assert close_matches("paris", WORDS) == ["Paris"]
    assert close_matches("straße", WORDS) == ["STRASSE"]
    assert close_matches("zzz", WORDS) == []


def test_one_warning_names_them_all():
    with pytest.warns(UnknownWordWarning) as caught:
        warn_of_missing(["netwrk", "zzz"], WORDS, "anchors")
    assert len(caught) == 1
    assert str(caught[0].message) == (
        "anchors: 2 words are not in the vocabulary and left out: 'netwrk' (did you mean 'network'?), 'zzz'."
    )
    assert caught[0].filename == __file__


def test_long_lists_are_cut_short():
    many = [f"q{i}" for i in range(25)]
    with pytest.warns(UnknownWordWarning, match=r"25 words .*'q9', and 15 more\.$"):
        warn_of_missing(many, WORDS, "keep_words")
    with pytest.warns(UnknownWordWarning, match=r"'q9', and 15 more are in no document"):
        warn_of_absent(many, "keep_words")


def test_nothing_to_say():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_missing([], WORDS, "anchors")
        warn_of_absent([], "anchors")


def test_stop_words_are_called_so():
    with pytest.warns(UnknownWordWarning, match=r"left out: 'the' \(a stop word\)\."):
        warn_of_missing(["the"], ["theme", "these"], "anchors", stop_words=frozenset({"the"}))

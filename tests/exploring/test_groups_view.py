"""Topics by group in the page's data: the library's own numbers, bounded, and what was left out is said."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.exploring import groups_view
from anchorwords.exploring.data import explorer_data
from anchorwords.exploring.groups_view import similar_order
from anchorwords.exploring.plain import numbers

from .made import fitted, sampled

VENUES = [["north", "south", "<b>east</b>"][m % 3] for m in range(301)]


def by_group(by=VENUES, model=None, **options):
    return explorer_data(model or fitted(), sampled(), by=by, **options)["groups"]


def test_shares_are_the_library_s():
    expected, found = aw.prevalence_by(fitted(), sampled(), VENUES), by_group()
    assert [row["name"] for row in found["rows"]] == list(expected.groups)
    assert [row["n_documents"] for row in found["rows"]] == expected.n_docs.tolist()
    for g, row in enumerate(found["rows"]):
        assert row["prevalence"] == numbers(expected.prevalence[g], 4)
        assert row["low"] == numbers(expected.low[g], 4)
        assert row["high"] == numbers(expected.high[g], 4)
    assert (found["by"], found["level"], found["ordered"]) == (None, 0.9, False)
    # All groups together are all documents: the mean over documents with a known word.
    shares = fitted().transform(sampled())[:300]
    np.testing.assert_allclose(found["overall"], shares.mean(axis=0), atol=1e-3)


def test_a_column_of_several_labels():
    labels = ["physics; biology" if m % 2 else "physics" for m in range(301)]
    corpus = aw.Corpus(sampled().counts, sampled().vocabulary, documents={"field": labels})
    found = explorer_data(fitted(), corpus, by="field", separator=";")["groups"]
    assert found["by"] == "field"
    assert {row["name"]: row["n_documents"] for row in found["rows"]} == {"physics": 300, "biology": 150}


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        ([3, 1], True),
        ([2.5, 0.5], True),
        ([datetime.date(2001, 1, 2), datetime.date(2000, 1, 1)], True),
        (["a", "b"], False),
    ],
)
def test_numbers_and_dates_have_an_order(labels, ordered):
    found = by_group([labels[m % 2] for m in range(301)])
    assert found["ordered"] is ordered
    assert len(found["rows"]) == 2
    if ordered:
        assert [row["name"] for row in found["rows"]] == [str(label) for label in sorted(labels)]


def test_similar_groups_are_next_to_each_other():
    rng = np.random.default_rng(0)
    # Three kinds of groups, dealt at random: each kind comes out in one piece.
    kind = rng.permutation(np.repeat([0, 1, 2], 5))
    prevalence = np.array([rng.dirichlet(np.where(np.arange(6) // 2 == own, 50.0, 1.0)) for own in kind])
    order = similar_order(prevalence)
    assert sorted(order) == list(range(15))
    assert np.count_nonzero(np.diff(kind[order])) == 2
    assert similar_order(prevalence[:2]) == [0, 1]
    assert similar_order(prevalence[:1]) == [0]


def test_many_groups_are_cut_and_it_is_said(monkeypatch):
    monkeypatch.setattr(groups_view, "_MOST_GROUPS", 13)
    labels = [f"group {min(m // 10, 19):02}" for m in range(301)]  # the last one holds 111 documents
    found = by_group(labels)
    assert len(found["rows"]) == 13
    assert found["rows"][0]["name"] == "group 19"
    assert found["notes"][0] == "The largest 13 of 20 groups are shown."
    assert sorted(found["similar"]) == list(range(13))
    # What is shared by all is of all groups.
    assert found["overall"] == by_group(["one"] * 301)["overall"]
    monkeypatch.setattr(groups_view, "_MOST_CELLS", 5)
    assert len(by_group(labels)["rows"]) == 12


def test_what_is_left_out_is_said():
    labels = [None if m == 7 else "few" if m in (8, 9) else "many" for m in range(301)]
    assert by_group(labels)["notes"] == [
        "1 group of fewer than 5 documents was left out.",
        "1 document without a group was left out.",
        "1 document without a word the model knows was left out.",
    ]


def test_hostile_names_are_printable():
    found = by_group(["\u202e" + "x" * 1000 if m % 2 else "\x00" for m in range(301)])
    assert {row["name"][:1] for row in found["rows"]} == {"\N{REPLACEMENT CHARACTER}"}
    assert max(len(row["name"]) for row in found["rows"]) <= 80


def test_without_groups_there_are_none():
    assert explorer_data(fitted(), sampled())["groups"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "venue"}, "by belongs to documents"),
        ({"separator": ";"}, "say with by"),
        ({"corpus": sampled(), "by": "no such column"}, "column"),
        ({"corpus": sampled(), "by": ["a", "b"]}, "for each of the 301 documents"),
        ({"corpus": sampled(), "by": VENUES, "separator": ""}, "separator must be"),
    ],
)
def test_groups_that_are_not(options, message):
    with pytest.raises(InputError, match=message):
        explorer_data(fitted(), **options)

"""What users say about anchors, as columns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.anchors import given
from anchorwords.anchors.given import anchor_groups, as_plain, guided_choice
from anchorwords.corpus.missing import UnknownWordWarning
from anchorwords.exceptions import InputError

WORDS = ("apple", "Banana", "cherry", "date", "elder", "fig")


def choice(K=4, anchors=None, forbidden=None, min_anchor_docs=1, used=None, df=None, vocabulary=WORDS):
    used = np.ones(6, dtype=bool) if used is None else np.asarray(used, dtype=bool)
    df = np.arange(1, 1 + used.sum()) if df is None else np.asarray(df)
    return guided_choice(
        K, anchors, forbidden, min_anchor_docs, used=used, df=df, n_docs=10, vocabulary=vocabulary
    )  # fmt: skip


def test_words_columns_and_lists_of_them():
    found = choice(anchors=["fig", 0, ["date", 2], np.array([4])])
    assert found.groups == ((5,), (0,), (3, 2), (4,))
    assert found.candidates is None
    assert choice(anchors=()).groups == ()
    assert anchor_groups(np.array([[1, 2], [3, 0]]), 6, 2) == ((1, 2), (3, 0))
    assert choice(anchors=[np.str_("fig"), np.int32(1)], vocabulary=np.array(WORDS, dtype=object)).groups == (
        (5,),
        (1,),
    )


def test_columns_of_the_words_in_use():
    found = choice(anchors=["fig", ["cherry", 1]], forbidden=["elder", "apple"], used=[0, 1, 1, 0, 1, 1], K=2)
    assert found.groups == ((3,), (1, 0))
    assert found.candidates.tolist() == [True, True, False, True]


def test_missing_words_warn_with_close_matches():
    with pytest.warns(UnknownWordWarning, match=r"anchors: 2 words .*'chery' \(did you mean 'cherry'\?\), 'xyz'\."):
        found = choice(anchors=[["chery", "fig"], "xyz", "date"])
    assert found.groups == ((5,), (3,))
    with pytest.warns(UnknownWordWarning, match=r"forbidden anchors: a word .*'BANANA' \(did you mean 'Banana'\?\)"):
        assert choice(forbidden={"BANANA", "date"}).candidates.tolist() == [True, True, True, False, True, True]


def test_words_that_never_occur_warn_and_columns_raise():
    used = [0, 1, 1, 1, 0, 1]
    with pytest.warns(UnknownWordWarning, match="'apple', 'elder' are in no document"):
        found = choice(anchors=["apple", ["elder", "fig"], 2], used=used)
    assert found.groups == ((3,), (1,))
    with pytest.raises(InputError, match="column 4 never does"):
        choice(anchors=[4], used=used)
    with warnings.catch_warnings():  # there is nothing to forbid
        warnings.simplefilter("error")
        choice(forbidden=["apple", 4], used=used)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"anchors": "fig"}, "single string"),
        ({"anchors": 3}, "sequence of words or columns"),
        ({"anchors": {"fig"}}, "sequence of words or columns"),
        ({"anchors": np.array(3)}, "sequence of words or columns"),
        ({"anchors": [None]}, "word or a column index, or a list"),
        ({"anchors": [0.5]}, "word or a column index"),
        ({"anchors": [True]}, "word or a column index"),
        ({"anchors": [["fig", ["date"]]]}, "word or a column index"),
        ({"anchors": [[]]}, "empty list"),
        ({"anchors": [6]}, "from 0 to 5, but one is 6"),
        ({"anchors": [-1]}, "from 0 to 5"),
        ({"anchors": ["fig", 5]}, "distinct words, but 'fig' is given more than once"),
        ({"anchors": ["fig", ["date", "fig"]]}, "distinct"),
        ({"anchors": [["date", "date"]]}, "distinct"),
        ({"anchors": [0, 1, 2, 3, 4]}, "at most n_components=4 anchors"),
        ({"anchors": ["fig"], "vocabulary": None}, "without a vocabulary"),
        ({"anchors": ["fig"], "forbidden": [5]}, "'fig' is given as both"),
        ({"anchors": [[1, 2]], "forbidden": [2], "vocabulary": None}, "column 2 is given as both"),
        ({"forbidden": "fig"}, "in a list"),
        ({"forbidden": 3}, "in a list"),
        ({"forbidden": [["fig"]]}, "each of the forbidden anchors must be a word or a column index, but"),
        ({"forbidden": [9]}, "forbidden anchors must be column indices from 0 to 5"),
        ({"min_anchor_docs": 0}, "at least 1"),
        ({"min_anchor_docs": 1.0}, "between 0 and 1"),
        ({"min_anchor_docs": 1.5}, "between 0 and 1"),
        ({"min_anchor_docs": True}, "between 0 and 1"),
        ({"min_anchor_docs": "1"}, "between 0 and 1"),
        ({"min_anchor_docs": 4}, r"needs 4 words .* only 3 are in at least 4 documents \(min_anchor_docs=4\).*lower"),
        ({"anchors": ["fig"], "min_anchor_docs": 0.35}, "needs 3 more words .* only 2 are in at least 4 documents"),
        ({"forbidden": ["fig", "date", "elder"]}, "only 3 are .* forbid fewer"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        choice(**options)


def test_thresholds_count_documents_or_their_share():
    for threshold, fewest in [(3, 3), (0.3, 3), (0.25, 3), (0.21, 3), (0.2, 2)]:
        assert choice(K=2, min_anchor_docs=threshold).candidates.tolist() == [d >= fewest for d in range(1, 7)]
    assert choice(min_anchor_docs=0.1).candidates is None
    # Given anchors are always allowed: they are not counted among the candidates.
    found = choice(K=3, anchors=["apple", "Banana"], min_anchor_docs=6)
    assert found.candidates.tolist() == [False] * 5 + [True]


def test_candidates_are_respected(nonnegative_factor):
    rng = np.random.default_rng(0)
    C = nonnegative_factor @ nonnegative_factor.T
    for _ in range(20):
        allowed = rng.random(80) < 0.3
        given = rng.permutation(80)[:2].tolist()
        models = [
            aw.low_rank_anchor_words(nonnegative_factor, anchors=given, candidates=allowed),
            aw.anchor_words(C, 6, anchors=given, candidates=allowed),
        ]
        for model in models:
            assert model.anchors[:2].tolist() == given
            assert allowed[model.anchors[2:]].all()
        np.testing.assert_array_equal(models[0].anchors, models[1].anchors)
    everything = aw.low_rank_anchor_words(nonnegative_factor, candidates=np.ones(80, dtype=bool))
    np.testing.assert_array_equal(everything.B, aw.low_rank_anchor_words(nonnegative_factor).B)


def test_pivots_among_candidates_are_those_of_the_smaller_problem(nonnegative_factor):
    """Rows that may not be chosen take no part in the choice: it is that of QR on the other rows alone."""
    from anchorwords.anchors.lowrank import normalised_coordinates
    from anchorwords.linalg.pivoted import pivot_rows

    allowed = np.arange(80) % 3 == 0
    model = aw.low_rank_anchor_words(nonnegative_factor, candidates=allowed)
    X = normalised_coordinates(nonnegative_factor).X
    np.testing.assert_array_equal(model.anchors, np.flatnonzero(allowed)[pivot_rows(X[allowed], 6).indices])


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (np.ones(79, dtype=bool), r"shape \(79,\)"),
        (np.ones(80), "type float64"),
        ([1, 2, 3], "array of bool"),
        (np.arange(80) < 5, "exceeds the 5 usable words that may be anchors"),
    ],
)
def test_bad_candidates(nonnegative_factor, candidates, message):
    with pytest.raises(InputError, match=message):
        aw.low_rank_anchor_words(nonnegative_factor, candidates=candidates)


def test_plain():
    assert as_plain(None) is None
    assert as_plain(["fig", np.int64(3), (np.str_("a"), 2), np.array([1, 2])]) == ["fig", 3, ["a", 2], [1, 2]]
    assert as_plain({"fig"}) == ["fig"]


# ---- min_anchor_docs="auto".


@pytest.fixture
def threshold(monkeypatch):
    """Function (share, K, **guidance) -> the threshold if "auto" were this share; word i is in i + 1 documents of 50."""

    def found(share, K, **guidance):
        monkeypatch.setattr(given, "AUTO_SHARE", share)
        guided = guided_choice(
            K, guidance.get("anchors"), guidance.get("forbidden"), "auto", used=np.ones(40, dtype=bool),
            df=np.arange(1, 41), n_docs=50, vocabulary=[f"w{i}" for i in range(40)],
        )  # fmt: skip
        assert guided.relaxed == guided.threshold.relaxed == (guided.threshold.sentence() is not None)
        assert guided.min_docs == (1 if guided.relaxed else round(share * 50))
        return guided.threshold.value

    return found


def test_auto_drops_a_threshold_that_leaves_too_few_candidates(threshold):
    assert threshold(0.7, 1) == 0.7  # 6 words in 35 documents, five wanted
    assert threshold(0.7, 2) == 1  # ten wanted
    assert threshold(0.7, 2, anchors=["w0"]) == 0.7
    with pytest.warns(UnknownWordWarning):
        assert threshold(0.7, 2, anchors=["nowhere"]) == 1  # which is left out
    assert threshold(0.7, 1, forbidden=["w39", "w38"]) == 1
    assert threshold(0.02, 40) == 0.02  # every word
    assert threshold(0.2, 30) == 0.2  # 31 of 40: few per topic, but most that there are
    assert threshold(0.2, 35) == 1
    with pytest.raises(InputError, match="n_components=41 needs 41 words"):
        threshold(0.2, 41)


def test_a_dropped_threshold_is_logged(caplog):
    with caplog.at_level("INFO", logger="anchorwords.fit"):
        relaxed = guided_choice(
            4, None, ["fig"], "auto", used=np.ones(40, dtype=bool), df=np.arange(1, 41), n_docs=3000,
            vocabulary=["fig", *(f"w{i}" for i in range(39))],
        )  # fmt: skip
    assert relaxed.threshold == (1, 1, True, 11, 30)
    assert relaxed.candidates.sum() == 39
    assert [record.getMessage() for record in caplog.records] == [
        "anchors: only 11 words are in at least 30 documents (1% of them, as the preset asks), so that any word may be an "
        "anchor"
    ]
    caplog.clear()
    # What the user asks for is not changed.
    asked = choice(K=2, min_anchor_docs=3)
    assert (asked.min_docs, asked.relaxed, asked.threshold.value) == (3, False, 3)
    assert caplog.records == []

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.interpret.topic_words import characteristic_indices, prominent_indices, top_words
from anchorwords.model import Stability


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


def test_prominent_words_are_the_largest_of_b(model, sampled):
    words = aw.prominent_words(model, 6)
    for k, top in enumerate(words):
        order = np.argsort(-model.components_[k], kind="stable")[:6]
        assert top == [sampled.corpus.vocabulary[i] for i in order]
    assert aw.prominent_words(model.model_, 6) == words


def test_characteristic_words_are_the_anchors_company(model, sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    for k, top in enumerate(aw.characteristic_words(model, 6)):
        row = C[model.anchors_[k]]
        assert top == [sampled.corpus.vocabulary[i] for i in np.argsort(-row, kind="stable")[:6]]
    rectified = aw.characteristic_words(model, 6, rectified=True)
    Y = model.model_.Y
    for k, top in enumerate(rectified):
        row = Y[model.anchors_[k]] @ Y.T
        assert top == [sampled.corpus.vocabulary[i] for i in np.argsort(-row, kind="stable")[:6]]


def test_words_of_no_probability_are_not_listed():
    counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])
    model = aw.AnchorTopicModel(2).fit(np.vstack([counts, counts]))
    for top in aw.characteristic_words(model, 4):
        assert sorted(top) in (["0", "1"], ["2", "3"])


def test_table_lists_topics_by_prevalence(model):
    table = aw.topic_table(model, 3)
    shares = [row["prevalence"] for row in table]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    assert sorted(row["topic"] for row in table) == list(range(5))
    assert set(table[0]) == {"topic", "label", "prevalence", "anchor", "prominent", "characteristic", "specific"}
    for row in table:
        assert row["anchor"] == model.model_.vocabulary[model.anchors_[row["topic"]]]
        assert len(row["prominent"]) == 3
        assert row["specific"] == [word for word in row["characteristic"] if word not in row["prominent"]]
    assert any(row["specific"] for row in table)


def test_words_come_from_the_vocabulary_else_the_index(model, sampled):
    bare = replace(model.model_, vocabulary=None)
    assert aw.prominent_words(bare, 1)[0][0].isdigit()
    named = aw.topic_table(bare, 1, vocabulary=sampled.corpus.vocabulary)
    assert named == aw.topic_table(model, 1)
    without_rows = replace(bare, anchor_rows=None)
    assert aw.topic_table(without_rows)[0]["characteristic"] == []
    assert aw.topic_table(without_rows)[0]["specific"] == []
    with pytest.raises(InputError, match="original co-occurrence"):
        aw.characteristic_words(without_rows)
    with pytest.raises(InputError, match="no compression"):
        aw.characteristic_words(replace(bare, Y=None), rectified=True)
    with pytest.raises(InputError, match="120 columns"):
        aw.prominent_words(bare, vocabulary=["a"])
    with pytest.raises(InputError, match="n must be"):
        aw.prominent_words(bare, 0)


def test_indices_are_those_of_the_words(model, sampled):
    words = sampled.corpus.vocabulary
    for indices, named in (
        (prominent_indices(model, 7), aw.prominent_words(model, 7)),
        (characteristic_indices(model, 7), aw.characteristic_words(model, 7)),
        (characteristic_indices(model, 7, rectified=True), aw.characteristic_words(model, 7, rectified=True)),
    ):
        assert [[words[i] for i in top] for top in indices] == named
    with pytest.raises(InputError, match="n must be"):
        characteristic_indices(model, 0)


def test_ties_go_to_the_lower_index_and_zeros_are_left_out(model):
    B = np.zeros((120, 5))
    B[[3, 5, 9, 70]] = np.array([0.2, 0.3, 0.3, 0.2])[:, None]
    rows = np.zeros((5, 120))
    rows[:, [80, 2, 4]] = [0.25, 0.25, 0.5]
    tied = replace(model.model_, B=B, anchor_rows=rows)
    for top, company in zip(prominent_indices(tied, 6), characteristic_indices(tied, 6), strict=True):
        assert top.tolist() == [5, 9, 3, 70]
        assert company.tolist() == [4, 2, 80]
    assert [top.tolist() for top in prominent_indices(tied, 3)] == [[5, 9, 3]] * 5


def test_the_table_lists_another_ranking_beside(model):
    plain = aw.topic_table(model, 4)
    assert aw.topic_table(model, 4, ranking="probability") == plain
    for ranking, weight in (("relevance", None), ("relevance", 0.2), ("frex", 0.7), ("characteristic", None)):
        ranked = top_words(model, 4, ranking=ranking, weight=weight)
        table = aw.topic_table(model, 4, ranking=ranking, weight=weight)
        assert [row.pop("words") for row in table] == [ranked[row["topic"]] for row in table]
        assert table == plain
    with pytest.raises(InputError, match="ranking must be one of"):
        aw.topic_table(model, ranking="best")
    with pytest.raises(InputError, match="takes no weight"):
        aw.topic_table(model, weight=0.5)


def test_topics_of_several_anchors_name_them_all(model):
    words = model.model_.vocabulary
    groups = tuple((int(anchor), 7, 9) if k == 2 else (int(anchor),) for k, anchor in enumerate(model.anchors_))
    table = {row["topic"]: row for row in aw.topic_table(replace(model.model_, anchor_groups=groups))}
    for k, group in enumerate(groups):
        assert table[k]["anchors"] == [words[i] for i in group]
        assert table[k]["anchor"] == " + ".join(table[k]["anchors"])
    assert table[0]["anchor"] == words[model.anchors_[0]]


def test_the_table_says_how_sure_a_topic_is(model):
    rng = np.random.default_rng(0)
    similarity, own_words, anchor, low, high = rng.random((5, 5))
    stability = Stability(similarity, own_words, anchor, low, high, rng.random((5, 5)), rng.random((5, 5)), 0.9, 20, 10)
    plain = aw.topic_table(model)
    table = aw.topic_table(replace(model.model_, stability=stability))
    for row, before in zip(table, plain, strict=True):
        k = row["topic"]
        found = {name: row.pop(name) for name in set(row) - set(before)}
        assert found == {
            "stability": similarity[k], "stable_words": own_words[k], "anchor_stability": anchor[k],
            "prevalence_low": low[k], "prevalence_high": high[k],
        }  # fmt: skip
        assert {type(value) for value in found.values()} == {float}
        assert row == before

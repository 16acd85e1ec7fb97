from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from anchorwords.exploring.layout import topic_map
from anchorwords.exploring.plain import number
from anchorwords.exploring.topic_cards import strong_edges, topic_rows, tree_of
from anchorwords.interpret.association import topic_association
from anchorwords.interpret.order import reading_order
from anchorwords.metrics.incoherence import topic_trees
from anchorwords.model import Stability

from .made import made_model


@pytest.fixture(scope="module")
def model():
    return made_model(300, 15, words_a_topic=60)


def sure(model, width):
    """Intervals around the estimates, of so many times their value on either side."""
    K, p = model.n_components, model.prevalence
    return dataclasses.replace(
        model,
        stability=Stability(
            similarity=np.linspace(0.2, 0.9, K), words=np.full(K, 0.6), anchor=np.full(K, 0.3),
            prevalence_low=p * 0.9, prevalence_high=p * 1.1,
            correlation_low=model.A * (1 - width), correlation_high=model.A * (1 + width),
            level=0.9, n_replicates=20, n_shards=32,
        ),
    )  # fmt: skip


def rows_of(model, **changes):
    N, K = model.n_words, model.n_components
    parts = {
        "place_of": np.arange(N),
        "labels": [f"label {k}" for k in range(K)],
        "automatic": [f"automatic {k}" for k in range(K)],
        "lists": {
            "words": [np.arange(k, k + 5) for k in range(K)],
            "keywords": [],
            "prominent": [np.arange(k, k + 3) for k in range(K)],
            "characteristic": [np.arange(k + 1, k + 4) for k in range(K)],
        },
        "placed": topic_map(model.prevalence, topic_association(model)),
        "association": topic_association(model),
        "measured": {"specificity": np.linspace(0.0, 1.0, K)},
    } | changes
    return topic_rows(model, *parts.values())


def edges_of(model):
    return strong_edges(model, topic_association(model))


def test_edges_join_what_goes_together(model):
    ratio = topic_association(model).ratio
    found = edges_of(model)
    assert found
    assert found == sorted(found)
    for k, m, affinity, is_sure in found:
        assert 0 <= k < m < 15
        assert affinity == number(ratio[k, m], 3)
        assert ratio[k, m] >= 1.5
        assert is_sure is None
    joined = {(k, m) for k, m, *_ in found}
    off = ratio - np.diag(np.full(15, np.inf))
    for k in range(15):
        best = int(off[k].argmax())
        # The strongest of each topic, where it is strong.
        assert ((min(k, best), max(k, best)) in joined) == (off[k, best] >= 1.5)
    assert len(found) <= 3 * 15


def test_edges_that_are_sure(model):
    narrow, wide = edges_of(sure(model, 0.01)), edges_of(sure(model, 0.99))
    assert [edge[:3] for edge in narrow] == [edge[:3] for edge in wide] == [edge[:3] for edge in edges_of(model)]
    # An association of 1.5 or more less a hundredth is above 1; of less than a hundredfold a hundredth of it is not.
    assert all(is_sure is True for *_, is_sure in narrow)
    assert all(is_sure is (affinity > 100) for *_, affinity, is_sure in wide)


@pytest.mark.parametrize("K", [1, 2, 3])
def test_few_topics_have_no_edges(K):
    assert edges_of(made_model(60, K, words_a_topic=30)) == []


def test_a_row_for_each_topic(model):
    rows = rows_of(model)
    assert [row["topic"] for row in rows] == list(range(15))
    by_rank = sorted(rows, key=lambda row: row["rank"])
    assert [row["rank"] for row in by_rank] == list(range(1, 16))
    assert [row["topic"] for row in by_rank] == np.argsort(-model.prevalence, kind="stable").tolist()
    assert [row["topic"] for row in sorted(rows, key=lambda row: row["reading"])] == reading_order(model)
    for k, row in enumerate(rows):
        assert (row["label"], row["automatic"]) == (f"label {k}", f"automatic {k}")
        assert row["prevalence"] == number(model.prevalence[k])
        assert row["anchors"] == [model.anchors[k]]
        assert row["probabilities"] == [number(model.B[i, k], 6) for i in row["words"]]
        assert row["specificity"] == number(k / 14, 4)
        assert not {"stability", "prevalence_low"} & set(row)


def test_words_are_called_by_their_places(model):
    place_of = np.full(300, -1)
    place_of[::-1] = np.arange(300)
    for k, row in enumerate(rows_of(model, place_of=place_of)):
        assert row["words"] == [299 - i for i in range(k, k + 5)]
        assert row["prominent"] == [299 - i for i in range(k, k + 3)]
        assert row["anchors"] == [299 - model.anchors[k]]


def test_neighbours_are_by_association(model):
    association = topic_association(model)
    ratio, expected = association.ratio, association.expected
    for k, row in enumerate(rows_of(model)):
        near = row["neighbours"]
        assert len(near) == 10
        values = [ratio[k, entry["topic"]] for entry in near]
        assert values == sorted(values, reverse=True)
        others = set(range(15)) - {k} - {entry["topic"] for entry in near}
        assert max(ratio[k, m] for m in others) <= values[-1]
        for entry in near:
            m = entry["topic"]
            assert entry == {
                "topic": m,
                "probability": number(model.A[k, m], 4),
                "affinity": number(model.A[k, m] / expected[k, m], 4),
            }


def test_neighbours_have_intervals_where_topics_do(model):
    for row in rows_of(sure(model, 0.25)):
        assert (row["stable_words"], row["anchor_stability"]) == (0.6, 0.3)
        assert row["prevalence_low"] < row["prevalence"] < row["prevalence_high"]
        for entry in row["neighbours"]:
            assert entry["affinity_low"] == pytest.approx(0.75 * entry["affinity"], rel=1e-3)
            assert entry["affinity_high"] == pytest.approx(1.25 * entry["affinity"], rel=1e-3)


def test_topics_that_share_no_documents_are_no_neighbours():
    model = made_model(60, 4, words_a_topic=30)
    A = np.kron(np.eye(2), np.array([[0.2, 0.05], [0.05, 0.2]]))
    for k, row in enumerate(rows_of(dataclasses.replace(model, A=A))):
        assert [entry["topic"] for entry in row["neighbours"]] == [k ^ 1]
    assert rows_of(made_model(60, 1, words_a_topic=30))[0]["neighbours"] == []


def test_what_is_not_a_number_is_none(model):
    rows = rows_of(model, measured={"specificity": np.r_[np.nan, np.ones(14)]})
    assert [row["specificity"] for row in rows[:2]] == [None, 1]


def test_anchors_of_several_words(model):
    groups = tuple((int(anchor), k, k + 100) for k, anchor in enumerate(model.anchors))
    rows = rows_of(dataclasses.replace(model, anchor_groups=groups))
    assert [row["anchors"] for row in rows] == [list(group) for group in groups]


def test_trees_are_told_by_place(model):
    trees = topic_trees(model, model_operator(model))
    for tree in trees:
        index = np.array([int(word) for word in tree.words]) + 1000
        found = tree_of(tree, index)
        assert found["words"] == index.tolist()
        assert found["kinds"] == list(tree.kinds)
        assert len(found["edges"]) == len(found["words"]) - 1
        assert found["weight"] == pytest.approx(sum(weight for *_, weight in found["edges"]), abs=0.01)


def model_operator(model):
    from anchorwords.interpret.companions import FactoredCooccurrence

    return FactoredCooccurrence(model)

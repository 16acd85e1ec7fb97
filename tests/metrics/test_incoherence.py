"""Minimum spanning trees over a topic's words."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.metrics import Reference, mst_incoherence, topic_trees
from anchorwords.metrics.incoherence import edge_weights, spanning_tree
from tests.metrics import direct


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_is_minimal(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    weights = rng.choice([0.0, 0.25, 0.5, 1.0], size=(n, n)) if seed % 2 else rng.random((n, n))
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    edges = spanning_tree(weights)
    assert len(edges) == n - 1
    assert all(i < j and weight == weights[i, j] for i, j, weight in edges)
    reached = {0}
    for _ in range(n):
        reached |= {k for i, j, _ in edges if i in reached or j in reached for k in (i, j)}
    assert len(reached) == n  # it spans
    expected = direct.kruskal(n, lambda i, j: weights[i, j])
    assert sum(weight for *_, weight in edges) == pytest.approx(expected, rel=1e-14, abs=1e-15)


def test_all_edges_of_weight_zero_are_edges():
    edges = spanning_tree(np.zeros((5, 5)))
    assert len(edges) == 4
    assert all(weight == 0.0 for *_, weight in edges)


def test_edges_by_hand():
    # p = (1/2 1/4 1/4). C_01 = 1/8 = p_0 p_1: independent, NPMI 0, weight 1/2. C_02 = 1/4: p_2 is all with 0:
    # NPMI = log(1/4 / 1/8) / log 4 = 1/2, weight 1/4. C_12 = 0: weight 1.
    C = np.array([[1 / 8, 1 / 8, 1 / 4], [1 / 8, 1 / 8, 0], [1 / 4, 0, 0]])
    weights = edge_weights(C, np.array([1 / 2, 1 / 4, 1 / 4]))
    assert weights[0, 1] == weights[1, 0] == pytest.approx(1 / 2)
    assert weights[0, 2] == pytest.approx(1 / 4)
    assert weights[1, 2] == 1.0
    # A word that never occurs, and a negative entry (of rounding): never together.
    weights = edge_weights(np.array([[0.5, 0.0, -1e-20], [0, 0, 0], [-1e-20, 0, 0.5]]), np.array([0.5, 0.0, 0.5]))
    assert (weights[~np.eye(3, dtype=bool)] == 1.0).all()
    # Two words that are the whole corpus, once a document each: C_01 = p_0 = p_1 = 1/2, NPMI = log 2 / log 2 = 1.
    assert edge_weights(np.array([[0, 0.5], [0.5, 0]]), np.array([0.5, 0.5]))[0, 1] == 0.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [1, 3, 7])
def test_against_the_definition(seed, n):
    X = direct.random_counts(seed)
    C = direct.eq1(X)
    model = direct.random_model(seed, C, zeros=0.5)
    value, topics = direct.mst_incoherence(model, C, n)
    reference = Reference(direct.cut(X, 13))
    for data in (X, direct.cut(X, 13), reference, reference.operator, aw.CooccurrenceOperator(X)):
        assert mst_incoherence(model, data, n) == pytest.approx(value, rel=1e-11)
        np.testing.assert_allclose(mst_incoherence(model, data, n, per_topic=True), topics, rtol=1e-11)


def test_trees_name_their_words():
    X = direct.random_counts(1)
    C = direct.eq1(X)
    named = direct.random_model(1, C, vocabulary=[f"w{i}" for i in range(30)])
    prominent, characteristic = aw.prominent_words(named, 7), aw.characteristic_words(named, 7)
    trees = topic_trees(named, X)
    assert [tree.topic for tree in trees] == list(range(4))
    for k, tree in enumerate(trees):
        assert tree.anchor == f"w{named.anchors[k]}"
        assert list(tree.words[: len(prominent[k])]) == prominent[k]
        assert set(tree.words) == set(prominent[k]) | set(characteristic[k])
        assert len(set(tree.words)) == len(tree.words) == len(tree.kinds)
        for word, kind in zip(tree.words, tree.kinds, strict=True):
            expected = {(True, True): "both", (True, False): "prominent", (False, True): "characteristic"}
            assert kind == expected[word in prominent[k], word in characteristic[k]]
        assert tree.weight == pytest.approx(sum(weight for *_, weight in tree.edges))
        assert len(tree.edges) == len(tree.words) - 1
        p = C.sum(axis=1)
        for i, j, weight in tree.edges:
            a, b = (int(tree.words[x][1:]) for x in (i, j))
            assert weight == pytest.approx(direct.edge(C, p, a, b), rel=1e-10)
    unnamed = topic_trees(named.with_vocabulary(None), X)
    assert unnamed[2].anchor == str(named.anchors[2])
    assert [f"w{word}" for word in unnamed[2].words] == list(trees[2].words)


def test_words_that_never_meet_a_topic():
    """A topic of two halves that no document joins: one edge of weight 1 between trees."""
    # "a b", "c d": within a half every edge is 0 (p = C = 1/4 each: NPMI = log 4 / log 4 = 1).
    X = np.array([[1, 1, 0, 0], [0, 0, 1, 1]])
    B = np.array([[0.4, 0.3, 0.2, 0.1]]).T
    rows = sp.csr_array([[0.0, 1.0, 0.0, 0.0]])
    model = aw.TopicModel(B, np.ones((1, 1)), 1.0, np.array([0]), np.ones((4, 1)), np.full(4, 0.25), None, None, rows)
    assert mst_incoherence(model, X) == pytest.approx(1.0)
    # Words of the topic that are in no document of another corpus: 1 for each.
    assert mst_incoherence(model, [[1, 1, 0, 0]]) == pytest.approx(2.0)
    # C = 1/2 = p: log(1/2 / 1/4) / log 2 = 1 for the pair that is left.
    assert mst_incoherence(model, [[1, 1, 0, 0]], 2) == pytest.approx(0.0)


def test_bad_input_is_refused_in_one_sentence():
    X = direct.random_counts(0)
    C = direct.eq1(X)
    model = direct.random_model(0, C)
    with pytest.raises(InputError, match="n must be a positive whole number"):
        mst_incoherence(model, X, 0)
    with pytest.raises(InputError, match="the model has 30 words, but X has 29"):
        mst_incoherence(model, X[:, 1:])
    with pytest.raises(InputError, match="the model has 30 words, but X has 29"):
        mst_incoherence(model, aw.CooccurrenceOperator(X[:, 1:]))
    with pytest.raises(InputError, match="anchors' rows of the original co-occurrence"):
        mst_incoherence(aw.low_rank_anchor_words(model.Y), X)
    with pytest.raises(InputError, match="call fit first"):
        topic_trees(aw.AnchorTopicModel(2), X)


def test_topics_of_documents_hang_together_better_than_a_shuffle_of_their_words():
    rng = np.random.default_rng(0)
    X = np.zeros((90, 30), int)
    for m in range(90):  # documents of one third of the words each
        X[m, 10 * (m % 3) : 10 * (m % 3) + 10] = rng.integers(0, 3, 10)
    B = np.kron(np.eye(3), rng.dirichlet(np.ones(10))[:, None])
    anchors = np.array([0, 10, 20])
    C = direct.eq1(X)

    def model(order):
        rows = sp.csr_array((C[anchors] / C[anchors].sum(axis=1, keepdims=True))[:, order])
        return aw.TopicModel(B[order], np.eye(3) / 3, 1.0, anchors, np.kron(np.eye(3), np.ones((10, 1))),
                             np.full(30, 1 / 30), None, None, rows)  # fmt: skip

    together, apart = mst_incoherence(model(np.arange(30)), X), mst_incoherence(model(rng.permutation(30)), X)
    # Two words of different thirds never meet: a shuffled tree has at least one or two edges of weight 1.
    assert together + 1.0 < apart

"""Two topics, four words: every number worked out on paper."""

from __future__ import annotations

from math import log, log2, sqrt

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords import metrics as m

# B            A                BAB' x 64      C x 64 (BAB' with bb and cc raised by 4, bc and cb lowered by 4)
# a 1/2  0     3/8 1/8          6 4 4 2        6 4 4 2
# b 1/4 1/4    1/8 3/8          4 4 4 4        4 8 0 4
# c 1/4 1/4                     4 4 4 4        4 0 8 4
# d  0  1/2                     2 4 4 6        2 4 4 6
B = np.array([[2, 0], [1, 1], [1, 1], [0, 2]]) / 4
A = np.array([[3, 1], [1, 3]]) / 8
BAB = np.array([[6, 4, 4, 2], [4, 4, 4, 4], [4, 4, 4, 4], [2, 4, 4, 6]]) / 64
C = np.array([[6, 4, 4, 2], [4, 8, 0, 4], [4, 0, 8, 4], [2, 4, 4, 6]]) / 64
# p(topic | word): a and d are the anchors, b and c halfway.
BT = np.array([[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]])
# Y Y' = BAB' exactly, whatever the factor of A.
Y = B @ np.linalg.cholesky(A)


def model(**changes) -> aw.TopicModel:
    parts = {
        "B": B, "A": A, "A_raw_sum": 3.0, "anchors": np.array([0, 3]), "word_topics": BT,
        "word_probs": np.full(4, 0.25), "vocabulary": tuple("abcd"), "Y": Y, "anchor_rows": sp.csr_array(4 * C[[0, 3]]),
    }  # fmt: skip
    return aw.TopicModel(**(parts | changes))


# A handful of operations on numbers near one.
EXACT = {"rel": 1e-14}
# |C|^2 - 2 <C, BAB'> + |BAB'|^2 rounds to 1e-16 of |C|^2, so what should be zero is up to the root of that, 1e-8.
ROOT = {"abs": 1e-8}


def test_the_toy_is_what_it_says():
    np.testing.assert_allclose(B @ A @ B.T, BAB, atol=1e-16)
    np.testing.assert_allclose(Y @ Y.T, BAB, atol=1e-16)
    assert C.sum() == BAB.sum() == 1.0


def test_approximation():
    # C - BAB' is +-4 / 64 in four places: norm 8 / 64.
    assert m.approximation(model(), C) == pytest.approx(8 / 64, **EXACT)
    # |C|^2 x 64^2 = 2 (36 + 16 + 16 + 4) + 2 (16 + 64 + 0 + 16) = 336, so the ratio is 8 / sqrt(336) = sqrt(4 / 21).
    assert m.relative_approximation(model(), C) == pytest.approx(sqrt(4 / 21), **EXACT)
    # Topic 1 has a whole, b and c half: of the squared error 0 + 16 + 16 of 64, of |C|^2 72 + 48 + 48 of 336.
    np.testing.assert_allclose(m.approximation(model(), C, per_topic=True), sqrt(32) / 64, rtol=1e-14)
    np.testing.assert_allclose(m.relative_approximation(model(), C, per_topic=True), sqrt(32 / 168), rtol=1e-14)


def test_approximation_with_raw_A():
    # C - 3 BAB', x 64: a -12 -8 -8 -4 (288), b -8 -4 -12 -8 (288), c and d the same: 1152 of 336.
    assert m.approximation(model(), C, raw=True) == pytest.approx(sqrt(1152) / 64, **EXACT)
    assert m.relative_approximation(model(), C, raw=True) == pytest.approx(sqrt(24 / 7), **EXACT)


def test_approximation_of_the_rectified():
    assert m.approximation(model(), None) == pytest.approx(0.0, **ROOT)
    assert m.relative_approximation(model(), None) == pytest.approx(0.0, **ROOT)
    # With sqrt(2) Y the rectified co-occurrence is 2 BAB': the error is BAB', half of it.
    # |BAB'|^2 x 64^2 = 72 + 64 + 64 + 72 = 272.
    doubled = model(Y=sqrt(2) * Y)
    assert m.approximation(doubled, None) == pytest.approx(sqrt(272) / 64, **EXACT)
    assert m.relative_approximation(doubled, None) == pytest.approx(1 / 2, **EXACT)


def test_recovery():
    # Row sums are 1/4, so Cbar x 16 is C x 64. b is (4 8 0 4) and the mean of a and d (4 4 4 4): off by sqrt(32) / 16.
    # c the same, a and d not at all: the mean is sqrt(32) / 32 = sqrt(2) / 8.
    assert m.recovery(model(), C) == pytest.approx(sqrt(2) / 8, **EXACT)
    # |Cbar|^2 x 16^2 = 336: sqrt(2) / 8 x 16 / sqrt(336) = sqrt(1 / 42).
    assert m.relative_recovery(model(), C) == pytest.approx(sqrt(1 / 42), **EXACT)
    # Topic 1: (1 x 0 + 1/2 x sqrt(2)/4 + 1/2 x sqrt(2)/4 + 0) / (1 + 1/2 + 1/2 + 0).
    np.testing.assert_allclose(m.recovery(model(), C, per_topic=True), sqrt(2) / 8, rtol=1e-14)


def test_recovery_of_the_rectified():
    # In BAB' b and c are halfway exactly; in K dimensions as in N.
    assert m.recovery(model()) == pytest.approx(0.0, abs=1e-15)
    # b given to topic 1 alone: (4 4 4 4) - (6 4 4 2) = (-2 0 0 2), sqrt(8) / 16, a quarter of it in the mean.
    # |Cbar|_F = sqrt(272) / 16 = sqrt(17) / 4.
    moved = model(word_topics=np.array([[1, 0], [1, 0], [0.5, 0.5], [0, 1]]))
    for rectified in (None, BAB):
        assert m.recovery(moved, rectified) == pytest.approx(sqrt(8) / 64, **EXACT)
        assert m.relative_recovery(moved, rectified) == pytest.approx(sqrt(2) / (8 * sqrt(17)), **EXACT)
        # Topic 1 has a (0), b (sqrt(8)/16) and half of c (0); topic 2 the other half of c, and d.
        np.testing.assert_allclose(m.recovery(moved, rectified, per_topic=True), [sqrt(8) / 16 / 2.5, 0], atol=1e-15)


def test_dominancies():
    # |A|_F = sqrt(9 + 1 + 1 + 9) / 8 = sqrt(20) / 8; A_kk / |A|_F = 3 / sqrt(20). Rows of A sum to 1/2: 3/8 of it is 3/4.
    assert m.relative_dominancy(model()) == pytest.approx(3 / sqrt(20), **EXACT)
    assert m.dominancy(model()) == pytest.approx(3 / 4, **EXACT)
    uneven = model(A=np.array([[4, 1], [1, 2]]) / 8)
    np.testing.assert_allclose(m.dominancy(uneven, per_topic=True), [4 / 5, 2 / 3], rtol=1e-14)
    np.testing.assert_allclose(m.relative_dominancy(uneven, per_topic=True), np.array([4, 2]) / sqrt(22), rtol=1e-14)
    assert m.dominancy(uneven) == pytest.approx((4 / 5 + 2 / 3) / 2, **EXACT)


def test_specificity_is_in_bits():
    # Against the uniform unigram: 1/2 log2(2) + 1/4 log2(1) + 1/4 log2(1) = 1/2 bit.
    assert m.specificity(model(), np.full(4, 0.25)) == pytest.approx(0.5, **EXACT)
    # Against (1/2 1/4 1/8 1/8): topic 1 is 1/2 log2 1 + 1/4 log2 1 + 1/4 log2 2 = 1/4, topic 2 1/4 log2 1 + 1/4 log2 2 +
    # 1/2 log2 4 = 5/4.
    p = np.array([4, 2, 1, 1]) / 8
    np.testing.assert_allclose(m.specificity(model(), p, per_topic=True), [0.25, 1.25], rtol=1e-14)
    # A word of the topic that never occurs in the corpus: its probability is floored at 2^-52.
    # Topic 1 is 1/2 log2(1/2 / 2^-52) + 1/4 log2(1/4 / 1/2) + 1/4 log2(1/4 / 1/4) = 51/2 - 1/4; topic 2 has no a:
    # 1/4 log2(1/2) + 1/4 log2(1) + 1/2 log2(2) = 1/4.
    missing = np.array([0, 2, 1, 1]) / 4
    np.testing.assert_allclose(m.specificity(model(), missing, per_topic=True), [51 / 2 - 1 / 4, 1 / 4], rtol=1e-14)


def test_dissimilarity():
    # Top one: a | d. Top two: a b | d b (b before c, a tie, by column). Top three and more: a b c | d b c.
    assert [m.dissimilarity(model(), n) for n in (1, 2, 3, 20)] == [1.0, 1.0, 1.0, 1.0]
    # Topics of words a b | b c d: with two words a b | b c share b; with three a b | b c d.
    other = model(B=np.array([[3, 0], [1, 4], [0, 3], [0, 1]]) / [4, 8])
    assert m.dissimilarity(other, 2) == 1.0
    np.testing.assert_array_equal(m.dissimilarity(other, 3, per_topic=True), [1, 2])
    assert m.dissimilarity(other, 3) == 1.5


def test_diversity():
    # Top two a b | d b: three distinct words of four; of each topic one word alone and one shared: (1 + 1/2) / 2.
    assert m.topic_diversity(model(), 2) == 3 / 4
    np.testing.assert_array_equal(m.topic_diversity(model(), 2, per_topic=True), [3 / 4, 3 / 4])
    # a b | b c d: four distinct of five; (1 + 1/2) / 2 and (1/2 + 1 + 1) / 3, weighted by 2 and 3: 4 / 5.
    other = model(B=np.array([[3, 0], [1, 4], [0, 3], [0, 1]]) / [4, 8])
    assert m.topic_diversity(other) == 4 / 5
    np.testing.assert_allclose(m.topic_diversity(other, per_topic=True), [3 / 4, 5 / 6], rtol=1e-15)


def test_entropy_and_sparsity():
    # 1/2 x 1 + 1/4 x 2 + 1/4 x 2 = 3/2 bits.
    assert m.entropy(model()) == pytest.approx(1.5, **EXACT)
    # |B_k|_1 / |B_k|_2 = 1 / sqrt(1/4 + 1/16 + 1/16) = sqrt(8/3); (2 - sqrt(8/3)) / (2 - 1).
    assert m.sparsity(model()) == pytest.approx(2 - sqrt(8 / 3), **EXACT)
    # A topic of one word, and a uniform one.
    ends = model(B=np.array([[1, 0.25], [0, 0.25], [0, 0.25], [0, 0.25]]))
    np.testing.assert_allclose(m.entropy(ends, per_topic=True), [0, 2], atol=1e-15)
    np.testing.assert_allclose(m.sparsity(ends, per_topic=True), [1, 0], atol=1e-15)
    # Where d never occurs the uniform topic is that of three words.
    three = model(B=np.array([[1, 1 / 3], [0, 1 / 3], [0, 1 / 3], [0, 0]]), word_probs=np.array([1, 1, 1, 0]) / 3)
    np.testing.assert_allclose(m.sparsity(three, per_topic=True), [1, 0], atol=1e-15)


# Documents, in words: "a b c", "a b", "a b d", "c d", and an empty one. D = 5.
X = np.array([[1, 1, 2, 0], [3, 1, 0, 0], [1, 1, 0, 1], [0, 0, 1, 5], [0, 0, 0, 0]])


def test_coherence_of_five_documents():
    # Topic 1: a b c. D_a = 3, D_b = 3, D_c = 2; D_ab = 3, D_ac = 1, D_bc = 1.
    ab = 1.0  # always together: log(3/5 / (9/25)) / log(5/3) = 1
    ac = log((1 / 5) / (3 / 5 * 2 / 5)) / log(5)
    # Topic 2: d b c (b before c by column). D_d = 2, D_db = 1, D_dc = 1.
    db, dc = log((1 / 5) / (2 / 5 * 3 / 5)) / log(5), log((1 / 5) / (2 / 5 * 2 / 5)) / log(5)
    np.testing.assert_allclose(
        m.npmi_coherence(model(), X, per_topic=True), [(ab + 2 * ac) / 3, (db + dc + ac) / 3], rtol=1e-13
    )
    # UMass: ln((D_ij + 1) / D_j), j the better word: ab 4/3, ac 2/3, bc 2/3 | db 2/2, dc 2/2, bc 2/3.
    topics = [log(4 / 3) + 2 * log(2 / 3), log(2 / 3)]
    np.testing.assert_allclose(m.umass_coherence(model(), X, per_topic=True), topics, rtol=1e-13)
    assert m.umass_coherence(model(), X) == pytest.approx(sum(topics) / 2, rel=1e-13)


# Documents "a a b" and "c d". Eq. 1: of the first 6 pairs of tokens aa 2, ab 2, ba 2; of the second cd 1, dc 1 of 2.
# C: aa 1/6, ab 1/6, cd 1/4; p = (1/3 1/6 1/4 1/4).
TWO = np.array([[2, 1, 0, 0], [0, 0, 1, 1]])
# Edge ab: NPMI = log(1/6 / (1/3 1/6)) / log 6 = log 3 / log 6, so (1 - NPMI) / 2 = log 2 / (2 log 6).
AB = log(2) / (2 * log(6))


def test_the_tree_of_two_documents():
    # cd: log(1/4 / (1/16)) / log 4 = 1, an edge of weight 0. a or b with c or d: never together, weight 1.
    # Topic 1 has a b c as prominent words and a b as the anchor a's row: a-b and one edge of weight 1.
    # Topic 2 has d b c and, of its anchor d, c: c-d (0) and one edge of weight 1.
    rows = sp.csr_array([[1 / 2, 1 / 2, 0, 0], [0, 0, 1, 0]])
    toy = model(anchor_rows=rows)
    np.testing.assert_allclose(m.mst_incoherence(toy, TWO, per_topic=True), [AB + 1, 1], rtol=1e-14)
    assert m.mst_incoherence(toy, TWO) == pytest.approx(1 + AB / 2, **EXACT)
    first, second = m.topic_trees(toy, TWO)
    assert (first.topic, first.anchor, first.words) == (0, "a", ("a", "b", "c"))
    assert first.kinds == ("both", "both", "prominent")
    assert [edge[:2] for edge in first.edges] in ([(0, 1), (0, 2)], [(0, 1), (1, 2)])
    assert first.edges[0][2] == pytest.approx(AB, **EXACT)
    assert (second.words, second.kinds) == (("d", "b", "c"), ("prominent", "prominent", "both"))
    assert (0, 2, 0.0) in second.edges
    # One word of each kind: a with a, a single word; d with c, together always.
    np.testing.assert_array_equal(m.mst_incoherence(toy, TWO, 1, per_topic=True), [0, 0])


def test_specificity_in_evaluate_uses_the_row_sums_of_C():
    # p = (1/3 1/6 1/4 1/4), while of the five tokens 2/5 are a. Topic 1 is (1/2 1/4 1/4 0).
    first = log2(3 / 2) / 2 + log2(3 / 2) / 4 + 0
    second = log2(3 / 2) / 4 + 0 + log2(2) / 2
    found = aw.evaluate(model(), TWO, metrics=["specificity"])
    np.testing.assert_allclose(found["per_topic"]["specificity"], [first, second], rtol=1e-13)
    assert found["specificity"] == pytest.approx((first + second) / 2, rel=1e-13)

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.metrics import npmi_coherence, topic_diversity, umass_coherence


def model_of(B, vocabulary=None) -> aw.TopicModel:
    """A record with these topics, words x topics; coherence looks at nothing else."""
    B = np.asarray(B, dtype=float)
    N, K = B.shape
    return aw.TopicModel(B, np.eye(K) / K, 1.0, np.arange(K), np.full((N, K), 1 / K), np.full(N, 1 / N), vocabulary)


def random_problem(seed: int, n_docs=40, n_words=30, K=4):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.4, size=n_words), size=(n_docs, n_words))
    X[0] = 1  # every word occurs
    return X, rng.dirichlet(np.full(n_words, 0.3), size=K).T


def documents(X, *words) -> int:
    """Documents that hold all of these words, counted one by one."""
    return sum(all(document[word] > 0 for word in words) for document in np.asarray(X).tolist())


def npmi_by_loops(X, B, n) -> float:
    D, topics = len(X), []
    for k in range(B.shape[1]):
        top = sorted(range(B.shape[0]), key=lambda word: -B[word, k])[:n]
        scores = []
        for i, j in combinations(top, 2):
            p_i, p_j, p_ij = documents(X, i) / D, documents(X, j) / D, documents(X, i, j) / D
            scores.append(-1.0 if p_ij == 0 else log(p_ij / (p_i * p_j)) / -log(p_ij))
        topics.append(sum(scores) / len(scores))
    return sum(topics) / len(topics)


def umass_by_loops(X, B, n) -> float:
    topics = []
    for k in range(B.shape[1]):
        top = sorted(range(B.shape[0]), key=lambda word: -B[word, k])[:n]
        pairs = [(top[worse], top[better]) for worse in range(n) for better in range(worse)]
        topics.append(sum(log((documents(X, i, j) + 1) / documents(X, j)) for i, j in pairs))
    return sum(topics) / len(topics)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [2, 5, 10])
def test_against_loops_over_documents_and_pairs(seed, n):
    X, B = random_problem(seed)
    for counts in (X, sp.csr_array(X), sp.csc_matrix(X.astype(float)), aw.Corpus(X, [f"w{i}" for i in range(30)])):
        assert npmi_coherence(model_of(B), counts, n) == pytest.approx(npmi_by_loops(X, B, n), rel=1e-12)
        assert umass_coherence(model_of(B), counts, n) == pytest.approx(umass_by_loops(X, B, n), rel=1e-12)


def test_by_hand():
    # Word 0 is in documents 0 and 1, word 1 in 1 and 2, of four: p_i = p_j = 1/2, p_ij = 1/4, so they are independent.
    X = [[3, 0], [1, 1], [0, 7], [0, 0]]
    assert npmi_coherence(model_of([[0.9], [0.1]]), X) == pytest.approx(0.0, abs=1e-15)
    assert umass_coherence(model_of([[0.9], [0.1]]), X) == pytest.approx(log((1 + 1) / 2))
    # Word 0 is in documents 1 to 7 of eight, word 1 in documents 0 and 1: D_0 = 7, D_1 = 2, D_01 = 1.
    X = np.zeros((8, 2))
    X[1:, 0] = 5
    X[:2, 1] = 1
    expected = log((1 / 8) / (7 / 8 * 2 / 8)) / log(8)
    assert npmi_coherence(model_of([[0.9], [0.1]]), X) == pytest.approx(expected)
    # UMass conditions on the word that is more probable in the topic.
    assert umass_coherence(model_of([[0.9], [0.1]]), X) == pytest.approx(log(2 / 7))
    assert umass_coherence(model_of([[0.1], [0.9]]), X) == pytest.approx(log(2 / 2))


@pytest.mark.parametrize("n_holding", [1, 3, 7, 10])
def test_words_always_together_score_one(n_holding):
    X = np.zeros((10, 6), dtype=int)
    X[:n_holding] = np.arange(1, 7)  # how often does not matter
    B = np.random.default_rng(0).dirichlet(np.ones(6), size=3).T
    assert npmi_coherence(model_of(B), X) == 1.0
    pairs = 6 * 5 / 2
    assert umass_coherence(model_of(B), X) == pytest.approx(pairs * log((n_holding + 1) / n_holding))


def test_words_never_together_score_minus_one():
    X = np.eye(6, dtype=int)
    B = np.random.default_rng(0).dirichlet(np.ones(6), size=3).T
    assert npmi_coherence(model_of(B), X) == -1.0
    assert umass_coherence(model_of(B), X) == pytest.approx(0.0)  # log((0 + 1) / 1)


@pytest.mark.parametrize("seed", range(5))
def test_order_and_repetition_of_documents_words_topics_and_counts_do_not_matter(seed):
    X, B = random_problem(seed)
    rng = np.random.default_rng(seed)
    docs, words, topics = rng.permutation(40), rng.permutation(30), rng.permutation(4)
    other = X[docs][:, words] * rng.integers(1, 9, size=X.shape)
    moved = model_of(B[words][:, topics])
    assert npmi_coherence(moved, other) == pytest.approx(npmi_coherence(model_of(B), X), rel=1e-12)
    assert umass_coherence(moved, other) == pytest.approx(umass_coherence(model_of(B), X), rel=1e-12)
    assert topic_diversity(moved, 5) == topic_diversity(model_of(B), 5)
    # NPMI is a function of shares of documents: a corpus held twice scores the same.
    assert npmi_coherence(moved, np.vstack([other, other])) == pytest.approx(npmi_coherence(moved, other), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_ranges(seed):
    X, B = random_problem(seed, n_docs=8)
    assert -1.0 <= npmi_coherence(model_of(B), X) <= 1.0
    assert umass_coherence(model_of(B), X) <= 20 * 19 / 2 * log(2)
    assert 1 / 4 <= topic_diversity(model_of(B), 5) <= 1.0


def test_topic_diversity_by_hand():
    # Top two words: {0, 1}, {1, 2}, {4, 5}: five distinct of six.
    B = np.array([[6, 0, 0], [4, 4, 0], [0, 6, 0], [0, 0, 0], [0, 0, 9], [0, 0, 1]]) / 10
    assert topic_diversity(model_of(B), 2) == pytest.approx(5 / 6)
    assert topic_diversity(model_of(B)) == pytest.approx(5 / 6)  # words of probability zero are no top words
    assert topic_diversity(model_of(B[:, [0, 0, 0]])) == pytest.approx(1 / 3)
    assert topic_diversity(model_of(np.eye(4))) == 1.0


def test_only_words_of_positive_probability_count():
    X = np.ones((5, 6), dtype=int)
    X[:, 2:] = np.eye(5, 4, dtype=int)
    B = np.zeros((6, 2))
    B[:2, 0] = 0.5
    B[5, 1] = 1.0  # one word: no pair, left out of the mean
    assert npmi_coherence(model_of(B), X) == 1.0
    assert umass_coherence(model_of(B), X) == pytest.approx(log(6 / 5))
    with pytest.raises(InputError, match=r"no topic has 2 word\(s\) of positive probability"):
        npmi_coherence(model_of(np.eye(6)), X)


def test_a_corpus_is_matched_by_its_words():
    X, B = random_problem(1)
    names = [f"w{i}" for i in range(30)]
    model = model_of(B, names)
    order = np.random.default_rng(0).permutation(30)
    shuffled = aw.Corpus(X[:, order], [names[i] for i in order])
    assert npmi_coherence(model, shuffled) == pytest.approx(npmi_coherence(model, X), rel=1e-12)
    assert umass_coherence(model, shuffled) == pytest.approx(umass_coherence(model, X), rel=1e-12)
    # A word the corpus does not know is in none of its documents.
    lost = int(np.argmax(B[:, 0]))
    kept = [i for i in range(30) if i != lost]
    without = aw.Corpus(X[:, kept], [names[i] for i in kept])
    emptied = X.copy()
    emptied[:, lost] = 0
    assert npmi_coherence(model, without) == pytest.approx(npmi_coherence(model, emptied), rel=1e-12)
    with pytest.raises(InputError, match=f"word 'w{lost}' never does"):
        umass_coherence(model, without)
    with pytest.raises(InputError, match=f"word {lost} never does"):
        umass_coherence(model_of(B), emptied)
    with pytest.raises(InputError, match="none of the model's top words"):
        npmi_coherence(model, aw.Corpus(X, [f"other{i}" for i in range(30)]))


def test_bad_input_is_refused_in_one_sentence():
    X, B = random_problem(0)
    with pytest.raises(InputError, match="the model has 30 words, but X has 29"):
        npmi_coherence(model_of(B), X[:, 1:])
    with pytest.raises(InputError, match="n must be at least 2"):
        umass_coherence(model_of(B), X, 1)
    with pytest.raises(InputError, match="positive whole number"):
        topic_diversity(model_of(B), 0)
    with pytest.raises(InputError, match="TopicModel"):
        topic_diversity(B)


def test_planted_topics_are_coherent_and_a_shuffle_of_their_words_is_not(sampled):
    fitted = aw.AnchorTopicModel(5).fit(sampled.corpus)
    shuffled = model_of(fitted.model_.B[np.random.default_rng(0).permutation(120)])
    assert npmi_coherence(fitted, sampled.corpus) > npmi_coherence(shuffled, sampled.corpus) + 0.05
    assert umass_coherence(fitted, sampled.corpus) > umass_coherence(shuffled, sampled.corpus)

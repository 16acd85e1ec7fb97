from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.metrics import Reference, npmi_coherence, topic_diversity, umass_coherence
from tests.metrics import direct


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


# Sums of at most 190 logarithms in another order.
ROUNDING = 1e-12


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [2, 5, 10])
def test_against_loops_over_documents_and_pairs(seed, n):
    X, B = random_problem(seed)
    model = model_of(B)
    reference = Reference(direct.cut(X, 7))
    for counts in (X, sp.csr_array(X), sp.csc_matrix(X.astype(float)), aw.Corpus(X, [f"w{i}" for i in range(30)]),
                   direct.cut(X, 9), lambda: direct.cut(X, 1), reference):  # fmt: skip
        for metric, by_loops in ((npmi_coherence, direct.npmi_coherence), (umass_coherence, direct.umass_coherence)):
            value, topics = by_loops(model, X, n)
            assert metric(model, counts, n) == pytest.approx(value, rel=ROUNDING)
            np.testing.assert_allclose(metric(model, counts, n, per_topic=True), topics, rtol=ROUNDING)


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
    with pytest.raises(InputError, match="no topic has 2 words of positive probability"):
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
    with pytest.raises(InputError, match="none of the model's words"):
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


# ---- gensim


def gensim_problem(seed, apart=False):
    """Documents without an empty one, topics as lists of words, and a model whose lists these are.

    Where no two top words are ``apart``, every pair is in some document; no pair is in all of them.
    """
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, size=(60, 20))
    X[:, 0] += X.sum(axis=1) == 0
    X[0], X[1] = 1, 0
    X[1, 19] = 2  # a document of no top word but one
    if apart:
        X[:, 3] *= X[:, 5] == 0  # two words that are never together
    else:
        X[2] = 1
    X[:, 0] += X.sum(axis=1) == 0
    B = rng.dirichlet(np.ones(20), size=3).T
    B[:, 0] = B[:, 0] / 100
    B[[5, 3], 0] += 1.0
    return X, model_of(B / B.sum(axis=0))


def in_gensim(X, model, n):
    """gensim's dictionary, bags of words, texts and topics; ids are our columns."""
    corpora = pytest.importorskip("gensim.corpora")
    dictionary = corpora.Dictionary([[f"w{i:02}" for i in range(20)]])
    assert dictionary.token2id == {f"w{i:02}": i for i in range(20)}
    bags = [[(i, int(count)) for i, count in enumerate(document) if count] for document in X]
    texts = [[f"w{i:02}" for i, count in bag for _ in range(count)] for bag in bags]
    topics = [[f"w{i:02}" for i in top] for top in direct.tops(model, n)]
    return dictionary, bags, texts, topics


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("apart", [False, True])
def test_umass_against_gensim(seed, apart, monkeypatch):
    """gensim: mean over pairs of ln((D_ij / D + eps) / (D_j / D)), j before i in the topic, eps = 1e-12.

    With eps = 1 / D that is the mean of ln((D_ij + 1) / D_j): ours is the sum, as many times it as there are pairs.
    """
    pytest.importorskip("gensim")
    from gensim.models.coherencemodel import CoherenceModel
    from gensim.topic_coherence import direct_confirmation_measure as measure

    X, model = gensim_problem(seed, apart)
    n, D = 8, len(X)
    dictionary, bags, _, topics = in_gensim(X, model, n)
    n_pairs = n * (n - 1) / 2
    ours = umass_coherence(model, X, n, per_topic=True)

    def gensims():
        judged = CoherenceModel(topics=topics, corpus=bags, dictionary=dictionary, coherence="u_mass", topn=n)
        return np.array(judged.get_coherence_per_topic())

    plain = gensims()
    monkeypatch.setattr(measure, "EPSILON", 1.0 / D)
    np.testing.assert_allclose(ours, n_pairs * gensims(), rtol=ROUNDING)
    # With its own eps the two differ by what is added to each count, ln((D_ij + 1) / (D_ij + eps D)).
    added = [
        sum(
            log((direct.documents(X, i, j) + 1) / (direct.documents(X, i, j) + 1e-12 * D))
            for i, j in combinations(top, 2)
        )
        for top in direct.tops(model, n)
    ]
    np.testing.assert_allclose(ours, n_pairs * plain + added, rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("apart", [False, True])
def test_npmi_against_gensim(seed, apart):
    """gensim: mean over ordered pairs of ln((p_ij + eps) / (p_i p_j)) / -ln(p_ij + eps), eps = 1e-12.

    A pair that is together somewhere has p_ij >= 1 / D, so eps changes its score by about eps D / ln D, 1e-11. One that
    never is scores ln(eps / (p_i p_j)) / -ln(eps) = -1 + ln(p_i p_j) / ln(eps) there, and -1 here.
    """
    pytest.importorskip("gensim")
    from gensim.models.coherencemodel import CoherenceModel
    from gensim.topic_coherence import direct_confirmation_measure, probability_estimation, segmentation

    X, model = gensim_problem(seed, apart)
    n, D = 8, len(X)
    dictionary, bags, texts, topics = in_gensim(X, model, n)
    ours = npmi_coherence(model, X, n, per_topic=True)
    never = np.zeros(3)
    for k, top in enumerate(direct.tops(model, n)):
        for i, j in combinations(top, 2):
            if direct.documents(X, i, j) == 0:
                never[k] += log(direct.documents(X, i) * direct.documents(X, j) / D**2) / log(1e-12)
    assert (never[0] > 0) == apart
    expected = ours + never / (n * (n - 1) / 2)
    # A window wider than any document is a boolean document.
    whole = CoherenceModel(
        topics=topics, texts=texts, dictionary=dictionary, coherence="c_npmi", window_size=10_000, topn=n, processes=1
    )  # fmt: skip
    np.testing.assert_allclose(whole.get_coherence_per_topic(), expected, atol=1e-10)
    # The same from gensim's pieces: boolean documents, all pairs, the normalised log ratio.
    pairs = segmentation.s_one_one([np.array(top) for top in direct.tops(model, n)])
    counted = probability_estimation.p_boolean_document(bags, pairs)
    pieces = direct_confirmation_measure.log_ratio_measure(pairs, counted, normalize=True)
    np.testing.assert_allclose(pieces, expected, atol=1e-10)

"""Refinement from its mathematics: the bound that EM never lowers, the truth it stays at, and records that stay valid."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma, gammaln
from sklearn.base import clone

import anchorwords as aw
from anchorwords._validation import check_counts
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.metrics.matching import match_topics
from anchorwords.model import TopicModel
from anchorwords.refine import refinement as refine
from anchorwords.refine import sweep
from anchorwords.refine.anchored import own_words, with_topics
from anchorwords.refine.guided import Guided
from anchorwords.refine.options import Refinement, check_refinement
from anchorwords.refine.refinement import decorrelated
from anchorwords.refine.splitting import halves_of_topics, numbers_left
from anchorwords.refine.sweep import as_documents, expect
from anchorwords.sources.kinds import MatrixBlocks
from tests.contracts import check_valid_model
from tests.fits import fit_topics, refine_topics
from tests.refine.test_sweep import one_step

PLAIN = Refinement(n_sweeps=8, split_sweeps=0, decorrelation=0.0)
SPLIT = Refinement(n_sweeps=4, split_sweeps=3, decorrelation=0.0)
WHOLE = Refinement(n_sweeps=4, split_sweeps=3, decorrelation=2.0)
SQUARES = Refinement(n_sweeps=4, least_squares=3)
READERS = Refinement(n_sweeps=3, decorrelation=2.0, least_squares=3, background=0.1)
# Sums over documents in another order differ by some 1e-16, relative. A sweep that is still far from rest can blow up a
# difference, say by two: after 20 sweeps that is 1e-10. A thousand times as much is still nothing to a reader.
ORDER = 1e-7
# Spectral topics of other seeds, or of sums in another order, agree to 1e-6 (see the tests of streaming and of guidance);
# ten times that for what sweeps may add.
SPECTRAL = 1e-5
EACH = pytest.mark.parametrize(
    "options", [PLAIN, SPLIT, WHOLE, SQUARES, READERS], ids=["plain", "split", "whole", "squares", "readers"]
)


@pytest.fixture(scope="module")
def data():
    return make_topics(n_docs=500, n_words=150, n_topics=6, doc_length=50, n_anchors=2, random_state=7)


@pytest.fixture(scope="module")
def counts(data):
    return check_counts(data.corpus.counts)


@pytest.fixture(scope="module")
def spectral(counts):
    return fit_topics(counts, 6).model


def refined(model, counts, options, **others):
    return refine_topics(model, counts, options, **others)


def model_of(B, A, anchors):
    """A record of these topics: word_topics by Bayes' rule."""
    prevalence = A.sum(axis=1)
    p = B @ prevalence
    rows = np.where(p[:, None] > 0, B * prevalence / np.where(p > 0, p, 1.0)[:, None], prevalence)
    return TopicModel(B=B, A=A, A_raw_sum=1.0, anchors=np.asarray(anchors), word_topics=rows, word_probs=p / p.sum())


def truth_of(data):
    return model_of(data.B, data.A, data.anchors[:, 0])


def check_refined(model, candidates=None, n_given=0):
    """A valid record, whose parts say the same: B_ik p_k = word_topics_ik p_i, and anchors only where they may be."""
    check_valid_model(model)
    np.testing.assert_array_equal(model.prevalence, model.A.sum(axis=1))
    assert model.A.min() >= 0
    joint = model.B * model.prevalence
    np.testing.assert_allclose(joint, model.word_topics * model.word_probs[:, None], atol=1e-13)
    if candidates is not None:
        assert candidates[model.anchors[n_given:]].all()
    assert model.A_raw_sum == 1.0
    assert np.isfinite(model.log_likelihood).all()


# ---- Plain sweeps are variational EM.


def elbo(X, B, alpha, gamma):
    """The variational bound with the best responsibilities, up to nothing: its value can be compared between sweeps."""
    log_w = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    p = np.exp(log_w) @ B.T
    value = np.sum(X[X > 0] * np.log(p[X > 0]))
    prior = gammaln(alpha.sum()) - gammaln(alpha).sum() + log_w @ (alpha - 1.0)
    entropy = gammaln(gamma.sum(axis=1)) - gammaln(gamma).sum(axis=1) + np.sum((gamma - 1.0) * log_w, axis=1)
    return value + float(np.sum(prior - entropy))


def plain_sweeps(model, X, n_sweeps, n_given=0):
    """The refinement without its extras, written down densely: topics, gamma, and the likelihood of each sweep."""
    given_words = model.anchors[:n_given]
    prevalence = np.maximum(model.prevalence, 1e-6)
    alpha = refine.concentration(model.A) * prevalence / prevalence.sum()
    B = 0.9 * model.B + 0.1 * model.word_probs[:, None]
    B[given_words] = model.B[given_words]
    B = B / B.sum(axis=0)
    gamma = alpha + X.sum(axis=1, keepdims=True) * model.prevalence
    for _ in range(6):
        gamma = one_step(X, B, alpha, gamma)[0]
    history = []
    for _ in range(n_sweeps):
        gamma, tokens, value = one_step(X, B, alpha, gamma)
        history.append(value.sum() / X.sum())
        B = tokens / tokens.sum(axis=0)
    return B, gamma, history


@pytest.mark.parametrize("anchors", [[], [30, 90]])
def test_plain_refinement_is_the_sweeps_written_down(counts, anchors):
    X = counts.toarray()
    spectral = fit_topics(counts, 6, anchors=anchors).model
    B, gamma, history = plain_sweeps(spectral, X, 8, len(anchors))
    found = refined(spectral, counts, PLAIN, n_given=len(anchors))
    np.testing.assert_allclose(found.log_likelihood, history, rtol=1e-8)
    total = gamma.sum(axis=1)
    A = sum(
        (np.outer(g, g) + np.diag(g)) / (t * (t + 1.0)) for g, t in zip(gamma, total, strict=True)
    ) / X.shape[0]  # fmt: skip
    np.testing.assert_allclose(found.A, A, atol=1e-8)
    # Every row but the anchors', which are made their topics' own, up to the scale that this leaves.
    others = np.setdiff1d(np.arange(150), found.anchors)
    expected = B[others] / B[others].sum(axis=0)
    np.testing.assert_allclose(found.B[others] / found.B[others].sum(axis=0), expected, atol=1e-8)
    own = B[found.anchors, range(6)] / B[others[:, None], range(6)].sum(axis=0)
    np.testing.assert_allclose(found.B[found.anchors, range(6)] / found.B[others].sum(axis=0), own, rtol=1e-6)


def test_documents_without_a_pair_take_no_part():
    counts = sp.csr_array(make_topics(n_docs=200, n_words=60, n_topics=3, random_state=0).corpus.counts)
    short = sp.csr_array(np.vstack([np.eye(60), np.zeros((30, 60))]))
    both = sp.csr_array(sp.vstack([counts, short]))
    fit = [aw.AnchorTopicModel(3, refinement=Refinement(4)).fit(X).model_ for X in (counts, both, [counts, short])]
    for other in fit[1:]:
        np.testing.assert_allclose(other.A, fit[0].A, atol=1e-12)
        np.testing.assert_allclose(other.B, fit[0].B, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_never_falls(seed):
    """Each of the three moves (responsibilities, compositions, topics) is the best for the others held."""
    rng = np.random.default_rng(seed)
    K, N = int(rng.integers(2, 8)), 60
    X = rng.poisson(rng.gamma(0.4, 1.5, size=(80, N))).astype(float)
    B = np.ascontiguousarray(rng.dirichlet(np.full(N, 0.5), size=K).T + 1e-4)
    B /= B.sum(axis=0)
    alpha = rng.gamma(0.5, size=K) + 0.05
    gamma = alpha + rng.gamma(2.0, size=(80, K))
    documents = as_documents(sp.csr_array(X))
    values = [elbo(X, B, alpha, gamma)]
    for _ in range(15):
        words = np.zeros_like(B)
        expect(documents, B, alpha, gamma, 1, words, 1)
        B = decorrelated(words, B, 0.0)
        values.append(elbo(X, B, alpha, gamma))
    # A fall can only be rounding of a sum of some ten thousand terms.
    assert np.diff(values).min() >= -1e-10 * abs(values[-1])
    assert values[-1] > values[0]


@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_rises_on_data_of_the_model(seed):
    data = make_topics(n_docs=400, n_words=150, n_topics=5, doc_length=60, correlation=0.0, random_state=seed)
    counts = check_counts(data.corpus.counts)
    history = refined(fit_topics(counts, 5).model, counts, Refinement(20, 0, 0.0)).log_likelihood
    assert len(history) == 20
    assert history[-1] > history[0]
    # The likelihood is not the bound, which also weighs the prior: small falls are its to take.
    assert np.diff(history).min() > -0.01 * (max(history) - history[0])


# ---- Near the truth.


@pytest.mark.parametrize("split_sweeps", [0, 4])
def test_the_truth_stays(split_sweeps):
    """6,000 documents of 200 tokens: a topic's frequencies are off by sqrt(N / tokens) ~ 0.03 in total variation."""
    data = make_topics(n_docs=6000, n_words=200, n_topics=5, doc_length=200, random_state=1)
    counts = check_counts(data.corpus.counts)
    found = refined(truth_of(data), counts, Refinement(15, split_sweeps, 0.0))
    if split_sweeps == 0:  # the order of topics may change only where they are split and taken out
        assert match_topics(data.B, found.B).other.tolist() == [0, 1, 2, 3, 4]
    assert match_topics(data.B, found.B).total_variation.max() < 0.06
    # The compositions are not Dirichlet's (neighbours lend to each other), and A is off by that and by sampling.
    other = match_topics(data.B, found.B).other
    assert np.abs(found.A[np.ix_(other, other)] - data.A).max() < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_refined_topics_are_nearer_the_truth(seed):
    """Few and short documents: the spectral topics know pairs of words, the likelihood all that a document says."""
    data = make_topics(n_docs=800, n_words=300, n_topics=6, doc_length=40, n_anchors=2, random_state=seed)
    counts = check_counts(data.corpus.counts)
    model = fit_topics(counts, 6).model
    errors = [
        match_topics(data.B, B).total_variation.mean()
        for B in (refined(model, counts, Refinement(20, 0, 0.0)).B, model.B)
    ]
    assert errors[0] < 0.9 * errors[1]


# ---- A valid record, whatever is asked.


@EACH
def test_the_record_is_valid(counts, spectral, options):
    candidates = np.bincount(counts.indices, minlength=150) >= 60
    model = refined(spectral, counts, options, candidates=candidates)
    check_refined(model, candidates)
    assert model.n_components == 6
    assert model.anchor_rows is None
    np.testing.assert_array_equal(model.Y, spectral.Y)
    for k, anchor in enumerate(model.anchors):
        assert model.B[anchor].argmax() == k
    # All words that were known are known, and with the right probability: that of a token.
    np.testing.assert_array_equal(model.B.any(axis=1), spectral.B.any(axis=1))
    if options.decorrelation == 0.0:
        np.testing.assert_allclose(model.word_probs, counts.sum(axis=0) / counts.sum(), atol=0.01)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_small_corpus_gives_a_valid_record(seed):
    """Tiny vocabularies, words that never occur, empty documents, given anchors: nothing breaks the record."""
    rng = np.random.default_rng(seed)
    N, M = int(rng.integers(4, 12)), int(rng.integers(10, 40))
    X = rng.poisson(rng.choice([0.2, 0.7, 2.0]), size=(M, N))
    X[:, rng.integers(N)] = 0
    X[rng.integers(M, size=3)] = 0
    X[0, :2] = 2
    used = X[X.sum(axis=1) >= 2].any(axis=0)
    K = int(rng.integers(1, min(5, used.sum()) + 1))
    anchors = rng.permutation(np.flatnonzero(used))[: rng.integers(0, K + 1)].tolist()
    options = Refinement(int(rng.integers(1, 4)), int(rng.integers(0, 3)), float(rng.choice([0.0, 3.0, 100.0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = fit_topics(check_counts(X), K, anchors=anchors, rectifier=[None, "enn"][seed % 2]).model
        except InputError:  # statistics of too low a rank for these anchors
            return
    found = refined(model, check_counts(X), options, n_given=len(anchors), candidates=used)
    check_refined(found, used, len(anchors))
    assert found.anchors[: len(anchors)].tolist() == anchors
    np.testing.assert_array_equal(found.B.any(axis=1) | np.isin(range(N), found.anchors), model.B.any(axis=1))


@EACH
def test_one_topic_two_topics_and_all_given(counts, options):
    for K, anchors in ((1, []), (2, []), (3, [10, 20, 30]), (1, [5])):
        spectral = fit_topics(counts, K, anchors=anchors).model
        model = refined(spectral, counts, options, n_given=len(anchors))
        check_refined(model)
        assert model.anchors[: len(anchors)].tolist() == anchors
        if K == 1:
            frequencies = counts.sum(axis=0) / counts.sum()
            if options.background:  # which has a part of them; both are weighted by shares of documents, not of tokens
                np.testing.assert_allclose(model.parts.B @ model.parts.prevalence, frequencies, atol=0.01)
            else:
                np.testing.assert_allclose(model.B[:, 0], frequencies, atol=1e-12)
            assert model.A.tolist() == [[1.0]]
        # Where all are given there is nothing to split.
        n_sweeps = options.n_sweeps if len(anchors) == K else None
        assert n_sweeps is None or len(model.log_likelihood) == n_sweeps


@EACH
def test_empty_documents_and_words_that_never_occur(counts, options):
    X = counts.toarray()
    X[[0, 17, 499]] = 0
    X[:, [0, 80, 149]] = 0
    X[3] = 0
    X[3, 0] = 1  # a word known from a document that carries no pair: unknown to the model
    spectral = fit_topics(check_counts(X), 6).model
    model = refined(spectral, check_counts(X), options)
    check_refined(model, X[X.sum(axis=1) >= 2].any(axis=0))
    unused = [0, 80, 149]
    assert not model.B[unused].any()
    np.testing.assert_array_equal(model.word_topics[unused], np.tile(model.prevalence, (3, 1)))
    without = check_counts(np.delete(np.delete(X, [0, 3, 17, 499], axis=0), unused, axis=1))
    kept = np.delete(np.arange(150), unused)
    small = replace(
        spectral, B=spectral.B[kept], word_topics=spectral.word_topics[kept], word_probs=spectral.word_probs[kept],
        anchors=np.searchsorted(kept, spectral.anchors), Y=None, anchor_rows=None,
    )  # fmt: skip
    # The likelihood is that of tokens of known words: the same without those documents and words, to rounding.
    other = refined(small, without, options)
    np.testing.assert_allclose(model.log_likelihood, other.log_likelihood, rtol=ORDER)
    np.testing.assert_allclose(model.B[kept], other.B, atol=ORDER)


def test_empty_documents_of_a_model_of_one_topic_a_document():
    """Concentration near zero: exp(digamma(alpha)) is no number, and the second moment must still be one.

    A document is of one half of a topic alone, so that both halves seem to be missed alike: no subject may lose both.
    """
    rng = np.random.default_rng(0)
    K, N = 12, 60
    B = np.zeros((N, K))
    for k in range(K):
        B[5 * k : 5 * k + 5, k] = 0.2
    X = np.array([rng.multinomial(30, B[:, m % K]) for m in range(240)] + [np.zeros(N, dtype=int)] * 3)
    spectral = fit_topics(check_counts(X), K).model
    for options in (PLAIN, WHOLE):
        model = refined(spectral, check_counts(X), options)
        check_refined(model)
        assert match_topics(B, model.B).total_variation.max() < 0.1


def test_no_word_is_lost():
    """A frequent word spread over all topics, and decorrelation so strong that none would keep it."""
    data = make_topics(n_docs=300, n_words=100, n_topics=4, random_state=0)
    X = data.corpus.counts.toarray()
    X[:, 3] = 20
    spectral = fit_topics(check_counts(X), 4).model
    for options in (Refinement(5, 0, 50.0), Refinement(2, 2, 50.0)):
        model = refined(spectral, check_counts(X), options)
        check_refined(model)
        assert model.B.any(axis=1).all()
        assert model.word_probs[3] > 0.02
        # Likelihoods of all tokens, which no topics can make greater than each document's own frequencies do: one that
        # left out what it cannot explain could.
        own = X / X.sum(axis=1, keepdims=True)
        assert max(model.log_likelihood) < np.sum(X[X > 0] * np.log(own[X > 0])) / X.sum()


# ---- Given anchors.


@EACH
def test_given_anchors_stay_and_their_words_stay_theirs(data, counts, options):
    words = data.anchors[[4, 1], 0].tolist()
    spectral = fit_topics(counts, 6, anchors=words).model
    model = refined(spectral, counts, options, n_given=2)
    check_refined(model)
    assert model.anchors[:2].tolist() == words
    for k, word in enumerate(words):
        assert np.flatnonzero(model.B[word]).tolist() == [k]
        assert int(np.argmin(np.abs(model.B[:, k, None] - data.B).sum(axis=0))) == [4, 1][k]


@EACH
def test_tandem_groups_stay(data, counts, options):
    groups = (tuple(data.anchors[2].tolist()), (int(data.anchors[5, 0]),))
    spectral = fit_topics(counts, 6, anchors=groups).model
    candidates = np.zeros(150, dtype=bool)
    candidates[data.anchors.ravel()] = True  # among them the second word of the group, which is taken
    model = refined(spectral, counts, options, n_given=2, candidates=candidates)
    check_refined(model, candidates, 2)
    assert model.anchor_groups[:2] == groups
    assert [len(group) for group in model.anchor_groups] == [2, 1, 1, 1, 1, 1]
    assert [group[0] for group in model.anchor_groups] == model.anchors.tolist()
    assert data.anchors[2, 1] not in model.anchors
    for word in groups[0]:
        assert model.B[word].argmax() == 0
    assert int(np.argmin(np.abs(model.B[:, 0, None] - data.B).sum(axis=0))) == 2


def test_no_word_of_a_group_is_another_topics_anchor():
    """The second word of the first topic's group is as good as the second topic's own: its anchor is another."""
    B = np.array([[0.60, 0.00], [0.01, 0.70], [0.09, 0.20], [0.30, 0.10]])
    A = np.eye(2) / 2
    spectral = replace(model_of(B, A, [0, 2]), anchor_groups=((0, 1), (2,)))
    model = with_topics(spectral, B, A, Guided(((0, 1),)), None, (0.0,))
    check_refined(model)
    assert model.anchor_groups == ((0, 1), (2,))
    np.testing.assert_allclose(model.B[:2].argmax(axis=1), [0, 1])  # words of a group are not made anyone's own
    assert with_topics(replace(spectral, anchor_groups=None), B, A, Guided(((0,),)), None, (0.0,)).anchors.tolist() == [
        0,
        1,
    ]


def test_forbidden_words_stay_forbidden_where_most_topics_are_given(counts):
    """Fewer candidates than topics: enough of them, as the others are given."""
    given_words = [10, 20, 30, 40]
    spectral = fit_topics(counts, 6, anchors=given_words).model
    candidates = np.zeros(150, dtype=bool)
    candidates[[50, 60, 70]] = True
    model = refined(spectral, counts, WHOLE, n_given=4, candidates=candidates)
    check_refined(model, candidates, 4)


# ---- The same however it is computed.


@EACH
def test_threads_change_no_bit(counts, spectral, options):
    one, two = (refined(spectral, counts, options, n_jobs=n_jobs) for n_jobs in (1, 3))
    for name in ("B", "A", "anchors", "word_topics"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.log_likelihood == two.log_likelihood


@EACH
def test_order_and_pieces_of_documents_do_not_matter(monkeypatch, counts, spectral, options):
    whole = refined(spectral, counts, options)
    shuffled = counts[np.random.default_rng(0).permutation(500)]
    others = [refined(spectral, shuffled, options)]
    blocks = [counts[:100], counts[100:101], counts[101:]]
    others.append(refine_topics(spectral, lambda: iter(blocks), options))
    monkeypatch.setattr(sweep, "_WEIGHTS", 12 * 37)  # pieces of 37 documents
    others.append(refined(spectral, counts, options))
    monkeypatch.setattr(sweep, "_IN_MEMORY", 1000)
    in_files = refined(spectral, counts, options)
    np.testing.assert_array_equal(in_files.B, others[-1].B)
    np.testing.assert_array_equal(in_files.A, others[-1].A)
    for other in others:
        np.testing.assert_array_equal(other.anchors, whole.anchors)
        np.testing.assert_allclose(other.B, whole.B, atol=ORDER)
        np.testing.assert_allclose(other.A, whole.A, atol=ORDER)
        np.testing.assert_allclose(other.log_likelihood, whole.log_likelihood, rtol=ORDER)


@EACH
def test_weights_are_repetitions(counts, spectral, options):
    weights = np.random.default_rng(1).integers(0, 3, 500)
    often = counts[np.repeat(np.arange(500), weights)]
    one = refined(spectral, counts, options, weights=weights.astype(float))
    two = refined(spectral, often, options)
    np.testing.assert_allclose(one.B, two.B, atol=ORDER)
    np.testing.assert_allclose(one.A, two.A, atol=ORDER)
    np.testing.assert_allclose(one.log_likelihood, two.log_likelihood, rtol=ORDER)


@EACH
def test_the_estimator_is_the_same_for_every_seed_and_source(monkeypatch, tmp_path, data, counts, options):
    def fit(X, **parameters):
        return aw.AnchorTopicModel(6, refinement=options, **parameters).fit(X).model_

    first = fit(data.corpus)
    check_refined(first)
    data.corpus.save(tmp_path / "corpus")
    monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
    on_disk = fit(aw.open_corpus(tmp_path / "corpus"))
    blocks = [counts[:250], counts[250:]]
    others = [fit(data.corpus, random_state=seed) for seed in (1, 2)]
    others += [on_disk, fit(blocks), fit(lambda: iter(blocks)), fit(data.corpus.counts)]
    for other in others:
        assert match_topics(first.B, other.B).total_variation.max() < 75 * SPECTRAL  # N / 2 entries of that size
        np.testing.assert_array_equal(other.anchors, first.anchors)
        np.testing.assert_allclose(other.anchor_rows.toarray(), first.anchor_rows.toarray(), atol=1e-12)


# ---- The parts.


def test_halves_weighted_by_their_masses_are_the_topic():
    rng = np.random.default_rng(0)
    B = rng.dirichlet(np.full(50, 0.3), size=4).T
    first, second = halves_of_topics(B, rng.dirichlet(np.full(6, 0.5), size=50))
    for half in (first, second):
        assert half.min() >= 0
        np.testing.assert_allclose(half.sum(axis=0), 1.0, rtol=1e-12)
    for k in range(4):
        pair = np.column_stack([first[:, k], second[:, k]])
        masses, residual, rank, _ = np.linalg.lstsq(pair, B[:, k], rcond=None)
        assert rank == 2
        assert residual[0] < 1e-25
        assert masses.sum() == pytest.approx(1.0, rel=1e-9)
        assert masses.min() > 0


def test_words_that_lie_together_cannot_be_told_apart():
    B = np.random.default_rng(0).dirichlet(np.ones(20), size=3).T
    first, second = halves_of_topics(B, np.ones((20, 1)))
    np.testing.assert_allclose(first, B, rtol=1e-12)
    np.testing.assert_allclose(second, B, rtol=1e-12)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_a_topic_of_two_blocks_is_halved_into_them(share):
    rng = np.random.default_rng(1)
    B = np.zeros((60, 2))
    B[:20, 0], B[20:40, 0] = share * rng.dirichlet(np.ones(20)), (1 - share) * rng.dirichlet(np.ones(20))
    B[40:, 1] = 1 / 20
    places = np.repeat([[0.5, 0.1, 0.4], [0.4, 0.3, 0.3], [0.0, 1.0, 0.0]], 20, axis=0)
    places += 0.01 * rng.random((60, 3))
    masses = sorted(half[:20, 0].sum() for half in halves_of_topics(B, places))
    # Two points with weights s and 1 - s lie sqrt((1 - s) / s) and sqrt(s / (1 - s)) spreads from their mean.
    own, other = np.tanh(np.sqrt((1 - share) / share)), np.tanh(np.sqrt(share / (1 - share)))
    for mass, sign in zip(masses, (-1, 1), strict=True):
        here, there = share * (1 + sign * own), (1 - share) * (1 - sign * other)
        assert mass == pytest.approx(
            here / (here + there), abs=0.02
        )  # places are a twentieth of their distance uncertain


@pytest.mark.parametrize("seed", range(4))
def test_two_subjects_in_one_topic_come_apart(seed):
    """Four subjects, of which two share a topic and one has two: sweeps alone cannot mend that, the split does."""
    rng = np.random.default_rng(seed)
    K, N = 4, 120
    B = np.full((N, K), 1e-3)
    for k in range(K):
        B[30 * k : 30 * (k + 1), k] += rng.gamma(1.0, size=30)
    B /= B.sum(axis=0)
    X = check_counts(rng.multinomial(40, rng.dirichlet(np.full(K, 0.1), size=800) @ B.T))
    mixed = B @ np.array([[0.46, 0.1, 0.0, 0.0], [0.46, 0.0, 0.1, 0.15], [0.08, 0.9, 0.0, 0.0], [0.0, 0.0, 0.9, 0.85]])
    start = model_of(mixed, 0.6 * np.eye(K) / K + 0.4 / K**2, [0, 65, 95, 100])
    plain = match_topics(B, refined(start, X, Refinement(20, 0, 0.0)).B).total_variation
    assert plain.max() > 0.5
    for decorrelation in (0.0, 3.0):
        split = match_topics(B, refined(start, X, Refinement(6, 4, decorrelation)).B).total_variation
        # 8,000 tokens of a topic over some 30 words: sqrt(30 / 8000) / 2 ~ 0.03.
        assert split.max() < 0.1


@pytest.mark.parametrize("K", [1, 2, 3, 7, 10, 50, 64, 333])
@pytest.mark.parametrize("n_given", [0, 1])
def test_topics_are_taken_out_evenly(K, n_given):
    """Down to K by the same share each time; of many topics, whole vectors of eight on the way."""
    numbers = [2 * K - n_given, *numbers_left(2 * K - n_given, K)]
    assert numbers[-1] == K
    assert numbers == sorted(numbers, reverse=True)
    even = np.linspace(np.log(numbers[0]), np.log(K), 4)
    np.testing.assert_allclose(np.log(numbers), even, atol=(4 if K >= 50 else 0.5) / K)  # by rounding
    if K >= 50:
        assert all(number % 8 == 0 for number in numbers[1:-1])
    nearly_all_given = [K + 1, *numbers_left(K + 1, K)]
    assert nearly_all_given == sorted(nearly_all_given, reverse=True)


def test_a_split_that_does_not_pay_is_taken_back():
    """The likelihood at the end is no less than before the split; topics that were right keep their order."""
    n_back = 0
    for seed in range(8):
        data = make_topics(n_docs=400, n_words=150, n_topics=5, doc_length=60, random_state=seed)
        counts = check_counts(data.corpus.counts)
        spectral = fit_topics(counts, 5).model
        model = refined(spectral, counts, SPLIT)
        history = model.log_likelihood
        assert history[-1] > history[SPLIT.n_sweeps - 1]
        rounds = [10, 8, 6, 5]  # four fifths each time, and never fewer than there are to be
        if len(history) == 3 * SPLIT.n_sweeps + SPLIT.split_sweeps + 2 * (len(rounds) - 1):
            n_back += 1
            plain = refined(spectral, counts, Refinement(2 * SPLIT.n_sweeps, 0, 0.0))
            assert match_topics(plain.B, model.B).other.tolist() == [0, 1, 2, 3, 4]
            # Where sweeps begin anew from compositions of the topics held, as many sweeps lead to nearly the same.
            assert match_topics(plain.B, model.B).total_variation.max() < 0.05
    assert 0 < n_back < 8


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 3.0, 1e3]))
def test_decorrelated_topics_are_topics(seed, tau):
    rng = np.random.default_rng(seed)
    N, K = int(rng.integers(1, 20)), int(rng.integers(1, 6))
    B = rng.dirichlet(np.full(N, 0.3), size=K).T
    words = rng.gamma(0.3, size=(N, K)) * (rng.random((N, K)) < 0.7)
    words[:, 0] = 0.0
    before = words.copy()
    found = decorrelated(words, B, tau)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(found[:, 0], B[:, 0])  # without tokens it stays
    shared = np.column_stack([np.delete(B, k, axis=1).sum(axis=1) for k in range(K)])
    left = np.maximum(before - tau * before.sum() / K * B * shared, before / 2.0)  # by half at most
    for k in np.flatnonzero(left.sum(axis=0)):
        np.testing.assert_allclose(found[:, k], left[:, k] / left[:, k].sum(), atol=1e-12)
        np.testing.assert_array_equal(found[:, k] > 0, before[:, k] > 0)  # so that no word is lost in one sweep


def test_topics_that_share_no_word_are_left_alone():
    B = np.kron(np.eye(3), np.full((4, 1), 0.25))
    words = B * np.array([10.0, 20.0, 5.0]) * np.arange(1, 13)[:, None]
    np.testing.assert_allclose(decorrelated(words.copy(), B, 5.0), words / words.sum(axis=0), rtol=1e-13)


def test_a_topic_whose_words_are_all_others_anchors_is_its_own_anchor():
    B = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    model = with_topics(model_of(B, np.eye(3) / 3, [0, 1, 2]), B, np.eye(3) / 3, Guided(), None, (0.0,))
    check_refined(model)
    assert sorted(model.B.max(axis=0)) == [0.5, 1.0, 1.0] or model.B.max(axis=0).tolist() == [1.0, 1.0, 1.0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_own_words_are_distinct_allowed_and_nearly_own(seed):
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 6))
    N = K + int(rng.integers(0, 10))
    B = rng.dirichlet(np.full(N, 0.1), size=K).T * (rng.random((N, K)) < 0.6)
    B[rng.integers(N), :] += 0.1
    B /= B.sum(axis=0)
    prevalence = rng.dirichlet(np.ones(K))
    order = rng.permutation(N)
    n_given = int(rng.integers(0, K + 1))
    given_words = order[:n_given]
    allowed = np.zeros(N, dtype=bool)
    allowed[order[: n_given + K - n_given + int(rng.integers(0, N - K + 1))]] = True
    anchors = own_words(B, prevalence, given_words, allowed)
    assert anchors[:n_given].tolist() == given_words.tolist()
    assert len(set(anchors.tolist())) == K
    assert allowed[anchors].all()


def test_own_words_are_the_most_probable_of_the_most_exclusive():
    B = np.array([[0.50, 0.40, 0.10], [0.30, 0.01, 0.0], [0.15, 0.0, 0.0], [0.05, 0.50, 0.30], [0.0, 0.09, 0.60]])
    even = np.full(3, 1 / 3)
    everything = np.ones(5, dtype=bool)
    # p(topic | word) of words 1 and 2 is 0.97 and 1: both nearly own, and word 1 is the more probable.
    assert own_words(B, even, np.array([], dtype=int), everything).tolist() == [1, 3, 4]
    assert own_words(B, even, np.array([2]), everything).tolist() == [2, 3, 4]
    everything[1] = False
    assert own_words(B, even, np.array([], dtype=int), everything).tolist() == [2, 3, 4]


@pytest.mark.parametrize("noise", [-1e-9, 0.0, 1e-9])
def test_the_last_digits_do_not_choose_between_twins(noise):
    """Two words that are always side by side: of these the first of the vocabulary, whatever the sums' last digits say."""
    B = np.array([[0.1, 0.0], [0.45, 0.0], [0.45 * (1 + noise), 0.0], [0.0, 0.6], [0.0, 0.4]])
    own = own_words(B, np.full(2, 0.5), np.array([], dtype=int), np.ones(5, dtype=bool))
    assert own.tolist() == [1, 3]


# ---- The estimator.


def test_fit_save_load_transform(tmp_path, data):
    model = aw.AnchorTopicModel(6, refinement=WHOLE, min_anchor_docs=0.02).fit(data.corpus)
    check_refined(model.model_)
    df = np.bincount(data.corpus.counts.indices, minlength=150)
    assert (df[model.anchors_] >= 10).all()
    C = aw.cooccurrence(data.corpus.counts)[model.anchors_]
    np.testing.assert_allclose(model.model_.anchor_rows.toarray(), C / C.sum(axis=1, keepdims=True), atol=1e-12)
    model.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.refinement == WHOLE
    assert loaded.model_.log_likelihood == model.model_.log_likelihood
    np.testing.assert_array_equal(loaded.transform(data.corpus), model.transform(data.corpus))
    assert model.transform(data.corpus).shape == (500, 6)
    assert aw.topic_table(model)[0]["anchor"] in data.corpus.vocabulary


def test_the_pipeline_hands_over_guidance(data, counts):
    words = data.corpus.vocabulary
    groups = [[words[i] for i in data.anchors[2]], words[data.anchors[0, 0]]]
    free = aw.AnchorTopicModel(6, anchors=groups, refinement=WHOLE).fit(data.corpus)
    forbidden = [words[i] for i in free.anchors_[2:]]
    model = aw.AnchorTopicModel(6, anchors=groups, forbidden_anchors=forbidden, min_anchor_docs=5, refinement=WHOLE)
    model.fit(data.corpus)
    check_refined(model.model_)
    assert model.model_.anchor_groups[0] == tuple(data.anchors[2].tolist())
    assert model.anchors_[1] == data.anchors[0, 0]
    assert not set(forbidden) & {words[i] for i in model.anchors_}
    X = counts.toarray()
    X[:, [0, 50]] = 0  # columns that are not words of the statistics
    padded = aw.AnchorTopicModel(6, refinement=WHOLE).fit(X)
    check_refined(padded.model_, X.any(axis=0))
    C = aw.cooccurrence(X)[padded.anchors_]
    np.testing.assert_allclose(padded.model_.anchor_rows.toarray(), C / C.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("rectifier", ["palm", "ap", None])
def test_topics_of_every_rectifier_are_refined(data, rectifier):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = aw.AnchorTopicModel(6, rectifier=rectifier, refinement=PLAIN).fit(data.corpus)
    check_refined(model.model_)


def test_none_is_the_spectral_model(data, spectral):
    model = aw.AnchorTopicModel(6, refinement=None).fit(data.corpus).model_
    np.testing.assert_array_equal(model.B, spectral.B)
    assert model.log_likelihood is None


def test_progress_and_log(data, caplog):
    seen = []
    with caplog.at_level("INFO", logger="anchorwords"):
        aw.AnchorTopicModel(6, refinement=SPLIT).fit(
            data.corpus, progress=lambda stage, share: seen.append((stage, share))
        )
    shares = [share for stage, share in seen if stage == "refinement"]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert "sweeps, log-likelihood per token" in caplog.text


def test_a_sketch_cannot_be_refined(data):
    sketch = aw.CooccurrenceSketch(6).update(data.corpus.counts, data.corpus.vocabulary)
    with pytest.raises(InputError, match="a sketch holds no documents to refine topics on"):
        aw.AnchorTopicModel(6, refinement=Refinement()).fit(sketch)


def test_parameters_are_cloned_and_set():
    model = aw.AnchorTopicModel(4, refinement=Refinement(3, 2, 1.5))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.refinement == Refinement(3, 2, 1.5)
    assert copy.set_params(refinement=None).refinement is None
    assert Refinement(np.int64(3), np.int32(2), np.float32(1.5)) == Refinement(3, 2, 1.5)
    assert type(Refinement(np.int64(3)).n_sweeps) is int  # as JSON takes it


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_sweeps": 0}, "n_sweeps must be a positive whole number, but is 0"),
        ({"n_sweeps": 2.5}, "n_sweeps must be"),
        ({"split_sweeps": -1}, "split_sweeps must be a whole number, 0 or more, but is -1"),
        ({"split_sweeps": 1.5}, "split_sweeps must be"),
        ({"split_sweeps": "4"}, "split_sweeps must be"),
        ({"decorrelation": -1.0}, r"decorrelation must be a number, 0 or more, but is -1\.0"),
        ({"decorrelation": float("nan")}, "decorrelation must be"),
        ({"decorrelation": float("inf")}, "decorrelation must be"),
        ({"decorrelation": "strong"}, "decorrelation must be"),
        ({"decorrelation": None}, "decorrelation must be"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Refinement(**options)


def test_what_is_no_refinement_is_refused(data):
    assert check_refinement(None) is None
    for wrong in (True, 5, "yes", {"n_sweeps": 3}):
        with pytest.raises(InputError, match=r"refinement must be None or Refinement\(\.\.\.\), but is"):
            aw.AnchorTopicModel(6, refinement=wrong).fit(data.corpus)


@pytest.mark.data
def test_real_topics_grow_likelier_and_stay_valid(real_corpus):
    """On real papers: every sweep of plain EM is likelier than the one before, to a small part, and no word is lost."""
    corpus = real_corpus("nips12", 2500)
    counts = check_counts(corpus.counts)
    spectral = fit_topics(counts, 20, min_anchor_docs=0.01).model
    for options in (Refinement(12, 0, 0.0), Refinement(6, 4, 3.0)):
        model = refined(spectral, counts, options)
        check_refined(model)
        assert model.B.any(axis=1).all()
        assert model.log_likelihood[-1] > model.log_likelihood[0]
    blocks = MatrixBlocks([counts[:1000], counts[1000:]])
    streamed = refine_topics(spectral, lambda: (block() for block in blocks.lazy_blocks()), options)
    assert match_topics(model.B, streamed.B).total_variation.max() < 1e-6

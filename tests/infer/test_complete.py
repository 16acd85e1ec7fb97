"""Document completion: halves that are the document, and a perplexity that can be added up by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.infer import complete, compose
from anchorwords.infer.complete import Completion, halves
from anchorwords.infer.compose import joined
from tests.fits import complete_documents, compositions
from tests.refine.test_refine import model_of, truth_of


@pytest.fixture(scope="module")
def data():
    return make_topics(n_docs=400, n_words=150, n_topics=6, doc_length=60, random_state=3)


@pytest.fixture(scope="module")
def counts(data):
    return sp.csr_array(data.corpus.counts)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_halves_are_every_second_token(seed):
    rng = np.random.default_rng(seed)
    M, N = int(rng.integers(1, 8)), int(rng.integers(1, 10))
    X = rng.integers(0, 5, (M, N)) * (rng.random((M, N)) < 0.6)
    known = rng.random(N) < 0.8
    counts = sp.csr_array(X.astype(float))
    seen, hidden = halves(counts, known)
    np.testing.assert_array_equal(counts.toarray(), X)  # what was given stays
    np.testing.assert_array_equal((seen + hidden).toarray(), X * known)
    difference = np.asarray(seen.sum(axis=1) - hidden.sum(axis=1))
    assert set(difference.tolist()) <= {0.0, 1.0}
    for m in range(M):
        tokens = np.repeat(np.arange(N), X[m] * known)
        np.testing.assert_array_equal(seen.toarray()[m], np.bincount(tokens[::2], minlength=N))
        np.testing.assert_array_equal(hidden.toarray()[m], np.bincount(tokens[1::2], minlength=N))
    assert seen.nnz == np.count_nonzero(seen.toarray())  # without zeros that are stored


def test_halves_take_columns_in_any_order_and_no_more_than_whole_tokens():
    X = np.array([[2.0, 0.0, 3.0, 1.0], [1.0, 1.0, 0.0, 2.0]])
    counts = sp.csr_array(X)
    backwards = sp.csr_array(
        (np.array([1.0, 3.0, 2.0, 2.0, 1.0, 1.0]), np.array([3, 2, 0, 3, 1, 0]), np.array([0, 3, 6])), shape=(2, 4)
    )
    before = backwards.indices.copy()
    everything = np.ones(4, dtype=bool)
    for one, two in zip(halves(counts, everything), halves(backwards, everything), strict=True):
        np.testing.assert_array_equal(one.toarray(), two.toarray())
    np.testing.assert_array_equal(backwards.indices, before)
    for one, two in zip(halves(counts, everything), halves(counts + 0.75 * (counts > 0), everything), strict=True):
        np.testing.assert_array_equal(one.toarray(), two.toarray())


def by_hand(model, counts, method="posterior-mean"):
    """Log-likelihood and number of hidden tokens, document by document."""
    known = model.B.any(axis=1)
    total, n_tokens = 0.0, 0
    for x in counts.toarray():
        tokens = np.repeat(np.arange(x.size), (np.floor(x) * known).astype(int))
        if tokens.size < 2:
            continue
        seen = sp.csr_array(np.bincount(tokens[::2], minlength=x.size)[None].astype(float))
        w = joined(compositions(model, [seen], method=method)).weights[0]
        total += np.log(model.B[tokens[1::2]] @ w).sum()
        n_tokens += tokens[1::2].size
    return total, n_tokens


def test_perplexity_by_hand(data, counts):
    model = truth_of(data)
    found = complete_documents(model, [counts])
    total, n_tokens = by_hand(model, counts)
    assert found.n_tokens == n_tokens
    assert found.log_likelihood == pytest.approx(total, rel=1e-10)
    assert found.perplexity == pytest.approx(np.exp(-total / n_tokens), rel=1e-10)
    assert Completion(-np.log(8.0) * 50, 50.0).perplexity == pytest.approx(8.0)


def test_one_topic_is_the_unigram(counts):
    p = np.asarray(counts.sum(axis=0)) / counts.sum()
    model = model_of(p[:, None], np.ones((1, 1)), [0])
    _, hidden = halves(counts, p > 0)
    expected = float((hidden @ np.log(np.where(p > 0, p, 1.0))).sum())
    assert complete_documents(model, [counts]).log_likelihood == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_truth_is_least_perplexed(seed):
    """Against topics whose words are shuffled, and against no topics: it would take 7,000 tokens of bad luck."""
    data = make_topics(n_docs=300, n_words=200, n_topics=8, doc_length=50, random_state=seed)
    counts, truth = sp.csr_array(data.corpus.counts), truth_of(data)
    order = np.random.default_rng(seed).permutation(200)
    shuffled = model_of(np.ascontiguousarray(data.B[order]), data.A, np.argsort(order)[data.anchors[:, 0]])
    unigram = model_of(truth.word_probs[:, None], np.ones((1, 1)), [0])
    values = [complete_documents(model, [counts]).perplexity for model in (truth, unigram, shuffled)]
    assert values[0] < 0.9 * values[1]
    assert values[0] < 0.5 * values[2]


def test_batches_order_and_threads_do_not_matter(monkeypatch, data, counts):
    model = truth_of(data)
    whole = complete_documents(model, [counts], n_jobs=1)
    order = np.random.default_rng(0).permutation(400)
    blocks = [counts[:1], counts[1:1], counts[1:150], counts[150:]]
    cases = [[counts[order]], blocks, iter(blocks), [counts[:350], *(counts[[m]] for m in range(350, 400))]]
    found = [complete_documents(model, case, n_jobs=3) for case in cases]
    monkeypatch.setattr(compose, "_SHARES", 6 * 64)
    monkeypatch.setattr(complete, "_GATHERED", 1000)
    found += [complete_documents(model, blocks)]
    for other in found:  # the same numbers, added up in another order
        assert other.n_tokens == whole.n_tokens
        assert other.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)


def test_unknown_words_count_on_neither_side(data, counts):
    B = np.array(data.B)
    B[[0, 40]] = 0.0
    model = model_of(np.ascontiguousarray(B / B.sum(axis=0)), data.A, data.anchors[:, 0])
    X = counts.toarray()
    X[:, [0, 40]] = 0
    one, two = complete_documents(model, [counts]), complete_documents(model, [sp.csr_array(X)])
    assert one == two
    assert one.n_tokens == pytest.approx(sum(int(row.sum()) // 2 for row in X))


def test_empty_and_short_documents_are_left_out(data, counts):
    model = truth_of(data)
    short = np.zeros((3, 150))
    short[1, 5] = 1
    short[2, [5, 9]] = 0.5
    together = complete_documents(model, [sp.csr_array(sp.vstack([counts, sp.csr_array(short)]))])
    assert together == complete_documents(model, [counts])
    for nothing in (short, short[:1]):
        with pytest.raises(InputError, match="no document holds two tokens of words the model knows"):
            complete_documents(model, [sp.csr_array(nothing)])
    with pytest.raises(InputError, match="nothing can be completed"):
        complete_documents(model, [])


def test_fractions_count_as_their_whole_part(data, counts):
    more = sp.csr_array((counts.data + 0.4, counts.indices, counts.indptr), shape=counts.shape)
    assert complete_documents(truth_of(data), [more]) == complete_documents(truth_of(data), [counts])


def test_the_estimator_says_once_what_is_odd(data, caplog):
    counts = sp.csr_array(data.corpus.counts)
    model = aw.AnchorTopicModel(6).fit(counts)
    before = counts.copy()
    value = model.perplexity(counts)
    assert value == pytest.approx(complete_documents(model.model_, [counts]).perplexity, rel=1e-12)
    assert value < model.perplexity(counts[:, np.random.default_rng(0).permutation(150)])
    assert (counts != before).nnz == 0
    assert model.perplexity(data.corpus) == pytest.approx(value, rel=1e-12)
    caplog.clear()
    with caplog.at_level("INFO", logger="anchorwords.transform"):
        model.perplexity([sp.csr_array(sp.vstack([counts[:50], sp.csr_array((1, 150))]))] * 3)
    assert len(caplog.records) == 1


@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.ConvergenceWarning")
def test_prior_aware_completion(data, counts):
    model = aw.AnchorTopicModel(6, composition="prior-aware").fit(counts).model_
    with np.errstate(divide="ignore"):
        total, n_tokens = by_hand(model, counts[:50], method="prior-aware")
    found = complete_documents(model, [counts[:50]], method="prior-aware")
    assert found.n_tokens == n_tokens
    # A hidden word of a topic that least squares has left out has no probability at all.
    assert found.log_likelihood == pytest.approx(total, rel=1e-10) or found.log_likelihood == total == -np.inf

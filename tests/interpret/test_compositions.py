"""Compositions beside ``transform``: by the estimator's own method, unless another is asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export import pyldavis_data
from anchorwords.infer.complete import halves
from anchorwords.interpret.compositions import document_compositions, method_for
from anchorwords.provenance import Provenance
from anchorwords.sources.convert import as_source


@pytest.fixture(scope="module")
def corpus(sampled):
    return sampled.corpus


@pytest.fixture(scope="module")
def aware(corpus):
    return aw.AnchorTopicModel(5, composition="prior-aware").fit(corpus)


@pytest.fixture(scope="module")
def groups(sampled):
    return sampled.compositions.argmax(axis=1)


def shares(found):
    return [[(entry["row"], entry["share"]) for entry in topic] for topic in found]


def test_whose_method_it_is(aware, corpus):
    assert method_for(aware.model_) == "prior-aware"  # as it was fitted
    assert method_for(aware.model_, "posterior-mean") == "posterior-mean"
    told_nothing = replace(aware.model_, provenance=Provenance())
    assert method_for(told_nothing) == "posterior-mean"
    assert method_for(told_nothing, "prior-aware") == "prior-aware"
    plain = aw.AnchorTopicModel(3).fit(corpus).model_
    assert method_for(plain) == "posterior-mean"
    with pytest.raises(InputError, match="need a dual matrix"):
        method_for(plain, "prior-aware")
    with pytest.raises(InputError, match="method must be one of 'posterior-mean', 'prior-aware', but is 'guess'"):
        method_for(plain, "guess")


@pytest.mark.parametrize("method", [None, "posterior-mean", "prior-aware"])
def test_they_are_those_of_transform(aware, corpus, method):
    for X in (corpus, corpus.counts, [corpus.counts[:70], corpus.counts[70:]]):
        parts = list(document_compositions(aware, as_source(X), method=method))
        weights, tokens = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        np.testing.assert_array_equal(weights, aware.transform(corpus, method=method))
        np.testing.assert_array_equal(tokens, corpus.counts.sum(axis=1))


def test_top_documents(aware, corpus):
    found = aw.top_documents(aware, corpus, 7)
    assert found == aw.top_documents(aware, corpus, 7, method="prior-aware")
    weights = aware.transform(corpus)
    for k, topic in enumerate(shares(found)):
        assert topic[0][1] == pytest.approx(weights[:, k].max(), abs=1e-6)  # but for ties
        assert all(share == weights[row, k] for row, share in topic)
    by_mean = aw.top_documents(aware, corpus, 7, method="posterior-mean")
    assert found == aw.top_documents(aware.model_, corpus, 7)  # the record knows how it was fitted
    assert all(one != other for one, other in zip(shares(found), shares(by_mean), strict=True))


def test_prevalence_of_groups(aware, corpus, groups):
    weights = aware.transform(corpus)
    expected = [weights[groups == g].mean(axis=0) for g in range(5)]
    np.testing.assert_allclose(aw.prevalence_by(aware, corpus, groups).prevalence, expected, rtol=1e-12, atol=1e-15)
    by_mean = aw.prevalence_by(aware, corpus, groups, method="posterior-mean").prevalence
    assert np.abs(by_mean - expected).max() > 1e-3


def test_pyldavis(aware, corpus):
    for model, method in ((aware, None), (aware, "posterior-mean"), (aware.model_, "prior-aware")):
        found = pyldavis_data(model, corpus, method=method)["doc_topic_dists"]
        np.testing.assert_allclose(found, aware.transform(corpus, method=method or "prior-aware"), atol=1e-12)


def test_documents_for_a_labeller(aware, corpus):
    for model, method in ((aware, None), (aware, "posterior-mean"), (aware, "prior-aware"), (aware.model_, None)):
        seen = []
        aw.label_topics(model, lambda _, documents: seen.append(documents) or "", corpus=corpus, method=method)  # noqa: B023
        chosen = method or "prior-aware"
        expected = aw.top_documents(aware, corpus, 3, method=chosen)
        assert seen == [[entry["document"] for entry in topic] for topic in expected]


def test_perplexity(aware, corpus):
    """By hand: compositions of every second token by transform, probabilities of the others summed up."""
    model = aw.AnchorTopicModel(5, composition="prior-aware").fit(corpus)
    # Every word possible in every topic: compositions that leave topics out then leave no word without probability.
    record = model.model_
    B = 0.9 * record.B + 0.1 * record.word_probs[:, None]
    model.model_ = aw.TopicModel(
        B, record.A, 1.0, record.anchors, record.word_topics, record.word_probs, record.vocabulary,
        composition_dual=record.composition_dual,
    )  # fmt: skip
    seen, hidden = halves(sp.csr_array(corpus.counts), B.any(axis=1))
    found = {}
    for method in ("posterior-mean", "prior-aware"):
        p = model.transform(seen, method=method) @ B.T
        tokens = hidden.toarray()
        expected = np.exp(-(tokens * np.log(p)).sum() / tokens.sum())
        found[method] = model.perplexity(corpus, method)
        assert found[method] == pytest.approx(expected, rel=1e-10)
    assert model.perplexity(corpus) == found["posterior-mean"] != found["prior-aware"]
    assert aw.AnchorTopicModel(3).fit(corpus).perplexity(corpus.counts) > 1
    # Where topics that were left out alone have a word, it is impossible.
    assert aware.perplexity(corpus, "prior-aware") == np.inf > aware.perplexity(corpus)

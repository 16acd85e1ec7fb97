"""Stability of refined models: replicates are refined with their own weights, and compared with the refined topics."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.anchors.given import Choice
from anchorwords.datasets import make_topics
from anchorwords.exceptions import DegenerateWarning, InputError
from anchorwords.metrics.matching import match_topics
from anchorwords.presets import preset
from anchorwords.provenance import Provenance
from anchorwords.refine.options import Refinement
from anchorwords.resampling import reweighted
from anchorwords.resampling import stability as stability_module
from anchorwords.resampling.reweighted import ReplicateStatistics
from anchorwords.resampling.shards import shard_of
from anchorwords.resampling.stability import _refined, stability
from anchorwords.sources.convert import as_source
from tests.fits import refine_topics
from tests.metrics import direct
from tests.resampling.test_stability import in_blocks, planted_and_junk, same

PLAIN = {"refinement": Refinement()}
READERS = preset("readers")
EACH = pytest.mark.parametrize("how", [PLAIN, READERS], ids=["plain", "readers"])
# Sums over documents in another order differ by some 1e-16, relative; sweeps can blow that up (tests.refine.test_refine.py).
ORDER = 1e-7
# Leading eigenpairs of few words are exact after a few products, and ENN takes the same steps from them: 1e-9 was seen.
SAME = 1e-6
# Where rounding makes ENN stop elsewhere spectral topics move by 3e-4 (test_stability.py). Up to 1e-3 was seen of that after
# the sweeps, in the ends of intervals, which are several standard deviations away.
NEAR = 5e-3


@pytest.fixture(scope="module")
def truth():
    return make_topics(n_docs=700, n_words=150, n_topics=4, doc_length=80, n_anchors=2, random_state=3)


@pytest.fixture(scope="module")
def models(truth):
    """Fitted once for each way of refinement."""
    return {id(how): aw.AnchorTopicModel(4, random_state=0, **how).fit(truth.corpus) for how in (PLAIN, READERS)}


def replicates_of(monkeypatch, model, X, **options):
    """The replicates that stability compares with the fitted topics, the documents as they are first; and what it says."""
    seen = []
    match = stability_module._match

    def recorded(fitted, replicate):
        seen.append(replicate)
        return match(fitted, replicate)

    monkeypatch.setattr(stability_module, "_match", recorded)
    return seen, stability(model, X, **options)


# ---- exact answers


@EACH
def test_where_all_shards_are_alike_nothing_moves(truth, how):
    # Every document comes once in each shard: whatever the weights, each counts eight times in all.
    X = np.repeat(truth.corpus.counts.toarray()[:120], 8, axis=0)
    model = aw.AnchorTopicModel(4, **how).fit(X)
    found = stability(model, X, n_shards=8, n_replicates=3)
    np.testing.assert_allclose(found.similarity, 1.0, atol=SAME)
    np.testing.assert_array_equal(found.words, 1.0)
    np.testing.assert_array_equal(found.anchor, 1.0)
    for low, high, estimate in (
        (found.prevalence_low, found.prevalence_high, model.topic_prevalence_),
        (found.correlation_low, found.correlation_high, model.topic_correlation_),
    ):
        np.testing.assert_allclose(low, estimate, atol=SAME)
        np.testing.assert_allclose(high, estimate, atol=SAME)


@EACH
def test_whole_weights_are_documents_that_come_several_times(truth, models, how, monkeypatch):
    X = truth.corpus.counts.toarray()
    X[5] = 0
    X[5, 7] = 1  # too short for a pair: it has no number and no weight
    drawn = np.array([[2.0, 0.0, 1.0, 3.0, 0.0, 2.0, 0.0, 0.0], [2.0] * 8])
    monkeypatch.setattr(reweighted, "shard_weights", lambda *_: drawn)
    statistics = ReplicateStatistics(as_source(X), 2, 8, 0)
    spectral = aw.AnchorTopicModel(4, random_state=0).fit(truth.corpus).model_
    choice = Choice((), None)
    long = np.delete(X, 5, axis=0)
    for r in (0, 1, 2):
        times = statistics.weights[r][shard_of(0, len(long), 8, 0)]
        np.testing.assert_array_equal(statistics.document_weights(r), times)
        again = aw.Corpus(np.repeat(long, times.astype(int), axis=0), truth.corpus.vocabulary).counts
        one = _refined(spectral, statistics, r, how["refinement"], choice, 0.0, None)
        two = refine_topics(spectral, again, how["refinement"])
        np.testing.assert_allclose(one.B, two.B, atol=ORDER)
        np.testing.assert_allclose(one.A, two.A, atol=ORDER)
        np.testing.assert_allclose(one.log_likelihood, two.log_likelihood, rtol=ORDER)
        np.testing.assert_array_equal(one.anchors, two.anchors)


@EACH
def test_the_documents_as_they_are_give_the_model_again(truth, models, how, monkeypatch, recwarn):
    model = models[id(how)]
    seen, _ = replicates_of(monkeypatch, model, truth.corpus, n_replicates=2)
    assert not recwarn.list
    assert len(seen) == 3
    first = seen[0]
    other, distance = match_topics(model.model_.B, first.B)
    assert distance.max() < SAME
    np.testing.assert_array_equal(first.anchors[other], model.anchors_)
    np.testing.assert_allclose(first.A[np.ix_(other, other)], model.topic_correlation_, atol=SAME)
    # As many sweeps, of the same likelihood: those of the fit and no others.
    np.testing.assert_allclose(first.log_likelihood, model.model_.log_likelihood, rtol=SAME)


@EACH
def test_the_refined_topics_are_judged(truth, models, how, monkeypatch):
    model = models[id(how)]
    seen, found = replicates_of(monkeypatch, model, truth.corpus, n_replicates=3)
    similarity = np.mean([1 - match_topics(model.model_.B, other.B).total_variation for other in seen[1:]], axis=0)
    np.testing.assert_allclose(found.similarity, similarity, rtol=1e-12)
    assert (found.prevalence_low < model.topic_prevalence_).all()
    assert (found.prevalence_high > model.topic_prevalence_).all()
    assert (found.correlation_low <= model.topic_correlation_).all()
    assert (found.correlation_high >= model.topic_correlation_).all()


@pytest.mark.data
def test_the_documents_as_they_are_give_the_model_again_on_real_papers(real_corpus, monkeypatch, recwarn):
    corpus = real_corpus("nips12", 1000)
    model = aw.AnchorTopicModel.from_preset("readers", 10).fit(corpus)
    recwarn.clear()
    seen, found = replicates_of(monkeypatch, model, corpus, n_replicates=2)
    assert not recwarn.list
    # Two products leave eigenpairs a little elsewhere: 0.001 to 0.003 was seen of nips12 and kos, K 20. A split that turns
    # out otherwise would be far more.
    assert match_topics(model.model_.B, seen[0].B).total_variation.max() < 0.02
    assert found.similarity.mean() < 0.9


# ---- what must not matter


@EACH
def test_neither_threads_nor_blocks_nor_storage_matter(truth, models, how, tmp_path, monkeypatch):
    model = models[id(how)]
    expected = stability(model, truth.corpus, n_replicates=3)
    for n_jobs in (None, 1, 2):
        same(stability(model, truth.corpus, n_replicates=3, n_jobs=n_jobs), expected, 0.0)
    model.save(tmp_path / "m")
    loaded = aw.load_model(tmp_path / "m")  # a saved estimator knows how it was refined
    truth.corpus.save(tmp_path / "one block")
    same(stability(loaded, aw.open_corpus(tmp_path / "one block"), n_replicates=3), expected, 0.0)
    X = truth.corpus.counts
    for documents in (
        in_blocks(monkeypatch, tmp_path / "c", truth.corpus, 100),
        direct.cut(X, 130),
        lambda: direct.cut(X, 33),
    ):
        same(stability(loaded, documents, n_replicates=3), expected, NEAR)
    other = stability(model, truth.corpus, n_replicates=3, random_state=1)
    assert (other.similarity != expected.similarity).any()


def test_words_that_never_occur_and_documents_of_one_token_hardly_matter(truth, models):
    # The fit refines on documents of one token too; replicates do without.
    X = truth.corpus.counts.toarray()
    padded = np.zeros((X.shape[0] + 2, X.shape[1] + 1), dtype=X.dtype)
    padded[1:-1, 1:] = X
    padded[0, 5] = 1
    model = aw.AnchorTopicModel(4, random_state=0, **PLAIN).fit(padded)
    expected = stability(models[id(PLAIN)], truth.corpus, n_replicates=3)
    same(stability(model, padded, n_replicates=3), expected, NEAR)


# ---- guidance


@EACH
def test_anchors_given_and_words_forbidden_hold_in_every_replicate(truth, how, monkeypatch):
    group, word = [int(i) for i in truth.anchors[0]], int(truth.anchors[1, 0])
    forbidden = [int(i) for i in truth.anchors[2]]
    options = how | {"min_anchor_docs": 60}
    model = aw.AnchorTopicModel(4, anchors=[group, word], forbidden_anchors=forbidden, **options).fit(truth.corpus)
    seen, found = replicates_of(monkeypatch, model, truth.corpus, n_replicates=3)
    np.testing.assert_array_equal(found.anchor[:2], 1.0)
    frequent = truth.corpus.document_frequencies >= 60
    assert not frequent.all()
    for replicate in seen:
        assert replicate.anchor_groups[:2] == (tuple(group), (word,))
        assert frequent[replicate.anchors[2:]].all()
        assert not np.isin(replicate.anchors, forbidden).any()


# ---- a record without its estimator


def bare(record):
    return dataclasses.replace(record, provenance=Provenance())


def test_a_record_that_does_not_say_how_it_was_refined_warns(truth, models):
    model = models[id(PLAIN)]  # of the defaults, which replicates get when nobody knows better
    with pytest.warns(DegenerateWarning, match="give the fitted estimator") as caught:
        found = stability(bare(model.model_), truth.corpus, n_replicates=2)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    same(found, stability(model, truth.corpus, n_replicates=2), 0.0)
    # Topics of the preset are others than those of the defaults, and that is said too.
    record = bare(models[id(READERS)].model_)
    with pytest.warns(DegenerateWarning) as caught:
        stability(record, truth.corpus, n_replicates=2, min_anchor_docs=READERS["min_anchor_docs"])
    assert ["give the fitted estimator" in str(one.message) for one in caught] == [True, False]
    assert "other topics than the model's" in str(caught[1].message)


def test_an_anchor_that_never_occurs_gets_a_sentence(truth, models):
    model = models[id(PLAIN)]
    without = truth.corpus.counts.toarray()
    without[:, model.anchors_[2]] = 0
    with pytest.raises(InputError, match=f"anchor '{truth.corpus.vocabulary[model.anchors_[2]]}' never occurs"):
        stability(model, without)


def test_other_documents_than_those_of_the_fit_warn(models):
    other = make_topics(n_docs=700, n_words=150, n_topics=4, doc_length=80, n_anchors=2, random_state=8).corpus
    with pytest.warns(DegenerateWarning, match="give the documents of the fit"):
        stability(models[id(PLAIN)], other, n_replicates=2)


def test_two_shards_leave_half_of_the_documents_without_weight(truth, models):
    found = stability(models[id(READERS)], truth.corpus, n_replicates=3, n_shards=2)
    for values in (found.similarity, found.words, found.anchor, found.prevalence_low, found.correlation_high):
        assert np.isfinite(values).all()
        assert (values >= 0).all()
        assert (values <= 1 + 1e-12).all()


# ---- is it right


@EACH
@pytest.mark.parametrize("seed", range(10, 13))
def test_planted_topics_are_surer_than_junk(seed, how):
    # Nine topics are asked for where five were planted: the rest is made of chance.
    X, B = planted_and_junk(seed)
    model = aw.AnchorTopicModel(9, random_state=0, **how).fit(X)
    found = stability(model, X, n_replicates=8)
    distances = np.array([[np.abs(b - c).sum() / 2 for c in model.components_] for b in B.T])
    planted = np.unique(distances.argmin(axis=1))
    assert planted.size == 5
    junk = np.setdiff1d(np.arange(9), planted)
    # The margins of spectral topics. The preset may split a planted topic, whose halves are then less sure.
    if how is PLAIN:
        assert found.similarity[planted].min() > found.similarity[junk].max() + 0.1
    assert found.similarity[planted].mean() > found.similarity[junk].mean() + (0.3 if how is PLAIN else 0.1)

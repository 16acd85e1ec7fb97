"""Compositions block after block: the method asked for, the same for every batch, and what is said of odd documents."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import ConvergenceWarning, InputError
from anchorwords.infer import compose
from anchorwords.infer.aware import aware_compositions
from anchorwords.infer.compose import METHODS, check_method, joined
from anchorwords.infer.penalised import penalised_compositions
from anchorwords.infer.prior import prior_of
from anchorwords.infer.proportions import Compositions
from anchorwords.linalg.limits import LIMITS
from tests.fits import compositions, learn_dual
from tests.refine.test_refine import model_of

EACH = pytest.mark.parametrize("method", METHODS)


@pytest.fixture(scope="module")
def world():
    """Documents, some of no known words, and a model with a dual matrix."""
    rng = np.random.default_rng(0)
    B = np.ascontiguousarray(rng.dirichlet(np.full(80, 0.2), size=5).T)
    B[[3, 60]] = 0.0
    B /= B.sum(axis=0)
    w = rng.dirichlet(np.full(5, 0.4), size=300)
    X = rng.multinomial(40, w @ B.T)
    X[[0, 200]] = 0
    X[7] = 0
    X[7, [3, 60]] = [2, 3]
    X[8, 3] = 4
    counts = sp.csr_array(X.astype(float))
    A = w.T @ w / 300
    model = model_of(B, (A + A.T) / 2.0, range(5))
    return counts, replace(model, composition_dual=learn_dual(model, [counts]).matrix)


def weights_of(model, blocks, method, **others):
    return joined(compositions(model, blocks, method=method, **others)).weights


def test_methods_are_the_ones_they_are_called(world):
    counts, model = world
    by_mean = penalised_compositions(counts, model.B, prior_of(model.A))
    empty = by_mean.n_known == 0.0
    np.testing.assert_array_equal(weights_of(model, [counts], "posterior-mean")[~empty], by_mean.weights[~empty])
    by_dual = aware_compositions(counts, model, model.composition_dual)
    np.testing.assert_array_equal(weights_of(model, [counts], "prior-aware"), by_dual.weights)
    assert np.abs(by_dual.weights - by_mean.weights).max() > 0.01


@EACH
def test_rows_are_compositions_and_the_same_in_any_batch(world, monkeypatch, method):
    counts, model = world
    whole = weights_of(model, [counts], method, n_jobs=1)
    assert whole.min() >= 0
    np.testing.assert_allclose(whole.sum(axis=1), 1.0, atol=1e-12)
    for m in (0, 7, 8, 150, 299):
        np.testing.assert_array_equal(weights_of(model, [counts[[m]]], method), whole[[m]])
    order = np.random.default_rng(1).permutation(300)
    np.testing.assert_array_equal(weights_of(model, [counts[order]], method, n_jobs=3), whole[order])
    blocks = [counts[:100], counts[100:100], counts[100:]]
    np.testing.assert_array_equal(weights_of(model, iter(blocks), method), whole)
    monkeypatch.setattr(compose, "_SHARES", 5 * 64)
    parts = list(compositions(model, [counts], method=method))
    assert [part.weights.shape[0] for part in parts] == [64, 64, 64, 64, 44]
    np.testing.assert_array_equal(joined(parts).weights, whole)


@EACH
def test_documents_without_known_words_get_the_prevalence_and_are_counted(world, caplog, method):
    counts, model = world
    with caplog.at_level(logging.INFO, logger="anchorwords.transform"):
        weights = weights_of(model, [counts[:100], counts[100:]], method)
    np.testing.assert_array_equal(weights[[0, 7, 200]], np.tile(model.prevalence, (3, 1)))
    assert [record.name for record in caplog.records] == ["anchorwords.transform"] * 2
    assert "9 tokens are of words the model has never seen" in caplog.text
    assert "3 documents hold no word the model knows, and get the prevalence" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="anchorwords.transform"):
        weights_of(model, [counts[10:50] * 0.1], method)  # fractions, whose sums are rounded
    assert not caplog.records


@EACH
def test_unknown_words_change_nothing(world, method):
    counts, model = world
    X = counts.toarray()
    X[:, [3, 60]] = 0
    kept = np.setdiff1d(np.arange(300), [7])
    without = weights_of(model, [sp.csr_array(X[kept])], method)
    np.testing.assert_allclose(weights_of(model, [counts[kept]], method), without, atol=1e-14)


def test_no_limit_on_threads_is_left_while_the_caller_works(world):
    counts, model = world
    for _ in compositions(model, [counts[:10], counts[10:20]], n_jobs=1):
        assert LIMITS.n_callers() == 0
        assert not LIMITS.ours()


def test_what_is_not_solved_is_said(world, monkeypatch):
    counts, model = world

    def unsolved(counts, B, alpha, **_):
        M = counts.shape[0]
        return Compositions(np.full((M, 5), 0.2), np.zeros(M), np.ones(M), np.where(np.arange(M) < 2, 1e-3, 0.0))

    monkeypatch.setattr(compose, "penalised_compositions", unsolved)
    with pytest.warns(ConvergenceWarning, match=r"4 documents were not solved to optimality: .* up to 0\.001 below"):
        weights_of(model, [counts[:10], counts[10:20]], "posterior-mean")


def test_the_former_name_is_an_alias_that_warns(world):
    counts, model = world
    advice = "the method 'map' is now called 'posterior-mean': write 'posterior-mean' instead"
    with pytest.warns(FutureWarning, match=advice):
        assert check_method("map") == "posterior-mean"
    with pytest.warns(FutureWarning, match=advice):
        weights = weights_of(model, [counts], "map")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(weights, weights_of(model, [counts], "posterior-mean"))
        np.testing.assert_array_equal(weights, joined(compositions(model, [counts])).weights)


def test_estimators_and_models_of_the_first_release_work(sampled, tmp_path):
    new = aw.AnchorTopicModel(4).fit(sampled.corpus)
    with pytest.warns(FutureWarning, match="posterior-mean"):
        old = aw.AnchorTopicModel(4, composition="map").fit(sampled.corpus)
    with pytest.warns(FutureWarning, match="posterior-mean"):
        weights = old.transform(sampled.corpus)
    np.testing.assert_array_equal(weights, new.transform(sampled.corpus))
    old.save(tmp_path / "old")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        loaded = aw.load_model(tmp_path / "old")
        np.testing.assert_array_equal(loaded.transform(sampled.corpus), weights)
    assert loaded.composition == "posterior-mean"


def test_what_cannot_be_done_is_refused(world):
    counts, model = world
    assert check_method("posterior-mean") == "posterior-mean"
    assert check_method("prior-aware") == "prior-aware"  # before a fit, which learns what it needs
    for wrong in ("MAP", None, 3, ["posterior-mean"], ["map"]):
        with pytest.raises(InputError, match="method must be one of 'posterior-mean', 'prior-aware', but is"):
            check_method(wrong)
    bare = replace(model, composition_dual=None)
    with pytest.raises(InputError, match=r"need a dual matrix, learned on the documents of the fit"):
        list(compositions(bare, [counts], method="prior-aware"))
    for method in METHODS:
        with pytest.raises(InputError, match="knows 80 words, but the documents have 79"):
            list(compositions(model, [counts[:, :79]], method=method))


@EACH
@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.ConvergenceWarning")
def test_the_estimators_blocks_are_its_rows(sampled, caplog, method):
    model = aw.AnchorTopicModel(5, composition="prior-aware").fit(sampled.corpus)
    counts = sp.csr_array(sampled.corpus.counts)
    whole = model.transform(sampled.corpus, method=method)
    blocks = [counts[:250], counts[250:]]
    parts = list(model.transform_blocks(blocks, method=method))
    assert [part.shape[0] for part in parts] == [250, 350]
    np.testing.assert_array_equal(np.vstack(parts), whole)
    np.testing.assert_array_equal(model.transform(counts[[17]], method=method), whole[[17]])
    empty = sp.csr_array((2, 120))
    with caplog.at_level(logging.INFO, logger="anchorwords.transform"):
        found = model.transform(sp.csr_array(sp.vstack([counts[:1], empty])), method=method)
    np.testing.assert_array_equal(found, [whole[0], *np.tile(model.topic_prevalence_, (2, 1))])
    assert "2 documents hold no word the model knows" in caplog.text

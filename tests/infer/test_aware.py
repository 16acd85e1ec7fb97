"""Prior-aware compositions: their average second moment is A, each is a solved problem, and none knows of the others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import ConvergenceWarning, InputError
from anchorwords.infer import aware
from anchorwords.infer.aware import aware_compositions
from anchorwords.infer.compose import joined
from anchorwords.linalg.simplex import kkt_residual
from tests.fits import compositions, learn_dual
from tests.refine.test_refine import model_of


def correlated(seed, M=2000, length=20, N=200, K=6):
    """Short documents whose compositions are logistic normal: some topics come together, others shun each other.

    The model has the true topics, and A is the second moment of the very compositions that were drawn.
    """
    rng = np.random.default_rng(seed)
    B = np.ascontiguousarray(rng.dirichlet(np.full(N, 0.1), size=K).T)
    spread = rng.standard_normal((K, K)) / np.sqrt(K)
    z = rng.multivariate_normal(0.5 * rng.standard_normal(K), 2.0 * spread @ spread.T + 0.4 * np.eye(K), size=M)
    w = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    X = sp.csr_array(rng.multinomial(length, w @ B.T).astype(float))
    A = w.T @ w / M
    return X, model_of(B, (A + A.T) / 2.0, np.arange(K))


def quadratic(model):
    """G = B' diag(1/p) B, and diag(1/p) B."""
    p = model.B @ model.prevalence
    scaled = np.where(p[:, None] > 0, model.B / np.where(p > 0, p, 1.0)[:, None], 0.0)
    return scaled.T @ model.B, scaled


def mismatch(weights, A):
    return np.linalg.norm(weights.T @ weights / len(weights) - A) / np.linalg.norm(A)


@pytest.mark.parametrize("seed", range(4))
def test_the_second_moment_is_A_where_that_of_map_is_not(seed):
    """With 20 tokens a document "posterior-mean" shrinks to the prior; the dual matrix undoes that on average."""
    X, model = correlated(seed)
    dual = learn_dual(model, [X])
    weights = aware_compositions(X, model, dual.matrix).weights
    assert mismatch(weights, model.A) < 0.01
    assert mismatch(weights, model.A) == pytest.approx(dual.mismatch, rel=1e-9)
    assert dual.n_docs == 2000
    assert dual.n_bound == 0
    assert 1 <= dual.n_iter <= 60
    np.testing.assert_array_equal(dual.matrix, dual.matrix.T)
    by_mean = joined(compositions(model, [X], method="posterior-mean")).weights
    assert mismatch(by_mean, model.A) > 0.02


def test_each_composition_is_a_solved_problem():
    X, model = correlated(0, M=300)
    dual = learn_dual(model, [X])
    result = aware_compositions(X, model, dual.matrix)
    G, scaled = quadratic(model)
    targets = (X @ scaled) / X.sum(axis=1)[:, None]
    assert kkt_residual(G + dual.matrix, targets, result.weights).max() < 1e-10
    assert result.weights.min() >= 0
    np.testing.assert_allclose(result.weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(result.n_known, X.sum(axis=1))
    # The objective of the paper, |x/n - Bw|^2 weighted by 1/p plus <Lambda, ww'>: no vertex and no neighbour is better.
    p = model.B @ model.prevalence
    rng = np.random.default_rng(1)
    for m in range(5):
        share = X[[m]].toarray()[0] / X[[m]].sum()

        def objective(w, share=share):
            return np.sum((share - model.B @ w) ** 2 / p) + w @ dual.matrix @ w

        best = objective(result.weights[m])
        for other in [*np.eye(6), *(0.99 * result.weights[m] + 0.01 * rng.dirichlet(np.ones(6), size=20))]:
            assert objective(other) >= best - 1e-12


def test_without_a_dual_long_documents_give_the_truth():
    """Lambda = 0 is plain weighted least squares: consistent, with an error like one over the root of the tokens."""
    rng = np.random.default_rng(2)
    B = np.ascontiguousarray(rng.dirichlet(np.full(100, 0.1), size=5).T)
    w = rng.dirichlet(np.ones(5), size=20)
    X = sp.csr_array(rng.multinomial(100_000, w @ B.T).astype(float))
    found = aware_compositions(X, model_of(B, np.eye(5) / 5, range(5)), np.zeros((5, 5))).weights
    np.testing.assert_allclose(found, w, atol=0.02)


def test_a_document_knows_no_other_document():
    X, model = correlated(3, M=400)
    dual = learn_dual(model, [X]).matrix
    whole = aware_compositions(X, model, dual, n_jobs=1).weights
    np.testing.assert_array_equal(aware_compositions(X, model, dual, n_jobs=3).weights, whole)
    for rows in ([7], [399, 7, 0], list(range(100, 300))):
        np.testing.assert_array_equal(aware_compositions(X[rows], model, dual).weights, whole[rows])


def test_learned_from_blocks_as_from_one_matrix():
    X, model = correlated(4, M=600)
    whole = learn_dual(model, [X], n_jobs=1)
    for blocks in ([X[:1], X[1:500], X[500:]], iter([X[:300], X[300:]])):
        parts = learn_dual(model, blocks, n_jobs=2)
        np.testing.assert_array_equal(parts.matrix, whole.matrix)
        assert parts[1:] == whole[1:]


def test_of_many_documents_every_s_th(monkeypatch):
    """Which documents are used depends on how many there are, not on how they come."""
    X, model = correlated(5, M=1000)
    X = sp.csr_array(sp.vstack([X[:10], sp.csr_array((3, 200)), X[10:]]))  # empty ones are not counted
    monkeypatch.setattr(aware, "MAX_DOCS", 300)
    sampled = learn_dual(model, [X])
    assert sampled.n_docs == 250  # every fourth
    known = np.delete(np.arange(1003), [10, 11, 12])[::4]
    monkeypatch.setattr(aware, "MAX_DOCS", 10_000)
    np.testing.assert_array_equal(learn_dual(model, [X[known]]).matrix, sampled.matrix)
    monkeypatch.setattr(aware, "MAX_DOCS", 300)
    for cuts in ([5, 400, 401], [100, 200, 300, 999]):
        blocks = [sp.csr_array(X[rows]) for rows in np.split(np.arange(1003), cuts)]
        parts = learn_dual(model, blocks)
        assert parts.n_docs == 250
        np.testing.assert_array_equal(parts.matrix, sampled.matrix)


def test_what_only_a_problem_that_is_not_convex_could_reach():
    """Documents that are all mixed, and an A that says each is of one topic: Lambda would have to reward vertices."""
    rng = np.random.default_rng(0)
    B = np.ascontiguousarray(rng.dirichlet(np.full(60, 0.5), size=4).T)
    X = sp.csr_array(rng.multinomial(200, rng.dirichlet(np.full(4, 5.0), size=400) @ B.T).astype(float))
    model = model_of(B, np.eye(4) / 4, range(4))
    with pytest.warns(ConvergenceWarning, match=r"second moment of 400 documents is .*% from A .* not convex"):
        dual = learn_dual(model, [X])
    assert dual.n_bound > 0
    assert dual.mismatch > 0.01
    G, _ = quadratic(model)
    values = np.linalg.eigvalsh(G + dual.matrix)
    assert values.min() > 0
    weights = aware_compositions(X, model, dual.matrix).weights
    # It went as far that way as it could: nearer A than without, though not there.
    plain = aware_compositions(X, model, np.zeros((4, 4))).weights
    assert mismatch(weights, model.A) == pytest.approx(dual.mismatch, rel=1e-6)
    assert dual.mismatch < 0.8 * mismatch(plain, model.A)


def test_one_topic_and_a_topic_that_is_never_used():
    X, model = correlated(6, M=300, K=1)
    dual = learn_dual(model, [X])
    assert dual.mismatch < 1e-12
    np.testing.assert_array_equal(aware_compositions(X, model, dual.matrix).weights, 1.0)
    X, model = correlated(6, M=500, K=3)
    A = np.zeros((4, 4))
    A[:3, :3] = model.A
    unused = np.zeros((210, 4))  # a topic of ten words that no document holds
    unused[:200, :3], unused[200:, 3] = model.B, 0.1
    longer = sp.csr_array(sp.hstack([X, sp.csr_array((500, 10))]))
    dual = learn_dual(model_of(unused, A, range(4)), [longer])
    assert dual.mismatch < 0.01
    assert np.isfinite(dual.matrix).all()
    small = learn_dual(model, [X])
    np.testing.assert_allclose(
        aware_compositions(longer, model_of(unused, A, range(4)), dual.matrix).weights[:, :3],
        aware_compositions(X, model, small.matrix).weights,
        atol=0.02,
    )


def test_documents_without_known_words():
    X, model = correlated(7, M=200)
    B = np.array(model.B)
    B[[0, 5]] = 0.0
    model = model_of(np.ascontiguousarray(B / B.sum(axis=0)), model.A, range(6))
    new = np.zeros((3, 200))
    new[1, [0, 5]] = 4
    new[2, [0, 9]] = 2
    result = aware_compositions(sp.csr_array(new), model, learn_dual(model, [X]).matrix)
    np.testing.assert_array_equal(result.n_known, [0, 0, 2])
    np.testing.assert_array_equal(result.weights[:2], np.tile(model.prevalence, (2, 1)))
    assert np.isnan(result.log_likelihood).all()
    with pytest.raises(InputError, match="no document holds a word the model knows"):
        learn_dual(model, [sp.csr_array(new[:2])])
    with pytest.raises(InputError, match="knows 200 words, but the documents have 199"):
        aware_compositions(sp.csr_array(new[:, 1:]), model, np.zeros((6, 6)))


# ---- The estimator.


@pytest.fixture(scope="module")
def data():
    return make_topics(n_docs=500, n_words=120, n_topics=4, doc_length=60, random_state=7)


@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.ConvergenceWarning")
def test_fitted_saved_loaded(data, tmp_path):
    model = aw.AnchorTopicModel(4, composition="prior-aware").fit(data.corpus)
    dual = model.composition_prior_
    np.testing.assert_array_equal(model.model_.composition_dual, dual.matrix)
    weights = model.transform(data.corpus)
    assert mismatch(weights, model.topic_correlation_) == pytest.approx(dual.mismatch, rel=1e-6)
    by_mean = model.transform(data.corpus, method="posterior-mean")
    np.testing.assert_array_equal(by_mean, aw.AnchorTopicModel(4).fit(data.corpus).transform(data.corpus))
    model.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.composition == "prior-aware"
    np.testing.assert_array_equal(loaded.transform(data.corpus), weights)
    np.testing.assert_array_equal(loaded.transform(data.corpus.counts[[3]]), weights[[3]])


@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.ConvergenceWarning")
def test_learned_afterwards_and_from_blocks(data):
    model = aw.AnchorTopicModel(4).fit(data.corpus)
    with pytest.raises(InputError, match=r"need a dual matrix.*learn_composition_prior"):
        model.transform(data.corpus, method="prior-aware")
    assert model.learn_composition_prior(data.corpus) is model
    together = aw.AnchorTopicModel(4, composition="prior-aware").fit(data.corpus)
    np.testing.assert_array_equal(model.model_.composition_dual, together.model_.composition_dual)
    np.testing.assert_array_equal(model.transform(data.corpus, "prior-aware"), together.transform(data.corpus))
    counts = sp.csr_array(data.corpus.counts)
    blocks = [counts[:200], counts[200:]]
    again = model.learn_composition_prior(blocks).model_.composition_dual
    np.testing.assert_array_equal(again, together.model_.composition_dual)
    model.fit(data.corpus)  # a refit forgets
    assert not hasattr(model, "composition_prior_")
    assert model.model_.composition_dual is None


def test_unknown_methods_are_refused(data):
    with pytest.raises(InputError, match="method must be one of 'posterior-mean', 'prior-aware', but is 'best'"):
        aw.AnchorTopicModel(4, composition="best").fit(data.corpus)

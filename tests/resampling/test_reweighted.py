"""Statistics under weights: against Eq. 1 written out, and whatever documents come as."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import FractionalCountsWarning, InputError
from anchorwords.resampling import reweighted
from anchorwords.resampling.reweighted import ReplicateStatistics
from anchorwords.resampling.shards import shard_of
from anchorwords.sources.convert import in_columns, require_known_words
from anchorwords.storage import corpus_writer as store
from tests.metrics import direct

NAMES = tuple(f"w{i}" for i in range(30))


def documents_of(model, X):
    return require_known_words(in_columns(X, model.vocabulary, model.n_words))


def record(vocabulary=NAMES, n_words=30):
    K = 2
    B = np.full((n_words, K), 1.0 / n_words)
    return aw.TopicModel(
        B, np.full((K, K), 0.25), 1.0, np.arange(K), np.full((n_words, K), 0.5), B[:, 0], vocabulary, Y=B.copy()
    )


def statistics_of(X, n_replicates=3, n_shards=5, seed=0, n_jobs=None):
    return ReplicateStatistics(documents_of(record(), X), n_replicates, n_shards, seed, n_jobs)


def weighted_eq1(X, weights):
    """Eq. 1 of documents that count so many times; those too short for a pair have no number and no weight."""
    total, kept = np.zeros((X.shape[1], X.shape[1])), 0.0
    long = [h for h in X.astype(float) if h.sum() >= 2]
    for h, w in zip(long, weights, strict=True):
        n = h.sum()
        total += w * (np.outer(h, h) - np.diag(h)) / (n * (n - 1))
        kept += w
    return total / kept


def test_products_and_quotients_are_those_of_eq1():
    X = direct.random_counts(0)
    X[[3, 17]] = 0  # among the others: documents are numbered without them
    found = statistics_of(X)
    n_docs = int((X.sum(axis=1) >= 2).sum())
    assert found.n_docs == n_docs
    weights = found.weights[:, shard_of(0, n_docs, 5, 0)]
    C = np.array([weighted_eq1(X, w) for w in weights])
    np.testing.assert_allclose(C[0], aw.cooccurrence(X), atol=1e-15)
    rng = np.random.default_rng(1)
    shared, own = rng.standard_normal((30, 4)), rng.standard_normal((3, 30, 4))
    replicates = [0, 1, 3]
    for V in (shared, own):
        each = [V, V, V] if V.ndim == 2 else V
        np.testing.assert_allclose(
            found.products(replicates, V), [C[r] @ v for r, v in zip(replicates, each, strict=True)], atol=1e-13
        )
        np.testing.assert_allclose(
            found.quotients(replicates, V), [v.T @ C[r] @ v for r, v in zip(replicates, each, strict=True)], atol=1e-13
        )


def test_whole_weights_are_documents_that_come_several_times(monkeypatch):
    X = direct.random_counts(1)[:-2]
    weights = np.array([[2.0, 0.0, 1.0, 2.0, 0.0]])
    monkeypatch.setattr(reweighted, "shard_weights", lambda *_: weights)
    found = statistics_of(X, n_replicates=1)
    times = weights[0, shard_of(0, X.shape[0], 5, 0)].astype(int)
    again = aw.cooccurrence(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(found.products([1], np.eye(30))[0], again, atol=1e-14)
    # A word all of whose documents have no weight does not occur there.
    np.testing.assert_array_equal(found.occurs(1), again.sum(axis=1) + again.diagonal() > 0)


def test_weights_of_words_are_clipped_as_in_a_fit():
    X = direct.random_counts(2) * 0.7
    found = statistics_of(X)
    with pytest.warns(FractionalCountsWarning):
        C = aw.cooccurrence(X)
    np.testing.assert_allclose(found.products([0], np.eye(30))[0], C, atol=1e-14)
    # Replicates sum to one as well.
    e = np.ones((30, 1))
    np.testing.assert_allclose(found.quotients([0, 1, 2, 3], e).ravel(), 1.0, rtol=1e-12)


def test_every_route_leads_to_the_same_statistics(tmp_path, monkeypatch):
    X = direct.random_counts(3)
    V = np.random.default_rng(0).standard_normal((30, 3))
    expected = statistics_of(X).products([0, 1, 2, 3], V)
    order = np.random.default_rng(5).permutation(30)
    corpus = aw.Corpus(X, NAMES)
    monkeypatch.setattr(store, "BLOCK_DOCS", 13)
    store.save_corpus(tmp_path / "c", direct.cut(X, 13), NAMES, None, store.About())
    routes = {
        "sparse": sp.csc_array(X),
        "corpus": corpus,
        "other order": aw.Corpus(X[:, order], [NAMES[i] for i in order]),
        "blocks": direct.cut(X, 11),
        "function": lambda: direct.cut(X, 7),
        "disk": aw.open_corpus(tmp_path / "c"),
    }
    for route, documents in routes.items():
        for n_jobs in (1, 2):
            found = statistics_of(documents, n_jobs=n_jobs).products([0, 1, 2, 3], V)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15, err_msg=route)


def test_no_more_shards_than_documents():
    X = direct.random_counts(4)[:9]
    found = statistics_of(X, n_shards=32)
    assert found.n_shards == found.n_docs == 9
    assert found.weights.shape == (4, 9)


def test_bad_documents_get_a_sentence():
    X = direct.random_counts(5)
    with pytest.raises(InputError, match="at least two documents"):
        statistics_of(X[:1])
    with pytest.raises(InputError, match="two tokens"):
        statistics_of(np.eye(30, dtype=int))
    with pytest.raises(InputError, match="30 words, but X has 29 columns"):
        statistics_of(X[:, :29])
    with pytest.raises(InputError, match="30 words, but X has 29 columns"):
        statistics_of(direct.cut(X[:, :29], 11))
    with pytest.raises(InputError, match="iterator"):
        statistics_of(iter(direct.cut(X, 11)))
    with pytest.raises(InputError, match="none of the model's words"):
        statistics_of(aw.Corpus(X, [f"other{i}" for i in range(30)]))
    with pytest.raises(InputError, match="30 words, but X has 29 columns"):
        documents_of(record(None), aw.Corpus(X[:, :29], NAMES[:29]))


def test_a_source_that_changes_between_passes_is_refused():
    X = direct.random_counts(6)
    reads = []

    def source():
        reads.append(1)
        return direct.cut(X[: 60 - 10 * (len(reads) > 3)], 20)

    found = statistics_of(source)
    with pytest.raises(InputError, match="the same documents every time"):
        found.products([0], np.ones((30, 1)))

"""Eq. 1: the explicit matrix against a loop over pairs of tokens, and its identities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import anchorwords as aw
from anchorwords._memory import available_bytes, require_dense
from anchorwords.exceptions import FractionalCountsWarning, InputError, TooLargeError
from anchorwords.statistics.moments import pair_moments
from tests.contracts import check_operator
from tests.strategies import counts, weights


def by_pairs_of_tokens(X):
    """Eq. 1 in words: the chance that a random ordered pair of distinct tokens of a random document is (i, j)."""
    kept = [row for row in X if row.sum() >= 2]
    C = np.zeros((X.shape[1], X.shape[1]))
    for row in kept:
        words = np.repeat(np.arange(len(row)), row)
        for a, i in enumerate(words):
            for b, j in enumerate(words):
                if a != b:
                    C[i, j] += 1.0 / (len(words) * (len(words) - 1))
    return C / len(kept)


@settings(max_examples=60, deadline=None)
@given(counts())
def test_matches_the_pairs_of_tokens(X):
    C = aw.cooccurrence(X)
    np.testing.assert_allclose(C, by_pairs_of_tokens(X), atol=1e-14)
    assert C.sum() == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_array_equal(C, C.T)
    assert (C >= 0).all()


@settings(max_examples=60, deadline=None)
@given(counts())
def test_operator_equals_matrix(X):
    check_operator(aw.CooccurrenceOperator(X), aw.cooccurrence(X))


@settings(max_examples=40, deadline=None)
@given(weights())
def test_fractional_counts_stay_a_distribution(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FractionalCountsWarning)
        C = aw.cooccurrence(X)
        check_operator(aw.CooccurrenceOperator(X), C)
    assert C.sum() == pytest.approx(1.0, abs=1e-12)
    assert (C >= 0).all()


def test_whole_floats_do_not_warn_and_fractions_do():
    X = np.array([[1.0, 2.0], [3.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aw.cooccurrence(X)
    with pytest.warns(FractionalCountsWarning, match="whole numbers"):
        aw.cooccurrence(X + 0.5)


def test_words_once_a_document_have_no_diagonal_dust():
    X = (np.random.default_rng(0).random((300, 40)) < 0.2).astype(int)
    operator = aw.CooccurrenceOperator(X)
    assert not aw.cooccurrence(X).diagonal().any()
    assert not operator.diagonal().any()
    assert not operator.submatrix(range(5)).diagonal().any()
    assert operator.rows([3])[0, 3] == 0.0


def test_unbiased_for_the_model():
    """Averaged over draws of short documents, C comes to B E[ww'] B', diagonal included."""
    rng = np.random.default_rng(0)
    B = rng.dirichlet(np.ones(6), size=3).T
    w = rng.dirichlet(np.full(3, 0.5), size=40_000)
    X = rng.multinomial(3, w @ B.T)
    C = aw.cooccurrence(X)
    expected = B @ (w.T @ w / len(w)) @ B.T
    # Standard error of an entry: sqrt(p / (6 pairs x 40,000)) is at most 1e-3; four of them.
    np.testing.assert_allclose(C, expected, atol=4e-3)
    naive = (X.T @ X) / 9 / len(X)
    assert np.abs(naive.diagonal() - expected.diagonal()).max() > 0.03  # what Eq. 1 corrects


def test_short_documents_are_skipped_and_reported(caplog):
    X = np.array([[1, 0, 0], [2, 1, 0], [0, 0, 0], [0, 1, 1]])
    with caplog.at_level("INFO", logger="anchorwords"):
        operator = aw.CooccurrenceOperator(X)
    assert (operator.n_docs, operator.n_skipped) == (2, 2)
    assert "skipped 2 of 4 documents" in caplog.text
    np.testing.assert_array_equal(aw.cooccurrence(X), aw.cooccurrence(X[[1, 3]]))
    assert "2 documents" in repr(operator)


def test_statistics_of_disjoint_documents_add():
    rng = np.random.default_rng(1)
    X, Z = rng.integers(0, 4, (30, 8)) + 1, rng.integers(0, 4, (10, 8)) + 1
    both = aw.cooccurrence(np.vstack([X, Z]))
    np.testing.assert_allclose(both, (30 * aw.cooccurrence(X) + 10 * aw.cooccurrence(Z)) / 40, atol=1e-15)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array, lambda X: X.tolist()])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32, np.float64, np.int64])
def test_any_container_and_type_gives_the_same_bits(convert, dtype):
    X = np.random.default_rng(2).integers(0, 5, (20, 9))
    np.testing.assert_array_equal(aw.cooccurrence(convert(X.astype(dtype))), aw.cooccurrence(X))


def test_input_is_left_alone():
    X = sp.csr_array(([1.0, 2.0, 0.0, 3.0], ([0, 0, 0, 1], [2, 0, 1, 1])), shape=(2, 3))
    before = (X.data.copy(), X.indices.copy(), X.indptr.copy())
    aw.cooccurrence(X)
    for part, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_duplicate_entries_are_added():
    X = sp.coo_array(([1, 1, 1], ([0, 0, 0], [0, 0, 1])), shape=(1, 2))
    np.testing.assert_array_equal(aw.cooccurrence(X), aw.cooccurrence([[2, 1]]))


def test_refuses_what_cannot_fit():
    with pytest.raises(TooLargeError, match=r"3,000,000 x 3,000,000 .* GiB.*CooccurrenceOperator"):
        aw.cooccurrence(sp.csr_array((1, 3_000_000)))
    assert available_bytes() > 0
    require_dense(10, 1.0, "small", "nothing")


def test_memory_falls_back_where_the_system_does_not_say(monkeypatch):
    import os

    import anchorwords._memory as memory

    monkeypatch.setattr(memory, "_meminfo_available", lambda: None)
    monkeypatch.setattr(memory, "_cgroup_headroom", lambda: None)
    assert memory.available_bytes() > 0
    monkeypatch.setattr(os, "sysconf", lambda _: (_ for _ in ()).throw(ValueError()))
    assert memory.available_bytes() is None
    require_dense(10**9, 1.0, "anything", "goes")


@pytest.mark.parametrize("limit", ["max", "1048576"])
def test_container_limits_count(limit, monkeypatch, tmp_path):
    import anchorwords._memory as memory

    (tmp_path / "memory.max").write_text(limit)
    (tmp_path / "memory.current").write_text("1000")
    monkeypatch.setattr(memory, "Path", lambda _: tmp_path)
    assert memory._cgroup_headroom() == (None if limit == "max" else 1047576)


def test_operator_rejects_what_it_cannot_multiply():
    operator = aw.CooccurrenceOperator([[1, 2, 3]])
    with pytest.raises(InputError, match="cannot multiply"):
        operator @ np.ones(4)
    with pytest.raises(InputError, match="column indices from 0 to 2"):
        operator.submatrix([3])
    with pytest.raises(InputError, match="column indices"):
        operator.rows([0.5])
    assert operator.submatrix([]).shape == (0, 0)


def test_products_do_not_depend_on_threads():
    X = np.random.default_rng(3).integers(0, 3, (5000, 300))
    V = np.random.default_rng(4).standard_normal((300, 5))
    one = aw.CooccurrenceOperator(X, n_jobs=1) @ V
    np.testing.assert_array_equal(aw.CooccurrenceOperator(X, n_jobs=3) @ V, one)
    np.testing.assert_array_equal(aw.cooccurrence(X, n_jobs=1), aw.cooccurrence(X, n_jobs=3))


@pytest.mark.data
def test_real_statistics(real_corpus):
    counts = real_corpus("kos", 1500).counts
    C = aw.cooccurrence(counts)
    assert C.sum() == pytest.approx(1.0, abs=1e-12)
    check_operator(aw.CooccurrenceOperator(counts), C)
    moments = pair_moments(counts)
    np.testing.assert_allclose((moments.G.T @ moments.G).toarray() - np.diag(moments.d), C, atol=1e-16)
    assert np.linalg.eigvalsh(C)[0] < 0  # indefinite: what rectification is for

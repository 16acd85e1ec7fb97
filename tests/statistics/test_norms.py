"""Norms of rows of C: of all words where that is affordable, of a sample that says how sure it is else."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics import norms
from anchorwords.statistics.norms import RowNorms, row_norms
from anchorwords.statistics.streamed import StreamedOperator
from tests.strategies import counts


def streamed(X, size=9):
    X = sp.csr_array(X)
    return StreamedOperator(MatrixBlocks([X[i : i + size] for i in range(0, X.shape[0], size)]), every_word=True)


def random_counts(seed, M=100, N=60):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(1.0, size=N) * 0.3, size=(M, N))
    X[0] += 1
    return X


# ---- norms themselves


@settings(max_examples=60, deadline=None)
@given(counts(), st.integers(0, 99))
def test_norms_at_words_are_those_of_the_matrix(X, seed):
    """Rare words go over their documents twice, frequent ones over all words: both kinds are here."""
    expected = np.linalg.norm(aw.cooccurrence(X), axis=1)
    operator = aw.CooccurrenceOperator(X)
    words = np.random.default_rng(seed).integers(0, X.shape[1], 5)
    np.testing.assert_allclose(operator.row_norms(words), expected[words], atol=1e-14)
    np.testing.assert_array_equal(operator.row_norms(words), operator.row_norms()[words])
    np.testing.assert_allclose(streamed(X, 3).row_norms(words), expected[words], atol=1e-14)


def test_rare_and_frequent_words():
    # 300 words; word 0 in every document, words 200 and beyond in one of two tokens.
    rng = np.random.default_rng(0)
    X = np.zeros((150, 300), int)
    X[:, 0] = 1
    X[:100, 1:200] = rng.random((100, 199)) < 0.3
    X[np.arange(100, 150), np.arange(200, 250)] = 3
    C = aw.cooccurrence(X)
    touched = X[:, [0, 220]].T @ (X > 0).sum(axis=1)
    assert touched[0] > 300 > touched[1]  # the two ways
    for n_jobs in (1, 2):
        found = aw.CooccurrenceOperator(X, n_jobs=n_jobs).row_norms()
        np.testing.assert_allclose(found, np.linalg.norm(C, axis=1), rtol=1e-12, atol=1e-18)
        np.testing.assert_array_equal(found, aw.CooccurrenceOperator(X, n_jobs=1).row_norms())
    assert not found[250:].any()


def test_norms_are_kept_and_not_given_away():
    operator = aw.CooccurrenceOperator(random_counts(0))
    first = operator.row_norms()
    first[:] = 0.0
    assert operator.row_norms().all()
    assert operator.row_norms([]).shape == (0,)
    for bad in ([60], [-1], [0.5]):
        with pytest.raises(InputError, match="column indices from 0 to 59"):
            operator.row_norms(bad)


def test_pairs_are_the_multiplications():
    X = random_counts(1)
    X[3] = 0
    X[3, 5] = 1  # skipped: one token
    kept = X[X.sum(axis=1) >= 2]
    assert aw.CooccurrenceOperator(X).n_pairs == int((np.count_nonzero(kept, axis=1) ** 2).sum())


# ---- all or a sample


def test_all_words_where_that_is_affordable():
    X = random_counts(0)
    operator = aw.CooccurrenceOperator(X)
    p = operator.row_sums()
    for found in (row_norms(operator, p), row_norms(operator, p, budget=0), row_norms(streamed(X), p)):
        assert found.exact
        np.testing.assert_array_equal(found.words, np.arange(60))
        np.testing.assert_allclose(found.squares, (aw.cooccurrence(X) ** 2).sum(axis=1), rtol=1e-11)
        assert found.total(found.squares) == pytest.approx(operator.frobenius_norm() ** 2, rel=1e-12)
        assert found.standard_error(found.squares) == 0.0
        table = np.stack([found.squares, np.ones(60)], axis=1)
        np.testing.assert_allclose(found.total(table), [found.squares.sum(), 60])
        np.testing.assert_array_equal(found.standard_error(table), [0, 0])


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(norms, "_CERTAIN", 12)
    monkeypatch.setattr(norms, "_DRAWN", 16)


def test_what_is_sampled(small_sample):
    X = random_counts(2)
    operator = aw.CooccurrenceOperator(X)
    p = operator.row_sums()
    assert row_norms(operator, p, budget=operator.n_pairs).exact  # at the budget is within it
    found = row_norms(operator, p, budget=operator.n_pairs - 1, random_state=3)
    assert not found.exact
    assert (found.n_certain, found.n_words, found.words.size) == (12, 60, 28)
    np.testing.assert_array_equal(found.words[:12], np.argsort(-p)[:12])  # the most probable
    assert np.unique(found.words).size == 28
    np.testing.assert_allclose(found.squares, operator.row_norms()[found.words] ** 2, rtol=1e-13)
    again, other = (row_norms(operator, p, budget=0, random_state=seed) for seed in (3, 4))
    np.testing.assert_array_equal(again.words, found.words)
    assert not np.array_equal(other.words, found.words)
    from_disk = row_norms(streamed(X), p, random_state=3)
    np.testing.assert_array_equal(from_disk.words, found.words)  # the same words whatever the source
    np.testing.assert_allclose(from_disk.squares, found.squares, rtol=1e-11)


def test_a_sample_of_all_words_but_one(small_sample):
    X = random_counts(2, N=29)
    operator = aw.CooccurrenceOperator(X)
    found = row_norms(operator, operator.row_sums(), budget=0)
    assert (found.exact, found.words.size) == (False, 28)
    X = X[:, :28]
    operator = aw.CooccurrenceOperator(X)
    assert row_norms(operator, operator.row_sums(), budget=0).exact


def test_totals_by_hand():
    # Words 0 and 1 stand for themselves, 2 and 3 for the six that are left: each for three.
    sample = RowNorms(np.array([0, 1, 2, 3]), np.array([10.0, 5.0, 1.0, 3.0]), 2, 8)
    assert sample.total(sample.squares) == 10 + 5 + 3 * (1 + 3)
    # Six words, two drawn without replacement: 6^2 (1 - 2/6) s^2 / 2 with s^2 = 2, the variance of 1 and 3.
    assert sample.standard_error(sample.squares) == pytest.approx(np.sqrt(36 * (2 / 3) * 2 / 2))
    assert sample.total(np.ones(4)) == 8
    assert sample.standard_error(np.ones(4)) == 0.0
    np.testing.assert_allclose(sample.total(np.ones((4, 2))), [8, 8])


def test_totals_are_unbiased_and_know_their_error(small_sample):
    """2,000 draws with fixed seeds: the mean within 4 of its standard errors (chance of a false alarm 6e-5 each)."""
    X = random_counts(5)
    operator = aw.CooccurrenceOperator(X)
    p, exact = operator.row_sums(), operator.row_norms() ** 2
    values = np.stack([exact, np.sqrt(exact), np.random.default_rng(0).standard_normal(60)], axis=1)
    kept = row_norms(operator, p, budget=0)
    totals, errors = [], []
    for seed in range(2000):
        # Draws alone are what differs: the norms are those above.
        order = np.argsort(-p, kind="stable")
        drawn = np.random.default_rng(seed).choice(order[12:], 16, replace=False)
        words = np.concatenate([order[:12], np.sort(drawn)])
        if seed < 3:
            np.testing.assert_array_equal(row_norms(operator, p, budget=0, random_state=seed).words, words)
        sample = RowNorms(words, exact[words], kept.n_certain, kept.n_words)
        totals.append(sample.total(values[words]))
        errors.append(sample.standard_error(values[words]))
    totals, errors = np.array(totals), np.array(errors)
    z = (totals.mean(axis=0) - values.sum(axis=0)) / (totals.std(axis=0) / np.sqrt(2000))
    assert np.abs(z).max() < 4.0
    # The mean of squared errors is the variance, also without bias; of 2,000 skewed totals it is known to some 5 %.
    np.testing.assert_allclose((errors**2).mean(axis=0), totals.var(axis=0), rtol=0.2)

"""Sweeps of variational EM against the same step written down in NumPy with scipy's digamma, and what must be conserved."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import digamma
from scipy.stats import dirichlet

from anchorwords.kernels.sweep import _exp_digamma
from anchorwords.refine import sweep
from anchorwords.refine.sweep import PerDocument, Pieces, as_documents, expect, removal_losses
from anchorwords.sources.convert import as_source
from tests.fits import Blocks
from tests.small_disk import small_disk

# The series of exp(digamma) is good to eleven digits; sums of a few hundred terms add little.
SERIES = 1e-9


def one_step(X, B, alpha, gamma):
    """New gamma, expected tokens (N, K) and log-likelihood (M,) of one step, dense and in one go."""
    log_v = digamma(gamma)
    v = np.exp(log_v - log_v.max(axis=1, keepdims=True))
    v /= v.sum(axis=1, keepdims=True)
    p = v @ B.T
    ratio = np.where(p > 0, X / np.where(p > 0, p, 1.0), 0.0)
    value = np.sum(np.where(p > 0, X * np.log(np.where(p > 0, p, 1.0)), 0.0), axis=1)
    return alpha + v * (ratio @ B), B * (ratio.T @ v), value


def drawn(seed, M=150, N=300, K=7):
    """Counts, topics, alpha and gamma: more documents and words than a block, some empty, some unknown."""
    rng = np.random.default_rng(seed)
    B = np.ascontiguousarray(rng.dirichlet(np.full(N, 0.1), size=K).T)
    B[[3, N - 1]] = 0.0
    B /= B.sum(axis=0)
    X = rng.poisson(rng.gamma(0.2, 1.0, size=(M, N))).astype(float)
    X[[5, M - 1]] = 0.0
    X[6] = 0.0
    X[6, 3] = 4.0  # a document of unknown words
    alpha = rng.gamma(0.5, size=K) + 0.05
    gamma = alpha + rng.gamma(1.0, size=(M, K))
    return X, B, alpha, gamma


@pytest.mark.parametrize("K", [1, 2, 7])
@pytest.mark.parametrize("steps", [1, 3])
def test_agrees_with_plain_numpy(K, steps):
    X, B, alpha, gamma = drawn(K, K=K)
    expected = gamma
    for _ in range(steps):
        expected, tokens, value = one_step(X, B, alpha, expected)
    found, words = gamma.copy(), np.ones_like(B)
    likelihood = expect(as_documents(sp.csr_array(X)), B, alpha, found, steps, words, 1)
    np.testing.assert_allclose(found, expected, rtol=SERIES)
    np.testing.assert_allclose(words - 1.0, tokens, rtol=SERIES, atol=1e-11)  # added to what is there
    np.testing.assert_allclose(likelihood, value, rtol=SERIES, atol=1e-9)


@pytest.mark.parametrize("counts", [[1.0], [1.0, 2.0, 3.0, 4.0], [5.0, 1.0], [0.5, 1.0, 2.5], [1e6, 1.0], [1e-3]])
def test_logarithms_of_products_are_those_of_the_words(counts):
    """Hundreds of words of any count, some all but impossible: their product is no number, its logarithm is."""
    rng = np.random.default_rng(0)
    N, K = 900, 3
    B = rng.dirichlet(np.ones(N), size=K).T * 10.0 ** rng.uniform(-60, 0, (N, 1))
    B = np.ascontiguousarray(B / B.sum(axis=0))
    X = rng.choice(counts, size=(4, N))
    alpha, gamma = np.full(K, 0.5), rng.gamma(2.0, size=(4, K)) + 1.0
    _, _, expected = one_step(X, B, alpha, gamma)
    background = X.sum(axis=0) / X.sum()
    losses = removal_losses(as_documents(sp.csr_array(X)), B, gamma, background, 1)
    np.testing.assert_allclose(losses, losses_in_words(X, B, gamma, background), rtol=1e-9)
    np.testing.assert_allclose(
        expect(as_documents(sp.csr_array(X)), B, alpha, gamma, 1, None, 1), expected, rtol=SERIES
    )


def test_exp_digamma_is_good_to_eleven_digits():
    x = np.concatenate([np.logspace(-2.3, 5, 2000), [5.999999, 6.0, 6.000001]])
    # Where exp(digamma) is as small as exp(-200) the exponent itself is only known to 200 units in its last place.
    np.testing.assert_allclose([_exp_digamma(value) for value in x], np.exp(digamma(x)), rtol=3e-11)


def test_tokens_are_conserved():
    """Every token of a known word is shared out among topics: seen by word, and by document."""
    X, B, alpha, gamma = drawn(0)
    known = B.any(axis=1)
    words = np.zeros_like(B)
    expect(as_documents(sp.csr_array(X)), B, alpha, gamma, 2, words, 1)
    np.testing.assert_allclose(words.sum(axis=1), X.sum(axis=0) * known, rtol=1e-12)
    np.testing.assert_allclose((gamma - alpha).sum(axis=1), X[:, known].sum(axis=1), rtol=1e-12, atol=1e-12)
    assert not words[~known].any()


def test_one_topic_explains_all():
    X, B, alpha, gamma = drawn(1, K=1)
    known = B[:, 0] > 0
    words = np.zeros_like(B)
    likelihood = expect(as_documents(sp.csr_array(X)), B, alpha, gamma, 1, words, 1)
    np.testing.assert_allclose(gamma[:, 0], alpha[0] + X[:, known].sum(axis=1), rtol=1e-13)
    np.testing.assert_allclose(words[:, 0], X.sum(axis=0) * known, rtol=1e-13)
    np.testing.assert_allclose(likelihood, X[:, known] @ np.log(B[known, 0]), rtol=1e-12)


def test_documents_without_known_words_keep_the_prior():
    X, B, alpha, gamma = drawn(2)
    likelihood = expect(as_documents(sp.csr_array(X)), B, alpha, gamma, 1, None, 1)
    np.testing.assert_array_equal(gamma[[5, 6, -1]], np.tile(alpha, (3, 1)))
    np.testing.assert_array_equal(likelihood[[5, 6, -1]], 0.0)


@pytest.mark.parametrize("size", [1e-2, 1e-3, 1e-5, 1e-8])
def test_tiny_parameters_underflow_to_nothing_bad(size):
    """exp(digamma(1e-4)) is exp(-10000), no number at all: a document must still have a composition, and keep its tokens."""
    B = np.array([[0.5, 0.0, 0.2], [0.5, 0.2, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 0.8]])
    X = np.array([[0.0, 0, 0, 0], [3, 1, 0, 0], [0, 0, 0, 2], [5, 0, 1, 0], [0.0, 0.001, 0, 0]])
    alpha = size * np.array([3.0, 2.0, 1.0])
    gamma = np.tile(alpha, (5, 1))
    words = np.zeros_like(B)
    likelihood = expect(as_documents(sp.csr_array(X)), B, alpha, gamma, 4, words, 1)
    assert np.isfinite(gamma).all()
    assert np.isfinite(likelihood).all()
    np.testing.assert_allclose((gamma - alpha).sum(axis=1), X.sum(axis=1), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(words.sum(axis=1), X.sum(axis=0), rtol=1e-12)
    # Words of one topic alone belong to it, however little of the topic the document had.
    np.testing.assert_allclose(gamma[2] - alpha, [0, 0, 2], atol=1e-12)
    assert gamma[3, 1] - alpha[1] >= 1.0 - 1e-12


@pytest.mark.parametrize("share", [1e-80, 1e-105, 1e-120, 1e-300])
def test_a_word_that_is_all_but_impossible_takes_no_part(share):
    # One topic has all of the document, and of the word only the other has a trace: a count over their product, which is
    # below the least number from 1e-108 on, would be infinite. Shares that small come from sweeps, which multiply them.
    X = sp.csr_array(np.array([[20.0, 3.0]]))
    B = np.array([[1.0, 1.0 - share], [0.0, share]])
    alpha = np.full(2, 1e-3)
    gamma = np.array([[20.0, 1e-3]])
    words = np.zeros((2, 2))
    for _ in range(2):
        expect(as_documents(X), B, alpha, gamma, 1, words, None)
        assert np.isfinite(gamma).all()
        assert np.isfinite(words).all()


def test_threads_change_no_bit():
    X, B, alpha, gamma = drawn(3, M=400, N=700)
    documents = as_documents(sp.csr_array(X))
    results = []
    for n_jobs in (1, 2, 5):
        own, words = gamma.copy(), np.zeros_like(B)
        likelihood = expect(documents, B, alpha, own, 2, words, n_jobs)
        results.append((own, words, likelihood, removal_losses(documents, B, own, np.full(700, 1 / 700), n_jobs)))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("step", [1, 7, 64, 1000])
def test_pieces_change_nothing_but_rounding(monkeypatch, step):
    X, B, alpha, gamma = drawn(4)
    counts = sp.csr_array(X)
    whole, words = gamma.copy(), np.zeros_like(B)
    expect(as_documents(counts), B, alpha, whole, 1, words, 1)
    monkeypatch.setattr(sweep, "_WEIGHTS", 7 * step)
    blocks = [counts[:40], counts[40:41], counts[41:]]
    for pieces in (Pieces(as_source(counts), 7), Pieces(Blocks(blocks), 7), Pieces(Blocks(lambda: iter(blocks)), 7)):
        for _ in range(2):  # they can be gone through again
            rows, sums, first = [], np.zeros_like(B), 0
            for documents in pieces:
                assert documents.n_docs <= step
                own = gamma[first : first + documents.n_docs].copy()
                expect(documents, B, alpha, own, 1, sums, 1)
                rows.append(own)
                first += documents.n_docs
            # No document knows of its piece; the sums over documents are made in another order: 150 terms.
            np.testing.assert_array_equal(np.vstack(rows), whole)
            np.testing.assert_allclose(sums, words, rtol=1e-13)


def test_a_document_twice_is_a_document_of_weight_two(monkeypatch):
    X, B, alpha, gamma = drawn(5, M=90)
    weights = np.random.default_rng(0).integers(0, 4, 90).astype(float)
    often = np.repeat(np.arange(90), weights.astype(int))
    counts, background = sp.csr_array(X), np.full(300, 1 / 300)
    repeated, own = gamma[often].copy(), gamma.copy()
    words, sums = np.zeros_like(B), np.zeros_like(B)
    documents, copies = as_documents(counts, weights), as_documents(counts[often])
    one = expect(documents, B, alpha, own, 2, sums, 1)
    two = expect(copies, B, alpha, repeated, 2, words, 1)
    np.testing.assert_array_equal(own[often], repeated)
    np.testing.assert_allclose(sums, words, rtol=1e-12)
    assert one.sum() == pytest.approx(two.sum(), rel=1e-12)
    assert documents.weighted.sum() == counts[often].sum()
    np.testing.assert_allclose(
        removal_losses(documents, B, own, background, 1), removal_losses(copies, B, repeated, background, 1), rtol=1e-10
    )
    monkeypatch.setattr(sweep, "_WEIGHTS", 7 * 20)
    cut = list(Pieces(Blocks([counts[:33], counts[33:]]), 7, weights))
    np.testing.assert_array_equal(np.concatenate([piece.weights for piece in cut]), weights)


# ---- Expected tokens of documents, kept.


def test_moments_are_those_of_dirichlets(tmp_path):
    rng = np.random.default_rng(6)
    gamma, weights = rng.gamma(0.8, size=(40, 4)) + 0.05, rng.random(40)
    held = PerDocument(tmp_path)
    for start in (0, 13, 30):
        held.append(gamma[start : {0: 13, 13: 30, 30: 40}[start]])
    assert len(held) == 3
    means = np.array([dirichlet.mean(row) for row in gamma])
    squares = np.array([dirichlet.cov(row) + np.outer(dirichlet.mean(row), dirichlet.mean(row)) for row in gamma])
    for often, given in ((np.ones(40), None), (weights, weights)):
        mean, square = held.moments(given)
        np.testing.assert_allclose(mean, often @ means, rtol=1e-12)
        np.testing.assert_allclose(square, np.tensordot(often, squares, axes=1), rtol=1e-12)
        np.testing.assert_allclose(square.sum(axis=1), mean, rtol=1e-12)  # E[w w'e] = E[w]


def test_files_hold_what_memory_holds(monkeypatch, tmp_path):
    X, B, alpha, gamma = drawn(7)
    counts = sp.csr_array(X)
    parts = [slice(0, 50), slice(50, 60), slice(60, 150)]
    results = []
    for name, limit in (("memory", 1 << 26), ("mixed", 55 * 7), ("files", 0)):
        monkeypatch.setattr(sweep, "_IN_MEMORY", limit)
        (tmp_path / name).mkdir()
        held, words = PerDocument(tmp_path / name), np.zeros_like(B)
        for part in parts:
            held.append(gamma[part].copy())
        n_files = len(list((tmp_path / name).iterdir()))
        assert n_files == {"memory": 0, "mixed": 2, "files": 3}[name]
        for number, part in enumerate(parts):
            expect(as_documents(counts[part]), B, alpha, held[number], 2, words, 2)
        (tmp_path / f"{name}2").mkdir()
        fewer = held.mapped(lambda part: part[:, [6, 0, 1]], tmp_path / f"{name}2")
        assert not (tmp_path / name).exists()  # what is no longer needed takes no room
        results.append((words, np.vstack([np.array(fewer[i]) for i in range(3)]), *fewer.moments()))
    expected, tokens, _ = one_step(X, B, alpha, one_step(X, B, alpha, gamma)[0])
    np.testing.assert_allclose(results[0][0], tokens, rtol=SERIES, atol=1e-11)
    np.testing.assert_allclose(results[0][1], expected[:, [6, 0, 1]], rtol=SERIES)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


# ---- What the likelihood loses without a topic.


def losses_in_words(X, B, gamma, background):
    """As the docstring says it: the topic's share goes to the others, and a twentieth of the background is mixed in.

    Where the topic explains less than a thousandth of a word, the change of the logarithm to first order.
    """
    w = gamma / gamma.sum(axis=1, keepdims=True)
    losses = np.zeros(B.shape[1])
    for x, weights in zip(X, w, strict=True):
        p = B @ weights
        for k in range(B.shape[1]):
            others = np.delete(B, k, axis=1) @ np.delete(weights, k) / (1.0 - weights[k] + 1e-6)
            for i in np.flatnonzero((x > 0) & (p > 0)):
                own = weights[k] * B[i, k] / p[i]
                if own > 1e-3:
                    losses[k] += x[i] * (np.log(p[i]) - np.log(0.95 * others[i] + 0.05 * background[i]))
                else:
                    losses[k] += x[i] * (own - weights[k])
    return losses


def test_losses_against_plain_loops():
    X, B, _, gamma = drawn(8, M=70, N=40, K=4)
    background = np.random.default_rng(1).dirichlet(np.ones(40))
    found = removal_losses(as_documents(sp.csr_array(X)), B, gamma, background, 1)
    np.testing.assert_allclose(found, losses_in_words(X, B, gamma, background), rtol=1e-9)


def test_a_twin_is_missed_least_and_the_only_speaker_of_a_word_most():
    rng = np.random.default_rng(9)
    N = 60
    B = np.zeros((N, 4))
    for k in range(3):
        B[20 * k : 20 * (k + 1), k] = rng.dirichlet(np.ones(20))
    B[:, 3] = B[:, 2]
    w = rng.dirichlet(np.full(3, 0.5), size=200)
    X = rng.multinomial(50, w @ B[:, :3].T).astype(float)
    gamma = 0.1 + 50 * np.column_stack([w[:, :2], w[:, 2] / 2, w[:, 2] / 2])
    losses = removal_losses(as_documents(sp.csr_array(X)), B, gamma, X.sum(axis=0) / X.sum(), 1)
    assert losses[2:].max() < 0.1 * losses[:2].min()
    np.testing.assert_allclose(losses[2], losses[3], rtol=1e-9)


def test_losses_with_one_topic_leave_the_background():
    X, B, _, gamma = drawn(10, K=1)
    background = X.sum(axis=0) / X.sum()
    losses = removal_losses(as_documents(sp.csr_array(X)), B, gamma, background, 1)
    known = B[:, 0] > 0
    tokens = X[:, known].sum(axis=0)
    expected = tokens @ np.where(
        tokens > 0, np.log(B[known, 0]) - np.log(0.05 * np.maximum(background[known], 1e-300)), 0
    )
    assert losses[0] == pytest.approx(expected, rel=1e-9)


FILLING = """
import sys
from pathlib import Path
import numpy as np
from anchorwords.refine import sweep

sweep._IN_MEMORY = 0
held = sweep.PerDocument(Path(sys.argv[1]))
try:
    for _ in range(40):
        held.append(np.ones((500, 10)))
except OSError as error:
    print(type(error).__name__, error)
for number in range(len(held)):
    held[number][:] *= 2.0
assert len(held) > 2
"""


def test_a_full_temporary_disk_is_an_error(tmp_path):
    with small_disk(tmp_path / "disk", "256k") as disk:
        done = subprocess.run([sys.executable, "-c", FILLING, str(disk)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert "No space left on device" in done.stdout


def test_what_is_kept_in_a_file_can_be_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "_IN_MEMORY", 0)
    held, part = PerDocument(tmp_path), np.asfortranarray(np.arange(12.0).reshape(4, 3))
    held.append(part)
    held[0][...] *= 2.0
    np.testing.assert_array_equal(held[0], 2.0 * np.arange(12.0).reshape(4, 3))
    assert len(list(tmp_path.iterdir())) == 1

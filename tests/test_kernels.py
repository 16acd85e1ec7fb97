"""The compiled kernels against themselves run as plain Python, where an index out of bounds is an error, not luck."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.corpus import scanner as words
from anchorwords.exceptions import CorpusFormatError
from anchorwords.infer import penalised
from anchorwords.infer.prior import prior_from
from anchorwords.kernels import cone, gram, marks, pairs, proportions, text, triples
from anchorwords.kernels import simplex as simplex_kernels
from anchorwords.kernels import sweep as sweep_kernels
from anchorwords.kernels.compiled import Kernel
from anchorwords.linalg import simplex
from anchorwords.refine import sweep
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics import streamed

MODULES = (simplex_kernels, gram, pairs, cone, proportions, sweep_kernels, triples, text, marks)


@pytest.fixture
def both(monkeypatch):
    """Function that calls a function twice, compiled and with every kernel replaced by its source."""

    def call(function):
        compiled = function()
        with monkeypatch.context() as patch:
            for module in MODULES:
                for name, value in list(vars(module).items()):
                    if hasattr(value, "py_func"):
                        patch.setattr(module, name, value.py_func)
            in_python = function()
        return compiled, in_python

    return call


def test_every_kernel_is_exercised_here():
    kernels = {name for module in MODULES for name, value in vars(module).items() if isinstance(value, Kernel)}
    assert kernels == {
        "_solve_rows", "gram_times_lanes", "_gram_times_more_lanes",
        "_small_cosines", "_pair_entries", "_pair_product", "_moved_entries",
        "_project_rows", "accumulate_rows", "_squared_row_norms", "_compose_rows", "_parse_triples",
        "_scan", "_find_each", "_fill_slots", "_add_pairs", "_find_marks",
        "_expect_rows", "_gather_words", "_lose_rows",
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_simplex_least_squares(both, seed):
    rng = np.random.default_rng(seed)
    K, D = int(rng.integers(1, 12)), int(rng.integers(1, 8))
    P = rng.integers(-2, 3, size=(K, D)) + (0.1 * rng.standard_normal((K, D)) if seed % 2 else 0.0)
    if seed == 5:  # nearly repeated points take the refining path
        P = np.vstack([P, P[:2] + 1e-5])
    X = 2 * rng.standard_normal((15, D))
    a, b = both(lambda: simplex.simplex_least_squares(P @ P.T, X @ P.T, n_jobs=1))
    # Fused multiply-adds may differ in the last bit, and with repeated points pick another, equally good vertex.
    np.testing.assert_allclose(
        np.linalg.norm(X - a @ P, axis=1), np.linalg.norm(X - b @ P, axis=1), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("seed", range(4))
def test_penalised_compositions(both, seed):
    rng = np.random.default_rng(seed)
    K, N = int(rng.integers(1, 12)), 30
    B = rng.gamma(0.3, size=(N, K))
    B[3] = 0.0
    X = sp.csr_array(rng.poisson(10.0 ** rng.uniform(-1.5, 0.5, (12, 1)), size=(12, N)).astype(float))
    B /= B.sum(axis=0)
    weights = 0.5 / np.arange(1, K + 1)
    prior = weights if seed % 2 else prior_from(weights)
    a, b = both(lambda: penalised.penalised_compositions(X, B, prior, n_jobs=1))
    # Either is within the gap of the same optimum; sums of single precision may lead there another way.
    np.testing.assert_allclose(a.weights, b.weights, atol=1e-5)
    np.testing.assert_allclose(a.log_likelihood, b.log_likelihood, rtol=1e-5)
    np.testing.assert_array_equal(a.n_known, b.n_known)
    assert max(a.gap.max(), b.gap.max()) <= penalised.GAP


@pytest.mark.parametrize("seed", range(4))
def test_sweeps(both, seed):
    """Rows and words that do not begin a block, documents without words, words no topic holds, tiny parameters."""
    rng = np.random.default_rng(seed)
    K, N, M = int(rng.integers(1, 7)), 270, 70
    B = rng.gamma(0.3, size=(N, K)) * (rng.random((N, K)) < 0.5)
    B[0] += 0.01
    B[[5, N - 1]] = 0.0
    B /= B.sum(axis=0)
    X = rng.integers(0, 4, (M, N)) * (rng.random((M, N)) < 0.03)
    X[[3, M - 1]] = 0
    X[4, 5] = 2
    documents = sweep.as_documents(sp.csr_array(X, dtype=float))
    alpha = rng.gamma(0.5, size=K) * (1e-5 if seed == 3 else 1.0) + 1e-9
    background = X.sum(axis=0) / X.sum()

    def function():
        gamma, tokens = np.tile(alpha, (M, 1)) + X.sum(axis=1, keepdims=True) / K, np.zeros((N, K))
        likelihood = sweep.expect(documents, B, alpha, gamma, 2, tokens, 1)
        return gamma, tokens, likelihood, sweep.removal_losses(documents, B, gamma, background, 1)

    for a, b in zip(*both(function), strict=True):
        # Sums of up to 300 terms in another order; losses are differences of logarithms.
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_statistics(both):
    X = np.random.default_rng(0).integers(0, 3, (20, 15))
    V = np.random.default_rng(1).standard_normal((15, 4))
    for function in (
        lambda: aw.cooccurrence(X, n_jobs=1),
        lambda: aw.CooccurrenceOperator(X, n_jobs=1) @ V,
        lambda: aw.CooccurrenceOperator(X, n_jobs=1).row_norms(),
        lambda: aw.CooccurrenceOperator(X, n_jobs=1).row_norms([14, 0, 3, 0]),
        lambda: aw.CooccurrenceOperator(np.vstack([X, np.eye(2, 15) + 1]) * (X[:1] > 0), n_jobs=1).row_norms(),
        lambda: aw.CooccurrenceOperator(np.kron(np.eye(5), X[:4, :3]), n_jobs=1).row_norms(),  # rare words
        lambda: streamed.StreamedOperator(MatrixBlocks([sp.csr_array(X[:7]), sp.csr_array(X[7:])]), n_jobs=1) @ V,
    ):
        a, b = both(function)
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-16)


def test_correction(both):
    rng = np.random.default_rng(0)
    Y, P = rng.standard_normal((30, 4)), rng.standard_normal((30, 4))

    def function():
        found = pairs.SparseCorrection(Y, 12, 1)
        return np.hstack([found.times(Y), found.curvature(Y, P), np.full((30, 1), found.total)])

    a, b = both(function)
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def test_projection_to_a_cone(both):
    rng = np.random.default_rng(0)
    anchored, start = rng.random((9, 3)) - 0.2, rng.standard_normal((6, 3))
    indptr, partners = np.arange(0, 60, 9, dtype=np.int64), np.tile(np.arange(9, dtype=np.int32), 6)

    def function():
        return cone.project_to_cone(indptr, partners, anchored, start, spare=1e-9, n_jobs=1)

    a, b = both(function)
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_uci_parser(both, tmp_path):
    path = tmp_path / "docword.toy.txt"
    path.write_text("3\r\n2\r\n3\r\n1 1 2\n\n1\t2 1  \n3 2 1234567")
    a, b = both(lambda: aw.read_corpus(path, vocabulary=["x", "y"]).counts.toarray())
    np.testing.assert_array_equal(a, [[2, 1], [0, 0], [0, 1234567]])
    np.testing.assert_array_equal(a, b)
    for line in ("1 1", "1 1 1 1", "1 a 1", "1 1 9999999999999999999"):
        path.write_text(f"3\n2\n1\n{line}\n")

        def message():
            with pytest.raises(CorpusFormatError, match="line 4") as caught:
                aw.read_corpus(path, vocabulary=["x", "y"])
            return str(caught.value)

        a, b = both(message)
        assert a == b


def test_words_of_text(both):
    texts = ["über allen gipfeln ist ruh, über allen", "x y_z 42 \U0001f642 हिन्दी", "", "a " * 300]
    raw = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, raw)])

    def function():
        with np.errstate(over="ignore"):  # a hash is a product modulo 2^64
            counter = words.WordCounter(["ist"], ngrams=(1, 3), min_length=1)
            rows = [counter.count(b"".join(raw), bounds) for _ in range(2)]
            return counter.words(), rows

    (names, rows), (names_in_python, rows_in_python) = both(function)
    assert names == names_in_python
    for one, other in zip(rows, rows_in_python, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_marks_of_documents(both):
    documents = [b"", b"ab", b"a", b"bab<", b"x <y", b"\xc2\xad", b"\xc2", b"a" * 100 + b"b"]
    bounds = np.cumsum([0, *map(len, documents)])
    a, b = both(lambda: marks.marks_in(b"".join(documents), bounds, (b"ab", b"<", b"\xc2\xad")))
    np.testing.assert_array_equal(a, [0, 1, 0, 3, 2, 4, 0, 1])
    np.testing.assert_array_equal(a, b)

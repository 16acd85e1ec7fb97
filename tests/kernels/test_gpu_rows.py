"""Sums over sparse rows by the kernels for GPUs: rows that are cut, many columns, and little memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords.kernels import reference
from anchorwords.linalg.sparse import csr_parts

torch = pytest.importorskip("torch")
pytest.importorskip("triton")


@pytest.fixture
def kernels(device):
    from anchorwords.kernels.gpu.operations import GpuKernels

    return GpuKernels(device)


@pytest.fixture(params=["whole", "narrow"])
def cut(request, monkeypatch):
    """Rows in chunks of eight entries; columns together, or a few at a time for want of memory."""
    from anchorwords.kernels.gpu import rows

    monkeypatch.setattr(rows, "_ENTRIES", 8)
    if request.param == "narrow":
        monkeypatch.setattr(rows, "_COLUMNS", 8)
        monkeypatch.setattr(rows, "temporary_bytes", lambda: 1)


def zipf(rng, M=12, N=70):
    """Rows of all lengths: one full, several empty, also the first and the last, and some of exactly a chunk or two."""
    X = np.zeros((M, N))
    for row, length in enumerate([0, 70, 33, 1, 8, 0, 16, 17, 2, 9, 5, 0][:M]):
        X[row, rng.permutation(N)[:length]] = rng.integers(1, 5, length)
    return sp.csr_array(X)


@pytest.mark.parametrize("k", [1, 5, 21])
def test_rows_in_chunks(kernels, device, cut, k):
    rng = np.random.default_rng(k)
    X, V = zipf(rng), rng.standard_normal((70, k))
    rows = csr_parts(X)
    found = kernels.sparse_product(rows, torch.from_numpy(V).to(device))
    np.testing.assert_allclose(found.cpu(), X.toarray() @ V, rtol=1e-13, atol=1e-13)
    again = kernels.sparse_product(rows, torch.from_numpy(V).to(device))
    np.testing.assert_array_equal(found.cpu(), again.cpu())


@pytest.mark.parametrize("k", [1, 5, 21])
def test_expected_tokens_of_frequent_words(kernels, device, cut, k):
    rng = np.random.default_rng(k)
    X = zipf(rng)
    by_word = X.indptr.astype(np.int64), X.indices.astype(np.int32), rng.permutation(X.nnz).astype(np.int64)
    ratio, v, B, words = rng.random(X.nnz), rng.random((70, k)), rng.random((12, k)), rng.random((12, k))
    expected = reference.gather(by_word, ratio, v, B, words)
    found = kernels.gather(by_word, *(torch.from_numpy(np.array(part)).to(device) for part in (ratio, v, B, words)))
    np.testing.assert_allclose(found.cpu(), expected, rtol=1e-13)


def test_chunks_of_rows(device, monkeypatch):
    from anchorwords.kernels.gpu import rows

    monkeypatch.setattr(rows, "_ENTRIES", 10)
    chunks = rows.chunks_of(torch.tensor([0, 0, 10, 31, 31, 42, 45], device=device))
    assert chunks.first.tolist() == [0, 1, 2, 5, 6, 8, 9]
    assert chunks.row_of.tolist() == [0, 1, 2, 2, 2, 3, 4, 4, 5]
    assert chunks.long.tolist() == [2, 4]
    assert (chunks.slot[2].item(), chunks.slot[4].item(), chunks.n_slots) == (0, 3, 5)
    assert rows.chunks_of(torch.tensor([0], device=device)).row_of.tolist() == []


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (3, 5)])
def test_nothing_to_add(kernels, device, shape):
    empty = csr_parts(sp.csr_array(shape))
    for k in (0, 2):
        V = torch.ones((shape[1], k), dtype=torch.float64, device=device)
        np.testing.assert_array_equal(kernels.sparse_product(empty, V).cpu(), np.zeros((shape[0], k)))
    B, gamma = np.ones((shape[1], 2)) / 5, np.ones((shape[0], 2))
    found = kernels.expect(empty, B, np.array([0.5, 0.25]), gamma, 2)
    np.testing.assert_array_equal(found.gamma.cpu(), np.tile([0.5, 0.25], (shape[0], 1)))
    np.testing.assert_array_equal(found.likelihood.cpu(), np.zeros(shape[0]))
    np.testing.assert_array_equal(kernels.removal_losses(empty, B, gamma, np.ones(shape[1])).cpu(), np.zeros(2))


@pytest.mark.parametrize("K", [1, 130, 600])
def test_sweeps_with_any_number_of_topics(kernels, device, K):
    """More topics than a tile has columns; words without a topic, and parameters whose exp(digamma) is no number."""
    rng = np.random.default_rng(K)
    X = zipf(rng)
    B = rng.dirichlet(np.full(70, 0.1), size=K).T
    B[[3, 69]] = 0.0
    alpha, gamma = rng.gamma(0.5, size=K) + 0.01, rng.gamma(1.0, size=(12, K)) + 0.01
    gamma[4, : K // 2] = 1e-4
    background = np.full(70, 1 / 70)
    given = [torch.from_numpy(np.array(part)).to(device) for part in (B, alpha, gamma)]
    expected = reference.expect(csr_parts(X), B, alpha, gamma, 2)
    losses = kernels.removal_losses(csr_parts(X), given[0], given[2], torch.from_numpy(background).to(device))
    found = kernels.expect(csr_parts(X), *given, 2)
    for name in expected._fields:
        np.testing.assert_allclose(
            getattr(found, name).cpu(), getattr(expected, name), rtol=1e-9, atol=1e-12, err_msg=name
        )
    np.testing.assert_allclose(
        losses.cpu(), reference.removal_losses(csr_parts(X), B, gamma, background), rtol=1e-9, atol=1e-9
    )

"""Counts on a GPU that are cut into blocks, and blocks that wait in the memory of the host."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords.linalg.sparse import csr_parts

torch = pytest.importorskip("torch")
pytest.importorskip("triton")


def counts(scale=1.0):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, (40, 21)) * (rng.random((40, 21)) < 0.3) * scale
    X[[0, 7, 39]] = 0.0
    return sp.csr_array(X)


def results(X, device, weights, V):
    from anchorwords.kernels.gpu.gram import GpuCounts

    found = GpuCounts(csr_parts(X), X.shape[1], device)
    on_device = [torch.from_numpy(part).to(device) for part in (weights, V)]
    parts = [found.lengths(), *found.pair_sums(on_device[0]), found.gram(*on_device), found.gram(None, on_device[1])]
    return found, [part.cpu().numpy() for part in parts]


@pytest.mark.parametrize("scale", [1.0, 100.0, 0.5, 0.1, 1e9])
def test_blocks_on_the_host_give_the_same_bits(device, monkeypatch, scale):
    """Small whole numbers, larger ones, fractions that single precision has and others, and large numbers."""
    from anchorwords.kernels.gpu import gram

    rng = np.random.default_rng(1)
    X, weights, V = counts(scale), rng.random(40), rng.standard_normal((21, 40))
    dense = X.toarray()
    expected = [
        dense.sum(axis=1), weights @ dense, weights @ dense**2, (dense > 0).sum(axis=0),
        dense.T @ (weights[:, None] * (dense @ V)), dense.T @ (dense @ V),
    ]  # fmt: skip
    whole, once = results(X, device, weights, V)
    assert (whole.largest, whole.fractional) == (dense.max(), bool((dense % 1.0).any()))
    for one, truth in zip(once, expected, strict=True):
        np.testing.assert_allclose(one, truth, rtol=1e-12, atol=1e-12 * np.abs(truth).max())
    monkeypatch.setattr(gram, "_COUNTS", 50)
    resident, cut = results(X, device, weights, V)
    assert len(resident._blocks) > 3
    assert all(isinstance(block, gram.Block) for block in resident._blocks)
    monkeypatch.setattr(gram, "_SHARE", 0.0 if device.type == "cuda" else -1.0)
    waiting, streamed = results(X, device, weights, V)
    assert not any(isinstance(block, gram.Block) for block in waiting._blocks)
    for one, other, truth in zip(cut, streamed, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, truth, rtol=1e-12, atol=1e-12 * np.abs(truth).max())


def test_a_block_without_memory_waits_on_the_host(device, monkeypatch):
    from anchorwords.kernels.gpu import gram

    right = gram.Block.__init__
    made = []

    def once(self, parts, n_words):
        made.append(1)
        if len(made) == 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        right(self, parts, n_words)

    monkeypatch.setattr(gram, "_COUNTS", 50)
    rng = np.random.default_rng(1)
    X, weights, V = counts(), rng.random(40), rng.standard_normal((21, 3))
    expected = results(X, device, weights, V)[1]
    monkeypatch.setattr(gram.Block, "__init__", once)
    found = gram.GpuCounts(csr_parts(X), 21, device)
    kinds = [isinstance(block, gram.Block) for block in found._blocks]
    assert kinds == [True, *[False] * (len(kinds) - 1)]
    product = found.gram(*(torch.from_numpy(part).to(device) for part in (weights, V)))
    np.testing.assert_array_equal(product.cpu(), expected[4])

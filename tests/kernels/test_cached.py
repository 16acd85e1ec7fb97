"""A kernel gives the same bits in the process that compiled it and in those that load it from numba's cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords.kernels import numba_kernels
from anchorwords.linalg.sparse import csr_parts


def _compositions() -> np.ndarray:
    rng = np.random.default_rng(0)
    M, N, K = 300, 200, 9
    X = sp.csr_array(rng.integers(1, 6, (M, N)) * (rng.random((M, N)) < 0.2), dtype=float)
    topics = rng.dirichlet(np.full(N, 0.1), size=K).T
    topics = np.ascontiguousarray(topics / topics.sum(axis=1, keepdims=True), np.float32)
    prior = (np.full(K, 0.1), np.ones(K), np.full(K, 0.1))
    return np.concatenate([*numba_kernels.compose(csr_parts(X), topics, np.ones(N), prior, 1)], axis=None)


def _least_squares() -> np.ndarray:
    rng = np.random.default_rng(1)
    P = rng.standard_normal((12, 30))
    return numba_kernels.simplex_least_squares(P @ P.T / 30.0, rng.standard_normal((200, 30)) @ P.T / 30.0, 1)


def _projections() -> np.ndarray:
    rng = np.random.default_rng(2)
    indptr, partners = np.arange(0, 40 * 30 + 1, 30, dtype=np.int64), np.tile(np.arange(30, dtype=np.int32), 40)
    normals, start = rng.random((30, 6)) - 0.2, rng.standard_normal((40, 6))
    return numba_kernels.project_to_cone(indptr, partners, normals, start, spare=1e-9, n_jobs=1)


def _sweeps() -> np.ndarray:
    rng = np.random.default_rng(3)
    X = sp.csr_array(rng.integers(0, 4, (100, 80)) * (rng.random((100, 80)) < 0.2), dtype=float)
    B = rng.dirichlet(np.full(80, 0.1), size=7).T.copy()
    found = numba_kernels.expect(csr_parts(X), B, np.full(7, 0.3), np.full((100, 7), 2.0), 3, 1)
    lost = numba_kernels.removal_losses(csr_parts(X), B, found.gamma, np.full(80, 1.0 / 80.0), 1)
    return np.concatenate([found.gamma, found.v, found.ratio, found.likelihood, lost], axis=None)


KERNELS = {"compose": _compositions, "simplex": _least_squares, "cone": _projections, "sweep": _sweeps}


def digests(names: list[str]) -> list[str]:
    """One line per kernel: its name and a digest of the bits that it returns for fixed arguments."""
    return [f"{name} {hashlib.sha256(np.ascontiguousarray(KERNELS[name]())).hexdigest()}" for name in names]


def _in_a_process(folder, names: list[str]) -> set[str]:
    program = f"from {__name__} import digests; print(*digests({names!r}), sep='\\n')"
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": path}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return set(found.stdout.split("\n"))


@pytest.mark.slow
def test_compiled_and_loaded_kernels_give_the_same_bits(tmp_path):
    names = list(KERNELS)
    compiled = _in_a_process(tmp_path, names)
    assert any(tmp_path.rglob("*.nbc"))
    assert _in_a_process(tmp_path, names) == compiled
    assert _in_a_process(tmp_path, names[::-1]) == compiled  # whichever is loaded first

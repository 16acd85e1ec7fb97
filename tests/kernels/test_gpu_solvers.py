"""The solvers for GPUs beyond the contract test: faces and blocks that outgrow limits, degenerate input, real fits.

Every test runs in Triton's interpreter, on few rows, and on a GPU where there is one.
"""

from __future__ import annotations

import os

import numpy as np
import pytest

import anchorwords
from anchorwords.datasets import make_topics
from anchorwords.kernels import numba_kernels as NUMBA
from anchorwords.kernels import reference as REFERENCE
from anchorwords.linalg.simplex import _normalise
from anchorwords.refine.options import Refinement

torch = pytest.importorskip("torch")
pytest.importorskip("triton")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request):
    interpreting = os.environ.get("TRITON_INTERPRET") == "1"
    if request.param == "cpu" and not interpreting:
        pytest.skip("needs TRITON_INTERPRET=1 in the environment")
    if request.param == "cuda" and (interpreting or not torch.cuda.is_available()):
        pytest.skip("needs an NVIDIA GPU")
    return torch.device(request.param)


class OnDevice:
    """The kernels with NumPy arrays in and out."""

    def __init__(self, device):
        from anchorwords.kernels.gpu.operations import GpuKernels

        self._device = device
        self._kernels = GpuKernels(torch.device(device))

    def __getattr__(self, name):
        def call(*arguments, **options):
            found = getattr(self._kernels, name)(*map(self._there, arguments), **options)
            assert found.device.type == self._device.type
            return found.cpu().numpy()

        return call

    def _there(self, value):
        is_dense = isinstance(value, np.ndarray) and value.dtype == np.float64
        return torch.from_numpy(value.copy()).to(self._device) if is_dense else value


@pytest.fixture
def gpu(device):
    return OnDevice(device)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def gap(G, rhs, w):
    """How far the lowest gradient is below the level on the face, at worst."""
    gradient = w @ G - rhs
    return (gradient.min(axis=1) - (w * gradient).sum(axis=1)).min()


# ---- the problems of a fit


@pytest.fixture(scope="module")
def calls():
    """What a fit asks of the kernels: operation, arguments and options of every call."""
    asked = []

    class Recorder:
        def __getattr__(self, name):
            def call(*arguments, **options):
                copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in arguments]
                asked.append((name, copies, options))
                return getattr(NUMBA, name)(*arguments, **options)

            return call

    data = make_topics(n_docs=300, n_words=200, n_topics=7, doc_length=40, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anchorwords.kernels.numba_kernels.kernels_like", lambda _: Recorder())
        anchorwords.AnchorTopicModel(7, random_state=0, refinement=Refinement()).fit(data.corpus)
        anchorwords.AnchorTopicModel.from_preset("readers", 7, random_state=0).fit(data.corpus)
    return asked


def first_of(calls, operation):
    return next((arguments, options) for name, arguments, options in calls if name == operation)


def test_recovery_of_a_fit(gpu, calls):
    (G, rhs, *_), _ = first_of(calls, "simplex_least_squares")
    some = rhs[:: max(1, rhs.shape[0] // 30)]
    found = gpu.simplex_least_squares(G, some)
    assert found.shape[1] == 7
    np.testing.assert_allclose(found, NUMBA.simplex_least_squares(G, some), atol=1e-9)


def test_descent_of_a_fit(gpu, calls):
    (P, G, W, rounds, *_), _ = first_of(calls, "descend")
    found = gpu.descend(P[:70], G, W[:70], rounds)
    np.testing.assert_allclose(found, NUMBA.descend(P[:70], G, W[:70].copy(), rounds), rtol=1e-9, atol=1e-12)


# ---- least squares on the simplex


def test_faces_that_outgrow_the_first_slots(gpu, rng, monkeypatch):
    """Targets inside of the simplex: all vertices carry weight, and each size of a face is tried."""
    from anchorwords.kernels.gpu import simplex

    monkeypatch.setattr(simplex, "_SLOTS", ((4, 1), (8, 1), (16, 1)))
    K = 11
    points = np.eye(K) + 0.1 * rng.standard_normal((K, K))
    weights = rng.dirichlet(np.ones(K), 3)
    weights[1, 5:] = 0.0
    weights[2, 2:] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    G, rhs = _normalise(points @ points.T, weights @ points @ points.T)
    found = gpu.simplex_least_squares(G, rhs)
    np.testing.assert_allclose(found, weights, atol=1e-12)
    monkeypatch.setattr(simplex, "_SLOTS", ((4, 1),))  # the rest is left to the host
    np.testing.assert_allclose(gpu.simplex_least_squares(G, rhs), weights, atol=1e-12)


@pytest.mark.parametrize("K", [20, pytest.param(150, marks=pytest.mark.cuda)])
def test_large_faces(gpu, rng, K):
    if K > 20 and os.environ.get("TRITON_INTERPRET") == "1":
        pytest.skip("takes minutes in the interpreter")
    points = np.eye(K) + 0.1 * rng.standard_normal((K, K))
    weights = rng.dirichlet(np.ones(K), 2 if K == 20 else 100)
    G, rhs = _normalise(points @ points.T, weights @ points @ points.T)
    found = gpu.simplex_least_squares(G, rhs)
    np.testing.assert_allclose(found, weights, atol=1e-10)
    assert gap(G, rhs, found) >= -1e-11


def test_degenerate_points(gpu, rng):
    """Repeated vertices, one inside of an edge, some that are almost the same, and targets that are vertices."""
    points = rng.standard_normal((11, 6))
    points[5] = points[2]
    points[7] = 0.5 * points[0] + 0.5 * points[1]
    points[8] = points[2] + 1e-4 * rng.standard_normal(6)
    points[9] = points[3] + 1e-6 * rng.standard_normal(6)
    targets = np.concatenate([rng.standard_normal((6, 6)), rng.dirichlet(np.ones(11), 3) @ points, points[[2, 7, 8]]])
    G, rhs = _normalise(points @ points.T, targets @ points.T)
    found, expected = gpu.simplex_least_squares(G, rhs), NUMBA.simplex_least_squares(G, rhs)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert found.min() >= 0.0
    assert gap(G, rhs, found) >= min(-1e-11, 2.0 * gap(G, rhs, expected))
    np.testing.assert_allclose(found @ points, expected @ points, atol=1e-7)  # weights are not unique


def test_all_points_the_same(gpu):
    G, rhs = _normalise(np.zeros((3, 3)), np.zeros((2, 3)))
    np.testing.assert_array_equal(gpu.simplex_least_squares(G, rhs), [[1.0, 0.0, 0.0]] * 2)


def test_ties_go_to_the_first(gpu):
    G, rhs = _normalise(np.eye(5), np.zeros((1, 5)))
    np.testing.assert_allclose(gpu.simplex_least_squares(G, rhs), [[0.2] * 5], atol=1e-14)


# ---- projection to cones


def cones(rng, n=6, K=10, n_normals=70):
    """Rows with constraints of which many are violated at first and few are active in the end."""
    normals = rng.random((n_normals, K)) + 0.5
    start = rng.standard_normal((n, K)) + 0.3
    partners = [rng.permutation(n_normals)[: rng.integers(20, n_normals)] for _ in range(n)]
    return np.cumsum([0, *map(len, partners)]), np.concatenate(partners).astype(np.int32), normals, start


def test_projection_with_many_constraints(gpu, rng):
    indptr, partners, normals, start = cones(rng)
    found = gpu.project_to_cone(indptr, partners, normals, start, spare=1e-9)
    nearest = REFERENCE.project_to_cone(indptr, partners, normals, start, spare=1e-9)
    lengths = np.linalg.norm(start, axis=1)
    assert (np.abs(found - nearest).max(axis=1) <= 3e-3 * lengths).all()
    for t, u in enumerate(found):
        assert (normals[partners[indptr[t] : indptr[t + 1]]] @ u).min() > 0.0


def test_projection_in_blocks(gpu, rng, monkeypatch):
    """The same bits, and rows without constraints among others."""
    from anchorwords.kernels.gpu import cone

    indptr, partners, normals, start = cones(rng)
    indptr = np.concatenate([[0, 0], indptr[1:4], indptr[3:]])
    start = np.concatenate([start[:1], start[:3], start[:1], start[3:]])
    whole = gpu.project_to_cone(indptr, partners, normals, start, spare=1e-9)
    np.testing.assert_array_equal(whole[[0, 4]], start[[0, 4]])
    monkeypatch.setattr(cone, "temporary_bytes", lambda: 3000)
    np.testing.assert_array_equal(gpu.project_to_cone(indptr, partners, normals, start, spare=1e-9), whole)


def test_projection_with_degenerate_constraints(gpu, rng):
    """A normal of zeros, a constraint given twice, a row of zeros, and constraints that leave the apex alone."""
    normals = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    start = np.array([[-1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [1.0, 1.0, -1.0]])
    indptr, partners = np.array([0, 4, 6, 10]), np.array([0, 1, 1, 2, 1, 2, 1, 2, 3, 4], dtype=np.int32)
    found = gpu.project_to_cone(indptr, partners, normals, start, spare=1e-9)
    np.testing.assert_allclose(found, [[0.0, 2.0, 3.0], [0.0] * 3, [0.0] * 3], atol=1e-8)


# ---- coordinate descent


@pytest.mark.parametrize("K", [3, 37])
def test_descent_agrees_with_numba(gpu, rng, K):
    F, targets = rng.random((50, K)), rng.standard_normal((70, 50)) + 0.3
    F[:, 1] = 0.0
    F[:, 2] = F[:, 0]
    P, G, W = targets @ F, F.T @ F, np.maximum(rng.standard_normal((70, K)), 0.0)
    found = gpu.descend(P, G, W, 3)
    np.testing.assert_allclose(found, NUMBA.descend(P, G, W.copy(), 3), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(found[:, 1], W[:, 1])


def test_descent_in_blocks_and_in_place(device, rng, monkeypatch):
    from anchorwords.kernels.gpu import descent

    P, F = rng.standard_normal((140, 4)), rng.random((9, 4))
    P, G, W = (torch.from_numpy(array).to(device) for array in (P, F.T @ F, np.zeros((140, 4))))
    whole = descent.descend(P, G, W.clone(), 2)
    monkeypatch.setattr(descent, "temporary_bytes", lambda: 1)
    assert descent.descend(P, G, W, 2) is W
    assert torch.equal(W, whole)
    assert torch.equal(descent.descend(P, G, W.clone(), 0), W)


@pytest.mark.parametrize("K", [1, 6])
def test_no_rows(gpu, K):
    nothing = np.zeros((0, K))
    assert gpu.simplex_least_squares(np.eye(K), nothing).shape == (0, K)
    assert gpu.descend(nothing, np.eye(K), nothing, 3).shape == (0, K)
    none = np.zeros(0, dtype=np.int32)
    assert gpu.project_to_cone(np.zeros(1, dtype=np.int64), none, np.eye(K), nothing, spare=1e-9).shape == (0, K)
    start = np.full((2, K), -1.0)
    found = gpu.project_to_cone(np.zeros(3, dtype=np.int64), none, np.eye(K), start, spare=1e-9)
    np.testing.assert_array_equal(found, start)

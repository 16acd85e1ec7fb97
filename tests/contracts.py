"""What every rectifier, every operator and every model must satisfy, whatever the method."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

ROUNDING = 1e-12


def check_operator(operator, C) -> None:
    """An operator agrees with its dense matrix in everything it offers."""
    rng = np.random.default_rng(0)
    N = C.shape[0]
    scale = max(np.abs(C).max(), 1e-300)
    assert operator.shape == (N, N)
    V = rng.standard_normal((N, 3))
    np.testing.assert_allclose(operator @ V, C @ V, atol=ROUNDING * scale * N)
    np.testing.assert_allclose(operator @ V[:, 0], C @ V[:, 0], atol=ROUNDING * scale * N)
    np.testing.assert_allclose(operator.row_sums(), C.sum(axis=1), atol=ROUNDING)
    np.testing.assert_allclose(operator.diagonal(), C.diagonal(), atol=ROUNDING * scale)
    np.testing.assert_allclose(operator.to_matrix(), C, atol=ROUNDING * scale)
    np.testing.assert_allclose(operator.row_norms(), np.linalg.norm(C, axis=1), atol=ROUNDING)
    assert operator.frobenius_norm() == pytest.approx(np.linalg.norm(C), rel=ROUNDING)
    words = rng.permutation(N)[: min(N, 4)]
    np.testing.assert_allclose(operator.row_norms(words), operator.row_norms()[words], rtol=ROUNDING)
    first, second = operator.submatrices([words, words[:1]])
    np.testing.assert_allclose(first, C[np.ix_(words, words)], atol=ROUNDING * scale)
    assert second.shape == (1, 1)
    np.testing.assert_allclose(operator.submatrix(words), C[np.ix_(words, words)], atol=ROUNDING * scale)
    np.testing.assert_allclose(operator.rows(words).toarray(), C[words], atol=ROUNDING * scale)


def check_rectified(rectified, C, K: int) -> None:
    """A frozen record whose matrix is symmetric, close to rank K, PSD, non-negative and sums to one."""
    assert dataclasses.is_dataclass(rectified)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rectified.method = "other"
    array = rectified.C if rectified.Y is None else rectified.Y
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1.0
    # Records with arrays are told apart by identity: a copy is another one, and both can be kept in sets.
    assert rectified != dataclasses.replace(rectified)
    assert len({rectified, dataclasses.replace(rectified)}) == 2
    assert rectified.n_iter == len(rectified.history) >= 1
    assert all(np.isfinite(step.change) and step.violation >= 0 for step in rectified.history)
    matrix = rectified.C if rectified.Y is None else rectified.Y @ rectified.Y.T
    assert matrix.shape == C.shape
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-15)
    eigenvalues = np.linalg.eigvalsh(matrix)[::-1]
    # What is outside rank K or negative is of the size of what the stop rule left.
    left_over = np.linalg.norm(eigenvalues[K:]) + np.linalg.norm(np.minimum(eigenvalues, 0.0))
    assert left_over <= 3.0 * rectified.history[-1].violation * np.linalg.norm(matrix) + 1e-12


def check_valid_model(model) -> None:
    """The golden rules: valid probabilities, whatever the statistics were."""
    B, A, Bt, S = model.B, model.A, model.word_topics, model.anchors
    K = A.shape[0]
    assert (B >= 0).all()
    assert (A >= 0).all()
    assert (Bt >= 0).all()
    np.testing.assert_allclose(B.sum(axis=0), 1.0, atol=1e-12)
    np.testing.assert_allclose(Bt.sum(axis=1), 1.0, atol=1e-12)
    groups = model.anchor_groups
    single = [k for k in range(K) if groups is None or len(groups[k]) == 1]
    np.testing.assert_array_equal(Bt[S[single]], np.eye(K)[single])
    np.testing.assert_array_equal(A, A.T)
    assert A.sum() == pytest.approx(1.0, abs=1e-12)
    assert model.word_probs.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(model.A_raw_sum)
    assert model.A_raw_sum >= 0
    assert len(set(S.tolist())) == K

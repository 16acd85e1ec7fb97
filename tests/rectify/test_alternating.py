from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import TooLargeError
from anchorwords.rectify.alternating import project_nonnegative, project_normalised, project_psd


def random_symmetric(N=40, seed=0):
    M = np.random.default_rng(seed).standard_normal((N, N))
    return (M + M.T) / 2


PROJECTIONS = {
    "psd": lambda C: project_psd(C, 6)[0],
    "normalised": project_normalised,
    "nonnegative": project_nonnegative,
}


@pytest.mark.parametrize("name", PROJECTIONS)
def test_projections_are_projections(name):
    """Idempotent, and no point of the set is nearer (the sets' own random points tried)."""
    project = PROJECTIONS[name]
    C = random_symmetric()
    P = project(C)
    np.testing.assert_allclose(project(P), P, atol=1e-12)
    nearest = np.linalg.norm(C - P)
    for seed in range(20):
        for other in (
            project(random_symmetric(seed=seed + 1)),
            project(P + 0.1 * random_symmetric(seed=seed + 50)),
        ):
            assert np.linalg.norm(C - other) >= nearest - 1e-12


def test_psd_projection_is_the_truncated_eigendecomposition():
    C = random_symmetric(300, 1)
    values, vectors = np.linalg.eigh(C)
    expected = (vectors[:, -6:] * values[-6:]) @ vectors[:, -6:].T
    np.testing.assert_allclose(project_psd(C, 6)[0], expected, atol=1e-9)


def test_three_projections_make_one_round():
    C = aw.cooccurrence(np.random.default_rng(0).integers(0, 4, (60, 30)))
    once = project_nonnegative(project_normalised(project_psd(C, 4)[0]))
    np.testing.assert_allclose(aw.rectify_ap(C, 4, max_iter=1, tol=0).C, once / once.sum(), atol=1e-14)


def test_a_feasible_matrix_stays(nonnegative_factor):
    C = nonnegative_factor @ nonnegative_factor.T
    result = aw.rectify_ap(C, 6, max_iter=20)
    assert result.n_iter == 1
    np.testing.assert_allclose(result.C, C, atol=1e-12)


def test_result_is_nonnegative_and_sums_to_one(sampled):
    result = aw.rectify_ap(aw.cooccurrence(sampled.corpus.counts), 5, max_iter=150, tol=0)
    assert result.C.min() >= 0
    assert result.C.sum() == pytest.approx(1.0, abs=1e-14)
    violations = [step.violation for step in result.history]
    assert violations[20] < violations[5] < violations[0]
    assert violations[-1] < 1e-6


def test_too_many_words_names_enn_and_the_memory():
    class Huge:
        shape = (2_000_000, 2_000_000)

    with pytest.raises(TooLargeError, match=r"2,000,000 .*GiB.*ENN"):
        aw.rectify_ap(Huge(), 5)

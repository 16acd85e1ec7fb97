from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.exceptions import ConvergenceWarning, InputError
from anchorwords.kernels import kernels_for, pairs, tiled
from anchorwords.kernels.pairs import SparseCorrection
from anchorwords.kernels.protocol import TooDense
from anchorwords.kernels.tiled import TiledCorrection
from anchorwords.linalg.factored import factored_distance
from anchorwords.rectify.correction import CorrectedOperator, checked_first, correction_of
from anchorwords.rectify.finish import finish
from anchorwords.rectify.tangent import Point
from tests.least_squares import nnls


def dense_correction(Y, n_rows):
    """E from its definition: max(-YY', 0) on the rows of largest norm and, mirrored, their columns."""
    norms = np.linalg.norm(Y, axis=1)
    checked = np.zeros(len(Y), bool)
    checked[np.argsort(-norms, kind="stable")[:n_rows]] = True
    E = np.maximum(-Y @ Y.T, 0)
    E[~checked[:, None] & ~checked[None, :]] = 0
    return E, checked


def by_dense_eigendecomposition(Y, n_rows, steps, omega=1.0):
    """Algorithm 3, word for word, with dense matrices."""
    N, K = Y.shape
    for _ in range(steps):
        E, _ = dense_correction(Y, n_rows)
        r = (1 - np.linalg.norm(Y.sum(axis=0)) ** 2 - omega * E.sum()) / N**2
        values, vectors = np.linalg.eigh(Y @ Y.T + omega * E + r)
        Y = vectors[:, -K:] * np.sqrt(np.maximum(values[-K:], 0))
    return Y


@pytest.fixture(scope="module")
def start():
    from anchorwords.datasets import make_topics

    data = make_topics(n_docs=150, n_words=260, n_topics=6, doc_length=40, random_state=1)
    C = aw.cooccurrence(data.corpus.counts)
    values, vectors = np.linalg.eigh(C)
    return vectors[:, -6:], values[-6:]


def sorted_by_norm(N, K, n_rows, seed):
    Y = np.random.default_rng(seed).standard_normal((N, K))
    chosen = checked_first(Y, n_rows)
    return Y[chosen.order], chosen.n_checked


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 60),
    st.integers(1, 6),
    st.integers(1, 70),
    st.integers(0, 2**32 - 1),
    st.sampled_from([16, 1 << 18]),
)
def test_both_forms_are_the_definition(N, K, n_rows, seed, tile):
    Y, n = sorted_by_norm(N, K, n_rows, seed)
    E, checked = dense_correction(Y, n)
    assert checked[:n].all()
    rng = np.random.default_rng(seed + 1)
    V, P = rng.standard_normal((N, 3)), rng.standard_normal((N, 3))
    with pytest.MonkeyPatch.context() as patch:
        for module in (tiled, pairs):
            patch.setattr(module, "_TILE_ENTRIES", tile)
        forms = [form(Y, n, jobs) for form in (TiledCorrection, SparseCorrection) for jobs in (1, 3)]
        for found in forms:
            np.testing.assert_allclose(found.times(V), E @ V, atol=1e-11)
            np.testing.assert_allclose(found.curvature(V, P), np.where(E > 0, P @ V.T + V @ P.T, 0) @ V, atol=1e-11)
            assert found.total == pytest.approx(E.sum(), rel=1e-11)
            assert found.squares == pytest.approx((E**2).sum(), rel=1e-11)
            assert found.min_entry == pytest.approx(-E.max(), rel=1e-11)
        rows, partners = SparseCorrection(Y, n, 1).pairs()
        lower = np.tril(E)[rows, partners]
        assert (lower > 0).all()
        assert rows.size == (np.tril(E) > 0).sum()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_single_precision_never_hides_a_negative_entry(seed):
    """Entries a hair below zero, far below what single precision resolves, are all found."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((40, 5))
    Y[20:] -= (Y[20:] @ Y[0])[:, None] * Y[0] / (Y[0] @ Y[0])  # orthogonal to the first row
    Y[20:] -= 1e-12 * rng.random((20, 1)) * Y[0]
    chosen = checked_first(Y, 40)
    E, _ = dense_correction(Y[chosen.order], 40)
    rows, _ = SparseCorrection(Y[chosen.order], 40, 1).pairs()
    assert rows.size == (np.tril(E) > 0).sum()


def test_a_dense_correction_is_left_to_tiles(monkeypatch):
    Y, n = sorted_by_norm(50, 3, 50, 0)
    monkeypatch.setattr(tiled, "_DENSE_ENTRIES", 10)
    monkeypatch.setattr(tiled, "_DENSE", 1)
    with pytest.raises(TooDense):
        SparseCorrection(Y, n)
    assert isinstance(correction_of(Y, n), TiledCorrection)


def test_operator_is_the_definition_and_sums_to_one(start):
    Y = start[0] * np.sqrt(np.maximum(start[1], 0))
    for omega in (1.0, 1.6):
        operator = CorrectedOperator(Y, 100, omega)
        dense = operator @ np.eye(len(Y))
        E, _ = dense_correction(Y, 100)
        np.testing.assert_allclose(dense - dense[0, 0], (M := Y @ Y.T + omega * E) - M[0, 0], atol=1e-14)
        assert dense.sum() == pytest.approx(1.0, abs=1e-12)
        r = (1 - M.sum()) / len(Y) ** 2
        if omega == 1.0:
            assert operator.violation() == pytest.approx(np.linalg.norm(E + r) / np.linalg.norm(Y @ Y.T), rel=1e-10)


@pytest.mark.parametrize("n_rows", [260, 90])
def test_step_for_step_mode_is_algorithm_3(start, n_rows):
    Y0 = start[0] * np.sqrt(np.maximum(start[1], 0))
    expected = by_dense_eigendecomposition(Y0, n_rows, 12)
    result = aw.rectify_enn(start, 6, relaxation=1.0, tol=0, max_iter=12, n_rows=n_rows)
    # Each eigenproblem is solved to 1e-10; a dozen of them, each no more than doubling what came before.
    assert factored_distance(result.Y, expected) < 1e-7
    relaxed = aw.rectify_enn(start, 6, relaxation=1.5, tol=0, max_iter=12, n_rows=n_rows)
    assert factored_distance(relaxed.Y, by_dense_eigendecomposition(Y0, n_rows, 12, 1.5)) < 1e-7


@pytest.mark.parametrize("n_rows", [260, 120, 30])
def test_the_guarantee(start, n_rows):
    """Every entry of Y Y' + E is at least -eps, eps from the rows outside I, also far from convergence."""
    for max_iter in (1, 5, 60):
        result = aw.rectify_enn(start, 6, n_rows=n_rows, max_iter=max_iter, tol=0)
        E, checked = dense_correction(result.Y, n_rows)
        corrected = result.Y @ result.Y.T + E
        outside = (result.Y[~checked] ** 2).sum(axis=1)
        assert result.eps == pytest.approx(outside.max() if outside.size else 0.0)
        assert corrected.min() >= -result.eps - 1e-15
        assert result.min_entry == pytest.approx(-E.max(), abs=1e-18)


def test_fast_and_plain_mode_have_the_same_limit(start):
    """Newton steps follow the plain iteration: they end within a fifth of the way that the plain one goes."""
    Y0 = start[0] * np.sqrt(np.maximum(start[1], 0))
    limit = aw.rectify_enn(start, 6, relaxation=1.0, tol=1e-7, max_iter=20_000)
    fast = aw.rectify_enn(start, 6)
    assert fast.n_iter < limit.n_iter / 3
    assert factored_distance(fast.Y, limit.Y) < 0.2 * factored_distance(Y0, limit.Y)


def tangent_matrix(V, L):
    """X = L V' + V L' - V (V'L) V' from its definition."""
    return L @ V.T + V @ L.T - V @ (V.T @ L) @ V.T


def test_the_frame_of_a_point_is_the_tangent_space(start):
    """P_T g has the product L = g V; lengths and inner products in coordinates are those of the matrices."""
    Y = start[0] * np.sqrt(np.maximum(start[1], 0))
    point = Point(Y, 90)
    order = point._chosen.order
    E, _ = dense_correction(Y[order], 90)
    N = len(Y)
    g = E + (1 - (Y @ Y.T + E[np.ix_(np.argsort(order), np.argsort(order))]).sum()) / N**2
    V = np.linalg.svd(Y[order], full_matrices=False)[0]
    P = V @ V.T
    projected = P @ g + g @ P - P @ g @ P
    # The frame is in single precision.
    V, L = point._V.astype(float), point._L.astype(float)
    np.testing.assert_allclose(tangent_matrix(V, L), projected, atol=1e-5 * np.abs(projected).max())
    assert point._length(point._L, point._S) == pytest.approx(np.linalg.norm(projected), rel=1e-5)
    assert point.violation == pytest.approx(np.linalg.norm(g) / np.linalg.norm(Y @ Y.T), rel=1e-9)


def test_a_newton_step_solves_its_equation(start):
    """With enough conjugate gradients the move X satisfies P_T (D + J) X = P_T g."""
    Y = aw.rectify_enn(start, 6, relaxation=1.0, tol=0, max_iter=30).Y
    point = Point(Y, len(Y))
    moved, change = point.newton_step(500)
    order = point._chosen.order
    Y, moved = Y[order], moved[order]
    X = (moved - Y) @ Y.T + Y @ (moved - Y).T
    E, _ = dense_correction(Y, len(Y))
    N = len(Y)
    g = E + (1 - (Y @ Y.T + E).sum()) / N**2
    P = Y @ np.linalg.pinv(Y)
    residual = np.where(E > 0, X, 0) + X.sum() / N**2 - g
    left = P @ residual + residual @ P - P @ residual @ P
    first = P @ g + g @ P - P @ g @ P
    assert np.linalg.norm(left) < 0.02 * np.linalg.norm(first)  # a per cent is where the solve stops
    assert change == pytest.approx(np.linalg.norm(X) / np.linalg.norm(Y @ Y.T), rel=1e-3)


@pytest.mark.parametrize("n_rows", [260, 90])
def test_the_end_is_non_negative_sums_to_one_and_is_near(start, n_rows):
    Y = aw.rectify_enn(start, 6, n_rows=n_rows, relaxation=1.0, tol=1e-5, max_iter=5000).Y
    done = finish(Y, n_rows, 1e-12)
    E, checked = dense_correction(Y, n_rows)
    product = done @ done.T
    assert product[checked].min() >= -1e-12 * np.linalg.norm(product)
    assert product.sum() == pytest.approx(1.0, abs=1e-12)
    # It moves by no more than some tens of times what was missing.
    assert factored_distance(Y, done) < 50 * np.linalg.norm(E) / np.linalg.norm(product)


def test_fewer_checked_rows_than_topics(start):
    """The block of checked words has no rank K then: Newton steps go on without the finite end."""
    result = aw.rectify_enn(start, 6, n_rows=4, max_iter=300)
    E, _ = dense_correction(result.Y, 4)
    assert result.converged
    assert np.linalg.norm(E) <= 2e-8 * np.linalg.norm(result.Y @ result.Y.T)


def test_rows_are_projected_to_the_cone():
    """Against the definition: the nearest point with non-negative products, by non-negative least squares."""
    rng = np.random.default_rng(3)
    anchored = rng.random((12, 4)) - 0.25
    start = rng.standard_normal((40, 4))
    indptr, partners = np.arange(0, 12 * 41, 12), np.tile(np.arange(12, dtype=np.int32), 40)
    moved = kernels_for(start).project_to_cone(indptr, partners, anchored, start, spare=1e-9, n_jobs=1)
    for u0, u in zip(start, moved, strict=True):
        # The projection is u0 plus what is left of -u0 after its projection to the cone that the rows span.
        multipliers = nnls(anchored.T, -u0)
        np.testing.assert_allclose(u, u0 + anchored.T @ multipliers, atol=2e-3 * np.linalg.norm(u0))
        assert (anchored @ u).min() >= 0.0


def test_a_feasible_matrix_is_a_fixed_point(nonnegative_factor):
    result = aw.rectify_enn(nonnegative_factor @ nonnegative_factor.T, 6)
    assert result.n_iter == 1
    assert factored_distance(result.Y, nonnegative_factor) < 1e-10


def test_matrix_operator_and_pair_give_the_same(sampled):
    counts = sampled.corpus.counts
    from_matrix = aw.rectify_enn(aw.cooccurrence(counts), 5)
    from_operator = aw.rectify_enn(aw.CooccurrenceOperator(counts), 5)
    values, vectors = np.linalg.eigh(aw.cooccurrence(counts))
    from_pair = aw.rectify_enn((vectors[:, -5:], values[-5:]), 5)
    as_matrix = aw.rectify_enn((vectors[:, -5:], np.diag(values[-5:])), 5)
    surplus = aw.rectify_enn((vectors[:, -9:], values[-9:]), 5)
    for other in (from_operator, from_pair, as_matrix, surplus):
        assert factored_distance(other.Y, from_matrix.Y) < 1e-8


def test_a_single_product_is_a_plain_step_to_second_order(start):
    """The warm-started step differs from the exact one by the square of the angle between the eigenspaces."""
    Y0 = start[0] * np.sqrt(np.maximum(start[1], 0))
    off = []
    for steps in (2, 60):
        Y = by_dense_eigendecomposition(Y0, 260, steps)
        exact = by_dense_eigendecomposition(Y, 260, 1)
        one, two = (Point(Y, 260).plain_step(products)[0] for products in (1, 2))
        moved = factored_distance(Y, exact)
        off.append(factored_distance(one, exact))
        assert off[-1] < 0.3 * moved
        assert factored_distance(two, exact) < off[-1] + 1e-6 * moved  # single precision: 1e-7 of the move
    assert off[1] < off[0]


def test_rank_loss_is_repaired():
    """Fewer positive eigenvalues than topics: the missing dimensions stay zero or come back, never NaN."""
    C = np.diag([0.4, 0.3, 0.3, 0.0, 0.0, 0.0])
    result = aw.rectify_enn(C, 5, max_iter=30, tol=0)
    assert np.isfinite(result.Y).all()
    # AP does the same: an identity-like block of zeros gains only what the normalisation gives.
    assert factored_distance(result.Y[:, :5], np.sqrt(C)[:, :5]) < 1e-6


def test_history_says_how_far(start):
    result = aw.rectify_enn(start, 6)
    assert result.converged
    assert result.history[-1].violation <= 1e-8 < result.history[0].violation
    assert result.history[-1].change < result.history[0].change


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relaxation": 2.0}, "relaxation"),
        ({"relaxation": "fast"}, "relaxation"),
        ({"relaxation": 0}, "relaxation"),
        ({"n_rows": 0}, "n_rows"),
        ({"n_rows": 1.5}, "n_rows"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        aw.rectify_enn(np.eye(4) / 4, 2, **options)


@pytest.mark.parametrize(
    "pair",
    [
        (np.ones((4, 2)),),
        (np.ones((4, 2)), np.ones(3)),
        (np.ones(4), np.ones(2)),
        (np.full((4, 2), np.nan), np.ones(2)),
    ],
)
def test_bad_pairs(pair):
    with pytest.raises(InputError, match="initial decomposition"):
        aw.rectify_enn(pair, 2)


def test_bad_operators_and_hopeless_matrices():
    class Flat:
        shape = (3, 4)

        def __matmul__(self, V):
            return V

    with pytest.raises(InputError, match="operator has shape"):
        aw.rectify_enn(Flat(), 2)
    with pytest.raises(InputError, match="no positive eigenvalue"):
        aw.rectify_enn(-np.eye(5), 2)


def test_a_start_that_does_not_converge_warns(monkeypatch):
    import anchorwords.rectify.start as module

    monkeypatch.setattr(module, "randomized_eigh", lambda *a, **k: aw_eigh(*a, **{**k, "max_passes": 2}))
    from anchorwords.linalg.randomized import randomized_eigh as aw_eigh

    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((400, 400)))[0]
    with pytest.warns(ConvergenceWarning, match="starting eigenpairs"):
        module.starting_eigenpairs((Q * np.linspace(1, 0.9, 400)) @ Q.T, 5)


@pytest.mark.data
def test_fewer_rows_than_words_on_real_statistics(real_corpus):
    operator = aw.CooccurrenceOperator(real_corpus("kos", 2000).counts)
    result = aw.rectify_enn(operator, 10)
    assert result.converged
    product = result.Y @ result.Y.T
    E, _ = dense_correction(result.Y, 1100)
    assert (product + E).min() >= -result.eps - 1e-18
    assert product.sum() == pytest.approx(1.0, abs=1e-5)


@pytest.mark.data
def test_newton_ends_nearer_to_the_limit_than_the_papers_150_steps(real_corpus):
    operator = aw.CooccurrenceOperator(real_corpus("nips12", 1000).counts)
    limit = aw.rectify_enn(operator, 20, relaxation=1.0, tol=2e-6, max_iter=5000)
    paper = aw.rectify_enn(operator, 20, relaxation=1.0, tol=0, max_iter=150)
    fast = aw.rectify_enn(operator, 20)
    assert fast.n_iter < limit.n_iter / 3
    assert factored_distance(fast.Y, limit.Y) < factored_distance(paper.Y, limit.Y)

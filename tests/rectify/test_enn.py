from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.exceptions import ConvergenceWarning, InputError
from anchorwords.linalg.factored import factored_distance
from anchorwords.rectify import correction as correction_module
from anchorwords.rectify.correction import CorrectedOperator, Correction
from anchorwords.rectify.enn import compress


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


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(1, 6),
    st.integers(1, 50),
    st.integers(0, 2**32 - 1),
    st.sampled_from([16, 1 << 18]),
)
def test_sweep_is_the_definition(N, K, n_rows, seed, tile):
    Y = np.random.default_rng(seed).standard_normal((N, K))
    n_rows = min(n_rows, N)
    E, checked = dense_correction(Y, n_rows)
    V = np.random.default_rng(seed + 1).standard_normal((N, 3))
    old, correction_module._TILE_ENTRIES = correction_module._TILE_ENTRIES, tile
    try:
        correction = Correction(Y, n_rows)
        swept = correction.sweep(V)
    finally:
        correction_module._TILE_ENTRIES = old
    assert sorted(correction.rows) == np.flatnonzero(checked).tolist()
    np.testing.assert_allclose(swept.product, E @ V, atol=1e-11)
    assert swept.total == pytest.approx(E.sum(), rel=1e-11)
    assert swept.squares == pytest.approx((E**2).sum(), rel=1e-11)
    assert swept.min_entry == pytest.approx(-E.max(), rel=1e-11)


def test_operator_is_the_definition_and_sums_to_one(start):
    Y = start[0] * np.sqrt(np.maximum(start[1], 0))
    for omega in (1.0, 1.6):
        operator = CorrectedOperator(Y, 100, omega)
        dense = operator @ np.eye(len(Y))
        E, _ = dense_correction(Y, 100)
        np.testing.assert_allclose(dense - dense[0, 0], (M := Y @ Y.T + omega * E) - M[0, 0], atol=1e-14)
        assert dense.sum() == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(RuntimeError, match="after a product"):
        CorrectedOperator(Y, 100).violation()


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
    """Momentum follows the plain iteration: it ends within a fifth of the way that the plain one goes."""
    Y0 = start[0] * np.sqrt(np.maximum(start[1], 0))
    limit = aw.rectify_enn(start, 6, relaxation=1.0, tol=1e-7, max_iter=20_000)
    fast = aw.rectify_enn(start, 6)
    assert fast.n_iter < limit.n_iter / 3
    assert factored_distance(fast.Y, limit.Y) < 0.2 * factored_distance(Y0, limit.Y)


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


def test_a_single_product_contracts_the_angle_and_squares_the_error_of_the_eigenvalues(start):
    Y = start[0] * np.sqrt(np.maximum(start[1], 0))
    exact = by_dense_eigendecomposition(Y, 260, 1)
    operator = CorrectedOperator(Y, 260)
    noise = np.random.default_rng(0).standard_normal(Y.shape) * np.linalg.norm(exact, axis=0) / np.sqrt(len(Y))
    spectrum = np.linalg.eigvalsh(operator @ np.eye(len(Y)))
    contraction = np.abs(spectrum[:-6]).max() / spectrum[-6]
    wanted = spectrum[-6:]
    assert factored_distance(compress(operator, exact), exact) < 1e-12
    off = []
    for angle in (1e-3, 1e-2):
        step = compress(operator, exact + angle * noise)
        before = factored_distance(exact + angle * noise, exact)
        assert factored_distance(step, exact) <= 1.5 * contraction * before
        off.append(np.abs(np.linalg.eigvalsh(step.T @ step) - wanted).max())
    assert off[0] < 0.03 * off[1]


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
def test_momentum_ends_nearer_to_the_limit_than_the_papers_150_steps(real_corpus):
    operator = aw.CooccurrenceOperator(real_corpus("nips12", 1000).counts)
    limit = aw.rectify_enn(operator, 20, relaxation=1.0, tol=2e-6, max_iter=5000)
    paper = aw.rectify_enn(operator, 20, relaxation=1.0, tol=0, max_iter=150)
    fast = aw.rectify_enn(operator, 20)
    assert fast.n_iter < limit.n_iter / 3
    assert factored_distance(fast.Y, limit.Y) < factored_distance(paper.Y, limit.Y)

"""The numerical core on other arrays than NumPy's own: read-only ones, a strict reading of the standard, and torch.

What runs under a strict namespace uses nothing but the standard, so it can run on any array library that follows it.
Every namespace takes the same path, and the operations that are not array algebra are the same code for all of them
(``kernels_for``), so results differ by the rounding of products, decompositions and sums only.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords._namespace import array_namespace, is_array, is_numpy, like, namespace_name, to_numpy
from anchorwords.datasets import make_topics
from anchorwords.linalg.factored import factored_distance, factored_norm
from anchorwords.linalg.pivoted import pivot_rows
from anchorwords.linalg.randomized import randomized_eigh
from anchorwords.linalg.simplex import kkt_residual, simplex_least_squares
from anchorwords.linalg.tall import (
    add_row,
    add_scaled,
    column_sums,
    dot,
    gram,
    scaled_sum,
    squared_lengths,
    take_rows,
    times,
    with_columns,
    with_rows,
)
from anchorwords.rectify.correction import CorrectedOperator, checked_first, correction_of
from anchorwords.rectify.finish import finish
from anchorwords.rectify.start import starting_eigenpairs
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics.streamed import StreamedOperator


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def strict(array):
    xp = pytest.importorskip("array_api_strict")
    return xp.asarray(np.array(array))


def tensor(array):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(np.array(array))


@pytest.fixture(params=[np.array, read_only, strict, tensor], ids=["numpy", "read-only", "strict", "torch"])
def other(request):
    """Function that turns a NumPy array into one of the kind under test."""
    return request.param


@pytest.fixture(scope="module")
def counts():
    return make_topics(n_docs=300, n_words=320, n_topics=5, doc_length=60, random_state=2).corpus.counts


@pytest.fixture(scope="module")
def statistics(counts):
    C = aw.cooccurrence(counts)
    values, vectors = np.linalg.eigh(C)
    return C, np.ascontiguousarray(vectors[:, :-6:-1]), values[:-6:-1].copy()


class Unchanged:
    """Arrays of the kind under test, and a check that nothing wrote into them."""

    def __init__(self, make, *arrays):
        self._before = [np.array(array) for array in arrays]
        self.arrays = [make(array) for array in arrays]

    def check(self):
        for array, before in zip(self.arrays, self._before, strict=True):
            np.testing.assert_array_equal(to_numpy(array, dtype=None), before)


def test_conversions_keep_the_kind(other):
    array = other(np.arange(6.0).reshape(2, 3))
    assert is_array(array)
    for made in (np.ones(2), read_only(np.ones(2)), np.ones(4)[::-2], np.arange(3), np.ones(2, dtype=np.float32)):
        converted = like(made, array)
        assert array_namespace(array) is array_namespace(converted)
        assert to_numpy(converted, dtype=None).dtype == made.dtype
        np.testing.assert_array_equal(to_numpy(converted), made)
    assert like(array, array) is array or namespace_name(array) != "numpy"
    np.testing.assert_array_equal(to_numpy(array), np.arange(6.0).reshape(2, 3))
    assert is_numpy(like(array, np.ones(1)))


def test_what_is_no_array_has_the_namespace_of_numpy():
    assert array_namespace(None, 3.0, [1.0], sp.csr_array((2, 2)), np.float64(2.0)) is np
    assert not any(map(is_array, (None, 3.0, [1.0], sp.csr_array((2, 2)), aw.CooccurrenceOperator(np.ones((2, 2))))))


def test_an_array_of_a_second_device_is_copied_to_the_host():
    xp = pytest.importorskip("array_api_strict")
    far = xp.asarray(np.arange(3.0), device=xp.Device("device1"))
    np.testing.assert_array_equal(to_numpy(far), np.arange(3.0))
    near = like(np.ones(2), far)
    assert near.device == far.device


def test_a_library_that_gives_read_only_arrays_is_copied(monkeypatch):
    """As JAX does, and every library before NumPy 2.3: kernels are compiled for arrays that can be written to."""
    xp = pytest.importorskip("array_api_strict")
    right = np.from_dlpack
    monkeypatch.setattr(np, "from_dlpack", lambda array, **options: read_only(right(array, **options)))
    converted = to_numpy(xp.asarray(np.arange(3.0)))
    assert converted.flags.writeable
    np.testing.assert_array_equal(converted, np.arange(3.0))


def test_products_and_distances(other):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((50, 4)), rng.standard_normal((50, 4))
    given = Unchanged(other, A, B)
    a, b = given.arrays
    np.testing.assert_allclose(to_numpy(gram(a, b)), A.T @ B, rtol=1e-12)
    np.testing.assert_allclose(to_numpy(times(a, b[:4, :])), A @ B[:4], rtol=1e-12)
    assert dot(a, b) == pytest.approx(np.sum(A * B), rel=1e-12)
    assert factored_norm(a) == pytest.approx(np.linalg.norm(A @ A.T), rel=1e-12)
    direct = np.linalg.norm(A @ A.T - B @ B.T) / np.linalg.norm(B @ B.T)
    assert factored_distance(a, b) == pytest.approx(direct, rel=1e-12)
    changed = with_rows(a, np.array([7, 2]), b[:2, :])
    np.testing.assert_array_equal(to_numpy(changed)[[7, 2]], B[:2])
    np.testing.assert_array_equal(np.delete(to_numpy(changed), [7, 2], axis=0), np.delete(A, [7, 2], axis=0))
    np.testing.assert_array_equal(to_numpy(take_rows(a, other(np.array([7, 2])))), A[[7, 2]])
    np.testing.assert_allclose(to_numpy(column_sums(a)), A.sum(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(to_numpy(squared_lengths(a)), np.sum(A * A, axis=1), rtol=1e-12)
    single = array_namespace(a).float32
    added = times(a, b[:4, :], dtype=single, plus=b)
    assert added.dtype == b.dtype
    np.testing.assert_allclose(to_numpy(added), B + A @ B[:4], rtol=1e-5, atol=1e-5)
    given.check()


def test_helpers_that_may_update_in_place_return_the_result(other):
    """The array is given up, but one that cannot be written to is still left alone."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((50, 4)), rng.standard_normal((50, 4))
    np.testing.assert_allclose(to_numpy(add_scaled(other(A), 2.0, other(B))), A + 2 * B, rtol=1e-12)
    np.testing.assert_allclose(add_scaled(np.asfortranarray(A), 2.0, B), A + 2 * B, rtol=1e-12)
    np.testing.assert_allclose(to_numpy(scaled_sum(2.0, other(A), other(B))), 2 * A + B, rtol=1e-12)
    np.testing.assert_allclose(to_numpy(add_row(other(A), other(B)[0, :])), A + B[0], rtol=1e-12)
    expected = np.hstack([A[:, :1], B[:, :2], A[:, 3:]])
    np.testing.assert_array_equal(to_numpy(with_columns(other(A), 1, other(B)[:, :2])), expected)
    kept = read_only(A)
    add_scaled(kept, 2.0, B)
    with_columns(kept, 1, B[:, :2])
    np.testing.assert_array_equal(kept, A)


def test_eigenpairs(statistics, other):
    C, vectors, values = statistics
    given = Unchanged(other, C)
    pairs = randomized_eigh(*given.arrays, 5, tol=1e-9, random_state=0)
    assert pairs.converged
    assert array_namespace(pairs.vectors) is array_namespace(other(C))
    np.testing.assert_allclose(pairs.values, values, rtol=1e-10)
    np.testing.assert_allclose(np.abs(to_numpy(pairs.vectors).T @ vectors), np.eye(5), atol=1e-6)
    again = randomized_eigh(other(C), 5, tol=1e-9, start=pairs.basis)
    assert again.n_passes < pairs.n_passes
    given.check()


@pytest.mark.parametrize("streamed", [False, True])
def test_operators_multiply_any_array(counts, other, streamed):
    """The kernel is the same for all: the product is NumPy's to the rounding of what is taken off the diagonal."""
    X = sp.csr_array(counts)
    operator = StreamedOperator(MatrixBlocks([X[:100], X[100:]])) if streamed else aw.CooccurrenceOperator(X)
    V = np.random.default_rng(0).standard_normal((operator.shape[0], 11))
    given = Unchanged(other, V, V[:, 0], V.astype(np.float32))
    for block, expected in zip(given.arrays, (V, V[:, 0], V.astype(np.float32)), strict=True):
        product = operator @ block
        assert array_namespace(product) is array_namespace(block)
        np.testing.assert_allclose(to_numpy(product), operator @ expected, rtol=1e-13, atol=1e-18)
    given.check()


@pytest.mark.parametrize("n_words", [320, 150])  # by products, and dense
def test_eigenpairs_of_an_operator_in_a_namespace_of_choice(counts, other, n_words):
    """Starting vectors and products are the same for all; factorisations round differently, within the tolerance."""
    operator = aw.CooccurrenceOperator(sp.csr_array(counts)[:, :n_words])
    expected = starting_eigenpairs(operator, 5)
    found = starting_eigenpairs(operator, 5, like=other(np.zeros(0)))
    assert array_namespace(found.vectors) is array_namespace(found.basis) is array_namespace(other(np.zeros(0)))
    assert found.n_passes == expected.n_passes
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-10)
    np.testing.assert_allclose(to_numpy(found.vectors), expected.vectors, atol=1e-7)


def test_pivots(other):
    X = np.random.default_rng(0).standard_normal((500, 12))
    expected = pivot_rows(X, 9, first=np.array([3]))
    given = Unchanged(other, X)
    found = pivot_rows(*given.arrays, 9, first=np.array([3]))
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.residuals, expected.residuals, rtol=1e-10)
    given.check()


def test_correction(statistics, other):
    Y = statistics[1] * np.sqrt(statistics[2])
    chosen = checked_first(other(Y), 100)
    order = to_numpy(chosen.order, dtype=None)
    E = np.maximum(-Y[order] @ Y[order].T, 0)
    E[100:, 100:] = 0
    given = Unchanged(other, Y[order], Y)
    found = correction_of(given.arrays[0], 100)
    product = found.times(given.arrays[1])
    assert array_namespace(product) is array_namespace(other(Y))
    np.testing.assert_allclose(to_numpy(product), E @ Y, atol=1e-12)
    assert found.total == pytest.approx(E.sum(), rel=1e-10)
    operator = CorrectedOperator(other(Y), 100)
    np.testing.assert_allclose(to_numpy(operator @ other(Y)), CorrectedOperator(Y, 100) @ Y, atol=1e-14)
    given.check()


def test_least_squares(other):
    rng = np.random.default_rng(0)
    P, X = rng.standard_normal((6, 9)), rng.standard_normal((40, 9))
    given = Unchanged(other, P @ P.T, X @ P.T)
    weights = simplex_least_squares(*given.arrays)
    assert array_namespace(weights) is array_namespace(given.arrays[0])
    assert kkt_residual(P @ P.T, X @ P.T, to_numpy(weights)).max() < 1e-12
    given.check()


@pytest.mark.parametrize(
    "options", [{}, {"relaxation": 1.0, "tol": 0, "max_iter": 4}, {"relaxation": 1.5, "tol": 1e-4}]
)
@pytest.mark.parametrize("n_rows", [320, 90])
def test_enn(statistics, other, options, n_rows):
    """Every mode of ENN: the same Y Y' as with NumPy's arrays."""
    _, vectors, values = statistics
    expected = aw.rectify_enn((vectors, values), 5, n_rows=n_rows, **options)
    given = Unchanged(other, vectors, values)
    found = aw.rectify_enn(tuple(given.arrays), 5, n_rows=n_rows, **options)
    assert array_namespace(found.Y) is array_namespace(other(vectors))
    # Plain steps are in double precision. Newton steps are in single precision, so their moves differ by 1e-7; the end
    # begins at a violation of 2e-5 and there a few entries more or less in Omega lead to another solution nearby.
    assert factored_distance(to_numpy(found.Y), expected.Y) < (1e-5 if not options else 1e-9)
    assert found.converged == expected.converged
    assert found.n_iter == expected.n_iter
    # eps is a squared norm of one row, which moves with Y by the square root of what Y Y' moves.
    assert found.eps == pytest.approx(expected.eps, rel=1e-3)
    given.check()


def test_the_finite_end(statistics, other):
    """From a Y that Newton steps left nearly non-negative: the block first, then rows projected to the cone."""
    _, vectors, values = statistics
    Y = aw.rectify_enn((vectors, values), 5, n_rows=90, tol=1e-5).Y
    expected = finish(Y, 90, 5e-9)
    given = Unchanged(other, Y)
    found = finish(*given.arrays, 90, 5e-9)
    assert array_namespace(found) is array_namespace(other(Y))
    # Steps on the block are in single precision: 1e-7 of a move that is 1e-5 of Y Y' at most, several times over.
    assert factored_distance(to_numpy(found), expected) < 1e-9
    order = to_numpy(checked_first(found, 90).order, dtype=None)
    checked = to_numpy(found)[order[:90]] @ to_numpy(found).T
    assert checked.min() >= -1e-8 * np.linalg.norm(Y @ Y.T)
    given.check()


def test_enn_from_a_matrix(statistics, other):
    C, vectors, values = statistics
    expected = aw.rectify_enn((vectors, values), 5)
    given = Unchanged(other, C)
    found = aw.rectify_enn(*given.arrays, 5)
    assert array_namespace(found.Y) is array_namespace(other(C))
    # The eigenpairs of the matrix are solved to 1e-6 only.
    assert factored_distance(to_numpy(found.Y), expected.Y) < 1e-4
    given.check()


def test_low_rank_anchor_words(statistics, other):
    Y = np.array(aw.rectify_enn(statistics[1:], 5).Y)
    given = Unchanged(other, Y)
    expected, found = aw.low_rank_anchor_words(Y), aw.low_rank_anchor_words(*given.arrays)
    np.testing.assert_array_equal(found.anchors, expected.anchors)
    for name in ("B", "A", "word_topics", "Y"):
        assert is_numpy(getattr(found, name))
        # The rounding of a QR factorisation, enlarged by the condition of the anchors' rows.
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)
    assert not np.shares_memory(found.Y, to_numpy(given.arrays[0]))
    for anchors in ([7, 3], [[7, 9], 3]):
        guided = aw.low_rank_anchor_words(*given.arrays, anchors=anchors)
        reference = aw.low_rank_anchor_words(Y, anchors=anchors)
        assert guided.anchors[:2].tolist() == [7, 3]
        np.testing.assert_allclose(guided.B, reference.B, atol=1e-9)
    given.check()


@pytest.mark.parametrize("tile", [1, 1 << 22])  # word by word, and all at once
def test_rows_that_are_no_probabilities_are_repaired(other, tile, monkeypatch):
    """Words whose row of Y Y' has a negative sum."""
    monkeypatch.setattr("anchorwords.anchors.lowrank._TILE_ENTRIES", tile)
    rng = np.random.default_rng(4)
    Y = rng.random((60, 4))
    Y[[5, 20]] = -0.3 * Y[[6, 21]] + 0.1 * rng.standard_normal((2, 4))
    expected, found = aw.low_rank_anchor_words(Y), aw.low_rank_anchor_words(other(Y))
    np.testing.assert_array_equal(found.anchors, expected.anchors)
    np.testing.assert_allclose(found.B, expected.B, atol=1e-9)


def test_a_whole_fit(other):
    """From the first product on in one namespace: eigenpairs, rectification, anchors."""
    # Enough documents for anchors that are not rare words: those would move much more than Y Y' does.
    data = make_topics(n_docs=3000, n_words=320, n_topics=5, doc_length=60, random_state=2)
    operator = aw.CooccurrenceOperator(data.corpus.counts)
    models = []
    for prototype in (np.zeros(0), other(np.zeros(0))):
        pairs = starting_eigenpairs(operator, 5, like=prototype)
        Y = aw.rectify_enn((pairs.vectors, like(pairs.values, prototype)), 5).Y
        assert array_namespace(Y) is array_namespace(prototype)
        models.append(aw.low_rank_anchor_words(Y))
    np.testing.assert_array_equal(models[0].anchors, models[1].anchors)
    np.testing.assert_allclose(models[0].B, models[1].B, atol=1e-7)  # 1e-11 in Y Y', enlarged by the least squares


def test_rank_loss(other):
    C = np.diag([0.4, 0.3, 0.3, 0.0, 0.0, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = aw.rectify_enn(other(C), 5, max_iter=10, tol=0)
    assert np.isfinite(to_numpy(result.Y)).all()


@dataclass(frozen=True)
class Watched:
    """ENN, and the names of the namespaces that it was given and gave."""

    seen: list = field(default_factory=list)
    name = "enn"

    def __call__(self, C, n_components, context):
        rectified = aw.ENN()(C, n_components, context)
        self.seen.append([namespace_name(context.like), namespace_name(rectified.Y)])
        return rectified


@pytest.mark.parametrize("refinement", [None, aw.Refinement(n_sweeps=3)])
def test_a_whole_fit_of_the_estimator(other, refinement):
    """``AnchorTopicModel.fit`` on arrays of another namespace computes there, and gives the topics of NumPy's."""
    data = make_topics(n_docs=3000, n_words=320, n_topics=5, doc_length=60, random_state=2)
    counts = data.corpus.counts.toarray()
    expected = aw.AnchorTopicModel(5, refinement=refinement).fit(counts)
    given = Unchanged(other, counts)
    watched = Watched()
    found = aw.AnchorTopicModel(5, refinement=refinement, rectifier=watched).fit(*given.arrays)
    assert watched.seen == [[namespace_name(given.arrays[0])] * 2]
    np.testing.assert_array_equal(found.anchors_, expected.anchors_)
    total_variation = np.abs(found.components_ - expected.components_).sum(axis=1).max() / 2.0
    assert total_variation < 1e-6  # single-precision Newton steps, enlarged by the least squares
    np.testing.assert_allclose(found.topic_correlation_, expected.topic_correlation_, atol=1e-6)
    for name in ("components_", "topic_correlation_", "word_topics_", "topic_prevalence_"):
        assert is_numpy(getattr(found, name))
    np.testing.assert_allclose(found.transform(*given.arrays), expected.transform(counts), atol=1e-5)
    given.check()


@pytest.mark.parametrize("layout", ["csr", "coo"])
def test_sparse_tensors_are_fitted(layout):
    torch = pytest.importorskip("torch")
    counts = make_topics(n_docs=600, n_words=120, n_topics=4, doc_length=40, random_state=2).corpus.counts
    dense = torch.asarray(counts.toarray())
    sparse = dense.to_sparse_csr() if layout == "csr" else dense.to_sparse()
    np.testing.assert_array_equal(
        aw.AnchorTopicModel(4).fit(sparse).components_, aw.AnchorTopicModel(4).fit(dense).components_
    )

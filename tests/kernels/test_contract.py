"""Every implementation of the kernels against the mathematics: dense formulas, optimality conditions, brute force.

An implementation is one entry of ``IMPLEMENTATIONS``. Arrays are read-only where a library has that, so that an
operation which writes into an argument fails.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import psi

import anchorwords
from anchorwords._namespace import array_namespace, to_numpy
from anchorwords.corpus.scanner import character_kinds
from anchorwords.datasets import make_topics
from anchorwords.kernels import kernels_for
from anchorwords.kernels import numba_kernels as NUMBA
from anchorwords.kernels import reference as REFERENCE
from anchorwords.kernels.protocol import PROPORTIONS_GAP, Expectation, Kernels, Proportions, TokenRule, TooDense
from anchorwords.linalg.simplex import _normalise
from anchorwords.linalg.sparse import csr_parts
from anchorwords.refine.options import Refinement
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics.streamed import StreamedOperator
from tests.least_squares import nnls

OPERATIONS = {name for name, value in vars(Kernels).items() if callable(value) and not name.startswith("_")}
covered: set[str] = set()


def covers(*names):
    """Say which operations a test is about."""
    covered.update(names)
    return lambda test: test


class Implementation(NamedTuple):
    kernels: Kernels
    array: type

    def out(self, result):
        """A result as NumPy's, after a look at its namespace."""
        assert array_namespace(result) is array_namespace(self.array(np.zeros(1)))
        return to_numpy(result, dtype=None)


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def strict(array):
    return pytest.importorskip("array_api_strict").asarray(np.array(array))


def tensor(array):
    return pytest.importorskip("torch").from_numpy(np.array(array))


def on_gpu():
    """The kernels for GPUs on a GPU."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU")
    return Implementation(kernels_for(torch.zeros(1, device="cuda")), lambda array: tensor(array).cuda())


def interpreted():
    """The kernels for GPUs on the processor, by Triton's interpreter."""
    pytest.importorskip("triton")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("needs TRITON_INTERPRET=1 in the environment")
    from anchorwords.kernels.gpu.operations import GpuKernels

    return Implementation(GpuKernels(tensor(np.zeros(1)).device), tensor)


IMPLEMENTATIONS = {
    "gpu": on_gpu,
    "gpu, interpreted": interpreted,
    "numba": lambda: Implementation(NUMBA, read_only),
    "reference": lambda: Implementation(REFERENCE, read_only),
    "host, strict": lambda: Implementation(kernels_for(strict(np.zeros(1))), strict),
    "host, torch": lambda: Implementation(kernels_for(tensor(np.zeros(1))), tensor),
}


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.cuda if name == "gpu" else ()) for name in IMPLEMENTATIONS]
)
def use(request):
    return IMPLEMENTATIONS[request.param]()


@pytest.fixture(params=range(3))
def rng(request):
    return np.random.default_rng(request.param)


def counts(rng, M=30, N=17, density=0.4):
    """Counts with empty documents and words that never occur."""
    X = rng.integers(1, 5, (M, N)) * (rng.random((M, N)) < density)
    X[[2, M - 1]] = 0
    X[:, [3, N - 1]] = 0
    return X.astype(float)


def parts(X):
    return tuple(read_only(part) for part in csr_parts(sp.csr_array(X)))


def topics(rng, N, K):
    B = rng.gamma(0.3, size=(N, K)) + 1e-12
    return B / B.sum(axis=0)


def test_every_operation_has_a_test():
    assert covered == OPERATIONS


def test_implementations_provide_every_operation(use):
    for name in OPERATIONS:
        assert callable(getattr(use.kernels, name))


def test_kernels_are_chosen_by_the_arrays():
    assert kernels_for() is kernels_for(np.zeros(1), None, sp.csr_array((1, 1))) is NUMBA
    result = kernels_for(np.zeros(1), strict(np.zeros(1))).simplex_least_squares(np.eye(2), np.ones((1, 2)))
    assert array_namespace(result) is array_namespace(strict(np.zeros(1)))


# ---- products with G'G


@covers("gram_apply")
@pytest.mark.parametrize("n_columns", [1, 8, 11, 24])
def test_gram_apply(use, rng, n_columns):
    G, V = counts(rng), rng.standard_normal((17, n_columns))
    for jobs in (1, 3):
        product = use.out(use.kernels.gram_apply(parts(G), use.array(V), jobs))
        np.testing.assert_allclose(product, G.T @ (G @ V), atol=1e-11)


@covers("prepared")
@pytest.mark.parametrize("n_columns", [1, 8, 40])
def test_prepared_counts(use, rng, n_columns):
    X, V, weights = counts(rng), rng.standard_normal((17, n_columns)), np.maximum(rng.random(30) - 0.3, 0.0)
    found = use.kernels.prepared(parts(X), 17)
    assert (found.largest, found.fractional) == (4.0, False)
    np.testing.assert_array_equal(use.out(found.lengths()), X.sum(axis=1))
    d, squares, df = (use.out(part) for part in found.pair_sums(use.array(weights)))
    np.testing.assert_allclose(d, weights @ X, rtol=1e-13)
    np.testing.assert_allclose(squares, weights @ X**2, rtol=1e-13)
    np.testing.assert_array_equal(df, (X[weights > 0] > 0).sum(axis=0))
    for given in (None, weights):
        expected = X.T @ ((1.0 if given is None else given[:, None]) * (X @ V))
        for jobs in (1, 3):
            product = found.gram(None if given is None else use.array(given), use.array(V), jobs)
            np.testing.assert_allclose(use.out(product), expected, atol=1e-11)
    X[0, 0] += 0.5
    assert use.kernels.prepared(parts(X), 17).fractional


@covers("gram_stream")
@pytest.mark.parametrize("n_columns", [8, 11, 24])
def test_gram_stream(use, rng, n_columns):
    G, V = counts(rng), rng.standard_normal((17, n_columns))
    stream = use.kernels.gram_stream(use.array(V))
    totals = [None, None]
    for number, start in enumerate(range(0, 30, 7)):
        indptr, indices, data = parts(G[start : start + 7])
        turned = np.concatenate([np.arange(a, b)[::-1] for a, b in pairwise(indptr)])
        given = indptr, indices[turned], data[turned]  # indices in no order
        totals[number % 2] = stream.add(totals[number % 2], given)
    assert stream.n_groups >= 1
    np.testing.assert_allclose(use.out(stream.result(totals[0] + totals[1])), G.T @ (G @ V), atol=1e-11)


@covers("gram_rows")
def test_gram_rows(use, rng):
    G, words = counts(rng), np.array([5, 0, 3, 5])
    found = use.out(use.kernels.gram_rows(parts(G[:, words].T), parts(G), 1, 4, 17, 2))
    np.testing.assert_allclose(found, (G[:, words].T @ G)[1:4], atol=1e-12)


@covers("squared_row_norms")
@pytest.mark.parametrize("density", [0.4, 0.02])  # rare words, too
def test_squared_row_norms(use, rng, density):
    G, places, diagonal = counts(rng, density=density), np.array([5, 0, 3, 16, 5]), rng.random(17)
    diagonal[G.sum(axis=0) == 0.0] = 0.0
    found = use.kernels.squared_row_norms(
        parts(G[:, places].T), parts(G), use.array(diagonal), use.array(places), n_jobs=2
    )
    C = G.T @ G
    np.fill_diagonal(C, diagonal)
    np.testing.assert_allclose(use.out(found), (C[places] ** 2).sum(axis=1), rtol=1e-12)


@covers("add_pair_sums")
def test_add_pair_sums(use, rng):
    X, weights = counts(rng), np.maximum(rng.random(30) - 0.3, 0.0)
    d, squares, df = rng.random(17), rng.random(17), rng.integers(0, 5, 17)
    found = use.kernels.add_pair_sums(parts(X), use.array(weights), *map(use.array, (d, squares, df)))
    np.testing.assert_allclose(use.out(found[0]), d + weights @ X, rtol=1e-13)
    np.testing.assert_allclose(use.out(found[1]), squares + weights @ X**2, rtol=1e-13)
    np.testing.assert_array_equal(use.out(found[2]), df + (X[weights > 0] > 0).sum(axis=0))


@covers("add_pair_sums", "gather")
def test_accumulators_of_numpy_are_updated_in_place(rng):
    """Without a copy for each block of a stream."""
    sums = np.zeros(17), np.zeros(17), np.zeros(17, dtype=np.int64)
    assert all(a is b for a, b in zip(NUMBA.add_pair_sums(parts(counts(rng)), np.ones(30), *sums), sums, strict=True))
    words, empty = np.zeros((17, 2)), (np.zeros(18, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))
    assert NUMBA.gather(empty, np.zeros(0), np.ones((1, 2)), np.ones((17, 2)), words) is words


# ---- rectification


def negative(Y, n):
    E = np.maximum(-Y @ Y.T, 0.0)
    E[n:, n:] = 0.0
    return E


@covers("negative_part")
@pytest.mark.parametrize("n_checked", [1, 12, 40])
def test_negative_part(use, rng, n_checked):
    Y, P = rng.standard_normal((40, 5)), rng.standard_normal((40, 5))
    E = negative(Y, n_checked)
    np.fill_diagonal(E, 0.0)
    moved = np.where(E > 0, P @ Y.T + Y @ P.T, 0) @ Y
    close = {"rtol": 1e-11, "atol": 1e-11}
    found = use.kernels.negative_part(use.array(Y), n_checked, n_jobs=2)
    np.testing.assert_allclose(
        [found.total, found.squares, -found.min_entry], [E.sum(), (E**2).sum(), E.max()], **close
    )
    np.testing.assert_allclose(use.out(found.times(use.array(P))), E @ P, **close)
    single = use.out(found.times(use.array(P.astype(np.float32))))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, E @ P, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(use.out(found.curvature(use.array(Y), use.array(P))), moved, **close)
    rows, partners = (use.out(part) for part in found.pairs())
    expected = np.argwhere(np.tril(E)[:, :n_checked] > 0.0)
    np.testing.assert_array_equal(np.column_stack([rows, partners]), expected)


@covers("negative_part")
def test_too_many_negative_entries_are_not_listed(use, rng, monkeypatch):
    monkeypatch.setattr("anchorwords.kernels.tiled._DENSE_ENTRIES", 10)
    monkeypatch.setattr("anchorwords.kernels.tiled._DENSE", 1)
    Y, P = rng.standard_normal((50, 3)), rng.standard_normal((50, 3))
    found, E = use.kernels.negative_part(use.array(Y), 50), negative(Y, 50)
    assert found.total == pytest.approx(E.sum(), rel=1e-11)
    np.testing.assert_allclose(use.out(found.times(use.array(P))), E @ P, rtol=1e-11, atol=1e-11)
    moved = np.where(E > 0, P @ Y.T + Y @ P.T, 0) @ Y
    np.testing.assert_allclose(use.out(found.curvature(use.array(Y), use.array(P))), moved, rtol=1e-11, atol=1e-11)
    single = use.out(found.times(use.array(P.astype(np.float32))))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, E @ P, rtol=1e-4, atol=1e-4)
    with pytest.raises(TooDense):
        found.pairs()


@covers("project_to_cone")
def test_project_to_cone(use, rng):
    """Against the definition: u0 plus what is left of -u0 after its projection to the cone of the normals."""
    normals, start = rng.random((12, 4)) - 0.25, rng.standard_normal((40, 4))
    sizes = rng.integers(0, 12, 40)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    partners = np.concatenate([rng.permutation(12)[:size] for size in sizes]).astype(np.int32)
    found = use.kernels.project_to_cone(
        read_only(indptr), read_only(partners), use.array(normals), use.array(start), spare=1e-9, n_jobs=2
    )
    for t, (u0, u) in enumerate(zip(start, use.out(found), strict=True)):
        own = normals[partners[indptr[t] : indptr[t + 1]]]
        if own.size == 0:
            np.testing.assert_array_equal(u, u0)
            continue
        # Hildreth's method stops when a round moves the point by a thousandth of the whole.
        length = np.linalg.norm(u0)
        nearest = u0 + own.T @ nnls(own.T, -u0)
        np.testing.assert_allclose(u, nearest, atol=3e-3 * length)
        # At the apex, the zero vector, the iteration creeps until its limit and may miss what is to spare.
        apex = np.linalg.norm(nearest) < 1e-12 * length
        assert (own @ u + (1e-9 * np.linalg.norm(own, axis=1) * length if apex else 0.0)).min() >= 0.0


# ---- recovery, sweeps and proportions


@covers("simplex_least_squares")
@pytest.mark.parametrize("K", [1, 2, 9])
def test_simplex_least_squares(use, rng, K):
    """The conditions of optimality: no vertex has a lower gradient than the weights have on average."""
    points, targets = rng.standard_normal((K, 12)), rng.standard_normal((50, 12))
    G, rhs = _normalise(points @ points.T, targets @ points.T)
    w = use.out(use.kernels.simplex_least_squares(use.array(G), use.array(rhs), 2))
    assert w.min() >= 0.0
    np.testing.assert_allclose(w.sum(axis=1), 1.0, atol=1e-12)
    gradient = w @ G - rhs
    assert (gradient.min(axis=1) - (w * gradient).sum(axis=1)).min() >= -1e-11


@covers("expect", "gather")
def test_expect_and_gather(use, rng):
    X, B, alpha = counts(rng), topics(rng, 17, 4), rng.gamma(1.0, size=4) + 0.05
    gamma = alpha + rng.random((30, 4))
    expected = gamma
    for _ in range(3):
        v = np.exp(psi(expected))
        v /= v.sum(axis=1, keepdims=True)
        ratio = X / (v @ B.T)
        expected = alpha + v * (ratio @ B)
    found = use.kernels.expect(parts(X), use.array(B), use.array(alpha), use.array(gamma), 3, 2)
    assert isinstance(found, Expectation)
    np.testing.assert_allclose(use.out(found.gamma), expected, rtol=1e-9)
    np.testing.assert_allclose(use.out(found.v), v, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(use.out(found.ratio), ratio[X > 0], rtol=1e-9)
    np.testing.assert_allclose(use.out(found.likelihood), (X * np.log(v @ B.T)).sum(axis=1), rtol=1e-9, atol=1e-12)

    places = sp.csr_array((np.arange(np.count_nonzero(X)), *parts(X)[1::-1]), shape=X.shape).tocsc()
    by_word = (places.indptr.astype(np.int64), places.indices.astype(np.int32), places.data.astype(np.int64))
    before = rng.random((17, 4))
    words = use.kernels.gather(by_word, found.ratio, found.v, use.array(B), use.array(before), 2)
    np.testing.assert_allclose(use.out(words), before + B * (ratio.T @ v), rtol=1e-9)


@covers("removal_losses")
def test_removal_losses(use, rng):
    X, B, gamma = counts(rng), topics(rng, 17, 4), rng.gamma(0.5, size=(30, 4)) + 1e-3
    background = (X.sum(axis=0) + 1.0) / (X.sum() + 17.0)
    expected = np.zeros(4)
    for x, w in zip(X, gamma / gamma.sum(axis=1, keepdims=True), strict=True):
        for i in np.flatnonzero(x):
            p = B[i] @ w
            for k in range(4):
                own = w[k] * B[i, k] / p
                rest = 0.95 * (1.0 - own) / (1.0 - w[k] + 1e-6) + 0.05 * background[i] / p
                expected[k] += x[i] * (-np.log(rest) if own > 1e-3 else own - w[k])
    found = use.kernels.removal_losses(parts(X), use.array(B), use.array(gamma), use.array(background), 2)
    np.testing.assert_allclose(use.out(found), expected, rtol=1e-9)


@covers("sparse_product")
def test_sparse_product(use, rng):
    X, V = counts(rng), rng.standard_normal((17, 5))
    product = use.out(use.kernels.sparse_product(parts(X), use.array(V), 2))
    np.testing.assert_allclose(product, X @ V, rtol=1e-12, atol=1e-12)


@covers("descend")
@pytest.mark.parametrize("K", [1, 4, 9])
def test_descend(use, rng, K):
    """A round by its definition; many rounds against an active-set solver of the same problem."""
    F, targets = rng.random((12, K)), rng.standard_normal((50, 12)) + 0.3
    F[:, K // 2] *= float(K == 1)  # a coordinate without a column
    W, P, G = rng.random((50, K)), targets @ F, F.T @ F
    W[::3] = 0.0
    expected = W.copy()
    for w, p in zip(expected, P, strict=True):
        for k in np.flatnonzero(np.diagonal(G) > 0.0):
            w[k] = max(0.0, w[k] + (p[k] - w @ G[k]) / G[k, k])
    given = use.array(P), use.array(G)
    once = use.out(use.kernels.descend(*given, use.array(W), 1, 2))
    np.testing.assert_allclose(once, expected, rtol=1e-11, atol=1e-11)
    found = use.out(use.kernels.descend(*given, use.array(W), 300, 2))
    assert found.min() >= 0.0
    best = np.array([nnls(F, target) for target in targets])
    for weights, optimum, target in zip(found, best, targets, strict=True):
        assert np.linalg.norm(F @ weights - target) <= np.linalg.norm(F @ optimum - target) + 1e-7


@covers("compose")
def test_compose_is_optimal(use, rng):
    """Without penalties: the certificate of the concave problem, g_k + a_k / w_k <= 1 + gap for every topic."""
    X, B, alpha = counts(rng), topics(rng, 17, 5), rng.gamma(1.0, size=5) + 0.05
    B[6] = 0.0  # an unknown word
    chance = B.sum(axis=1)
    scaled = (B / np.where(chance > 0.0, chance, 1.0)[:, None]).astype(np.float32)
    prior = tuple(use.array(part) for part in (alpha, np.zeros(5), alpha))
    found = use.kernels.compose(parts(X), use.array(scaled), use.array(chance), prior, 2)
    assert isinstance(found, Proportions)
    X[:, 6] = 0.0
    weights, n = use.out(found.weights), X.sum(axis=1)
    np.testing.assert_array_equal(use.out(found.n_known), n)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(weights[n == 0], np.tile(alpha / alpha.sum(), ((n == 0).sum(), 1)), rtol=1e-12)
    assert use.out(found.gap).max() <= PROPORTIONS_GAP
    for m in np.flatnonzero(n):
        seen, total = X[m] > 0, n[m] + alpha.sum()
        rows = scaled[seen].astype(float)
        g = (X[m, seen] / total / (rows @ weights[m])) @ rows
        assert (g + alpha / total / weights[m]).max() <= 1.0 + 1.1 * PROPORTIONS_GAP
        likelihood = X[m, seen] @ np.log(B[seen] @ weights[m])
        assert use.out(found.log_likelihood)[m] == pytest.approx(likelihood, rel=1e-6)  # B is in single precision


@covers("compose")
def test_compose_with_fees(use, rng):
    """The definition in infer/penalised.py, its concave problem solved by brute force."""
    X, B, K = counts(rng, M=8), topics(rng, 17, 4), 4
    alpha, penalties, parameters = np.full(K, 0.3), np.array([1.0, 0.7, 0.2, 0.0]), np.full(K, 0.1)
    chance = B.sum(axis=1)
    scaled = (B / chance[:, None]).astype(np.float32)
    prior = tuple(use.array(part) for part in (alpha, penalties, parameters))
    found = use.out(use.kernels.compose(parts(X), use.array(scaled), use.array(chance), prior, 2).weights)
    for m in np.flatnonzero(X.sum(axis=1)):
        tokens, rows = X[m].sum() + alpha.sum(), scaled.astype(float)
        share, a, w = X[m] / tokens, alpha / tokens, np.full(K, 0.25)
        for step in range(10):
            g = (share / (rows @ w)) @ rows
            for _ in range(1 if step == 0 else 2):
                w = w * g + a
            w /= w.sum()
        divided = rows / (1.0 + penalties / (tokens * w))
        for _ in range(20_000):
            w = w * ((share / (divided @ w)) @ divided) + a
        left = parameters + np.maximum(tokens * w - alpha, 0.0)
        np.testing.assert_allclose(found[m], left / left.sum(), atol=2e-4)  # within the gap, and single precision


# ---- text

TEXTS = ["über allen gipfeln ist ruh, über allen", "x y_z 42 \U0001f642 हिन्दी ist", "", "a " * 300, "日本語 the x"]


@covers("word_table")
@pytest.mark.parametrize("ngrams", [(1, 1), (1, 3), (2, 2)])
def test_words(use, ngrams):
    rule = TokenRule(1, 9, True, *ngrams)
    table = use.kernels.word_table(character_kinds(), rule, (b"ist", b"the"))
    assert table.n_known == 2
    raw = [text.encode() for text in TEXTS]
    rows = [table.count(b"".join(raw), np.cumsum([0, *map(len, raw)])) for _ in range(2)]
    names = table.words()
    for lengths, indices, number in rows:
        ends = np.cumsum(use.out(lengths))
        for text, begin, end in zip(TEXTS, [0, *ends[:-1]], ends, strict=True):
            entries = zip(use.out(indices)[begin:end], use.out(number)[begin:end], strict=True)
            plain = text.replace(",", " ").replace("\U0001f642", " ").split()
            kept = [word for word in plain if word not in ("ist", "the", "42")]
            expected = Counter(
                " ".join(kept[i : i + n]) for n in range(ngrams[0], ngrams[1] + 1) for i in range(len(kept) - n + 1)
            )
            assert {names[int(i)].decode(): int(c) for i, c in entries} == expected
    words = [
        word for text in TEXTS for word in text.replace(",", " ").replace("\U0001f642", " ").split() if word != "42"
    ]
    assert table.n_tokens == 2 * len(words)
    assert table.n_unspaced == 2
    assert table.number(b"the") == 1
    known = table.n_known
    assert table.number(b"neu") == known == table.n_known - 1
    several = [b"the", b"noch", b"", b"neu", *(b"%d" % i for i in range(9000)), b"noch"]
    numbers = use.out(table.numbers(several)).tolist()
    assert numbers == [1, known + 1, known + 2, known, *range(known + 3, known + 9003), known + 1]
    assert numbers == [table.number(word) for word in several]
    assert use.out(table.numbers([])).size == 0
    assert table.words() == names  # those that were not counted are not among them


@covers("marks_in")
@pytest.mark.parametrize(
    "marks", [(), (b"a",), (b"ab", b"ba", b"c"), (b"aab", b"aa\xc3"), tuple(bytes([i]) for i in range(63))]
)
def test_marks(use, marks):
    rng = np.random.default_rng(0)
    documents = [bytes(rng.choice(list(b"aab\xc3 >"), size)) for size in rng.integers(0, 7, 300)]
    found = use.kernels.marks_in(b"".join(documents), np.cumsum([0, *map(len, documents)]), marks)
    for document, bits in zip(documents, use.out(found).tolist(), strict=True):
        assert [bool(bits >> m & 1) for m in range(63)] == [m < len(marks) and marks[m] in document for m in range(63)]


@covers("parse_triples")
@pytest.mark.parametrize(
    ("text", "triples", "lines", "fault"),
    [
        (b"1 1 2\n\n1\t2 1  \r\n3 2 1234567", [[1, 1, 2], [1, 2, 1], [3, 2, 1234567]], 3, False),
        (b"", [], 0, False),
        (b"7 8 9\n", [[7, 8, 9]], 1, False),
        (b"1 1 1\n1 1\n2 2 2\n", [[1, 1, 1]], 1, True),
        (b"1 1 1 1\n", [], 0, True),
        (b"1 a 1", [], 0, True),
        (b"1 1 -1", [], 0, True),
        (b"1 1 1000000000000000\n1 1 1000000000000001", [[1, 1, 10**15]], 1, True),
    ],
)
def test_triples(use, text, triples, lines, fault):
    found, n_lines, faulty = use.kernels.parse_triples(text)
    np.testing.assert_array_equal(use.out(found), np.array(triples, dtype=int).reshape(-1, 3))
    assert (n_lines, bool(faulty)) == (lines, fault)


# ---- where the seam is

ROOT = Path(anchorwords.__file__).parent
# Its own solver moves out with the next change to `infer`.


class Recorder:
    """The kernels, and the names of those that were asked for."""

    def __init__(self):
        self.used = set()

    def __getattr__(self, name):
        self.used.add(name)
        return getattr(NUMBA, name)


def test_a_fit_reaches_the_seam(monkeypatch):
    """Whatever an implementation provides is what a model is fitted with."""
    recorder = Recorder()
    monkeypatch.setattr("anchorwords.kernels.numba_kernels.kernels_like", lambda _: recorder)
    data = make_topics(n_docs=400, n_words=300, n_topics=4, doc_length=50, random_state=0)
    model = anchorwords.AnchorTopicModel(4, random_state=0, refinement=Refinement()).fit(data.corpus)
    model.transform(data.corpus)
    assert {"prepared", "negative_part", "simplex_least_squares", "expect", "gather", "compose"} <= recorder.used
    anchorwords.cooccurrence(data.corpus.counts)
    StreamedOperator(MatrixBlocks([data.corpus.counts]), every_word=True).row_sums()
    assert {"gram_rows", "gram_stream", "add_pair_sums"} <= recorder.used
    anchorwords.AnchorTopicModel.from_preset("readers", 4, random_state=0).fit(data.corpus)
    assert {"sparse_product", "descend"} <= recorder.used


def test_only_this_package_knows_its_implementations():
    """Nothing else imports numba, or of this package more than the choice, the protocol and what compiles in advance."""
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT)
        if place.parts[0] == "kernels":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
                assert "kernels" not in [alias.name for alias in node.names], place
            for name in names:
                assert name.split(".")[0] != "numba", place
                if "kernels" in name.split("."):
                    assert name.split("kernels")[1] in ("", ".protocol", ".ahead"), place

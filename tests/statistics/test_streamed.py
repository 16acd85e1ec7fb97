"""Documents read block by block give the statistics, and the topics, of documents in memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.exceptions import FractionalCountsWarning, InputError
from anchorwords.metrics import match_topics
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics.streamed import StreamedOperator
from anchorwords.storage import corpus_writer as store


def cut(X, size):
    X = sp.csr_array(X)
    return [X[i : i + size] for i in range(0, X.shape[0], size)]


def random_counts(seed, M=40, N=15):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (M, N)) * (rng.random((M, N)) < 0.4)
    X[:, 3] = 0  # a word that never occurs
    X[5] = 0
    X[6] = 0
    X[6, 4] = 1  # a document of one token
    return X


# Sums of the same numbers in another order: a few units in the last place of sums of at most a few thousand terms.
ROUNDING = {"rtol": 1e-12, "atol": 1e-15}


@pytest.mark.parametrize("size", [1, 7, 40])
def test_every_product_is_that_of_the_matrix(size):
    X = random_counts(0)
    streamed = StreamedOperator(MatrixBlocks(cut(X, size)))
    used = np.flatnonzero(streamed.words.mask)
    np.testing.assert_array_equal(used, np.flatnonzero(X[X.sum(axis=1) >= 2].sum(axis=0)))
    C = aw.cooccurrence(X)[np.ix_(used, used)]
    V = np.random.default_rng(1).standard_normal((used.size, 11))
    np.testing.assert_allclose(streamed @ V, C @ V, **ROUNDING)
    np.testing.assert_allclose(streamed @ V[:, 0], C @ V[:, 0], **ROUNDING)
    np.testing.assert_allclose(streamed.to_matrix(), C, **ROUNDING)
    np.testing.assert_allclose(streamed.diagonal(), C.diagonal(), **ROUNDING)
    np.testing.assert_allclose(streamed.row_sums(), C.sum(axis=1), **ROUNDING)
    np.testing.assert_allclose(streamed.rows([2, 0, 5]).toarray(), C[[2, 0, 5]], **ROUNDING)
    assert streamed.n_skipped == (X.sum(axis=1) < 2).sum()
    assert streamed.n_docs == (X.sum(axis=1) >= 2).sum()


@pytest.mark.parametrize("every_word", [False, True])
@pytest.mark.parametrize("size", [1, 7, 40])
def test_norms_and_submatrices_are_those_of_the_matrix(size, every_word, monkeypatch):
    X = random_counts(4)
    operator = StreamedOperator(MatrixBlocks(cut(X, size)), every_word=every_word)
    kept = operator.words.positions
    C = aw.cooccurrence(X)[np.ix_(kept, kept)]
    words = [5, 0, 3, 5, kept.size - 1]  # in any order, and twice
    np.testing.assert_allclose(operator.submatrix(words), C[np.ix_(words, words)], **ROUNDING)
    np.testing.assert_allclose(operator.row_norms(words), np.linalg.norm(C[words], axis=1), **ROUNDING)
    whole = operator.row_norms(np.arange(kept.size))
    np.testing.assert_allclose(whole, np.linalg.norm(C, axis=1), **ROUNDING)
    # Few rows at a time, a pass for each.
    monkeypatch.setattr("anchorwords.statistics.streamed._ACCUMULATED", 2 * kept.size)
    passes = operator.n_passes
    np.testing.assert_array_equal(operator.row_norms(np.arange(kept.size)), whole)
    assert operator.n_passes == passes + -(-kept.size // 2)
    assert operator.submatrix([]).shape == (0, 0)
    assert operator.row_norms([]).shape == (0,)
    for bad in ([kept.size], [-1], [0.5]):
        with pytest.raises(InputError, match=f"column indices from 0 to {kept.size - 1}"):
            operator.submatrix(bad)
        with pytest.raises(InputError, match="column indices"):
            operator.row_norms(bad)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_every_word_keeps_those_that_never_occur(size):
    X = random_counts(0)
    X[6, 4], X[:, 4] = 1, 0
    X[6] = 0
    X[6, 4] = 1  # a word whose only document has one token
    C = aw.cooccurrence(X)
    operator = StreamedOperator(MatrixBlocks(cut(X, size)), every_word=True)
    np.testing.assert_array_equal(np.flatnonzero(operator.document_frequencies == 0), [3, 4])
    assert operator.shape == (15, 15)
    V = np.random.default_rng(1).standard_normal((15, 5))
    np.testing.assert_allclose(operator @ V, C @ V, **ROUNDING)
    np.testing.assert_allclose(operator.to_matrix(), C, **ROUNDING)
    np.testing.assert_allclose(operator.rows([3, 4, 0]).toarray(), C[[3, 4, 0]], **ROUNDING)
    np.testing.assert_allclose(operator.diagonal(), C.diagonal(), **ROUNDING)
    assert not operator.row_norms([3, 4]).any()
    assert not operator.submatrix([3, 0, 4])[[0, 2]].any()
    assert not operator.row_sums()[[3, 4]].any()


@given(st.integers(0, 10**6), st.integers(1, 20))
def test_block_sizes_do_not_matter(seed, size):
    X = random_counts(seed, 20, 8)
    if (X.sum(axis=1) >= 2).sum() == 0:
        return
    one, other = StreamedOperator(MatrixBlocks(cut(X, size))), StreamedOperator(MatrixBlocks([sp.csr_array(X)]))
    np.testing.assert_allclose(one.to_matrix(), other.to_matrix(), **ROUNDING)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_matter(n_jobs):
    X = random_counts(2, 200, 30)
    V = np.random.default_rng(1).standard_normal((29, 20))
    one = StreamedOperator(MatrixBlocks(cut(X, 9)), n_jobs=1) @ V
    np.testing.assert_array_equal(StreamedOperator(MatrixBlocks(cut(X, 9)), n_jobs=n_jobs) @ V, one)


def test_fractions_are_clipped_as_in_memory():
    X = random_counts(3) * 0.4
    with pytest.warns(FractionalCountsWarning):
        C = aw.cooccurrence(X)
    with pytest.warns(FractionalCountsWarning):
        streamed = StreamedOperator(MatrixBlocks(cut(X, 11)))
    used = np.flatnonzero(streamed.words.mask)
    np.testing.assert_allclose(streamed.to_matrix(), C[np.ix_(used, used)], rtol=1e-10, atol=1e-15)


def largest_distance(one, other):
    """Largest total variation between matched topics."""
    return max(match_topics(one.T, other.T).total_variation)


@pytest.fixture
def reference(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


@pytest.mark.parametrize(
    "route", ["blocks", "one by one", "function", "shuffled", "disk", "disk in blocks", "pruned view"]
)
def test_all_routes_lead_to_the_same_topics(sampled, reference, tmp_path, monkeypatch, route):
    corpus = sampled.corpus
    counts = sp.csr_array(corpus.counts)
    model = aw.AnchorTopicModel(5)
    if route == "blocks":
        model.fit(cut(counts, 100))
    elif route == "one by one":
        model.fit(cut(counts, 1))
    elif route == "function":
        model.fit(lambda: (counts[i : i + 77] for i in range(0, 600, 77)))
    elif route == "shuffled":
        model.fit(cut(counts[np.random.default_rng(0).permutation(600)], 50))
    else:
        if route != "disk":
            monkeypatch.setattr(store, "BLOCK_ENTRIES", 500)
            monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
        corpus.save(tmp_path / "corpus")
        opened = aw.open_corpus(tmp_path / "corpus")
        data = opened.prune() if route == "pruned view" else opened
        model.fit(data)
        assert ("counts" in vars(data)) == (route == "disk")
        assert model.model_.vocabulary == corpus.vocabulary
    # The tolerance; rounding alone is far below it.
    assert largest_distance(model.components_, reference.components_) < 0.005
    composed = model.transform(corpus if route.startswith(("disk", "pruned")) else counts)
    np.testing.assert_allclose(composed.sum(axis=1), 1.0)


@pytest.mark.parametrize("rectifier", ["palm", "ap", None])
def test_every_rectifier_takes_blocks(sampled, rectifier):
    counts = sp.csr_array(sampled.corpus.counts)
    options = aw.PALM(max_iter=20, tol=0.0) if rectifier == "palm" else rectifier
    whole = aw.AnchorTopicModel(4, rectifier=options).fit(counts)
    parted = aw.AnchorTopicModel(4, rectifier=options).fit(cut(counts, 90))
    assert largest_distance(whole.components_, parted.components_) < 1e-6


def test_transform_goes_by_blocks(sampled, reference, tmp_path, monkeypatch):
    counts = sp.csr_array(sampled.corpus.counts)
    expected = reference.transform(counts)
    np.testing.assert_array_equal(reference.transform(cut(counts, 70)), expected)
    monkeypatch.setattr(store, "BLOCK_ENTRIES", 500)
    sampled.corpus.save(tmp_path / "c")
    opened = aw.open_corpus(tmp_path / "c")
    np.testing.assert_array_equal(reference.transform(opened), expected)
    assert "counts" not in vars(opened)
    # Other words, and other columns for the same words.
    other = aw.Corpus(counts[:, ::-1], sampled.corpus.vocabulary[::-1])
    np.testing.assert_allclose(reference.transform(other), expected, atol=1e-9)


def test_sources_that_cannot_be_read_again_are_refused(sampled):
    with pytest.raises(InputError, match=r"only once.*partial_fit"):
        aw.AnchorTopicModel(3).fit(iter(cut(sampled.corpus.counts, 100)))
    once = iter(cut(sampled.corpus.counts, 100))
    with pytest.raises(InputError, match="returns the same iterator"):
        aw.AnchorTopicModel(3).fit(lambda: once)
    growing = []

    def grows():
        growing.append(sampled.corpus.counts[:50])
        return list(growing)

    with pytest.raises(InputError, match=r"gave \d+ counts when it was first read"):
        aw.AnchorTopicModel(3).fit(grows)
    with pytest.raises(InputError, match="must return an iterable"):
        aw.AnchorTopicModel(3).fit(lambda: 7)
    with pytest.raises(InputError, match="gives none"):
        aw.AnchorTopicModel(3).fit(lambda: iter(()))
    with pytest.raises(InputError, match=r"block 1 has 100"):
        aw.AnchorTopicModel(3).fit([sampled.corpus.counts[:10], sampled.corpus.counts[10:20, :100]])
    with pytest.raises(InputError, match="two tokens"):
        aw.AnchorTopicModel(1).fit([sp.csr_array([[1, 0], [0, 1]])])
    with pytest.raises(InputError, match="2\\^53"):
        aw.AnchorTopicModel(1).fit([sp.csr_array([[2.0**60, 1.0], [1.0, 1.0]])])
    with pytest.raises(InputError, match="knows 120 words, but X has 7 columns"):
        aw.AnchorTopicModel(3).fit(sampled.corpus.counts).transform([sp.csr_array((2, 7))])


def in_five_hundreds(counts):
    return [slice(i, i + 500) for i in range(0, counts.shape[0], 500)]


@pytest.mark.data
@pytest.mark.parametrize(("name", "n_words", "K"), [("nips12", 2500, 20), ("kos", None, 20), ("ml1m", None, 10)])
def test_routes_agree_on_real_data(real_corpus, tmp_path, monkeypatch, name, n_words, K):
    corpus = real_corpus(name, n_words)
    reference = aw.AnchorTopicModel(K).fit(corpus)
    monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
    order = np.random.default_rng(0).permutation(corpus.n_docs)
    shuffled = aw.Corpus(corpus.counts[order], corpus.vocabulary)
    for number, (source, size) in enumerate([(corpus, 1 << 21), (corpus, 20_000), (shuffled, 50_000)]):
        monkeypatch.setattr(store, "BLOCK_ENTRIES", size)
        monkeypatch.setattr(
            "anchorwords.corpus.corpus.row_slices",
            lambda counts: [slice(i, i + 500) for i in range(0, counts.shape[0], 500)],
        )
        source.save(tmp_path / str(number))
        opened = aw.open_corpus(tmp_path / str(number))
        model = aw.AnchorTopicModel(K).fit(opened)
        assert "counts" not in vars(opened)
        assert largest_distance(model.components_, reference.components_) < 0.005

"""What every source must satisfy, whatever documents come as."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.sources.convert import as_source, in_columns
from anchorwords.sources.kinds import MappedSource
from anchorwords.sources.source import Source
from anchorwords.statistics.of_source import cooccurrence_of, documents_with_pairs
from anchorwords.storage import corpus_writer
from tests.fits import Blocks

N_DOCS, N_WORDS = 300, 60


@pytest.fixture(scope="module")
def corpus():
    made = make_topics(n_docs=N_DOCS, n_words=N_WORDS, n_topics=4, doc_length=12, random_state=3).corpus
    counts = made.counts.toarray()
    counts[[5, 250]] = 0.0  # documents without a word,
    counts[7] = np.eye(N_WORDS)[11]  # and of a single token
    return aw.Corpus(counts, made.vocabulary, [f"d{m}" for m in range(N_DOCS)])


class Own(Source):
    """The least that a source of a user's own has."""

    def __init__(self, counts):
        self.n_words = counts.shape[1]
        self._counts = counts

    def lazy_blocks(self):
        for start in range(0, N_DOCS, 77):
            yield lambda start=start: self._counts[start : start + 77]


def stored(corpus, tmp_path, monkeypatch):
    """The corpus on disk, in several blocks, and too large to be loaded."""
    monkeypatch.setattr(corpus_writer, "BLOCK_ENTRIES", 500)
    corpus.save(tmp_path / "corpus")
    monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
    return aw.open_corpus(tmp_path / "corpus")


KINDS = {
    "sparse": lambda corpus, *_: corpus.counts,
    "sparse matrix of the old kind": lambda corpus, *_: sp.csc_matrix(corpus.counts),
    "array": lambda corpus, *_: corpus.counts.toarray(),
    "lists": lambda corpus, *_: corpus.counts.toarray().tolist(),
    "frame": lambda corpus, *_: pytest.importorskip("pandas").DataFrame(
        corpus.counts.toarray(), columns=corpus.vocabulary
    ),
    "strict array": lambda corpus, *_: pytest.importorskip("array_api_strict").asarray(corpus.counts.toarray()),
    "corpus": lambda corpus, *_: corpus,
    "corpus on disk": stored,
    "list of blocks": lambda corpus, *_: [corpus.counts[:100], corpus.counts[100:101], corpus.counts[101:]],
    "function": lambda corpus, *_: lambda: iter([corpus.counts[:250], corpus.counts[250:]]),
    "own": lambda corpus, *_: Own(corpus.counts),
    "mapped": lambda corpus, *_: MappedSource(Own(corpus.counts), lambda block: block),
    "in other columns": lambda corpus, *_: in_columns(
        aw.Corpus(corpus.counts[:, ::-1], corpus.vocabulary[::-1]), corpus.vocabulary, N_WORDS
    ),
}


@pytest.fixture(params=KINDS)
def source(request, corpus, tmp_path, monkeypatch):
    return as_source(KINDS[request.param](corpus, tmp_path, monkeypatch))


def whole(source):
    return sp.vstack(list(source.blocks()), format="csr").toarray()


def test_blocks_are_the_documents_in_every_pass(source, corpus):
    assert isinstance(source, Source)
    assert as_source(source) is source
    assert source.n_words == N_WORDS
    for _ in range(2):
        np.testing.assert_array_equal(whole(source), corpus.counts.toarray())
    for block in source.blocks():
        assert block.format == "csr"
        assert block.dtype == np.float64
        assert block.has_canonical_format
        assert (block.data > 0.0).all()


def test_what_it_knows_of_documents(source, corpus):
    assert source.n_docs in (None, N_DOCS)
    assert source.count_documents() == N_DOCS
    assert source.documents.ids in (None, corpus.doc_ids)
    assert source.words in (None, corpus.vocabulary)
    names = list(source.documents.names(N_DOCS))
    assert names == (list(corpus.doc_ids) if source.documents.ids else [str(m) for m in range(1, N_DOCS + 1)])


def test_counts_in_memory_are_the_same(source, corpus):
    if source.counts is not None:
        np.testing.assert_array_equal(source.counts.toarray(), corpus.counts.toarray())
    blocks = list(source.blocks(whole=True))
    np.testing.assert_array_equal(sp.vstack(blocks).toarray(), corpus.counts.toarray())
    if source.in_memory:
        assert len(blocks) == 1


def test_frequencies(source, corpus):
    documents, tokens = source.frequencies()
    np.testing.assert_array_equal(documents, (corpus.counts.toarray() > 0).sum(axis=0))
    np.testing.assert_array_equal(tokens, corpus.counts.toarray().sum(axis=0))


@pytest.mark.parametrize("n_groups", [1, 2, 3, 50])
def test_map_reduce_sees_every_block_once_with_its_number(source, n_groups):
    def kernel(total, counts, number):
        return (total or []) + [(number, float(counts.sum()))]

    seen = source.map_reduce(kernel, lambda one, other: one + other, n_groups=n_groups, n_jobs=3)
    expected = [(number, float(block.sum())) for number, block in enumerate(source.blocks())]
    assert sorted(seen) == expected


@pytest.mark.parametrize("n_groups", [1, 4])
def test_map_reduce_is_the_same_for_any_number_of_threads(source, n_groups):
    rng = np.random.default_rng(0)
    V = rng.standard_normal((N_WORDS, 3))

    def kernel(total, counts, _):
        product = counts.T @ (counts @ V)
        return product if total is None else np.add(total, product, out=total)

    def product(n_jobs):
        return source.map_reduce(kernel, np.add, n_groups=n_groups, n_jobs=n_jobs)

    one = product(1)
    counts = whole(source)
    np.testing.assert_allclose(one, counts.T @ (counts @ V), rtol=1e-12)
    for n_jobs in (2, 5):
        np.testing.assert_array_equal(product(n_jobs), one)


def test_passes_are_counted(source):
    before = source.n_passes
    list(source.blocks())
    source.map_reduce(lambda total, counts, _: (total or 0) + counts.nnz, lambda one, other: one + other)
    assert source.n_passes == before + 2


def test_the_same_statistics(source, corpus):
    expected = aw.cooccurrence(corpus.counts)
    operator = cooccurrence_of(source, every_word=True)
    np.testing.assert_allclose(operator @ np.eye(N_WORDS), expected, atol=1e-15)
    assert operator.n_skipped == 3


def test_documents_with_pairs(source, corpus):
    lengths = corpus.counts.toarray().sum(axis=1)
    np.testing.assert_array_equal(whole(documents_with_pairs(source)), corpus.counts.toarray()[lengths >= 2])


def test_a_fit_takes_it(source, corpus):
    expected = aw.AnchorTopicModel(4).fit(corpus)
    model = aw.AnchorTopicModel(4).fit(source)
    np.testing.assert_array_equal(model.anchors_, expected.anchors_)
    # Sums in another order differ by rounding; ENN stops where what is left to correct is 1e-8.
    np.testing.assert_allclose(model.components_, expected.components_, atol=1e-8)
    # Inference rounds the rows of B to single precision, so topics that differ by rounding of doubles can differ by 6e-8
    # there. Proportions then differ by that times the condition of a document's problem, some hundred for short ones.
    np.testing.assert_allclose(model.transform(source), expected.transform(corpus), atol=1e-5)
    assert model.n_features_in_ == N_WORDS
    assert (model.n_docs_, model.n_skipped_) == (N_DOCS - 3, 3)


def test_a_source_that_changes_is_noticed(corpus):
    given = iter([3, 3, 2])
    source = Blocks(lambda: [corpus.counts[: 100 * next(given)]])
    source.frequencies()
    with pytest.raises(InputError, match=r"gave \d+ counts when it was first read, and \d+ in pass 2"):
        source.frequencies()


def test_no_blocks_are_a_block_without_documents():
    documents, tokens = Blocks([], n_words=4).frequencies()
    assert not documents.any()
    assert tokens.shape == (4,)


def test_iterators_are_refused(corpus):
    with pytest.raises(InputError, match="read only once"):
        as_source(iter([corpus.counts]))

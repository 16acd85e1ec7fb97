"""Documents and their co-occurrence in the columns of a model."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.metrics import Reference, npmi_coherence, relative_approximation
from anchorwords.metrics.reference import as_reference
from anchorwords.statistics.streamed import StreamedOperator
from anchorwords.storage import corpus_writer as store
from tests.metrics import direct

NAMES = tuple(f"w{i}" for i in range(30))


def routes(X, tmp_path, monkeypatch):
    """The same documents in every way they can come."""
    corpus = aw.Corpus(X, NAMES)
    yield "array", X
    yield "sparse", sp.csc_array(X)
    yield "corpus", corpus
    yield "blocks", direct.cut(X, 11)
    yield "function", lambda: direct.cut(X, 17)
    corpus.save(tmp_path / "c")
    yield "disk", aw.open_corpus(tmp_path / "c")
    monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
    monkeypatch.setattr(store, "BLOCK_ENTRIES", 100)
    corpus.save(tmp_path / "d")
    yield "stored", aw.open_corpus(tmp_path / "d")


def test_every_route_leads_to_the_same_statistics(tmp_path, monkeypatch):
    X = direct.random_counts(0)
    X[:, 4] = 0
    C = direct.eq1(X)
    words = np.array([7, 4, 0, 29])
    counted = np.array([[direct.documents(X, i, j) for j in words] for i in words])
    for route, data in routes(X, tmp_path, monkeypatch):
        reference = Reference(data, NAMES)
        assert reference.n_words == 30
        assert isinstance(reference.operator, StreamedOperator) == (route in ("blocks", "function", "stored")), route
        np.testing.assert_allclose(reference.unigram, C.sum(axis=1), rtol=1e-12, atol=1e-16)
        assert reference.row_norms.exact
        np.testing.assert_allclose(reference.row_norms.squares, (C**2).sum(axis=1), rtol=1e-11, atol=1e-20)
        (together,), n_docs = reference.documents_together([words])
        np.testing.assert_array_equal(together, counted)
        assert n_docs == 60  # those without a pair of tokens are documents, too


def test_a_corpus_is_matched_by_word(tmp_path, monkeypatch):
    X = direct.random_counts(1)
    order = np.random.default_rng(0).permutation(30)
    shuffled = X[:, order]
    names = tuple(NAMES[i] for i in order)
    monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
    monkeypatch.setattr(store, "BLOCK_ENTRIES", 100)
    aw.Corpus(shuffled, names).save(tmp_path / "c")
    C = direct.eq1(X)
    for corpus in (aw.Corpus(shuffled, names), aw.open_corpus(tmp_path / "c")):
        np.testing.assert_allclose(Reference(corpus, NAMES).operator.to_matrix(), C, rtol=1e-12, atol=1e-16)
        np.testing.assert_array_equal(
            Reference(corpus, NAMES).documents_together([np.array([3])])[0][0], direct.documents(X, 3)
        )
        # Without names the columns are taken as they come.
        moved = Reference(corpus).operator.to_matrix()
        np.testing.assert_allclose(moved, C[np.ix_(order, order)], rtol=1e-12, atol=1e-16)
        # Fewer words than the corpus has: the others do not count, neither as words nor for the lengths of documents.
        few = Reference(corpus, NAMES[:12])
        np.testing.assert_allclose(few.operator.to_matrix(), direct.eq1(X[:, :12]), rtol=1e-12, atol=1e-16)
        with pytest.raises(InputError, match="none of the model's words"):
            Reference(corpus, [f"other{i}" for i in range(30)])


def test_what_is_computed_is_kept():
    X = direct.random_counts(0)
    reads = []

    def blocks():
        reads.append(1)
        return direct.cut(X, 20)

    reference = Reference(blocks)
    model = direct.random_model(0, direct.eq1(X))
    first = relative_approximation(model, reference)
    n = len(reads)
    assert relative_approximation(model, reference) == first
    assert len(reads) == n + 1  # C B of the model, and nothing else
    assert reference.operator is reference.operator
    assert reference.row_norms is reference.row_norms


def test_co_occurrence_alone_has_no_documents():
    X = direct.random_counts(0)
    reference = Reference.of_operator(aw.CooccurrenceOperator(X))
    assert reference.n_words == 30
    with pytest.raises(InputError, match="only their co-occurrence was given: give the documents"):
        reference.documents_together([np.array([0])])
    with pytest.raises(InputError, match="give the documents"):
        npmi_coherence(direct.random_model(0, direct.eq1(X)), reference)


def test_bad_input_is_refused_in_one_sentence():
    X = direct.random_counts(0)
    model = direct.random_model(0, direct.eq1(X), vocabulary=NAMES)
    with pytest.raises(InputError, match="X is an iterator, which can be read only once"):
        Reference(iter(direct.cut(X, 9)))
    with pytest.raises(InputError, match="the model has 30 words, but X has 12"):
        as_reference(model, Reference(X[:, :12]))
    with pytest.raises(InputError, match="the model has 30 words, but X has 12"):
        as_reference(model.with_vocabulary(None), aw.Corpus(X[:, :12], NAMES[:12]))
    with pytest.raises(InputError, match="finite"):
        Reference(np.full((3, 30), np.nan))
    with pytest.raises(InputError, match="two-dimensional"):
        Reference(np.ones(30))
    with pytest.raises(InputError, match="must return an iterable"):
        Reference(lambda: 7)
    growing = []

    def grows():
        growing.append(sp.csr_array(X[:20]))
        return list(growing)

    with pytest.raises(InputError, match=r"gave \d+ counts when it was first read"):
        relative_approximation(model, Reference(grows))


def test_words_of_another_reference_are_refused():
    """A reference made for one vocabulary says nothing of a model with the same number of other words."""
    X = direct.random_counts(0)
    reference = Reference(aw.Corpus(X, NAMES), NAMES)
    other = direct.random_model(0, direct.eq1(X), vocabulary=NAMES[::-1])
    with pytest.raises(InputError, match="words"):
        as_reference(other, reference)

"""What every form of the co-occurrence must satisfy: explicit, in memory, streamed."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.sources.convert import as_source
from anchorwords.statistics.cooccurrence import Cooccurrence
from anchorwords.statistics.explicit import ExplicitCooccurrence
from anchorwords.statistics.norms import row_norms
from anchorwords.statistics.operator import CooccurrenceOperator
from anchorwords.statistics.streamed import StreamedOperator
from tests.contracts import check_operator

N_DOCS, N_WORDS, UNUSED = 200, 45, [3, 17]


@pytest.fixture(scope="module")
def counts():
    X = make_topics(n_docs=N_DOCS, n_words=N_WORDS, n_topics=4, doc_length=15, random_state=1).corpus.counts.toarray()
    X[np.arange(N_WORDS), np.arange(N_WORDS)] += 1.0  # every word occurs,
    X[:, UNUSED] = 0.0  # but for these,
    X[9] = np.eye(N_WORDS)[17]  # of which one does in a document that carries no pair
    return X


def explicit(X, every_word):
    used = np.ones(N_WORDS, dtype=bool)
    used[UNUSED] = every_word
    return ExplicitCooccurrence(aw.cooccurrence(X)[np.ix_(used, used)], n_docs=N_DOCS - 1, n_skipped=1)


def streamed(X, every_word):
    return StreamedOperator(as_source([aw.Corpus(part, range(N_WORDS)).counts for part in np.split(X, [60, 61, 150])]),
                            every_word=every_word)  # fmt: skip


KINDS = {
    "explicit": explicit,
    "in memory": lambda X, every_word: CooccurrenceOperator(X, every_word=every_word),
    "streamed": streamed,
}


@pytest.mark.parametrize("every_word", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_it_agrees_with_the_matrix(kind, every_word, counts):
    C = aw.cooccurrence(counts)
    used = np.ones(N_WORDS, dtype=bool)
    used[UNUSED] = every_word
    operator = KINDS[kind](counts, every_word)
    assert isinstance(operator, Cooccurrence)
    check_operator(operator, C[np.ix_(used, used)])
    assert operator.words.n_used == used.sum()
    assert (operator.n_docs, operator.n_skipped) == (N_DOCS - 1, 1)
    assert operator.document_frequencies.shape == (used.sum(),)
    assert str(int(used.sum())) in repr(operator)


@pytest.mark.parametrize("kind", KINDS)
def test_norms_of_all_rows_or_of_a_sample(kind, counts):
    operator = KINDS[kind](counts, False)
    norms = row_norms(operator, operator.row_sums())
    assert norms.exact
    np.testing.assert_allclose(norms.squares, operator.row_norms() ** 2, rtol=1e-12)
    sample = operator.row_sample(np.arange(operator.shape[0]), 0.0)
    assert sample is None or min(sample) >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_asked(kind, counts):
    operator = KINDS[kind](counts, True)
    with pytest.raises(InputError, match="cannot multiply an array of shape"):
        operator @ np.ones(N_WORDS + 1)
    with pytest.raises(InputError, match="column indices from 0 to 44"):
        operator.rows([N_WORDS])
    assert operator.rows([]).shape == (0, N_WORDS)
    assert operator.submatrices([]) == []


def test_words_in_use_are_the_same_for_all(counts):
    memory, passes = KINDS["in memory"](counts, False), KINDS["streamed"](counts, False)
    np.testing.assert_array_equal(memory.words.mask, passes.words.mask)
    np.testing.assert_array_equal(memory.document_frequencies, passes.document_frequencies)


def test_counts_that_are_not_in_memory_are_refused(counts):
    with pytest.raises(InputError, match="read block by block"):
        CooccurrenceOperator(as_source([aw.Corpus(counts, range(N_WORDS)).counts]))

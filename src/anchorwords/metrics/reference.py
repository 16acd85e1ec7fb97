"""The documents that metrics are measured on, and their co-occurrence C, for one model after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._lazy import cached_property
from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_seed, check_square_symmetric
from ..exceptions import InputError, UndefinedMetricError
from ..model import TopicModel
from ..sources.convert import as_source, in_columns, require_known_words
from ..sources.source import Source
from ..statistics.cooccurrence import Cooccurrence
from ..statistics.norms import RowNorms, row_norms
from ..statistics.of_source import cooccurrence_of
from ..statistics.word_groups import WordGroups


class Reference:
    """Documents and their co-occurrence, in the columns of a model.

    What does not depend on the model (the norms of C, say) is computed when first needed and kept: to judge many
    models of the same words, make one and give it to :func:`evaluate` instead of the documents.

    Parameters
    ----------
    X : (M, N) sparse or array-like of counts, Corpus, or blocks of counts
        What is larger than memory is read pass by pass, as in ``fit``.
    vocabulary : sequence of str, optional
        Words of the columns; a Corpus with other words, or another order of them, is matched to these. Words outside it
        do not count.
    n_jobs : int or None
        Threads; no value depends on it.
    random_state : int
        Seed of the sample of words, where the norms of all rows of C are too much work.
    """

    def __init__(
        self, X: Any, vocabulary: Sequence[str] | None = None, *, n_jobs: int | None = None, random_state: int = 0
    ) -> None:
        source = as_source(X)
        self.vocabulary = source.words if vocabulary is None else tuple(vocabulary)
        n_words = source.n_words if self.vocabulary is None else len(self.vocabulary)
        self._source: Source | None = require_known_words(in_columns(source, self.vocabulary, n_words))
        self._n_jobs = n_jobs
        self._random_state = check_seed(random_state)
        self.n_words = n_words

    @classmethod
    def of_operator(cls, operator: Any) -> Reference:
        """The co-occurrence alone: metrics that count documents cannot be measured on it."""
        reference = cls.__new__(cls)
        reference._source, reference._n_jobs, reference.n_words = None, None, operator.shape[0]
        reference.vocabulary, reference._random_state = None, 0
        reference.operator = operator
        return reference

    @cached_property
    def operator(self) -> Cooccurrence:
        """C of Eq. 1."""
        return cooccurrence_of(self._documents(), n_jobs=self._n_jobs, every_word=True)

    @cached_property
    def unigram(self) -> FloatArray:
        """p, the row sums of C."""
        return self.operator.row_sums()

    @cached_property
    def row_norms(self) -> RowNorms:
        """Norms of the rows of C, of a sample where all are too many."""
        return row_norms(self.operator, self.unigram, random_state=self._random_state)

    def documents_together(self, groups: Sequence[IntArray]) -> tuple[list[FloatArray], int]:
        """Documents D_ij that hold both of two words of a group, D_i on the diagonal, and the number D of all."""
        wanted = WordGroups(groups)

        def kernel(total: Any, block: SparseLike, _: int) -> Any:
            totals, n_docs = total or ([np.zeros((group.size, group.size)) for group in groups], 0)
            presence = sp.csr_array(block[:, wanted.words])
            presence.data = np.ones(presence.nnz)
            for sums, product in zip(totals, wanted.products(presence), strict=True):
                sums += product
            return totals, n_docs + block.shape[0]

        return self._documents().map_reduce(kernel, add_counts)

    def _documents(self) -> Source:
        if self._source is None:
            raise UndefinedMetricError(
                "documents are counted here, but only their co-occurrence was given: give the documents."
            )
        return self._source


def add_counts(one: Any, other: Any) -> Any:
    """Sums of what :meth:`Reference.documents_together` gives for different documents."""
    return [a + b for a, b in zip(one[0], other[0], strict=True)], one[1] + other[1]


def as_reference(record: TopicModel, X: Any, n_jobs: int | None = None, random_state: int = 0) -> Reference:
    """X itself if it is a reference, else one of it, in the model's columns."""
    reference = X
    if not isinstance(X, Reference):
        reference = Reference(X, record.vocabulary, n_jobs=n_jobs, random_state=random_state)
    if reference.n_words != record.n_words:
        raise InputError(f"the model has {record.n_words} words, but X has {reference.n_words}.")
    if None not in (record.vocabulary, reference.vocabulary) and record.vocabulary != reference.vocabulary:
        raise InputError(
            "the Reference is in other words, or another order of them, than the model: make one in its words."
        )
    return reference


def matrix_in_words(record: TopicModel, C: Any, name: str = "C") -> FloatArray:
    """A symmetric matrix, a row and a column a word of the model."""
    matrix = check_square_symmetric(C, name)
    if matrix.shape[0] != record.n_words:
        raise InputError(f"the model has {record.n_words} words, but {name} has {matrix.shape[0]}.")
    return matrix


def require_anchors(record: TopicModel, p: FloatArray) -> None:
    """Raise unless every anchor co-occurs with some word, p being the row sums of C."""
    lost = record.anchors[~(p[record.anchors] > 0.0)]
    if lost.size:
        name = f"in column {lost[0]}" if record.vocabulary is None else repr(record.vocabulary[lost[0]])
        raise UndefinedMetricError(
            f"the anchor {name} co-occurs with no word of these documents, so that other words cannot be recovered from it: "
            "measure on the documents of the fit."
        )

"""Predictions: the most probable words that a document or basket does not contain.

Notation
--------
w_m : (K,)         topic proportions of document m
B : (N, K)         p(word | topic)
p_m = B w_m        p(word | document m)
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_n_jobs, check_positive_integer
from ..corpus.files import short
from ..corpus.missing import warn_of_missing
from ..exceptions import InputError
from ..infer.collapsed import collapsed_proportions
from ..infer.compose import METHODS, check_method, compositions, prototype_of
from ..infer.prior import prior_of
from ..linalg.sparse import rows_between
from ..model import TopicModel, as_explained, as_topic_model
from ..records import TableRecord
from ..records.table import Table, counted, number_field, small_field, table_of, text_field
from ..sources.convert import as_source, in_columns
from ..sources.source import Source
from .ranking import largest, word_probabilities

# Probabilities of words in documents that are computed at a time: 32 MB.
_TOGETHER = 1 << 22
# Log-probabilities that agree to this many digits are ties; the first column comes first.
_DIGITS = 12


@dataclass(frozen=True, eq=False, repr=False)
class WordPredictions(TableRecord):
    """Predicted words of each document.

    Attributes
    ----------
    documents : list
        The id of each document or, if documents have no ids, its number from 0.
    columns : (M, n) int array
        Columns of the predicted words, best first; -1 if fewer than n words can be predicted.
    probability : (M, n) array
        p(word | document); 0 next to -1.
    lift : (M, n) array
        p(word | document) / p(word): above 1 if the word is more probable in this document than overall.
    vocabulary : tuple of str or None
    """

    documents: list[Any]
    columns: IntArray
    probability: FloatArray
    lift: FloatArray
    vocabulary: tuple[str, ...] | None

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per document and predicted word: document, rank, word, probability, lift."""
        return self._rows(None)

    def _rows(self, n_docs: int | None) -> list[dict[str, Any]]:
        """The rows of the first documents."""
        words = self.vocabulary
        return [
            {
                "document": name,
                "rank": place + 1,
                "word": int(column) if words is None else words[column],
                "probability": float(self.probability[m, place]),
                "lift": float(self.lift[m, place]),
            }
            for m, name in enumerate(self.documents[:n_docs])
            for place, column in enumerate(self.columns[m].tolist())
            if column >= 0
        ]

    def _tables(self, max_rows: int | None) -> list[Table]:
        fields = [
            text_field("document"), number_field("rank"), text_field("word", strong=True),
            small_field("probability", "probability"), number_field("lift", digits=2),
        ]  # fmt: skip
        caption = f"Predicted words of {counted(len(self.documents), 'document')}"
        # Rows of a few documents are enough, as there may be millions.
        rows = self._rows(max_rows)
        n_rows = int(np.count_nonzero(self.columns >= 0))
        return [table_of(rows, fields, caption, max_rows=max_rows, n_rows=n_rows)]


def predict_words(
    model: Any, X: Any, n: int = 10, *, method: str = "collapsed", n_jobs: int | None = None
) -> WordPredictions:
    """Predict further words of documents: the most probable words among those that they do not contain.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    X : Corpus, (M, N) counts, blocks of counts, list of words, or list of lists of words
        A list of words is one basket. Words of baskets that the model does not know are left out, with one
        UnknownWordWarning. Documents are read block by block.
    n : int, default=10
        Number of words per document.
    method : {"collapsed", "posterior-mean", "prior-aware"}, default="collapsed"
        How topic proportions are inferred. "collapsed" is the mean of the posterior by collapsed variational inference,
        which is accurate for baskets of a few words; the others are those of ``transform``, which are faster for long
        documents.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    WordPredictions
        Words of largest p(word | document) first; ties go to the first column. A document without a known word gets the
        words that are most probable overall.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus
    >>> model = aw.AnchorTopicModel(3).fit(corpus)
    >>> len(aw.predict_words(model, ["w005", "w017"], n=4).rows())
    4
    """
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    source = _source(record, X)
    jobs = check_n_jobs(n_jobs)
    # Documents hold words of the background and of dropped topics as well.
    whole = as_explained(record)
    proportions = (
        _collapsed(whole) if method == "collapsed" else _as_transform(whole, method, prototype_of(model, source), jobs)
    )
    overall = word_probabilities(whole.B, whole.prevalence)
    columns: list[IntArray] = [np.zeros((0, n), dtype=np.intp)]
    probability: list[FloatArray] = [np.zeros((0, n))]
    step = max(1, _TOGETHER // record.n_words)
    for block in source.blocks():
        for start in range(0, block.shape[0], step):
            counts = rows_between(block, start, start + step)
            best = _best(proportions(counts) @ whole.B.T, counts, n)
            columns.append(best[0])
            probability.append(best[1])
    chosen, likely = np.concatenate(columns), np.concatenate(probability)
    base = np.where(chosen >= 0, overall[chosen], 1.0)
    names = source.documents.ids
    return WordPredictions(
        [source.documents.number(m) for m in range(chosen.shape[0])] if names is None else list(names),
        chosen, likely, likely / np.where(base > 0.0, base, 1.0), record.vocabulary,
    )  # fmt: skip


def _collapsed(record: TopicModel) -> Callable[[SparseLike], FloatArray]:
    parameters = prior_of(record.A).parameters
    return lambda counts: collapsed_proportions(counts, record.B, parameters)


def _as_transform(record: TopicModel, method: str, like: Any, n_jobs: int | None) -> Callable[[SparseLike], FloatArray]:
    if method not in METHODS:
        raise InputError(f"method must be 'collapsed' or one of {', '.join(map(repr, METHODS))}, but is {method!r}.")
    how = check_method(method, record)

    def proportions(counts: SparseLike) -> FloatArray:
        found = compositions(record, as_source(counts), method=how, whole_blocks=True, like=like, n_jobs=n_jobs)
        return next(found).weights

    return proportions


def _best(p: FloatArray, counts: SparseLike, n: int) -> tuple[IntArray, FloatArray]:
    """Columns and probabilities of the n most probable words of each document that it does not contain."""
    columns, likely = np.full((p.shape[0], n), -1, dtype=np.intp), np.zeros((p.shape[0], n))
    for m, row in enumerate(p):
        row[counts.indices[counts.indptr[m] : counts.indptr[m + 1]]] = 0.0
        with np.errstate(divide="ignore"):
            order = largest(np.round(np.log(row), _DIGITS), min(n, row.size))
        order = order[row[order] > 0.0]
        columns[m, : order.size], likely[m, : order.size] = order, row[order]
    return columns, likely


def _source(record: TopicModel, X: Any) -> Source:
    """Documents in the columns of the model; baskets of words are counted."""
    baskets = _baskets(X)
    if baskets is None:
        return in_columns(X, record.vocabulary, record.n_words)
    if record.vocabulary is None:
        raise InputError("the words of this model have no names, so baskets of words cannot be looked up: give counts.")
    place = {word: column for column, word in enumerate(record.vocabulary)}
    unknown = dict.fromkeys(word for basket in baskets for word in basket if word not in place)
    if len(unknown) == len({word for basket in baskets for word in basket}):
        raise InputError(_none_known(list(unknown), place))
    warn_of_missing(list(unknown), record.vocabulary, "X", stacklevel=4)
    found = [(m, place[word]) for m, basket in enumerate(baskets) for word in basket if word in place]
    rows, columns = np.array(found, dtype=np.intp).T
    return as_source(sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(len(baskets), record.n_words)))


def _none_known(words: list[str], known: Container[str]) -> str:
    """Say that the model knows no word, and that some of them are several words that it knows."""
    what = f"does not know {short(words[0])}" if len(words) == 1 else f"knows none of the {len(words)} words given"
    if parts := [part for word in words for part in word.split() if part in known]:
        some = f"{short(parts[0])} and {short(parts[1])}" if len(parts) > 1 else short(parts[0])
        return f"the model {what}, but it knows {some}: give each word separately."
    return f"the model {what}: check how its words are spelled."


def _baskets(X: Any) -> list[list[str]] | None:
    """Words of each basket; None if X is not made of words."""
    if isinstance(X, str):
        raise InputError(
            "X must be a list of words, but is a single string: write [X], or split a text into words first."
        )
    if not isinstance(X, Sequence) or not len(X):
        return None
    if all(isinstance(word, str) for word in X):
        return [list(X)]
    if all(isinstance(one, (list, tuple, set, frozenset)) and all(isinstance(w, str) for w in one) for one in X):
        return [sorted(one) if isinstance(one, (set, frozenset)) else list(one) for one in X]
    return None

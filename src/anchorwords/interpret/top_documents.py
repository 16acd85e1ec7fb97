"""The documents that a topic has most of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..corpus.documents import Documents
from ..exceptions import InputError
from ..model import as_topic_model
from ..sources.convert import in_columns
from .compositions import document_compositions
from .numbers import number

# Shares that agree to so many digits are ties: compositions are not told apart any better.
_DIGITS = 6
# A document holds a topic that explains this much of a token: compositions leave a trace of the prior in every topic.
_A_TOKEN = 0.5


def top_documents(
    model: Any,
    X: Any,
    n: int = 10,
    *,
    min_tokens: int = 5,
    method: str | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, float | None], None] | None = None,
) -> list[list[dict[str, Any]]]:
    """The n documents with the largest share of each topic, by the compositions of ``transform``.

    Documents are gone through once, block by block, and only the best are kept: memory does not grow with their number,
    but for the names where documents have any.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        A Corpus, in memory or on disk, is matched to the model by its words.
    n : int
        Documents a topic.
    min_tokens : int
        Leave out documents with fewer tokens of words the model knows. The likeliest composition of very few words is
        often a single topic, and says little: a document of one word is all of one topic. The default is that of
        :meth:`Corpus.prune`; a larger one lists longer documents.
    method : {"posterior-mean", "prior-aware"}, optional
        How topic proportions are inferred, as in ``transform``. The default is the ``composition`` parameter of the
        estimator, or "posterior-mean" for a TopicModel.
    n_jobs : int or None
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with the number of documents gone through and their share of all, None where that is not known.

    Returns
    -------
    list of K lists of dict, in the order of topic ids
        ``document`` (its id or, if documents have no ids, its number from 0 among those that were read), ``row`` (in X, from
        0), ``share`` (of the topic in the
        document), ``tokens`` (of words the model knows), ``title`` if documents have titles, and ``values`` if they have
        further columns, by name; largest share first, ties to the longer document, then to the earlier. Documents in which
        the topic explains less than half a token are not listed.
    """
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    check_positive_integer(min_tokens, "min_tokens")
    best = [_Best(n) for _ in range(record.n_components)]
    source = in_columns(X, record.vocabulary, record.n_words)
    n_docs, n_known = source.n_docs, 0.0
    first = 0
    for weights, tokens in document_compositions(record, source, method=method, n_jobs=n_jobs):
        n_known += float(tokens.sum())
        rows = np.flatnonzero(tokens >= min_tokens)
        for k, kept in enumerate(best):
            kept.add(weights[rows, k], tokens[rows], first + rows)
        if progress is not None:
            done = first + tokens.size
            progress(done, None if n_docs is None else done / n_docs)
        first += tokens.size
    if n_known == 0.0:
        raise InputError("no document holds a word the model knows: check that the vocabularies match.")
    names = source.documents.ids
    about = _columns_of(source.documents, [row for kept in best for row in kept.rows.tolist()])
    return [
        [
            {
                "document": source.documents.number(row) if names is None else names[row],
                "row": row,
                "share": float(share),
                "tokens": number(tokens),
                **about[row],
            }
            for share, tokens, row in zip(kept.shares, kept.tokens, kept.rows.tolist(), strict=True)
        ]
        for kept in best
    ]


def _columns_of(documents: Documents, rows: list[int]) -> dict[int, dict[str, Any]]:
    """The title of each row and its other columns, if documents have these."""
    distinct = sorted(set(rows))
    found: dict[int, dict[str, Any]] = {row: {} for row in distinct}
    if documents:
        for row, values in zip(distinct, documents.plain_rows(distinct), strict=True):
            if documents.title is not None:
                title = values.pop(documents.title)
                found[row]["title"] = None if title is None else str(title)
            if values:
                found[row]["values"] = values
    return found


class _Best:
    """The best n documents of one topic so far, in order."""

    def __init__(self, n: int) -> None:
        self._n = n
        self.shares, self.tokens, self.rows = np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp)

    def add(self, shares: FloatArray, tokens: FloatArray, rows: IntArray) -> None:
        # Few documents of a block can still be among the best: only those are put in order.
        bar = np.round(self.shares[-1], _DIGITS) if self.shares.size == self._n else 0.0
        rounded = np.round(shares, _DIGITS)
        able = (shares * tokens >= _A_TOKEN) & (rounded >= bar)
        shares = np.concatenate([self.shares, shares[able]])
        tokens = np.concatenate([self.tokens, tokens[able]])
        rows = np.concatenate([self.rows, rows[able]])
        order = np.lexsort((rows, -tokens, -np.round(shares, _DIGITS)))[: self._n]
        self.shares, self.tokens, self.rows = shares[order], tokens[order], rows[order]

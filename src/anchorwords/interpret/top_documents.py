"""The documents that a topic has most of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..corpus.documents import Documents
from ..exceptions import InputError
from ..model import as_topic_model
from ..records import TableRecord
from ..records.table import Table, counted, number_field, share_field, table_of, text_field, topic_field
from ..sources.convert import in_columns, read_by
from .compositions import document_compositions
from .naming import topic_names
from .numbers import number, value_as_text

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
) -> TopDocuments:
    """Return the n documents with the largest share of each topic, by the proportions of ``transform``.

    Documents are read once, block by block, and only the best are kept: memory does not grow with their number, except for
    the names of documents that have any.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        A Corpus, in memory or on disk, is matched to the model by its words. A TextTopicModel also takes
        texts.
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
    TopDocuments
        A list of K lists of dicts, in the order of the topics of the model. It displays as a table and has ``rows()`` and
        ``to_frame()``, with one row per topic and document. Keys are ``document`` (its id or, if documents have no ids, its
        number from 0 among those that were read), ``row`` (in X, from 0), ``share`` (of the topic in the document),
        ``tokens`` (of words the model knows), ``title`` if documents have titles, and ``values``, a dict by column, if they
        have further columns. The largest share comes first; ties go to the longer document, then to the earlier one.
        Documents in which the topic explains less than half a token are not listed.
    """
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    check_positive_integer(min_tokens, "min_tokens")
    best = [_Best(n) for _ in range(record.n_components)]
    source = in_columns(read_by(model, X), record.vocabulary, record.n_words)
    n_docs, n_known = source.n_docs, 0.0
    first = 0
    for weights, tokens in document_compositions(model, source, method=method, n_jobs=n_jobs):
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
    found = [
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
    return TopDocuments(found, record.ids, topic_names(record))


class TopDocuments(TableRecord, list[list[dict[str, Any]]]):
    """The top documents of each topic, a list of dicts per topic; see :func:`top_documents`.

    Attributes
    ----------
    topics : tuple of K int
        Ids of the topics.
    labels : tuple of K str
    """

    def __init__(self, found: Iterable[list[dict[str, Any]]], topics: Sequence[int], labels: Sequence[str]) -> None:
        super().__init__(found)
        self.topics, self.labels = tuple(topics), tuple(labels)

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> list[dict[str, Any]]: ...

    @overload
    def __getitem__(self, place: slice, /) -> TopDocuments: ...

    def __getitem__(self, place: SupportsIndex | slice, /) -> list[dict[str, Any]] | TopDocuments:
        if not isinstance(place, slice):
            return super().__getitem__(place)
        return TopDocuments(super().__getitem__(place), self.topics[place], self.labels[place])

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per topic and document: topic, label, rank (from 1), document, share, tokens, title, columns."""
        return [
            {"topic": topic, "label": label, "rank": rank}
            | {name: value for name, value in entry.items() if name != "values"}
            | entry.get("values", {})
            for topic, label, found in zip(self.topics, self.labels, self, strict=True)
            for rank, entry in enumerate(found, start=1)
        ]

    def _tables(self, max_rows: int | None) -> list[Table]:
        entries = [
            {"topic": topic, "label": label} | entry | {"name": _shown_name(entry)}
            for topic, label, found in zip(self.topics, self.labels, self, strict=True)
            for entry in found
        ]
        fields = [
            topic_field(), text_field("label", strong=True), share_field("share", largest=1.0), number_field("tokens"),
            text_field("name", "document", wide=True),
        ]  # fmt: skip
        caption = f"Documents with the largest shares of {counted(len(self), 'topic')}"
        return [table_of(entries, fields, caption, max_rows=max_rows, noun="rows")]


def _shown_name(entry: dict[str, Any]) -> str:
    """The title of a document or, without one, its id; then its other columns."""
    values = ", ".join(
        f"{name}: {value_as_text(value)}" for name, value in entry.get("values", {}).items() if value is not None
    )
    title = str(entry.get("title") or entry["document"])
    return f"{title} ({values})" if values else title


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

"""How prevalent topics are in groups of documents: by venue, by author, by any label."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_positive_integer
from ..corpus.files import short
from ..exceptions import InputError
from ..model import TopicModel, as_topic_model
from ..records import TableRecord
from ..records.table import Table
from ..sources.convert import in_columns, read_by
from .compositions import document_compositions
from .given_proportions import blocks_of, proportions_of
from .group_sums import GroupSums, t_quantile
from .naming import topic_names
from .numbers import number
from .shown_groups import group_table

# Groups of fewer documents are left out by default: if few documents have much of a topic (shares drawn from
# Beta(0.1, 1.9)), a 90% interval from five documents holds the true mean only 59% of the time, and from fewer less often.
MIN_DOCS = 5
ORDERS = ("auto", "size", "natural")
# Of consecutive documents: proportions, whether the model knows a word of them, and how many tokens of such words.
_Part: TypeAlias = "tuple[FloatArray, npt.NDArray[np.bool_], FloatArray]"
# Labels whose own order carries meaning.
_ORDERED = (bool, numbers.Number, np.number, np.datetime64, datetime.date)


@dataclass(frozen=True, eq=False, repr=False)
class GroupPrevalence(TableRecord):
    """Prevalence of topics in groups of documents.

    Attributes
    ----------
    groups : tuple
        Labels of the G groups, in order.
    n_docs : (G,) int array
        Documents of each group that contain a word the model knows: those the mean is over.
    n_tokens : (G,) array
        Their tokens of words the model knows; nan if topic proportions were given, which do not tell.
    prevalence : (G, K) array
        Mean topic proportions; nan for a group without documents.
    low, high : (G, K) array
        Interval of the mean; nan for a group of fewer than two documents.
    level : float
        Level of the intervals.
    n_without_group, n_without_words : int
        Documents left out because they have no label, or a label but no word the model knows.
    topics, labels : tuple
        Id and name of each topic, in the order of the columns.
    by : str or None
        Name of the column that the groups are from.
    min_docs : int
        Groups of fewer documents were left out.
    n_small_groups, n_in_small_groups : int
        Groups left out because they are small, and the documents that are in no other group.
    """

    groups: tuple[Any, ...]
    n_docs: IntArray
    n_tokens: FloatArray
    prevalence: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    n_without_group: int
    n_without_words: int
    topics: tuple[int, ...]
    labels: tuple[str, ...]
    by: str | None = None
    min_docs: int = 1
    n_small_groups: int = 0
    n_in_small_groups: int = 0

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per group and topic: group, topic, label, prevalence, low, high, n_docs, n_tokens."""
        return [
            {
                "group": group,
                "topic": topic,
                "label": self.labels[k],
                "prevalence": float(self.prevalence[g, k]),
                "low": float(self.low[g, k]),
                "high": float(self.high[g, k]),
                "n_docs": int(self.n_docs[g]),
                "n_tokens": number(self.n_tokens[g]),
            }
            for g, group in enumerate(self.groups)
            for k, topic in enumerate(self.topics)
        ]

    def _tables(self, max_rows: int | None) -> list[Table]:
        return [group_table(self, max_rows)]


def prevalence_by(
    model: Any,
    X: Any = None,
    by: str | Iterable[Any] | None = None,
    *,
    proportions: Any = None,
    separator: str | None = None,
    min_docs: int = MIN_DOCS,
    order: str = "auto",
    level: float = 0.9,
    by_tokens: bool = False,
    method: str | None = None,
    n_jobs: int | None = None,
) -> GroupPrevalence:
    """Return the mean topic proportions of the documents of each group, with intervals.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        A Corpus, in memory or on disk, is matched to the model by its words. Read once, block by block. A
        TextTopicModel also takes texts. Leave it out if you give ``proportions``.
    by : str or sequence of M labels
        The name of a column of the documents table of X, or a label for each document: a string, a number, a date or
        anything hashable. A tuple, list or set holds several labels, and its document belongs to each of their groups.
        Documents with None, NaN or an empty list are left out.
    proportions : (M, K) array, optional
        Topic proportions of the documents, in place of X: what ``transform`` has returned, which is not inferred again.
        ``by`` must then hold the labels. Numbers of tokens are unknown: ``n_tokens`` is nan, and ``by_tokens`` is refused.
        A row that equals the prevalence of the topics is left out, because ``transform`` gives that to documents without a
        word the model knows; with a single topic, such documents are not told apart.
    separator : str, optional
        Split labels that are strings at this separator, such as ";" for "physics; biology", and remove surrounding
        spaces. The document belongs to each of the groups.
    min_docs : int
        Leave out groups with fewer documents that contain a word the model knows. The default is 5, because the interval
        of a smaller group says little: with five documents and a skewed topic, a 90% interval holds only 59% of the time.
        1 keeps all groups with documents.
    order : {"auto", "size", "natural"}
        Order of the groups: largest first, or the order of their labels. "auto" is "natural" for numbers and dates, and
        "size" otherwise, because the alphabetical order of names carries no meaning. Equal sizes are ordered by label.
    level : float
        Level of the intervals: the share of samples of as many documents whose interval would hold the true mean.
    by_tokens : bool
        Weight documents by their number of tokens instead of equally.
    method : {"posterior-mean", "prior-aware"}, optional
        How topic proportions are inferred, as in ``transform``. The default is the ``composition`` parameter of the
        estimator, or "posterior-mean" for a TopicModel.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    GroupPrevalence

    Notes
    -----
    The interval is mean +- t * standard error, where t is the quantile of Student's distribution with n - 1 degrees of
    freedom, clipped to [0, 1]. It says how far the mean of other documents of the same kind might lie with the model held
    fixed, and nothing about the uncertainty of the topics. Shares are skewed, so in groups of few documents the interval
    holds less often than its level.
    """
    record = as_topic_model(model)
    check_level(level)
    check_positive_integer(min_docs, "min_docs")
    if order not in ORDERS:
        raise InputError(f"order must be one of {', '.join(map(repr, ORDERS))}, but is {order!r}.")
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise InputError(f"separator must be a string such as ';', but is {separator!r}.")
    if (X is None) == (proportions is None):
        raise InputError("give either documents (X) or their topic proportions (proportions).")
    if by is None:
        raise InputError("by must say which group each document is in: give a column or a label for each document.")
    column = by if isinstance(by, str) else None
    parts: Iterable[_Part]
    if proportions is None:
        source = in_columns(read_by(model, X), record.vocabulary, record.n_words)
        given = source.documents[by] if isinstance(by, str) else by
        n_docs = source.n_docs
        composed = document_compositions(model, source, method=method, n_jobs=n_jobs)
        parts = ((weights, tokens > 0.0, tokens) for weights, tokens in composed)
    else:
        if column is not None:
            raise InputError(
                "by must hold a label for each document if proportions are given, as these have no columns."
            )
        if by_tokens:
            raise InputError("by_tokens needs documents, because proportions do not say how many tokens there are.")
        given, values = by, proportions_of(proportions, record.n_components)
        n_docs = len(values)
        parts = blocks_of([values], record, lambda row: f"row {row + 1} of proportions")
    return grouped(
        record, given, parts, n_docs=n_docs, column=column, separator=separator, min_docs=min_docs, order=order,
        level=level, by_tokens=by_tokens,
    )  # fmt: skip


def grouped(
    record: TopicModel,
    given: Any,
    parts: Iterable[_Part],
    *,
    n_docs: int | None = None,
    column: str | None = None,
    separator: str | None = None,
    min_docs: int = MIN_DOCS,
    order: str = "auto",
    level: float = 0.9,
    by_tokens: bool = False,
) -> GroupPrevalence:
    """Return the prevalence in groups of documents whose topic proportions are known.

    Parameters
    ----------
    record : TopicModel
    given : sequence of M labels
        As ``by`` in :func:`prevalence_by`.
    parts : iterable of (weights, known, tokens)
        Of consecutive documents: proportions that sum to one, whether there is a word the model knows, and the number of
        tokens of such words, nan if it is unknown.
    n_docs : int or None
        Number of documents, if it is known before they are read.
    column : str or None
        Name of the column that the labels are from.
    separator, min_docs, order, level, by_tokens
        As in :func:`prevalence_by`, checked.
    """
    labels, members = _coded(given, separator)
    if not labels:
        where = "" if column is None else f" in the column {short(column)}"
        raise InputError(f"no document has a value{where}, so that there is no group: check the labels.")
    n_labelled = members.shape[0]
    _require_as_many(n_docs, n_labelled)
    sums = GroupSums(len(labels), record.n_components)
    known = np.zeros(n_labelled, dtype=bool)
    first = 0
    for weights, is_known, tokens in parts:
        own = members[first : first + tokens.size]
        if own.shape[0] < tokens.size:
            raise InputError(f"by must name a group for each document, but X has more than its {n_labelled}.")
        known[first : first + tokens.size] = is_known
        first += tokens.size
        # A document counts once in each of its groups.
        rows, groups = np.repeat(np.arange(tokens.size), np.diff(own.indptr)), own.indices
        rows, groups = rows[is_known[rows]], groups[is_known[rows]]
        sums.add(groups, weights[rows], tokens[rows], tokens[rows] if by_tokens else np.ones(rows.size))
    if first != n_labelled:
        raise InputError(f"by must name a group for each document, but has {n_labelled} for the {first} of X.")
    if not sums.n_docs.any():
        raise InputError("no document with a group holds a word the model knows: check that the vocabularies match.")
    kept = _kept(sums.n_docs, labels, min_docs, order)
    prevalence, error = (values[kept] for values in sums.mean_and_error())
    half = t_quantile(sums.n_docs[kept], float(level))[:, None] * error
    labelled = np.diff(members.indptr) > 0
    in_kept = np.diff(sp.csr_array(members[:, np.sort(kept)]).indptr) > 0
    return GroupPrevalence(
        groups=tuple(labels[g] for g in kept),
        n_docs=sums.n_docs[kept],
        n_tokens=sums.n_tokens[kept],
        prevalence=prevalence,
        low=np.maximum(prevalence - half, 0.0),
        high=np.minimum(prevalence + half, 1.0),
        level=float(level),
        n_without_group=int(np.count_nonzero(~labelled)),
        n_without_words=int(np.count_nonzero(labelled & ~known)),
        topics=record.ids,
        labels=tuple(topic_names(record)),
        by=column,
        min_docs=int(min_docs),
        n_small_groups=len(labels) - kept.size,
        n_in_small_groups=int(np.count_nonzero(labelled & known & ~in_kept)),
    )


def check_level(level: Any) -> None:
    """Raise InputError unless this is the level of an interval."""
    if not isinstance(level, (int, float, np.number)) or isinstance(level, bool) or not 0 < level < 1:
        raise InputError(f"level must be a number between 0 and 1, such as 0.9, but is {level!r}.")


def _kept(n_docs: IntArray, labels: Sequence[Any], min_docs: int, order: str) -> IntArray:
    """The groups that are large enough, in the order in which they are listed."""
    kept = np.flatnonzero(n_docs >= min_docs)
    if not kept.size:
        raise InputError(
            f"no group has {min_docs} documents with a word the model knows, the largest has {int(n_docs.max())}: keep "
            "smaller groups too, or choose a column with larger groups."
        )
    if order == "size" or (order == "auto" and not all(isinstance(label, _ORDERED) for label in labels)):
        return kept[np.argsort(-n_docs[kept], kind="stable")]
    return kept


def _coded(groups: Any, separator: str | None = None) -> tuple[list[Any], SparseLike]:
    """Distinct labels in order, and documents x labels: ones in the columns of a document's labels."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise InputError(
            f"by must be a column or a sequence of one label per document, but is {type(groups).__name__}."
        )
    given = [_labels(label, separator) for label in groups]
    try:
        distinct: list[Any] = list({label for own in given for label in own})
    except TypeError:
        raise InputError("by must hold labels, such as strings or years, but holds what is none.") from None
    try:
        distinct.sort()
    except TypeError:  # labels of different kinds
        distinct.sort(key=lambda label: (type(label).__name__, str(label)))
    place: dict[Hashable, int] = {label: g for g, label in enumerate(distinct)}
    codes = [sorted({place[label] for label in own}) for own in given]
    indptr = np.concatenate([[0], np.cumsum([len(own) for own in codes], dtype=np.int64)])
    indices = np.array([code for own in codes for code in own], dtype=np.intp)
    return distinct, sp.csr_array((np.ones(indices.size), indices, indptr), shape=(len(given), len(distinct)))


def _labels(value: Any, separator: str | None = None) -> list[Any]:
    """The labels of a document, of which there may be none."""
    several = value if isinstance(value, (tuple, list, set, frozenset)) else [value]
    if separator is not None:
        several = [part for label in several for part in _split(label, separator)]
    return [_plain(label) for label in several if not _is_missing(label)]


def _split(label: Any, separator: str) -> list[Any]:
    """The parts of a string; any other label is one part."""
    return [part for part in map(str.strip, label.split(separator)) if part] if isinstance(label, str) else [label]


def _plain(label: Any) -> Any:
    """A number or string of NumPy as Python's own, whole ones as integers; dates stay what they are."""
    plain = label.item() if isinstance(label, (np.bool_, np.number, np.str_)) and label.dtype.kind in "biufU" else label
    return int(plain) if isinstance(plain, float) and plain.is_integer() else plain


def _is_missing(label: Any) -> bool:
    """None, NaN, and what data frames have for it: what does not equal itself, or will not say."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except (TypeError, ValueError):
        return True


def _require_as_many(n_docs: int | None, n_groups: int) -> None:
    """Raise before the first document is read, where their number is known."""
    if n_docs is not None and n_docs != n_groups:
        raise InputError(f"by must name a group for each of the {n_docs} documents, but has {n_groups}.")

"""How prevalent topics are in groups of documents: by year, by author, by any label.

Notation
--------
w_m : (K,)   composition of document m
a_m          its weight in the mean: 1, or its tokens
mean = sum a_m w_m / sum a_m over the n documents of a group
variance of the mean = n / (n - 1) sum a_m^2 (w_m - mean)^2 / (sum a_m)^2

The variance is that of a ratio of sums, linearised; with equal weights it is s^2 / n. Documents come in blocks: a group
keeps sums, and sums of squares about their own mean, which add up without cancellation (Chan, Golub and LeVeque).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..corpus.files import short
from ..exceptions import InputError
from ..model import as_topic_model
from ..sources.convert import in_columns
from .compositions import document_compositions
from .numbers import number


@dataclass(frozen=True, eq=False)
class GroupPrevalence:
    """Prevalence of topics in groups of documents.

    Attributes
    ----------
    groups : tuple
        Labels of the G groups, in order.
    n_docs : (G,) int array
        Documents of each group that hold a word the model knows: those the mean is over.
    n_tokens : (G,) array
        Their tokens of words the model knows.
    prevalence : (G, K) array
        Mean composition; nan for a group without a document.
    low, high : (G, K) array
        Interval of the mean; nan for a group of fewer than two documents.
    level : float
        Of the interval.
    n_without_group, n_without_words : int
        Documents left out: those without a label, and those with one but without a word the model knows.
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

    def rows(self) -> list[dict[str, Any]]:
        """One row a group and topic, for any data frame: group, topic, prevalence, low, high, n_docs, n_tokens."""
        return [
            {
                "group": group,
                "topic": k,
                "prevalence": float(self.prevalence[g, k]),
                "low": float(self.low[g, k]),
                "high": float(self.high[g, k]),
                "n_docs": int(self.n_docs[g]),
                "n_tokens": number(self.n_tokens[g]),
            }
            for g, group in enumerate(self.groups)
            for k in range(self.prevalence.shape[1])
        ]


def prevalence_by(
    model: Any,
    X: Any,
    by: str | Iterable[Any],
    *,
    level: float = 0.9,
    by_tokens: bool = False,
    method: str | None = None,
    n_jobs: int | None = None,
) -> GroupPrevalence:
    """Return the mean topic proportions of the documents of each group, with intervals.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        A Corpus, in memory or on disk, is matched to the model by its words. Gone through once, block by block.
    by : str or sequence of M labels
        The name of a column of the documents table of X, or a label for each document: a string, a number, a date or
        anything hashable. A tuple, list or set holds several labels, and its document belongs to each of their groups. None,
        NaN and an empty list leave a document out.
    level : float
        Of the intervals: the share of samples of documents, as many as these, whose interval would hold the true mean.
    by_tokens : bool
        Weight documents by their tokens instead of alike.
    method : {"posterior-mean", "prior-aware"}, optional
        How topic proportions are inferred, as in ``transform``. The default is the ``composition`` parameter of the
        estimator, or "posterior-mean" for a TopicModel.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    GroupPrevalence
        Groups in their own order where they have one, else by type and name; never in that of the documents.

    Notes
    -----
    The interval is mean +- t * standard error, t the quantile of Student's distribution with n - 1 degrees of freedom,
    cut to [0, 1]. It says how far the mean of other documents of the same kind might lie with the model held fixed, and
    nothing of how sure the topics are. Shares are skewed: in groups of few documents it holds less often than it says.
    A group of one document has none.
    """
    record = as_topic_model(model)
    if not isinstance(level, (int, float, np.number)) or isinstance(level, bool) or not 0 < level < 1:
        raise InputError(f"level must be a number between 0 and 1, such as 0.9, but is {level!r}.")
    source = in_columns(X, record.vocabulary, record.n_words)
    labels, members = _coded(source.documents[by] if isinstance(by, str) else by)
    if not labels:
        column = f" in the column {short(by)}" if isinstance(by, str) else ""
        raise InputError(f"no document has a value{column}, so that there is no group: check the labels.")
    n_labelled = members.shape[0]
    _require_as_many(source.n_docs, n_labelled)
    sums = _Sums(len(labels), record.n_components)
    first = n_without_words = 0
    for weights, tokens in document_compositions(record, source, method=method, n_jobs=n_jobs):
        own = members[first : first + tokens.size]
        if own.shape[0] < tokens.size:
            raise InputError(f"by must name a group for each document, but X has more than its {n_labelled}.")
        first += tokens.size
        n_without_words += int(np.count_nonzero((np.diff(own.indptr) > 0) & (tokens <= 0.0)))
        # A document counts once in each of its groups.
        rows, groups = np.repeat(np.arange(tokens.size), np.diff(own.indptr)), own.indices
        rows, groups = rows[tokens[rows] > 0.0], groups[tokens[rows] > 0.0]
        sums.add(groups, weights[rows], tokens[rows], tokens[rows] if by_tokens else np.ones(rows.size))
    if first != n_labelled:
        raise InputError(f"by must name a group for each document, but has {n_labelled} for the {first} of X.")
    if not sums.n_docs.any():
        raise InputError("no document with a group holds a word the model knows: check that the vocabularies match.")
    prevalence, error = sums.mean_and_error()
    half = _t_quantile(sums.n_docs, float(level))[:, None] * error
    return GroupPrevalence(
        groups=tuple(labels),
        n_docs=sums.n_docs,
        n_tokens=sums.n_tokens,
        prevalence=prevalence,
        low=np.maximum(prevalence - half, 0.0),
        high=np.minimum(prevalence + half, 1.0),
        level=float(level),
        n_without_group=int(np.count_nonzero(np.diff(members.indptr) == 0)),
        n_without_words=n_without_words,
    )


class _Sums:
    """What is kept of each group while documents go by."""

    def __init__(self, n_groups: int, K: int) -> None:
        self.n_docs, self.n_tokens = np.zeros(n_groups, dtype=np.intp), np.zeros(n_groups)
        self._a, self._aw = np.zeros(n_groups), np.zeros((n_groups, K))
        # Weights are divided by 2^exponent of their group, so that squares of tiny ones are not zero.
        self._exponent = np.full(n_groups, np.iinfo(np.int32).min // 2)
        # With weights a^2: their sum, the mean, and the sum of squares about it.
        self._aa, self._mean, self._squares = np.zeros(n_groups), np.zeros((n_groups, K)), np.zeros((n_groups, K))

    def add(self, groups: IntArray, w: FloatArray, tokens: FloatArray, a: FloatArray) -> None:
        if groups.size == 0:
            return
        here, own = np.unique(groups, return_inverse=True)
        # Groups of this block x its documents: products with it are sums over the documents of each group.
        member = sp.csr_array((np.ones(own.size), (own, np.arange(own.size))), shape=(here.size, own.size))
        self.n_docs[here] += np.bincount(own)
        self.n_tokens[here] += member @ tokens
        a = self._scaled(here, own, a)
        self._a[here] += member @ a
        self._aw[here] += member @ (a[:, None] * w)
        aa = member @ a**2
        # The squares of this block may be nothing next to those of blocks before it.
        mean = (member @ (a[:, None] ** 2 * w)) / np.where(aa > 0.0, aa, 1.0)[:, None]
        squares = member @ (a[:, None] ** 2 * (w - mean[own]) ** 2)
        before, both = self._aa[here], self._aa[here] + aa
        apart = mean - self._mean[here]
        self._squares[here] += squares + apart**2 * (before * aa / both)[:, None]
        self._mean[here] += apart * (aa / both)[:, None]
        self._aa[here] = both

    def _scaled(self, here: IntArray, own: IntArray, a: FloatArray) -> FloatArray:
        """Weights in the scale of their groups, which grows with the largest; powers of two, which change no digit."""
        exponent = self._exponent[here]
        np.maximum.at(exponent, own, np.frexp(a)[1])
        # At most 0; beyond the range of exponents, all that was summed before is nothing next to this block.
        shift = np.maximum(self._exponent[here] - exponent, -10_000)
        for sums, power in ((self._a, 1), (self._aw, 1), (self._aa, 2), (self._squares, 2)):
            sums[here] = np.ldexp(sums[here], power * shift if sums.ndim == 1 else power * shift[:, None])
        self._exponent[here] = exponent
        return np.ldexp(a, -exponent[own])

    def mean_and_error(self) -> tuple[FloatArray, FloatArray]:
        """Mean of each group and its standard error; nan where there are too few documents."""
        some, several = self.n_docs > 0, self.n_docs > 1
        mean, error = np.full(self._aw.shape, np.nan), np.full(self._aw.shape, np.nan)
        mean[some] = self._aw[some] / self._a[some, None]
        n = self.n_docs[several, None]
        about_mean = self._squares[several] + self._aa[several, None] * (mean[several] - self._mean[several]) ** 2
        error[several] = np.sqrt(n / (n - 1) * about_mean) / self._a[several, None]
        return mean, error


def _t_quantile(n_docs: IntArray, level: float) -> FloatArray:
    """Quantile of Student's t for a two-sided interval of each group; nan below two documents."""
    from scipy.special import stdtrit

    return np.where(n_docs > 1, stdtrit(np.maximum(n_docs - 1, 1), (1.0 + level) / 2.0), np.nan)


def _coded(groups: Any) -> tuple[list[Any], SparseLike]:
    """Distinct labels in order, and documents x labels: ones in the columns of a document's labels."""
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise InputError(
            f"by must be a column or a sequence of one label per document, but is {type(groups).__name__}."
        )
    given = [_labels(label) for label in groups]
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


def _labels(value: Any) -> list[Any]:
    """The labels of a document, of which there may be none."""
    several = value if isinstance(value, (tuple, list, set, frozenset)) else [value]
    return [_plain(label) for label in several if not _is_missing(label)]


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

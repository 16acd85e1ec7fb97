"""Topics over time: one pass over the documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .._typing import FloatArray, SparseLike
from .._validation import check_n_jobs
from ..exceptions import InputError
from ..infer.compose import compositions, prototype_of
from ..interpret.compositions import method_for
from ..interpret.group_sums import GroupSums, t_quantile
from ..interpret.naming import topic_names
from ..interpret.prevalence import check_level
from ..interpret.topic_words import ranking_for
from ..linalg.sparse import rows_between
from ..model import TopicModel, as_explained, as_topic_model
from ..sources.convert import in_columns, read_by
from ..sources.source import LazyBlock, Source
from .periods import periods_of
from .record import TopicsOverTime
from .regression import TrendSums
from .word_sums import WordSums

# Proportions of documents that are made at a time: 16 MB.
_SHARES = 1 << 21


def topics_over_time(
    model: Any,
    X: Any,
    by: Any = "year",
    freq: Any = None,
    *,
    n_bins: int | None = None,
    n_words: int = 500,
    level: float = 0.9,
    by_tokens: bool = False,
    method: str | None = None,
    n_jobs: int | None = None,
) -> TopicsOverTime:
    """Return how prevalent topics are in each period of time, their trends, and how their words change.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    X : Corpus, counts, or blocks of counts
        A Corpus, in memory or on disk, is matched to the model by its words. Read once, block by block. A
        TextTopicModel also takes texts.
    by : str or sequence of M dates or numbers
        The name of a column of the documents table of X, or the time of each document. Documents whose time is missing
        (None, NaN, NaT) are left out and counted.
    freq : str, number or None
        How to divide the documents into periods.

        - Dates: "YE" (or "Y") for years, "QE" ("Q") for quarters, "ME" ("M") for months, "W" for weeks from Monday on, "D"
          for days; with a number for several, as in "10YE" for decades.
        - Numbers: a width, such as 5 for periods that begin at multiples of 5. "YE" also works for years.
        - "quantiles:8": eight periods of about as many documents each. Equal times stay together.
        - None: for numbers, one period per distinct value if there are at most 40, else the smallest width of 1, 2 or 5
          times a power of ten that gives at most 40 periods. For dates, the finest calendar unit that gives at most 40
          periods and at least 10 documents per period on average. The attribute ``freq`` of the result names the choice.
    n_bins : int, optional
        The same as ``freq="quantiles:n_bins"``.
    n_words : int
        Words to follow per topic for :meth:`TopicsOverTime.words`: its most probable ones. 0 disables it and saves time.
        Fewer are followed if the arrays would exceed 64 MB each.
    level : float
        Level of the intervals.
    by_tokens : bool
        Weight documents by their number of tokens instead of equally.
    method : {"posterior-mean", "prior-aware"}, optional
        How topic proportions are inferred, as in ``transform``.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    TopicsOverTime

    Notes
    -----
    Prevalence and intervals are those of :func:`anchorwords.prevalence_by` with periods as groups: they describe other
    documents of the same kind with the model held fixed, and say nothing about the uncertainty of the topics.
    """
    record = as_topic_model(model)
    check_level(level)
    if isinstance(n_words, bool) or not isinstance(n_words, (int, np.integer)) or n_words < 0:
        raise InputError(f"n_words must be a whole number from 0 on, but is {n_words!r}.")
    source = in_columns(read_by(model, X), record.vocabulary, record.n_words)
    named = isinstance(by, str)
    if named:
        periods = periods_of(source.documents[by], freq, n_bins, f"the column {by!r}", source.documents.ids)
    else:
        periods = periods_of(by, freq, n_bins)
    n_timed, T = periods.codes.size, len(periods.names)
    if source.n_docs is not None and source.n_docs != n_timed:
        raise InputError(f"by must give a time for each of the {source.n_docs} documents, but has {n_timed}.")
    sums, trend = GroupSums(T, record.n_components), TrendSums(periods.times, record.prevalence, T)
    words = WordSums(record.B, T, int(n_words), _rest_of(record)) if n_words else None
    first = n_without_words = 0
    for counts, weights, shares, tokens in _documents(
        record, source, method, prototype_of(model, source), check_n_jobs(n_jobs)
    ):
        codes = periods.codes[first : first + tokens.size]
        times = periods.times[first : first + tokens.size]
        if codes.size < tokens.size:
            raise InputError(f"by must give a time for each document, but X has more than its {n_timed}.")
        first += tokens.size
        n_without_words += int(np.count_nonzero((codes >= 0) & (tokens <= 0.0)))
        rows = np.flatnonzero((codes >= 0) & (tokens > 0.0))
        a = tokens[rows] if by_tokens else np.ones(rows.size)
        sums.add(codes[rows], weights[rows], tokens[rows], a)
        trend.add(codes[rows], times[rows], weights[rows], a)
        if words is not None and rows.size:
            words.add(codes[rows], counts[rows], shares[0][rows], shares[1][rows])
    if first != n_timed:
        raise InputError(f"by must give a time for each document, but has {n_timed} for the {first} of X.")
    if not sums.n_docs.any():
        raise InputError("no document with a time holds a word the model knows: check that the vocabularies match.")
    prevalence, error = sums.mean_and_error()
    half = t_quantile(sums.n_docs, float(level))[:, None] * error
    return TopicsOverTime(
        periods=periods.names, starts=periods.starts, ends=periods.ends, midpoints=periods.midpoints,
        n_docs=sums.n_docs, n_tokens=sums.n_tokens, prevalence=prevalence, lower=np.maximum(prevalence - half, 0.0),
        upper=np.minimum(prevalence + half, 1.0), by_periods=trend.line(levelled=True),
        by_documents=trend.line(levelled=False), topics=record.ids,
        labels=tuple(topic_names(record)), by=by if named else None, freq=periods.freq, unit=periods.unit,
        level=float(level), n_without_time=int(np.count_nonzero(periods.codes < 0)), n_without_words=n_without_words,
        span=float(np.nanmax(periods.times) - np.nanmin(periods.times)), model=record, ranking=ranking_for(record),
        word_counts=None if words is None else words.sums,
    )  # fmt: skip


class _Read(Source):
    """The documents of a source in small blocks, the latest of which is kept at hand."""

    def __init__(self, source: Source, n_docs: int) -> None:
        self._source, self._step = source, n_docs
        self.n_words, self.words = source.n_words, source.words
        self.latest: SparseLike | None = None

    def lazy_blocks(self) -> Iterator[LazyBlock]:
        """Functions that return consecutive documents."""
        for block in self._source.lazy_blocks():
            counts = block()
            for start in range(0, counts.shape[0], self._step):
                yield partial(self._noted, rows_between(counts, start, start + self._step))

    def _noted(self, counts: SparseLike) -> SparseLike:
        self.latest = counts
        return counts


def _rest_of(record: TopicModel) -> FloatArray | None:
    """p(word | part) of the background and of dropped topics."""
    return None if record.parts is None else record.parts.B[:, record.parts.topic_of < 0]


def _documents(
    record: TopicModel, source: Source, method: str | None, like: Any, n_jobs: int | None
) -> Iterator[tuple[SparseLike, FloatArray, tuple[FloatArray, FloatArray], FloatArray]]:
    """Counts, topic proportions and known tokens of consecutive documents, in one pass.

    With them the shares of the whole document: those of the topics, and those of the background and of dropped topics.
    """
    read = _Read(source, max(1, _SHARES // record.n_components))
    parts = record.parts
    for part in compositions(
        as_explained(record), read, method=method_for(record, method), whole_blocks=True, like=like, n_jobs=n_jobs
    ):
        assert read.latest is not None
        if parts is None:
            yield read.latest, part.weights, (part.weights, part.weights[:, :0]), part.n_known
            continue
        weights = parts.proportions(part.weights, record.prevalence)
        weights[part.n_known == 0.0] = record.prevalence
        shares = parts.gathered(part.weights, record.n_components), part.weights[:, parts.topic_of < 0]
        yield read.latest, weights, shares, part.n_known

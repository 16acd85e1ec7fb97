"""Topics over time: the record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..interpret.numbers import number
from ..interpret.prevalence import check_level
from ..interpret.ranking import largest
from ..model import TopicModel
from ..records import TableRecord
from ..records.table import Table
from .regression import Line, adjusted_p_values, interval_and_p
from .shown import over_time_table, trends_table
from .topic_words import FollowedWords, TopicWords, compared_periods, largest_changes
from .word_sums import PeriodWords

# Weight of the probability in the relevance of a word, as in anchorwords.top_words.
_RELEVANCE = 0.6
ERRORS = ("periods", "documents")


@dataclass(frozen=True, eq=False, repr=False)
class TopicsOverTime(TableRecord):
    """Prevalence of topics in periods of time; see :func:`anchorwords.topics_over_time`.

    Attributes
    ----------
    periods : tuple
        The T periods that have documents, in order: numbers, or strings such as "2003-Q2".
    starts, ends, midpoints : (T,) arrays
        Dates or numbers.
    n_docs : (T,) int array
        Documents of each period that contain a word the model knows.
    n_tokens : (T,) array
        Their tokens of words the model knows.
    prevalence : (T, K) array
        Mean topic proportions; nan for a period without such documents.
    lower, upper : (T, K) arrays
        Interval of the mean; nan for a period of fewer than two documents.
    topics, labels : tuple
        Id and name of each topic, in the order of the columns.
    by_periods, by_documents : Line
        Slope of each topic with its errors, by the two ways of :meth:`trends`.
    by : str or None
        Name of the column.
    freq : str
        What the periods are, such as "YE", "width 5", "quantiles:8" or "distinct".
    unit : str
        Unit of time of the slopes: "year" for dates, "1" for numbers.
    level : float
        Level of the intervals.
    n_without_time, n_without_words : int
        Documents left out because they have no time, or a time but no word the model knows.
    """

    periods: tuple[Any, ...]
    starts: npt.NDArray[Any]
    ends: npt.NDArray[Any]
    midpoints: npt.NDArray[Any]
    n_docs: IntArray
    n_tokens: FloatArray
    prevalence: FloatArray
    lower: FloatArray
    upper: FloatArray
    by_periods: Line = field(repr=False)
    by_documents: Line = field(repr=False)
    topics: tuple[int, ...]
    labels: tuple[str, ...]
    by: str | None
    freq: str
    unit: str
    level: float
    n_without_time: int
    n_without_words: int
    span: float = field(repr=False)
    model: TopicModel = field(repr=False)
    ranking: str = field(repr=False, default="probability")
    word_counts: PeriodWords | None = field(repr=False, default=None)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per period and topic: period, topic, label, prevalence, lower, upper, n_docs, n_tokens."""
        return [
            {
                "period": period,
                "topic": topic,
                "label": self.labels[k],
                "prevalence": float(self.prevalence[t, k]),
                "lower": float(self.lower[t, k]),
                "upper": float(self.upper[t, k]),
                "n_docs": int(self.n_docs[t]),
                "n_tokens": number(self.n_tokens[t]),
            }
            for t, period in enumerate(self.periods)
            for k, topic in enumerate(self.topics)
        ]

    def _tables(self, max_rows: int | None) -> list[Table]:
        return [over_time_table(self, max_rows)]

    def trends(self, *, level: float | None = None, fdr: float = 0.05, errors: str = "periods") -> Trends:
        """Return the linear trend of each topic, largest absolute slope first.

        Parameters
        ----------
        level : float, optional
            Level of the intervals, by default that of the prevalence.
        fdr : float
            False discovery rate of the verdicts: the expected share of wrong ones among topics called rising or falling.
        errors : {"periods", "documents"}
            What varies at random. With "periods", documents of one period may share a deviation from the line, because
            an event or a change of practice moved all of them; at least three periods are needed. "documents" takes
            documents as independent, so that in a large corpus almost every topic rises or falls.

        Returns
        -------
        Trends
            A table with one row per topic: topic, label, slope, lower, upper, change (the slope times the time between the
            first and the last document), p_value, q_value (adjusted by Benjamini and Hochberg) and verdict: "rising" or
            "falling" if the q-value is at most ``fdr``, else "no clear trend". If there are too few periods to tell,
            intervals and p-values are nan.

        Notes
        -----
        The slope is that of a weighted least-squares line through the proportions of documents. With "documents", documents
        have equal weight (or that of their tokens), and standard errors are robust to heteroscedasticity (HC1).

        With "periods", weights are those of a random effect of the period, whose variance is estimated by moments: without
        shared deviations a period counts by its documents, and the slope is that of "documents"; with large ones it counts
        as one observation, however many documents it has. Standard errors are cluster-robust, with periods as clusters, the
        small-sample correction of Bell and McCaffrey and Satterthwaite's degrees of freedom. They therefore do not rely on
        the estimated variance, nor on deviations of equal size in all periods. Such errors are noisy if there are few
        periods and may by chance be smaller than those of independent documents, so that the longer of both intervals and
        the larger of both p-values are reported. In simulations, 90% intervals hold in 89% to 98% of the cases, with and
        without shared deviations (``benchmarks/trends.py``).

        Deviations of neighbouring periods count as independent. If they are alike, as when a topic stays popular for some
        years, intervals are too short (in simulations with a correlation of 0.5, they hold in 71% to 88% of the cases);
        longer periods help. Intervals are per topic; verdicts allow for their number. A line does not describe a topic that
        rises and falls again: its deviations from the line make its interval long.
        """
        level = self.level if level is None else level
        check_level(level)
        if isinstance(fdr, bool) or not isinstance(fdr, (int, float, np.number)) or not 0 < fdr < 1:
            raise InputError(f"fdr must be a number between 0 and 1, such as 0.05, but is {fdr!r}.")
        if errors not in ERRORS:
            raise InputError(f"errors must be one of {', '.join(map(repr, ERRORS))}, but is {errors!r}.")
        line = self.by_periods if errors == "periods" else self.by_documents
        half, p = interval_and_p(line.slope, line.error, max(float(self.n_docs.sum()) - 2.0, 1.0), float(level))
        if errors == "periods":
            shared = interval_and_p(line.slope, line.shared_error, line.freedom, float(level))
            half, p = np.maximum(half, shared[0]), np.maximum(p, shared[1])
        q = adjusted_p_values(p)
        order = np.argsort(-np.abs(np.nan_to_num(line.slope)), kind="stable")
        table = [
            {
                "topic": self.topics[k],
                "label": self.labels[k],
                "slope": float(line.slope[k]),
                "lower": float(line.slope[k] - half[k]),
                "upper": float(line.slope[k] + half[k]),
                "change": float(line.slope[k] * self.span),
                "p_value": float(p[k]),
                "q_value": float(q[k]),
                "verdict": _verdict(float(line.slope[k]), float(q[k]), float(fdr)),
            }
            for k in order.tolist()
        ]
        return Trends(
            table,
            self.unit,
            float(level),
            float(fdr),
            errors,
            line.freedom if errors == "periods" else np.nan,
            self.by,
        )

    def words(self, topic: int, n: int = 10, *, smoothing: float = 100.0, between: Any = None) -> TopicWords:
        """Return how the words of a topic change from period to period.

        Parameters
        ----------
        topic : int
            Id of the topic.
        n : int
            Words per period, and rising and falling words.
        smoothing : float
            Pseudo-counts: the words of each period are estimated as if it had this many more tokens of the topic, spread
            over words like the topic of the model. A period with far fewer expected tokens shows the topic's own words; 100
            is about what a list of ten words needs to differ from chance.
        between : pair of periods, optional
            Compare these two periods for rising and falling words. By default, the first third of the periods is compared
            with the last third.

        Returns
        -------
        TopicWords
            A table with one row per period and word; its attributes ``rising`` and ``falling`` list the words whose
            probability in the topic changed most, with log2 of the ratio and its interval. Only words whose interval does
            not include zero are listed, ordered by the end of the interval nearer to zero.
        """
        check_positive_integer(n, "n")
        if isinstance(smoothing, bool) or not isinstance(smoothing, (int, float, np.number)) or not smoothing >= 0:
            raise InputError(f"smoothing must be a number of pseudo-counts from 0 on, but is {smoothing!r}.")
        if self.word_counts is None:
            raise InputError("words were not followed: call topics_over_time with n_words of at least 1.")
        k, kept = self.model.position(topic), self.word_counts
        indices = kept.words[k]
        followed = FollowedWords(
            self.model.B[indices, k], kept.counts[:, k], kept.squares[:, k], kept.cross[:, k], kept.tokens[:, k],
            kept.token_squares[:, k], float(smoothing),
        )  # fmt: skip
        vocabulary = self.model.vocabulary
        words = tuple(str(i) if vocabulary is None else vocabulary[i] for i in indices.tolist())
        phi, error = followed.estimates()
        early, late = compared_periods(self.periods, between)
        rising, falling = largest_changes(followed.changes(early, late, self.level), words, n)
        top = [[words[c] for c in self._best(row, indices, n)] for row in phi]
        return TopicWords(
            self.topics[k], self.labels[k], self.periods, kept.tokens[:, k], words, phi, error, top, rising, falling,
            float(smoothing), self.level,
        )  # fmt: skip

    def _best(self, phi: FloatArray, indices: IntArray, n: int) -> list[int]:
        """Places of the best words of a period, by the ranking that the model is read by."""
        known = np.flatnonzero(phi > 0.0)
        score: FloatArray = np.log(phi[known])
        if self.ranking != "probability":
            everywhere = self.model.B[indices[known]] @ self.model.prevalence
            score = score - (1.0 - _RELEVANCE) * np.log(np.maximum(everywhere, np.finfo(np.float64).tiny))
        return known[largest(np.round(score, 12), n)].tolist() if known.size else []


@dataclass(frozen=True, eq=False, repr=False)
class Trends(TableRecord):
    """Linear trends of topics; see :meth:`TopicsOverTime.trends`.

    Attributes
    ----------
    table : list of dict
    unit : str
        Unit of time of the slopes.
    level : float
        Level of the intervals.
    fdr : float
        False discovery rate of the verdicts.
    errors : str
        What varies at random: "periods" or "documents".
    freedom : float
        Degrees of freedom of errors with periods as clusters; nan with "documents" or too few periods.
    by : str or None
        Name of the column.
    """

    table: list[dict[str, Any]]
    unit: str
    level: float
    fdr: float
    errors: str = "periods"
    freedom: float = np.nan
    by: str | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per topic."""
        return [dict(row) for row in self.table]

    def _tables(self, max_rows: int | None) -> list[Table]:
        return [trends_table(self, max_rows)]


def _verdict(slope: float, q: float, fdr: float) -> str:
    if not q <= fdr:
        return "no clear trend"
    return "rising" if slope > 0 else "falling"

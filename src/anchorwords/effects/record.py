"""The results of a regression on covariates: coefficients, contrasts and predictions, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import stdtr, stdtrit

from .._printable import printable
from .._typing import FloatArray
from ..corpus.files import short
from ..exceptions import InputError
from ..records import TableRecord
from ..records.table import Table, counted
from .design import Design
from .regression import Fit
from .shown import dates_in_words, estimates_table, held_in_words, predictions_table

# A combination of coefficients that has more than this of a direction that one document determines has no standard error.
_TOUCHES = 1e-7


@dataclass(frozen=True, eq=False)
class TopicDoubt:
    """How gamma varies over replicates of the topics.

    Attributes
    ----------
    covariance : (K, P, P) array
        In the coordinates of Q.
    freedom : float
        Degrees of freedom of these variances.
    n_replicates : int
    """

    covariance: FloatArray
    freedom: float
    n_replicates: int


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(TableRecord):
    """Combinations of coefficients with standard errors and intervals; all arrays are (n, K).

    Attributes
    ----------
    topics : tuple of K int
        Ids of the topics.
    labels : tuple of K str
    key : str
        What the names are: "term", "contrast" or the column of a grid.
    names : tuple of n
    estimate, std_error, lower, upper, p_value : (n, K) array
        NaN where a single document determines the estimate.
    level : float
    held : dict
        Of a contrast of values: the columns that were not given, and the value that each of them has instead.
    """

    topics: tuple[int, ...]
    labels: tuple[str, ...]
    key: str
    names: tuple[Any, ...]
    estimate: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray
    level: float
    held: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per topic and name: topic, label, name, estimate, std_error, lower, upper, p_value."""
        numbers = ("estimate", "std_error", "lower", "upper", "p_value")
        return [
            {"topic": topic, "label": label, self.key: name} | {one: float(getattr(self, one)[i, k]) for one in numbers}
            for k, (topic, label) in enumerate(zip(self.topics, self.labels, strict=True))
            for i, name in enumerate(self.names)
        ]

    def _tables(self, max_rows: int | None) -> list[Table]:
        caption = f"{self.key.capitalize()} of {counted(len(self.topics), 'topic')}"
        return [estimates_table(self, caption, held_in_words(self.held), max_rows)]


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Estimates):
    """Predicted topic proportions on a grid of values; see :meth:`Effects.predict`.

    Attributes
    ----------
    grid : dict of str to (n,) array
        The values of all columns of the formula.
    """

    grid: Mapping[str, Any]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per topic and row of the grid: topic, label, the values, estimate, std_error, lower, upper."""
        return [
            {"topic": topic, "label": label}
            | {name: np.asarray(values)[i : i + 1].tolist()[0] for name, values in self.grid.items()}
            | {one: float(getattr(self, one)[i, k]) for one in ("estimate", "std_error", "lower", "upper")}
            for k, (topic, label) in enumerate(zip(self.topics, self.labels, strict=True))
            for i in range(self.estimate.shape[0])
        ]

    def _tables(self, max_rows: int | None) -> list[Table]:
        return [predictions_table(self, max_rows)]


@dataclass(frozen=True, eq=False, repr=False)
class Effects(Estimates):
    """Effects of covariates on topic proportions, from :func:`anchorwords.estimate_effects`.

    Attributes
    ----------
    formula : str
    method : str
    n_docs : int
        Documents in the regression.
    n_missing, n_without_words : int
        Documents left out: those with a missing value, and others without a word the model knows.
    n_replicates : int
        Replicates of the topics whose variation is in the intervals; 0 if topics are held fixed.
    fit : Fit
    design : Design
    doubt : TopicDoubt or None
    """

    formula: str
    method: str
    n_docs: int
    n_missing: int
    n_without_words: int
    fit: Fit
    design: Design
    doubt: TopicDoubt | None

    @property
    def n_replicates(self) -> int:
        """Replicates of the topics that were used."""
        return 0 if self.doubt is None else self.doubt.n_replicates

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return self.names

    def table(self, topic: int) -> list[dict[str, Any]]:
        """Return the rows of one topic, by its id."""
        self._columns([topic])
        return [row for row in self.rows() if row["topic"] == topic]

    def contrast(self, first: str | Mapping[str, Any], second: str | Mapping[str, Any] | None = None) -> Estimates:
        """Return the difference of two predictions or coefficients, with its interval.

        Parameters
        ----------
        first, second : dict or str
            Values of columns, such as ``{"year": 2020}``, or the name of a term. The contrast is the first minus the
            second. Columns that are not given are the same in both: their mean or most frequent value. The attribute
            ``held`` of the result and a note below its table name these values. Without a second, the contrast is the
            coefficient of the first, which must then be a term.

        Returns
        -------
        Estimates
        """
        if second is None and not isinstance(first, str):
            raise InputError("contrast needs two sets of values, such as {'year': 2020} and {'year': 2010}, or a term.")
        if second is not None and isinstance(first, str) != isinstance(second, str):
            raise InputError("contrast needs two terms or two sets of values, but got one of each.")
        difference = self._row(first) - (0.0 if second is None else self._row(second))
        given = [what for what in (first, second) if isinstance(what, Mapping)]
        held = {
            column: self.design.typical(column)
            for column in self.design.values
            if any(column not in values for values in given)
        }
        name = _named(first) if second is None else f"{_named(first)} - {_named(second)}"
        return Estimates(
            self.topics, self.labels, "contrast", (name,), *estimates(self.fit, self.doubt, self._freedom, difference,
            self.level), self.level, held=held,
        )  # fmt: skip

    def predict(self, values: Mapping[str, Any], topics: Sequence[int] | None = None) -> Predictions:
        """Return predicted topic proportions on a grid of values, with pointwise intervals.

        Parameters
        ----------
        values : mapping of str to value or sequence
            For example ``{"year": range(2000, 2021)}``. Sequences have the same length; a single value is the same in all
            rows. Columns of the formula that are not given have their mean or, unless they hold numbers, their most
            frequent value.
        topics : sequence of int, optional
            Ids; all topics by default.

        Returns
        -------
        Predictions
            The mean proportion of documents with these values. A linear model may predict a little less than 0.
        """
        columns = self._columns(topics)
        grid, rows = self.design.rows_at({name: _listed(value) for name, value in values.items()})
        found = estimates(self.fit, self.doubt, self._freedom, rows, self.level)
        estimate, error, lower, upper, p_value = (part[:, columns] for part in found)
        key = next(iter(values), "row")
        names = tuple(np.asarray(grid[key]).tolist()) if key in grid else tuple(range(rows.shape[0]))
        labels = tuple(self.labels[k] for k in columns)
        topics = tuple(self.topics[k] for k in columns)
        return Predictions(
            topics, labels, key, names, estimate, error, lower, upper, p_value, self.level, grid
        )  # fmt: skip

    def _tables(self, max_rows: int | None) -> list[Table]:
        caption = f"Effects of {self.formula} on the proportions of {counted(len(self.topics), 'topic')}"
        return [estimates_table(self, caption, [*dates_in_words(self.design.dates), self.summary()], max_rows)]

    def summary(self) -> str:
        """Return one line about the regression."""
        left_out = [
            f"{n:,} {what}"
            for n, what in ((self.n_missing, "with a missing value"), (self.n_without_words, "without a known word"))
            if n
        ]
        topics = "topics held fixed" if self.doubt is None else f"{self.n_replicates} replicates of the topics"
        left = f"; left out: {' and '.join(left_out)}" if left_out else ""
        return f"proportions ({self.method}) ~ {printable(self.formula)}: {self.n_docs:,} documents, {topics}{left}"

    @property
    def _freedom(self) -> int:
        return self.n_docs - len(self.names)

    def _columns(self, topics: Sequence[int] | None) -> list[int]:
        wanted = self.topics if topics is None else tuple(topics)
        if unknown := [topic for topic in wanted if topic not in self.topics]:
            known = ", ".join(map(str, self.topics[:20])) + (", ..." if len(self.topics) > 20 else "")
            raise InputError(f"there is no topic {unknown[0]!r} in these effects: they have {known}.")
        return [self.topics.index(topic) for topic in wanted]

    def _row(self, what: str | Mapping[str, Any]) -> FloatArray:
        """A row of the design, or the unit vector of a term."""
        if isinstance(what, str):
            if what not in self.names:
                raise InputError(f"there is no term {short(what)}: the terms are {', '.join(map(short, self.names))}.")
            return np.eye(len(self.names))[[self.names.index(what)]]
        row = self.design.rows_at(what)[1]
        if row.shape[0] != 1:
            raise InputError("contrast needs one value per column; predict takes several.")
        return row


def estimates(
    fit: Fit, doubt: TopicDoubt | None, freedom: int, rows: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return estimate, standard error, lower, upper and p-value of combinations of coefficients, each (n, K).

    Where topics are in doubt the two variances add up, and their degrees of freedom combine as Satterthwaite has it.
    """
    q = solve_triangular(fit.R, rows.T, trans="T", check_finite=False).T
    estimate = q @ fit.gamma
    variance = np.maximum(np.einsum("ip,kpq,iq->ik", q, fit.sandwich, q, optimize=True), 0.0)
    degrees = np.full(variance.shape, float(freedom))
    if doubt is not None:
        of_topics = np.maximum(np.einsum("ip,kpq,iq->ik", q, doubt.covariance, q, optimize=True), 0.0)
        both = variance + of_topics
        share = np.divide(of_topics, both, out=np.zeros_like(both), where=both > 0.0)
        degrees = 1.0 / ((1.0 - share) ** 2 / freedom + share**2 / doubt.freedom)
        variance = both
    error = np.sqrt(variance)
    length = np.linalg.norm(q, axis=1)
    touched = (np.abs(q @ fit.alone) > _TOUCHES * np.where(length > 0.0, length, 1.0)[:, None]).any(axis=1)
    error[touched] = np.nan
    half = stdtrit(degrees, (1.0 + level) / 2.0) * error
    # No difference and no error: nothing speaks against zero.
    ratio = np.divide(np.abs(estimate), error, out=np.where(estimate == 0.0, 0.0, np.inf), where=error != 0.0)
    return estimate, error, estimate - half, estimate + half, 2.0 * stdtr(degrees, -ratio)


def _named(what: str | Mapping[str, Any]) -> str:
    return what if isinstance(what, str) else ", ".join(f"{name}={value}" for name, value in what.items())


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, range) else value

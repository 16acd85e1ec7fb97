"""The documents table: what is known about each document besides its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from .column_builder import column_of
from .columns import Column
from .files import short


class Document(NamedTuple):
    """One document of a corpus.

    Attributes
    ----------
    id : str or None
    title : str or None
    counts : dict
        The count of each of its words, in the order of the vocabulary.
    values : dict
        Its row of the documents table.
    """

    id: str | None
    title: str | None
    counts: dict[str, float]
    values: dict[str, Any]


class Documents(Mapping[str, npt.NDArray[Any]]):
    """A read-only table with one row per document: ``corpus.documents["year"]`` is a column as an array.

    ==========  ==========================  ==================
    kind        type of the array           a missing value is
    ==========  ==========================  ==================
    integer     int64                       (none is missing)
    number      float64                     NaN
    boolean     bool                        (none is missing; otherwise the numbers 1, 0 and NaN)
    date        datetime64[D]               NaT
    time        datetime64[us], in UTC      NaT
    text        object, of str              None
    list        object, of tuples of str    an empty tuple
    ==========  ==========================  ==================

    Parameters
    ----------
    n_docs : int or None
        Number of documents; None if only reading them would tell.
    columns : mapping of str to Column
        A column may be loaded when it is first asked for.
    ids : sequence of str or callable, optional
        The id of each document; or a function that returns them, or None if there are none, when they are first asked for.
    title : str, optional
        The column that names documents for readers.
    numbers : (M,) array, optional
        The number of each document, from 0, among those that were read, if some were left out.
    """

    def __init__(
        self,
        n_docs: int | None = None,
        columns: Mapping[str, Column] | None = None,
        *,
        ids: Sequence[str] | Callable[[], Sequence[str] | None] | None = None,
        title: str | None = None,
        numbers: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.n_docs, self.title, self.numbers = n_docs, title, numbers
        self.columns: Mapping[str, Column] = {} if columns is None else columns
        self._ids = ids

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.column(name).values

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def get(self, name: str, default: Any = None) -> Any:
        """Return a column as an array, or the default if there is none."""
        return self.columns[name].values if name in self.columns else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} ({kind})" for name, kind in self.kinds.items()) or "no columns"
        n_docs = "an unknown number of" if self.n_docs is None else f"{self.n_docs:,}"
        return f"Documents({n_docs} documents: {columns})"

    def column(self, name: str) -> Column:
        """Return a column in its compact form; InputError names the columns there are."""
        if not isinstance(name, str) or name not in self.columns:
            there = ", ".join(map(short, self.columns)) or "none; read the documents with columns=, or --columns"
            raise InputError(f"the documents have no column {short(name)}: they have {there}.")
        return self.columns[name]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column, such as "integer" or "date"."""
        return {name: self.columns[name].kind for name in self.columns}

    @property
    def ids(self) -> Sequence[str] | None:
        """The id of each document, or None if documents have none."""
        return self._ids() if callable(self._ids) else self._ids

    @property
    def titles(self) -> npt.NDArray[Any] | None:
        """The title of each document, or None if no column was named as the title."""
        return None if self.title is None else self[self.title]

    def names(self, n_docs: int) -> Iterator[str]:
        """Return the ids of the documents or, if they have none, their numbers among those that were read, from 1."""
        ids = self.ids
        return (str(self.number(row) + 1) for row in range(n_docs)) if ids is None else iter(ids)

    def number(self, row: int) -> int:
        """Return the number of the document of a row among those that were read, from 0."""
        return row if self.numbers is None else int(self.numbers[row])

    def row(self, number: int) -> dict[str, Any]:
        """Return the values of one document."""
        return {name: self[name][number] for name in self}

    def plain_rows(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return the values of some documents as JSON has them: dates as text, lists as lists, None for missing ones."""
        part = self.take(np.asarray(rows, dtype=np.int64))
        columns = {name: [_plain(value) for value in part[name]] for name in self}
        return [{name: values[at] for name, values in columns.items()} for at in range(len(rows))]

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame, with the ids of the documents as its index."""
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError:
            raise InputError("a data frame needs one more package: pip install pandas.") from None
        ids = self.ids
        index = pd.RangeIndex(self.n_docs or 0) if ids is None else pd.Index(ids, name="id")
        return pd.DataFrame({name: self[name] for name in self}, index=index, copy=True)

    def take(self, rows: npt.NDArray[np.int64]) -> Documents:
        """Return the table of these documents, in this order; columns are taken when they are asked for."""
        return Documents(
            rows.size, _TakenColumns(self.columns, rows), ids=partial(_taken_ids, self, rows), title=self.title,
            numbers=rows if self.numbers is None else self.numbers[rows],
        )  # fmt: skip


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if value is None or value != value:  # NaN and NaT differ from themselves
        return None
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, tuple):
        return list(value)
    return value.item() if isinstance(value, np.generic) else value


class _TakenColumns(Mapping[str, Column]):
    """Some rows of the columns of another table."""

    def __init__(self, columns: Mapping[str, Column], rows: npt.NDArray[np.int64]) -> None:
        self.columns, self._rows = columns, rows
        self._taken: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._taken:
            self._taken[name] = self.columns[name].take(self._rows)
        return self._taken[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


def _taken_ids(documents: Documents, rows: npt.NDArray[np.int64]) -> list[str] | None:
    ids = documents.ids
    return None if ids is None else [ids[row] for row in rows.tolist()]


def table_of(documents: Any, n_docs: int, title: str | None, ids: Sequence[str] | None) -> Documents:
    """Return the table of a mapping or a data frame with one value per document; InputError if it does not fit.

    Parameters
    ----------
    documents : Documents, mapping of str to sequence, data frame, or None
    n_docs : int
    title : str or None
        The column that names documents.
    ids : sequence of str or None
    """
    if isinstance(documents, Documents):
        table = Documents(n_docs, documents.columns, ids=ids, title=title or documents.title, numbers=documents.numbers)
        if documents.n_docs != n_docs:
            raise InputError(f"documents must have one row for each of the {n_docs} documents, not {documents.n_docs}.")
    else:
        table = Documents(n_docs, _columns_of(documents, n_docs), ids=ids, title=title)
    if title is not None:
        table.column(title)  # or InputError
    return table


def _columns_of(documents: Any, n_docs: int) -> dict[str, Column]:
    if documents is None:
        return {}
    names = documents.keys() if isinstance(documents, Mapping) else getattr(documents, "columns", None)
    if names is None:
        raise InputError(
            f"documents must be a mapping of column names to values or a data frame, but is {type(documents).__name__}."
        )
    columns: dict[str, Column] = {}
    for name in names:
        values = documents[name]
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or len(values) != n_docs:
            raise InputError(
                f"column {short(name)} must have one value for each of the {n_docs} documents, but has "
                f"{len(values) if hasattr(values, '__len__') else 'no'}."
            )
        columns[str(name)] = column_of(str(name), values)
    return columns

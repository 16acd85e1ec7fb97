"""Topic proportions that were inferred before, checked: an array of them, or a table that ``transform`` has written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..corpus.csv_rows import csv_rows
from ..corpus.document_rows import rows_in
from ..corpus.files import lines, short, shown
from ..corpus.formats import format_of
from ..corpus.readers import batches
from ..corpus.reading_options import reading_options
from ..corpus.selection import ColumnChoice, TableShape
from ..corpus.table_builder import TableBuilder
from ..exceptions import CorpusFormatError, InputError
from ..model import TopicModel
from .topic_columns import is_topic_column, topic_columns

# Rows are scaled to sum to one if they are this close to it: tables have six digits, which add up over many topics.
_SUM = 1e-3
# A document without a known word has the prevalence of the topics, of which tables have six digits.
_SAME = 1e-6
# Numbers that are read at a time: 8 MB.
_NUMBERS = 1 << 20


def checked_proportions(values: FloatArray, where: Callable[[int], str]) -> FloatArray:
    """Return proportions whose rows sum to one.

    Parameters
    ----------
    values : (m, K) array
    where : callable
        Returns what a row is called in a message.

    Raises
    ------
    InputError
        For the first row that is not finite, is negative, or does not sum to one within 1e-3.
    """
    with np.errstate(all="ignore"):  # of numbers that are refused
        total = values.sum(axis=1)
    wrong = np.flatnonzero(~((values >= 0.0).all(axis=1) & (np.abs(total - 1.0) <= _SUM)))
    if wrong.size:
        row = int(wrong[0])
        if not np.isfinite(values[row]).all():
            why = "hold a number for each topic, but one is missing or not finite"
        elif (values[row] < 0.0).any():
            why = f"be 0 or more, but one is {values[row].min():g}"
        else:
            why = f"sum to 1, but sum to {total[row]:g}"
        raise InputError(f"{where(row)}: topic proportions must {why}.")
    return values / total[:, None]


def without_words(values: FloatArray, model: TopicModel) -> npt.NDArray[np.bool_]:
    """Whether each row is that of a document without a known word: the prevalence of the topics, to six digits.

    Nothing tells such documents apart if there is only one topic.
    """
    if model.n_components == 1:
        return np.zeros(len(values), dtype=bool)
    return np.asarray(np.abs(values - model.prevalence).max(axis=1, initial=0.0) <= _SAME)


def proportions_of(given: Any, n_topics: int) -> FloatArray:
    """Return an array of topic proportions as it was given to a function, or raise InputError."""
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("proportions must be an array of numbers, documents x topics.") from None
    if values.ndim != 2 or values.shape[1] != n_topics:
        raise InputError(
            f"proportions must have a row for each document and a column for each of the {n_topics} topics, but have the "
            f"shape {values.shape}."
        )
    return values


class SavedProportions:
    """A table of topic proportions with columns of the documents, as ``transform`` writes it.

    It is read twice, for labels and for proportions, so that memory does not grow with them.

    Parameters
    ----------
    path : Path
    kind : str
        "csv", "tsv", "jsonl" or "parquet".
    names : sequence of str
        Its columns, of JSON lines those of the first.
    separator : str, optional
        Between the columns of a table.
    """

    def __init__(self, path: Path, kind: str, names: Sequence[str], separator: str | None = None) -> None:
        self.path, self.names = path, list(names)
        # Tables with tabs are quoted as those with commas are.
        self._kind = "csv" if kind == "tsv" else kind
        self._separator = separator or ("\t" if kind == "tsv" else ",")
        self._topics: list[str] = ["topics"] if kind == "jsonl" else list(filter(is_topic_column, self.names))

    def require_topics_of(self, model: TopicModel) -> None:
        """Raise InputError unless there is a column for each topic of a model, and for no other topic."""
        if self._kind == "jsonl":  # has the topics in order, without their ids
            return
        wanted = topic_columns(model.ids)
        missing = [name for name in wanted if name not in self.names]
        foreign = [name for name in self._topics if name not in wanted]
        if missing or foreign:
            found = (
                f"no column {missing[0]}" if missing else f"a column {foreign[0]}, a topic that the model does not have"
            )
            raise InputError(
                f"{shown(self.path)} has topic proportions, but {found}: write it again by anchorwords transform with this "
                "model, or name the column of text (--text-column) if these are documents."
            )
        self._topics = wanted

    def labels(self, column: str, separator: str | None = None) -> npt.NDArray[Any]:
        """Return the values of a column, split into lists at a separator if one is given; it is typed as for documents."""
        shape = TableShape()
        builder = TableBuilder(shape, {} if separator is None else {column: separator})
        for batch in batches(self._rows((column,), shape)):
            builder.add_values(len(batch.documents), batch.values)
        found = builder.finish()
        if not found:
            raise CorpusFormatError(f"{shown(self.path)} holds no rows.")
        return found[shape.names[0]].values

    def blocks(self, model: TopicModel) -> Iterator[FloatArray]:
        """Yield the proportions of consecutive documents, as they are written."""
        rows = (values for _, _, values in self._rows(tuple(self._topics), TableShape()))
        done = 0
        while block := list(islice(rows, max(1, _NUMBERS // model.n_components))):
            yield self._numbers([row[0] for row in block] if self._kind == "jsonl" else block, model.n_components, done)
            done += len(block)

    def where(self, row: int) -> str:
        """Return what a row is called in messages."""
        return f"{shown(self.path)}, row {row + 1}"

    def _rows(self, columns: tuple[str, ...], shape: TableShape) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
        options = reading_options(header=True, separator=self._separator)
        choice = ColumnChoice(text=None, columns=columns)
        return iter(rows_in(self.path, self._kind, options._replace(choice=choice), shape, lambda _: None))

    def _numbers(self, rows: Sequence[Any], n_topics: int, first: int) -> FloatArray:
        with suppress(TypeError, ValueError, OverflowError):
            values = np.array(rows, dtype=np.float64)
            if values.shape == (len(rows), n_topics):
                return values
        found = []
        for number, row in enumerate(rows, start=first):
            if not isinstance(row, (list, tuple)) or len(row) != n_topics:
                raise CorpusFormatError(
                    f"{self.where(number)}: must hold {n_topics} topic proportions, one for each topic of the model."
                )
            for value in row:
                try:
                    found.append(float(value))
                except (TypeError, ValueError, OverflowError):
                    raise CorpusFormatError(
                        f"{self.where(number)}: topic proportions must be numbers, but one is {short(value)}."
                    ) from None
        return np.array(found).reshape(len(rows), n_topics)


def saved_proportions(
    source: str | os.PathLike[str],
    format: str = "auto",  # noqa: A002
    separator: str | None = None,
) -> SavedProportions | None:
    """Return the table of topic proportions in a file, or None if the file holds anything else."""
    path = Path(source)
    with suppress(InputError):  # reported by what reads documents
        if not path.is_file():
            return None
        kind = format_of(path, format)
        names = _names_in(path, kind, separator)
        # A column called "text" without one called "document", which transform writes, is that of documents.
        is_table = "document" in names or "text" not in names
        if "topics" in names if kind == "jsonl" else is_table and any(map(is_topic_column, names)):
            return SavedProportions(path, kind, names, separator)
    return None


def names_in_table(source: str | os.PathLike[str], format: str = "auto", separator: str | None = None) -> Sequence[str]:  # noqa: A002
    """Return the columns that a table of documents names in its first line or its footer, or none."""
    with suppress(InputError):  # reported by what reads documents
        if Path(source).is_file() and (kind := format_of(source, format)) != "jsonl":
            return _names_in(Path(source), kind, separator)
    return []


def _names_in(path: Path, kind: str, separator: str | None) -> Sequence[str]:
    """The columns of a table, or none; of JSON lines those of the first, if its topics are numbers and it has no text."""
    if kind in ("csv", "tsv"):
        mark = separator or ("\t" if kind == "tsv" else ",")
        return next(csv_rows(path, lines(path), mark), (0, []))[1]
    if kind == "jsonl":
        return _members(next((line for _, line in lines(path) if line.strip()), ""))
    if kind == "parquet":
        with suppress(Exception):  # of another package, which may be missing, about bytes that may be anything
            import pyarrow.parquet as pq

            with pq.ParquetFile(path) as file:
                return list(map(str, file.schema_arrow.names))
    return []


def _members(line: str) -> Sequence[str]:
    import json

    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict) or "document" not in value or "text" in value:
        return []
    topics = value.get("topics")
    is_numbers = isinstance(topics, list) and topics and all(isinstance(share, (int, float)) for share in topics)
    return list(value) if is_numbers else []


def blocks_of(
    blocks: Iterable[FloatArray], model: TopicModel, where: Callable[[int], str]
) -> Iterator[tuple[FloatArray, npt.NDArray[np.bool_], FloatArray]]:
    """Yield checked proportions of consecutive documents, whether each has known words, and their tokens: unknown, nan."""
    done = 0
    for values in blocks:
        checked = checked_proportions(values, lambda row, first=done: where(first + row))  # type: ignore[misc]
        yield checked, ~without_words(values, model), np.full(len(values), np.nan)
        done += len(values)

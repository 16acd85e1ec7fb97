"""The documents table built batch by batch, next to the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from .column_builder import ColumnBuilder
from .columns import Column
from .parts import Part
from .selection import TableShape


class TableBuilder:
    """Gathers the values that come with the rows of counts.

    Parameters
    ----------
    shape : TableShape
        Of the reader; it may have more columns after each batch.
    separators : mapping
        Columns whose texts are split into lists, each with its separator.
    """

    def __init__(self, shape: TableShape, separators: Mapping[str, str]) -> None:
        self._shape, self._separators = shape, separators
        self._builders: list[ColumnBuilder] = []
        self._n_docs = 0

    def add(self, part: Part) -> None:
        """Append the values of the documents of a part."""
        self.add_values(len(part.lengths), part.values)

    def add_values(self, n_docs: int, values_of_rows: Sequence[tuple[Any, ...]]) -> None:
        """Append the values of documents, a tuple for each, or none at all if there are no columns."""
        for name in self._shape.names[len(self._builders) :]:
            builder = ColumnBuilder(name, typed=self._shape.typed, separator=self._separators.get(name))
            builder.add([None] * self._n_docs)
            self._builders.append(builder)
        if self._builders:
            # Rows may end early: the last columns were not known when they were read.
            columns = zip_longest([None] * len(self._builders), *values_of_rows)
            for builder, (_, *values) in zip(self._builders, columns, strict=True):
                builder.add(values)
        self._n_docs += n_docs

    def finish(self) -> dict[str, Column]:
        """Return the columns; what they were built from is freed, column by column."""
        columns = {}
        while self._builders:
            builder = self._builders.pop(0)
            columns[builder.name] = builder.finish()
        return columns

    @property
    def title(self) -> str | None:
        """The column that names documents."""
        return self._shape.title

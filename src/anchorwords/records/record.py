"""The base classes of results that are tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Self, SupportsIndex, overload

from .html import html_of
from .table import SHOWN_ROWS, Table, inferred_fields, table_of
from .text import text_of


class TableRecord:
    """A result that is a table: its subclass provides ``rows()``, a list of dicts with the same keys.

    It prints as an aligned table, is an HTML table in a notebook, and ``to_frame()`` converts it to a data frame. A subclass
    that should look better than its rows overrides ``_tables``, and says ``repr=False`` if it is a dataclass.
    """

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per row."""
        raise NotImplementedError

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the rows as a data frame of "pandas", "polars" or "pyarrow"; see :func:`anchorwords.export.to_frame`."""
        return import_module("anchorwords.export").to_frame(self.rows(), backend)

    def to_text(self, max_rows: int | None = None) -> str:
        """Return an aligned table of up to ``max_rows`` rows, of all rows by default."""
        return text_of(self._tables(max_rows))

    def to_html(self, max_rows: int | None = None) -> str:
        """Return HTML tables of up to ``max_rows`` rows, of all rows by default."""
        return html_of(self._tables(max_rows))

    def _tables(self, max_rows: int | None) -> Sequence[Table]:
        """Return what is displayed."""
        rows = self.rows()
        return [table_of(rows, inferred_fields(rows), type(self).__name__, max_rows=max_rows)]

    def _repr_html_(self) -> str:
        return self.to_html(SHOWN_ROWS)

    def __str__(self) -> str:
        return self.to_text(SHOWN_ROWS)

    def __repr__(self) -> str:
        return self.to_text(SHOWN_ROWS)


class TableList(TableRecord, list[dict[str, Any]]):
    """A list of dicts that displays as a table.

    It is a list in every other way: it compares equal to a list of the same dicts, and ``json.dumps`` writes it as one. A
    slice of it is a table too.
    """

    def __init__(self, rows: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__(rows)

    def rows(self) -> list[dict[str, Any]]:
        """Return the dicts as a plain list."""
        return [dict(row) for row in self]

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice, /) -> Self: ...

    def __getitem__(self, place: SupportsIndex | slice, /) -> dict[str, Any] | Self:
        if not isinstance(place, slice):
            return super().__getitem__(place)
        part = type(self).__new__(type(self))
        part.extend(super().__getitem__(place))
        part.__dict__.update(self.__dict__)
        return part

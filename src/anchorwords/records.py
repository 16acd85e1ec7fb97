"""Results that print as tables, display as tables in notebooks, and convert to data frames."""

from __future__ import annotations

from html import escape
from typing import Any


class TableRecord:
    """A result that is a table: its subclass provides ``rows()``, a list of dicts with the same keys.

    ``to_frame()`` converts it to a data frame, and a notebook shows it as an HTML table.
    """

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per row."""
        raise NotImplementedError

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the rows as a data frame of "pandas", "polars" or "pyarrow"; see :func:`anchorwords.export.to_frame`."""
        from importlib import import_module

        return import_module("anchorwords.export").to_frame(self.rows(), backend)

    def _repr_html_(self) -> str:
        rows = self.rows()
        names = list(rows[0]) if rows else []
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(str(row.get(name, '')))}</td>" for name in names) + "</tr>" for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

"""A table for readers: a caption, columns, rows of cells, and how many rows were left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .cells import (
    MISSING,
    Cell,
    any_cell,
    decimals_of,
    p_value,
    plain_number,
    points_cell,
    share_cell,
    small_percent,
    value_text,
    words_text,
)

# Rows that are displayed; `rows()` returns all of them.
SHOWN_ROWS = 20
# Differences of shares that are no more than rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Table:
    """What is displayed.

    Attributes
    ----------
    caption : str
        Says what the table is.
    columns : tuple of (heading, whether it is flush right, whether it holds running text)
    rows : list of lists of Cell
    n_rows : int
        Rows in all; more than are there if the table was cut.
    noun : str
        What a row is, in the plural.
    notes : tuple of str
        Sentences below the table.
    folded : bool
        Whether the table is only shown on demand: it opens by a click in a notebook and is left out of plain text.
    """

    caption: str
    columns: tuple[tuple[str, bool, bool], ...]
    rows: list[list[Cell]]
    n_rows: int
    noun: str = "rows"
    notes: tuple[str, ...] = ()
    folded: bool = False

    @property
    def cut(self) -> str:
        """A sentence that says how many rows are shown; empty if all are."""
        shown = len(self.rows)
        return f"showing {shown:,} of {self.n_rows:,} {self.noun}" if shown < self.n_rows else ""


class Field(NamedTuple):
    """A column of a table of dicts: its heading, how a row is shown in it, and how it is aligned."""

    head: str
    show: Callable[[Mapping[str, Any]], Cell]
    right: bool = True
    wide: bool = False


def table_of(
    rows: Sequence[Mapping[str, Any]],
    fields: Sequence[Field],
    caption: str,
    *,
    max_rows: int | None = SHOWN_ROWS,
    n_rows: int | None = None,
    noun: str = "rows",
    notes: Sequence[str] = (),
    folded: bool = False,
) -> Table:
    """Return the table of dicts.

    Parameters
    ----------
    rows : sequence of dict
    fields : sequence of Field
    caption : str
    max_rows : int or None
        Rows to show at most; None shows all.
    n_rows : int, optional
        Rows in all, if ``rows`` does not hold all of them.
    noun, notes, folded
        As in :class:`Table`.
    """
    shown = rows if max_rows is None else rows[:max_rows]
    return Table(
        caption,
        tuple((one.head, one.right, one.wide) for one in fields),
        [[one.show(row) for one in fields] for row in shown],
        len(rows) if n_rows is None else n_rows,
        noun,
        tuple(note for note in notes if note),
        folded,
    )


def inferred_fields(rows: Sequence[Mapping[str, Any]]) -> list[Field]:
    """Return a field for each key of the rows, shown by the kind of its values."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [_inferred(name, [row.get(name) for row in rows]) for name in names]


def _inferred(name: str, values: Sequence[Any]) -> Field:
    numeric = all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in values if value is not None
    )
    listed = any(isinstance(value, (list, tuple)) for value in values)
    return Field(name.replace("_", " "), lambda row: any_cell(row.get(name)), numeric, listed)


def topic_field(key: str = "topic", head: str = "topic") -> Field:
    """The id of a topic."""
    return Field(head, lambda row: Cell(MISSING if row.get(key) is None else str(row[key])))


def text_field(key: str, head: str | None = None, *, strong: bool = False, wide: bool = False) -> Field:
    """Any text, such as a label."""
    return Field(head or key, lambda row: Cell(value_text(row.get(key)), strong=strong), False, wide)


def words_field(key: str, head: str | None = None) -> Field:
    """A list of words."""
    return Field(head or key, lambda row: Cell(words_text(row.get(key) or ())), False, True)


def number_field(key: str, head: str | None = None, digits: int = 3) -> Field:
    """A number with so many significant digits."""
    return Field(head or key.replace("_", " "), lambda row: Cell(plain_number(row.get(key), digits)))


def p_field(key: str, head: str) -> Field:
    """A p-value."""
    return Field(head, lambda row: Cell(p_value(row.get(key))))


def small_field(key: str, head: str) -> Field:
    """A percentage of any size, without an interval."""
    return Field(head, lambda row: Cell(small_percent(row.get(key))))


def fixed_field(key: str, head: str | None = None, *, bar: bool = False) -> Field:
    """A number from 0 to 1 with two decimals, with a bar if wanted."""

    def show(row: Mapping[str, Any]) -> Cell:
        value = row.get(key)
        if value is None or value != value:
            return Cell(MISSING)
        return Cell(f"{value:.2f}", bar=value if bar else None)

    return Field(head or key.replace("_", " "), show)


def share_field(
    key: str, head: str | None = None, *, low: str = "", high: str = "", largest: float | None = None
) -> Field:
    """A percentage with its interval and, if the largest one is given, a bar and as many decimals as that one needs."""
    decimals = decimals_of(largest) if largest else 1

    def show(row: Mapping[str, Any]) -> Cell:
        share = row.get(key)
        bar = None if not largest or share is None or share != share else min(max(share / largest, 0.0), 1.0)
        return share_cell(share, row.get(low), row.get(high), bar=bar, decimals=decimals)

    return Field(head or key, show)


def points_field(
    rows: Sequence[Mapping[str, Any]], key: str, head: str, *, low: str = "", high: str = "", by: str = ""
) -> Field:
    """A difference of percentages with its interval; rows with the same value of ``by`` have the same decimals."""
    sizes: dict[Any, list[float]] = {}
    for row in rows:
        value = row.get(key)
        if value is not None and abs(value) > _ROUNDING:
            sizes.setdefault(row.get(by), []).append(abs(value))
    # The larger half decides: differences near nothing need not have two digits.
    decimals = {group: decimals_of(sorted(own)[-1 - len(own) // 4]) for group, own in sizes.items()}
    return Field(
        head,
        lambda row: points_cell(row.get(key), row.get(low), row.get(high), decimals=decimals.get(row.get(by), 1)),
    )


def largest_of(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    """Return the largest value of a column, 0 if there is none."""
    return max((row[key] for row in rows if row.get(key) is not None and row[key] == row[key]), default=0.0)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless there is one: 1 topic, 20 topics."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"

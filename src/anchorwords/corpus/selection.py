"""Which columns of a table are read: the text, the ids, the title, and those that are kept for the documents table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from ..exceptions import CorpusFormatError, InputError
from .files import short

# The name of a column, or its number from 1.
ColumnKey: TypeAlias = "str | int"

# Columns of a documents table. JSON lines may have a member of another name in each line.
_MOST_COLUMNS = 1000


class ColumnChoice(NamedTuple):
    """What the caller asks for.

    Attributes
    ----------
    text : tuple of str or int, or None
        Columns of text or tokens, which are joined; empty for the default one, None if there is none.
    ids : str, int or None
    columns : tuple of str or int, or None
        Columns to keep; None keeps all columns that are neither text nor ids.
    title : str, int or None
    separators : dict
        Columns whose texts are split into lists, each with its separator.
    """

    text: tuple[ColumnKey, ...] | None = ()
    ids: ColumnKey | None = None
    columns: tuple[ColumnKey, ...] | None = ()
    title: ColumnKey | None = None
    separators: Mapping[str, str] = {}

    @property
    def names_a_column(self) -> bool:
        """Whether anything was asked for that only a table has."""
        return (
            bool(self.text or self.columns or self.separators)
            or self.columns is None
            or not (self.ids is None and self.title is None)
        )

    @property
    def given(self) -> list[ColumnKey]:
        """All columns that were named."""
        some = (self.ids, self.title)
        return [*(self.text or ()), *(self.columns or ()), *self.separators, *(key for key in some if key is not None)]


def checked_choice(
    text_column: Any = None,
    id_column: Any = None,
    columns: Any = None,
    title_column: Any = None,
    list_columns: Any = None,
) -> ColumnChoice:
    """Return the choice of these arguments of :func:`anchorwords.read_corpus`; raise InputError if they are invalid."""
    for name, value in (("id_column", id_column), ("title_column", title_column)):
        if value is not None and not _is_key(value):
            raise InputError(f"{name} must be the name of a column or its number from 1, but is {short(value)}.")
    kept = None if isinstance(columns, str) and columns == "all" else _keys("columns", columns)
    separators = {} if list_columns is None else list_columns
    if not isinstance(separators, Mapping) or not all(
        isinstance(name, str) and isinstance(mark, str) and mark for name, mark in separators.items()
    ):
        raise InputError(
            f"list_columns must map names of columns to separators, as in {{'tags': ';'}}, but is {short(list_columns)}."
        )
    return ColumnChoice(_keys("text_column", text_column), id_column, kept, title_column, dict(separators))


def _is_key(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _keys(name: str, value: Any) -> tuple[ColumnKey, ...]:
    if value is None:
        return ()
    keys = (value,) if _is_key(value) else tuple(value) if isinstance(value, (list, tuple)) else None
    if keys is None or not all(map(_is_key, keys)):
        raise InputError(
            f"{name} must be the name of a column, its number from 1, or a list of them, but is {short(value)}."
        )
    if len(set(keys)) < len(keys):
        raise InputError(f"{name} must name each column once, but is {short(value)}.")
    return keys


@dataclass
class TableShape:
    """The columns that a reader keeps, told to whoever gathers their values.

    A reader sets ``names`` before its first row, or adds to them at the end as it finds more. The values of a row are in
    this order, and may end early.

    Attributes
    ----------
    names : list of str
    typed : bool
        Whether the source tells numbers from texts.
    title : str or None
    """

    names: list[str] = field(default_factory=list)
    typed: bool = True
    title: str | None = None

    def place(self, name: str) -> int:
        """Return the position of a column, which becomes known if it was not."""
        if name not in self.names:
            if len(self.names) == _MOST_COLUMNS:
                raise CorpusFormatError(
                    f"the documents have more than {_MOST_COLUMNS:,} columns: name those to keep (columns, --columns)."
                )
            self.names.append(name)
        return self.names.index(name)


class Selection(NamedTuple):
    """The columns of a table that were asked for, by position.

    Attributes
    ----------
    text : tuple of int
    ids : int or None
    kept : tuple of int
    """

    text: tuple[int, ...]
    ids: int | None
    kept: tuple[int, ...]

    @property
    def n_needed(self) -> int:
        """Fewest columns that a row must have."""
        return max([*self.text, *self.kept, -1 if self.ids is None else self.ids]) + 1


def select(
    where: str, names: Sequence[str], choice: ColumnChoice, shape: TableShape, *, named: bool = True
) -> Selection:
    """Find the columns of a choice in a table, and tell the shape of what is kept.

    Parameters
    ----------
    where : str
        The table, for messages.
    names : sequence of str
        The columns, or the first line if columns have no names.
    choice : ColumnChoice
    shape : TableShape
    named : bool
        Whether the columns have names; if not, they are found and called by their numbers.
    """
    shown = ", ".join(f"{number} {short(name)}" for number, name in enumerate(names[:12], start=1)) or "nothing"

    def place(key: ColumnKey, what: str) -> int:
        if named and isinstance(key, str) and (times := list(names).count(key)):
            if times > 1:
                raise InputError(f"{where} has several columns called {short(key)}: give them distinct names.")
            return list(names).index(key)
        number = as_number(key)
        if number is None:
            raise InputError(f"{where} has no column {short(key)}: it has {shown}.")
        if not 1 <= number <= len(names):
            raise InputError(
                f"{what} must be a column of {where} from 1 to {len(names)}, but is {number}: it has {shown}."
            )
        return number - 1

    text: tuple[int, ...]
    if choice.text is None:
        text = ()
    elif choice.text:
        text = tuple(place(key, "text_column") for key in choice.text)
    elif named and "text" in names:
        text = (place("text", "text_column"),)
    elif len(names) == 1:
        text = (0,)
    else:
        raise InputError(
            f"{where} has several columns: say which holds the text or the tokens (text_column, --text-column); it has "
            f"{shown}."
        )
    ids = None if choice.ids is None else place(choice.ids, "id_column")
    title = None if choice.title is None else place(choice.title, "title_column")
    if choice.columns is None:
        kept = [number for number in range(len(names)) if number not in (*text, ids)]
    else:
        kept = [place(key, "columns") for key in choice.columns]
    kept += [place(name, "list_columns") for name in choice.separators]
    kept = list(dict.fromkeys([*kept, *([] if title is None else [title])]))
    called = [names[number] if named else str(number + 1) for number in kept]
    for name in called:
        if called.count(name) > 1:
            raise InputError(f"{where} has several columns called {short(name)}: give them distinct names.")
        shape.place(name)
    shape.title = None if title is None else called[kept.index(title)]
    return Selection(text, ids, tuple(kept))


def as_number(key: ColumnKey) -> int | None:
    """Return the number that a column is called by, if it is one; Python refuses to read those of thousands of digits."""
    if isinstance(key, int):
        return key
    return int(key) if key.isdecimal() and len(key) < 20 else None


def joined(parts: Iterable[str | list[Any]], where: str) -> str | list[Any]:
    """Return the document of several columns: texts with a line end between them, or all tokens of lists."""
    filled = [part for part in parts if part]
    if all(isinstance(part, str) for part in filled):
        return "\n".join(filled)  # type: ignore[arg-type]
    if any(isinstance(part, str) for part in filled):
        raise CorpusFormatError(f"{where}: columns of text and of tokens cannot be joined: name columns of one kind.")
    return [token for part in filled for token in part]

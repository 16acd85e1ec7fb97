"""Columns built batch by batch from raw values, with their types inferred when all values are known.

The rules, which are the same for every reader:

- An empty text is missing, and so are None, NaN and NaT.
- Texts that are all ISO 8601 dates (``2021-06-30``, ``2021-06``, ``2021/06/30``, with or without a time) become dates.
  Times with an offset are converted to UTC.
- Texts of formats without types (CSV and TSV) that are all numbers become numbers. Numbers with leading zeros, such as
  postal codes, stay texts.
- Numbers that are all whole, with none missing, become integers.
- A column of lists holds labels; a single value among them is a list of one.
- Any other mixture becomes text.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..exceptions import CorpusFormatError
from ..storage.folders import packed_strings
from .columns import NUMBER_TYPES, Column, ListColumn, NumberColumn, Strings, TextColumn
from .files import short

# Repeated strings are stored once, by means of a dictionary. An entry takes about 200 bytes, so that a dictionary of texts
# that are nearly all distinct, such as titles, would take more memory than the texts (benchmarks/import_columns.py). It
# may hold _FEW_SHARED strings; beyond these, up to _MOST_SHARED, at most one string for every _VALUES_PER_SHARED values.
_FEW_SHARED, _MOST_SHARED = 1 << 14, 1 << 16
_VALUES_PER_SHARED = 8
# Strings that are decoded at a time.
_PIECE = 1 << 14
# Texts that stand for a missing value in a column of numbers or dates.
_NOT_AVAILABLE = frozenset(("", "-", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None"))
_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"([0-9]{4})[-/]([0-9]{2})(?:[-/]([0-9]{2}))?")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*", re.DOTALL)
_EPOCH = dt.datetime(1970, 1, 1)
_FIRST_DAY = _EPOCH.date()
_MICROSECOND = dt.timedelta(microseconds=1)
_INT64 = 1 << 63
# Whole numbers up to this are exact as float64.
_EXACT = 1 << 53
# From texts to the kind of their values and these; None if a text has no value of the kind.
_Parser: TypeAlias = Callable[[list[str]], tuple[str, npt.NDArray[Any]] | None]


class _Part(NamedTuple):
    """Values of consecutive documents.

    Attributes
    ----------
    kind : str
        That of a column, or "missing" if no document has a value.
    values : array
        Numbers, dates, or codes of strings; the items of lists one after the other.
    more : array
        Whether a number or a date is missing; the length of each list; empty for codes of texts, -1 if one is missing.
    written : str
        The kind of the values if they are numbers or dates that stand for texts: each text is written exactly as
        :func:`_as_text` writes its value. Empty otherwise.
    """

    kind: str
    values: npt.NDArray[Any]
    more: npt.NDArray[Any]
    written: str = ""


class ColumnBuilder:
    """Gathers the values of one column.

    Parameters
    ----------
    name : str
        For messages.
    typed : bool
        Whether the source tells numbers from texts; if not, texts that are all numbers become numbers.
    separator : str, optional
        Split texts at it into lists.
    """

    def __init__(self, name: str, *, typed: bool = True, separator: str | None = None) -> None:
        self.name, self._typed, self._separator = name, typed, separator
        self._parts: list[_Part] = []
        self._strings = _StringStore()

    def add(self, values: Iterable[Any]) -> None:
        """Append the values of further documents."""
        plain = [self._plain(value) for value in values]
        kinds = {_KINDS[type(value)] for value in plain}
        if {"integer", "number"} <= kinds and any(type(value) is int and abs(value) > _EXACT for value in plain):
            # Such integers are not exact among other numbers, and are still needed if the column turns out to be text.
            self._parts += (self._part(list(run)) for _, run in groupby(plain, type))
        elif plain:
            self._parts.append(self._part(plain))

    def finish(self) -> Column:
        """Return the column."""
        kind = _common_kind({part.kind for part in self._parts})
        if kind == "list":
            return self._lists()
        if kind in ("text", "missing"):
            return self._texts()
        return _joined(self._parts, kind) or self._texts()

    def _plain(self, value: Any) -> Any:
        """Return the value as None, bool, int, float, str, date, datetime or a list of texts."""
        if type(value) is str:  # nearly always
            if self._separator is not None:
                return [item for part in value.split(self._separator) if (item := part.strip())]
            return value or None
        return _plain(value, self.name)

    def _part(self, plain: list[Any]) -> _Part:
        kinds = {_KINDS[type(value)] for value in plain}
        kind = _common_kind(kinds)
        if kind == "list":
            lists = [_as_list(value) for value in plain]
            lengths = np.fromiter(map(len, lists), np.int64, len(lists))
            return _Part(kind, self._strings.codes([item for one in lists for item in one]), lengths)
        if kind in ("text", "missing"):
            texts = plain if kinds <= {"text", "missing"} else [_as_text(value) for value in plain]
            return self._compact(texts) or _Part(kind, self._strings.codes(texts), np.zeros(0, dtype=bool))
        missing = np.fromiter((value is None for value in plain), bool, len(plain))
        return _Part(kind, _array(kind, plain), missing)

    def _compact(self, texts: list[str | None]) -> _Part | None:
        """Return texts as numbers or dates, which take less memory; None if the texts could not be written back exactly."""
        known = [text for text in texts if text is not None]
        for parse in _parsers(numbers=not self._typed) if known else ():
            found = parse(known)
            if found is not None and all(map(operator.eq, map(_as_text, found[1].tolist()), known)):
                missing = np.fromiter((text is None for text in texts), bool, len(texts))
                values = np.zeros(len(texts), dtype=NUMBER_TYPES[found[0]])
                values[~missing] = found[1]
                return _Part("text", values, missing, found[0])
        return None

    def _texts(self) -> Column:
        parts = [
            part if part.written else _Part("text", self._as_codes(part), np.zeros(0, dtype=bool))
            for part in self._parts
        ]
        if (column := _inferred(parts, self._strings.packed(), numbers=not self._typed)) is not None:
            return column
        codes = np.concatenate([np.zeros(0, np.int32), *(self._as_codes(part) for part in parts)])
        return TextColumn(codes, self._strings.packed())

    def _lists(self) -> Column:
        codes, lengths = [], []
        for part in self._parts:
            if part.kind == "list":
                codes.append(part.values)
                lengths.append(part.more)
            else:
                own = self._as_codes(part)
                codes.append(own[own >= 0])
                lengths.append((own >= 0).astype(np.int64))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        return ListColumn(indptr, np.concatenate(codes), self._strings.packed())

    def _as_codes(self, part: _Part) -> npt.NDArray[np.int32]:
        """Return the strings that the values of a part are written as."""
        if part.kind in ("text", "missing") and not part.written:
            return part.values
        values = part.values.tolist()
        written = [None if gone else _as_text(value) for value, gone in zip(values, part.more.tolist(), strict=True)]
        return self._strings.codes(written)


def column_of(name: str, values: Iterable[Any], *, typed: bool = True) -> Column:
    """Return the column of these values."""
    builder = ColumnBuilder(name, typed=typed)
    builder.add(values)
    return builder.finish()


def kind_of_text(text: str) -> str:
    """Return the kind that a text would have in a column of its own, or "missing" if it stands for a missing value."""
    bare = text.strip()
    if bare in _NOT_AVAILABLE:
        return "missing"
    return next((found[0] for parse in _parsers(numbers=True) if (found := parse([bare])) is not None), "text")


class _StringStore:
    """Strings one after the other, each with a number; equal ones share a number unless there are very many."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._size = self._n_values = 0
        self._packed: list[tuple[Any, Any]] = []  # text and lengths

    def codes(self, texts: Sequence[str | None]) -> npt.NDArray[np.int32]:
        """Return the number of each text, -1 for None."""
        new: list[str] = []
        numbers = self._numbers
        self._n_values += len(texts)
        most_shared = min(max(_FEW_SHARED, self._n_values // _VALUES_PER_SHARED), _MOST_SHARED)
        codes = np.empty(len(texts), dtype=np.int32)
        for place, text in enumerate(texts):
            code = -1 if text is None else numbers.get(text)
            if code is None:
                assert text is not None
                code = self._size + len(new)
                new.append(text)
                if len(numbers) < most_shared:
                    numbers[text] = code
            codes[place] = code
        if new:
            text, ends = packed_strings(new)
            self._packed.append((text, np.diff(ends, prepend=0)))
            self._size += len(new)
        return codes

    def packed(self) -> Strings:
        """Return the strings as one array of text, and where each ends."""
        text = np.concatenate([np.zeros(0, np.uint8), *(text for text, _ in self._packed)])
        lengths = np.concatenate([np.zeros(0, np.int64), *(lengths for _, lengths in self._packed)])
        return Strings(text, np.cumsum(lengths, dtype=np.int64))


# ---- Single values.


def _plain(value: Any, name: str) -> Any:
    if value is None or isinstance(value, (bool, dt.date)) or type(value).__name__ in ("NAType", "NaTType"):
        return None if type(value).__name__ in ("NoneType", "NAType", "NaTType") else _plain_date(value)
    if isinstance(value, str):  # also a subclass, such as that of NumPy
        return str(value) or None
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value.astype("M8[us]").item()
    if isinstance(value, (np.generic, decimal.Decimal)):
        return _plain(float(value) if isinstance(value, decimal.Decimal) else value.item(), name)
    if isinstance(value, int):
        return value if -_INT64 <= value < _INT64 else str(value)
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, bytes):
        raise CorpusFormatError(f"column {short(name)} holds bytes, which must be decoded first.")
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    for convert in ("tolist", "to_list"):
        value = getattr(value, convert)() if hasattr(value, convert) else value
    if isinstance(value, (list, tuple)):
        items = (_plain(item, name) for item in value)
        return [text for item in items if (text := _as_text(item)) is not None]
    try:
        return str(value) or None
    except Exception as error:  # of an object's own
        raise CorpusFormatError(
            f"column {short(name)}: {short(value)} cannot be written as text ({type(error).__name__})."
        ) from error


def _plain_date(value: Any) -> Any:
    """Return a boolean as it is, and a date without its time zone."""
    if not isinstance(value, dt.datetime):
        return value
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo is not None else value


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    # A number or a time is written in the same way whether or not it was among integers or dates.
    if isinstance(value, dt.datetime):
        return str(value).removesuffix(" 00:00:00")
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return str(int(value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)


def _as_list(value: Any) -> list[str]:
    if isinstance(value, list):
        return value
    text = _as_text(value)
    return [] if text is None else [text]


# ---- Kinds.

_KINDS = {
    type(None): "missing", bool: "boolean", int: "integer", float: "number", str: "text", dt.date: "date",
    dt.datetime: "time", list: "list",
}  # fmt: skip


def _common_kind(kinds: set[str]) -> str:
    """Return the kind of a column that holds values of all these kinds."""
    kinds = kinds - {"missing"}
    if not kinds:
        return "missing"
    if len(kinds) == 1:
        return next(iter(kinds))
    if "list" in kinds:
        return "list"
    if kinds == {"integer", "number"}:
        return "number"
    return "time" if kinds == {"date", "time"} else "text"


def _array(kind: str, plain: list[Any]) -> npt.NDArray[Any]:
    """Return numbers or dates as an array, with any value in place of a missing one."""
    if kind == "date":
        days = (0 if value is None else (value - _FIRST_DAY).days for value in plain)
        return np.fromiter(days, np.int64, len(plain)).view("M8[D]")
    if kind == "time":
        return np.fromiter(map(_microseconds, plain), np.int64, len(plain)).view("M8[us]")
    return np.fromiter((value or 0 for value in plain), NUMBER_TYPES[kind], len(plain))


def _microseconds(value: Any) -> int:
    if value is None:
        return 0
    if not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    return (value - _EPOCH) // _MICROSECOND


def _converted(part: _Part, kind: str) -> npt.NDArray[Any]:
    """Return the values of a part as those of another kind, which includes its own."""
    if part.kind == "missing":
        return np.zeros(part.values.size, dtype=NUMBER_TYPES[kind])
    return part.values.astype(NUMBER_TYPES[kind], copy=False)


def _missing(part: _Part) -> npt.NDArray[np.bool_]:
    return np.ones(part.values.size, dtype=bool) if part.kind == "missing" else part.more


def _joined(parts: list[_Part], kind: str) -> NumberColumn | None:
    values = np.concatenate([_converted(part, kind) for part in parts])
    missing = np.concatenate([_missing(part) for part in parts])
    return _number_column(kind, values, missing)


def _number_column(kind: str, values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> NumberColumn | None:
    """Return the column of numbers; None if its missing values cannot be told from others."""
    if missing.any():
        if kind in ("integer", "boolean"):  # true is 1, and equals True
            if kind == "integer" and np.abs(values[~missing]).max(initial=0) > _EXACT:
                return None
            values = values.astype(np.float64)
        else:
            values = values.copy()
        values[missing] = np.nan if values.dtype.kind == "f" else np.datetime64("NaT")
    return NumberColumn(values)


# ---- Texts that are numbers or dates.


def _inferred(parts: list[_Part], strings: Strings, numbers: bool) -> Column | None:
    """Return a column of texts as numbers or dates if all of its texts are; None if they are not."""
    written = {part.written for part in parts if part.written}
    for parse in _parsers(numbers):
        if (found := _parsed(strings, parse)) is not None:
            kind = _common_kind({found.kind} | written)
            own = [
                part if part.written else _Part(found.kind, found.values[part.values], found.more[part.values])
                for part in parts
            ]
            return _joined(own, kind) if kind in NUMBER_TYPES else None
    return None


def _parsers(numbers: bool) -> tuple[_Parser, ...]:
    return (_integers, _floats, _booleans, _dates, _times) if numbers else (_dates, _times)


def _parsed(strings: Strings, parse: _Parser) -> _Part | None:
    """Return the value of each string, and which are missing; None if a string is not of the kind that is parsed.

    The last element, which the code -1 finds, is missing.
    """
    kind, values = "missing", np.zeros(len(strings) + 1)
    missing = np.ones(len(strings) + 1, dtype=bool)
    start = 0
    for texts in strings.pieces(_PIECE):
        bare = [text.strip() for text in texts]
        known = [text for text in bare if text not in _NOT_AVAILABLE]
        place = slice(start, start + len(bare))
        start = place.stop
        if not known:
            continue
        if (found := parse(known)) is None:
            return None
        if kind == "missing":
            kind, values = found[0], np.zeros(len(strings) + 1, dtype=NUMBER_TYPES[found[0]])
        missing[place] = [text in _NOT_AVAILABLE for text in bare]
        values[place][~missing[place]] = found[1]
    return _Part(kind, values, missing)


def _integers(texts: list[str]) -> tuple[str, npt.NDArray[Any]] | None:
    if not all(map(_INTEGER.fullmatch, texts)):
        return None
    return "integer", np.fromiter(map(int, texts), np.int64, len(texts))


def _floats(texts: list[str]) -> tuple[str, npt.NDArray[Any]] | None:
    if not all(map(_NUMBER.fullmatch, texts)):
        return None
    values = np.fromiter(map(float, texts), np.float64, len(texts))
    return ("number", values) if np.isfinite(values).all() else None


def _booleans(texts: list[str]) -> tuple[str, npt.NDArray[Any]] | None:
    known = [text.lower() for text in texts]
    return ("boolean", np.array(known) == "true") if set(known) <= {"true", "false"} else None


def _dates(texts: list[str]) -> tuple[str, npt.NDArray[Any]] | None:
    days = []
    for text in texts:
        if (found := _DATE.fullmatch(text)) is None:
            return None
        year, month, day = found.groups()
        try:
            days.append(dt.date(int(year), int(month), int(day or 1)))
        except ValueError:
            return None
    return "date", _array("date", days)


def _times(texts: list[str]) -> tuple[str, npt.NDArray[Any]] | None:
    found: list[Any] = []
    for text in texts:
        try:
            if _TIME.fullmatch(text):
                found.append(_plain_date(dt.datetime.fromisoformat(text)))
            elif (date := _dates([text])) is not None:
                found.append(date[1][0].item())
            else:
                return None
        except (ValueError, OverflowError):
            return None
    return "time", _array("time", found)

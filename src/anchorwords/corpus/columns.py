"""Columns of the documents table: one value per document, held in a compact form.

A column is one of three classes. :class:`NumberColumn` holds integers, numbers, booleans or dates as an array.
:class:`TextColumn` holds texts or categories, and :class:`ListColumn` lists of them, as codes into a list of strings.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .._lazy import cached_property
from ..storage.folders import packed_strings, unpacked_strings

# NumPy type of each kind of numbers in memory.
NUMBER_TYPES = {
    "integer": "<i8", "number": "<f8", "boolean": "|b1", "date": "<M8[D]", "time": "<M8[us]",
}  # fmt: skip


class Column(ABC):
    """One value per document.

    Attributes
    ----------
    kind : str
        "integer", "number", "boolean", "date", "time" (date and time of day), "text" or "list".
    """

    kind: str

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def values(self) -> npt.NDArray[Any]:
        """The values as a read-only array; see :class:`anchorwords.Documents` for its type."""

    @abstractmethod
    def between(self, first: int, last: int) -> list[Any]:
        """Return the values of consecutive documents as Python's own, with None for a missing one and lists as lists.

        It takes the memory of these values alone, unlike :attr:`values`.
        """

    @abstractmethod
    def take(self, rows: npt.NDArray[np.int64]) -> Column:
        """Return the column of these documents, in this order."""

    @abstractmethod
    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that represent the column on disk."""


class NumberColumn(Column):
    """Integers, numbers, booleans or dates; a missing number is NaN and a missing date NaT."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self.kind = next(kind for kind, name in NUMBER_TYPES.items() if values.dtype == np.dtype(name))
        self._values = read_only(values)

    def __len__(self) -> int:
        return self._values.size

    @property
    def values(self) -> npt.NDArray[Any]:
        """The numbers or dates."""
        return self._values

    def between(self, first: int, last: int) -> list[Any]:
        """Return the numbers or dates of consecutive documents."""
        # A missing number differs from itself; a missing date is None already.
        return [value if value == value else None for value in self._values[first:last].tolist()]

    def take(self, rows: npt.NDArray[np.int64]) -> NumberColumn:
        """Return the column of these documents."""
        return NumberColumn(self._values[rows])

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Return the numbers; dates are counted from 1970-01-01."""
        plain = self._values.view("<i8") if self._values.dtype.kind == "M" else self._values
        return {"values": plain}

    @classmethod
    def from_tensors(cls, kind: str, n_docs: int, tensors: Mapping[str, Any]) -> NumberColumn:
        """Return the column that :meth:`tensors` described; ValueError if the arrays are not those of a column."""
        wanted = np.dtype(NUMBER_TYPES[kind])
        stored = np.dtype("<i8") if wanted.kind == "M" else wanted
        values = _checked(tensors, "values", stored, n_docs)
        return cls(values.view(wanted))


class Strings:
    """Strings by number. The same string may occur twice if there are many of them."""

    def __init__(self, text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self.text, self.ends = text, ends

    def __len__(self) -> int:
        return self.ends.size

    @cached_property
    def objects(self) -> npt.NDArray[Any]:
        """The strings, followed by None for the code -1."""
        array = np.empty(len(self) + 1, dtype=object)
        array[:-1] = unpacked_strings(self.text, self.ends)
        return array

    def at(self, codes: npt.NDArray[np.int32]) -> list[str | None]:
        """Return the strings of these codes, None for -1; each of them is made once."""
        distinct, places = np.unique(codes, return_inverse=True)
        found: list[str | None] = []
        for code in distinct.tolist():
            if code < 0:
                found.append(None)
                continue
            first, last = self.ends[code - 1] if code else 0, self.ends[code]
            found.append(self.text[first:last].tobytes().decode("utf-8", "surrogatepass"))
        return [found[place] for place in places.tolist()]

    def pieces(self, n: int) -> Iterator[list[str]]:
        """Return the strings, n at a time; unlike :attr:`objects`, they are not kept."""
        starts = np.concatenate([[0], self.ends])
        for first in range(0, len(self), n):
            bounds = starts[first : first + n + 1]
            yield unpacked_strings(self.text[bounds[0] : bounds[-1]], bounds[1:] - bounds[0])

    def used(self, codes: npt.NDArray[np.int32]) -> tuple[Strings, npt.NDArray[np.int32]]:
        """Return only the strings that these codes use, and the new codes."""
        kept = np.unique(codes[codes >= 0])
        if kept.size == len(self):
            return self, codes
        place = np.full(len(self) + 1, -1, dtype=np.int32)
        place[kept] = np.arange(kept.size, dtype=np.int32)
        bounds, raw = [0, *self.ends.tolist()], self.text.tobytes()
        pieces = [raw[bounds[i] : bounds[i + 1]] for i in kept.tolist()]
        ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
        return Strings(np.frombuffer(b"".join(pieces), dtype=np.uint8), ends), place[codes]

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Any]) -> Strings:
        """Return the strings of a saved column; ValueError if they are not UTF-8 or do not fit their ends."""
        ends = _checked(tensors, "ends", np.dtype("<i8"))
        strings = cls(_checked(tensors, "text", np.dtype("|u1")), ends)
        unpacked_strings(strings.text, strings.ends)  # or ValueError
        return strings


class TextColumn(Column):
    """Texts or categories: the code of each document's string, -1 if it is missing, and the strings."""

    kind = "text"

    def __init__(self, codes: npt.NDArray[np.int32], strings: Strings) -> None:
        self.codes, self.strings = codes, strings

    @classmethod
    def of(cls, values: Sequence[str | None]) -> TextColumn:
        """Return the column of these values."""
        numbers: dict[str, int] = {}
        codes = np.fromiter(
            (-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values),
            np.int32,
            len(values),
        )
        return cls(codes, Strings(*packed_strings(numbers)))

    def __len__(self) -> int:
        return self.codes.size

    @cached_property
    def values(self) -> npt.NDArray[Any]:
        """The texts, with None if one is missing."""
        return read_only(self.strings.objects[self.codes])

    def between(self, first: int, last: int) -> list[str | None]:
        """Return the texts of consecutive documents."""
        return self.strings.at(self.codes[first:last])

    def take(self, rows: npt.NDArray[np.int64]) -> TextColumn:
        """Return the column of these documents."""
        strings, codes = self.strings.used(self.codes[rows])
        return TextColumn(codes, strings)

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Return codes and strings."""
        return {"codes": self.codes, "text": self.strings.text, "ends": self.strings.ends}

    @classmethod
    def from_tensors(cls, n_docs: int, tensors: Mapping[str, Any]) -> TextColumn:
        """Return the column that :meth:`tensors` described; ValueError if the arrays are not those of a column."""
        strings = Strings.from_tensors(tensors)
        return cls(_checked_codes(tensors, len(strings), n_docs, missing=True), strings)


class ListColumn(Column):
    """Lists of texts or categories, such as the labels of a document; a missing list is empty."""

    kind = "list"

    def __init__(self, indptr: npt.NDArray[np.int64], codes: npt.NDArray[np.int32], strings: Strings) -> None:
        self._indptr, self.codes, self.strings = indptr, codes, strings

    @classmethod
    def of(cls, values: Sequence[Sequence[str]]) -> ListColumn:
        """Return the column of these values."""
        items = TextColumn.of([item for value in values for item in value])
        indptr = np.concatenate([[0], np.cumsum([len(value) for value in values], dtype=np.int64)]).astype(np.int64)
        return cls(indptr, items.codes, items.strings)

    def __len__(self) -> int:
        return self._indptr.size - 1

    @cached_property
    def values(self) -> npt.NDArray[Any]:
        """The lists, as tuples."""
        items = self.strings.objects[self.codes].tolist()
        bounds = self._indptr.tolist()
        array = np.empty(len(self), dtype=object)
        for row in range(len(self)):
            array[row] = tuple(items[bounds[row] : bounds[row + 1]])
        return read_only(array)

    def between(self, first: int, last: int) -> list[list[str | None]]:
        """Return the lists of consecutive documents."""
        bounds = self._indptr[first : last + 1].tolist()
        items = self.strings.at(self.codes[bounds[0] : bounds[-1]]) if bounds else []
        return [items[begin - bounds[0] : end - bounds[0]] for begin, end in pairwise(bounds)]

    def take(self, rows: npt.NDArray[np.int64]) -> ListColumn:
        """Return the column of these documents."""
        lengths = np.diff(self._indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self._indptr[:-1][rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        strings, codes = self.strings.used(self.codes[places])
        return ListColumn(indptr, codes, strings)

    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """Return where each list begins, codes and strings."""
        return {
            "indptr": self._indptr, "codes": self.codes, "text": self.strings.text, "ends": self.strings.ends,
        }  # fmt: skip

    @classmethod
    def from_tensors(cls, n_docs: int, tensors: Mapping[str, Any]) -> ListColumn:
        """Return the column that :meth:`tensors` described; ValueError if the arrays are not those of a column."""
        strings = Strings.from_tensors(tensors)
        codes = _checked_codes(tensors, len(strings), missing=False)
        indptr = _checked(tensors, "indptr", np.dtype("<i8"), n_docs + 1)
        if indptr[0] != 0 or indptr[-1] != codes.size or (indptr[1:] < indptr[:-1]).any():
            raise ValueError("its lists do not fit their items")
        return cls(indptr, codes, strings)


def column_from_tensors(kind: str, n_docs: int, tensors: Mapping[str, Any]) -> Column:
    """Return the column of a kind that its :meth:`Column.tensors` described; ValueError if they do not describe one."""
    if kind in NUMBER_TYPES:
        return NumberColumn.from_tensors(kind, n_docs, tensors)
    classes: dict[str, Any] = {"text": TextColumn, "list": ListColumn}
    if kind not in classes:
        raise ValueError(f"a kind of column that this version does not know ({kind!r:.50})")
    return classes[kind].from_tensors(n_docs, tensors)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array, or a view of it, that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view


def _checked(tensors: Mapping[str, Any], name: str, dtype: np.dtype[Any], size: int | None = None) -> Any:
    if name not in tensors:
        raise ValueError(f"its {name} are missing")
    array = tensors[name]
    if array.ndim != 1 or array.dtype != dtype or size not in (None, array.size):
        raise ValueError(f"its {name} have the wrong type or size")
    return array


def _checked_codes(tensors: Mapping[str, Any], n_strings: int, size: int | None = None, *, missing: bool) -> Any:
    codes = _checked(tensors, "codes", np.dtype("<i4"), size)
    if codes.size and (codes.min() < (-1 if missing else 0) or codes.max() >= n_strings):
        raise ValueError("its codes have no strings")
    return codes

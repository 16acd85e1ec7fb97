"""Thrift's compact protocol, in which Parquet files describe themselves: as much of it as is needed here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_DEEPEST = 16

# Types of values.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, LIST, _SET, _MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = (4, 5, 6)


class Thrift:
    """Reads Thrift's compact protocol; IndexError if the bytes end too soon, ValueError if they are not Thrift."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.at = raw, 0

    def struct(self, depth: int = 0) -> dict[tuple[int, str], Any]:
        """Integers and structs of a struct, by their number and kind; the last counts, as for the reader of pyarrow."""
        fields: dict[tuple[int, str], Any] = {}
        for number, kind in self.fields(depth):
            if kind in _INTEGERS:
                fields[number, "integer"] = self._integer()
            elif kind == STRUCT:
                fields[number, "struct"] = self.struct(depth + 1)
            else:
                self.skip(kind, depth + 1)
        return fields

    def fields(self, depth: int = 0) -> Iterator[tuple[int, int]]:
        """Numbers and types of the fields of a struct; the caller reads or skips the value of each before the next."""
        if depth > _DEEPEST:
            raise ValueError("its description is nested too deeply")
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            if head & 15 not in (_TRUE, _FALSE):  # whose value is the type itself
                yield number, head & 15

    def items(self, wanted: int) -> Iterator[int]:
        """Places of the items of a list in a struct; the caller reads each item, and the other fields are skipped."""
        for number, kind in self.fields():
            if number == wanted and kind == LIST:
                yield from range(self.list_head()[0])
            else:
                self.skip(kind)

    def list_head(self) -> tuple[int, int]:
        """Length of a list, and the type of its items, which follow."""
        head = self._byte()
        return head >> 4 if head >> 4 < 15 else self._varint(), head & 15

    def skip(self, kind: int, depth: int = 0) -> None:
        """Go past a value."""
        if depth > _DEEPEST:
            raise ValueError("its description is nested too deeply")
        if kind in (_TRUE, _FALSE, _BYTE):
            self._move(1)
        elif kind in _INTEGERS:
            self._varint()
        elif kind == _DOUBLE:
            self._move(8)
        elif kind == _BINARY:
            self._move(self._varint())
        elif kind in (LIST, _SET):
            length, items = self.list_head()
            for _ in range(length):
                self.skip(items, depth + 1)
        elif kind == _MAP:
            if size := self._varint():
                kinds = self._byte()
                for _ in range(size):
                    self.skip(kinds >> 4, depth + 1)
                    self.skip(kinds & 15, depth + 1)
        elif kind == STRUCT:
            for _, own in self.fields(depth):
                self.skip(own, depth + 1)
        else:
            raise ValueError(f"its description holds type {kind}, which there is not")

    def _byte(self) -> int:
        self._move(1)
        return self.raw[self.at - 1]

    def _move(self, size: int) -> None:
        self.at += size
        if self.at > len(self.raw):
            raise IndexError

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("its description holds a number that is too long")
        return value | byte << shift

    def _integer(self) -> int:
        """A number with a sign, of 32 bits: what is beyond is cut off, as the reader of pyarrow does."""
        value = self._varint() & 0xFFFFFFFF
        return (value >> 1) ^ -(value & 1)

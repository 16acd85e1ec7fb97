"""Rows of CSV, with fields of any length.

The csv module refuses fields that are longer than a limit, which is 131,072 characters unless the application has set
another, and is the same for all threads. A document may be longer. The limit is not ours to change: another thread may be
reading by it. So the module splits the rows whose fields are within it, and :func:`_long_row` the few others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..exceptions import CorpusFormatError, InputError
from .files import shown

# Longest field that our own splitting accepts, in characters; the limit is that of a line in bytes.
_LONGEST_FIELD = 1 << 29
_QUOTE = '"'


def csv_rows(path: Path, lines: Iterable[tuple[int, str]], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table, each with the number of its first line.

    Parameters
    ----------
    path : path
        Name of the file, for messages.
    lines : iterable of (int, str)
        Numbers of lines, from 1, and lines without their ends. What else Unicode takes for the end of a line is a part of a
        field.
    separator : str
        One character.
    """
    if len(separator) != 1 or separator in '"\r\n\0':
        raise InputError(f"separator must be one character in CSV, no quote and no line end, but is {separator!r}.")
    pulled = _Pulled(lines)
    reader = csv.reader(pulled, delimiter=separator)
    while True:
        pulled.begin_row()
        try:
            row = next(reader, None)
        except csv.Error as error:
            if not pulled.row or "field limit" not in str(error):
                raise CorpusFormatError(f"{shown(path)}, line {pulled.line}: not a table of CSV ({error}).") from error
            row = _long_row(path, pulled, separator)
            reader = csv.reader(pulled, delimiter=separator)  # the old one is in the middle of a field
        if row is None:
            return
        if pulled.ended:  # a quote is still open, and the end of the file was taken for the end of the field
            raise CorpusFormatError(f"{shown(path)}, line {pulled.first}: a quote is opened here, but never closed.")
        yield pulled.first, row


class _Pulled:
    """Lines as a reader of rows asks for them; those of the current row are kept until a long row takes them over."""

    def __init__(self, lines: Iterable[tuple[int, str]]) -> None:
        self._lines = iter(lines)
        self.row: list[str] = []
        self._keeps = True
        self.first = self.line = 0
        self.ended = False  # while a row was still open

    def begin_row(self) -> None:
        """Forget the lines of the last row."""
        self.row, self.first, self._keeps = [], self.line + 1, True

    def taken(self) -> str:
        """Return the lines of the row so far, and keep no more of it."""
        text, self.row, self._keeps = "".join(self.row), [""], False
        return text

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        try:
            self.line, text = next(self._lines)
        except StopIteration:
            self.ended = bool(self.row)
            raise
        line = text + "\n"
        if self._keeps:
            self.row.append(line)
        return line


def _long_row(path: Path, pulled: _Pulled, separator: str) -> list[str]:
    """The fields of the row whose first lines have been pulled, as the csv module splits them, but of any length."""
    fields: list[str] = []
    text, at = pulled.taken(), 0
    while True:
        field, at, text = _field(path, pulled, text, at, separator)
        fields.append(field)
        if text[at] == "\n":
            return fields
        at += 1


def _field(path: Path, pulled: _Pulled, text: str, at: int, separator: str) -> tuple[str, int, str]:
    """The field that begins at a position, the position of what ends it, and the text, which may have moved on."""
    if text[at] != _QUOTE:
        plain, end = _plain(path, pulled, text, at, separator)
        return plain, end, text
    field = io.StringIO()  # takes the memory of its characters; a list of short pieces takes thirty times as much
    at += 1
    while True:
        quote = text.find(_QUOTE, at)
        if quote < 0:
            field.write(text[at:])
            if field.tell() > _LONGEST_FIELD:
                raise CorpusFormatError(
                    f"{shown(path)}, line {pulled.first}: a field of more than {_LONGEST_FIELD >> 20} MiB, or a quote that "
                    "is never closed."
                )
            text, at = next(pulled, "\n"), 0
            if pulled.ended:
                return field.getvalue(), 0, text
        elif text[quote + 1] == _QUOTE:  # two quotes are one
            field.write(text[at : quote + 1])
            at = quote + 2
        else:
            # What follows a closing quote belongs to the field, and quotes in it are nothing special.
            more, end = _plain(path, pulled, text, quote + 1, separator)
            return field.getvalue() + text[at:quote] + more, end, text


def _plain(path: Path, pulled: _Pulled, text: str, at: int, separator: str) -> tuple[str, int]:
    """What is not quoted, up to a separator or the end of the line, and the position of that."""
    end = text.index("\n", at)  # each line ends in one
    found = text.find(separator, at, end)
    stop = end if found < 0 else found
    if (before := text.find("\r", at, stop)) >= 0:
        if text[before:end].strip("\r"):
            raise CorpusFormatError(
                f"{shown(path)}, line {pulled.line}: not a table of CSV (a carriage return in a field that is not quoted)."
            )
        return text[at:before], end
    return text[at:stop], stop

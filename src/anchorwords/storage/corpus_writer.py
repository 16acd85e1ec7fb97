"""Corpus folders written: rows first, the names of the columns when all are known."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._typing import SparseLike
from ..corpus.columns import Column
from ..corpus.parts import Part, ordered_rows, part_of
from .column_file import DOCUMENTS, write_columns
from .corpus_folder import COUNT_TYPES, FORMAT, TYPES, crc
from .folders import crc_text, packed_strings

# Entries of a block: some 50 MB of memory while it is worked on.
BLOCK_ENTRIES = 1 << 21
BLOCK_DOCS = 1 << 17


class About(NamedTuple):
    """What a corpus folder holds besides counts, words and ids.

    Attributes
    ----------
    text_rule, vocabulary_rule : dict or None
        How text was split into words, and which words were kept.
    columns : mapping of str to Column
        The documents table.
    title : str or None
        The column that names documents.
    tokenized : bool
        Whether the documents were lists of tokens.
    """

    text_rule: dict[str, Any] | None = None
    vocabulary_rule: dict[str, Any] | None = None
    columns: Mapping[str, Column] = {}
    title: str | None = None
    tokenized: bool = False


class CorpusWriter:
    """Fills the folder of a corpus: rows first, the names of the columns when all are known.

    Memory is that of the vocabulary, of the documents' lengths and of a block: rows wait in a file until words have their
    final numbers. Use it in a ``with`` statement, which closes its files whatever happens.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._parts: list[tuple[npt.NDArray[np.uint32], str]] = []  # lengths and type of counts
        self._ids = _Strings(folder, "ids", self._stack)
        self._largest = 0.0
        self._whole_numbers = True
        self._waiting = _File(folder, "waiting", self._stack)
        self._df, self._tf = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.n_docs = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, part: Part) -> None:
        """Append rows."""
        largest = float(part.counts.max(initial=0))
        whole = part.counts.dtype.kind in "iu" or bool((part.counts == np.floor(part.counts)).all())
        kind = _smallest_type(largest, whole)
        self._largest, self._whole_numbers = max(self._largest, largest), self._whole_numbers and whole
        self._parts.append((part.lengths.astype(np.uint32), kind))
        self.n_docs += part.lengths.size
        size = max(self._df.size, int(part.indices.max(initial=-1)) + 1)
        self._df = _lengthened(self._df, size) + np.bincount(part.indices, minlength=size)
        self._tf = _lengthened(self._tf, size) + np.bincount(part.indices, weights=part.counts, minlength=size)
        self._waiting.write(part.indices.astype("<i4", copy=False))
        self._waiting.write(part.counts.astype(kind, copy=False))
        if part.ids is not None:
            self._ids.add(part.ids)

    def frequencies(self, n_numbers: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return the documents and the tokens of each number that rows have used for a word so far."""
        return _lengthened(self._df, n_numbers), _lengthened(self._tf, n_numbers)

    def ids(self) -> Iterator[str]:
        """The ids written so far."""
        return self._ids.read()

    def finish(
        self,
        words: Sequence[str],
        numbers: npt.NDArray[np.int32] | None,
        about: About,
        change: Callable[[SparseLike], SparseLike] | None = None,
    ) -> None:
        """Write what is left, given all words and the new number of each old one (None: numbers are final).

        With ``change``, rows are what it makes of them.
        """
        self._waiting.close()
        kind = _smallest_type(self._largest, self._whole_numbers)
        entries = _Entries(self._folder, len(words), kind, self._stack)
        for rows in self._rows(len(words), numbers):
            entries.add(rows if change is None else change(rows))
        self._waiting.path.unlink()
        blocks = entries.close()
        checksums = self._ids.close()
        names = _Strings(self._folder, "words", self._stack)
        names.add(words)
        checksums |= names.close()
        has_ids = self._ids.number > 0
        if not has_ids:
            for name in ("ids", "ids.ends"):
                (self._folder / f"{name}.bin").unlink()
                del checksums[name]
        for name, array in (("df", entries.df), ("tf", entries.tf)):
            raw = array.astype(TYPES[name]).tobytes()
            (self._folder / f"{name}.bin").write_bytes(raw)
            checksums[name] = crc_text(zlib.crc32(raw))
        FORMAT.write_manifest(
            self._folder,
            {
                "n_docs": entries.n_docs, "n_words": len(words), "n_entries": entries.n_entries,
                "n_tokens": float(entries.tf.sum()), "count_type": np.dtype(kind).str, "has_ids": has_ids,
                "rule": about.text_rule, "tokenized": about.tokenized, "vocabulary_rule": about.vocabulary_rule,
                "documents": write_columns(self._folder / DOCUMENTS, about.columns, about.title),
                "checksums": checksums, "blocks": blocks,
            },
        )  # fmt: skip

    def _rows(self, n_words: int, numbers: npt.NDArray[np.int32] | None) -> Iterator[SparseLike]:
        with self._waiting.path.open("rb") as waiting:
            for lengths, kind in self._parts:
                size = int(lengths.sum())
                indices = np.frombuffer(waiting.read(4 * size), dtype="<i4")
                counts = np.frombuffer(waiting.read(np.dtype(kind).itemsize * size), dtype=kind)
                yield ordered_rows(Part(lengths, indices, counts), numbers, n_words)


def _lengthened(numbers: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    return (
        np.concatenate([numbers, np.zeros(size - numbers.size, dtype=numbers.dtype)])
        if size > numbers.size
        else numbers
    )


def _smallest_type(largest: float, whole: bool) -> str:
    if not whole:
        return "<f8"
    return next(kind for kind, limit in zip(COUNT_TYPES, (2**8, 2**16, 2**32, np.inf), strict=True) if largest < limit)


class _File:
    """A file that is written piece by piece, with the checksum of what was written since it was last asked for."""

    def __init__(self, folder: Path, name: str, stack: ExitStack) -> None:
        self.path = folder / f"{name}.bin"
        self._stream = self.path.open("wb")
        stack.callback(self._close_quietly)
        self.flush = self._stream.flush
        self._crc = 0

    def write(self, array: npt.NDArray[Any]) -> None:
        raw = np.ascontiguousarray(array).view(np.uint8).data
        self._stream.write(raw)
        self._crc = zlib.crc32(raw, self._crc)

    def checksum(self) -> str:
        value, self._crc = self._crc, 0
        return crc_text(value)

    def close(self) -> None:
        self._stream.close()

    def _close_quietly(self) -> None:
        """Close what is given up: that the rest cannot be written does not matter any more."""
        with suppress(OSError):
            self._stream.close()


class _Strings:
    """Strings one after the other, and where each ends."""

    def __init__(self, folder: Path, name: str, stack: ExitStack) -> None:
        self._name = name
        self._text, self._ends = _File(folder, name, stack), _File(folder, f"{name}.ends", stack)
        self._size = 0
        self.number = 0

    def add(self, strings: Sequence[str]) -> None:
        text, ends = packed_strings(strings)
        self._text.write(text)
        self._ends.write((self._size + ends).astype("<i8"))
        self._size += text.size
        self.number += ends.size

    def read(self) -> Iterator[str]:
        """The strings written so far."""
        self._text.flush()
        self._ends.flush()
        with self._text.path.open("rb") as text, self._ends.path.open("rb") as ends:
            begin = 0
            while piece := ends.read(1 << 16):
                for end in np.frombuffer(piece, dtype="<i8").tolist():
                    yield text.read(end - begin).decode("utf-8", "surrogatepass")
                    begin = end

    def close(self) -> dict[str, str]:
        found = {self._name: self._text.checksum(), f"{self._name}.ends": self._ends.checksum()}
        self._text.close()
        self._ends.close()
        return found


class _Entries:
    """The rows on disk, in blocks, with what is counted on the way."""

    def __init__(self, folder: Path, n_words: int, kind: str, stack: ExitStack) -> None:
        names = ("indptr", "indices", "counts")
        self._indptr, self._indices, self._counts = (_File(folder, name, stack) for name in names)
        self._kind = kind
        self._pending: list[SparseLike] = []
        self._pending_entries = self._pending_docs = 0
        self._blocks: list[list[Any]] = []
        self.n_docs = self.n_entries = 0
        self.df = np.zeros(n_words, dtype=np.int64)
        self.tf = np.zeros(n_words)

    def add(self, rows: SparseLike) -> None:
        n_words = self.df.size
        self.df += np.bincount(rows.indices, minlength=n_words)
        self.tf += np.bincount(rows.indices, weights=rows.data, minlength=n_words)
        self.n_docs += rows.shape[0]
        self._pending.append(rows)
        self._pending_entries += rows.nnz
        self._pending_docs += rows.shape[0]
        if self._pending_entries >= BLOCK_ENTRIES or self._pending_docs >= BLOCK_DOCS:
            self._flush()

    def _flush(self) -> None:
        if not self._pending:
            return
        lengths = np.concatenate([np.diff(rows.indptr) for rows in self._pending])
        indptr = self.n_entries + np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype("<i8")
        # The last number of a block is the first of the next: it is written once, and is in both checksums.
        self._indptr.write(indptr[:-1])
        for rows in self._pending:
            self._indices.write(rows.indices.astype("<i4", copy=False))
            self._counts.write(rows.data.astype(self._kind))
        self._indptr.checksum()
        checksums = [crc(indptr), self._indices.checksum(), self._counts.checksum()]
        self._blocks.append([self._pending_docs, self._pending_entries, *checksums])
        self.n_entries += self._pending_entries
        self._pending, self._pending_entries, self._pending_docs = [], 0, 0

    def close(self) -> list[list[Any]]:
        self._flush()
        self._indptr.write(np.array([self.n_entries], dtype="<i8"))
        for file in (self._indptr, self._indices, self._counts):
            file.close()
        return self._blocks


def save_corpus(
    path: str | os.PathLike[str],
    blocks: Iterable[SparseLike],
    vocabulary: Sequence[str],
    ids: Iterable[str] | None,
    about: About,
) -> None:
    """Write a corpus folder from blocks of rows whose columns are those of the vocabulary."""
    names = None if ids is None else iter(ids)
    with FORMAT.written(path) as folder, CorpusWriter(folder) as writer:
        for block in blocks:
            writer.add(part_of(block, None if names is None else list(islice(names, block.shape[0]))))
        writer.finish(vocabulary, None, about)

"""A corpus on disk: a folder that opens at once, is read block by block, and is written whole or not at all.

    corpus.json          what it is: sizes, types, checksums, and the blocks of documents
    indptr.bin           (M + 1,) where each document begins in the next two
    indices.bin          (entries,) int32, words, ascending within a document
    counts.bin           (entries,) in the smallest type that holds the largest count
    words.bin, .ends     the words one after the other, UTF-8, and (N,) where each ends
    ids.bin, .ends       the same of the documents' ids, where they have any
    df.bin, tf.bin       (N,) documents and tokens of each word

Numbers are little-endian. Sizes are checked on opening, each block and each other file against its checksum when it is
first read, and entries against the sizes, so that no number from a file is ever used as an index unseen.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import SparseLike
from ..corpus.files import sentence
from ..corpus.parts import Part, ordered_rows, part_of
from ..exceptions import CorpusFormatError
from .folders import FolderFormat, crc_text, packed_strings, unpacked_strings
from .reading import OpenFolder

# Entries of a block: some 50 MB of memory while it is worked on.
BLOCK_ENTRIES = 1 << 21
BLOCK_DOCS = 1 << 17
_TYPES = {
    "indptr": "<i8", "indices": "<i4", "counts": "", "words": "|u1", "words.ends": "<i8", "ids": "|u1",
    "ids.ends": "<i8", "df": "<i8", "tf": "<f8",
}  # fmt: skip
FORMAT = FolderFormat(
    "corpus", 1, "import it again", CorpusFormatError, files=tuple(f"{name}.bin" for name in _TYPES)
)  # fmt: skip
_COUNT_TYPES = ("|u1", "<u2", "<u4", "<f8")


class Block(NamedTuple):
    """Where a block of documents lies, and its checksums."""

    first_doc: int
    n_docs: int
    first_entry: int
    n_entries: int
    checksums: tuple[str, str, str]


class CorpusFolder:
    """A corpus folder, opened.

    Parameters
    ----------
    path : path

    Attributes
    ----------
    n_docs, n_words, n_entries : int
    has_ids : bool
    rule : dict or None
        How its text was split into words.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        FORMAT.read(path, self._open)

    def _open(self, folder: OpenFolder, manifest: dict[str, Any]) -> None:
        """Check the manifest and open all files: from then on the corpus is read to its end, also if it is replaced."""
        try:
            self.n_docs, self.n_words = int(manifest["n_docs"]), int(manifest["n_words"])
            self.n_entries, self.n_tokens = int(manifest["n_entries"]), float(manifest["n_tokens"])
            self.has_ids = bool(manifest["has_ids"])
            self.rule = manifest["rule"]
            if manifest["count_type"] not in _COUNT_TYPES or not isinstance(self.rule, (dict, type(None))):
                raise ValueError("an unknown type of counts, or a rule that is none")
            self._count_type = np.dtype(manifest["count_type"])
            self._checksums = {str(name): str(value) for name, value in manifest["checksums"].items()}
            self._blocks = list(_blocks(manifest["blocks"]))
            self._seal = str(manifest["checksum"])
            sizes = self._sizes()
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, CorpusFormatError):
                raise
            raise self.damaged(f"its manifest does not describe a corpus ({sentence(error)})") from None
        self._files = self._opened(folder, sizes)
        self._held: dict[str, npt.NDArray[Any]] = {}
        self._seen: set[int] = set()

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self._blocks)

    def block_docs(self, number: int) -> int:
        """Documents of a block."""
        return self._blocks[number].n_docs

    def block(self, number: int) -> SparseLike:
        """Documents of a block as a CSR array of float64; any thread may ask."""
        where = self._blocks[number]
        indptr = self._read("indptr", where.first_doc, where.n_docs + 1)
        indices = self._read("indices", where.first_entry, where.n_entries)
        counts = self._read("counts", where.first_entry, where.n_entries)
        if number not in self._seen:
            self._check_block(number, where, indptr, indices, counts)
            self._seen.add(number)
        return sp.csr_array(
            (counts.astype(np.float64), indices, indptr - where.first_entry), shape=(where.n_docs, self.n_words)
        )

    def words(self) -> list[str]:
        """The vocabulary."""
        return self._strings("words", self.n_words)

    def ids(self) -> list[str]:
        """The documents' ids."""
        return self._strings("ids", self.n_docs)

    def document_frequencies(self) -> npt.NDArray[np.int64]:
        """Documents of each word."""
        df = self._whole("df")
        if df.size and (df.min() < 0 or df.max() > self.n_docs or int(df.sum()) != self.n_entries):
            raise self.damaged("df.bin contradicts the entries")
        return df

    def term_frequencies(self) -> npt.NDArray[np.float64]:
        """Tokens of each word."""
        tf = self._whole("tf")
        # Written so that NaN is refused too.
        if tf.size and not (tf.min() >= 0 and math.isclose(tf.sum(), self.n_tokens, rel_tol=1e-9)):
            raise self.damaged("tf.bin contradicts the number of tokens")
        return tf

    def _strings(self, name: str, number: int) -> list[str]:
        text, ends = self._whole(name), self._whole(f"{name}.ends")
        try:
            strings = unpacked_strings(text, ends)
        except UnicodeDecodeError:
            raise self.damaged(f"{name}.bin is not UTF-8") from None
        except ValueError:
            strings = []
        if len(strings) != number:
            raise self.damaged(f"{name}.ends.bin does not fit {name}.bin")
        return strings

    def _sizes(self) -> dict[str, int | None]:
        """Entries of each file; None where only its checksum tells."""
        if min(self.n_docs, self.n_words, self.n_entries) < 0 or not 0 <= self.n_tokens < np.inf:
            raise ValueError("a size that is none")
        if (
            sum(b.n_docs for b in self._blocks) != self.n_docs
            or sum(b.n_entries for b in self._blocks) != self.n_entries
        ):
            raise ValueError("its blocks do not add up")
        return {
            "indptr": self.n_docs + 1, "indices": self.n_entries, "counts": self.n_entries, "words": None,
            "words.ends": self.n_words, "df": self.n_words, "tf": self.n_words,
            **({"ids": None, "ids.ends": self.n_docs} if self.has_ids else {}),
        }  # fmt: skip

    def _opened(self, folder: OpenFolder, sizes: dict[str, int | None]) -> dict[str, BinaryIO]:
        """The files, of the sizes they must have; closed when nothing uses the corpus any more."""
        files: dict[str, BinaryIO] = {}
        weakref.finalize(self, _close, files)
        for name, size in sizes.items():
            try:
                files[name] = folder.open(f"{name}.bin")
            except FileNotFoundError:
                raise self.damaged(f"{name}.bin is missing") from None
            except OSError as error:
                raise self.damaged(f"{name}.bin cannot be read ({error.strerror or error})") from None
            found = os.fstat(files[name].fileno()).st_size
            if size is not None and found != size * self._type(name).itemsize:
                raise self.damaged(f"{name}.bin has {found} bytes in place of {size * self._type(name).itemsize}")
        return files

    def _check_block(self, number: int, where: Block, indptr: Any, indices: Any, counts: Any) -> None:
        parts = (indptr, indices, counts)
        found = tuple(_crc(part) for part in parts)
        if found != where.checksums:
            raise self.damaged(f"the checksum of block {number} is wrong")
        if (
            indptr[0] != where.first_entry
            or indptr[-1] != where.first_entry + where.n_entries
            or _falls(indptr)
            or (indices.size and (indices.min() < 0 or indices.max() >= self.n_words))
            or not ((counts > 0) & (counts < np.inf)).all()
            or not _ascending(indptr - where.first_entry, indices)
        ):
            raise self.damaged(f"block {number} contradicts itself")

    def _type(self, name: str) -> np.dtype[Any]:
        return self._count_type if name == "counts" else np.dtype(_TYPES[name])

    def _read(self, name: str, first: int, number: int) -> npt.NDArray[Any]:
        """Numbers of a file, from one on."""
        kind = self._type(name)
        array = np.empty(number, kind)
        try:
            found = _read_at(self._files[name], first * kind.itemsize, array.view(np.uint8).data)
        except OSError as error:
            raise self.damaged(f"{name}.bin cannot be read ({error.strerror or error})") from None
        if found != array.nbytes:
            raise self.damaged(f"{name}.bin ends too soon")
        return array

    def _whole(self, name: str) -> npt.NDArray[Any]:
        """All of a small file, checked when it is first asked for."""
        if name not in self._held:
            size = os.fstat(self._files[name].fileno()).st_size
            array = self._read(name, 0, size // self._type(name).itemsize)
            if _crc(array) != self._checksums.get(name):
                raise self.damaged(f"the checksum of {name}.bin is wrong")
            array.setflags(write=False)
            self._held[name] = array
        return self._held[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.path, self._seal)  # another process opens it for itself

    def damaged(self, why: str) -> CorpusFormatError:
        """Return the error for a folder that is damaged in this way."""
        return CorpusFormatError(f"{self.path} is damaged: {why}; {FORMAT.again}.")


def _reopened(path: Path, seal: str) -> CorpusFolder:
    """A folder opened again, if it is still the same."""
    folder = CorpusFolder(path)
    if folder._seal != seal:
        raise CorpusFormatError(f"{path} was replaced while it was in use: open the corpus again.")
    return folder


def _close(files: dict[str, BinaryIO]) -> None:
    for file in files.values():
        file.close()


# For systems that cannot read at a position: there the position of a file is one for all threads.
_SEEKING = threading.Lock()


def _read_at(file: BinaryIO, position: int, buffer: memoryview) -> int:
    """Fill a buffer from a position on, without moving the position that other threads and forked processes share."""
    if not hasattr(os, "preadv"):
        with _SEEKING:
            file.seek(position)
            return file.readinto(buffer)  # type: ignore[attr-defined]
    done = 0
    while done < len(buffer) and (size := os.preadv(file.fileno(), [buffer[done:]], position + done)):
        done += size
    return done


def _crc(array: npt.NDArray[Any]) -> str:
    return crc_text(zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data))


def _blocks(records: Iterable[Any]) -> Iterator[Block]:
    first_doc = first_entry = 0
    for n_docs, n_entries, *checksums in records:
        if n_docs < 0 or n_entries < 0 or len(checksums) != 3:
            raise ValueError("a block is wrong")
        yield Block(first_doc, int(n_docs), first_entry, int(n_entries), tuple(map(str, checksums)))  # type: ignore[arg-type]
        first_doc += int(n_docs)
        first_entry += int(n_entries)


def _falls(numbers: npt.NDArray[np.int64]) -> bool:
    """Whether a number is less than the one before; not by their difference, which may overflow."""
    return bool((numbers[1:] < numbers[:-1]).any())


def _ascending(indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32]) -> bool:
    """Whether the words of each document are in order and distinct."""
    rises = np.diff(indices) > 0
    ends = indptr[1:-1]
    rises[ends[(ends > 0) & (ends < indices.size)] - 1] = True
    return bool(rises.all())


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
        self._waiting.write(part.indices.astype("<i4", copy=False))
        self._waiting.write(part.counts.astype(kind, copy=False))
        if part.ids is not None:
            self._ids.add(part.ids)

    def ids(self) -> Iterator[str]:
        """The ids written so far."""
        return self._ids.read()

    def finish(
        self,
        words: Sequence[str],
        numbers: npt.NDArray[np.int32] | None,
        rule: dict[str, Any] | None,
    ) -> None:
        """Write what is left, given all words and the new number of each old one (None: numbers are final)."""
        self._waiting.close()
        kind = _smallest_type(self._largest, self._whole_numbers)
        entries = _Entries(self._folder, len(words), kind, self._stack)
        for rows in self._rows(len(words), numbers):
            entries.add(rows)
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
            raw = array.astype(_TYPES[name]).tobytes()
            (self._folder / f"{name}.bin").write_bytes(raw)
            checksums[name] = crc_text(zlib.crc32(raw))
        FORMAT.write_manifest(
            self._folder,
            {
                "n_docs": entries.n_docs, "n_words": len(words), "n_entries": entries.n_entries,
                "n_tokens": float(entries.tf.sum()), "count_type": np.dtype(kind).str, "has_ids": has_ids, "rule": rule,
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


def _smallest_type(largest: float, whole: bool) -> str:
    if not whole:
        return "<f8"
    return next(kind for kind, limit in zip(_COUNT_TYPES, (2**8, 2**16, 2**32, np.inf), strict=True) if largest < limit)


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
        checksums = [_crc(indptr), self._indices.checksum(), self._counts.checksum()]
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
    rule: dict[str, Any] | None,
) -> None:
    """Write a corpus folder from blocks of rows whose columns are those of the vocabulary."""
    names = None if ids is None else iter(ids)
    with FORMAT.written(path) as folder, CorpusWriter(folder) as writer:
        for block in blocks:
            writer.add(part_of(block, None if names is None else list(islice(names, block.shape[0]))))
        writer.finish(vocabulary, None, rule)

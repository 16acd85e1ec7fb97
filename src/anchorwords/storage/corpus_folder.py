"""A corpus on disk: a folder that opens at once, is read block by block, and is written whole or not at all.

    corpus.json          what it is: sizes, types, checksums, and the blocks of documents
    indptr.bin           (M + 1,) where each document begins in the next two
    indices.bin          (entries,) int32, words, ascending within a document
    counts.bin           (entries,) in the smallest type that holds the largest count
    words.bin, .ends     the words one after the other, UTF-8, and (N,) where each ends
    ids.bin, .ends       the same of the documents' ids, where they have any
    df.bin, tf.bin       (N,) documents and tokens of each word
    documents.safetensors  the documents table, if there is one

Numbers are little-endian. Sizes are checked on opening, each block and each other file against its checksum when it is
first read, and entries against the sizes, so that no number from a file is ever used as an index unseen.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import SparseLike
from ..corpus.columns import Column
from ..corpus.files import sentence
from ..exceptions import CorpusFormatError
from .column_file import DOCUMENTS, ColumnFile
from .folders import FolderFormat, crc_text, unpacked_strings
from .reading import OpenFolder

TYPES = {
    "indptr": "<i8", "indices": "<i4", "counts": "", "words": "|u1", "words.ends": "<i8", "ids": "|u1",
    "ids.ends": "<i8", "df": "<i8", "tf": "<f8",
}  # fmt: skip
FORMAT = FolderFormat(
    "corpus", 2, "import it again", CorpusFormatError, files=(*(f"{name}.bin" for name in TYPES), DOCUMENTS), older=(1,)
)
COUNT_TYPES = ("|u1", "<u2", "<u4", "<f8")


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
    tokenized : bool
        Whether its documents were lists of tokens; False in folders of format 1.
    vocabulary_rule : dict or None
        How its words were chosen; None for all words, and in folders of format 1.
    table : ColumnFile or None
        What the documents table holds.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        FORMAT.read(path, self._open)

    def _open(self, folder: OpenFolder, manifest: dict[str, Any]) -> None:
        """Check the manifest and open all files: from then on the corpus is read to its end, also if it is replaced."""
        if manifest["format_version"] == 1:
            manifest = {"tokenized": False, "vocabulary_rule": None, "documents": None} | manifest
        try:
            self.n_docs, self.n_words = int(manifest["n_docs"]), int(manifest["n_words"])
            self.n_entries, self.n_tokens = int(manifest["n_entries"]), float(manifest["n_tokens"])
            self.has_ids, self.tokenized = bool(manifest["has_ids"]), bool(manifest["tokenized"])
            self.rule, self.vocabulary_rule = manifest["rule"], manifest["vocabulary_rule"]
            if manifest["count_type"] not in COUNT_TYPES:
                raise ValueError("an unknown type of counts")
            if not all(isinstance(rule, (dict, type(None))) for rule in (self.rule, self.vocabulary_rule)):
                raise ValueError("a rule that is none")
            self.table = ColumnFile.from_dict(manifest["documents"])
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
        self._columns: dict[str, Column] | None = None
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

    def columns(self) -> dict[str, Column]:
        """The documents table, read when it is first asked for."""
        if self.table is None:
            return {}
        if self._columns is None:
            try:
                whole = self._read("documents", 0, self._size("documents"))
                self._columns = self.table.columns(whole, self.n_docs)
            except ValueError as error:
                raise self.damaged(str(error)) from None
        return self._columns

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
            **({} if self.table is None else {"documents": None}),
        }  # fmt: skip

    def _opened(self, folder: OpenFolder, sizes: dict[str, int | None]) -> dict[str, BinaryIO]:
        """The files, of the sizes they must have; closed when nothing uses the corpus any more."""
        files: dict[str, BinaryIO] = {}
        weakref.finalize(self, _close, files)
        for name, size in sizes.items():
            file = _file_name(name)
            try:
                files[name] = folder.open(file)
            except FileNotFoundError:
                raise self.damaged(f"{file} is missing") from None
            except OSError as error:
                raise self.damaged(f"{file} cannot be read ({error.strerror or error})") from None
            found = os.fstat(files[name].fileno()).st_size
            if size is not None and found != size * self._type(name).itemsize:
                raise self.damaged(f"{file} has {found} bytes in place of {size * self._type(name).itemsize}")
        return files

    def _check_block(self, number: int, where: Block, indptr: Any, indices: Any, counts: Any) -> None:
        parts = (indptr, indices, counts)
        found = tuple(crc(part) for part in parts)
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
        return self._count_type if name == "counts" else np.dtype(TYPES.get(name, "|u1"))

    def _read(self, name: str, first: int, number: int) -> npt.NDArray[Any]:
        """Numbers of a file, from one on."""
        kind = self._type(name)
        array = np.empty(number, kind)
        try:
            found = _read_at(self._files[name], first * kind.itemsize, array.view(np.uint8).data)
        except OSError as error:
            raise self.damaged(f"{_file_name(name)} cannot be read ({error.strerror or error})") from None
        if found != array.nbytes:
            raise self.damaged(f"{_file_name(name)} ends too soon")
        return array

    def _size(self, name: str) -> int:
        """Numbers in a file."""
        return os.fstat(self._files[name].fileno()).st_size // self._type(name).itemsize

    def _whole(self, name: str) -> npt.NDArray[Any]:
        """All of a small file, checked when it is first asked for."""
        if name not in self._held:
            array = self._read(name, 0, self._size(name))
            if crc(array) != self._checksums.get(name):
                raise self.damaged(f"the checksum of {name}.bin is wrong")
            array.setflags(write=False)
            self._held[name] = array
        return self._held[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.path, self._seal)  # another process opens it for itself

    def damaged(self, why: str) -> CorpusFormatError:
        """Return the error for a folder that is damaged in this way."""
        return CorpusFormatError(f"{self.path} is damaged: {why}; {FORMAT.again}.")


def _file_name(name: str) -> str:
    return DOCUMENTS if name == "documents" else f"{name}.bin"


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


def crc(array: npt.NDArray[Any]) -> str:
    """CRC-32 of an array, as it stands in a manifest."""
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

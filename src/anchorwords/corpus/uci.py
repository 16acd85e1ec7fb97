"""The UCI bag-of-words format: three header lines (documents, words, non-zeros), then ``doc word count``, ids from 1."""

from __future__ import annotations

import gzip
import logging
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._memory import available_bytes
from ..exceptions import CorpusFormatError
from ..linalg.compiled import BYTES, INT_MATRIX, INT_PAIR_AND_FLAG, compiled
from .corpus import Corpus

logger = logging.getLogger("anchorwords.corpus")

_CHUNK = 1 << 24


def read_uci(path: Path, vocabulary: Sequence[str] | None) -> Corpus:
    """Read counts, plain or gzip; everything the header promises is checked. None looks for the vocabulary file."""
    chunks = _line_chunks(path)
    header, rest = _header(path, next(chunks, b""))
    n_docs, n_words, n_entries = header
    if vocabulary is None:
        vocabulary = read_words(find_vocabulary(path))
    if len(vocabulary) != n_words:
        raise CorpusFormatError(
            f"{path} announces {n_words} words, but the vocabulary has {len(vocabulary)}: "
            "check that the two files belong together."
        )
    parts = []
    line = 4
    for chunk in _chain(rest, chunks):
        entries, line = _parse(path, chunk, line)
        parts.append(entries)
    triples = np.concatenate(parts) if parts else np.zeros((0, 3), dtype=np.int64)
    if triples.shape[0] != n_entries:
        raise CorpusFormatError(
            f"{path} announces {n_entries} entries, but holds {triples.shape[0]}: the file is truncated or its header wrong."
        )
    _check_range(path, triples[:, 0], n_docs, "document")
    _check_range(path, triples[:, 1], n_words, "word")
    if n_entries and triples[:, 2].min() < 1:
        bad = int(np.argmin(triples[:, 2]))
        raise CorpusFormatError(
            f"{path} holds the count {triples[bad, 2]} in entry {bad + 1}: counts must be positive."
        )
    if n_entries and triples[:, 0].max() < n_docs:
        logger.info("%s: the last %d documents are empty", path, n_docs - triples[:, 0].max())
    counts = sp.coo_array(
        (triples[:, 2].astype(np.float64), (triples[:, 0] - 1, triples[:, 1] - 1)), shape=(n_docs, n_words)
    ).tocsr()
    if counts.nnz < n_entries:
        raise CorpusFormatError(
            f"{path} holds {n_entries - counts.nnz} entries for a document and word that it already had: add them up."
        )
    return Corpus(counts, vocabulary)


def find_vocabulary(path: Path) -> Path:
    """``vocab.NAME.txt`` beside ``docword.NAME.txt[.gz]``."""
    name = path.name.removesuffix(".gz")
    if name.startswith("docword."):
        for candidate in (path.with_name("vocab." + name[8:]), path.with_name("vocab." + name[8:] + ".gz")):
            if candidate.exists():
                return candidate
    raise CorpusFormatError(
        f"no vocabulary was found for {path}: put vocab.NAME.txt beside docword.NAME.txt, or name the file "
        "(vocabulary, --vocabulary)."
    )


def read_words(path: Path) -> list[str]:
    """One word a line, with or without a final newline."""
    raw = b"".join(_line_chunks(path))
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise CorpusFormatError(f"{path} is not UTF-8 text (line {line}): convert it to UTF-8.") from error
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    words = [line.rstrip("\r") for line in lines]
    if not words:
        raise CorpusFormatError(f"{path} holds no words: expected one a line.")
    return words


def _line_chunks(path: Path) -> Iterator[bytes]:
    """The file's bytes in pieces that end at line ends."""
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if zipped else path.open("rb") as stream:
            carry = b""
            while piece := stream.read(_CHUNK):
                cut = piece.rfind(b"\n") + 1
                if cut == 0:
                    carry += piece
                    continue
                yield carry + piece[:cut]
                carry = piece[cut:]
            if carry:
                yield carry
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CorpusFormatError(f"{path} is not a whole gzip file ({error}): download or compress it again.") from error
    except OSError as error:
        raise CorpusFormatError(f"{path} cannot be read ({error.strerror or error}).") from error


def _header(path: Path, chunk: bytes) -> tuple[tuple[int, int, int], bytes]:
    lines = chunk.split(b"\n", 3)
    try:
        n_docs, n_words, n_entries = (int(line) for line in lines[:3])
    except ValueError:
        beginning = f"starts with {chunk[:40].decode('utf-8', 'replace')!r}" if chunk else "is empty"
        raise CorpusFormatError(
            f"{path} must start with three lines, the numbers of documents, words and entries, but "
            f"{beginning}: is it a UCI bag-of-words file?"
        ) from None
    if n_docs < 1 or n_words < 1 or n_entries < 0:
        raise CorpusFormatError(
            f"{path} announces {n_docs} documents, {n_words} words and {n_entries} entries: nothing to read."
        )
    # Each document takes eight bytes of index at the least, and words are numbered by 32-bit integers.
    if n_words >= 2**31 or 8 * n_docs > (available_bytes() or 2**63):
        raise CorpusFormatError(
            f"{path} announces {n_docs} documents and {n_words} words, more than can be held: the header is wrong."
        )
    return (n_docs, n_words, n_entries), lines[3] if len(lines) > 3 else b""


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _parse(path: Path, chunk: bytes, line: int) -> tuple[npt.NDArray[np.int64], int]:
    buffer = np.frombuffer(chunk, dtype=np.uint8)
    out = np.empty((chunk.count(b"\n") + 1, 3), dtype=np.int64)
    n_entries, n_lines, fault = _parse_triples(buffer, out)
    if fault:
        text = chunk.split(b"\n")[n_lines][:60].decode("utf-8", "replace")
        raise CorpusFormatError(
            f"{path}, line {line + n_lines}: expected three whole numbers 'document word count', but found {text!r}."
        )
    return out[:n_entries], line + n_lines


def _check_range(path: Path, ids: npt.NDArray[np.int64], limit: int, what: str) -> None:
    if ids.size and (ids.min() < 1 or ids.max() > limit):
        bad = int(ids.min()) if ids.min() < 1 else int(ids.max())
        raise CorpusFormatError(
            f"{path} holds {what} {bad}, but announces {what}s 1 to {limit}: the header or the entry is wrong."
        )


@compiled(INT_PAIR_AND_FLAG, BYTES, INT_MATRIX)
def _parse_triples(buffer, out):  # type: ignore[no-untyped-def]
    """Parse lines of three non-negative integers; returns entries, complete lines, and whether a line is faulty."""
    n_entries = 0
    n_lines = 0
    fields = 0
    value = 0
    in_number = False
    newline = np.int64(10)
    for position in range(buffer.size + 1):
        byte = np.int64(buffer[position]) if position < buffer.size else newline
        if 48 <= byte <= 57:
            if not in_number:
                if fields == 3:
                    return n_entries, n_lines, True
                in_number = True
                value = 0
            value = value * 10 + (byte - 48)  # type: ignore[assignment]
            if value > 1000000000000000:
                return n_entries, n_lines, True
        elif byte == 32 or byte == 9 or byte == 13 or byte == 10:
            if in_number:
                out[n_entries, fields] = value
                fields += 1
                in_number = False
            if byte == 10:
                if fields == 3:
                    n_entries += 1
                elif fields != 0:
                    return n_entries, n_lines, True
                fields = 0
                if position < buffer.size:
                    n_lines += 1
        else:
            return n_entries, n_lines, True
    return n_entries, n_lines, False

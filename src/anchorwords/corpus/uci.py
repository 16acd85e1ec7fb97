"""The UCI bag-of-words format: three header lines (documents, words, non-zeros), then ``doc word count``, ids from 1."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .._memory import available_bytes
from ..exceptions import CorpusFormatError
from ..kernels import kernels_for
from .files import Watch, line_chunks, lines, short
from .parts import Part

logger = logging.getLogger("anchorwords.corpus")

IntMatrix: TypeAlias = npt.NDArray[np.int64]

# Documents of a part, where most are empty.
_PART_DOCS = 1 << 17


class Unordered(Exception):
    """The documents of a file are not in order."""


class UciFile:
    """A UCI file, its header read; everything the header promises is checked on the way.

    Parameters
    ----------
    path : path
        Plain or compressed.
    vocabulary : sequence of str, optional
        By default the words of ``vocab.NAME.txt`` beside it.
    """

    def __init__(self, path: Path, vocabulary: Sequence[str] | None, watch: Watch | None = None) -> None:
        self._path = path
        self._watch = watch
        chunks = line_chunks(path)
        self.n_docs, self.n_words, self.n_entries = _header(path, next(chunks, b""))[0]
        chunks.close()  # type: ignore[attr-defined]
        self.vocabulary = read_words(find_vocabulary(path)) if vocabulary is None else list(vocabulary)
        if len(self.vocabulary) != self.n_words:
            raise CorpusFormatError(
                f"{path} announces {self.n_words} words, but the vocabulary has {len(self.vocabulary)}: "
                "check that the two files belong together."
            )

    def parts(self) -> Iterator[Part]:
        """The rows as the file goes; :class:`Unordered` where its documents are not in order."""
        after = 0  # documents that are complete
        rest = np.zeros((0, 3), dtype=np.int64)  # entries of the next, which may go on in the next piece
        for piece in self._triples():
            triples = np.concatenate([rest, piece])
            documents = triples[:, 0]
            if documents[0] <= after or (np.diff(documents) < 0).any():
                raise Unordered
            begun = int(documents[-1])
            cut = int(np.searchsorted(documents, begun))
            yield from self._rows(triples[:cut], after, begun - 1)
            after, rest = begun - 1, triples[cut:]
        if rest.size and rest[-1, 0] < self.n_docs:
            logger.info("%s: the last %d documents are empty", self._path, self.n_docs - rest[-1, 0])
        yield from self._rows(rest, after, self.n_docs)

    def sorted_parts(self) -> Iterator[Part]:
        """The rows of a file whose documents are in no order, in memory of all entries."""
        triples = np.concatenate([np.zeros((0, 3), dtype=np.int64), *self._triples()])
        yield from self._rows(triples[np.argsort(triples[:, 0], kind="stable")], 0, self.n_docs)

    def _rows(self, triples: IntMatrix, after: int, last: int) -> Iterator[Part]:
        """Documents after + 1 to last, of which these are all entries."""
        keys = triples[:, 0] * self.n_words + triples[:, 1]
        if not (np.diff(keys) > 0).all() and (repeated := keys.size - np.unique(keys).size):
            raise CorpusFormatError(
                f"{self._path} holds {repeated} entries for a document and word that it already had: add them up."
            )
        for first in range(after, last, _PART_DOCS):
            stop = min(first + _PART_DOCS, last)
            begin, end = np.searchsorted(triples[:, 0], [first + 1, stop + 1])
            lengths = np.bincount(triples[begin:end, 0] - (first + 1), minlength=stop - first)
            yield Part(lengths, (triples[begin:end, 1] - 1).astype(np.int32), triples[begin:end, 2])

    def _triples(self) -> Iterator[IntMatrix]:
        """Entries piece by piece, in the ranges announced; at the end, their number is as announced."""
        chunks = line_chunks(self._path, self._watch)
        _, rest = _header(self._path, next(chunks, b""))
        line, found = 4, 0
        for chunk in _chain(rest, chunks):
            triples, line = _parse(self._path, chunk, line)
            if triples.size:
                _check_range(self._path, triples[:, 0], self.n_docs, "document")
                _check_range(self._path, triples[:, 1], self.n_words, "word")
                if triples[:, 2].min() < 1:
                    bad = int(np.argmin(triples[:, 2]))
                    raise CorpusFormatError(
                        f"{self._path} holds the count {triples[bad, 2]} in entry {found + bad + 1}: counts must be "
                        "positive."
                    )
                found += triples.shape[0]
                yield triples
        if found != self.n_entries:
            raise CorpusFormatError(
                f"{self._path} announces {self.n_entries} entries, but holds {found}: the file is truncated or its header "
                "wrong."
            )


def find_vocabulary(path: Path) -> Path:
    """``vocab.NAME.txt`` beside ``docword.NAME.txt[.gz]``."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
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
    words: dict[str, None] = {}  # in the order of the file
    for line, word in lines(path):
        if word in words:  # found here and not in the end: a file of line ends alone would fill the memory first
            raise CorpusFormatError(f"{path}, line {line}: the word {short(word)} is there already: name each once.")
        words[word] = None
    if not words:
        raise CorpusFormatError(f"{path} holds no words: expected one a line.")
    return list(words)


def _header(path: Path, chunk: bytes) -> tuple[tuple[int, int, int], bytes]:
    lines = chunk.split(b"\n", 3)
    try:
        if not all(line.strip().isdigit() for line in lines[:3]):  # int takes 1_0 for 10
            raise ValueError
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
    if n_docs > 100 * n_entries + (1 << 20):
        raise CorpusFormatError(f"{path} announces {n_docs} documents of {n_entries} entries: the header is wrong.")
    return (n_docs, n_words, n_entries), lines[3] if len(lines) > 3 else b""


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _parse(path: Path, chunk: bytes, line: int) -> tuple[npt.NDArray[np.int64], int]:
    triples, n_lines, fault = kernels_for().parse_triples(chunk)
    if fault:
        text = chunk.split(b"\n")[n_lines][:60].decode("utf-8", "replace")
        raise CorpusFormatError(
            f"{path}, line {line + n_lines}: expected three whole numbers 'document word count', but found {text!r}."
        )
    return triples, line + n_lines


def _check_range(path: Path, ids: npt.NDArray[np.int64], limit: int, what: str) -> None:
    if ids.size and (ids.min() < 1 or ids.max() > limit):
        bad = int(ids.min()) if ids.min() < 1 else int(ids.max())
        raise CorpusFormatError(
            f"{path} holds {what} {bad}, but announces {what}s 1 to {limit}: the header or the entry is wrong."
        )

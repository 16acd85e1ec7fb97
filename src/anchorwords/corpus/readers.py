"""Documents of text files, folders and iterables, and the batches that all readers make.

Formats differ only in how they find the documents. Each reader is an iterator of ``(id, document, values)``: a document is
a string or a list of tokens, and the values are those of the columns to keep (see :mod:`anchorwords.corpus.selection`).
:func:`batches` gathers them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..exceptions import CorpusFormatError, InputError
from .files import Watch, lines, refuse_bomb, sentence, short, shown, whole_text

# A batch ends after this many documents or characters; a token counts as eight characters.
BATCH_DOCUMENTS = 1 << 13
_CHARACTERS = 1 << 20

# What pandas puts in place of a missing value, by the names of their types.
_MISSING = ("NAType", "NaTType")

Document: TypeAlias = "str | list[Any]"
Rows: TypeAlias = Iterator[tuple[str | None, Document, tuple[Any, ...]]]


class Batch(NamedTuple):
    """Documents that are worked on together: all strings, or all lists of tokens.

    Attributes
    ----------
    documents : list of str or of lists
    ids : list of str or None
    values : list of tuples
        Values of the columns to keep, a tuple for each document.
    """

    documents: list[Any]
    ids: list[str] | None
    values: list[tuple[Any, ...]]


def batches(rows: Rows) -> Iterator[Batch]:
    """Gather documents, in their order; text and tokens do not mix."""
    ids: list[str] = []
    gathered: list[Any] = []
    values: list[tuple[Any, ...]] = []
    size = 0
    kind: type | None = None
    for number, (name, document, more) in enumerate(rows, start=1):
        if document == "" and kind is list:
            document = []  # a missing value
        if kind is None and document != "":
            kind = type(document)
            gathered = [kind() for _ in gathered]
        if kind is not None and type(document) is not kind:
            raise InputError(
                f"documents must be all texts or all lists of tokens, but document {number} is a {type(document).__name__} "
                f"after a {kind.__name__}."
            )
        gathered.append(document)
        values.append(more)
        if name is not None:
            ids.append(name)
        size += 8 * len(document) if kind is list else len(document)
        if len(gathered) >= BATCH_DOCUMENTS or size >= _CHARACTERS:
            yield Batch(gathered, ids or None, values)
            ids, gathered, values, size = [], [], [], 0
    if gathered:
        yield Batch(gathered, ids or None, values)


def batches_of_texts(texts: Sequence[str]) -> Iterator[Batch]:
    """Gather texts that are in memory; as :func:`batches`, without a look at each."""
    characters = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    begin = before = 0
    while begin < len(texts):
        full = int(np.searchsorted(characters, before + _CHARACTERS)) + 1
        end = min(full, begin + BATCH_DOCUMENTS, len(texts))
        yield Batch(list(texts[begin:end]), None, [])
        begin, before = end, int(characters[end - 1])


def are_texts(source: Any) -> bool:
    """Whether this is a list or a tuple of plain texts."""
    return isinstance(source, (list, tuple)) and set(map(type, source)) == {str}


def as_document(value: Any, where: str) -> Document:
    """A text, or a list of tokens; missing values are empty."""
    if isinstance(value, str):
        return str(value)  # not a subclass: documents must be of one type
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _MISSING:
        return ""
    if isinstance(value, (list, tuple, set, frozenset)) or (
        hasattr(value, "tolist") and getattr(value, "ndim", 1) == 1
    ):
        tokens = value.tolist() if hasattr(value, "tolist") else list(value)
        if any(isinstance(token, (list, tuple, dict, bytes)) for token in tokens):
            raise CorpusFormatError(f"{where}: tokens must be words or numbers, but one is {short(tokens)}.")
        return tokens
    what = (
        "bytes, which must be decoded first" if isinstance(value, bytes) else f"{type(value).__name__} {short(value)}"
    )
    raise CorpusFormatError(f"{where}: expected a text or a list of tokens, but found {what}.")


def as_id(value: Any, where: str) -> str:
    """An id, or a word, written as text."""
    try:
        return str(value)
    except Exception as error:  # as in short
        raise CorpusFormatError(f"{where}: {short(value)} cannot be written as text ({sentence(error)}).") from error


# ---- Files.


def lines_of(path: Path, watch: Watch | None = None) -> Rows:
    """Read one document per line."""
    for _, line in lines(path, watch):
        yield None, line, ()


def baskets_of(path: Path, separator: str, watch: Watch | None = None) -> Rows:
    """Read one document per line, its items between separators and kept exactly as they are."""
    for _, line in lines(path, watch):
        yield None, [name for item in line.split(separator) if (name := item.strip())], ()


def files_of(folder: Path, pattern: str | None, watch: Watch | None = None) -> Rows:
    """Read one document per file, in the order of their names."""
    patterns = [pattern] if pattern else ["*.txt", "*.txt.gz", "*.txt.zst"]
    if pattern and ".." in Path(pattern).parts:
        raise InputError(f"pattern must name files inside of the folder, but is {pattern!r}: leave '..' out.")
    try:
        found = _each_once(sorted({path for one in patterns for path in folder.rglob(one) if path.is_file()}))
    except (ValueError, NotImplementedError, OSError) as error:
        raise InputError(f"pattern {pattern!r} cannot be used in {folder} ({error}): try '*.txt'.") from None
    if not found:
        endings = sorted({shown(path.suffix or path.name) for path in folder.rglob("*") if path.is_file()})
        raise CorpusFormatError(
            f"{folder} holds no file {' or '.join(patterns)}: "
            + (f"its files end in {', '.join(endings[:8])}; name a pattern that fits." if endings else "it is empty.")
        )
    packed = unpacked = 0
    for number, path in enumerate(found, start=1):
        text = whole_text(path)
        packed, unpacked = packed + path.stat().st_size, unpacked + len(text)
        refuse_bomb(folder, packed, unpacked)  # many small ones make a large one
        yield path.relative_to(folder).as_posix(), text, ()
        if watch is not None:
            watch(number / len(found))


def _each_once(paths: list[Path]) -> list[Path]:
    """Files that are not reached a second time by a link to a folder, such as one that leads back to where it is."""
    homes: dict[Path, str] = {}
    first: dict[tuple[str, str], Path] = {}
    for path in paths:
        home = homes.get(path.parent) or homes.setdefault(path.parent, os.path.realpath(path.parent))
        known = first.setdefault((home, path.name), path)
        if len(path.parts) < len(known.parts):  # the shortest way is the one without the link
            first[home, path.name] = path
    return sorted(first.values())

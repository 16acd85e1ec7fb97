"""In which format a source comes: by its type, the name of a file, and how the file begins."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..exceptions import CorpusFormatError, InputError
from .files import bare_name, beginning, require_file, short, with_line_feeds
from .stored import is_corpus_folder
from .tables import is_frame, is_lazy

FORMATS = (
    "auto", "text", "folder", "csv", "tsv", "jsonl", "parquet", "baskets", "uci", "mtx", "npz", "npy", "corpus",
)  # fmt: skip
TEXT_FORMATS = ("text", "folder", "csv", "tsv", "jsonl", "parquet")
TABLE_FORMATS = ("csv", "tsv", "jsonl", "parquet", "frame")
COUNT_FORMATS = ("uci", "mtx", "npz", "npy")
_ENDINGS = {
    ".txt": "text", ".text": "text", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".pq": "parquet", ".mtx": "mtx", ".npz": "npz", ".npy": "npy",
}  # fmt: skip


def format_of(source: Any, format: str = "auto", pattern: str | None = None) -> str:  # noqa: A002
    """The format in which :func:`anchorwords.read_corpus` reads a source; "frame" and "iterable" are in memory already.

    Parameters
    ----------
    source : path, frame or iterable
    format : str
        One of FORMATS; all but "auto" are taken at their word.
    pattern : str, optional
        Files of a folder that were asked for.
    """
    if format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, but is {format!r}.")
    if not isinstance(source, (str, os.PathLike)):
        if is_frame(source):
            if is_lazy(source):
                raise InputError("a lazy frame has no rows yet: give what its collect() returns.")
            return "frame"
        if isinstance(source, (bytes, dict)) or not isinstance(source, Iterable) or getattr(source, "ndim", 1) == 0:
            raise InputError(
                f"a corpus is read from a path, a frame or an iterable of texts or token lists, but not from "
                f"{type(source).__name__}."
            )
        return "iterable"
    if not os.fspath(source):  # which would be the current folder
        raise CorpusFormatError("an empty path does not exist: name a file or a folder.")
    path = Path(source)
    try:
        if not path.exists():
            raise CorpusFormatError(f"{path} does not exist: check the path.")
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise CorpusFormatError(f"{short(str(path))} cannot be read ({error.strerror or error}).") from None
    require_file(path)
    if format == "auto":
        return _kind_of_folder(path, pattern) if path.is_dir() else _kind_of_file(path)
    if path.is_dir() and format not in ("folder", "uci", "corpus"):
        raise CorpusFormatError(f"{path} is a folder, but format {format!r} is that of a file: name the file.")
    return format


def _kind_of_folder(folder: Path, pattern: str | None) -> str:
    if is_corpus_folder(folder):
        return "corpus"
    for what in ("model", "sketch"):
        if (folder / f"{what}.json").is_file():
            raise CorpusFormatError(f"{folder} is a {what} folder, not documents: name the documents.")
    return "uci" if pattern is None and any(folder.glob("docword.*.txt*")) else "folder"


def _kind_of_file(path: Path) -> str:
    name = bare_name(path)
    kind = next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), None)
    if kind is not None and kind != "text":
        return kind
    start = with_line_feeds(beginning(path))
    if name.endswith(".json"):
        return _kind_of_json(path, start)
    if _starts_like_uci(start):
        return "uci"
    if kind is not None and not name.startswith("docword."):
        return kind
    for mark, other in (
        (b"PAR1", "parquet"),
        (b"PK\x03\x04", "npz"),
        (b"\x93NUMPY", "npy"),
        (b"%%MatrixMarket", "mtx"),
    ):
        if start.startswith(mark):
            return other
    if name.startswith("docword."):
        return "uci"
    return "jsonl" if start.lstrip().startswith(b"{") else "text"


def _kind_of_json(path: Path, start: bytes) -> str:
    """JSON lines, if the first line is a value of its own."""
    first = start.lstrip().split(b"\n")[0]
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        if len(first) < len(start.lstrip()):  # not just a line longer than what was looked at
            raise CorpusFormatError(
                f"{path} is one JSON value over several lines: write JSON lines, one document a line."
            ) from None
    return "jsonl"


def _starts_like_uci(start: bytes) -> bool:
    """Three lines of a number each, then three numbers a line."""
    numbers = [[field.isdigit() for field in line.split()] for line in start.split(b"\n")[:4]]
    return numbers[:3] == [[True]] * 3 and (len(numbers) < 4 or numbers[3] in ([], [True] * 3))

"""Read a corpus from files."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import scipy.io
import scipy.sparse as sp

from .._typing import SparseLike
from ..exceptions import CorpusFormatError, InputError
from .corpus import Corpus
from .uci import find_vocabulary, read_uci, read_words

_FORMATS = ("auto", "uci", "npz", "mtx")


def read_corpus(
    path: str | os.PathLike[str],
    *,
    format: str = "auto",  # noqa: A002 - the public contract's name
    vocabulary: str | os.PathLike[str] | Sequence[str] | None = None,
) -> Corpus:
    """Read a corpus.

    Parameters
    ----------
    path : path
        A UCI bag-of-words file (``docword.NAME.txt`` or ``.txt.gz``) or a folder that holds one, a sparse matrix saved
        by ``scipy.sparse.save_npz`` (``.npz``), or a Matrix Market file (``.mtx``, ``.mtx.gz``); matrices are
        documents x words.
    format : {"auto", "uci", "npz", "mtx"}
        "auto" goes by the file's name.
    vocabulary : path or sequence of str, optional
        The words in column order, or a file with one a line. By default ``vocab.NAME.txt`` beside a UCI file; the words
        of a matrix are then named by their column.

    Returns
    -------
    Corpus
    """
    if format not in _FORMATS:
        raise InputError(f"format must be one of {', '.join(_FORMATS)}, but is {format!r}.")
    source = Path(path)
    if not source.exists():
        raise CorpusFormatError(f"{source} does not exist: check the path.")
    if source.is_dir():
        source = _only_docword(source)
    kind = _detect(source) if format == "auto" else format
    words: Sequence[str] | None
    if vocabulary is None:
        words = read_words(find_vocabulary(source)) if kind == "uci" else None
    elif isinstance(vocabulary, (str, os.PathLike)):
        words = read_words(Path(vocabulary))
    else:
        words = list(vocabulary)
    if kind == "uci":
        return read_uci(source, words or [])
    counts = _read_matrix(source, kind)
    return Corpus(counts, [str(i) for i in range(counts.shape[1])] if words is None else words)


def _only_docword(folder: Path) -> Path:
    found = sorted(folder.glob("docword.*.txt*"))
    if len(found) != 1:
        raise CorpusFormatError(
            f"{folder} must hold one UCI file docword.NAME.txt or docword.NAME.txt.gz, but holds {len(found)}: "
            "name the file itself."
        )
    return found[0]


def _detect(source: Path) -> str:
    name = source.name.lower()
    if name.endswith(".npz"):
        return "npz"
    return "mtx" if name.endswith((".mtx", ".mtx.gz")) else "uci"


def _read_matrix(source: Path, kind: str) -> SparseLike:
    try:
        matrix = sp.load_npz(source) if kind == "npz" else scipy.io.mmread(source)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        what = "a sparse matrix saved by scipy.sparse.save_npz" if kind == "npz" else "a Matrix Market file"
        raise CorpusFormatError(f"{source} is not {what} ({error}).") from error
    return matrix

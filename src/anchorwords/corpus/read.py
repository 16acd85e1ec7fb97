"""Read a corpus from files."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from .._typing import SparseLike
from .._validation import check_counts
from ..exceptions import CorpusFormatError, InputError
from .corpus import Corpus
from .uci import read_uci, read_words

_FORMATS = ("auto", "uci", "npz", "npy", "mtx")


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
        by ``scipy.sparse.save_npz`` (``.npz``), an array saved by ``numpy.save`` (``.npy``), or a Matrix Market file
        (``.mtx``, ``.mtx.gz``); matrices are documents x words.
    format : {"auto", "uci", "npz", "npy", "mtx"}
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
        words = None
    elif isinstance(vocabulary, (str, os.PathLike)):
        words = read_words(Path(vocabulary))
    else:
        words = list(vocabulary)
    if kind == "uci":
        return read_uci(source, words)
    counts = check_counts(_read_matrix(source, kind), str(source))
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
    for suffix, kind in ((".npz", "npz"), (".npy", "npy"), (".mtx", "mtx"), (".mtx.gz", "mtx")):
        if name.endswith(suffix):
            return kind
    return "uci"


_KINDS = {
    "npz": "a sparse matrix saved by scipy.sparse.save_npz",
    "npy": "an array saved by numpy.save",
    "mtx": "a Matrix Market file",
}


def _read_matrix(source: Path, kind: str) -> SparseLike:
    try:
        if kind == "npz":
            return sp.load_npz(source)
        return np.load(source, allow_pickle=False) if kind == "npy" else scipy.io.mmread(source)
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
        MemoryError,
        OverflowError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise CorpusFormatError(f"{source} is not {_KINDS[kind]}, or does not fit in memory ({error}).") from error

"""Matrices that were saved: Matrix Market, scipy's npz and NumPy's npy, checked before they reach compiled code."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from .._memory import available_bytes
from .._typing import SparseLike
from .._validation import check_counts
from ..exceptions import CorpusFormatError, InputError
from .files import Unpacked, beginning, refuse_bomb, sentence

_KINDS = {
    "npz": "a sparse matrix saved by scipy.sparse.save_npz",
    "npy": "an array saved by numpy.save",
    "mtx": "a Matrix Market file",
}


def read_matrix(source: Path, kind: str) -> SparseLike:
    """Counts of a matrix that was saved, checked."""
    try:
        _refuse_larger_than_memory(source, kind)
        if kind == "npz":
            matrix = sp.load_npz(source)
        elif kind == "npy":
            with source.open("rb") as stream:  # not np.load, which opens archives too
                matrix = np.lib.format.read_array(stream, allow_pickle=False)
        else:
            matrix = scipy.io.mmread(io.BufferedReader(Unpacked(source)))
        _require_sound(matrix)
        with np.errstate(over="ignore"):  # of numbers longer than ours, which become infinite and are refused
            return check_counts(matrix, str(source))
    except InputError:
        raise
    except Exception as error:  # of another package, about bytes that may be anything
        raise CorpusFormatError(
            f"{source} is not {_KINDS[kind]}, or does not fit in memory ({sentence(error)})."
        ) from error


def _require_sound(matrix: Any) -> None:
    """Raise ValueError for what must not reach compiled code, or could not be counted exactly."""
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"its entries are of type {matrix.dtype}")
    if len(matrix.shape) == 2:
        n_docs, n_words = matrix.shape
        _require_plausible(n_docs, n_words, matrix.nnz if sp.issparse(matrix) else matrix.size)
    if hasattr(matrix, "indptr"):
        # The numbers themselves: their differences, which scipy looks at, may overflow.
        if matrix.indptr.min() < 0 or matrix.indptr.max() > len(matrix.indices):
            raise ValueError("its rows begin outside of it")
        matrix.check_format(full_check=True)
    entries = matrix.data if sp.issparse(matrix) else matrix
    if entries.dtype.kind in "iu" and entries.size and int(entries.max()) > 2**53:
        raise ValueError(f"the count {entries.max()} is beyond 2^53, and could not be held exactly")


def _require_plausible(n_docs: int, n_words: int, n_entries: int) -> None:
    """Raise ValueError for a shape that takes memory out of proportion to what is in the matrix."""
    if n_docs > 1000 * n_entries + (1 << 20) or n_words > 1000 * n_entries + (1 << 24):
        raise ValueError(f"{n_docs} documents and {n_words} words for {n_entries} entries")


def _refuse_larger_than_memory(source: Path, kind: str) -> None:
    """Refuse what announces more than there is memory, before anything of that size is asked for."""
    available = available_bytes() or 2**63
    if kind == "npz":
        with zipfile.ZipFile(source) as archive:
            announced = sum(entry.file_size for entry in archive.infolist())
        refuse_bomb(source, source.stat().st_size, announced)
    elif kind == "mtx":
        rows, columns, entries, layout, *_ = scipy.io.mminfo(_header_of(source))
        announced = 8 * rows + (8 * rows * columns if layout == "array" else 16 * entries)
        if layout != "array":
            _require_plausible(rows, columns, entries)
    else:
        with source.open("rb") as stream:
            announced = _announced_by_npy(stream)
    if announced > available:
        raise CorpusFormatError(
            f"{source} announces {announced >> 20} MiB, but {available >> 20} MiB of memory are available: is it damaged?"
        )


def _announced_by_npy(stream: IO[bytes]) -> int:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return math.prod(shape) * dtype.itemsize


def _header_of(source: Path) -> Any:
    return io.BytesIO(beginning(source, 1 << 16) + b"\n")

"""Matrices that were saved: Matrix Market, scipy's npz and NumPy's npy, checked before they reach compiled code."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._memory import available_bytes
from .._typing import SparseLike
from .._validation import check_counts
from ..exceptions import CorpusFormatError, InputError
from ..storage.arrays import read_npy, read_npy_head
from .files import refuse_bomb, refuse_holes, sentence, unchanged
from .matrix_market import read_matrix_market, require_plausible

_KINDS = {
    "npz": "a sparse matrix saved by scipy.sparse.save_npz",
    "npy": "an array saved by numpy.save",
    "mtx": "a Matrix Market file",
}


def read_matrix(source: Path, kind: str) -> SparseLike:
    """Counts of a matrix that was saved, checked."""
    try:
        refuse_holes(source)
        with unchanged(source):
            matrix = _READERS[kind](source, available_bytes() or 2**63)
        _require_sound(matrix)
        with np.errstate(over="ignore"):  # of numbers longer than ours, which become infinite and are refused
            return check_counts(matrix, str(source), copy=False)
    except (InputError, MemoryError):
        raise
    except Exception as error:  # of another package, about bytes that may be anything
        raise CorpusFormatError(
            f"{source} is not {_KINDS[kind]}, or takes more memory than it should ({sentence(error)})."
        ) from error


def _require_sound(matrix: Any) -> None:
    """Raise ValueError for what must not reach compiled code, or could not be counted exactly."""
    if matrix.dtype.kind not in "buif":
        raise ValueError(f"its entries are of type {matrix.dtype}")
    if len(matrix.shape) == 2:
        n_docs, n_words = matrix.shape
        require_plausible(n_docs, n_words, matrix.nnz if sp.issparse(matrix) else matrix.size)
    if hasattr(matrix, "indptr"):
        # The numbers themselves: their differences, which scipy looks at, may overflow.
        if matrix.indptr.min() < 0 or matrix.indptr.max() > len(matrix.indices):
            raise ValueError("its rows begin outside of it")
        matrix.check_format(full_check=True)
    entries = matrix.data if sp.issparse(matrix) else matrix
    if entries.dtype.kind in "iu" and entries.size and int(entries.max()) > 2**53:
        raise ValueError(f"the count {entries.max()} is beyond 2^53, and could not be held exactly")


def _read_npz(source: Path, available: int) -> SparseLike:
    with zipfile.ZipFile(source) as archive:
        announced = sum(entry.file_size for entry in archive.infolist())
    refuse_bomb(source, source.stat().st_size, announced)
    _refuse_larger(source, announced, available)
    return sp.load_npz(source)


def _read_npy(source: Path, available: int) -> Any:
    with source.open("rb") as stream:  # not np.load, which opens archives too
        head = read_npy_head(stream)
        _refuse_larger(source, head.nbytes, available)
        return read_npy(stream, head)


_READERS: dict[str, Callable[[Path, int], Any]] = {"npz": _read_npz, "npy": _read_npy, "mtx": read_matrix_market}


def _refuse_larger(source: Path, announced: int, available: int) -> None:
    """Refuse what announces more than there is memory, before anything of that size is asked for."""
    if announced > available:
        raise CorpusFormatError(
            f"{source} announces {announced >> 20} MiB, but {available >> 20} MiB of memory are available: is it damaged?"
        )

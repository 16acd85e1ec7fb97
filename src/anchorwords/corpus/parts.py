"""Rows of counts on their way from a reader to a corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import SparseLike
from ..exceptions import CorpusFormatError
from .files import short

# Entries of a part cut from a matrix.
PART_ENTRIES = 1 << 20


class Part(NamedTuple):
    """Rows as a reader delivers them: columns in the reader's own numbers and in no order.

    Attributes
    ----------
    lengths : (documents,) array
        Entries of each row.
    indices, counts : (entries,) arrays
    ids : sequence of str, optional
    values : sequence of tuples
        Values of the columns to keep, a tuple for each document; empty if there are none.
    """

    lengths: npt.NDArray[Any]
    indices: npt.NDArray[np.int32]
    counts: npt.NDArray[Any]
    ids: Sequence[str] | None = None
    values: Sequence[tuple[Any, ...]] = ()


def ordered_rows(part: Part, numbers: npt.NDArray[np.int32] | None, n_words: int) -> SparseLike:
    """Rows of a part with columns renamed, in order; columns renamed to -1 are left out."""
    # Copies in any case: rows are put in order in place, and a part may be a view of a file or of the caller's matrix.
    indices = part.indices.copy() if numbers is None else numbers[part.indices]
    indptr = np.concatenate([[0], np.cumsum(part.lengths, dtype=np.int64)])
    rows = _without_negative(np.array(part.counts, dtype=np.float64), indices, indptr, n_words)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def columns_kept(block: SparseLike, place: npt.NDArray[np.int32], n_words: int) -> SparseLike:
    """A block with its columns renamed; those renamed to -1 are left out. The order of the others must not change."""
    return _without_negative(block.data, place[block.indices], block.indptr, n_words)


def _without_negative(
    counts: npt.NDArray[Any], indices: npt.NDArray[np.int32], indptr: npt.NDArray[Any], n_words: int
) -> SparseLike:
    """CSR matrix of entries whose column is not negative."""
    if indices.size and indices.min() < 0:
        kept = np.flatnonzero(indices >= 0)  # places: to select by them is faster than by a mask
        indptr, indices, counts = np.searchsorted(kept, indptr), indices[kept], counts[kept]
    return sp.csr_array((counts, indices, indptr), shape=(indptr.size - 1, n_words))


def row_slices(counts: SparseLike, n_entries: int = PART_ENTRIES) -> list[slice]:
    """Rows of a CSR matrix to take together, about so many entries each."""
    indptr = counts.indptr
    goals = np.arange(n_entries, max(int(indptr[-1]), 1), n_entries)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(indptr, goals), [counts.shape[0]]]))
    return [slice(int(a), int(b)) for a, b in pairwise(cuts)]


def part_of(rows: SparseLike, ids: Sequence[str] | None = None) -> Part:
    """Rows of a CSR matrix as a part, columns as they are."""
    return Part(np.diff(rows.indptr), rows.indices, rows.data, ids)


def hashes_of(ids: Sequence[str]) -> npt.NDArray[np.int64]:
    """Eight bytes an id, to look for repetitions."""
    return np.fromiter(map(hash, ids), dtype=np.int64, count=len(ids))


def require_distinct(hashes: Sequence[npt.NDArray[np.int64]], ids: Callable[[], Iterable[str]], source: str) -> None:
    """Raise CorpusFormatError where two documents have the same id; ids are only gone through on suspicion."""
    order = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *hashes]))
    suspects = set(order[1:][order[1:] == order[:-1]].tolist())
    if not suspects:
        return
    seen: set[str] = set()
    for number, name in enumerate(ids(), start=1):
        if hash(name) in suspects:
            if name in seen:
                raise CorpusFormatError(
                    f"{source} gives the id {short(name)} to a second document, number {number}: ids must be distinct; name "
                    "another id column or none."
                )
            seen.add(name)

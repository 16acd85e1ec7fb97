"""Sources that are read block by block, as often as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from .._typing import SparseLike
from .._validation import check_counts
from ..exceptions import InputError


@runtime_checkable
class BlockSource(Protocol):
    """What a streaming fit needs: a corpus, on disk or not, is one."""

    @property
    def n_words(self) -> int:
        """Columns of every block."""
        ...

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return the blocks, in an order that is always the same."""
        ...


class MatrixBlocks:
    """Blocks of counts that the caller holds, or makes anew for each pass.

    Parameters
    ----------
    source : list of sparse matrices, or callable
        The blocks, documents x words, or a function that returns an iterable of them.
    """

    def __init__(self, source: list[SparseLike] | tuple[SparseLike, ...] | Callable[[], Iterable[SparseLike]]) -> None:
        self._source = source
        first = next(iter(self._blocks()), None)
        if first is None or not hasattr(first, "shape") or len(first.shape) != 2:
            raise InputError("a source of blocks must give matrices of counts, documents x words, but gives none.")
        self.n_words = int(first.shape[1])

    def _blocks(self) -> Iterable[SparseLike]:
        blocks = self._source() if callable(self._source) else self._source
        if not isinstance(blocks, Iterable):
            raise InputError(
                f"a function given as data must return an iterable of blocks of counts, but returns {type(blocks).__name__}."
            )
        return blocks

    def lazy_blocks(self) -> Iterator[Callable[[], SparseLike]]:
        """Functions that return the blocks, checked."""
        for number, block in enumerate(self._blocks()):
            yield partial(self._checked, block, number)

    def _checked(self, block: Any, number: int) -> SparseLike:
        counts = check_counts(block, f"block {number}")
        if counts.shape[1] != self.n_words:
            raise InputError(
                f"every block must have the columns of the first, {self.n_words}, but block {number} has {counts.shape[1]}."
            )
        return counts


def is_blocks(X: Any) -> bool:
    """Whether this is a list of sparse matrices, or a function that gives them."""
    return (isinstance(X, (list, tuple)) and bool(X) and all(sp.issparse(block) for block in X)) or (
        callable(X) and not hasattr(X, "shape") and not isinstance(X, type)
    )

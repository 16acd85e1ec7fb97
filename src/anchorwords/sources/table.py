"""The table that comes with documents: one row per document. For now it holds their ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence


class DocumentTable:
    """What is known of documents besides their words.

    Parameters
    ----------
    n_docs : int or None
        Number of documents; None where only reading them would tell.
    ids : callable, optional
        Returns the id of every document, or None where they have none. Called when ids are first asked for: those of a
        corpus on disk are not loaded before.
    """

    def __init__(self, n_docs: int | None = None, ids: Callable[[], Sequence[str] | None] | None = None) -> None:
        self.n_docs = n_docs
        self._load = ids

    @property
    def ids(self) -> Sequence[str] | None:
        """The id of every document, or None where documents have none."""
        return None if self._load is None else self._load()

    def names(self, n_docs: int) -> Iterator[str]:
        """The ids of the documents, or their numbers, counted from 1, where they have none."""
        ids = self.ids
        return map(str, range(1, n_docs + 1)) if ids is None else iter(ids)

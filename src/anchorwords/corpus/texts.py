"""How documents begin: counts keep no text, so it is read again from where they came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Any

from .._validation import check_positive_integer
from .document_rows import rows_in, watchers
from .formats import TEXT_FORMATS, format_of
from .readers import Document
from .reading_options import ReadProgress, reading_options
from .selection import TableShape

# White space is run together in so many times the characters that are wanted: enough, without splitting a book.
_SPARE = 20
# Documents between two reports of progress.
_A_REPORT = 1 << 13


def texts_at(
    source: Any, rows: Iterable[int], *, longest: int = 400, progress: ReadProgress | None = None, **reading: Any
) -> dict[int, str]:
    """How the documents of some rows begin, from one pass over the source, which ends at the last of them.

    Parameters
    ----------
    source : path, frame or iterable
        What :func:`anchorwords.read_corpus` or :func:`anchorwords.import_corpus` has read. Only what is wanted is kept.
    rows : iterable of int
        Rows of that corpus, from 0.
    longest : int
        Characters that are kept of a document.
    progress : callable, optional
        Called with the number of documents gone through and the share of the source (None where that is unknown).
    **reading
        As it was read.

    Returns
    -------
    dict
        Text by row, white space run together, the tokens of a list joined by spaces and the items of a basket by commas.
        It is empty where there is no text to go back to: counts (UCI, matrices, corpus folders) and iterators, which can
        be gone through but once. Rows that are not there are left out.
    """
    check_positive_integer(longest, "longest")
    wanted = {int(row) for row in rows if row >= 0}
    options = reading_options(**reading)
    kind = format_of(source, options.format, options.pattern)
    if not wanted or kind not in (*TEXT_FORMATS, "baskets", "frame", "iterable") or isinstance(source, Iterator):
        return {}
    between = ", " if kind == "baskets" else " "
    watch, report = watchers(progress)
    texts = {}
    # Closed when the last row has been found, and not when the garbage is collected: files are open.
    with closing(rows_in(source, kind, options, TableShape(), watch)) as rows_there:  # type: ignore[type-var]
        for row, (_, document, _) in enumerate(islice(rows_there, max(wanted) + 1)):
            if row in wanted:
                texts[row] = _beginning(document, between, longest)
            if (row + 1) % _A_REPORT == 0:
                report(row + 1)
    return texts


def _beginning(document: Document, between: str, longest: int) -> str:
    if not isinstance(document, str):
        document = between.join(str(token) for token in document[:longest])
    return " ".join(document.lstrip()[: _SPARE * longest].split())[:longest].rstrip()

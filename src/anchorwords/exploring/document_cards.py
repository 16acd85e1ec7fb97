"""The documents that a topic has most of, with the words that say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import InputError
from ..interpret.numbers import value_as_text
from ..interpret.ranking import largest
from ..interpret.top_documents import top_documents
from ..model import as_topic_model
from ..sources.source import Source
from .plain import beginning, name, number

_DOCUMENTS = 8
_WORDS = 8
_MIN_TOKENS = 20

Texts: TypeAlias = Sequence[str] | Callable[[list[int]], Mapping[int, str]]
Progress: TypeAlias = Callable[[int, float | None], None]


def check_texts(texts: Any, corpus: Source | None) -> None:
    """InputError unless these can be the texts of the documents of this corpus."""
    if texts is None:
        return
    if corpus is None:
        raise InputError("texts belong to documents: give the corpus too.")
    if callable(texts):
        return
    wanted = "texts must be a list with the text of each document, or a function from rows to texts"
    if isinstance(texts, (str, bytes, Mapping)) or not hasattr(texts, "__len__"):
        raise InputError(f"{wanted}, but is of type {type(texts).__name__}.")
    n_docs = corpus.n_docs
    if n_docs is not None and len(texts) != n_docs:
        raise InputError(f"{wanted}, but holds {len(texts):,}, and there are {n_docs:,} documents.")


def topic_documents(
    model: Any,
    corpus: Source,
    words: Sequence[str],
    texts: Texts | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[list[dict[str, Any]]]:
    """Of each topic the documents with the largest share of it, in the order of topic ids.

    Documents of fewer than twenty known tokens are left out where others are to be had: short ones are often all of a topic,
    and say little.

    Returns
    -------
    list of K lists of dict
        ``name``, ``share``, ``tokens``, ``words`` (those of the document that are most this topic's: count times
        p(topic | word)), ``values`` (names and values of its columns) and, where texts are given, ``text``, how the
        document begins.
    """
    record = as_topic_model(model)
    found: list[list[dict[str, Any]]] = top_documents(
        model, corpus, _DOCUMENTS, min_tokens=_MIN_TOKENS, n_jobs=n_jobs, progress=progress
    )
    if not all(found):
        short = top_documents(model, corpus, _DOCUMENTS, min_tokens=1, n_jobs=n_jobs, progress=progress)
        found = [long or anything for long, anything in zip(found, short, strict=True)]
    rows = sorted({entry["row"] for topic in found for entry in topic})
    counts = _rows_of(corpus, rows)
    begin = _beginnings(texts, rows)
    named = corpus.documents.ids is not None
    result = []
    for k, topic in enumerate(found):
        entries = []
        for entry in topic:
            index, data = counts[entry["row"]]
            score = data * record.word_topics[index, k]
            best = largest(score, _WORDS)
            best = index[best[score[best] > 0.0]]
            listed = {
                "name": name(_title(entry) or _called(entry, named)),
                "share": number(entry["share"], 4),
                "tokens": entry["tokens"],
                "words": [name(words[i]) for i in best.tolist()],
            }
            texts_by_column = {key: value_as_text(value) for key, value in _values(entry).items()}
            if any(texts_by_column.values()):
                listed["values"] = [[name(key), name(text)] for key, text in texts_by_column.items() if text]
            if entry["row"] in begin:
                listed["text"] = begin[entry["row"]]
            entries.append(listed)
        result.append(entries)
    return result


def _title(entry: dict[str, Any]) -> Any:
    """The title of a document: that of its title column, else that of a column called title."""
    values = entry.get("values", {})
    return entry.get("title") or next((value for key, value in values.items() if _is_title(key)), None)


def _values(entry: dict[str, Any]) -> dict[str, Any]:
    """The columns of a document that are not its title."""
    values = entry.get("values", {})
    return {key: value for key, value in values.items() if entry.get("title") or not _is_title(key)}


def _is_title(column: str) -> bool:
    return column.strip().casefold() == "title"


def _called(entry: dict[str, Any], named: bool) -> Any:
    return entry["document"] if named else f"document {entry['document'] + 1:,}"


def _rows_of(corpus: Source, rows: list[int]) -> dict[int, tuple[IntArray, FloatArray]]:
    """Columns and counts of these documents, gathered in one pass."""
    wanted, first, found = np.array(rows, dtype=np.intp), 0, {}
    for block in corpus.blocks():
        here = wanted[(wanted >= first) & (wanted < first + block.shape[0])]
        for row in here.tolist():
            part = slice(*block.indptr[row - first : row - first + 2])
            found[row] = (np.array(block.indices[part]), np.array(block.data[part], dtype=np.float64))
        first += block.shape[0]
    return found


def _beginnings(texts: Texts | None, rows: list[int]) -> dict[int, str]:
    """How these documents begin, those that have a text."""
    if texts is None:
        return {}
    if callable(texts):
        given = texts(rows)
    else:
        listed = texts if isinstance(texts, Sequence) else list(texts)  # a column of a table is called by its labels
        if rows and rows[-1] >= len(listed):
            raise InputError(
                f"texts must hold the text of each document, but holds {len(listed):,}, and there are more."
            )
        given = {row: listed[row] for row in rows}
    return {row: beginning(given[row]) for row in rows if given.get(row) is not None}

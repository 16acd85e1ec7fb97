"""Names for topics, by whatever can name them: a person, a rule, a language model."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._validation import check_positive_integer
from ..exceptions import InputError
from ..model import as_topic_model, require_short_label
from ..sources.convert import as_source, read_by
from ..storage.writing import file_written_whole
from .top_documents import top_documents
from .topic_words import top_words

_FORMAT = "anchorwords-labels"


def label_topics(
    model: Any,
    labeller: Callable[[list[str], list[Any]], str],
    *,
    corpus: Any = None,
    n_words: int = 10,
    n_documents: int = 3,
    ranking: str | None = None,
    weight: float | None = None,
    method: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    name: str = "",
    n_jobs: int | None = None,
) -> list[str]:
    """A label for each topic from its words and documents.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    labeller : callable
        Called with the topic's words, best first, and the names of its top documents (their rows where documents have no
        names; none without a corpus); returns the label, of at most 200 characters. One topic at a time, in the order of
        the model.
    corpus : Corpus or counts, optional
        Documents to choose from, as in :func:`top_documents`.
    n_words, n_documents : int
        How many the labeller gets.
    ranking, weight : optional
        Which words, as in :func:`top_words`.
    method : optional
        By which compositions documents are chosen, as in :func:`top_documents`.
    cache : path, optional
        JSON file of labels given before; written whole after each new label, so that an error or an interruption loses
        none. A topic is looked up by the words and documents that the labeller would get, and its ``name``.
    name : str
        Of the labeller, such as the model and the prompt it uses: labels of another name are not used again.
    n_jobs : int or None
        Threads of the search for documents.

    Returns
    -------
    list of K str
        In the order of the model; :meth:`TopicModel.with_labels` takes it.
    """
    record = as_topic_model(model)
    if not callable(labeller):
        raise InputError(f"labeller must be a function from words and documents to a string, but is {labeller!r}.")
    check_positive_integer(n_documents, "n_documents")
    known = None if cache is None else _Cache(Path(cache))
    corpus = read_by(model, corpus)
    if record.vocabulary is None and corpus is not None:
        record = record.with_vocabulary(as_source(corpus).words)
    words = top_words(record, n_words, ranking=ranking, weight=weight)
    documents: list[list[Any]] = [[] for _ in words]
    if corpus is not None:
        found = top_documents(record, corpus, n_documents, method=method, n_jobs=n_jobs)
        documents = [[entry["document"] for entry in topic] for topic in found]
    labels = []
    for k, given in enumerate(zip(words, documents, strict=True)):
        label = None if known is None else known.get(name, *given)
        if label is None:
            label = labeller(list(given[0]), list(given[1]))
            if not isinstance(label, str):
                raise InputError(
                    f"labeller must return a string, but for topic {record.ids[k]} it returned "
                    f"{type(label).__name__}: {label!r}."
                )
            require_short_label(label, record.ids[k])
            if known is not None:
                known.put(label, name, *given)
        labels.append(label)
    return labels


class _Cache:
    """Labels in a JSON file, under a hash of what they were made from."""

    def __init__(self, path: Path) -> None:
        self._path, self._entries = path, _read(path)

    def get(self, name: str, words: list[str], documents: list[Any]) -> str | None:
        entry = self._entries.get(_key(name, words, documents))
        return None if entry is None else entry["label"]

    def put(self, label: str, name: str, words: list[str], documents: list[Any]) -> None:
        self._entries[_key(name, words, documents)] = {"label": label, "words": words}
        text = json.dumps(
            {"format": _FORMAT, "format_version": 1, "labels": self._entries}, indent=1, ensure_ascii=False
        )
        with file_written_whole(self._path) as partial:
            partial.write_text(text + "\n", encoding="utf-8", errors="surrogatepass")


def _key(name: str, words: list[str], documents: list[Any]) -> str:
    return hashlib.sha256(json.dumps([name, words, documents]).encode()).hexdigest()


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """Entries of a cache, none where there is no file yet; InputError before a label is asked for that could not be kept."""
    if not path.parent.is_dir():
        raise InputError(f"cache {path} cannot be written: the folder {path.parent} does not exist; make it first.")
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
        entries = content["labels"] if content["format"] == _FORMAT and content["format_version"] == 1 else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        entries = None
    if not isinstance(entries, dict) or not all(_is_entry(entry) for entry in entries.values()):
        raise InputError(f"cache {path} exists and is not a file of labels: choose another name, nothing was written.")
    return entries


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("label"), str)

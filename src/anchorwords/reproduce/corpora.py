"""Corpora for the experiments: UCI files in a folder, curated as in the paper."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from ..corpus.corpus import Corpus
from ..corpus.read import read_corpus
from ..corpus.stopwords import stop_words
from ..exceptions import InputError
from .plan import STAND_INS

# A vocabulary that holds this share of the English stop words is text from which they have to go.
_TEXT = 0.5


class Source(NamedTuple):
    """A corpus that can be read."""

    name: str
    docword: Path
    vocabulary: Path


def find_sources(data: Path, names: list[str] | None) -> list[Source]:
    """UCI corpora in a folder and the folders in it; the paper's stand-ins first, or those named."""
    if not data.is_dir():
        raise InputError(f"{data} is not a folder: give one that holds docword.NAME.txt(.gz) and vocab.NAME.txt files.")
    found: dict[str, Source] = {}
    for path in sorted([*data.glob("docword.*.txt*"), *data.glob("*/docword.*.txt*")]):
        name = path.name.removeprefix("docword.").split(".txt")[0]
        vocabulary = path.parent / f"vocab.{name}.txt"
        if not vocabulary.is_file():
            continue
        if name in found:
            raise InputError(f"{data} holds two corpora called {name!r}: {found[name].docword} and {path}.")
        found[name] = Source(name, path, vocabulary)
    if not found:
        raise InputError(f"{data} holds no UCI corpus: docword.NAME.txt(.gz) beside vocab.NAME.txt.")
    if names:
        if missing := [name for name in names if name not in found]:
            raise InputError(f"{data} holds no corpus {missing[0]!r}: it holds {', '.join(found)}.")
        return [found[name] for name in dict.fromkeys(names)]
    standing_in = [found[name] for name in STAND_INS if name in found]
    return standing_in or list(found.values())


def load(source: Source) -> tuple[Corpus, bool]:
    """The whole corpus after the paper's curation, and whether English stop words were taken out."""
    corpus = read_corpus(source.docword, format="uci", vocabulary=source.vocabulary)
    common = stop_words("english")
    is_text = len(common & set(corpus.vocabulary)) >= _TEXT * len(common)
    return corpus.prune(stop_words=common if is_text else None), is_text


def fingerprint(corpus: Corpus) -> str:
    """A name for these counts: the same documents and words have the same."""
    digest = hashlib.sha256(repr((corpus.n_docs, corpus.n_words)).encode())
    counts = corpus.counts
    for part in (counts.indptr.astype("int64"), counts.indices.astype("int64"), counts.data.astype("float64")):
        digest.update(part.tobytes())
    digest.update("\n".join(corpus.vocabulary).encode())
    return digest.hexdigest()[:16]

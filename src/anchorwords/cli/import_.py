"""``anchorwords import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..records.table import counted
from .options import Jobs, Json, Quiet, Source, readable, stop_words_of, with_reading
from .output import print_json


@with_reading
def import_documents(
    source: Source,
    output: Annotated[Path, typer.Option("--output", "-o", help="Corpus folder to write.")],
    reading: dict[str, Any],
    stop_words: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LANGUAGE|FILE|WORD",
            help="Words not to count at all: a language, a file with one word per line, or a word. May be repeated.",
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read any number of documents, in one pass, into a corpus folder that opens at once and is fitted from disk.

    All words are kept: fit selects among them. The folder is written completely or not at all.

    Example: anchorwords import cve.tsv.gz --text-column 2 --id-column 1 -o cve-corpus

    Example: anchorwords import playlists.txt --format baskets --separator , -o playlists
    """
    from time import perf_counter

    from .. import import_corpus
    from .console import reading_progress, remark, remark_on_duplicates, say

    begin = perf_counter()
    with reading_progress(quiet) as progress:
        documents, options = readable(source, reading)
        stop = stop_words_of(stop_words) if stop_words else None
        corpus = import_corpus(documents, output, **options, stop_words=stop, n_jobs=jobs, progress=progress)
    seconds = perf_counter() - begin
    if as_json:
        repeated = corpus.duplicates()
        summary = {
            "corpus": str(output), "documents": corpus.n_docs, "words": corpus.n_words, "tokens": corpus.n_tokens,
            "counts": corpus.n_entries, "columns": corpus.documents.kinds, "duplicates": repeated.n_exact,
            "near_duplicates": repeated.n_near, "seconds": round(seconds, 3),
        }  # fmt: skip
        print_json(summary)
    else:
        say(
            f"{counted(corpus.n_docs, 'document')}, {counted(corpus.n_words, 'word')}, "
            f"{corpus.n_tokens:,} tokens in {seconds:.1f} s, written "
            f"to {output}; learn topics with: anchorwords fit {output} -o MODEL"
        )
        if corpus.documents:
            kinds = ", ".join(f"{name} ({kind})" for name, kind in corpus.documents.kinds.items())
            remark(f"columns of the documents: {kinds}", quiet)
        if not quiet:
            remark_on_duplicates(corpus.duplicates(), quiet)

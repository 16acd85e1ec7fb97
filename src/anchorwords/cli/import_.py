"""``anchorwords import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import Jobs, Json, Quiet, Source, readable, with_reading
from .output import print_json


@with_reading
def import_documents(
    source: Source,
    output: Annotated[Path, typer.Option("--output", "-o", help="Corpus folder to write.")],
    reading: dict[str, Any],
    stop_words: Annotated[
        str | None, typer.Option(help="Words not to count at all: a language, or a file with one word per line.")
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
    from .console import reading_progress, say

    begin = perf_counter()
    with reading_progress(quiet) as progress:
        documents, options = readable(source, reading)
        corpus = import_corpus(documents, output, **options, stop_words=stop_words, n_jobs=jobs, progress=progress)
    seconds = perf_counter() - begin
    summary = {
        "corpus": str(output), "documents": corpus.n_docs, "words": corpus.n_words, "tokens": corpus.n_tokens,
        "counts": corpus.n_entries, "seconds": round(seconds, 3),
    }  # fmt: skip
    if as_json:
        print_json(summary)
    else:
        say(
            f"{corpus.n_docs:,} documents, {corpus.n_words:,} words, {corpus.n_tokens:,} tokens in {seconds:.1f} s, written "
            f"to {output}; learn topics with: anchorwords fit {output} -o MODEL"
        )

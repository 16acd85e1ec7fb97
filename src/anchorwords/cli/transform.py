"""``anchorwords transform``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Jobs, Json, Quiet, Source, as_fitted, opened, with_reading

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..corpus.read import ReadProgress
    from ..estimator import AnchorTopicModel

_DIGITS = 6


@with_reading
def transform(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    reading: dict[str, Any],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write (.csv, .tsv, .jsonl or .npy); standard output else."),
    ] = None,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the topics of documents: a row a document, a column a topic, rows that sum to one.

    Text is split into words as it was for the fit. Words the model does not know are left out; a document without a known
    word gets the prevalence of the topics. --json without --output prints a line of JSON a document.

    Example: anchorwords transform kos-model docword.kos.txt.gz -o kos-topics.csv
    """
    from .. import load_model
    from .._folders import file_written_whole
    from .console import document_progress, remark

    suffix = (".jsonl" if as_json else ".csv") if output is None else output.suffix.lower()
    if suffix not in (".csv", ".tsv", ".jsonl", ".npy"):
        raise typer.BadParameter(f"--output must end in .csv, .tsv, .jsonl or .npy, but is {output}")
    fitted = load_model(model)
    fitted.n_jobs = jobs
    with opened(source, as_fitted(fitted, source, reading), quiet, jobs) as corpus:
        n_docs = corpus.n_docs
        with document_progress("Documents", quiet or output is None) as progress:
            weights = _weights(fitted, corpus, progress)
            if output is None:
                for text in _lines(weights, _names(corpus), fitted.n_components, suffix):
                    typer.echo(text, nl=False)
                return
            with file_written_whole(output) as partial:
                if suffix == ".npy":
                    _write_array(partial, weights, (n_docs, fitted.n_components))
                else:
                    with partial.open("w", encoding="utf-8", newline="") as stream:
                        stream.writelines(_lines(weights, _names(corpus), fitted.n_components, suffix))
    if as_json:
        typer.echo(
            json.dumps(
                {"model": str(model), "documents": n_docs, "topics": fitted.n_components, "written": str(output)}
            )
        )
    else:
        remark(f"topics of {n_docs:,} documents written to {output}", quiet)


def _weights(fitted: AnchorTopicModel, corpus: Corpus, progress: ReadProgress | None) -> Iterator[Any]:
    """Topics of documents, block by block."""
    done = 0
    for weights in fitted.transform_blocks(corpus):
        yield weights
        done += len(weights)
        if progress is not None:
            progress(done, done / corpus.n_docs)


def _names(corpus: Corpus) -> Iterator[str]:
    """Names of documents; where they have none, their numbers from 1."""
    return iter(corpus.doc_ids) if corpus.doc_ids is not None else map(str, count(1))


def _lines(weights: Iterator[Any], names: Iterator[str], n_topics: int, suffix: str) -> Iterator[str]:
    if suffix != ".jsonl":
        yield _row(["document", *(f"topic_{k}" for k in range(n_topics))], suffix)
    for block in weights:
        for row in block:
            name = next(names)
            if suffix == ".jsonl":
                record = {"document": name, "topics": [round(float(w), _DIGITS) for w in row]}
                yield json.dumps(record, ensure_ascii=False) + "\n"
            else:
                yield _row([name, *(f"{w:.{_DIGITS}f}" for w in row)], suffix)


def _row(cells: list[str], suffix: str) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def _write_array(path: Path, weights: Iterator[Any], shape: tuple[int, int]) -> None:
    import numpy as np

    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
    done = 0
    for block in weights:
        array[done : done + len(block)] = block
        done += len(block)
    array.flush()

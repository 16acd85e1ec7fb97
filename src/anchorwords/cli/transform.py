"""``anchorwords transform``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.table import counted
from .options import Jobs, Json, Quiet, Source, Spreadsheet, loaded, opened, prepare, with_reading
from .output import print_json, suffix_of

if TYPE_CHECKING:
    from ..export.document_topics import ComposedDocuments


class Method(StrEnum):
    """Methods that infer the topic proportions of documents, as in anchorwords.infer.compose."""

    posterior_mean = "posterior-mean"
    prior_aware = "prior-aware"
    map = "map"  # the former name of posterior-mean


@with_reading
def transform(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    reading: dict[str, Any],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File to write (.csv, .tsv, .jsonl, .parquet, .npz with the documents' ids, .npy); standard output else.",
        ),
    ] = None,
    method: Annotated[
        Method | None,
        typer.Option(
            help="posterior-mean: infer the topics of each document on its own; prior-aware: infer them such that topics "
            "occur together in documents as often as in the model, after fit --prior-aware. The default is the method "
            "that the model was fitted with. map is the deprecated name of posterior-mean."
        ),
    ] = None,
    perplexity: Annotated[
        bool,
        typer.Option(
            "--perplexity",
            help="Also predict every second word of each document from the others; lower is better. Infinite (null in "
            "JSON) if a word has no probability, as can happen with --method prior-aware.",
        ),
    ] = False,
    spreadsheet: Spreadsheet = False,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the topic proportions of documents: one row per document, one column per topic, rows sum to one.

    Text is split into words as it was for the fit. Tokens that the model leaves out are counted: stop words, and words that
    it does not know. A document without a known word gets the prevalence of the topics. Documents are processed in blocks,
    so that any number of them fits in memory, and files are written completely or not at all. --json without --output prints
    one line of JSON per document.

    Example: anchorwords transform kos-model docword.kos.txt.gz -o kos-topics.csv

    Example: anchorwords transform kos-model held-out.txt -o held-out.parquet --perplexity
    """
    prepare(model, source, quiet)  # before the imports, which take a second
    from ..export import write_compositions
    from ..export.document_topics import PassingDocuments
    from ..export.weights import SUFFIXES, TABLES, require_writer, weight_lines
    from ..infer.compose import check_method
    from ..storage.writing import require_writable_file
    from .console import document_progress, pour, remark, working

    suffix = (".jsonl" if as_json else ".csv") if output is None else suffix_of(output, SUFFIXES)
    require_writer(suffix)
    if spreadsheet and suffix not in TABLES:
        raise typer.BadParameter(f"--spreadsheet is about tables, {' and '.join(TABLES)}: leave it out")
    if output is not None:
        require_writable_file(output)
    fitted = loaded(model, source, quiet)
    fitted.n_jobs = jobs
    chosen = check_method(fitted.composition if method is None else method.value)
    if chosen == Method.prior_aware and fitted.model_.inference.composition_dual is None:
        raise typer.BadParameter(
            f"{model} was fitted without --prior-aware: fit it with that, or use --method posterior-mean"
        )
    with opened(source, reading, quiet, jobs, like=fitted, every_word=True) as corpus:
        found = None
        if perplexity:
            with working("Perplexity", quiet):
                found = fitted.perplexity(corpus, chosen)
        with document_progress("Documents", quiet or output is None) as progress:
            if output is None:
                passing = PassingDocuments(fitted, corpus, method=chosen, n_jobs=jobs)
                shares, names = passing.weights(), passing.names()
                for text in weight_lines(shares, names, passing.topics, suffix, spreadsheet=spreadsheet):
                    pour(text)
                composed = passing.told()
            else:
                composed = write_compositions(
                    fitted, corpus, output, method=chosen, spreadsheet=spreadsheet, n_jobs=jobs, progress=progress
                )
    told = _Told(composed, found)
    composed.coverage.warn()
    if as_json and output is not None:
        about = {"model": str(model), "topics": fitted.n_components, "method": chosen, "written": str(output)}
        print_json(about | told.as_dict())
        return
    if output is not None:
        remark(f"topics of {counted(composed.n_docs, 'document')} written to {output}", quiet)
    for sentence in told.sentences():
        remark(sentence, quiet)


@dataclass
class _Told:
    """What there is to say of the documents."""

    composed: ComposedDocuments
    perplexity: float | None

    def as_dict(self) -> dict[str, Any]:
        told = self.composed
        known = {
            "documents": told.n_docs, "tokens": told.n_tokens, "left_out_tokens": told.n_left_out_tokens,
            "unknown_tokens": told.n_unknown_tokens,
            "documents_without_known_words": told.n_without_words,
        }  # fmt: skip
        return known if self.perplexity is None else known | {"perplexity": self.perplexity}

    def sentences(self) -> list[str]:
        told = self.composed
        said = [told.coverage.sentence()]
        if told.n_without_words:
            said.append(f"{told.n_without_words:,} documents hold no known word and get the prevalence of the topics")
        if self.perplexity is not None:
            said.append(f"perplexity of every second token: {_in_words(self.perplexity)}")
        return said


def _in_words(perplexity: float) -> str:
    if perplexity == float("inf"):
        return "infinite, as these proportions give some word no probability; --method posterior-mean avoids that"
    return f"{perplexity:,.1f}"

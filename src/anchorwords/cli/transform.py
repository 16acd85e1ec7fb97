"""``anchorwords transform``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.table import counted
from .options import (
    Device,
    Jobs,
    Json,
    Quiet,
    Source,
    Spreadsheet,
    loaded,
    opened,
    prepare,
    require_device,
    with_reading,
)
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
    device: Device = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the topic proportions of documents: one row per document, one column per topic, rows sum to one.

    Text is split into words as it was for the fit. Tokens that the model leaves out are counted: stop words, and words that
    it does not know. A document without a known word gets the prevalence of the topics. Documents are processed in blocks,
    so that any number of them fits in memory, and files are written completely or not at all. --json without --output prints
    one line of JSON per document.

    With --columns, these columns of the documents are written too, after the document's name: to .csv, .tsv, .jsonl and
    .parquet files and to standard output. Missing values are empty, and the values of a list are separated by semicolons in
    tables. anchorwords groups reads such a file in place of the documents. Of a corpus folder, --columns names columns that
    were kept when it was imported.

    Example: anchorwords transform kos-model docword.kos.txt.gz -o kos-topics.csv

    Example: anchorwords transform kos-model held-out.txt -o held-out.parquet --perplexity

    Example: anchorwords transform news-model news.csv --text-column text --columns year,section -o news-topics.csv
    """
    prepare(model, source, quiet)  # before the imports, which take a second
    from ..corpus.stored import is_corpus_folder
    from ..export import write_compositions
    from ..export.document_topics import PassingDocuments
    from ..export.weights import SUFFIXES, TABLES, WITH_COLUMNS, require_columns, require_writer, weight_lines
    from ..infer.compose import check_method
    from ..storage.writing import require_writable_file
    from .console import document_progress, pour, remark, working

    suffix = (".jsonl" if as_json else ".csv") if output is None else suffix_of(output, SUFFIXES)
    require_writer(suffix)
    if spreadsheet and suffix not in TABLES:
        raise typer.BadParameter(f"--spreadsheet is about tables, {' and '.join(TABLES)}: leave it out")
    kept = reading["columns"]
    named = [] if kept in (None, "all") else [kept] if isinstance(kept, str) else kept
    if kept is not None and suffix not in WITH_COLUMNS:
        raise typer.BadParameter(
            f"--columns needs a file that holds columns, {', '.join(WITH_COLUMNS[:-1])} or {WITH_COLUMNS[-1]}, but "
            f"--output is {output}: choose another, or leave --columns out"
        )
    require_columns(_all_columns(source, reading) if kept == "all" else named, suffix)
    of_folder = kept is not None and source != "-" and is_corpus_folder(Path(source))
    if of_folder:
        reading = reading | {"columns": None}  # they were kept when it was imported
    if output is not None:
        require_writable_file(output)
    require_device(device, quiet)
    fitted = loaded(model)
    fitted.n_jobs, fitted.device = jobs, device
    chosen = check_method(fitted.composition if method is None else method.value)
    if chosen == Method.prior_aware and fitted.model_.inference.composition_dual is None:
        raise typer.BadParameter(
            f"{model} was fitted without --prior-aware: fit it with that, or use --method posterior-mean"
        )
    with opened(source, reading, quiet, jobs, like=fitted, every_word=True) as corpus:
        # By number or "all", columns have names only now.
        columns = [] if kept is None else named if of_folder and named else list(corpus.documents)
        require_columns(columns, suffix)
        found = None
        if perplexity:
            with working("Perplexity", quiet):
                found = fitted.perplexity(corpus, chosen)
        with document_progress("Documents", quiet or output is None) as progress:
            if output is None:
                passing = PassingDocuments(fitted, corpus, method=chosen, columns=columns, n_jobs=jobs)
                shares, names = passing.weights(), passing.names()
                for text in weight_lines(
                    shares, names, passing.topics, suffix, columns=passing.columns, spreadsheet=spreadsheet
                ):
                    pour(text)
                composed = passing.told()
            else:
                composed = write_compositions(
                    fitted, corpus, output, method=chosen, columns=columns, spreadsheet=spreadsheet, n_jobs=jobs,
                    progress=progress,
                )  # fmt: skip
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


def _all_columns(source: str, reading: dict[str, Any]) -> list[str]:
    """Names of the columns that "all" keeps, as far as the first line of a table says."""
    from ..interpret.given_proportions import names_in_table

    if source == "-" or reading["header"] is False:
        return []
    names = names_in_table(source, reading["format"], reading["separator"])
    text = reading["text_column"]
    others = ["text"] if text is None else [text] if isinstance(text, str) else text
    used = {*others, reading["id_column"]}
    return [name for number, name in enumerate(names, start=1) if name not in used and str(number) not in used]

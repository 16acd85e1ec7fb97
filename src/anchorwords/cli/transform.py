"""``anchorwords transform``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Jobs, Json, Quiet, Source, as_fitted, opened, with_reading
from .output import print_json, suffix_of

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..estimator import AnchorTopicModel
    from ..export.document_topics import ComposedDocuments


class Method(StrEnum):
    """Ways to find the topics of documents, as in anchorwords.infer.compose."""

    map = "map"
    prior_aware = "prior-aware"


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
            help="map: the likely topics of each document by itself; prior-aware: such that the topics of documents go "
            "together as the model's do, after fit --prior-aware. By default as the model was fitted."
        ),
    ] = None,
    perplexity: Annotated[
        bool,
        typer.Option(
            "--perplexity",
            help="Also foretell every second word of each document from the others: lower is better. Infinite, null in "
            "JSON, where a word has no probability, as happens with --method prior-aware.",
        ),
    ] = False,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the topics of documents: a row a document, a column a topic, rows that sum to one.

    Text is split into words as it was for the fit. Words the model does not know are left out and counted; a document
    without a known word gets the prevalence of the topics. Documents go by block by block, whatever their number, and files
    are written whole or not at all. --json without --output prints a line of JSON a document.

    Example: anchorwords transform kos-model docword.kos.txt.gz -o kos-topics.csv

    Example: anchorwords transform kos-model held-out.txt -o held-out.parquet --perplexity
    """
    from .. import load_model
    from ..export import write_compositions
    from ..export.document_topics import PassingDocuments
    from ..export.weights import SUFFIXES, require_writer, weight_lines
    from .console import document_progress, remark, working

    suffix = (".jsonl" if as_json else ".csv") if output is None else suffix_of(output, SUFFIXES)
    require_writer(suffix)
    fitted = load_model(model)
    fitted.n_jobs = jobs
    chosen = fitted.composition if method is None else method.value
    if chosen == Method.prior_aware and fitted.model_.composition_dual is None:
        raise typer.BadParameter(f"{model} was fitted without --prior-aware: fit it with that, or use --method map")
    with _opened(fitted, source, reading, quiet, jobs) as corpus:
        found = None
        if perplexity:
            with working("Perplexity", quiet):
                found = fitted.perplexity(corpus, chosen)
        with document_progress("Documents", quiet or output is None) as progress:
            if output is None:
                passing = PassingDocuments(fitted, corpus, method=chosen, n_jobs=jobs)
                for text in weight_lines(passing.weights(), passing.names(), fitted.n_components, suffix):
                    typer.echo(text, nl=False)
                composed = passing.told()
            else:
                composed = write_compositions(fitted, corpus, output, method=chosen, n_jobs=jobs, progress=progress)
    # Of text from a pipe only words of the model were counted.
    told = _Told(composed, every_word=source != "-", perplexity=found)
    if as_json and output is not None:
        about = {"model": str(model), "topics": fitted.n_components, "method": chosen, "written": str(output)}
        print_json(about | told.as_dict())
        return
    if output is not None:
        remark(f"topics of {composed.n_docs:,} documents written to {output}", quiet)
    for sentence in told.sentences():
        remark(sentence, quiet)


@contextmanager
def _opened(
    fitted: AnchorTopicModel, source: str, reading: dict[str, Any], quiet: bool, jobs: int | None
) -> Iterator[Corpus]:
    """Documents with all their words, so that those the model does not know are counted.

    A source without any word is refused unless it is told which words to look for; then all documents have the prevalence.
    A pipe cannot be read again, so it is told at once.
    """
    from ..exceptions import CorpusFormatError

    with ExitStack() as stack:
        try:
            every = as_fitted(fitted, source, reading, every_word=source != "-")
            corpus = stack.enter_context(opened(source, every, quiet, jobs))
        except CorpusFormatError:
            if source == "-":
                raise
            corpus = stack.enter_context(opened(source, as_fitted(fitted, source, reading), quiet, jobs))
        yield corpus


@dataclass
class _Told:
    """What there is to say of the documents."""

    composed: ComposedDocuments
    every_word: bool
    perplexity: float | None

    def as_dict(self) -> dict[str, Any]:
        told = self.composed
        known = {
            "documents": told.n_docs, "tokens": told.n_tokens if self.every_word else None,
            "unknown_tokens": told.n_unknown_tokens if self.every_word else None,
            "documents_without_known_words": told.n_without_words,
        }  # fmt: skip
        return known if self.perplexity is None else known | {"perplexity": self.perplexity}

    def sentences(self) -> list[str]:
        told, said = self.composed, []
        if self.every_word:
            said.append(f"{told.n_unknown_tokens:,} of {told.n_tokens:,} tokens are of words the model does not know")
        said.append(f"{told.n_without_words:,} documents hold no word it knows, and have the prevalence")
        if self.perplexity is not None:
            said.append(f"perplexity of every second token: {_in_words(self.perplexity)}")
        return said


def _in_words(perplexity: float) -> str:
    if perplexity == float("inf"):
        return "infinite, as these compositions leave a word without probability; those of --method map leave none"
    return f"{perplexity:,.1f}"

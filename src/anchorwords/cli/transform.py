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
from .weights import SUFFIXES, require_writer, weight_lines, write_weights

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..corpus.read import ReadProgress
    from ..estimator import AnchorTopicModel
    from ..model import TopicModel


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
            help="map: the most likely topics of each document; prior-aware: such that the topics of documents go together "
            "as the model's do, after fit --prior-aware. By default as the model was fitted."
        ),
    ] = None,
    perplexity: Annotated[
        bool,
        typer.Option(
            "--perplexity", help="Also foretell every second word of each document from the others: lower is better."
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
    from .._folders import file_written_whole
    from .console import document_progress, remark, working

    suffix = (".jsonl" if as_json else ".csv") if output is None else suffix_of(output, SUFFIXES)
    require_writer(suffix)
    fitted = load_model(model)
    fitted.n_jobs = jobs
    chosen = fitted.composition if method is None else method.value
    if chosen == Method.prior_aware and fitted.model_.composition_dual is None:
        raise typer.BadParameter(f"{model} was fitted without --prior-aware: fit it with that, or use --method map")
    with _opened(fitted, source, reading, quiet, jobs) as corpus:
        # Of text from a pipe only words of the model were counted.
        told = _Told(corpus.n_docs, None if source == "-" else corpus.n_tokens)
        if perplexity:
            with working("Perplexity", quiet):
                told.perplexity = fitted.perplexity(corpus)
        with document_progress("Documents", quiet or output is None) as progress:
            weights = _weights(fitted.model_, corpus, chosen, jobs, told, progress)
            if output is None:
                for text in weight_lines(weights, _names(corpus), fitted.n_components, suffix):
                    typer.echo(text, nl=False)
            else:
                with file_written_whole(output) as partial:
                    shape = (corpus.n_docs, fitted.n_components)
                    write_weights(partial, suffix, weights, lambda: _names(corpus), shape)
    if as_json and output is not None:
        about = {"model": str(model), "topics": fitted.n_components, "method": chosen, "written": str(output)}
        print_json(about | told.as_dict())
        return
    if output is not None:
        remark(f"topics of {told.documents:,} documents written to {output}", quiet)
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
    """What there is to say of the documents, as they go by."""

    documents: int
    tokens: int | None
    known_tokens: float = 0.0
    without_words: int = 0
    perplexity: float | None = None

    def as_dict(self) -> dict[str, Any]:
        known = {
            "documents": self.documents, "tokens": self.tokens, "unknown_tokens": self.unknown_tokens,
            "documents_without_known_words": self.without_words,
        }  # fmt: skip
        return known if self.perplexity is None else known | {"perplexity": self.perplexity}

    @property
    def unknown_tokens(self) -> int | None:
        return None if self.tokens is None else self.tokens - round(self.known_tokens)

    def sentences(self) -> list[str]:
        told = []
        if self.unknown_tokens is not None:
            told.append(f"{self.unknown_tokens:,} of {self.tokens:,} tokens are of words the model does not know")
        told.append(f"{self.without_words:,} documents hold no word it knows, and have the prevalence")
        if self.perplexity is not None:
            told.append(f"perplexity of every second token: {self.perplexity:,.1f}")
        return told


def _weights(
    model: TopicModel, corpus: Corpus, method: str, jobs: int | None, told: _Told, progress: ReadProgress | None
) -> Iterator[Any]:
    """Topics of documents, block by block."""
    from ..interpret.groups import document_compositions

    done = 0
    for weights, n_known in document_compositions(model, corpus, method=method, n_jobs=jobs):
        yield weights
        told.known_tokens += float(n_known.sum())
        told.without_words += int((n_known == 0.0).sum())
        done += len(weights)
        if progress is not None:
            progress(done, done / corpus.n_docs)


def _names(corpus: Corpus) -> Iterator[str]:
    """Names of documents; where they have none, their numbers from 1."""
    return iter(corpus.doc_ids) if corpus.doc_ids is not None else (str(m) for m in range(1, corpus.n_docs + 1))

"""``anchorwords explore``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._printable import json_text
from ..records.table import counted
from .options import Jobs, Quiet, given_options, loaded, opened, record_of, with_reading
from .output import as_plain, suffix_of

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..corpus.reading_options import ReadProgress
    from ..estimator import AnchorTopicModel

_PAGE = Path("topics.html")
_PAGES = (".html", ".htm")


@with_reading
def explore(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    reading: dict[str, Any],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help=f"File to write, whole or not at all; {_PAGE} by default, unless --serve or --json."
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Documents to list with their topics, usually those of the fit: whatever fit reads, or a corpus folder; "
            "- is standard input.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Show topics over time: the column of --corpus with dates or numbers."),
    ] = None,
    freq: Annotated[
        str | None,
        typer.Option(
            help="Length of the periods of --time: YE, QE, ME, W or D for dates, also with a number as in 5YE; a width such "
            "as 5 for numbers; quantiles:8 for either. Default: chosen from the data."
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Show topics in groups of documents: the column of --corpus with labels."),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Split the labels of --by at this separator, such as ';': a document counts in each group."),
    ] = None,
    no_texts: Annotated[
        bool, typer.Option("--no-texts", help="Do not show how the documents of --corpus begin, only their names.")
    ] = False,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Show the page in the browser, from this machine and for it only, until Ctrl-C."),
    ] = False,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port of --serve; a free one by default.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only say where --serve has the page.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="What the page shows as JSON, to --output or standard output; no page.")
    ] = False,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Write a page to look at the topics of a model: one HTML file that needs no network and nothing else.

    It holds a map of the topics, their words, what goes with each word, and with --corpus the documents that a topic has
    most of. Where documents are text it also holds how these begin: use --no-texts where that is not to be passed on.
    --time adds how topics change over time, --by how prevalent they are in groups of documents. Labels that you edit on
    the page can be exported from it and applied to the model with "anchorwords edit --labels".

    Example: anchorwords explore kos-model -o kos.html --corpus docword.kos.txt.gz

    Example: anchorwords explore kos-model --serve

    Example: anchorwords explore news-model --corpus news.csv --text-column text --time date --freq YE --by section
    """
    from ..exploring.data import explorer_data
    from ..exploring.page import rendered
    from .console import document_progress, say

    _check(reading, corpus, no_texts, serve, port, no_browser, as_json)
    columns = _columns(corpus, time, freq, by, split)
    if output is None and not serve and not as_json:
        output = _PAGE
    fitted: Any = record_of(model) if corpus is None else loaded(model, corpus, quiet)
    with (
        _written(output, as_json) as partial,
        _source(fitted, corpus, reading, columns, quiet, jobs) as source,
        document_progress("Documents", quiet) as progress,
    ):
        texts = None if no_texts else _texts(corpus, reading, progress)
        data = explorer_data(
            fitted, source, title=title, texts=texts, time=time, freq=_freq(freq), by=by, separator=split, n_jobs=jobs,
            progress=progress,
        )  # fmt: skip
        whole = json_text(as_plain(data)) + "\n" if as_json else rendered(data)
        if partial is not None:
            partial.write_text(whole, encoding="utf-8", errors="replace", newline="\n")
    if output is not None and not quiet:
        size = output.stat().st_size / 1e3
        how_to = "" if as_json else ": open it in any browser, it needs no network and no other file"
        say(f"{counted(fitted.n_components, 'topic')} written to {output} ({size:,.0f} kB){how_to}")
    if serve:
        _shown(whole, port or 0, not no_browser, quiet)
    elif output is None:
        typer.echo(whole, nl=False)  # JSON


def _check(
    reading: dict[str, Any], corpus: str | None, no_texts: bool, serve: bool, port: int | None, no_browser: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """BadParameter where what was said does not go together."""
    if serve and as_json:
        raise typer.BadParameter("--serve shows the page, which --json does without: choose one of them")
    for name, given in (("--port", port is not None), ("--no-browser", no_browser)):
        if given and not serve:
            raise typer.BadParameter(f"{name} is about the page that --serve shows: give both")
    if corpus is None:
        if no_texts:
            raise typer.BadParameter("--no-texts is about documents, but there are none without --corpus")
        if given_names := given_options(reading):
            raise typer.BadParameter(
                f"{', '.join(given_names)}: options that say how to read documents: name these with --corpus"
            )


def _columns(corpus: str | None, time: str | None, freq: str | None, by: str | None, split: str | None) -> list[str]:
    """Columns of the documents that are needed, or BadParameter where options do not go together."""
    for option, needed, missing in (
        ("--freq", "--time", freq is not None and time is None),
        ("--split", "--by", split is not None and by is None),
        ("--time", "--corpus", time is not None and corpus is None),
        ("--by", "--corpus", by is not None and corpus is None),
    ):
        if missing:
            raise typer.BadParameter(f"{option} needs {needed}: give both")
    if split == "":
        raise typer.BadParameter("--split must be a separator such as ';', but is empty")
    return [column for column in (time, by) if column is not None]


def _freq(text: str | None) -> str | float | None:
    """A width as a number, anything else as it is."""
    try:
        return text if text is None else float(text)
    except ValueError:
        return text


def _written(output: Path | None, as_json: bool) -> AbstractContextManager[Path | None]:
    """The file to fill; refused before there is any work where it cannot be."""
    from ..storage.writing import file_written_whole

    if output is None:
        return nullcontext()
    if not as_json:
        suffix_of(output, _PAGES)  # of what is called otherwise, browsers show the source
    elif output.suffix.lower() in _PAGES:
        raise typer.BadParameter(f"--json writes no page: call --output {output.with_suffix('.json')}, not {output}")
    if output.is_dir() or not output.absolute().parent.is_dir():
        why = "is a folder" if output.is_dir() else "is in a folder that does not exist"
        raise typer.BadParameter(f"--output {output} {why}: name a file to write")
    return file_written_whole(output)


def _source(
    fitted: AnchorTopicModel, corpus: str | None, reading: dict[str, Any], columns: list[str], quiet: bool,
    jobs: int | None,
) -> AbstractContextManager[Corpus | None]:  # fmt: skip
    return nullcontext() if corpus is None else opened(corpus, reading, quiet, jobs, like=fitted, column=columns)


def _texts(
    corpus: str | None, reading: dict[str, Any], progress: ReadProgress | None
) -> Callable[[list[int]], dict[int, str]] | None:
    """How documents begin; a pipe cannot be read again."""
    if corpus is None or corpus == "-":
        return None
    from ..corpus.texts import texts_at

    return lambda rows: texts_at(corpus, rows, progress=progress, **reading)


def _shown(page: str, port: int, open_browser: bool, quiet: bool) -> None:
    from ..exploring.serving import serve
    from .console import remark, say

    def ready(address: str) -> None:
        say(address)
        remark("served to this machine only, until Ctrl-C", quiet)

    serve(page, port=port, open_browser=open_browser, ready=ready)

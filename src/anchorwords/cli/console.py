"""What is shown to a person: results on standard output; progress, remarks and errors on standard error.

Everything that is printed goes through this module or :mod:`anchorwords.cli.tables`, which let no control character of
a word, a label, an id or a file name reach the terminal.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from .._printable import printable, printable_lines
from .._progress import STAGES
from ..records.table import counted

if TYPE_CHECKING:  # the numerical modules load when a command needs them, not for --help
    from ..corpus.duplicates import Duplicates
    from ..corpus.reading_options import ReadProgress
    from ..provenance import AnchorThreshold
    from ..rectify.progress import Report as Progress


def error_console() -> Console:
    """Standard error as it is now (tests replace it)."""
    return Console(stderr=True)


def ascii_only() -> bool:
    """Whether standard output can show no more than ASCII."""
    return Console().options.ascii_only


def width() -> int:
    """Characters in a line of standard output."""
    return Console().width


def say(text: str = "") -> None:
    """Print lines on standard output, without control characters."""
    typer.echo(printable_lines(text))


def pour(text: str) -> None:
    """Print a line of data on standard output: every character of it for a program, without control characters here."""
    typer.echo(printable_lines(text) if Console().is_terminal else text, nl=False)


def remark(sentence: str, quiet: bool) -> None:
    """A line for the reader, not for the next program: on standard error."""
    if not quiet:
        tell(sentence, style="dim")


def tell(sentence: str, style: str) -> None:
    """Print one line on standard error, without control characters."""
    line = printable(" ".join(sentence.split()))
    error_console().print(line, style=style, markup=False, emoji=False, highlight=False, soft_wrap=True)


def remark_on_left_out(numbers: Mapping[str, int], quiet: bool) -> None:
    """Say how many documents were left out, for each reason such as "without a time"; nothing if there are none."""
    found = [(what, n) for what, n in numbers.items() if n]
    if found:
        said = [f"{counted(n, 'document')} {what}" for what, n in found]
        remark(f"left out: {', '.join(said)}", quiet)


def remark_on_anchors(threshold: AnchorThreshold | None, quiet: bool) -> None:
    """Say that the threshold for anchors was dropped, and why, if it was."""
    if threshold is not None and (why := threshold.sentence()) is not None:
        remark(f"anchors: {why}; --min-anchor-docs says otherwise", quiet)


def remark_on_duplicates(found: Duplicates, quiet: bool, *, dropped: bool = False) -> None:
    """Say how many documents repeat others, if any do."""
    if (what := found.sentence()) is not None:
        remark(
            f"duplicates: {what}; {'they are left out' if dropped else '--drop-duplicates leaves them out of a fit'}",
            quiet,
        )


def reading_progress(quiet: bool) -> AbstractContextManager[ReadProgress | None]:
    """A bar for documents that are read."""
    return document_progress("Reading", quiet)


@contextmanager
def document_progress(what: str, quiet: bool) -> Iterator[ReadProgress | None]:
    """A bar with documents, rate and time left, on standard error and only on a terminal."""
    console = error_console()
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<22}"), BarColumn(), TextColumn("{task.fields[documents]:,} documents"),
        TextColumn("{task.fields[rate]:,.0f}/s"), TimeRemainingColumn(),
    )  # fmt: skip
    begin = perf_counter()
    with Bars(*columns, console=console) as bars:
        task = bars.add_task(what, total=None, documents=0, rate=0.0)

        def report(documents: int, share: float | None) -> None:
            rate = documents / max(perf_counter() - begin, 1e-9)
            bars.update(
                task, total=None if share is None else 1.0, completed=share or 0.0, documents=documents, rate=rate
            )

        yield report


@contextmanager
def fit_progress(quiet: bool) -> Iterator[Progress | None]:
    """Bars for the stages of a fit, on standard error and only on a terminal."""
    console = error_console()
    with _logged_remarks(quiet):
        if quiet or not console.is_terminal:
            yield None
        else:
            with _stage_bars(console) as report:
                yield report


@contextmanager
def _logged_remarks(quiet: bool) -> Iterator[None]:
    """What a fit logs for its user, such as how long it will take, as remarks."""
    log, handler = logging.getLogger("anchorwords"), _Remarks(quiet)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class _Remarks(logging.Handler):
    """Warnings of the log as remarks."""

    def __init__(self, quiet: bool) -> None:
        super().__init__(logging.WARNING)
        self._quiet = quiet

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        remark(record.getMessage(), self._quiet)


@contextmanager
def _stage_bars(console: Console) -> Iterator[Progress]:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<22}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Bars(*columns, console=console) as bars:
        tasks: dict[str, Any] = {}

        def report(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(STAGES.get(stage, stage), total=1.0)
            task = bars.tasks[tasks[stage]]
            bars.update(task.id, completed=max(share, task.completed))

        yield report


@contextmanager
def experiment_progress(quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for experiments, with the one at work; without a terminal nothing."""
    console = error_console()
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    with Bars(*columns, console=console) as bars:
        task = bars.add_task("", total=None)

        def report(label: str, done: int, total: int) -> None:
            bars.update(task, description=printable(label), completed=done, total=total)

        yield report


def working(what: str, quiet: bool) -> AbstractContextManager[Any]:
    """A sign of life on a terminal, for work whose end is not known."""
    console = error_console()
    return nullcontext() if quiet or not console.is_terminal else console.status(what)

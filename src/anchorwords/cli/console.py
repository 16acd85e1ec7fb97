"""What goes to the terminal: results on standard output, progress and errors on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:  # the numerical modules load when a command needs them, not for --help
    from ..pipeline import Progress

_STAGES = {
    "statistics": "Statistics of Eq. 1",
    "eigenpairs": "Leading eigenpairs",
    "rectification": "Rectification",
    "topics": "Anchors and topics",
}


def error_console() -> Console:
    """Standard error as it is now (tests replace it)."""
    return Console(stderr=True)


@contextmanager
def fit_progress(quiet: bool) -> Iterator[Progress | None]:
    """Bars for the stages of a fit, on standard error and only on a terminal."""
    console = error_console()
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    with Bars(TextColumn("{task.description:<22}"), BarColumn(), TimeElapsedColumn(), console=console) as bars:
        tasks: dict[str, Any] = {}

        def report(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(_STAGES.get(stage, stage), total=1.0)
            task = bars.tasks[tasks[stage]]
            bars.update(task.id, completed=max(share, task.completed))

        yield report


def print_topics(rows: list[dict[str, Any]]) -> None:
    """Print a table of topics."""
    Console().print(topics_as_table(rows))


def topics_as_table(rows: list[dict[str, Any]]) -> Table:
    """Table of topics; characteristic words that are not prominent stand in the last column."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("topic", justify="right")
    table.add_column("share", justify="right")
    table.add_column("anchor", style="bold")
    table.add_column("prominent words", ratio=3)
    table.add_column("characteristic words not among them", ratio=2, style="dim")
    for row in rows:
        extra = [word for word in row["characteristic"] if word not in row["prominent"]]
        # Songs and films have spaces in their names.
        between = " · " if any(" " in word for word in row["prominent"] + extra) else " "
        table.add_row(
            str(row["topic"]),
            f"{100 * row['prevalence']:.1f}%",
            _plain(row["anchor"]),
            _plain(between.join(row["prominent"])),
            _plain(between.join(extra)),
        )
    return table


def _plain(words: str) -> Text:
    """Words as they are: "[red]" is a word, not markup, and control characters do not reach the terminal."""
    return Text("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words))

"""Results as tables, for the terminal or for Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._markdown import markdown_escaped, markdown_table, separator_of
from .._printable import printable
from ..records.text import shortened

if TYPE_CHECKING:
    from ..metrics.catalogue import Metric

Justify = Literal["left", "right"]


# Heads of columns of words, by their ranking.
_HEADS = {
    "keywords": "keywords",
    "probability": "prominent words",
    "relevance": "words by relevance",
    "frex": "words by FREX",
    "characteristic": "characteristic words",
}


# Names of topics by id, if people gave any; automatic names alone would repeat the words next to them.
Names = Mapping[int, str] | None


def print_topics(rows: list[dict[str, Any]], ranking: str = "probability", names: Names = None) -> None:
    """Print a table of topics, and below it the background and topics to look at twice."""
    Console().print(topics_as_table(rows, ranking, names))
    _print_notes(rows)


def notes_of(rows: list[dict[str, Any]]) -> list[str]:
    """Sentences about the model that the rows are of."""
    return list(getattr(rows, "notes", ()))


def _print_notes(rows: list[dict[str, Any]]) -> None:
    for sentence in notes_of(rows):
        Console().print(_plain(sentence, "dim"))


def topics_as_table(rows: list[dict[str, Any]], ranking: str = "probability", names: Names = None) -> Table:
    """Table of topics; characteristic words that are not listed are in the last column.

    Rows are those of topic_table for this ranking; if they hold the stability, it is next to the share.
    """
    beside = ranking != "characteristic"
    sure = bool(rows) and "stability" in rows[0]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("topic", justify="right")
    table.add_column("share", justify="right")
    if sure:
        table.add_column("interval", justify="right", no_wrap=True)
        table.add_column("stability", justify="right")
    if names is not None:
        table.add_column("name", style="bold", ratio=2)
    table.add_column("anchor", style="" if names is not None else "bold")
    table.add_column(_HEADS[ranking], ratio=3)
    if beside:
        table.add_column("characteristic words not among them", ratio=2, style="dim")
    for row in rows:
        between = _between(row)
        table.add_row(
            str(row["topic"]),
            percent(row["prevalence"]),
            *(stability_cells(row)[:2] if sure else []),
            *([] if names is None else [_plain(shortened(names[row["topic"]]))]),
            _plain(row["anchor"]),
            _plain(between.join(listed_words(row))),
            *([_plain(between.join(specific_words(row)))] if beside else []),
        )
    return table


def listed_words(row: dict[str, Any]) -> list[str]:
    """The words of a topic by the ranking that was asked for."""
    words: list[str] = row.get("words", row["prominent"])
    return words


def specific_words(row: dict[str, Any]) -> list[str]:
    """Characteristic words that are not listed."""
    return [word for word in row["characteristic"] if word not in listed_words(row)]


def stability_cells(row: dict[str, Any]) -> list[str]:
    """Interval of the share, and the share of the topic, of its words and of its anchors that stay."""
    interval = f"{100 * row['prevalence_low']:.1f} to {percent(row['prevalence_high'])}"
    return [interval, *(f"{row[name]:.2f}" for name in ("stability", "stable_words", "anchor_stability"))]


def print_side_by_side(rows: list[dict[str, Any]], ranking: str = "probability", names: Names = None) -> None:
    """Print listed and characteristic words as the paper's Table 1 does."""
    console = Console()
    # Where nothing can be bold (a file, a pipe) stars stand for it.
    console.print(side_by_side_as_table(rows, "" if console.color_system else "*", ranking, names))
    _print_notes(rows)


def side_by_side_as_table(
    rows: list[dict[str, Any]], mark: str = "", ranking: str = "probability", names: Names = None
) -> Table:
    """Two columns of words, after the ids of topics and the names if there are any.

    Characteristic words that are not listed in the first column are bold, and between marks.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("topic", justify="right")
    if names is not None:
        table.add_column("name")
    table.add_column(_HEADS[ranking], ratio=1)
    table.add_column(_HEADS["characteristic"], ratio=1)
    for row in rows:
        between, specific = _between(row), specific_words(row)
        words = [
            _plain(f"{mark}{word}{mark}", "bold") if word in specific else _plain(word)
            for word in row["characteristic"]
        ]
        name = [] if names is None else [_plain(shortened(names[row["topic"]]))]
        table.add_row(str(row["topic"]), *name, _plain(between.join(listed_words(row))), Text(between).join(words))
    return table


def side_by_side_as_markdown(rows: list[dict[str, Any]], ranking: str = "probability", names: Names = None) -> str:
    """The same as a Markdown table."""
    cells = []
    for row in rows:
        between, specific = _between(row), specific_words(row)
        words = [
            f"**{markdown_escaped(word)}**" if word in specific else markdown_escaped(word)
            for word in row["characteristic"]
        ]
        name = [] if names is None else [markdown_escaped(names[row["topic"]])]
        cells.append(
            [str(row["topic"]), *name, between.join(map(markdown_escaped, listed_words(row))), between.join(words)]
        )
    heads: list[tuple[str, Justify]] = [("topic", "right"), ("name", "left"), (_HEADS[ranking], "left")]
    heads = [head for head in heads if names is not None or head[0] != "name"]
    return _markdown([*heads, (_HEADS["characteristic"], "left")], cells)


# Characters of a cell that is not folded.
_SHORT = 12


def print_listing(listing: Listing, *, apart: bool = True) -> None:
    """Print a listing, after a blank line where it stands apart."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, (name, justify) in enumerate(listing.columns):
        # Numbers, dates and short labels stay whole: a narrow terminal folds the other columns.
        short = max([len(name), *(len(row[place]) for row in listing.rows)]) <= _SHORT
        table.add_column(_plain(name), justify=justify, overflow="fold", no_wrap=short or name in listing.whole)
    for row in listing.rows:
        table.add_row(*map(_plain, row))
    console = Console()
    if apart:
        console.print()
    console.print(table)


class Listing(NamedTuple):
    """A table of plain cells, for the terminal or for Markdown.

    Attributes
    ----------
    columns : list of (name, "left" or "right")
    rows : list of list of str
    whole : tuple of str
        Columns, by name, that a narrow terminal does not fold.
    """

    columns: list[tuple[str, Justify]]
    rows: list[list[str]]
    whole: tuple[str, ...] = ()

    def markdown(self) -> str:
        """As a Markdown table."""
        return _markdown(self.columns, [[markdown_escaped(cell) for cell in row] for row in self.rows])


def anchors_as_listing(rows: list[dict[str, Any]]) -> Listing:
    """Anchors with their frequencies, from anchor_table."""
    columns: list[tuple[str, Justify]] = [
        ("topic", "right"), ("share", "right"), ("anchor", "left"), ("of all words", "right"),
        ("of its topic", "right"), ("rank there", "right"),
    ]  # fmt: skip
    counted = bool(rows) and "documents" in rows[0]
    if counted:
        columns += [("documents", "right"), ("tokens", "right")]
    cells = []
    for row in rows:
        cells.append([
            str(row["topic"]), percent(row["prevalence"]), row["anchor"], _small(row["probability"]),
            _small(row["in_topic"]), "-" if row["rank"] is None else f"{row['rank']:,}",
        ])  # fmt: skip
        if counted:
            cells[-1] += [f"{row['documents']:,}", f"{row['tokens']:,}"]
    return Listing(columns, cells)


def _document_name(found: dict[str, Any]) -> str:
    title = found.get("title")
    return str(found["document"]) if not title else f"{found['document']}: {title}"


def documents_as_listing(rows: list[dict[str, Any]]) -> Listing:
    """Top documents of each topic; the topic is named in its first line."""
    from ..interpret.numbers import value_as_text

    names = next((list(found.get("values", ())) for row in rows for found in row["documents"]), [])
    columns: list[tuple[str, Justify]] = [
        ("topic", "right"), ("anchor", "left"), ("share", "right"), ("tokens", "right"),
        *((name, "left") for name in names), ("document", "left"),
    ]  # fmt: skip
    cells = []
    for row in rows:
        head = [str(row["topic"]), row["anchor"]]
        for found in row["documents"]:
            values = [value_as_text(found["values"][name]) for name in names]
            cells.append([*head, percent(found["share"]), f"{found['tokens']:,}", *values, _document_name(found)])
            head = ["", ""]
        if not row["documents"]:
            cells.append([*head, "", "", *("" for _ in names), "none"])
    return Listing(columns, cells)


def metrics_as_listing(metrics: Sequence[Metric], result: dict[str, Any]) -> Listing:
    """Metrics with their values, standard errors, directions, and what they were measured on."""
    columns: list[tuple[str, Justify]] = [
        ("metric", "left"), ("value", "right"), ("", "left"), ("", "left"), ("measured on", "left"),
    ]  # fmt: skip
    errors = result["standard_error"]
    return Listing(
        columns,
        [
            [
                metric.title, "-" if metric.name in result["undefined"] else f"{result[metric.name]:.4g}",
                f"± {errors[metric.name]:.2g}" if metric.name in errors else "", metric.direction, metric.measured_on,
            ]
            for metric in metrics
        ],
    )  # fmt: skip


def topics_as_listing(
    rows: list[dict[str, Any]], topics: Sequence[int], metrics: Sequence[Metric], per_topic: dict[str, Any]
) -> Listing:
    """A block of lines a metric would be too wide: a line a topic and metric, the topic named in its first line."""
    columns: list[tuple[str, Justify]] = [("topic", "right"), ("words", "left"), ("metric", "left"), ("value", "right")]
    place = {topic: k for k, topic in enumerate(topics)}
    cells = []
    for row in rows:
        words = listed_words(row)
        head = [str(row["topic"]), separator_of(words).join(words)]
        for metric in metrics:
            if metric.name in per_topic:
                cells.append([*head, metric.title, f"{per_topic[metric.name][place[row['topic']]]:.4g}"])
                head = ["", ""]
    return Listing(columns, cells)


def _markdown(columns: list[tuple[str, Justify]], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table([name for name, _ in columns], rows, [justify == "right" for _, justify in columns])


def _between(row: dict[str, Any]) -> str:
    return separator_of(listed_words(row) + row["characteristic"])


def percent(share: float) -> str:
    """A share to a tenth of a percent."""
    return f"{100 * share:.1f}%"


def _small(share: float) -> str:
    """A share of any size, to three digits."""
    return f"{100 * share:.3g}%"


def _plain(words: str, style: str = "") -> Text:
    """Words as they are: "[red]" is a word, not markup, and control characters do not reach the terminal."""
    return Text(printable(words), style=style)

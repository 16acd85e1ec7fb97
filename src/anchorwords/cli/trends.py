"""``anchorwords trends``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.table import counted
from .drawing import draw, require_drawable
from .options import Jobs, Json, Quiet, Source, Spreadsheet, TopicIds, loaded, opened, parsed_ids, with_reading
from .output import print_json, suffix_of, table_lines

if TYPE_CHECKING:
    from ..trends.record import TopicsOverTime, Trends
    from ..trends.topic_words import TopicWords


# Words of a topic that are looked at for rising and falling ones, as by default in Python.
_FOLLOWED = 500


@with_reading
def trends(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="Column of dates or numbers, such as years; documents without a value are left out."
        ),
    ],
    reading: dict[str, Any],
    freq: Annotated[
        str | None,
        typer.Option(
            metavar="YE|5|quantiles:8",
            help="Length of a period: YE, QE, ME, W or D for dates, also 10YE; a number for numbers; or quantiles:N for N "
            "periods of about as many documents each. Default: at most 40 periods.",
        ),
    ] = None,
    topics: TopicIds = None,
    words: Annotated[
        int, typer.Option("--words", "-n", min=0, help="Rising and falling words to show per topic; 0 disables them.")
    ] = 4,
    level: Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.")] = 0.9,
    fdr: Annotated[
        float, typer.Option(help="Expected share of wrong ones among topics called rising or falling.")
    ] = 0.05,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            help="Take documents as independent. By default, those of one period may share a deviation from the trend, such "
            "as the effect of an event.",
        ),
    ] = False,
    by_tokens: Annotated[bool, typer.Option("--by-tokens", help="Weight documents by their number of tokens.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the topics over time to this .svg, .png or .pdf file; needs matplotlib."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write all periods and topics to this .csv or .tsv file, whole or not at all."
        ),
    ] = None,
    spreadsheet: Spreadsheet = False,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how topics rise and fall over time, and which of their words do.

    The trend of a topic is a line through its share in each document. Shown are its change per year (or unit of the column)
    and over the whole time, in percentage points, with a verdict, and its course as a small chart from zero to its peak, the
    largest share in a period. Words rise or fall within their topic, from the first third of the periods to the last.

    Example: anchorwords trends cve-model cve.tsv --text-column text --by year --plot cve.svg

    Example: anchorwords trends news-model news.csv --text-column text --by date --freq ME --topics 3,5 -o months.csv
    """
    from .. import topics_over_time
    from ..export.lines import write_lines
    from ..storage.writing import file_written_whole, require_writable_file
    from .console import remark, working

    wanted = None if topics is None else parsed_ids(topics)
    suffix = None if output is None else suffix_of(output, (".csv", ".tsv"))
    if spreadsheet and output is None:
        raise typer.BadParameter("--spreadsheet is about the table that --output writes: give both")
    for option, share in (("--level", level), ("--fdr", fdr)):
        if not 0.0 < share < 1.0:
            raise typer.BadParameter(f"{option} must be between 0 and 1, such as 0.9, but is {share}")
    require_drawable(plot)
    if output is not None:
        require_writable_file(output)
    fitted = loaded(model, source, quiet)
    for topic in wanted or ():
        fitted.model_.position(topic)  # an unknown id is reported before documents are read
    with opened(source, reading, quiet, jobs, like=fitted, column=by) as corpus, working("Documents", quiet):
        found = topics_over_time(
            fitted,
            corpus,
            by,
            _freq(freq),
            n_words=_FOLLOWED if words else 0,
            level=level,
            by_tokens=by_tokens,
            n_jobs=jobs,
        )
    errors = "documents" if independent else "periods"
    table = found.trends(fdr=fdr, errors=errors)
    rows = [row for row in table.rows() if wanted is None or row["topic"] in wanted]
    changed = {row["topic"]: found.words(row["topic"], words) for row in rows} if words else {}
    if output is not None and suffix is not None:
        with file_written_whole(output) as partial:
            write_lines(partial, table_lines(_whole_table(found, rows, changed), suffix, spreadsheet))
        remark(f"{counted(len(found.periods), 'period')} x {counted(len(rows), 'topic')} written to {output}", quiet)
    if plot is not None:
        from ..plot.over_time import over_time

        draw(lambda: over_time(found, wanted, errors=errors), plot, quiet)
    if as_json:
        print_json(_summary(found, table, rows, changed))
    elif output is None:
        _show(found, table, rows, changed)
    _remark(found, errors, quiet)


def _freq(text: str | None) -> Any:
    """A number if it is one: the width of periods."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _show(found: TopicsOverTime, table: Trends, rows: list[dict[str, Any]], changed: dict[int, TopicWords]) -> None:
    from ..trends.shown import periods_in_words
    from .console import ascii_only, say, width
    from .listings import trends_as_listing, word_changes_as_listing
    from .tables import print_listing

    print_listing(trends_as_listing(found, rows, ascii_only=ascii_only(), width=width()), apart=False)
    if any(words.rising or words.falling for words in changed.values()):
        print_listing(word_changes_as_listing([changed[row["topic"]] for row in rows]))
    verdicts = [row["verdict"] for row in table.rows()]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in ("rising", "falling", "no clear trend"))
    ends = list(dict.fromkeys([str(found.periods[0]), str(found.periods[-1])]))
    several = f" {periods_in_words(found.freq)}" if len(found.periods) > 1 else ""
    periods = f"{counted(len(found.periods), 'period')}{several}: {', ..., '.join(ends)}"
    say(
        f"\n{counted(int(found.n_docs.sum()), 'document')} in {periods}. "
        f"Of all {counted(len(verdicts), 'topic')}: {counts} (false discovery rate {table.fdr:g}). "
        f"Intervals at {100 * table.level:g}%."
    )


def _bound(value: Any) -> Any:
    """Where a period begins or ends: a date as text, or a number."""
    from ..interpret.numbers import number

    return str(value) if value.dtype.kind == "M" else number(value)


def _whole_table(
    found: TopicsOverTime, rows: list[dict[str, Any]], changed: dict[int, TopicWords]
) -> list[dict[str, Any]]:
    """One row per period and topic with everything that is known of both."""
    from .._markdown import separator_of

    def joined(words: list[str]) -> str:
        return separator_of(words).join(words)

    trend = {row["topic"]: row for row in rows}
    place = {period: t for t, period in enumerate(found.periods)}
    lines = []
    for row in found.rows():
        topic = row["topic"]
        if topic not in trend:
            continue
        t, own = place[row["period"]], trend[topic]
        line = row | {"start": _bound(found.starts[t]), "end": _bound(found.ends[t])}
        line |= {f"slope_{name}" if name in ("lower", "upper") else name: value for name, value in own.items()
                 if name not in ("topic", "label")}  # fmt: skip
        if topic in changed:
            words = changed[topic]
            line["words"] = joined(words.top[t])
            line |= {name: joined([one["word"] for one in getattr(words, name)]) for name in ("rising", "falling")}
        lines.append(line)
    return lines


def _summary(
    found: TopicsOverTime, table: Trends, rows: list[dict[str, Any]], changed: dict[int, TopicWords]
) -> dict[str, Any]:
    """Everything, for other programs."""
    shown = {row["topic"] for row in rows}
    periods = [
        {
            "period": period, "start": _bound(found.starts[t]), "end": _bound(found.ends[t]), "n_docs": int(found.n_docs[t]),
            "n_tokens": float(found.n_tokens[t]),
        }
        for t, period in enumerate(found.periods)
    ]  # fmt: skip
    words = [
        {"topic": topic, "rising": own.rising, "falling": own.falling, "rows": own.rows()}
        for topic, own in changed.items()
    ]
    return {
        "by": found.by, "freq": found.freq, "unit": found.unit, "level": found.level, "fdr": table.fdr,
        "errors": table.errors, "degrees_of_freedom": table.freedom, "documents": int(found.n_docs.sum()),
        "documents_without_time": found.n_without_time, "documents_without_known_words": found.n_without_words,
        "periods": periods, "trends": rows, "rows": [row for row in found.rows() if row["topic"] in shown],
        "words": words,
    }  # fmt: skip


def _remark(found: TopicsOverTime, errors: str, quiet: bool) -> None:
    from .console import remark, remark_on_left_out

    remark_on_left_out({"without a time": found.n_without_time, "without a known word": found.n_without_words}, quiet)
    if errors == "periods" and len(found.periods) < 3:
        remark(
            "fewer than three periods cannot tell a trend from what one period's documents share: use a finer --freq, or "
            "--independent if documents are independent",
            quiet,
        )

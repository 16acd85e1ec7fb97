"""``anchorwords scan``."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.table import counted
from .drawing import draw, require_drawable
from .guidance import documents_or_share
from .options import (
    Jobs,
    Json,
    Quiet,
    Seed,
    Source,
    given_arguments,
    opened,
    pruned_by,
    rule_as_json,
    vectorizer_of,
    with_choosing,
    with_reading,
    with_stop_words,
)
from .output import print_json

if TYPE_CHECKING:
    from ..scanning.record import Scan
    from .tables import Justify, Listing

# Most numbers of a range that are scanned unless it has a step: each of them is a fit.
_MOST = 20
# Columns of the table: key in a row, title, digits.
_COLUMNS = (
    ("stability", "similarity", ".2f"), ("heldout_perplexity", "perplexity", ",.0f"),
    ("npmi_coherence", "NPMI", ".3f"), ("topic_diversity", "diversity", ".2f"),
    ("dissimilarity", "own words", ".1f"),
)  # fmt: skip


@with_reading
@with_choosing
def scan(
    context: typer.Context,
    source: Source,
    reading: dict[str, Any],
    choosing: dict[str, Any],
    topics: Annotated[
        str | None,
        typer.Option(
            "--topics",
            "-k",
            metavar="NUMBERS",
            help="Numbers of topics: 10,20,50, or first:last:step as in 10:60:10. Without a step, at most 20 numbers of a "
            "range are scanned. Default: chosen to suit the documents.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the scan to this .svg, .png or .pdf file; needs matplotlib.")
    ] = None,
    splits: Annotated[
        int, typer.Option(min=1, help="Number of random splits of the documents into halves to average over.")
    ] = 1,
    min_anchor_docs: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|SHARE|auto",
            help="Choose as anchors only words that occur in at least this many documents, such as 20 or 0.01. "
            "Default: auto, as for fit.",
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare numbers of topics, and recommend one if the data single it out.

    If the data support a few neighbouring numbers that they do not distinguish, all of these are named. If they do not
    narrow the choice, up to three levels of detail (coarse, medium, fine) are named. Each comes with the command that
    fits it.

    The documents are split into two random halves. For each number of topics K the table shows how strong the K-th
    direction of the co-occurrence is in the half that was not used to find it, as a multiple of noise; how many topics
    replicate in both halves, and their mean similarity; the held-out perplexity; coherence (NPMI); diversity (share of
    distinct words among the top 25 of all topics); and how many of a topic's top 20 words are in no other topic. Words
    and anchors are chosen as by fit; topics are not refined.

    Example: anchorwords scan docword.kos.txt.gz --plot kos-scan.svg

    Example: anchorwords scan reviews.csv --text-column text -k 5,10,20,40 --splits 3
    """
    from ..presets import READERS
    from ..scanning.scan import scan as compare
    from ..storage.sketch_folder import is_sketch_folder
    from .console import fit_progress, remark, remark_on_anchors

    if is_sketch_folder(Path(source)):
        raise typer.BadParameter(
            f"{source} is a sketch, which contains no documents to split into halves: give the documents"
        )
    numbers = None if topics is None else parsed_numbers(topics)
    if topics is not None and numbers is not None and (chosen := coarser_ranges(topics)):
        every = chosen[0].rpartition(":")[0]
        remark(
            f"scanning {len(set(numbers))} numbers of topics: {' and '.join(chosen)}; {every}:1 scans every number",
            quiet,
        )
    fewest = documents_or_share(min_anchor_docs) or READERS.min_anchor_docs
    require_drawable(plot)
    with opened(source, with_stop_words(reading, choosing), quiet, jobs) as corpus:
        pruned = pruned_by(corpus, vectorizer_of(reading, choosing), quiet)
        with fit_progress(quiet) as progress:
            found = compare(
                pruned, numbers, random_state=seed, n_jobs=jobs, n_replicates=splits, min_anchor_docs=fewest,
                progress=progress,
            )  # fmt: skip
        left_out = corpus.n_docs - pruned.n_docs
    remark_on_anchors(found.anchor_threshold, quiet)
    if plot is not None:
        from ..plot.scan import scan as figure

        draw(lambda: figure(found), plot, quiet)
    if as_json:
        rule = None if pruned.vocabulary_rule is None else rule_as_json(pruned.vocabulary_rule)
        print_json(_summary(found, left_out, rule, plot))
        return
    options = given_arguments(context, except_for=("topics", "plot", "splits", "seed", "jobs", "as_json", "quiet"))

    def command(K: int) -> str:
        return shlex.join(["anchorwords", "fit", source, *options, "-k", str(K), "-o", f"model-{K}"])

    _show(found, left_out, command)


def parsed_numbers(text: str) -> list[int]:
    """Parse numbers of topics; BadParameter if they are malformed."""
    wrong = typer.BadParameter(
        f"--topics must be numbers such as 10,20,50, or first:last:step such as 10:100:10, but is {text!r}"
    )
    numbers: list[int] = []
    for part in text.split(","):
        pieces = [piece.strip() for piece in part.split(":")]
        if not 1 <= len(pieces) <= 3 or not all(piece.isdecimal() for piece in pieces):
            raise wrong
        first, last, step = (int(pieces[i]) if i < len(pieces) else None for i in range(3))
        assert first is not None
        last = first if last is None else last
        if first < 1 or last < first or step == 0:
            raise wrong
        # A step that is chosen here need not hit the last number.
        numbers += range(first, last + 1, step) if step else [*range(first, last, _step(first, last)), last]
    return numbers


def coarser_ranges(text: str) -> list[str]:
    """Return the ranges without a step that are too long to scan every number, with the step that is used instead."""
    found = []
    for part in text.split(","):
        pieces = [int(piece) for piece in part.split(":")]
        if len(pieces) == 2 and (step := _step(*pieces)) > 1:
            found.append(f"{pieces[0]}:{pieces[1]}:{step}")
    return found


def _step(first: int, last: int) -> int:
    """Return the smallest step of 1, 2 or 5 times a power of ten that leaves few enough numbers."""
    return next(
        step for power in count() for digit in (1, 2, 5) if -(-(last - first) // (step := digit * 10**power)) < _MOST
    )


def scan_as_listing(scan: Scan) -> Listing:
    """One line per number of topics; levels are marked by name."""
    from .tables import Listing

    columns: list[tuple[str, Justify]] = [("topics", "right"), ("", "left")]
    halves = scan.directions is not None
    if halves:
        columns += [("× noise", "right"), ("replicate", "right")]
    rows = scan.rows()
    shown = [
        (key, title, form)
        for key, title, form in _COLUMNS
        if key in rows[0] and (halves or key not in ("stability", "heldout_perplexity"))
    ]
    columns += [(title, "right") for _, title, _ in shown]
    cells = []
    for row in rows:
        line = [str(row["n_components"]), row["level"] or ("recommended" if row["recommended"] else "")]
        if halves:
            line += [f"{row['energy'] / row['noise']:.1f}" if row["noise"] > 0.0 else "-", f"{row['n_replicated']:.3g}"]
        cells.append(line + [_number(row[key], form) for key, _, form in shown])
    return Listing(columns, cells)


def _number(value: float, form: str) -> str:
    return "-" if value != value else format(value, form)


def _show(scan: Scan, left_out: int, command: Callable[[int], str]) -> None:
    from .console import say
    from .tables import print_listing

    say(f"{counted(scan.n_docs, 'document')} ({left_out:,} too short) and {scan.n_words:,} words\n")
    print_listing(scan_as_listing(scan), apart=False)
    say(f"\n{_answer(scan)}" if len(scan.n_components) > 1 else "")
    for reason in scan.reasons:
        say(f"- {reason}")
    for level in scan.levels:
        if scan.recommended is None:
            say(f"\n{level.name}: {counted(level.n_components, 'topic')} ({level.why})")
            for line in (*level.comparison(), f"    Fit with: {command(level.n_components)}"):
                say(line)
    if scan.recommended is not None:
        say(f"\nFit with: {command(scan.recommended)}")


def _answer(scan: Scan) -> str:
    """The answer in one sentence."""
    from ..scanning.wording import spoken

    if scan.recommended is not None:
        return f"Recommended: {counted(scan.recommended, 'topic')}."
    if scan.plausible:
        return f"Recommended: {spoken(scan.plausible)} topics. The data do not tell these numbers apart."
    return "No single number of topics is recommended."


def _summary(scan: Scan, left_out: int, rule: dict[str, Any] | None, plot: Path | None) -> dict[str, Any]:
    directions = scan.directions
    return {
        "recommended": scan.recommended, "plausible": scan.plausible, "levels": [level.row() for level in scan.levels],
        "reasons": scan.reasons, "rows": scan.rows(), "eigenvalues": scan.eigenvalues,
        "directions": None if directions is None else {
            "n": directions.n, "n_most": directions.n_most, "looked_at": directions.n_looked_at,
            "energies": directions.energies, "gap": directions.gap,
        },
        "documents": scan.n_docs, "documents_left_out": left_out, "words": scan.n_words,
        "min_anchor_docs": scan.anchor_threshold.value,
        "vocabulary_rule": rule, "plot": None if plot is None else str(plot),
    }  # fmt: skip

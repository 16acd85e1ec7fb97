"""``anchorwords effects``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.table import counted
from .drawing import draw, require_drawable
from .options import Jobs, Json, Quiet, Source, Spreadsheet, TopicIds, loaded, opened, parsed_ids, with_reading
from .output import print_json, suffix_of, table_lines

if TYPE_CHECKING:
    from ..effects.record import Effects


class EffectMethod(StrEnum):
    """Methods of estimate_effects."""

    calibrated = "calibrated"
    posterior_mean = "posterior-mean"
    unbiased = "unbiased"


@with_reading
def effects(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    formula: Annotated[
        str,
        typer.Argument(help='Terms of the regression, such as "year + C(venue)", of columns of the documents.'),
    ],
    reading: dict[str, Any],
    topics: TopicIds = None,
    method: Annotated[
        EffectMethod,
        typer.Option(
            help="How the proportions of a document are estimated: posterior means that are corrected for their "
            "shrinkage (calibrated), posterior means as transform writes them, or an estimate that is linear in the words "
            "(unbiased)."
        ),
    ] = EffectMethod.calibrated,
    replicates: Annotated[
        int,
        typer.Option(
            min=0,
            help="Add the uncertainty of the topics to the intervals, from this many replicates; 20 is usually enough, 0 "
            "disables it. The documents must be those of the fit.",
        ),
    ] = 0,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Weight documents by the numbers in this column.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals, between 0 and 1.")] = 0.9,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the replicates.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the coefficients to this .svg, .png or .pdf file; needs matplotlib.")
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="With --plot, draw predicted proportions over this column instead of coefficients."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the coefficients to this .csv or .tsv file.")
    ] = None,
    spreadsheet: Spreadsheet = False,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate how topic proportions depend on covariates, such as the year or the venue of a document.

    Regresses the proportion of each topic on the terms of a formula. Intervals cover the sampling of documents and the
    uncertainty of their proportions; with --replicates also that of the topics. Needs formulaic:
    pip install 'anchorwords[effects]'.

    Example: anchorwords effects cve-model cve-corpus "bs(year, df=4)" --plot years.svg --predict year

    Example: anchorwords effects news-model news.csv "year + C(venue)" --topics 3,5 -o effects.csv
    """
    from .. import estimate_effects
    from ..effects.design import named_columns
    from ..export.lines import write_lines
    from ..storage.writing import file_written_whole, require_writable_file
    from .console import remark, say, working

    wanted = None if topics is None else parsed_ids(topics)
    suffix = None if output is None else suffix_of(output, (".csv", ".tsv"))
    if spreadsheet and output is None:
        raise typer.BadParameter("--spreadsheet is about the table that --output writes: give both")
    if predict is not None and plot is None:
        raise typer.BadParameter("--predict says what --plot draws: give both")
    if not 0.0 < level < 1.0:
        raise typer.BadParameter(f"--level must be between 0 and 1, such as 0.9, but is {level}")
    require_drawable(plot)
    if output is not None:
        require_writable_file(output)
    fitted = loaded(model, source, quiet)
    columns = [*named_columns(formula), *([] if weights is None else [weights])]
    with opened(source, reading, quiet, jobs, like=fitted, column=columns) as corpus, working("Documents", quiet):
        found = estimate_effects(
            fitted, corpus, formula, topics=wanted, level=level, weights=weights, method=method.value,
            replicates=replicates, random_state=seed, n_jobs=jobs,
        )  # fmt: skip
    if output is not None and suffix is not None:
        with file_written_whole(output) as partial:
            write_lines(partial, table_lines(found.rows(), suffix, spreadsheet))
        remark(
            f"{counted(len(found.terms), 'coefficient')} x {counted(len(found.topics), 'topic')} written to {output}",
            quiet,
        )
    if plot is not None:
        from ..plot.effects import effects as coefficients
        from ..plot.effects import predicted

        draw(lambda: coefficients(found) if predict is None else predicted(found, predict), plot, quiet)
    if as_json:
        print_json(_about(found) | {"rows": found.rows()})
    elif output is None:
        say(found.to_text())


def _about(found: Effects) -> dict[str, Any]:
    return {
        "formula": found.formula, "level": found.level, "documents": found.n_docs,
        "documents_with_missing_values": found.n_missing, "documents_without_known_words": found.n_without_words,
        "method": found.method, "replicates": found.n_replicates,
    }  # fmt: skip

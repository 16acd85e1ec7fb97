"""``anchorwords evaluate``."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..records.table import counted
from .guidance import checked_replicates
from .options import Jobs, Json, Quiet, Source, loaded, opened, with_reading
from .output import print_json

if TYPE_CHECKING:
    from ..metrics.catalogue import Metric


@with_reading
def evaluate(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    reading: dict[str, Any],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="Compute only this metric, by its name in --json; may be repeated."),
    ] = None,
    per_topic: Annotated[bool, typer.Option("--per-topic", help="Also print the value of every topic.")] = False,
    replicates: Annotated[
        int,
        typer.Option(
            min=0,
            help="Learn topics again on this many bootstrap replicates of these documents, which must be those of the fit, "
            "and report how stable each topic is; 20 is usually enough, 0 disables it.",
        ),
    ] = 0,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge a model by the paper's metrics and the field's, on the documents it was learned from or on others.

    Accuracy is measured against the co-occurrence of these documents, in the words that the model knows; documents with
    fewer than 5 tokens or 3 distinct words of these are left out, as for a fit. Values after a plus-minus sign are standard
    errors of those that are estimates. Where stability was measured, here or by fit, --per-topic says how much of each
    topic, of its top words and of its anchor stays, and between which values its share lies; --json also holds the
    intervals of the correlations.

    Example: anchorwords evaluate kos-model docword.kos.txt.gz

    Example: anchorwords evaluate kos-model held-out.txt -m npmi_coherence -m mst_incoherence --per-topic

    Example: anchorwords evaluate kos-model docword.kos.txt.gz --replicates 20 --per-topic
    """
    from .. import evaluate as measure
    from .. import topic_table
    from ..corpus.like import kept_as_for_fit
    from ..exceptions import UnknownWordWarning
    from ..interpret.topic_words import ranking_for
    from ..metrics import METRICS
    from .console import fit_progress, remark, say, working
    from .tables import metrics_as_listing, print_listing, topics_as_listing

    names = [known.name for known in METRICS]
    if metric and (unknown := [name for name in metric if name not in names]):
        raise typer.BadParameter(f"there is no metric {unknown[0]}; the names are {', '.join(names)}")
    checked_replicates(replicates)
    fitted = loaded(model, source, quiet)
    with opened(source, reading, quiet, jobs, like=fitted) as corpus:
        with working("Measuring", quiet):
            kept = kept_as_for_fit(fitted, corpus)
        if replicates:
            with fit_progress(quiet) as progress, warnings.catch_warnings():
                warnings.simplefilter("ignore", UnknownWordWarning)  # the fit has said it
                fitted.measure_stability(kept, n_replicates=replicates, n_jobs=jobs, progress=progress)
        with working("Measuring", quiet):
            result = measure(fitted, kept, metrics=metric, n_jobs=jobs)
        result["reference"]["too_short"] += corpus.n_docs - kept.n_docs
    if as_json:
        print_json(result | {"undefined": _undefined(result)})
        return
    about = result["reference"]
    say(
        f"{counted(about['topics'], 'topic')}, measured on {counted(about['documents'], 'document')} "
        f"({about['too_short']:,} too short) and {counted(about['words'], 'word')}\n"
    )
    measured, sure = [known for known in METRICS if known.name in result], _sureness(result)
    print_listing(metrics_as_listing(measured + sure[:1], result), apart=False)
    for reason in dict.fromkeys(result["undefined"].values()):
        without = ", ".join(name for name, why in result["undefined"].items() if why == reason)
        remark(f"{without}: {reason}", quiet)
    if per_topic:
        rows = topic_table(fitted, 3, ranking=ranking_for(fitted))
        print_listing(topics_as_listing(rows, fitted.model_.ids, measured + sure, result["per_topic"]))


def _undefined(result: dict[str, Any]) -> dict[str, str]:
    """Why values are null in JSON."""
    flat = (
        {}
        if result.get("log_relative_volume") != -math.inf
        else {"log_relative_volume": "the hull of the anchors is flat"}
    )
    return result["undefined"] | flat


def _sureness(result: dict[str, Any]) -> list[Metric]:
    """What was found of the stability: of all topics, then what only each topic has."""
    from ..metrics.catalogue import sureness_metrics

    drawn = result.get("replicates")
    return [] if drawn is None else sureness_metrics(drawn["number"], drawn["shards"], drawn["level"])

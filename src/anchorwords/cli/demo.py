"""``anchorwords demo``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from .options import Jobs, Json, Quiet, Seed, Topics

# Rare words make sharp but unreadable anchors; this many docstrings is enough to be a word of the trade.
_MIN_DF = 15
_PRESET = "readers"


def demo(
    topics: Topics = 20,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words shown a topic.")] = 8,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit topics on the docstrings of scientific Python and print them. No network, no files needed.

    Topics are those of the preset for readers, as fit makes them, and their words are listed by relevance.

    Example: anchorwords demo --topics 30
    """
    from time import perf_counter

    from .. import AnchorTopicModel, topic_table
    from ..datasets import load_docstrings
    from ..presets import ranking_for
    from .console import error_console, fit_progress
    from .tables import print_topics

    if not quiet:
        error_console().print(
            "Reading the docstrings of NumPy, SciPy, scikit-learn and Python (about 20 s the first time, then cached) ...",
            markup=False,
        )
    corpus = load_docstrings().prune(min_df=_MIN_DF)
    begin = perf_counter()
    with fit_progress(quiet) as progress:
        model = AnchorTopicModel.from_preset(_PRESET, topics, random_state=seed, n_jobs=jobs)
        model.fit(corpus, progress=progress)
    elapsed = perf_counter() - begin
    ranking = ranking_for(model)
    rows = topic_table(model, words, ranking=ranking)
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    typer.echo(
        f"{topics} topics in {corpus.n_docs:,} docstrings, {corpus.n_words:,} words, {corpus.n_tokens:,} tokens, "
        f"in {elapsed:.1f} s:\n"
    )
    print_topics(rows, ranking)

"""``anchorwords demo``."""

from __future__ import annotations

from typing import Annotated

import typer

# Rare words make sharp but unreadable anchors; this many docstrings is enough to be a word of the trade.
_MIN_DF = 15


def demo(
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")] = 20,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words shown a topic.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Seed; topics do not depend on it beyond rounding.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Fit topics on the docstrings of scientific Python and print them. No network, no files needed.

    Example: anchorwords demo --topics 30
    """
    from time import perf_counter

    from .. import AnchorTopicModel, topic_table
    from ..datasets import load_docstrings
    from .console import error_console, fit_progress, print_topics

    if not quiet:
        error_console().print(
            "Reading the docstrings of NumPy, SciPy, scikit-learn and Python (about 20 s the first time, then cached) ...",
            markup=False,
        )
    corpus = load_docstrings().prune(min_df=_MIN_DF)
    begin = perf_counter()
    with fit_progress(quiet) as progress:
        model = AnchorTopicModel(topics, random_state=seed).fit(corpus, progress=progress)
    elapsed = perf_counter() - begin
    typer.echo(
        f"{topics} topics in {corpus.n_docs:,} docstrings, {corpus.n_words:,} words, {corpus.n_tokens:,} tokens, "
        f"in {elapsed:.1f} s:\n"
    )
    print_topics(topic_table(model, words))

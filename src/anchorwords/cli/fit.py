"""``anchorwords fit``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class RectifierName(StrEnum):
    """Rectifiers by name."""

    enn = "enn"
    palm = "palm"
    ap = "ap"
    none = "none"


def fit(
    corpus: Annotated[Path, typer.Argument(help="UCI docword file or its folder, or a matrix (.npz, .mtx).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Model folder to write.")],
    topics: Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")] = 20,
    vocabulary: Annotated[Path | None, typer.Option(help="File of words, one a line, in column order.")] = None,
    rectifier: Annotated[RectifierName, typer.Option(help="enn is LR-JSMF; ap, palm, none as in the paper.")] = (
        RectifierName.enn
    ),
    n_words: Annotated[
        int | None,
        typer.Option(min=1, help="Keep this many words, best by tf-idf; words in over half of the documents go first."),
    ] = None,
    min_df: Annotated[int, typer.Option(min=1, help="Leave out words in fewer documents.")] = 1,
    tol: Annotated[float | None, typer.Option(min=0.0, help="Tolerance of the rectification.")] = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="Limit on its steps.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed; topics do not depend on it beyond rounding.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Fit topics to a corpus and write a model folder (arrays and JSON, whole or not at all).

    Documents with fewer than 5 tokens or 3 distinct words are left out, as in the paper.

    Example: anchorwords fit docword.kos.txt.gz -o kos-model --topics 20 --min-df 15
    """
    from dataclasses import replace
    from time import perf_counter

    from .. import AnchorTopicModel, read_corpus
    from ..persist import require_writable_target
    from ..rectify.options import resolve_rectifier
    from .console import fit_progress

    require_writable_target(output)
    replacing = (output / "model.json").exists()
    options = resolve_rectifier(None if rectifier is RectifierName.none else rectifier.value)
    if options is None and (tol is not None or max_iter is not None):
        raise typer.BadParameter("--tol and --max-iter belong to a rectifier, but --rectifier is none")
    if options is not None:
        options = replace(
            options,
            tol=options.tol if tol is None else tol,
            max_iter=options.max_iter if max_iter is None else max_iter,
        )
    begin = perf_counter()
    everything = read_corpus(corpus, vocabulary=vocabulary)
    data = everything.prune(n_words=n_words, min_df=min_df)
    with fit_progress(quiet) as progress:
        model = AnchorTopicModel(topics, rectifier=options, random_state=seed, n_jobs=jobs)
        model.fit(data, progress=progress)
    model.save(output)
    summary = {
        "model": str(output),
        "topics": topics,
        "documents": data.n_docs,
        "documents_left_out": everything.n_docs - data.n_docs,
        "words": data.n_words,
        "tokens": data.n_tokens,
        "rectifier": rectifier.value,
        "steps": model.n_iter_,
        "converged": model.converged_,
        "seconds": round(perf_counter() - begin, 3),
    }
    if as_json:
        typer.echo(json.dumps(summary))
    else:
        typer.echo(
            f"{topics} topics of {data.n_docs:,} documents ({summary['documents_left_out']:,} too short) and "
            f"{data.n_words:,} words in {summary['seconds']:.1f} s, written to {output}"
            f"{' in place of the model that was there' if replacing else ''}; "
            f"read them with: anchorwords topics {output}"
        )

"""``anchorwords fit``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import (
    Jobs,
    Json,
    Quiet,
    Seed,
    Source,
    Topics,
    opened,
    stop_words_for_phrases,
    with_choosing,
    with_reading,
)


class RectifierName(StrEnum):
    """Rectifiers by name."""

    enn = "enn"
    palm = "palm"
    ap = "ap"
    none = "none"


@with_reading
@with_choosing
def fit(
    source: Source,
    reading: dict[str, Any],
    choosing: dict[str, Any],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Model folder to write; without it, topics are only shown.")
    ] = None,
    topics: Topics = 20,
    rectifier: Annotated[RectifierName, typer.Option(help="enn is LR-JSMF; ap, palm, none as in the paper.")] = (
        RectifierName.enn
    ),
    tol: Annotated[float | None, typer.Option(min=0.0, help="Tolerance of the rectification.")] = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="Limit on its steps.")] = None,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words shown a topic.")] = 8,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn topics from documents, a corpus or a sketch, and show them or write a model folder.

    Text goes by the vocabulary rule that is printed with what it left out; of matrices and baskets every word is kept.
    Documents with fewer than 5 tokens or 3 distinct words are left out, as in the paper. What is larger than memory is
    read from disk, pass by pass.

    Example: anchorwords fit cve.tsv.gz --text-column 2 -k 50

    Example: anchorwords fit docword.kos.txt.gz -o kos-model --topics 20 --min-df 15
    """
    from time import perf_counter

    from .. import AnchorTopicModel, topic_table
    from ..persist import require_writable_target
    from ..statistics.sketch_folder import is_sketch_folder
    from .console import fit_progress, remark
    from .tables import print_topics
    from .vocabulary import dropped_sentence, vocabulary_rule

    if output is not None:
        require_writable_target(output)
    replacing = output is not None and (output / "model.json").exists()
    options = _rectifier(rectifier, tol, max_iter)
    begin = perf_counter()
    model = AnchorTopicModel(topics, rectifier=options, random_state=seed, n_jobs=jobs)
    if is_sketch_folder(Path(source)):
        summary = _fit_sketch(model, Path(source), choosing, quiet)
    else:
        with opened(source, reading | stop_words_for_phrases(reading, choosing), quiet, jobs) as corpus:
            rule = vocabulary_rule(corpus, choosing)
            pruned = corpus.prune(**rule.options())
            if corpus.text_rule is not None or any(value is not None for value in choosing.values()):
                remark(f"vocabulary: {rule.sentence(corpus.n_docs)}", quiet)
                remark(dropped_sentence(corpus, pruned), quiet)
            with fit_progress(quiet) as progress:
                model.fit(pruned, progress=progress)
            summary = {
                "documents": pruned.n_docs, "documents_left_out": corpus.n_docs - pruned.n_docs, "words": pruned.n_words,
                "tokens": pruned.n_tokens, "vocabulary_rule": rule.options(),
                "left_out": pruned.dropped._asdict() if pruned.dropped else {},
            }  # fmt: skip
    if output is not None:
        model.save(output)
    summary = {
        "model": None if output is None else str(output), "topics": topics, **summary, "rectifier": rectifier.value,
        "steps": model.n_iter_, "converged": model.converged_, "seconds": round(perf_counter() - begin, 3),
    }  # fmt: skip
    if as_json:
        shown = {} if output is not None else {"table": topic_table(model, words)}
        typer.echo(json.dumps(summary | shown, ensure_ascii=False))
        return
    where = (
        "" if output is None
        else f", written to {output}{' in place of the model that was there' if replacing else ''}; read them with: "
        f"anchorwords topics {output}"
    )  # fmt: skip
    typer.echo(
        f"{topics} topics of {summary['documents']:,} documents ({summary['documents_left_out']:,} too short) and "
        f"{summary['words']:,} words in {summary['seconds']:.1f} s{where}"
    )
    if output is None:
        typer.echo()
        print_topics(topic_table(model, words))
        remark("nothing was written: add -o FOLDER to keep the model", quiet)


def _rectifier(name: RectifierName, tol: float | None, max_iter: int | None) -> Any:
    from dataclasses import replace

    from ..rectify.options import resolve_rectifier

    options = resolve_rectifier(None if name is RectifierName.none else name.value)
    if options is None:
        if tol is not None or max_iter is not None:
            raise typer.BadParameter("--tol and --max-iter belong to a rectifier, but --rectifier is none")
        return None
    return replace(
        options,
        tol=options.tol if tol is None else tol,
        max_iter=options.max_iter if max_iter is None else max_iter,
    )


def _fit_sketch(model: Any, folder: Path, choosing: dict[str, Any], quiet: bool) -> dict[str, Any]:
    from .. import load_sketch
    from ..corpus.prune import text_preset
    from .console import fit_progress, remark

    given = sorted(name for name, value in choosing.items() if value is not None and name != "min_df")
    if given:
        raise typer.BadParameter(
            f"--{given[0].replace('_', '-')} cannot be applied to a sketch, whose words were chosen when it was built"
        )
    sketch = load_sketch(folder)
    min_df = choosing["min_df"] or (1 if sketch.text_rule is None else text_preset(sketch.n_docs)["min_df"])
    remark(f"vocabulary: that of the sketch, words in at least {min_df:,} of {sketch.n_docs:,} documents", quiet)
    with fit_progress(quiet) as progress:
        model.fit(sketch, progress=progress, min_df=min_df)
    return {
        "documents": sketch.n_docs, "documents_left_out": sketch.n_skipped, "words": model.n_features_in_,
        "tokens": sketch.n_tokens,
    }  # fmt: skip

"""``anchorwords sketch build | merge | subtract | info``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .help_text import add_command
from .options import Jobs, Json, Quiet, Seed, Source, StopWords, Topics, chosen, opened, with_reading, with_stop_words
from .output import print_json

if TYPE_CHECKING:
    from ..statistics.sketch import CooccurrenceSketch

sketch_app = typer.Typer(
    name="sketch",
    help="Mergeable one-pass sketches of documents that need not be kept, with support for deletion.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

Output = Annotated[Path, typer.Option("--output", "-o", help="Sketch folder to write, whole or not at all.")]


class Method(StrEnum):
    """Kinds of sketches."""

    linear = "linear"
    incremental = "incremental"


@with_reading
def build(
    source: Source,
    output: Output,
    reading: dict[str, Any],
    topics: Topics = 20,
    method: Annotated[
        Method, typer.Option(help="linear supports deletion of documents; incremental is more accurate and merges.")
    ] = Method.incremental,
    sketch_columns: Annotated[
        int | None, typer.Option(min=1, help="Columns of the sketch. Default: 8 (linear) or 4 (incremental) per topic.")
    ] = None,
    stop_words: StopWords = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sketch documents in one pass; fit learns topics from the sketch.

    Which words count is decided here: use --stop-words, and --vocabulary to count given words only. Sketches that were built
    with the same options, on different days or machines, can be merged.

    Example: anchorwords sketch build monday.jsonl --topics 50 -o monday

    Example: anchorwords sketch build customers.tsv --text-column 2 --method linear -o customers
    """
    from .. import CooccurrenceSketch
    from ..corpus.vocabulary_rule import VocabularyRule
    from ..statistics.sketch import rule_of_text
    from ..storage.sketch_folder import require_writable_sketch
    from .console import document_progress

    require_writable_sketch(output)
    choosing: dict[str, Any] = {"stop_words": stop_words or None}
    with opened(source, with_stop_words(reading, choosing), quiet, jobs) as everything:
        rule = VocabularyRule.for_sketch(everything, **chosen(choosing))
        corpus = everything.prune(rule=rule) if rule.stop_words else everything
        sketch = CooccurrenceSketch(
            topics, method=method.value, n_columns=sketch_columns, rule=rule_of_text(everything.text_rule, rule),
            random_state=seed, n_jobs=jobs,
        )  # fmt: skip
        with document_progress("Sketching", quiet) as progress:
            done = 0
            for block in corpus.blocks():
                sketch.update(block, corpus.vocabulary)
                done += block.shape[0]
                if progress is not None:
                    progress(done, done / corpus.n_docs)
    sketch.save(output)
    _show(sketch, output, as_json)


def merge(
    sketches: Annotated[list[Path], typer.Argument(help="Sketch folders.")],
    output: Output,
    as_json: Json = False,
) -> None:
    """Add sketches of different documents.

    Example: anchorwords sketch merge monday tuesday wednesday -o week
    """
    from .. import load_sketch

    total = load_sketch(sketches[0])
    for path in sketches[1:]:
        total.merge(load_sketch(path))
    total.save(output)
    _show(total, output, as_json)


def subtract(
    whole: Annotated[Path, typer.Argument(help="Linear sketch.")],
    part: Annotated[Path, typer.Argument(help="Linear sketch of documents that are in it.")],
    output: Output,
    as_json: Json = False,
) -> None:
    """Take documents out of a linear sketch: a customer who left, a day that slid out of the window.

    Example: anchorwords sketch subtract week monday -o rest-of-week
    """
    from .. import load_sketch

    rest = load_sketch(whole) - load_sketch(part)
    rest.save(output)
    _show(rest, output, as_json)


def info(
    sketch: Annotated[Path, typer.Argument(help="Sketch folder.")],
    as_json: Json = False,
) -> None:
    """Show what a sketch holds.

    Example: anchorwords sketch info week
    """
    from .. import load_sketch

    _show(load_sketch(sketch), sketch, as_json)


for _command in (build, merge, subtract, info):
    add_command(sketch_app, _command)


def _show(sketch: CooccurrenceSketch, path: Path, as_json: bool) -> None:
    from .console import say

    size = sum(file.stat().st_size for file in path.iterdir())
    summary = {
        "sketch": str(path), "method": sketch.method, "topics": sketch.n_components, "columns": sketch.n_columns,
        "documents": sketch.n_docs, "documents_left_out": sketch.n_skipped, "words": sketch.n_words,
        "tokens": sketch.n_tokens, "seed": sketch.random_state, "bytes": size,
    }  # fmt: skip
    if as_json:
        print_json(summary)
    else:
        say(
            f"{path}: {sketch.method} sketch of {sketch.n_docs:,} documents ({sketch.n_skipped:,} too short), "
            f"{sketch.n_words:,} words, {sketch.n_tokens:,} tokens, for {sketch.n_components} topics: "
            f"{sketch.n_columns} columns, {size / 1e6:,.1f} MB"
        )

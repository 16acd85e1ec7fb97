"""``anchorwords similar`` and ``anchorwords predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Json, loaded
from .output import print_json

Model = Annotated[Path, typer.Argument(help="Model folder written by fit.")]


def similar(
    model: Model,
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words of the model.")],
    n: Annotated[int, typer.Option("--words", "-n", min=1, help="Number of similar words to show per word.")] = 10,
    as_json: Json = False,
) -> None:
    """Show words that belong to the same topics as a word, such as songs similar to a song.

    Words are compared by their topic profiles p(topic | word). A similarity of 1 means that the profiles are equal, 0
    that the words have no topic in common.

    Example: anchorwords similar playlists-model radiohead -n 20
    """
    from .. import similar_words
    from .tables import Listing, print_listing

    rows = similar_words(loaded(model), words, n).rows()
    if as_json:
        print_json(rows)
        return
    # Labels of items can be long: name only the topic that contributes most, and give the ids of all.
    cells = [
        [row["query"], row["word"], f"{row['similarity']:.3f}", ", ".join(map(str, row["topics"])), row["labels"][0]]
        for row in rows
    ]
    columns = [
        ("word", "left"),
        ("similar", "left"),
        ("similarity", "right"),
        ("topics", "left"),
        ("main topic", "left"),
    ]
    if len(set(words)) == 1:  # the same word in every line
        columns, cells = columns[1:], [line[1:] for line in cells]
    print_listing(Listing(columns, cells), apart=False)  # type: ignore[arg-type]


def predict(
    model: Model,
    words: Annotated[list[str], typer.Argument(metavar="WORD...", help="Words of one document or basket.")],
    n: Annotated[int, typer.Option("--words", "-n", min=1, help="Number of words to predict.")] = 10,
    as_json: Json = False,
) -> None:
    """Predict further words of a document or basket: the most probable ones among those that it does not contain.

    The lift says how many times as probable a word is here as in all documents.

    Example: anchorwords predict playlists-model radiohead portishead -n 20
    """
    from ..kernels.ahead import INFERENCE
    from .compiling import await_kernels, compile_ahead
    from .tables import Listing, print_listing

    if model.exists():
        compile_ahead(*INFERENCE, quiet=as_json)
    from .. import predict_words  # after that: it takes a second to import

    fitted = loaded(model)
    await_kernels(quiet=as_json)
    rows = predict_words(fitted, list(words), n).rows()
    if as_json:
        print_json(rows)
        return
    cells = [[str(row["rank"]), row["word"], f"{100 * row['probability']:.3g}%", f"{row['lift']:.1f}"] for row in rows]
    columns = [("rank", "right"), ("word", "left"), ("probability", "right"), ("lift", "right")]
    print_listing(Listing(columns, cells), apart=False)  # type: ignore[arg-type]

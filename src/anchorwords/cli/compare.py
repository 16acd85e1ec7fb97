"""``anchorwords compare``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .options import Json, loaded
from .output import print_json


class Style(StrEnum):
    """Ways to print changes."""

    table = "table"
    markdown = "markdown"


def compare(
    old: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    new: Annotated[Path, typer.Argument(help="Another, of later documents or other options.")],
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of each list.")] = 5,
    max_distance: Annotated[
        float | None,
        typer.Option(
            help="Total variation beyond which two topics are not the same, above 0 and up to 1; 0.7 by default.",
        ),
    ] = None,
    style: Annotated[Style, typer.Option(help="table for the terminal, or markdown.")] = Style.table,
    as_json: Json = False,
) -> None:
    """Say what changed from one model to another: topics that stayed, grew, lost words, went or came.

    Topics are matched so that their distances (total variation, 0 the same and 1 without a word in common) add up to the
    least. Largest changes come first: half the share of all words that came to a topic or left it.

    Example: anchorwords compare january-model february-model

    Example: anchorwords compare january-model february-model --style markdown -n 3
    """
    from .. import changes
    from .console import say
    from .listings import changes_as_listing
    from .tables import print_listing

    if max_distance is not None and not 0.0 < max_distance <= 1.0:
        raise typer.BadParameter(f"--max-distance must be above 0 and up to 1, but is {max_distance}")
    options = {} if max_distance is None else {"max_distance": max_distance}
    rows = changes(loaded(old), loaded(new), words, **options)
    if as_json:
        print_json(rows, indent=1)
        return
    listing = changes_as_listing(rows)
    if style is Style.markdown:
        say(listing.markdown())
        return
    number = {change: sum(row["change"] == change for row in rows) for change in ("kept", "new", "gone")}
    say(f"{number['kept']} topics in both, {number['new']} new, {number['gone']} gone; largest changes first\n")
    print_listing(listing, apart=False)

"""``anchorwords topics``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def topics(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words shown a topic.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print the topics of a model, most prevalent first.

    Example: anchorwords topics kos-model --words 8
    """
    from .. import load_model, topic_table
    from .console import print_topics

    rows = topic_table(load_model(model), words)
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        print_topics(rows)

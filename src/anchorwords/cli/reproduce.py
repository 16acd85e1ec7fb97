"""``anchorwords reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Jobs, Quiet


def reproduce(
    data: Annotated[
        Path,
        typer.Option("--data", help="Folder with docword.NAME.txt(.gz) and vocab.NAME.txt, or with folders of them."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the report.")] = Path("reproduction"),
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="Use only this corpus, by its NAME; may be given several times. By default nips12, imdb100k, ml1m and "
            "spotify where they are there, else all."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small vocabularies and few K: minutes instead of hours.")
    ] = False,
    jobs: Jobs = 1,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments on UCI corpora and write a report with figures and tables.

    Methods by number of topics, LR-JSMF on growing vocabularies, co-occurrence spaces, and words side by side, compared
    with the paper claim by claim. Results are kept by configuration in the folder's cache: a run that was stopped goes
    on where it was. Figures need matplotlib: pip install 'anchorwords[plot]'.

    Example: anchorwords reproduce --data corpora --quick
    """
    from ..plot.style import require_matplotlib
    from ..reproduce import reproduce as run
    from .console import experiment_progress, remark, say

    require_matplotlib()
    with experiment_progress(quiet) as progress:
        run(data, output, quick=quick, corpora=corpus, progress=progress, n_jobs=jobs)
    say(str(output / "report.md"))
    remark("results are kept in the folder's cache, which may be deleted", quiet)

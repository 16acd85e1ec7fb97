"""``anchorwords export``."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._printable import json_text
from ..records.table import counted
from .options import Jobs, Quiet, given_options, loaded, opened, with_reading
from .output import as_plain

if TYPE_CHECKING:
    from ..estimator import AnchorTopicModel


class Target(StrEnum):
    """Programs to export to."""

    graphml = "graphml"
    gexf = "gexf"
    pyldavis = "pyldavis"
    gensim = "gensim"


@with_reading
def export(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    to: Annotated[
        Target,
        typer.Option(
            help="graphml or gexf: topics and how they go together as a graph, for Gephi, Cytoscape, networkx; pyldavis: "
            "JSON of the arguments of pyLDAvis.prepare; gensim: a line a topic, as show_topics prints it.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, whole or not at all.")],
    reading: dict[str, Any],
    source: Annotated[
        str | None,
        typer.Argument(
            help="Documents, which pyldavis needs: whatever fit reads, or a corpus folder; - is standard input."
        ),
    ] = None,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of a topic.")] = 10,
    min_association: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            show_default="0",
            help="Leave out edges of a graph whose association is smaller. 1 means that two topics share documents as often "
            "as expected from their sizes.",
        ),
    ] = None,
    min_lift: Annotated[
        float | None, typer.Option(min=0.0, hidden=True, help="Deprecated name of --min-association.")
    ] = None,
    jobs: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Write topics for other programs.

    Example: anchorwords export kos-model --to graphml -o kos.graphml --min-association 1

    Example: anchorwords export kos-model docword.kos.txt.gz --to pyldavis -o kos.json
    """
    from ..export import show_topics, write_graph
    from ..export.lines import write_lines
    from ..interpret.topic_words import ranking_for
    from ..storage.writing import file_written_whole, require_writable_file
    from .console import remark

    if to is Target.pyldavis and source is None:
        raise typer.BadParameter("--to pyldavis needs the documents: name them after the model")
    if to is not Target.pyldavis and (source is not None or given_options(reading)):
        raise typer.BadParameter(f"--to {to.value} needs no documents, but they are named, or how to read them")
    if min_lift is not None:
        if min_association is not None:
            raise typer.BadParameter("--min-lift is the old name of --min-association: use --min-association only")
        warnings.warn(
            "--min-lift is now called --min-association: use --min-association instead, as the old name will be removed.",
            FutureWarning,
            stacklevel=1,
        )
        min_association = min_lift
    require_writable_file(output)
    fitted = loaded(model)
    if to in (Target.graphml, Target.gexf):
        least, ranking = min_association or 0.0, ranking_for(fitted)
        write_graph(fitted, output, min_association=least, format=to.value, n_words=words, ranking=ranking)
    else:
        with file_written_whole(output) as partial:
            if to is Target.gensim:
                write_lines(partial, (f"{k}\t{text}\n" for k, text in show_topics(fitted, -1, words)))
            else:
                assert source is not None
                write_lines(partial, _pyldavis(fitted, source, reading, quiet, jobs))
    remark(f"{counted(fitted.n_components, 'topic')} written to {output}", quiet)


def _pyldavis(
    fitted: AnchorTopicModel, source: str, reading: dict[str, Any], quiet: bool, jobs: int | None
) -> list[str]:
    from ..export import pyldavis_data
    from .console import working

    with opened(source, reading, quiet, jobs, like=fitted) as corpus, working("Documents", quiet):
        data = pyldavis_data(fitted, corpus, n_jobs=jobs)
    return [json_text(as_plain(data)), "\n"]

"""``anchorwords demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AnySeed, Jobs, Json, Quiet, Topics
from .output import print_json

if TYPE_CHECKING:
    from ..text_model import TextTopicModel

# Enough for error bars that one can look at; twenty are better, and take twice as long.
_REPLICATES = 10
_PAGE = Path("anchorwords-demo.html")
_LOOK_AT = (
    "On the map, near topics share docstrings and large ones fill more of them: click a circle.",
    "In a topic, move the relevance slider, and see which words the anchor adds (marked).",
    "In the table, sort by stability: the topics at its end are those not to rely on.",
)


def demo(
    topics: Topics = 20,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words to show per topic.")] = 8,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write, for any browser.")] = _PAGE,
    no_page: Annotated[bool, typer.Option("--no-page", help="Only print the topics.")] = False,
    seed: AnySeed = None,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit topics on the docstrings of scientific Python, print them and write a page to explore them. No network needed.

    Topics are those that fit would learn from the same texts and stop words; their words are listed by relevance. The page
    also shows how stable each topic is, from ten bootstrap replicates; with --json there is none.

    Example: anchorwords demo --topics 30
    """
    from time import perf_counter

    from .. import TextTopicModel, TextVectorizer, topic_table
    from ..datasets import DOCSTRING_STOP_WORDS, docstring_texts
    from ..interpret.topic_words import ranking_for
    from ..kernels.ahead import ALL
    from ..storage.writing import require_writable_file
    from .compiling import compile_now
    from .console import error_console, fit_progress, say
    from .tables import print_topics

    if not output.absolute().parent.is_dir() or output.is_dir():
        raise typer.BadParameter(f"--output {output} cannot be written: name a file in a folder that is there")
    if not (no_page or as_json):
        require_writable_file(output)
    compile_now(*ALL, quiet=quiet)
    if not quiet:
        error_console().print(
            "Reading the docstrings of NumPy, SciPy, scikit-learn and Python (about 20 s the first time, then cached) ...",
            markup=False,
        )
    texts = docstring_texts()
    begin = perf_counter()
    with fit_progress(quiet) as progress:
        vectorizer = TextVectorizer(stop_words=list(DOCSTRING_STOP_WORDS), n_jobs=jobs)
        model = TextTopicModel(topics, vectorizer=vectorizer, random_state=seed, n_jobs=jobs)
        rows = [{"name": name, "text": text} for name, text in texts.items()]
        model.fit(rows, id_column="name", progress=progress)
    corpus = model.corpus_
    elapsed = perf_counter() - begin
    ranking = ranking_for(model)
    table = topic_table(model, words, ranking=ranking)
    if as_json:
        print_json(table, indent=1)
        return
    say(
        f"{topics} topics in {corpus.n_docs:,} docstrings, {corpus.n_words:,} words, {corpus.n_tokens:,} tokens, "
        f"in {elapsed:.1f} s:\n"
    )
    print_topics(table, ranking)
    if not no_page:
        _write_page(model, texts, output, jobs, quiet)


def _write_page(model: TextTopicModel, texts: dict[str, str], output: Path, jobs: int | None, quiet: bool) -> None:
    """The explorer of the demo, and what to look at in it."""
    from .. import explorer
    from .console import fit_progress, say, working

    corpus = model.corpus_
    with fit_progress(quiet) as progress:
        model.measure_stability(n_replicates=_REPLICATES, n_jobs=jobs, progress=progress)
    beginnings = [texts[name] for name in corpus.doc_ids or ()]
    with working("Writing the page", quiet):
        page = explorer(model, output, corpus, title="Docstrings of scientific Python", texts=beginnings, n_jobs=jobs)
    say(f"\nLook at them in a browser: {page.absolute()}\n" + "\n".join(f"- {line}" for line in _LOOK_AT))

"""``anchorwords topics``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._markdown import markdown_escaped
from .options import Jobs, Quiet, given_options, loaded, opened, record_of, with_reading
from .output import print_json

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..estimator import AnchorTopicModel
    from ..model import Edit, TopicModel


class Style(StrEnum):
    """Ways to print topics."""

    table = "table"
    paper = "paper"
    markdown = "markdown"


class Ranking(StrEnum):
    """Orders of a topic's words, as in anchorwords.top_words."""

    keywords = "keywords"
    probability = "probability"
    relevance = "relevance"
    frex = "frex"
    characteristic = "characteristic"


@with_reading
def topics(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    reading: dict[str, Any],
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words to show per topic.")] = 10,
    style: Annotated[
        Style,
        typer.Option(
            help="table: a row a topic; paper: words and characteristic words side by side, the latter in bold where "
            "they are not among the former (between stars in a file); markdown: the same as a Markdown table."
        ),
    ] = Style.table,
    ranking: Annotated[
        Ranking | None,
        typer.Option(
            help="Which words of a topic come first: those that set its documents apart (keywords), the most probable, "
            "those probable here and not elsewhere (relevance), those both frequent and exclusive (frex), or those most "
            "often with its anchor; by default keywords for topics as fit makes them, and probability for the paper's."
        ),
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Weight of a word's probability in relevance (0.6 by default) and frex (0.5); 1 orders by probability.",
        ),
    ] = None,
    anchors: Annotated[
        bool,
        typer.Option(
            "--anchors", help="List anchors with their probabilities; with --corpus also with documents and tokens."
        ),
    ] = False,
    documents: Annotated[
        int | None,
        typer.Option(min=1, help="List this many documents of --corpus per topic, those with the largest share of it."),
    ] = None,
    min_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Fewest words the model knows of a document that --documents lists; 5 by default."),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            help="Documents for --documents and --anchors: whatever fit reads, or a corpus folder; - is standard input.",
        ),
    ] = None,
    common_words: Annotated[
        int | None,
        typer.Option(min=1, help="List this many frequent words that all topics share: candidates for stop words."),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="List the edits that were made since the fit, in order.")
    ] = False,
    tree: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the tree of topics, in which similar topics are joined first, to this .svg, .png or .pdf file; needs "
            "matplotlib.",
        ),
    ] = None,
    cut: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="With --tree, colour the N clusters of topics that edit --reduce N would merge."
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print as JSON, whatever the style: a list of topics; with --common-words or --history an object that "
            "holds these lists as well.",
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Print the topics of a model, most prevalent first.

    Prominent words are the most probable of a topic; characteristic words are those most often with its anchor. A topic
    whose anchor is several words together shows them all. Where fit measured it, the share has an interval, and the
    stability says how much of the topic is there again in other draws of the documents: 1 is all of it.

    Example: anchorwords topics kos-model --style paper --words 6

    Example: anchorwords topics kos-model --ranking frex --common-words 20

    Example: anchorwords topics kos-model --corpus docword.kos.txt.gz --documents 5 --anchors

    Example: anchorwords topics kos-model --tree kos-tree.svg --cut 8
    """
    from .. import common_words as words_in_common
    from .. import topic_table
    from ..model import as_topic_model
    from .console import remark

    _check(reading, anchors, documents, min_tokens, corpus)
    _check_tree(tree, cut)
    fitted: Any = record_of(model) if corpus is None else loaded(model, corpus, quiet)
    order = _ranking(fitted, ranking, weight, style, as_json)
    rows = topic_table(fitted, words, ranking=order, weight=weight)
    common = None if common_words is None else words_in_common(fitted, common_words)
    with _source(fitted, corpus, reading, quiet, jobs) as source:
        if anchors:
            _add_anchors(rows, fitted, source)
        if documents is not None:
            assert source is not None  # _check
            _add_documents(rows, fitted, source, documents, min_tokens or 5, jobs, quiet)
    if tree is not None:
        _draw_tree(fitted, tree, cut, quiet)
    edits = as_topic_model(fitted).edits if history else None
    if as_json:
        more: dict[str, Any] = {} if common is None else {"common_words": common}
        more |= {} if edits is None else {"history": [vars(edit) | {"sentence": edit.sentence()} for edit in edits]}
        print_json({"topics": rows} | more if more else rows, indent=1)
        return
    _show(rows, style, order, common, edits, _names(fitted))
    if history and not edits:
        remark("the topics are those of the fit: there were no edits.", quiet)
    if common == []:
        remark("no word is spread evenly over the topics: there are no candidates for stop words.", quiet)


def _ranking(
    fitted: AnchorTopicModel | TopicModel, ranking: Ranking | None, weight: float | None, style: Style, as_json: bool
) -> str:
    """The order of words, or BadParameter where what was said does not go together."""
    from ..interpret.topic_words import ranking_for

    order = ranking or Ranking(ranking_for(fitted))
    if weight is not None and order not in (Ranking.relevance, Ranking.frex):
        raise typer.BadParameter(f"--weight belongs to --ranking relevance and frex, but words are by {order.value}")
    if order is Ranking.characteristic and style is not Style.table and not as_json:
        raise typer.BadParameter(
            f"--style {style.value} sets characteristic words beside others: choose another --ranking"
        )
    return order.value


def _check(
    reading: dict[str, Any], anchors: bool, documents: int | None, min_tokens: int | None, corpus: str | None
) -> None:
    if min_tokens is not None and documents is None:
        raise typer.BadParameter("--min-tokens is about the documents that --documents lists: give both")
    if corpus is None:
        if documents is not None:
            raise typer.BadParameter("--documents needs the documents themselves: name them with --corpus")
        if given := given_options(reading):
            raise typer.BadParameter(
                f"{', '.join(given)}: options that say how to read documents: name these with --corpus"
            )
    elif documents is None and not anchors:
        raise typer.BadParameter("--corpus is read for --documents and --anchors only: ask for one of them")


def _check_tree(tree: Path | None, cut: int | None) -> None:
    from .drawing import require_drawable

    if cut is not None and tree is None:
        raise typer.BadParameter("--cut is about the tree that --tree draws: give both")
    require_drawable(tree, "--tree")


def _draw_tree(fitted: AnchorTopicModel | TopicModel, path: Path, cut: int | None, quiet: bool) -> None:
    from ..plot.hierarchy import hierarchy
    from .drawing import draw

    draw(lambda: hierarchy(fitted, n_topics=cut), path, quiet)


def _source(
    fitted: AnchorTopicModel, corpus: str | None, reading: dict[str, Any], quiet: bool, jobs: int | None
) -> AbstractContextManager[Corpus | None]:
    if corpus is None:
        return nullcontext()
    return opened(corpus, reading, quiet, jobs, like=fitted)


def _add_anchors(rows: list[dict[str, Any]], fitted: AnchorTopicModel | TopicModel, source: Corpus | None) -> None:
    from .. import anchor_table

    for row, anchor in zip(rows, anchor_table(fitted, source), strict=True):
        row["anchor_frequency"] = {name: value for name, value in anchor.items() if name not in row}


def _add_documents(
    rows: list[dict[str, Any]], fitted: AnchorTopicModel, source: Corpus, n: int, min_tokens: int, jobs: int | None,
    quiet: bool,
) -> None:  # fmt: skip
    from .. import top_documents
    from ..model import as_topic_model
    from .console import document_progress, remark

    record = as_topic_model(fitted)
    with document_progress("Documents", quiet) as progress:
        found = top_documents(fitted, source, n, min_tokens=min_tokens, n_jobs=jobs, progress=progress)
    for row in rows:
        row["documents"] = found[record.position(row["topic"])]
        if source.doc_ids is None:  # by number, from 1, as transform names them
            row["documents"] = [entry | {"document": str(entry["document"] + 1)} for entry in row["documents"]]
    if not any(found):
        remark(
            f"no document holds {min_tokens} words of the model: lower --min-tokens, or check the vocabulary.", quiet
        )


def _names(fitted: AnchorTopicModel | TopicModel) -> dict[int, str] | None:
    """Names of the topics by id if people gave any of them; the others are automatic."""
    from ..interpret.naming import topic_names
    from ..model import as_topic_model

    record = as_topic_model(fitted)
    return None if record.labels is None else dict(zip(record.ids, topic_names(record), strict=True))


def _show(
    rows: list[dict[str, Any]], style: Style, ranking: str, common: list[dict[str, Any]] | None,
    edits: Sequence[Edit] | None, names: dict[int, str] | None,
) -> None:  # fmt: skip
    from . import listings, tables
    from .console import say

    parts = []
    if "stability" in rows[0] and style is not Style.table:  # which shows it itself
        parts.append(listings.stability_as_listing(rows))
    if "anchor_frequency" in rows[0]:
        parts.append(tables.anchors_as_listing([row | row["anchor_frequency"] for row in rows]))
    if "documents" in rows[0]:
        parts.append(tables.documents_as_listing(rows))
    if common:
        parts.append(listings.common_words_as_listing(common))
    if edits:
        parts.append(listings.edits_as_listing(edits))
    if style is Style.markdown:
        below = [markdown_escaped(sentence) for sentence in tables.notes_of(rows)]
        table = tables.side_by_side_as_markdown(rows, ranking, names)
        say("\n\n".join([table, *below, *(part.markdown() for part in parts)]))
        return
    if style is Style.paper:
        tables.print_side_by_side(rows, ranking, names)
    else:
        tables.print_topics(rows, ranking, names)
    for part in parts:
        tables.print_listing(part)

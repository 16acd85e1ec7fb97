"""Options that several commands share: how to read documents, and which words to keep."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:  # the numerical modules load when a command needs them, not for --help
    from ..corpus.corpus import Corpus
    from ..estimator import AnchorTopicModel

READING, WORDS = "Reading documents", "Choosing words"

Source = Annotated[
    str,
    typer.Argument(
        help="Text (one document a line), folder of text files, .csv, .tsv, .jsonl, .parquet, UCI docword file, .mtx, "
        ".npz, .npy, or a corpus folder; - is standard input, one document a line."
    ),
]
Topics = Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed; topics do not depend on it beyond rounding.")]


def _not_zero(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("must not be 0")
    return jobs


Jobs = Annotated[int | None, typer.Option(callback=_not_zero, help="Threads; all cores by default.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]


class Format(StrEnum):
    """Formats by name, as in anchorwords.corpus.formats."""

    auto = "auto"
    text = "text"
    folder = "folder"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    baskets = "baskets"
    uci = "uci"
    mtx = "mtx"
    npz = "npz"
    npy = "npy"
    corpus = "corpus"


def _reading(
    format: Annotated[Format, typer.Option(help="Force a format.", rich_help_panel=READING)] = Format.auto,  # noqa: A002
    text_column: Annotated[
        str | None, typer.Option(help="Column of text or tokens, by name or number from 1.", rich_help_panel=READING)
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column of the documents' names.", rich_help_panel=READING)
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a table names the columns; by default if a column is called by name.",
            rich_help_panel=READING,
        ),
    ] = None,
    pattern: Annotated[
        str | None, typer.Option(help="Files of a folder, '*.txt' by default.", rich_help_panel=READING)
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            help="Between columns (a comma in CSV, a tab in TSV by default) or the items of baskets (a tab).",
            rich_help_panel=READING,
        ),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            help="File of words, one a line: the only ones to count, or the columns of a matrix.",
            rich_help_panel=READING,
        ),
    ] = None,
    keep_case: Annotated[bool, typer.Option("--keep-case", help="No lower-casing.", rich_help_panel=READING)] = False,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Words may do without a letter.", rich_help_panel=READING)
    ] = False,
    min_length: Annotated[int, typer.Option(min=1, help="Characters of a word.", rich_help_panel=READING)] = 2,
    ngrams: Annotated[
        int, typer.Option(min=1, max=8, help="Up to so many consecutive words count as one.", rich_help_panel=READING)
    ] = 1,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Function from a text to its words, as module:function.", rich_help_panel=READING),
    ] = None,
) -> dict[str, Any]:
    """The arguments of read_corpus."""
    return {
        "format": format.value, "text_column": text_column, "id_column": id_column, "header": header,
        "pattern": pattern, "separator": separator and separator.replace("\\t", "\t"), "vocabulary": vocabulary,
        "lowercase": not keep_case, "numbers": numbers, "min_length": min_length, "ngrams": (1, ngrams),
        "tokenizer": None if tokenizer is None else imported(tokenizer),
    }  # fmt: skip


def _choosing(
    stop_words: Annotated[
        str | None,
        typer.Option(
            help="Language (english, german, ...), file with one word a line, or none; english for text by default.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    min_df: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Fewest documents of a word; for text by default a fifth of the square root of their number, at least 5.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    max_df: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Largest share of documents of a word; 0.5 for text by default.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    n_words: Annotated[
        int | None,
        typer.Option(
            min=1, help="Keep so many words, best by tf-idf; 50,000 for text by default.", rich_help_panel=WORDS
        ),
    ] = None,
    keep_word: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Keep this word whatever the rule says; may be given several times.",
            rich_help_panel=WORDS,
        ),
    ] = None,
) -> dict[str, Any]:
    """What the user says about the vocabulary; None where nothing."""
    return {
        "stop_words": stop_words, "min_df": min_df, "max_df": max_df, "n_words": n_words,
        "keep_words": tuple(keep_word) if keep_word else None,
    }  # fmt: skip


def gathered(name: str, group: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: a command takes the options of a group, and is called with them gathered in one argument."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command)
        hints = get_type_hints(group, include_extras=True)
        options = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name])
            for parameter in inspect.signature(group).parameters.values()
        ]
        typed = get_type_hints(command, include_extras=True)
        rest = [p.replace(annotation=typed[p.name]) for p in own.parameters.values() if p.name != name]

        @wraps(command)
        def wrapper(*arguments: Any, **given: Any) -> None:
            together = group(**{option.name: given.pop(option.name) for option in options})
            command(*arguments, **given, **{name: together})

        ordered = sorted([*rest, *options], key=lambda parameter: parameter.kind)
        wrapper.__signature__ = own.replace(parameters=ordered)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
        return wrapper

    return decorate


# What may be said of a corpus, which has been read already.
_PLAIN = {
    "format": "auto", "lowercase": True, "numbers": False, "min_length": 2, "ngrams": (1, 1),
}  # fmt: skip

with_reading = gathered("reading", _reading)
with_choosing = gathered("choosing", _choosing)


def imported(name: str) -> Any:
    """The function that ``module:function`` names."""
    from importlib import import_module

    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise typer.BadParameter(f"--tokenizer must be module:function, but is {name!r}")
    sys.path.insert(0, "")  # a module of the user's own, in the current folder
    try:
        found = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise typer.BadParameter(f"--tokenizer {name} cannot be loaded ({error})") from None
    finally:
        sys.path.remove("")
    return found


def given_options(reading: dict[str, Any]) -> list[str]:
    """Options of reading that are not what they are when nothing is said, as they are called on the command line."""
    names = [name for name, value in reading.items() if value != _PLAIN.get(name)]
    return ["--keep-case" if name == "lowercase" else f"--{name.replace('_', '-')}" for name in names]


@contextmanager
def opened(source: str, reading: dict[str, Any], quiet: bool, jobs: int | None = None) -> Iterator[Corpus]:
    """A corpus of any size: a corpus folder as it is, anything else read into a folder that is gone afterwards."""
    from .. import import_corpus, open_corpus
    from ..corpus.stored import is_corpus_folder
    from ..storage.folders import scratch_folder
    from .console import reading_progress

    if source != "-" and reading["format"] in ("auto", "corpus") and is_corpus_folder(Path(source)):
        given = given_options(reading)
        if given:
            raise typer.BadParameter(
                f"{source} is a corpus, whose words are counted already: {', '.join(given)} belongs to its import"
            )
        yield open_corpus(source)
        return
    with scratch_folder() as folder:
        with reading_progress(quiet) as progress:
            documents, options = readable(source, reading)
            corpus = import_corpus(documents, folder / "corpus", **options, n_jobs=jobs, progress=progress)
        yield corpus


def as_fitted(
    fitted: AnchorTopicModel, source: str, reading: dict[str, Any], *, every_word: bool = False
) -> dict[str, Any]:
    """For text the rule by which that of the fit was split, and its words; other sources have words of their own.

    With ``every_word`` the model's words are counted among all others, so that these can be told of.
    """
    from ..corpus.counting import TextRule
    from ..corpus.formats import TEXT_FORMATS, format_of

    record = getattr(fitted, "text_rule_", None)
    is_text = source == "-" or format_of(source, reading["format"], reading["pattern"]) in TEXT_FORMATS
    if record is None or not is_text:
        return reading
    decided = {name: value for name, value in reading.items() if name in record or name == "vocabulary"}
    if given := [name for name in given_options(decided) if name != "--tokenizer"]:
        raise typer.BadParameter(
            f"{', '.join(given)}: text is split into words as it was for the fit, which the model knows"
        )
    rule = TextRule.from_dict(record, reading["tokenizer"])
    own = {name: getattr(rule, name) for name in record if name != "vocabulary"}
    return reading | own | {"vocabulary": None if every_word else fitted.model_.vocabulary}


def readable(source: str, reading: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What to read and how: ``-`` is standard input."""
    if source != "-":
        return Path(source), reading
    if reading["format"] not in ("auto", "text"):
        raise typer.BadParameter("standard input is read as text, one document a line: give a file for other formats")
    return _standard_input(), reading | {"format": "auto"}


def _standard_input() -> Iterator[str]:
    from ..corpus.files import decoded
    from ..exceptions import CorpusFormatError

    number = 0
    for number, line in enumerate(sys.stdin.buffer, start=1):
        yield decoded("standard input", line, number).rstrip("\r\n")
    if number == 0:
        raise CorpusFormatError("standard input holds no documents.")


def stop_words_for_phrases(reading: dict[str, Any], choosing: dict[str, Any]) -> dict[str, Any]:
    """Phrases are made of what is left without stop words, so these must go while documents are read."""
    name = choosing["stop_words"] or "english"
    return {"stop_words": None if reading["ngrams"] == (1, 1) or name == "none" else name}

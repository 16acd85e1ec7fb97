"""Options that several commands share: how to read documents, and which words to keep.

They become arguments of the public functions; what the defaults are, the library decides.
"""

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
    from ..corpus.vocabulary_rule import VocabularyRule
    from ..estimator import AnchorTopicModel

READING, WORDS = "Reading documents", "Choosing words"


def _named(source: str) -> str:
    if not source:  # as a path it would be the current folder
        raise typer.BadParameter("is empty: name a file or a folder, or - for standard input")
    return source


Source = Annotated[
    str,
    typer.Argument(
        callback=_named,
        help="Text (one document per line), folder of text files, .csv, .tsv, .jsonl, .parquet, UCI docword file, .mtx, "
        ".npz, .npy, or a corpus folder; - is standard input, one document per line.",
    ),
]
Topics = Annotated[int, typer.Option("--topics", "-k", min=1, help="Number of topics.")]
Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Random seed; topics do not depend on it beyond rounding.")
]


AnySeed = Annotated[
    int | None, typer.Option(min=0, max=2**32 - 1, help="Random seed; topics do not depend on it beyond rounding.")
]


def _not_zero(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("must not be 0")
    return jobs


Jobs = Annotated[int | None, typer.Option(callback=_not_zero, help="Threads; all cores by default.")]
Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet",
        help="Write an apostrophe before names in a .csv or .tsv table that a spreadsheet would compute as formulas.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no remarks.")]


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
    id_column: Annotated[str | None, typer.Option(help="Column of document ids.", rich_help_panel=READING)] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a table names the columns. Default: yes if a column is given by name.",
            rich_help_panel=READING,
        ),
    ] = None,
    pattern: Annotated[
        str | None, typer.Option(help="Files of a folder to read; '*.txt' by default.", rich_help_panel=READING)
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            help="Separator of columns (default: a comma in CSV, a tab in TSV) or of the items of baskets (a tab).",
            rich_help_panel=READING,
        ),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            help="File with one word per line: the only words to count, or the columns of a matrix.",
            rich_help_panel=READING,
        ),
    ] = None,
    keep_case: Annotated[
        bool, typer.Option("--keep-case", help="Do not convert text to lower case.", rich_help_panel=READING)
    ] = False,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Also count tokens that contain no letters.", rich_help_panel=READING)
    ] = False,
    min_length: Annotated[int, typer.Option(min=1, help="Fewest characters of a word.", rich_help_panel=READING)] = 2,
    ngrams: Annotated[
        int, typer.Option(min=1, max=8, help="Count n-grams of up to N words.", rich_help_panel=READING)
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
            help="Words to remove: a language (english, german, ...), a file with one word per line, or none. Default: "
            "english for text.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    min_df: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Fewest documents of a word. Default for text: a fifth of the square root of their number, at least 5.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    max_df: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Largest share of documents in which a word may occur. Default for text: 0.5.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    n_words: Annotated[
        int | None,
        typer.Option(
            min=1, help="Keep this many words, the best by tf-idf. Default for text: 50,000.", rich_help_panel=WORDS
        ),
    ] = None,
    keep_word: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Keep this word regardless of the other options; may be repeated.",
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
    return [_option(name) for name, value in reading.items() if value != _PLAIN.get(name)]


def _option(name: str) -> str:
    return "--keep-case" if name == "lowercase" else f"--{name.replace('_', '-')}"


@contextmanager
def opened(
    source: str,
    reading: dict[str, Any],
    quiet: bool,
    jobs: int | None = None,
    *,
    like: AnchorTopicModel | None = None,
    every_word: bool = False,
) -> Iterator[Corpus]:
    """Yield a corpus of any size: a corpus folder itself, anything else read into a temporary folder.

    With ``like`` and ``every_word`` text is read as :func:`anchorwords.read_corpus` does with them.
    """
    from .. import import_corpus, open_corpus
    from ..corpus.read import contradicting_options
    from ..corpus.stored import is_corpus_folder
    from ..storage.writing import scratch_folder
    from .console import reading_progress

    if source != "-" and reading["format"] in ("auto", "corpus") and is_corpus_folder(Path(source)):
        given = given_options(reading)
        if given:
            raise typer.BadParameter(
                f"{source} is a corpus, whose words are counted already: {', '.join(given)} belongs to its import"
            )
        yield open_corpus(source)
        return
    documents, options = readable(source, reading)
    options |= {"like": like, "every_word": every_word}
    if like is not None and (given := contradicting_options(documents, **options)):
        raise typer.BadParameter(
            f"{', '.join(map(_option, given))}: text is split into words as it was for the fit, which the model knows"
        )
    with scratch_folder() as folder:
        with reading_progress(quiet) as progress:
            corpus = import_corpus(documents, folder / "corpus", **options, n_jobs=jobs, progress=progress)
        yield corpus


def readable(source: str, reading: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What to read and how: ``-`` is standard input."""
    if source != "-":
        return source, reading  # not a Path: that of an empty string is the current folder
    if reading["format"] not in ("auto", "text"):
        raise typer.BadParameter("standard input is read as text, one document a line: give a file for other formats")
    return _standard_input(), reading | {"format": "auto"}


def _standard_input() -> Iterator[str]:
    from ..corpus.files import stream_lines
    from ..exceptions import CorpusFormatError

    number = 0
    if sys.stdin is not None:  # it is None in a process without one
        for number, line in stream_lines(sys.stdin.buffer, "standard input"):  # noqa: B007
            yield line
    if number == 0:
        raise CorpusFormatError("standard input holds no documents.")


def with_stop_words(reading: dict[str, Any], choosing: dict[str, Any]) -> dict[str, Any]:
    """The arguments of reading, with the stop words that n-grams must not contain."""
    from ..corpus.vocabulary_rule import stop_words_in_ngrams

    said = {} if choosing["stop_words"] is None else {"stop_words": _stop_words(choosing["stop_words"])}
    return reading | {"stop_words": stop_words_in_ngrams(reading["ngrams"], **said)}


def chosen(choosing: dict[str, Any]) -> dict[str, Any]:
    """What the user says about the vocabulary, as arguments of Corpus.prune."""
    given = {name: value for name, value in choosing.items() if value is not None}
    return given | ({"stop_words": _stop_words(given["stop_words"])} if "stop_words" in given else {})


def _stop_words(name: str) -> str | None:
    return None if name == "none" else name


def rule_as_json(rule: VocabularyRule) -> dict[str, Any]:
    """The part of a rule that the options of choosing words decide."""
    said = rule.to_dict()
    return {name: said[name] for name in ("stop_words", "min_df", "max_df", "n_words")} | (
        {"keep_words": said["keep_words"]} if rule.keep_words else {}
    )


def pruned_by(corpus: Corpus, choosing: dict[str, Any], quiet: bool) -> Corpus:
    """The corpus without what the vocabulary rule removes, which is reported."""
    from ..corpus.vocabulary_rule import VocabularyRule
    from .console import remark

    rule = VocabularyRule.for_corpus(corpus, **chosen(choosing))
    pruned = corpus.prune(rule=rule)
    if corpus.text_rule is not None or chosen(choosing):
        assert pruned.dropped is not None
        remark(f"vocabulary: {rule.sentence(corpus.n_docs)}", quiet)
        remark(pruned.dropped.sentence(pruned.n_docs, pruned.n_words, rule), quiet)
    return pruned

"""Options that several commands share: how to read documents, and which words to keep.

They become arguments of the public functions; what the defaults are, the library decides.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
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
    from ..model import TopicModel
    from ..text_vectorizer import TextVectorizer

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


def _named_device(device: str | None) -> str | None:
    if device is not None:
        from ..devices import check_device
        from ..exceptions import InputError

        try:
            return check_device(device)
        except InputError:
            raise typer.BadParameter(f"must be cpu, cuda, or cuda:1 and so on, but is {device!r}") from None
    return device


Device = Annotated[
    str | None,
    typer.Option(
        callback=_named_device,
        metavar="cpu|cuda|cuda:N",
        help="Device to compute on: cpu, or an NVIDIA GPU (cuda, or cuda:1 for the second), which needs "
        "pip install 'anchorwords[gpu]'. Default: cpu.",
    ),
]
Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet",
        help="Write an apostrophe before text in a .csv or .tsv table that a spreadsheet would compute as formulas.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
TopicIds = Annotated[
    str | None, typer.Option("--topics", metavar="IDS", help="Ids of the topics to show, such as 3,5; all by default.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no remarks.")]


StopWords = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LANGUAGE|FILE|WORD",
        help="Words to remove: a language (english, german, ...), a file with one word per line, a word, or none. May be "
        "repeated: all of them are removed. Default: english for text.",
        rich_help_panel=WORDS,
    ),
]


def parsed_ids(text: str) -> list[int]:
    """Ids of topics as they were typed, or BadParameter."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--topics must be ids such as 3,5, but is {text}") from None


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


class Kept(StrEnum):
    """Kinds of text that are removed or repaired unless they are to be kept, as in anchorwords.Cleaning."""

    urls = "urls"
    emails = "emails"
    html = "html"
    mentions = "mentions"
    hyphenation = "hyphenation"
    pdf = "pdf"
    all = "all"


def _one_or_several(values: list[str] | None) -> str | list[str] | None:
    return None if not values else values[0] if len(values) == 1 else values


def _columns(values: list[str] | None) -> str | list[str] | None:
    names = [name for value in values or () for part in value.split(",") if (name := part.strip())]
    if values and not names:
        raise typer.BadParameter("--columns must name columns, but is empty")
    return "all" if names == ["all"] else (names or None)


def _separators(values: list[str] | None) -> dict[str, str] | None:
    if not values:
        return None
    found = {}
    for value in values:
        name, _, separator = value.rpartition("=") if not value.endswith("==") else (value[:-2], "", "=")
        if not name or not separator:
            raise typer.BadParameter(f"--list-column must be COLUMN=SEPARATOR, such as 'tags=;', but is {value!r}")
        found[name] = separator.replace("\\t", "\t")
    return found


def _cleaning(keep: list[Kept] | None, drop_hashtags: bool) -> Any:
    """What to clean, as read_corpus takes it; True, the default, if nothing is said."""
    if not keep and not drop_hashtags:
        return True
    from ..corpus.cleaning import Cleaning

    kinds = [one.value for one in keep or ()]
    if "all" in kinds:
        kinds = [one.value for one in Kept if one is not Kept.all]
    return Cleaning(**dict.fromkeys(kinds, False), hashtags=drop_hashtags)


def _reading(
    format: Annotated[Format, typer.Option(help="Force a format.", rich_help_panel=READING)] = Format.auto,  # noqa: A002
    text_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of text or tokens, by name or number from 1. May be repeated: several columns are joined.",
            rich_help_panel=READING,
        ),
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of document ids.", rich_help_panel=READING)
    ] = None,
    title_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Column whose values name documents in tables and pages.", rich_help_panel=READING
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN[,COLUMN...]",
            help="Columns to keep with the documents, such as dates and labels; all keeps every column. May be repeated.",
            rich_help_panel=READING,
        ),
    ] = None,
    list_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=SEPARATOR",
            help="Keep a column and split its texts into lists, such as 'tags=;'. May be repeated.",
            rich_help_panel=READING,
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table (.csv, .tsv, .jsonl, .parquet) with a row for each document of a source without columns, such as "
            "counts; all of its columns are kept unless --columns names some.",
            rich_help_panel=READING,
        ),
    ] = None,
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
    phrases: Annotated[
        bool,
        typer.Option(
            "--phrases",
            help="Count phrases, pairs of words that occur together far more often than by chance, as one word.",
            rich_help_panel=READING,
        ),
    ] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Function from a text to its words, as module:function.", rich_help_panel=READING),
    ] = None,
    keep: Annotated[
        list[Kept] | None,
        typer.Option(
            help="Do not remove or repair this kind of text: web addresses (urls), e-mail addresses, HTML tags, names that "
            "begin with @ (mentions), words divided at line ends (hyphenation), remains of PDF files (pdf), or all of "
            "these. May be repeated.",
            rich_help_panel=READING,
        ),
    ] = None,
    drop_hashtags: Annotated[
        bool,
        typer.Option(
            "--drop-hashtags", help="Remove words that begin with # instead of counting them.", rich_help_panel=READING
        ),
    ] = False,
) -> dict[str, Any]:
    """The arguments of read_corpus."""
    return {
        "format": format.value, "text_column": _one_or_several(text_column), "id_column": id_column,
        "title_column": title_column, "columns": _columns(columns), "list_columns": _separators(list_column),
        "table": table,
        "header": header, "cleaning": _cleaning(keep, drop_hashtags), "phrases": phrases,
        "pattern": pattern, "separator": separator and separator.replace("\\t", "\t"), "vocabulary": vocabulary,
        "lowercase": not keep_case, "numbers": numbers, "min_length": min_length, "ngrams": (1, ngrams),
        "tokenizer": None if tokenizer is None else imported(tokenizer),
    }  # fmt: skip


def _choosing(
    stop_words: StopWords = None,
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
            help="Keep this word regardless of the other options. May be repeated.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    min_tokens: Annotated[
        int | None,
        typer.Option(
            min=0, help="Fewest tokens of a document that topics are learned from. Default: 5.", rich_help_panel=WORDS
        ),
    ] = None,
    drop_duplicates: Annotated[
        bool,
        typer.Option(
            "--drop-duplicates",
            help="Learn from the first of several documents that are the same or nearly so (90% of their words).",
            rich_help_panel=WORDS,
        ),
    ] = False,
) -> dict[str, Any]:
    """What the user says about the vocabulary; None where nothing."""
    return {
        "stop_words": stop_words or None, "min_df": min_df, "max_df": max_df, "n_words": n_words,
        "keep_words": tuple(keep_word) if keep_word else None, "min_tokens": min_tokens,
        "drop_duplicates": drop_duplicates or None,
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
    "format": "auto", "lowercase": True, "numbers": False, "min_length": 2, "ngrams": (1, 1), "cleaning": True,
    "phrases": False,
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


def given_arguments(context: typer.Context, except_for: Collection[str] = ()) -> list[str]:
    """Options as they were typed, to be typed again for another command; arguments that are not options are left out."""
    typed: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        value: Any = context.params.get(name)
        on_command_line = getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        if parameter.param_type_name != "option" or name in except_for or not on_command_line:
            continue
        flag = max(parameter.opts, key=len)
        if getattr(parameter, "is_flag", False):
            typed.append(flag if value else parameter.secondary_opts[0])
            continue
        for one in value if getattr(parameter, "multiple", False) else [value]:
            typed += [flag, str(getattr(one, "value", one))]
    return typed


def _option(name: str) -> str:
    spelled = {
        "lowercase": "--keep-case", "cleaning": "--keep", "list_columns": "--list-column", "keep_words": "--keep-word",
    }  # fmt: skip
    return spelled.get(name, f"--{name.replace('_', '-')}")


def loaded(path: Path, source: str | None = None, quiet: bool = True) -> AnchorTopicModel:
    """The estimator of a model folder, which takes counts: documents are read by :func:`opened`.

    The kernels that documents from ``source`` need are compiled meanwhile, as by :func:`prepare`.
    """
    if source is not None:
        prepare(path, source, quiet)
    from .. import load_model

    model: Any = load_model(path)
    return getattr(model, "estimator_", model)


def require_device(device: str | None, quiet: bool) -> None:
    """Say which GPU is used, or raise InputError if there is none: before documents are read, which takes longer."""
    if device is not None:
        from ..devices import described, on_gpu, prototype
        from .console import remark

        found = prototype(device)
        if on_gpu(found):
            remark(f"device: {described(found)}", quiet)


def prepare(path: Path, source: str, quiet: bool) -> None:
    """Start to compile what topic proportions of documents need, unless it is compiled."""
    if path.exists() and _may_be_read(source):
        from ..kernels.ahead import INFERENCE, READING
        from .compiling import compile_ahead

        compile_ahead(*READING, *INFERENCE, quiet=quiet)


def record_of(path: Path) -> TopicModel:
    """The topics of a model folder, for what needs no documents: scikit-learn and the kernels stay where they are."""
    from ..storage.model_folder import read_model

    return read_model(path)


@contextmanager
def opened(
    source: str,
    reading: dict[str, Any],
    quiet: bool,
    jobs: int | None = None,
    *,
    like: AnchorTopicModel | None = None,
    every_word: bool = False,
    column: str | Sequence[str] = (),
) -> Iterator[Corpus]:
    """Yield a corpus of any size: a corpus folder itself, anything else read into a temporary folder.

    With ``like`` and ``every_word`` text is read as :func:`anchorwords.read_corpus` does with them. ``column``, or each
    of several, is kept with the documents, also if the user has not named it among the columns.
    """
    from .. import import_corpus, open_corpus
    from ..corpus.reading_options import contradicting_options
    from ..corpus.stored import is_corpus_folder
    from ..kernels.ahead import INFERENCE, LEARNING, READING
    from ..storage.writing import scratch_folder
    from .compiling import await_kernels, compile_ahead
    from .console import reading_progress

    if _may_be_read(source):
        read = () if is_corpus_folder(Path(source)) else READING
        compile_ahead(*read, *(LEARNING if like is None else INFERENCE), quiet=quiet)
    await_kernels(quiet, READING)
    if source != "-" and reading["format"] in ("auto", "corpus") and is_corpus_folder(Path(source)):
        given = given_options(reading)
        if given:
            raise typer.BadParameter(
                f"{source} is a corpus, whose words are counted already: {', '.join(given)} belongs to its import"
            )
        stored = open_corpus(source)
        await_kernels(quiet)
        yield stored
        return
    documents, options = readable(source, reading)
    options |= {"like": like, "every_word": every_word}
    kept = options["columns"]
    needed = [column] if isinstance(column, str) else column
    if kept != "all" and (
        more := [one for one in needed if one not in (*(kept or ()), *(options["list_columns"] or ()))]
    ):
        options["columns"] = [*(kept or ()), *more]
    if like is not None and (given := contradicting_options(documents, **options)):
        raise typer.BadParameter(
            f"{', '.join(map(_option, given))}: text is split into words as it was for the fit, which the model knows"
        )
    with scratch_folder() as folder:
        with reading_progress(quiet) as progress:
            corpus = import_corpus(documents, folder / "corpus", **options, n_jobs=jobs, progress=progress)
        await_kernels(quiet)  # reading has gone on beside those that it does without
        yield corpus


def _may_be_read(source: str) -> bool:
    """Whether it is worth while to prepare for reading; what is not there is reported by those who read."""
    return source == "-" or Path(source).exists()


def readable(source: str, reading: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What to read and how: ``-`` is standard input."""
    if source != "-":
        return source, dict(reading)  # not a Path: that of an empty string is the current folder
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

    said = {} if choosing["stop_words"] is None else {"stop_words": stop_words_of(choosing["stop_words"])}
    stop_words = stop_words_in_ngrams(reading["ngrams"], **said, phrases=reading["phrases"])
    return reading | {"stop_words": stop_words}


def chosen(choosing: dict[str, Any]) -> dict[str, Any]:
    """What the user says about the vocabulary, as arguments of Corpus.prune."""
    given = {name: value for name, value in choosing.items() if value is not None}
    return given | ({"stop_words": stop_words_of(given["stop_words"])} if "stop_words" in given else {})


def stop_words_of(values: list[str]) -> Any:
    """The stop words as read_corpus and prune take them, or BadParameter."""
    from difflib import get_close_matches

    from ..corpus.stopwords import LANGUAGES

    if "none" in values:
        if len(values) > 1:
            raise typer.BadParameter(
                "--stop-words none removes no words, but others are named too: give one or the other"
            )
        return None
    entries: list[Any] = []
    values = [part for value in values for part in ([value] if Path(value).is_file() else value.split(",")) if part]
    for value in values:
        is_file = value not in LANGUAGES and Path(value).is_file()
        if not is_file and (os.sep in value or Path(value).suffix):
            raise typer.BadParameter(f"--stop-words {value} does not exist: name a file, a language or a word")
        if not is_file and value not in LANGUAGES and (meant := get_close_matches(value.lower(), LANGUAGES, 1, 0.8)):
            raise typer.BadParameter(
                f"--stop-words {value}: did you mean {meant[0]}? To remove the word itself, put it in a file"
            )
        entries.append(Path(value) if is_file else value)
    return entries[0] if len(entries) == 1 and values[0] in LANGUAGES else entries


def rule_as_json(rule: VocabularyRule) -> dict[str, Any]:
    """The part of a rule that the options of choosing words decide."""
    said = rule.to_dict()
    if isinstance(said["stop_words"], list):
        said["stop_words"] = [*rule.languages, *rule.given_stop_words]
    return {name: said[name] for name in ("stop_words", "min_df", "max_df", "n_words")} | (
        {"keep_words": said["keep_words"]} if rule.keep_words else {}
    )


def vectorizer_of(reading: dict[str, Any], choosing: dict[str, Any]) -> TextVectorizer:
    """The vectoriser that reads and chooses words as these options say."""
    from ..text_vectorizer import TextVectorizer

    known = TextVectorizer._get_param_names()
    return TextVectorizer(**{name: value for name, value in reading.items() if name in known} | chosen(choosing))


def pruned_by(corpus: Corpus, vectorizer: TextVectorizer, quiet: bool) -> Corpus:
    """The corpus without what the vocabulary rule removes, which is reported."""
    from .console import remark, remark_on_duplicates

    pruned = vectorizer.choose_words(corpus)
    if vectorizer.duplicates_ is not None:
        remark_on_duplicates(vectorizer.duplicates_, quiet, dropped=True)
    elif not quiet:
        remark_on_duplicates(corpus.duplicates(), quiet)
    if pruned is corpus:
        remark("vocabulary: as it was chosen when the corpus was made", quiet)
    elif corpus.text_rule is not None or vectorizer.says_how_to_choose:
        assert pruned.dropped is not None
        assert pruned.vocabulary_rule is not None
        repeated = vectorizer.duplicates_
        n_docs = corpus.n_docs - (0 if repeated is None else repeated.n_repeats)
        remark(f"vocabulary: {pruned.vocabulary_rule.sentence(n_docs)}", quiet)
        remark(pruned.dropped.sentence(pruned.n_docs, pruned.n_words, pruned.vocabulary_rule), quiet)
    return pruned

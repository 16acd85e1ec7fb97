"""The arguments of :func:`anchorwords.read_corpus`, checked: which columns to read, and how to split text."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from .._validation import check_n_jobs
from ..exceptions import InputError
from .files import short
from .formats import TEXT_FORMATS, format_of
from .like import Reading, reading_of
from .readers import as_id
from .selection import ColumnChoice, checked_choice
from .text_rule import TextRule
from .uci import read_words

# Called with the number of documents read and the share of the source, None if it is unknown.
ReadProgress: TypeAlias = Callable[[int, float | None], None]


_SPLITTING = frozenset(inspect.signature(TextRule.checked).parameters)


class ReadingOptions(NamedTuple):
    """The arguments of :func:`read_corpus`."""

    format: str
    vocabulary: Any
    choice: ColumnChoice
    table: Any
    header: bool | None
    pattern: str | None
    separator: str | None
    rule: TextRule
    like: Any
    every_word: bool
    n_jobs: int | None
    progress: ReadProgress | None
    verbose: int


def reading_options(
    *,
    format: str = "auto",  # noqa: A002
    vocabulary: Any = None,
    text_column: Any = None,
    id_column: Any = None,
    columns: Any = None,
    title_column: Any = None,
    list_columns: Any = None,
    table: Any = None,
    header: bool | None = None,
    pattern: str | None = None,
    separator: str | None = None,
    like: Any = None,
    every_word: bool = False,
    n_jobs: int | None = None,
    progress: ReadProgress | None = None,
    verbose: int = 0,
    **rule: Any,
) -> ReadingOptions:
    """Return the arguments of :func:`read_corpus`, checked."""
    for name in rule.keys() - _SPLITTING:
        raise InputError(f"read_corpus has no argument {short(name)}: see its documentation.")
    choice = checked_choice(text_column, id_column, columns, title_column, list_columns)
    for name, value in (("pattern", pattern), ("separator", separator)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be a text, but is {short(value)}.")
    if separator is not None and not separator:
        raise InputError("separator must be at least one character, but is empty.")
    if every_word and like is None:
        raise InputError("every_word adds to the words of a model, but there is none: give the model as like.")
    return ReadingOptions(
        format, vocabulary, choice, table, header, pattern, separator, TextRule.checked(**rule), like, every_word,
        check_n_jobs(n_jobs), progress, verbose,
    )  # fmt: skip


class Splitting(NamedTuple):
    """How text is split.

    Attributes
    ----------
    rule : TextRule
    words : sequence of str or None
        The words that come first; None counts all.
    others : bool
        Whether further words follow these.
    refuses_text : bool
        Whether documents must be lists of tokens, as those of the model were.
    """

    rule: TextRule
    words: Sequence[str] | None
    others: bool
    refuses_text: bool = False


def splitting_of(kind: str, options: ReadingOptions) -> Splitting:
    """Return the options of splitting text, or those of the model that documents are to be read like."""
    known = _known_reading(kind, options)
    if known is None:
        refuses_text = options.like is not None and reading_of(options.like).tokenized
        return Splitting(options.rule, words_of(options.vocabulary), False, refuses_text)
    if given := _given(options, known):
        raise InputError(
            f"text is split as it was for the model given as like, but {', '.join(given)} "
            f"{'is' if len(given) == 1 else 'are'} given too: leave one of them out."
        )
    assert known.rule is not None
    rule = known.rule.with_tokenizer(options.rule.tokenizer)  # type: ignore[arg-type]
    return Splitting(rule.counting_only(None), known.words, options.every_word)


def contradicting_options(source: Any, **reading: Any) -> list[str]:
    """Return the names of arguments of :func:`read_corpus` that contradict its ``like``."""
    options = reading_options(**reading)
    known = _known_reading(format_of(source, options.format, options.pattern), options)
    return [] if known is None else _given(options, known)


def _known_reading(kind: str, options: ReadingOptions) -> Reading | None:
    """How the documents of ``like`` were read, if this source is text and they were text."""
    known = None if options.like is None else reading_of(options.like)
    return known if known is not None and known.is_known and kind in (*TEXT_FORMATS, "frame", "iterable") else None


def _given(options: ReadingOptions, known: Reading) -> list[str]:
    """Names of the options that say how to split text, which the model knows; its tokenizer may be given again."""
    assert known.rule is not None
    others = {
        "tokenizer": options.rule.tokenizer is not None and known.rule.tokenizer is None,
        "vocabulary": options.vocabulary is not None,
    }
    return [*options.rule.changed_options(), *(name for name, is_given in others.items() if is_given)]


def words_of(vocabulary: Any) -> list[str] | None:
    """Return the words of the argument ``vocabulary``; a file has one word per line."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, (str, os.PathLike)):
        return read_words(Path(vocabulary))
    if not isinstance(vocabulary, Iterable):
        raise InputError(f"vocabulary must be a file or a sequence of words, but is {short(vocabulary)}.")
    return [as_id(word, "vocabulary") for word in vocabulary]

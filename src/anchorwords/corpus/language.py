"""The language of documents, by their stop words: noticed when the stop words that are removed do not fit it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy.typing as npt

from ..exceptions import TextWarning
from .stopwords import LANGUAGES, stop_words
from .text_rule import TextRule
from .vocabulary_rule import VocabularyRule

# Share of tokens that are stop words of another language from which on it is said. In running text of any of our languages
# its own stop words are a third of the tokens or more, and those that no other list has at least a tenth.
_NOTICED = 0.1


def other_language(
    vocabulary: Sequence[str], term_frequencies: npt.NDArray[Any], removed: Collection[str]
) -> tuple[str, float] | None:
    """Return the language whose stop words stay in largest number, and their share of the tokens; None if it is small.

    Parameters
    ----------
    vocabulary : sequence of str
    term_frequencies : (N,) array
        Tokens of each word.
    removed : collection of str
        Words that are removed, of whatever language.
    """
    total = float(term_frequencies.sum())
    if total == 0.0:
        return None
    remaining = {name: stop_words(name).difference(removed) for name in LANGUAGES}
    wanted = frozenset().union(*remaining.values())
    counts = {word: float(term_frequencies[column]) for column, word in enumerate(vocabulary) if word in wanted}
    shares = {name: sum(counts.get(word, 0.0) for word in words) / total for name, words in remaining.items()}
    name = max(shares, key=lambda one: shares[one])
    return (name, shares[name]) if shares[name] >= _NOTICED else None


def warn_of_language(
    vocabulary: Sequence[str],
    term_frequencies: npt.NDArray[Any],
    rule: VocabularyRule,
    text_rule: TextRule | None,
    *,
    stacklevel: int = 2,
) -> None:
    """Warn if the stop words of a rule do not fit the language of the text."""
    if text_rule is None or not rule.stop_set:  # without any, that is what the caller wants
        return
    remark = language_remark(vocabulary, term_frequencies, rule.stop_set | text_rule.stop_words, rule.languages)
    if remark is not None:
        warnings.warn(remark, TextWarning, stacklevel=stacklevel + 1)


def language_remark(
    vocabulary: Sequence[str], term_frequencies: npt.NDArray[Any], removed: Collection[str], languages: Sequence[str]
) -> str | None:
    """Say which stop words should be removed too; None if those that are removed fit.

    Parameters
    ----------
    vocabulary, term_frequencies, removed
        As in :func:`other_language`.
    languages : sequence of str
        Languages whose stop words are removed; empty if only words were given.
    """
    found = other_language(vocabulary, term_frequencies, removed)
    if found is None:
        return None
    name, share = found
    if not languages:
        return (
            f"{share:.0%} of the tokens are {name} stop words, which are not among the stop words given: add {name!r} to "
            f"stop_words, or --stop-words {name}."
        )
    total = float(term_frequencies.sum())
    own = sum(float(term_frequencies[column]) for column, word in enumerate(vocabulary) if word in removed) / total
    # Where the language is another one, its own stop words take the place of those removed; otherwise they come on top.
    names = [name] if own < share else [*languages, name]
    given = repr(names[0]) if len(names) == 1 else repr(names)
    options = " ".join(f"--stop-words {one}" for one in names)
    return (
        f"{share:.0%} of the tokens are {name} stop words, but {' and '.join(languages)} stop words are removed: "
        f"use stop_words={given}, or {options}."
    )

"""Words that a user names and that are not there: say so, with what may have been meant."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Container, Iterable, Sequence

from ..exceptions import UnknownWordWarning

# Number of missing words for which close matches are looked up, each in a pass over the vocabulary.
_EXPLAINED = 10
# Shortest text that is looked up within other words.
_LEAST_PART = 3


def close_matches(word: str, vocabulary: Iterable[str]) -> list[str]:
    """Up to three words that are spelled like this one, or else the shortest that contain it; case is ignored."""
    known: dict[str, str] = {}
    for other in vocabulary:
        known.setdefault(other.casefold(), other)
    folded = word.casefold()
    matches = difflib.get_close_matches(folded, known)
    if not matches and len(folded) >= _LEAST_PART:
        matches = sorted((other for other in known if folded in other), key=lambda other: (len(other), other))[:3]
    return [known[match] for match in matches]


def warn_of_missing(
    words: Sequence[str],
    vocabulary: Sequence[str],
    what: str,
    *,
    stop_words: Container[str] = (),
    stacklevel: int = 2,
) -> None:
    """Warn of words that are not in the vocabulary: of stop words as such, of others with close matches, if any."""
    if not words:
        return
    told = [
        _stop_word(word) if word in stop_words else _told(word, close_matches(word, vocabulary))
        for word in words[:_EXPLAINED]
    ]
    if len(words) > len(told):
        told.append(f"and {len(words) - len(told)} more")
    one = len(words) == 1
    warnings.warn(
        f"{what}: {'a word is' if one else f'{len(words)} words are'} not in the vocabulary and left out: "
        f"{', '.join(told)}.",
        UnknownWordWarning,
        stacklevel=stacklevel,
    )


def warn_of_absent(words: Sequence[str], what: str, *, stacklevel: int = 2) -> None:
    """Warn of words that are in the vocabulary but in no document that counts."""
    if not words:
        return
    told = [repr(word) for word in words[:_EXPLAINED]]
    if len(words) > len(told):
        told.append(f"and {len(words) - len(told)} more")
    warnings.warn(
        f"{what}: {', '.join(told)} {'is' if len(words) == 1 else 'are'} in no document that is long enough to count, and "
        "left out.",
        UnknownWordWarning,
        stacklevel=stacklevel,
    )


def _stop_word(word: str) -> str:
    return f"{word!r} (a stop word)"


def _told(word: str, matches: list[str]) -> str:
    return f"{word!r} (did you mean {' or '.join(map(repr, matches))}?)" if matches else repr(word)

"""Text from a stranger, made harmless where it is shown: nothing in it moves a cursor or turns a line around.

Words, labels, ids and file names may hold any character. What is computed and saved keeps them as they are; what is shown
goes through this module: C0 and C1 control characters, DEL, line separators, overrides of the writing direction, other
invisible characters and lone surrogates do not get past it.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any

# Part of words in many scripts, and of emoji.
_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def printable(text: str) -> str:
    """Text in one line: spaces of any width are spaces, and U+FFFD stands for what cannot be shown."""
    return text if text.isprintable() else "".join(map(_shown, text))


def printable_lines(text: str) -> str:
    """The same for text of several lines: line feeds and tabs stay."""
    return text if text.isprintable() else "".join(char if char in "\n\t" else _shown(char) for char in text)


def _shown(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    return " " if unicodedata.category(char) == "Zs" else "\N{REPLACEMENT CHARACTER}"


def json_text(value: Any, **options: Any) -> str:
    """JSON that shows letters of every script as they are, and writes what cannot be shown as an escape sequence.

    Reading it gives back every character. ``options`` are those of ``json.dumps``.
    """
    text = json.dumps(value, ensure_ascii=False, **options)
    # The line feeds between lines are ours: json.dumps has escaped those of the strings.
    odd = {char for char in set(text) - {"\n"} if _shown(char) == "\N{REPLACEMENT CHARACTER}" != char}
    return text.translate({ord(char): json.dumps(char)[1:-1] for char in odd}) if odd else text


class PrintableException(Exception):
    """Shows its message without control characters: words, ids and file names in it may come from a stranger."""

    def __str__(self) -> str:
        return printable_lines(super().__str__())

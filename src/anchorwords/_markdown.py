"""Tables and words in Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

# ASCII punctuation, but for what stands inside words and numbers and means nothing within a line of Markdown.
_PUNCTUATION = re.compile(r"[!-$&(-+/:-@\[-`{-~]|(?<=\D)\.")

_JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] | None = None) -> str:
    """A table of cells that are Markdown already; ``right`` says which columns are flush right."""
    flush = [False] * len(columns) if right is None else right
    lines = [columns, ["---:" if one else "---" for one in flush], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def markdown_escaped(word: str) -> str:
    """A word as Markdown shows it as it is: a backslash before punctuation, which may always have one."""
    return _PUNCTUATION.sub(r"\\\g<0>", printable(word))


def printable(words: str) -> str:
    """Text whose control characters reach neither a terminal nor a page; joiners belong to words of many scripts."""
    return "".join(map(_shown, words))


def _shown(char: str) -> str:
    if char.isprintable() or char in _JOINERS:
        return char
    return " " if unicodedata.category(char) == "Zs" else "\N{REPLACEMENT CHARACTER}"


def separator_of(words: Sequence[str]) -> str:
    """What stands between words: songs and films have spaces in their names."""
    return " · " if any(" " in word for word in words) else " "

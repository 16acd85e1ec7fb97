"""Tables and words in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ._printable import printable

# ASCII punctuation, but for what stands inside words and numbers and means nothing within a line of Markdown.
_PUNCTUATION = re.compile(r"[!-$&(-+/:-@\[-`{-~]|(?<=\D)\.")


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] | None = None) -> str:
    """A table of cells that are Markdown already; ``right`` says which columns are flush right."""
    flush = [False] * len(columns) if right is None else right
    lines = [columns, ["---:" if one else "---" for one in flush], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def markdown_escaped(word: str) -> str:
    """A word as Markdown shows it as it is: a backslash before punctuation, which may always have one."""
    return _PUNCTUATION.sub(r"\\\g<0>", printable(word))


def separator_of(words: Sequence[str]) -> str:
    """What stands between words: songs and films have spaces in their names."""
    return " · " if any(" " in word for word in words) else " "

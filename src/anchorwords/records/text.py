"""Tables as plain text: aligned columns, whatever the script of the words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from .._printable import printable
from .cells import Cell
from .table import Table

# Characters of a line, which columns of words are cut to fit; and what such a column has at least.
_WIDTH = 120
_LEAST = 24
_BETWEEN = "  "
_BLOCKS = "▁▂▃▄▅▆▇█"
_ELLIPSIS = "…"


def text_of(tables: Sequence[Table]) -> str:
    """Return tables as text; those that are folded are left out."""
    return "\n\n".join(_one(table) for table in tables if not table.folded)


def spark(curve: Sequence[float]) -> str:
    """Return values from zero on as a line of blocks; a missing value is a space."""
    top = max((value for value in curve if value == value), default=0.0) or 1.0
    last = len(_BLOCKS) - 1
    return "".join(" " if value != value else _BLOCKS[round(last * max(value, 0.0) / top)] for value in curve)


def _one(table: Table) -> str:
    heads = [printable(head) for head, _, _ in table.columns]
    cells = [[_shown(cell) for cell in row] for row in table.rows]
    widths = _fitted(
        [[_width(text) for text in line] for line in [heads, *cells]], [wide for _, _, wide in table.columns]
    )
    right = [flush for _, flush, _ in table.columns]
    lines = [printable(table.caption)] if table.caption else []
    if table.columns and table.rows:
        lines += [_line(line, widths, right) for line in [heads, *cells]]
    lines += [table.cut] if table.cut else []
    return "\n".join([*lines, *(printable(note) for note in table.notes)])


def _shown(cell: Cell) -> str:
    # A hyphen before a number, as on the command line: text is copied to where a minus sign is not understood.
    return spark(cell.curve) if cell.curve else printable(cell.line).replace("\N{MINUS SIGN}", "-")


def _fitted(widths: list[list[int]], wide: list[bool]) -> list[int]:
    """Widths of the columns; those of words share what the others leave."""
    needed = [max(column) for column in zip(*widths, strict=True)]
    flexible = [place for place, own in enumerate(wide) if own]
    free = _WIDTH - len(_BETWEEN) * (len(needed) - 1) - sum(n for n, own in zip(needed, wide, strict=True) if not own)
    # The narrow ones first: what they do not need is left to the others.
    for i, place in enumerate(sorted(flexible, key=needed.__getitem__)):
        needed[place] = min(needed[place], max(free // (len(flexible) - i), _LEAST))
        free -= needed[place]
    return needed


def _line(texts: list[str], widths: list[int], right: list[bool]) -> str:
    parts = []
    for text, width, flush in zip(texts, widths, right, strict=True):
        own = _cut(text, width)
        blank = " " * (width - _width(own))
        parts.append(blank + own if flush else own + blank)
    return _BETWEEN.join(parts).rstrip()


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += _width(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + _ELLIPSIS


def _width(text: str) -> int:
    """Cells of a terminal: wide characters of East Asian scripts have two, marks on other characters none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells_of, text))


def _cells_of(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1

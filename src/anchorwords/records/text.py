"""Tables as plain text: aligned columns, whatever the script of the words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from .._printable import printable
from .cells import LONGEST_NAME, Cell
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
    heads = [_name(head, wide) for head, _, wide in table.columns]
    cells = [[_shown(cell, wide) for cell, (_, _, wide) in zip(row, table.columns, strict=True)] for row in table.rows]
    widths = _fitted(
        [[_width(text) for text in line] for line in [heads, *cells]], [wide for _, _, wide in table.columns]
    )
    right = [flush for _, flush, _ in table.columns]
    lines = [printable(table.caption)] if table.caption else []
    if table.columns and table.rows:
        lines += [_line(line, widths, right) for line in [heads, *cells]]
    lines += [table.cut] if table.cut else []
    return "\n".join([*lines, *(printable(note) for note in table.notes)])


def _shown(cell: Cell, wide: bool) -> str:
    # A hyphen before a number, as on the command line: text is copied to where a minus sign is not understood.
    return spark(cell.curve) if cell.curve else _name(cell.line, wide).replace("\N{MINUS SIGN}", "-")


def _name(text: str, wide: bool) -> str:
    """Text of a cell; only columns of words, which are cut to what the others leave, may hold a long one."""
    return printable(text) if wide else shortened(printable(text))


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
        own = shortened(text, width)
        blank = " " * (width - _width(own))
        parts.append(blank + own if flush else own + blank)
    return _BETWEEN.join(parts).rstrip()


def shortened(text: str, width: int = LONGEST_NAME) -> str:
    """Return text of at most this width, with an ellipsis if it was cut."""
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

"""Tables as HTML for notebooks.

The text of cells is escaped. Colours are those of the notebook, so that light and dark themes both work, and every style
applies only below our own class.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .._printable import printable
from .cells import LONGEST_NAME, Cell
from .table import Table

_CLASS = "anchorwords-output"
# Notebooks style the tables of their outputs themselves: two classes outweigh their rules. Greys and the blue of bars are
# translucent, which is visible on white and on black.
_STYLE = """
.C.C{overflow-x:auto;max-width:100%}
.C.C table{border-collapse:collapse;border:0;margin:.2em 0 .6em;font-size:.92em;line-height:1.35;color:inherit;
table-layout:auto}
.C.C caption{caption-side:top;text-align:left;font-weight:600;padding:.2em 0 .45em;color:inherit;
white-space:nowrap}
.C.C th,.C.C td{border:0;padding:.2em .7em;text-align:left;vertical-align:top;background:none;color:inherit;
white-space:nowrap;max-width:none}
.C.C thead th{border-bottom:1px solid rgba(128,128,128,.6);font-weight:600;vertical-align:bottom}
.C.C tbody tr{background:none}
.C.C tbody tr:nth-child(even){background:rgba(128,128,128,.09)}
.C.C tbody td{border-bottom:1px solid rgba(128,128,128,.18)}
.C.C .aw-right{text-align:right;font-variant-numeric:tabular-nums}
.C.C .aw-wide{white-space:normal;min-width:16em;max-width:46em;overflow-wrap:anywhere}
.C.C .aw-detail{opacity:.72}
.C.C .aw-note{margin:.1em 0 .5em;font-size:.88em;opacity:.8}
.C.C .aw-spark{display:block;overflow:visible}
.C.C details{margin:.2em 0}
.C.C summary{cursor:pointer;font-size:.92em}
""".replace(".C", f".{_CLASS}").strip()
_BAR = "rgba(30,125,190,.27)"
# Size of a small curve in pixels, and what is left free above and below for its line.
_CURVE = (110.0, 20.0, 2.0)


def html_of(tables: Sequence[Table], *, more: str = "") -> str:
    """Return tables as one piece of HTML.

    Parameters
    ----------
    tables : sequence of Table
    more : str
        HTML to add at the end.
    """
    return f'<div class="{_CLASS}"><style>{_STYLE}</style>{"".join(map(_one, tables))}{more}</div>'


def folded_html(title: str, content: str) -> str:
    """Return HTML that opens by a click on its title."""
    return f"<details><summary>{text_html(title)}</summary>{content}</details>"


def text_html(text: str) -> str:
    """Return text from anywhere as HTML that shows it: nothing in it is markup, moves a cursor or turns a line around."""
    return escape(printable(text)).encode("utf-8", "replace").decode("utf-8")


def _one(table: Table) -> str:
    rows = "".join(f"<tr>{_cells(table, row)}</tr>" for row in table.rows)
    head = "".join(
        f'<th scope="col"{_classes(right, False)}>{text_html(name)}</th>' for name, right, _ in table.columns
    )
    caption = f"<caption>{text_html(table.caption)}</caption>" if table.caption and not table.folded else ""
    notes = "".join(f'<div class="aw-note">{text_html(note)}</div>' for note in (table.cut, *table.notes) if note)
    body = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if table.columns else ""
    if not table.columns and caption:
        body = f"<div><strong>{text_html(table.caption)}</strong></div>"
    return folded_html(table.caption, body + notes) if table.folded else body + notes


def _cells(table: Table, row: list[Cell]) -> str:
    return "".join(_cell(cell, right, wide) for cell, (_, right, wide) in zip(row, table.columns, strict=True))


def _cell(cell: Cell, right: bool, wide: bool) -> str:
    if cell.curve:
        return f"<td>{_curve(cell)}</td>"
    wide = wide or len(cell.text) > LONGEST_NAME
    text = text_html(cell.text)
    text = f"<strong>{text}</strong>" if cell.strong else text
    detail = f' <span class="aw-detail">{text_html(cell.detail)}</span>' if cell.detail else ""
    style = ""
    if cell.bar is not None:
        end = f"{100.0 * min(max(cell.bar, 0.0), 1.0):.1f}%"
        style = f' style="background:linear-gradient(90deg,{_BAR} {end},transparent {end})"'
    return f"<td{_classes(right, wide)}{style}>{text}{detail}</td>"


def _classes(right: bool, wide: bool) -> str:
    names = " ".join(name for name, own in (("aw-right", right), ("aw-wide", wide)) if own)
    return f' class="{names}"' if names else ""


def _curve(cell: Cell) -> str:
    """A small curve, from nothing at the bottom to the largest value at the top; missing values are gaps."""
    width, height, free = _CURVE
    top = max((value for value in cell.curve if value == value), default=0.0) or 1.0
    step = (width - 2 * free) / max(len(cell.curve) - 1, 1)
    pieces: list[list[str]] = [[]]
    for i, value in enumerate(cell.curve):
        if value != value:
            pieces.append([])
            continue
        y = height - free - (height - 2 * free) * max(value, 0.0) / top
        pieces[-1].append(f"{free + step * i:.1f},{y:.1f}")
    # A line needs two points: a single one is drawn as a dot.
    lines = "".join(
        f'<polyline points="{" ".join(piece if len(piece) > 1 else piece * 2)}"/>' for piece in pieces if piece
    )
    return (
        f'<svg class="aw-spark" role="img" aria-label="{text_html(cell.text)}" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}"><title>{text_html(cell.text)}</title><g fill="none" stroke="currentColor" '
        f'stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round">{lines}</g></svg>'
    )

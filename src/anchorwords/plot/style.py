"""How every figure looks, how user text gets into it, and how it gets into a file."""

from __future__ import annotations

import io
import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import InputError
from ..storage.writing import file_written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by readers of every kind of colour vision; yellow last, it is pale on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.2)), (0, (6, 2, 1.5, 2)), (0, (3, 1, 1, 1, 1, 1)))
GREY = "#6b6b6b"
# Dots per inch of figures on a notebook's page: letters of 8 points are then as large as its text.
_SCREEN_DPI = 110
_SHOWN = "ShownFigure"

_FALLBACK_FONTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Arial Unicode MS",
    "Hiragino Sans", "PingFang SC", "Microsoft YaHei", "Yu Gothic", "Noto Sans Arabic", "Noto Sans Devanagari",
)  # fmt: skip
_RC: dict[str, Any] = {
    "font.size": 8.0, "axes.titlesize": 8.5, "axes.labelsize": 8.0, "legend.fontsize": 8.0,
    "xtick.labelsize": 7.0, "ytick.labelsize": 7.0,
    "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.7, "axes.grid": False,
    "lines.linewidth": 1.3, "lines.markersize": 4.0, "legend.frameon": False,
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white", "text.usetex": False,
}  # fmt: skip
# The same figure gives the same bytes: no dates, ids from a fixed salt, letters as outlines whatever fonts readers have.
_FILE_RC = {"svg.hashsalt": "anchorwords", "svg.fonttype": "path", "pdf.fonttype": 42}
_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": "anchorwords"},
    ".png": {"Software": "anchorwords"},
    ".pdf": {"CreationDate": None, "Creator": "anchorwords"},
}


def require_matplotlib() -> Any:
    """The package matplotlib, or one sentence that says how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("plotting needs matplotlib: pip install 'anchorwords[plot]'") from None
    return matplotlib


@contextmanager
def style() -> Iterator[None]:
    """Settings under which figures are built; the caller's own come back when the block ends."""
    matplotlib = require_matplotlib()
    with matplotlib.rc_context({**_RC, "font.family": list(_families())}):
        yield


def new_figure(width: float, height: float) -> Figure:
    """A figure of its own, in inches: no window and nothing that pyplot would keep; a notebook shows its picture."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure: Figure = _shown_figure()(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def panels_across(n: int) -> int:
    """How many of n small panels stand next to each other: three, but four make two lines of two."""
    return 2 if n == 4 else min(n, 3)


def own_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or those of a new figure, which a notebook shows as its picture."""
    if ax is None:
        figure: Any = new_figure(width, height)
        axes: Axes = figure.subplots()
        vars(axes)["_repr_png_"] = figure._repr_png_
    else:
        axes = ax
    # Ticks made later, when the figure is drawn, do not see the settings of today.
    axes.tick_params(labelsize=_RC["xtick.labelsize"], labelfontfamily=list(_families()))
    return axes


def laid_out(ax: Axes) -> None:
    """Make the layout final, so that places on the page can be computed from data."""
    from matplotlib.figure import Figure

    root: Any = ax.figure.figure  # of a sub-figure the figure around it
    if isinstance(root, Figure):
        root.draw_without_rendering()


def series_style(i: int) -> dict[str, Any]:
    """Colour, marker and dashes of the i-th series: any one of the three tells it from its neighbours."""
    return {
        "color": PALETTE[i % len(PALETTE)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": LINES[i % len(LINES)],
    }


def halo() -> list[Any]:
    """White behind letters, so that they can be read over what is drawn."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.0, foreground="white")]


def plain(text: Any, longest: int = 60, *, lines: bool = False) -> str:
    """User text as it is to be seen: no mathematics, no control characters, no letters that the fonts lack.

    Parameters
    ----------
    text : object
        Shown as ``str(text)``.
    longest : int
        Characters; what is longer ends in an ellipsis.
    lines : bool
        Keep line breaks: for titles, in which they are meant.

    Returns
    -------
    str
        For matplotlib, to which an escaped dollar sign is a dollar sign.
    """
    letters = str(text)
    if len(letters) > longest:
        letters = letters[: longest - 1].rstrip() + "…"
    known = _known_characters(_families())
    return "".join(c if lines and c == "\n" else _shown(c, known) for c in letters).replace("$", r"\$")


def topic_text(topic: int, label: str, longest: int) -> str:
    """A topic as tables name it, its id before its label; behind it, readers take the id for a part of the label."""
    return f"{topic}  {plain(label, longest)}"


def legend_text(text: Any) -> str:
    """As :func:`plain`; matplotlib would leave a name that begins with an underscore out of a legend."""
    shown = plain(text, 40)
    return f" {shown}" if shown.startswith("_") else shown


def save(figure: Figure, path: str | os.PathLike[str], *, dpi: int = 200) -> list[Path]:
    """Write a figure, whole or not at all.

    Parameters
    ----------
    figure : matplotlib Figure
    path : path
        Ending in .svg, .png or .pdf: that file. Without an ending: both .svg and .png.
    dpi : int
        Dots an inch, of PNG files and of clouds of dots within the others.

    Returns
    -------
    list of Path
        Files written; the same figure always gives the same bytes.

    Notes
    -----
    The layout of the figure is final from then on: matplotlib's would move things a little each time.
    """
    root: Any = figure.figure  # of a sub-figure the figure around it
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix and suffix not in _METADATA:
        raise InputError(f"a figure is written as .svg, .png or .pdf, but {target.name} ends in {target.suffix}.")
    files = [target] if suffix else [target.with_name(target.name + end) for end in (".svg", ".png")]
    root.draw_without_rendering()
    root.set_layout_engine("none")
    pictures = [_rendered(root, file.suffix.lower(), dpi) for file in files]
    target.parent.mkdir(parents=True, exist_ok=True)
    for file, picture in zip(files, pictures, strict=True):
        with file_written_whole(file) as partial:
            partial.write_bytes(picture)
    return files


@lru_cache(maxsize=1)
def _shown_figure() -> Any:
    """The class of our figures, made when matplotlib is first needed.

    A notebook shows the picture of a plain Figure only after ``%matplotlib inline`` or an import of pyplot, which install a
    formatter. That formatter takes precedence over the method here, so that a picture is never shown twice.
    """
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that notebooks show as a picture."""

        def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
            width, height = self.get_size_inches() * _SCREEN_DPI
            # Twice as many dots as the page has, for sharp letters on dense screens.
            picture = _rendered(self, ".png", 2 * _SCREEN_DPI)
            return picture, {"width": round(width), "height": round(height)}

    ShownFigure.__qualname__ = _SHOWN  # which pickle looks up in this module
    return ShownFigure


def __getattr__(name: str) -> Any:
    if name == _SHOWN:
        return _shown_figure()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _rendered(figure: Figure, suffix: str, dpi: int) -> bytes:
    buffer = io.BytesIO()
    with require_matplotlib().rc_context(_FILE_RC):
        figure.savefig(buffer, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
    return buffer.getvalue()


def _shown(character: str, known: frozenset[int]) -> str:
    joiner = character in "\u200c\u200d"
    hidden = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and not joiner
    return "\ufffd" if hidden or ord(character) not in known else character


@lru_cache(maxsize=1)
def _families() -> tuple[str, ...]:
    """The font that matplotlib brings along, and those on this machine that know other scripts."""
    require_matplotlib()
    from matplotlib import font_manager

    here = set(font_manager.fontManager.get_font_names())
    return ("DejaVu Sans", *(name for name in _FALLBACK_FONTS if name in here))


@lru_cache(maxsize=1)
def _known_characters(families: tuple[str, ...]) -> frozenset[int]:
    """Characters that one of the fonts can draw: of others matplotlib would warn, one by one, at each drawing."""
    from matplotlib import font_manager

    known: set[int] = set()
    for family in families:
        file = font_manager.findfont(font_manager.FontProperties(family=family), fallback_to_default=False)
        known.update(font_manager.get_font(file).get_charmap())
    return frozenset(known)

"""Figures that a command writes to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .output import errors_not_lost, suffix_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def require_drawable(path: Path, option: str) -> None:
    """Raise before the work if there could be no picture at this path."""
    from ..plot.style import require_matplotlib
    from ..storage.writing import require_place, require_writable_file

    suffix_of(path, (".svg", ".png", ".pdf"), option)
    require_matplotlib()
    if path.absolute().parent.is_dir():
        require_writable_file(path)
    else:
        require_place(path.absolute())


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all; folders on the way are made."""
    from ..plot.style import save
    from ..storage.writing import file_written_whole

    path.absolute().parent.mkdir(parents=True, exist_ok=True)
    with file_written_whole(path) as partial, errors_not_lost():
        save(figure, partial)

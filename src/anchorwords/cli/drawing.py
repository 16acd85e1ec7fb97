"""What commands that draw share: a check before the work, and a figure written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .console import remark
from .output import errors_not_lost, suffix_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def require_drawable(path: Path | None, option: str = "--plot") -> None:
    """Raise before the work if there would be no picture; do nothing if the option was not given."""
    if path is None:
        return
    from ..plot.style import require_matplotlib
    from ..storage.writing import require_place, require_writable_file

    suffix_of(path, (".svg", ".png", ".pdf"), option)
    require_matplotlib()
    if path.absolute().parent.is_dir():
        require_writable_file(path)
    else:
        require_place(path.absolute())


def draw(figure: Callable[[], Figure], path: Path | None, quiet: bool) -> None:
    """Write what the function draws to a file, with its folder, and say so; do nothing if there is no path."""
    if path is None:
        return
    from ..plot.style import save
    from ..storage.writing import file_written_whole

    path.absolute().parent.mkdir(parents=True, exist_ok=True)
    with file_written_whole(path) as partial, errors_not_lost():
        save(figure(), partial)
    remark(f"figure written to {path}", quiet)

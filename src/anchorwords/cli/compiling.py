"""Kernels that a command needs are compiled while it reads its model; the first command of an installation says so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .console import error_console, remark

if TYPE_CHECKING:
    from ..kernels.ahead import Compilation

# What is being compiled: a command runs once per process.
_running: list[Compilation] = []


def compile_ahead(*modules: str, quiet: bool) -> None:
    """Start to compile the kernels of these modules unless they are compiled; :func:`await_kernels` waits for the end."""
    from ..kernels.ahead import Compilation, missing_kernels

    if _running:
        return
    if names := missing_kernels(modules):
        compilation = Compilation(names)
        remark(sentence(compilation.seconds), quiet)
        _running.append(compilation)
        compilation.__enter__()


def compile_now(*modules: str, quiet: bool) -> None:
    """Compile the kernels of these modules unless they are compiled."""
    compile_ahead(*modules, quiet=quiet)
    await_kernels(quiet)


def await_kernels(quiet: bool, for_modules: Collection[str] | None = None) -> None:
    """Return when what was started is compiled, with a bar on a terminal; at once if nothing of these modules is in it."""
    if for_modules is not None and all(running.modules.isdisjoint(for_modules) for running in _running):
        return
    try:
        for compilation in _running:
            with compiling_progress(quiet) as progress:
                compilation.wait(progress)
    finally:
        stop_compiling()


def stop_compiling() -> None:
    """End what is still being compiled: the command is over."""
    while _running:
        _running.pop().__exit__()


def sentence(seconds: float) -> str:
    """What is said before kernels are compiled."""
    return f"compiling numerical kernels, once per installation (about {max(seconds, 1.0):.0f} s)"


@contextmanager
def compiling_progress(quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error, only on a terminal."""
    console = error_console()
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<22}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("Compiling", total=1.0)
        yield lambda share: bars.update(task, completed=share)
        bars.update(task, completed=1.0)

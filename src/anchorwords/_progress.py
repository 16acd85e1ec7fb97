"""What ``verbose`` shows while something runs: a bar in a notebook, the log of the package elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from time import perf_counter
from typing import Any, TypeAlias

from ._printable import printable

# Name of a stage, and the share of it that is done, from 0 to 1; None if unknown.
Report: TypeAlias = Callable[[str, float], None]
# Documents that were read, and the share of the source that was read; None if unknown.
ReadReport: TypeAlias = Callable[[int, float | None], None]

STAGES = {
    "statistics": "Statistics of Eq. 1",
    "eigenpairs": "Leading eigenpairs",
    "rectification": "Rectification",
    "topics": "Anchors and topics",
    "refinement": "Refinement",
    "basis": "Basis of replicates",
    "replicates": "Replicates",
    "halves": "Halves of the documents",
    "fits": "Numbers of topics",
}
_READING = "Reading"
# Seconds between two updates: more often nobody sees, and each one is a message to the browser.
_PAUSE = 0.1
# Stages that took less are left out of the final line.
_WORTH_NAMING = 0.05

_open_bar: ContextVar[_Bar | None] = ContextVar("_open_bar", default=None)


@contextmanager
def shown_progress(what: str, verbose: int, progress: Report | None = None) -> Iterator[Report]:
    """Show how far a computation is.

    Parameters
    ----------
    what : str
        Name of the computation, such as "Topics".
    verbose : int
        0 shows nothing. In a notebook, 1 shows a bar that becomes one line at the end, and 2 the log as well; elsewhere, 1
        shows the log on standard error.
    progress : callable, optional
        Is called too.

    Yields
    ------
    callable
        To be called with the name of a stage and the share of it that is done. A computation within another one shows its
        stages in the bar of the outer one.
    """
    with _bar(what, verbose) as bar:
        yield _both(None if bar is None else bar.stage, progress)


@contextmanager
def shown_reading(verbose: int, progress: ReadReport | None = None) -> Iterator[ReadReport | None]:
    """As :func:`shown_progress`, for documents that are read; None if nobody wants to know."""
    with _bar("Documents", verbose) as bar:
        if bar is None:
            yield progress
            return

        def report(documents: int, share: float | None) -> None:
            bar.documents(documents, share)
            if progress is not None:
                progress(documents, share)

        yield report


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which displays HTML; IPython on a terminal is none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def shown_log(verbose: int) -> Iterator[None]:
    """Show the log of the package on standard error."""
    root = logging.getLogger("anchorwords")
    if not verbose or any(isinstance(handler, _Log) for handler in root.handlers):
        yield
        return
    handler = _Log(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    level = root.level
    try:
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


class _Log(logging.StreamHandler[Any]):
    """The handler of a verbose computation: one within another does not add a second."""


@contextmanager
def _bar(what: str, verbose: int) -> Iterator[_Bar | None]:
    """The bar to use: that of the computation around this one, else a new one if it is wanted and can be shown."""
    outer = _open_bar.get()
    if outer is not None or not verbose or not in_notebook():
        log: AbstractContextManager[None] = nullcontext() if outer is not None else shown_log(verbose)
        with log:
            yield outer
        return
    bar = _Bar(what)
    token = _open_bar.set(bar)
    try:
        with shown_log(verbose - 1):
            yield bar
    except BaseException:
        bar.end("stopped")
        raise
    else:
        bar.end("done")
    finally:
        _open_bar.reset(token)


def _both(first: Report | None, second: Report | None) -> Report:
    if first is None or second is None:
        return first or second or _silent

    def report(stage: str, share: float) -> None:
        first(stage, share)
        second(stage, share)

    return report


def _silent(stage: str, share: float) -> None:
    """No progress is wanted."""


class _Bar:
    """A bar in a notebook, updated in place; at the end it becomes a line with the time of each stage."""

    def __init__(self, what: str) -> None:
        self._what, self._begin = what, perf_counter()
        self._stages: dict[str, float] = {}  # name -> seconds
        self._now, self._since, self._shown_at, self._shown_stage = "", self._begin, 0.0, ""
        self._documents = 0
        self._handle = import_module("IPython.display").display(self._content("…", None), display_id=True)

    def stage(self, name: str, share: float) -> None:
        """Show a stage and the share of it that is done."""
        self._show(STAGES.get(name, name), share, "")

    def documents(self, n: int, share: float | None) -> None:
        """Show how many documents were read."""
        self._documents = n
        self._show(_READING, share, f" {n:,} documents")

    def end(self, how: str) -> None:
        """Leave one line."""
        self._count(perf_counter())
        if self._documents and _READING in self._stages:
            self._stages = {f"{_READING} {self._documents:,} documents": self._stages.pop(_READING), **self._stages}
        stages = [
            f"{name[:1].lower()}{name[1:]} {_seconds(seconds)}"
            for name, seconds in self._stages.items()
            if seconds >= _WORTH_NAMING or name.startswith(_READING)
        ]
        spent = f"{self._what}: {how} in {_seconds(perf_counter() - self._begin)}"
        self._handle.update(_Line(spent + (f" ({', '.join(stages)})" if len(stages) > 1 or self._documents else "")))

    def _show(self, name: str, share: float | None, more: str) -> None:
        now = perf_counter()
        if name != self._now:
            self._count(now)
            self._now = name
        if name == self._shown_stage and now - self._shown_at < _PAUSE:
            return
        self._shown_at, self._shown_stage = now, name
        self._handle.update(self._content(f"{name}{more}", share))

    def _count(self, now: float) -> None:
        """Add the time since the last change to the stage that ends."""
        if self._now:
            self._stages[self._now] = self._stages.get(self._now, 0.0) + now - self._since
        self._since = now

    def _content(self, stage: str, share: float | None) -> _Line:
        return _Line(f"{self._what}: {stage}, {_seconds(perf_counter() - self._begin)}", bar=True, share=share)


class _Line:
    """A line of text, after a bar if it has one, in the manner of notebooks."""

    def __init__(self, text: str, *, bar: bool = False, share: float | None = None) -> None:
        self._text, self._bar, self._share = printable(text), bar, share

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        text = self._text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        # A bar without a value says that its end is unknown.
        value = "" if self._share is None else f' value="{min(max(self._share, 0.0), 1.0):.3f}"'
        bar = f'<progress max="1"{value} style="width:12em;vertical-align:middle"></progress> ' if self._bar else ""
        return f'<div style="font-size:.92em">{bar}{text}</div>'


def _seconds(seconds: float) -> str:
    if seconds >= 100.0:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{seconds:.1f} s"

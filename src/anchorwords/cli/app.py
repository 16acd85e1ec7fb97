"""The application: sub-commands gathered, errors turned into one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .._printable import printable_lines
from .._version import __version__
from .compare import compare
from .compiling import stop_compiling
from .console import tell
from .demo import demo
from .edit import edit
from .effects import effects
from .evaluate import evaluate
from .explore import explore
from .export import export
from .fit import fit
from .groups import groups
from .help_text import add_command
from .import_ import import_documents
from .reproduce import reproduce
from .scan import scan
from .similar import predict, similar
from .sketch import sketch_app
from .topics import topics
from .transform import transform
from .trends import trends
from .warmup import warmup


class _Commands(TyperGroup):
    """Commands whose usage errors, which repeat what was typed or expanded by a shell, hold no control characters."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Parse the options before the command."""
        with _printable_usage_errors():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Parse the rest and run the command."""
        with _printable_usage_errors():
            return super().invoke(ctx)


@contextmanager
def _printable_usage_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        # By what it has, not by its class: typer uses click, or a copy of its own, depending on the version.
        message = vars(error).get("message")
        if hasattr(error, "format_message") and isinstance(message, str):
            vars(error)["message"] = printable_lines(message)
        raise


app = typer.Typer(
    name="anchorwords",
    cls=_Commands,
    help="Topic models from word co-occurrence: exact, reproducible, for vocabularies of any size.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
add_command(app, demo)
add_command(app, import_documents, "import")
add_command(app, fit)
add_command(app, scan)
add_command(app, topics)
add_command(app, edit)
add_command(app, explore)
add_command(app, transform)
add_command(app, evaluate)
add_command(app, compare)
add_command(app, groups)
add_command(app, trends)
add_command(app, effects)
add_command(app, similar)
add_command(app, predict)
add_command(app, export)
add_command(app, reproduce)
add_command(app, warmup)
app.add_typer(sketch_app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"anchorwords {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Topic models from word co-occurrence: exact, reproducible, for vocabularies of any size."""


def run() -> None:
    """Run the command line; exit code 0, 1 (failed) or 2 (bad usage)."""
    code: Any = 0
    try:
        _run()
    except SystemExit as stop:
        code = stop.code
    sys.exit(_end_output(code))


def _run() -> None:
    warnings.showwarning = _show_warning
    for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a letter shows a question mark
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except SystemExit as stop:
        if stop.code == 130:
            tell("interrupted", style="bold red")
        raise
    except Exception as error:
        if (sentence := _sentence_of(error)) is None:
            raise
        tell(f"error: {sentence}", style="bold red")
        sys.exit(1)
    finally:
        stop_compiling()


def _sentence_of(error: Exception) -> str | None:
    """What to tell the user; None for a defect of ours, of which the traceback is to be seen."""
    from ..exceptions import AnchorwordsError  # brings scikit-learn: not for --help

    if isinstance(error, (AnchorwordsError, OSError)):
        return str(error)
    if isinstance(error, MemoryError):
        why = f" ({error})" if str(error) else ""
        return (
            f"there is not enough memory{why}: keep fewer words (--n-words), ask for fewer topics, or free some memory."
        )
    return None


def _end_output(code: Any) -> Any:
    """Write out what is still to be printed, and return the exit code: 1 if that fails, which Python would end with 120."""
    try:
        if sys.stdout is not None:  # it is None if whoever called us has closed it
            sys.stdout.flush()
    except (OSError, ValueError) as error:
        # What could not be written must not be tried again when Python ends.
        with suppress(OSError, ValueError), open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
        if not code and not isinstance(error, BrokenPipeError):  # a reader that has seen enough is no error to report
            tell(f"error: standard output cannot be written to: {error}", style="bold red")
        return code or 1
    return code


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    tell(f"warning: {message}", style="yellow")

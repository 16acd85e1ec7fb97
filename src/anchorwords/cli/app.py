"""The application: sub-commands gathered, errors turned into one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
import warnings
from contextlib import suppress
from typing import Annotated, Any

import typer

from .._version import __version__
from .compare import compare
from .console import error_console
from .demo import demo
from .evaluate import evaluate
from .explore import explore
from .export import export
from .fit import fit
from .groups import groups
from .import_ import import_documents
from .reproduce import reproduce
from .scan import scan
from .sketch import sketch_app
from .topics import topics
from .transform import transform

app = typer.Typer(
    name="anchorwords",
    help="Topic models from word co-occurrence: exact, reproducible, for vocabularies of any size.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command("import")(import_documents)
app.command()(fit)
app.command()(scan)
app.command()(topics)
app.command()(explore)
app.command()(transform)
app.command()(evaluate)
app.command()(compare)
app.command()(groups)
app.command()(export)
app.command()(reproduce)
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
            error_console().print("interrupted", style="bold red")
        raise
    except Exception as error:
        from ..exceptions import AnchorwordsError  # brings scikit-learn: not for --help

        if not isinstance(error, (AnchorwordsError, OSError)):
            raise
        _print_error(str(error))
        sys.exit(1)


def _print_error(sentence: str) -> None:
    line = f"error: {' '.join(sentence.split())}"
    error_console().print(line, style="bold red", markup=False, highlight=False, soft_wrap=True)


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
            _print_error(f"standard output cannot be written to: {error}")
        return code or 1
    return code


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    error_console().print(f"warning: {message}", style="yellow", markup=False, highlight=False, soft_wrap=True)

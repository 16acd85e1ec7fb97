"""The help text of a command is its docstring, also where Python was told to leave docstrings out (``python -OO``)."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from typing import Any

import typer


def add_command(app: typer.Typer, command: Callable[..., Any], name: str | None = None) -> None:
    """Give an application a command, with its help text."""
    app.command(name, help=help_text(command))(command)


def help_text(command: Callable[..., Any]) -> str | None:
    """The docstring of a command, from its source if need be; None if neither is there."""
    own = inspect.unwrap(command)
    if own.__doc__ is not None or sys.flags.optimize < 2:
        return inspect.getdoc(own)
    try:
        tree = ast.parse(inspect.getsource(sys.modules[own.__module__]))
    except (OSError, SyntaxError):  # installed without its source
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == own.__name__:
            return ast.get_docstring(node)
    return None

"""Commands of the application: with their docstrings as help texts, and no option given twice by mistake.

Help texts are also there if Python was told to leave docstrings out (``python -OO``).
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand


class Command(TyperCommand):
    """A command that refuses an option given twice, of which only the last value would count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, after a look at how often each option is given."""
        given = list(args)
        rest = super().parse_args(ctx, args)  # first, for its own errors
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for parameter in order:
            several = getattr(parameter, "multiple", False) or getattr(parameter, "is_flag", False)
            takes_one = parameter.param_type_name == "option" and not several
            if takes_one and (times := order.count(parameter)) > 1:
                name = max(parameter.opts, key=len)
                raise typer.BadParameter(f"is given {times} times, but takes one value", ctx, param_hint=name)
        return rest


def add_command(app: typer.Typer, command: Callable[..., Any], name: str | None = None) -> None:
    """Give an application a command, with its help text."""
    app.command(name, cls=Command, help=help_text(command))(command)


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

"""What every command says of itself, and to those who forget an argument: it depends on the versions of typer and click."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from anchorwords.cli.app import app

COMMANDS = [
    ("demo",), ("import",), ("fit",), ("scan",), ("topics",), ("explore",), ("transform",), ("evaluate",), ("compare",),
    ("groups",), ("trends",), ("effects",), ("edit",), ("similar",), ("predict",), ("export",), ("reproduce",),
    ("warmup",),
    ("sketch", "build"), ("sketch", "merge"), ("sketch", "subtract"), ("sketch", "info"),
]  # fmt: skip
WITHOUT_ARGUMENTS = {("demo",), ("reproduce",), ("warmup",)}
# Drawn by rich around the text.
BORDERS = "╭╮╰╯─│"


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "160"})


def test_every_command_is_here():
    group = typer.main.get_command(app)
    inner = group.commands["sketch"].commands
    assert {*((name,) for name in group.commands if name != "sketch"), *(("sketch", name) for name in inner)} == set(
        COMMANDS
    )


@pytest.mark.parametrize("command", [(), ("sketch",), *COMMANDS], ids=" ".join)
def test_help(command):
    done = invoke(*command, "--help")
    assert (done.exit_code, done.exception) == (0, None)
    assert "Usage: " in done.stdout
    assert "--help" in done.stdout
    # A text such as 10:100:10 must not be taken for the name of an emoji.
    assert [letter for letter in done.stdout if not letter.isascii() and letter not in BORDERS] == []


@pytest.mark.parametrize("command", [one for one in COMMANDS if one not in WITHOUT_ARGUMENTS], ids=" ".join)
def test_a_missing_argument_is_named(command):
    done = invoke(*command)
    assert done.exit_code == 2, done.exception
    assert "Missing " in done.stderr

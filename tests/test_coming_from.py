"""Every line of docs/coming-from.md runs: the Python of its tables, and its commands."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from anchorwords.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "coming-from.md"
TEXT = PAGE.read_text(encoding="utf-8")
TOOLS = ("BERTopic", "stm", "gensim", "tomotopy", "scikit-learn", "On the command line")


def lines_of(tool: str) -> list[str]:
    """The right-hand column of the table of a section."""
    section = TEXT.split(f"\n## {tool}\n", 1)[1].split("\n## ", 1)[0]
    rows = [re.split(r"\s*(?<!\\)\|\s*", row)[1:-1] for row in section.splitlines() if row.startswith("|")]
    found = [here for _, here in rows[2:]]
    assert all(here[0] == here[-1] == "`" for here in found), "every line must be code"
    return [here.strip("`") for here in found]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the data and the model of the page, and the names that its first lines define."""
    folder = tmp_path_factory.mktemp("coming-from")
    names: dict[str, object] = {}
    (setup,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(setup, str(PAGE), "exec"), names)
    return folder, names


@pytest.mark.parametrize("tool", TOOLS)
def test_the_table_is_there(tool):
    assert len(lines_of(tool)) >= 6


@pytest.mark.parametrize("tool", TOOLS[:-1])
def test_every_line_runs(tool, place, monkeypatch):
    folder, names = place
    monkeypatch.chdir(folder)
    scope = dict(names)
    for line in lines_of(tool):
        *statements, last = ast.parse(line).body
        exec(compile(ast.Module(statements, []), line, "exec"), scope)
        if isinstance(last, ast.Expr) and not line.startswith("print("):
            value = eval(compile(ast.Expression(last.value), line, "eval"), scope)
            # Saving and writing return nothing; everything else has a result to look at.
            assert value is not None or ".save(" in line or "write_" in line, line
        else:
            exec(compile(ast.Module([last], []), line, "exec"), scope)


def test_every_command_runs(place, monkeypatch):
    folder, _ = place
    monkeypatch.chdir(folder)
    for line in lines_of("On the command line"):
        program, *arguments = shlex.split(line)
        assert program == "anchorwords"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{line}: {result.output}"

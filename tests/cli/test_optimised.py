"""``python -O`` and ``-OO`` leave out asserts and docstrings: neither a check nor a help text may go with them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import anchorwords

ROOT = Path(anchorwords.__file__).parent
COMMANDS = [
    "demo", "import", "fit", "scan", "topics", "explore", "transform", "evaluate", "compare", "groups", "trends", "effects",
    "export",
    "reproduce", "sketch", "sketch build", "sketch merge", "sketch subtract", "sketch info",
]  # fmt: skip
ASKING = """
import sys
from anchorwords.cli import main
for command in sys.argv[1:]:
    sys.argv = ["anchorwords", *command.split(), "--help"]
    print("=====", command)
    try:
        main()
    except SystemExit:
        pass
"""


def helps(*flags):
    environment = {**os.environ, "COLUMNS": "140", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, *flags, "-c", ASKING, "", *COMMANDS],
        capture_output=True, text=True, env=environment, check=True,
    )  # fmt: skip
    return done.stdout.split("=====")


def test_help_is_the_same_without_docstrings():
    plain, bare = helps(), helps("-OO")
    assert len(plain) == len(COMMANDS) + 2
    for one, other in zip(plain, bare, strict=True):
        assert other == one
    assert all("Example: anchorwords" in text for text in bare[2:] if "COMMAND" not in text)


def _narrows(test):
    """Whether a condition only tells a type checker what the code before it has made sure of."""
    if isinstance(test, ast.UnaryOp):
        test = test.operand
    if isinstance(test, ast.Call):
        return isinstance(test.func, ast.Name) and test.func.id == "isinstance"
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_assert_checks_anything(path):
    found = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Assert)]
    assert [ast.unparse(node) for node in found if not _narrows(node.test)] == []

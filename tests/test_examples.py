from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_rectification_wins_in_the_comparison(capsys):
    runpy.run_path(str(EXAMPLES[0]), run_name="__main__")
    errors = {line[:12].strip(): float(line[12:].split()[0]) for line in capsys.readouterr().out.splitlines()[1:]}
    assert errors["LR-JSMF"] < 0.7 * errors["baseline"]

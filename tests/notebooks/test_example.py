"""The example notebook: it runs from start to end, and the outputs that are committed are those of such a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .running import executed, read_notebook

EXAMPLE = Path(__file__).parents[2] / "examples" / "analysis.ipynb"
# Absolute paths of the systems that somebody may execute it on.
PATH = re.compile(r"(?<![\w.])(?:/(?:home|root|tmp|Users|usr|var|opt|work|private)/|[A-Za-z]:\\\\?Users)")


@pytest.fixture(scope="module")
def notebook():
    return read_notebook(EXAMPLE)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def kinds_of(outputs):
    """Kinds of outputs and the MIME types of each."""
    return [(one.output_type, sorted(one.get("data", {}))) for one in outputs]


def test_every_cell_was_executed_in_order(notebook):
    assert [cell.execution_count for cell in code_cells(notebook)] == list(range(1, len(code_cells(notebook)) + 1))


def test_outputs_have_no_errors_and_no_warnings(notebook):
    for cell in code_cells(notebook):
        assert all(one.output_type != "error" and one.get("name") != "stderr" for one in cell.outputs)


def test_outputs_do_not_tell_where_they_were_made(notebook):
    for cell in code_cells(notebook):
        assert not PATH.search(json.dumps(cell.outputs, ensure_ascii=False))
    assert set(notebook.metadata) == {"kernelspec", "language_info"}


def test_the_file_is_small_enough_to_be_read_on_the_web():
    assert EXAMPLE.stat().st_size < 1_000_000


def test_no_cell_is_long(notebook):
    assert max(len(cell.source.splitlines()) for cell in code_cells(notebook)) <= 30


@pytest.mark.slow
def test_it_runs_in_an_empty_folder(notebook, tmp_path):
    """A cell that fails ends the run with its traceback; every cell shows what the committed outputs show."""
    fresh = read_notebook(EXAMPLE)
    for cell in code_cells(fresh):
        cell.outputs, cell.execution_count = [], None
    folder, settings = tmp_path / "work", tmp_path / "settings"
    folder.mkdir()
    executed(fresh, folder, settings)
    assert list(folder.iterdir()) == []
    *cells, explorer = code_cells(fresh)
    for before, after in zip(code_cells(notebook), cells, strict=False):
        assert kinds_of(after.outputs) == kinds_of(before.outputs), before.source
    # docs/make_notebook.py leaves the page out of the file.
    assert explorer.outputs[0].data["text/html"].startswith("<iframe ")
    assert kinds_of(code_cells(notebook)[-1].outputs) == [("execute_result", ["text/plain"])]

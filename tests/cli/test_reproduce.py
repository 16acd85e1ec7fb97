"""``anchorwords reproduce``."""

from __future__ import annotations

import io
import os
import sys
import warnings

import pytest
from rich.console import Console
from typer.testing import CliRunner

from anchorwords.cli import app as application
from anchorwords.cli import console as console_module
from anchorwords.cli.app import app
from anchorwords.datasets import make_topics
from tests.reproduce.helpers import cached, use_tiny, write_uci

runner = CliRunner()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    for seed, name in enumerate(("toy", "other")):
        write_uci(folder / name, name, make_topics(200, 100, 6, doc_length=50, random_state=seed).corpus)
    return folder


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    use_tiny(monkeypatch)
    monkeypatch.setattr("anchorwords.reproduce.report.draw", lambda *_: {})


@pytest.fixture
def main(monkeypatch, capsys):
    """Function: arguments -> exit code, standard output and error of the program, in this process."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["anchorwords", *map(str, arguments)])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back what the program sets
        with pytest.raises(SystemExit) as stop:
            application.run()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return call


def test_it_runs_and_says_where_the_report_is(data, tmp_path):
    output = tmp_path / "out"
    result = runner.invoke(app, ["reproduce", "--data", str(data), "-o", str(output), "--quick", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{output / 'report.md'}\n"
    report = (output / "report.md").read_text(encoding="utf-8")
    assert "`toy`" in report
    assert "`other`" in report
    assert "cache" in result.stderr
    before = cached(output)
    again = runner.invoke(app, ["reproduce", "--data", str(data), "-o", str(output), "--quick", "-q", "--jobs", "1"])
    assert again.exit_code == 0
    assert (again.stdout, again.stderr) == (result.stdout, "")
    assert cached(output) == before


def test_one_corpus_by_name(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["reproduce", "--data", str(data), "--quick", "--corpus", "toy", "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == os.path.join("reproduction", "report.md")
    assert not cached(tmp_path / "reproduction", "first-other")
    assert cached(tmp_path / "reproduction", "first-toy")


def test_help():
    text = runner.invoke(app, ["reproduce", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).output
    assert "Example: anchorwords reproduce" in text
    for option in ("--data", "--output", "--corpus", "--quick", "--jobs", "--quiet"):
        line = next(line for line in text.splitlines() if option in line and "Example" not in line)
        assert len(line.split()) > 5


def test_data_must_be_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["reproduce", "--quick"])
    assert result.exit_code == 2
    assert "--data" in result.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("folder", "more", "message"),
    [
        ("nowhere", [], "is not a folder"),
        ("empty", [], "holds no UCI corpus"),
        ("DATA", ["--corpus", "kos"], "holds no corpus 'kos'"),
    ],
)
def test_a_wrong_folder_is_one_line(data, tmp_path, main, folder, more, message):
    (tmp_path / "empty").mkdir()
    source = data if folder == "DATA" else tmp_path / folder
    code, out, err = main("reproduce", "--data", source, "-o", tmp_path / "out", "--quick", *more)
    assert code == 1
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == ["empty"]


def test_without_matplotlib_a_sentence_before_any_work(data, tmp_path, main, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = main("reproduce", "--data", data, "-o", tmp_path / "out", "--quick")
    assert code == 1
    assert out == ""
    assert err == "error: plotting needs matplotlib: pip install 'anchorwords[plot]'\n"
    assert os.listdir(tmp_path) == []


def test_a_bar_on_a_terminal(monkeypatch):
    screen = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    monkeypatch.setattr(console_module, "error_console", lambda: screen)
    with console_module.experiment_progress(quiet=False) as progress:
        progress("toy: methods, 80 words, K 5", 500, 2000)
        progress("toy: done", 2000, 2000)
    text = screen.export_text()
    assert "toy: done" in text
    assert "100%" in text
    with console_module.experiment_progress(quiet=True) as nothing:
        assert nothing is None
    with console_module.working("Measuring", quiet=True):
        pass
    with console_module.working("Measuring", quiet=False):
        pass


def test_an_odd_name_is_no_markup_in_the_bar(monkeypatch):
    """[/red] in the name of a corpus is a name: rich would raise on it as markup."""
    screen = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    monkeypatch.setattr(console_module, "error_console", lambda: screen)
    with console_module.experiment_progress(quiet=False) as progress:
        progress("my[/red]corpus: reading", 1, 2)
    assert "my[/red]corpus" in screen.export_text()

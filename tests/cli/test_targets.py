"""Where commands write: refused before the work where it cannot be, and never at the price of the result."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path

import pytest

import anchorwords as aw
from anchorwords.cli import main
from anchorwords.estimator import AnchorTopicModel

from .test_text import run


@pytest.fixture(scope="module")
def home(tmp_path_factory, sampled):
    home = tmp_path_factory.mktemp("targets")
    labels = ["ab"[i % 2] for i in range(sampled.corpus.n_docs)]
    aw.Corpus(
        sampled.corpus.counts,
        sampled.corpus.vocabulary,
        documents={"label": labels, "year": [2000 + i % 5 for i in range(600)]},
    ).save(home / "corpus")
    AnchorTopicModel(3).fit(sampled.corpus).save(home / "model")
    return home


def commands(home: Path, target: Path) -> dict[str, list[object]]:
    """Every command that writes a folder, then every command that writes a file."""
    return {
        "import": ["import", home / "corpus", "-o", target],
        "fit": ["fit", home / "corpus", "-k", 3, "-o", target],
        "sketch": ["sketch", "build", home / "corpus", "-k", 3, "-o", target],
        "transform": ["transform", home / "model", home / "corpus", "-o", target.with_suffix(".csv")],
        "export": ["export", home / "model", "--to", "gensim", "-o", target],
        "explore": ["explore", home / "model", "-o", target.with_suffix(".html")],
        "groups": [
            "groups", home / "model", home / "corpus", "--by", "label", "-o", target.with_suffix(".csv"),
        ],
        "groups, drawn": [
            "groups", home / "model", home / "corpus", "--by", "label", "--plot", target.with_suffix(".svg"),
        ],
        "trends": ["trends", home / "model", home / "corpus", "--by", "year", "-o", target.with_suffix(".csv")],
        "trends, drawn": ["trends", home / "model", home / "corpus", "--by", "year", "--plot", target.with_suffix(".svg")],
        "scan": ["scan", home / "corpus", "-k", "2:4:1", "--plot", target.with_suffix(".svg")],
    }  # fmt: skip


NAMES = list(commands(Path(), Path("x")))


def work(*_, **__):
    raise AssertionError("there was work before the target was looked at")


@pytest.mark.parametrize("command", NAMES)
@pytest.mark.parametrize("what", ["a file as parent", "a name too long", "a pipe"])
def test_what_cannot_be_written_is_refused_before_the_work(home, tmp_path, monkeypatch, command, what):
    (tmp_path / "file").write_text("x")
    target = {"a file as parent": tmp_path / "file" / "out", "a name too long": tmp_path / ("x" * 300)}.get(what)
    if what == "a pipe":
        target = tmp_path / "out"
        for suffix in ("", ".csv", ".html", ".svg"):
            os.mkfifo(target.with_suffix(suffix))
    before = sorted(os.listdir(tmp_path))
    for name in ("fit", "transform", "transform_blocks"):
        monkeypatch.setattr(AnchorTopicModel, name, work)
    monkeypatch.setattr(aw.CooccurrenceSketch, "update", work)
    monkeypatch.setattr("anchorwords.scan", work)
    done = run(*commands(home, target)[command])
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr
    assert re.search("folder|directory|too long|pipe", done.stderr), done.stderr
    assert sorted(os.listdir(tmp_path)) == before


@pytest.fixture
def tmp(tmp_path, monkeypatch) -> Path:
    """A directory for temporary files of this test alone."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def test_a_model_that_cannot_be_saved_after_the_fit_is_saved_elsewhere(home, tmp_path, monkeypatch, tmp):
    # The disk fills, or somebody puts something else there, while the fit runs.
    save = aw.TextTopicModel.save

    def failing(self, path):
        if Path(path) == tmp_path / "model":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        save(self, path)

    monkeypatch.setattr(aw.TextTopicModel, "save", failing)
    done = run("fit", home / "corpus", "-k", 3, "-o", tmp_path / "model")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    kept = Path(re.search(r"saved in (\S+) instead", done.stderr)[1])
    assert kept.parent == tmp
    assert aw.load_model(kept).n_components == 3
    assert not (tmp_path / "model").exists()


def test_what_is_put_at_the_target_during_a_fit_is_kept_and_so_is_the_model(home, tmp_path, monkeypatch, tmp):
    fit, target = AnchorTopicModel.fit, tmp_path / "model"

    def slowly(self, *arguments, **options):
        target.mkdir()
        (target / "thesis.txt").write_text("precious")
        return fit(self, *arguments, **options)

    monkeypatch.setattr(AnchorTopicModel, "fit", slowly)
    done = run("fit", home / "corpus", "-k", 3, "-o", target)
    assert done.returncode == 1
    assert (target / "thesis.txt").read_text() == "precious"
    kept = Path(re.search(r"saved in (\S+) instead", done.stderr)[1])
    assert kept.parent == tmp
    assert aw.load_model(kept).n_components == 3


def test_standard_streams_are_not_replaced(home):
    for device in ("/dev/null", "/dev/stdout"):
        before = os.stat(device).st_mode if device == "/dev/null" else None
        done = run("export", home / "model", "--to", "gensim", "-o", device)
        assert done.returncode == 1
        assert before is None or os.stat(device).st_mode == before


def test_where_nothing_can_be_saved_nothing_is_left(home, tmp_path, monkeypatch, tmp):
    def failing(self, path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(aw.TextTopicModel, "save", failing)
    done = run("fit", home / "corpus", "-k", 3, "-o", tmp_path / "model")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "instead" not in done.stderr
    assert os.listdir(tmp) == []


def test_an_interruption_before_the_command_begins_is_one_word(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("anchorwords.cli.app.run", interrupted)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"

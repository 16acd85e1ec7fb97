from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import anchorwords as aw
from anchorwords.cli.app import app
from anchorwords.datasets import DOCSTRING_STOP_WORDS, docstring_texts

runner = CliRunner()


def run(*arguments, **options):
    """The command line in a process of its own, as a user calls it."""
    environment = {**os.environ, "COLUMNS": "160", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "anchorwords", *map(str, arguments)],
        capture_output=True, text=True, env=environment, check=False, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory, sampled):
    """The same corpus as a UCI file, with its vocabulary, and as a saved matrix."""
    folder = tmp_path_factory.mktemp("corpus")
    counts = sp.coo_array(sampled.corpus.counts)
    lines = [str(counts.shape[0]), str(counts.shape[1]), str(counts.nnz)]
    lines += [f"{i + 1} {j + 1} {int(v)}" for i, j, v in zip(counts.row, counts.col, counts.data, strict=True)]
    (folder / "docword.toy.txt").write_text("\n".join(lines) + "\n")
    (folder / "vocab.toy.txt").write_text("\n".join(sampled.corpus.vocabulary))
    sp.save_npz(folder / "counts.npz", sp.csr_matrix(sampled.corpus.counts))
    return folder


def test_fit_then_topics(files, tmp_path, sampled):
    done = run("fit", files / "docword.toy.txt", "-o", tmp_path / "model", "-k", 5)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no terminal, no progress
    assert "5 topics of 600 documents (0 too short) and 120 words" in done.stdout
    shown = run("topics", tmp_path / "model", "-n", 4)
    assert shown.returncode == 0
    assert "Background, " in shown.stdout
    assert shown.stdout.count("%") == 6  # with the share of the background
    as_json = json.loads(run("topics", tmp_path / "model", "--json").stdout)
    readers = aw.AnchorTopicModel.from_preset("readers", 5, random_state=0).fit(sampled.corpus.prune())
    expected = aw.topic_table(readers, ranking="keywords")
    assert [row["anchor"] for row in as_json] == [row["anchor"] for row in expected]
    assert as_json[0]["words"] == expected[0]["words"]


def test_fit_a_matrix_with_options(files, tmp_path):
    done = run(
        "fit", files / "counts.npz", "-o", tmp_path / "model", "-k", 3, "--rectifier", "ap", "--max-iter", 500,
        "--n-words", 60, "--vocabulary", files / "vocab.toy.txt", "--json", "--jobs", 1, "--seed", 4,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["topics"], summary["words"], summary["rectifier"], summary["converged"]) == (
        3,
        60,
        "ap",
        True,
    )
    model = aw.load_model(tmp_path / "model").estimator_
    assert model.rectifier == aw.AP(max_iter=500)
    assert model.model_.vocabulary[0].startswith("w")


def test_names_with_spaces_stay_apart_and_any_terminal_will_do(files, tmp_path):
    words = [f"café {i}" for i in range(120)]
    aw.AnchorTopicModel(2).fit(aw.Corpus(aw.read_corpus(files).counts, words)).save(tmp_path / "model")
    result = runner.invoke(app, ["topics", str(tmp_path / "model")], env={"COLUMNS": "200"})
    assert result.output.count(" · ") >= 15
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "anchorwords", "topics", str(tmp_path / "model")]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0
    assert b"caf? " in done.stdout


def test_unrectified_baseline(files, tmp_path):
    done = run("fit", files, "-o", tmp_path / "model", "-k", 3, "--rectifier", "none")
    assert done.returncode == 0, done.stderr
    assert aw.load_model(tmp_path / "model").estimator_.rectifier is None


def test_warnings_are_one_line(files, tmp_path):
    done = run("fit", files, "-o", tmp_path / "model", "-k", 5, "--max-iter", 2, "--tol", 1e-8)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: ENN rectification ended on max_iter=2")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["topics", "nowhere"], 1, "error: nowhere is not a model folder"),
        (["fit", "nowhere.txt", "-o", "m"], 1, "error: nowhere.txt does not exist"),
        (["fit", "CORPUS", "-o", "m", "-k", "500"], 1, "n_components=500 exceeds the 120 usable words"),
        (["fit", "CORPUS", "-o", "m", "--rectifier", "magic"], 2, "magic"),
        (["topic", "x"], 2, "No such command"),
        (["fit", "CORPUS", "-o", "/proc/no/model"], 1, "error: "),
    ],
)
def test_errors_are_one_line_with_an_exit_code(files, tmp_path, arguments, code, message):
    arguments = [str(files / "docword.toy.txt") if a == "CORPUS" else a for a in arguments]
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if code == 1:
        assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_version_and_help():
    assert aw.__version__ in run("--version").stdout
    for command in ("demo", "fit", "topics", "explore", "compare"):
        text = run(command, "--help")
        assert text.returncode == 0
        assert "Example: anchorwords" in text.stdout


def test_hostile_words_are_shown_as_they_are(files, tmp_path):
    words = ["[red]bold[/red]", "\x1b[31mred", ":smile:"] + [f"w{i}" for i in range(117)]
    corpus = aw.Corpus(aw.read_corpus(files).counts, words)
    aw.AnchorTopicModel(3, anchors=[0, 1, 2]).fit(corpus).save(tmp_path / "model")
    result = runner.invoke(app, ["topics", str(tmp_path / "model")])
    assert result.exit_code == 0
    assert "[red]bold[/red]" in result.output
    assert ":smile:" in result.output
    assert "\x1b[31m" not in result.output


def test_demo_prints_topics_of_scientific_python():
    done = run("demo", "-k", 12, "-n", 6, "--no-page")
    assert done.returncode == 0, done.stderr
    assert "12 topics in" in done.stdout
    assert "keywords" in done.stdout
    text = done.stdout
    assert any(word in text for word in ("matrix", "matrices"))
    assert any(word in text for word in ("distribution", "probability"))
    assert any(word in text for word in ("file", "path", "directory"))


@pytest.mark.slow
def test_the_demo_is_a_fit_of_the_same_texts(tmp_path):
    shown = json.loads(run("demo", "-k", 12, "-n", 6, "--json").stdout)
    with (tmp_path / "docs.jsonl").open("w") as stream:
        for text in docstring_texts().values():
            stream.write(json.dumps({"text": text}) + "\n")
    language, *words = DOCSTRING_STOP_WORDS
    (tmp_path / "words.txt").write_text("\n".join(words))
    options = ["--stop-words", language, "--stop-words", tmp_path / "words.txt"]
    fitted = json.loads(run("fit", tmp_path / "docs.jsonl", *options, "-k", 12, "-n", 6, "--json").stdout)
    assert fitted["table"] == shown


@pytest.mark.slow
def test_demo_ends_with_its_page_and_three_sentences(tmp_path):
    page = tmp_path / "demo.html"
    done = run("demo", "-k", 5, "-o", page)
    assert done.returncode == 0, done.stderr
    where, *sentences = done.stdout.strip().splitlines()[-4:]
    assert where.endswith(str(page))
    assert all(sentence.startswith("- ") and sentence.endswith(".") for sentence in sentences)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert '"text":' in text  # how docstrings begin
    nowhere = run("demo", "-o", tmp_path / "none" / "demo.html")
    assert nowhere.returncode == 2
    assert "--output" in nowhere.stderr


def test_progress_bars_on_a_terminal(sampled, monkeypatch):
    from rich.console import Console

    from anchorwords.cli import console as module

    screen = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    monkeypatch.setattr(module, "error_console", lambda: screen)
    with module.fit_progress(quiet=False) as progress:
        model = aw.AnchorTopicModel.from_preset("readers", 4).fit(sampled.corpus, progress=progress)
        model.measure_stability(sampled.corpus, n_replicates=2, progress=progress)
    text = screen.export_text()
    for stage in ("Statistics", "eigenpairs", "Rectification", "topics", "Refinement", "Basis", "Replicates"):
        assert stage in text
    with module.fit_progress(quiet=True) as nothing:
        assert nothing is None


# Ctrl-C in the middle of a fit, whatever the speed of the machine: the key is pressed by the step before the topics.
INTERRUPTED = """
import os, signal
from anchorwords import learn as pipeline
from anchorwords.cli import main

topics = pipeline.low_rank_anchor_words

def pressed(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    return topics(*arguments, **options)

pipeline.low_rank_anchor_words = pressed
main()
"""


def test_ctrl_c_leaves_nothing(files, tmp_path):
    command = [sys.executable, "-c", INTERRUPTED, "fit", str(files), "-o", str(tmp_path / "m"), "-k", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 130
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["-k", "0"],
        ["--seed", "-1"],
        ["--n-words", "0"],
        ["--max-iter", "0"],
        ["--tol", "-1"],
        ["--rectifier", "none", "--tol", "0.1"],
    ],
)
def test_bad_usage_exits_with_two(files, tmp_path, arguments):
    result = runner.invoke(app, ["fit", str(files), "-o", str(tmp_path / "m"), *arguments])
    assert result.exit_code == 2
    assert os.listdir(tmp_path) == []


def test_a_foreign_folder_is_refused_before_the_fit(files, tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    done = run("fit", files, "-o", tmp_path, "-k", 3)
    assert done.returncode == 1
    assert "nothing was written" in done.stderr
    assert os.listdir(tmp_path) == ["thesis.tex"]

"""From raw documents to topics on the command line: import, fit, transform, sketch."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import chdir, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.corpus import files
from anchorwords.exceptions import AnchorwordsError

from .test_cli import app, runner
from .test_cli import run as run_process


def run(*arguments, input=None, cwd=None):  # noqa: A002
    """The command line in this process: a second faster than in one of its own, which test_cli.py and the kill tests use."""
    with chdir(cwd) if cwd is not None else nullcontext():
        result = runner.invoke(app, [str(argument) for argument in arguments], input=input, env={"COLUMNS": "160"})
    code, stderr = result.exit_code, result.stderr
    if isinstance(result.exception, (AnchorwordsError, OSError)):
        code, stderr = 1, f"{stderr}error: {result.exception}\n"
    elif result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return SimpleNamespace(returncode=code, stdout=result.stdout, stderr=stderr)


ANIMALS = ["lion", "tiger", "zebra", "gorilla", "giraffe", "safari", "savanna", "predator", "herd", "jungle"]
KITCHEN = ["flour", "butter", "oven", "sugar", "recipe", "dough", "pastry", "whisk", "cinnamon", "bakery"]
SPACE = ["orbit", "rocket", "planet", "comet", "telescope", "galaxy", "astronaut", "launch", "gravity", "lunar"]


@pytest.fixture(scope="module")
def texts():
    """Sentences about three things, with the words that hold English together."""
    rng = random.Random(0)
    made = []
    for _ in range(400):
        subject, other = rng.sample([ANIMALS, KITCHEN, SPACE], 2)
        words = [rng.choice(subject if rng.random() < 0.85 else other) for _ in range(30)]
        made.append("The " + " and the ".join(words) + ".")
    return made


@pytest.fixture(scope="module")
def sources(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("text")
    (folder / "docs.tsv.gz").write_bytes(gzip.compress("\n".join(f"id{i}\t{t}" for i, t in enumerate(texts)).encode()))
    (folder / "docs.txt").write_text("\n".join(texts))
    (folder / "half1.txt").write_text("\n".join(texts[:200]))
    (folder / "half2.txt").write_text("\n".join(texts[200:]))
    (folder / "files").mkdir()
    for i, text in enumerate(texts[:120]):
        (folder / "files" / f"{i:03d}.txt").write_text(text)
    return folder


def topics_are_readable(rows):
    """Each topic speaks of one thing."""
    found = set()
    for row in rows:
        top = set(row["prominent"][:5])
        kind = [name for name, words in (("a", ANIMALS), ("k", KITCHEN), ("s", SPACE)) if top <= set(words)]
        assert kind, top
        found.add(kind[0])
    assert len(found) == 3


def test_text_to_topics_in_one_command(sources):
    done = run_process("fit", sources / "docs.tsv.gz", "--text-column", 2, "-k", 3)
    assert done.returncode == 0, done.stderr
    assert "vocabulary: english stop words left out, words in 5 to 200 (50%) of 400 documents" in done.stderr
    assert "30 of 32 words kept (left out: 2 stop words)" in done.stderr
    assert "nothing was written: add -o FOLDER" in done.stderr
    assert "3 topics of 400 documents (0 too short) and 30 words" in done.stdout
    assert done.stdout.count("%") == 3  # of each topic; there is next to no background
    assert "zebra" in done.stdout
    quiet = run("fit", sources / "docs.tsv.gz", "--text-column", 2, "-k", 3, "--quiet", "--json")
    assert quiet.stderr == ""
    summary = json.loads(quiet.stdout)
    assert summary["vocabulary_rule"] == {"stop_words": "english", "min_df": 5, "max_df": 0.5, "n_words": 50000}
    assert summary["left_out"]["stop_words"] == 2
    topics_are_readable(summary["table"])


def test_a_folder_of_files_and_standard_input(sources, texts):
    done = run("fit", sources / "files", "-k", 3, "--json", "-q")
    summary = json.loads(done.stdout)
    assert summary["documents"] == 120
    topics_are_readable(summary["table"])
    piped = run("fit", "-", "-k", 3, "--json", "-q", input="\n".join(texts))
    topics_are_readable(json.loads(piped.stdout)["table"])
    refused = run("fit", "-", "--format", "csv", "-k", 3, input="x")
    assert refused.returncode == 2


def test_every_part_of_the_rule_can_be_said(sources, tmp_path):
    (tmp_path / "stop.txt").write_text("lion\ntiger\n")
    done = run(
        "fit", sources / "docs.txt", "-k", 3, "--json", "--stop-words", tmp_path / "stop.txt", "--min-df", 3,
        "--max-df", 1.0, "--n-words", 20,
    )  # fmt: skip
    summary = json.loads(done.stdout)
    assert summary["words"] == 20
    left_out = summary["left_out"]
    assert (left_out["stop_words"], left_out["words_beyond_cap"], left_out["rare_words"]) == (2, 10, 0)
    none = json.loads(run("fit", sources / "docs.txt", "-k", 3, "--json", "-q", "--stop-words", "none").stdout)
    assert none["left_out"]["frequent_words"] >= 2  # "the" and "and" are in every document
    run("fit", sources / "docs.txt", "-k", 3, "-q", "--ngrams", 2, "--min-df", 2, "-o", tmp_path / "phrases")
    words = aw.load_model(tmp_path / "phrases").model_.vocabulary
    assert any(" " in word for word in words)
    assert not any("the" in word.split() for word in words)  # phrases are of what is left without stop words


def test_import_then_fit_then_transform(sources, tmp_path):
    done = run("import", sources / "docs.tsv.gz", "--text-column", 2, "--id-column", 1, "-o", tmp_path / "corpus")
    assert done.returncode == 0, done.stderr
    assert "400 documents, 32 words" in done.stdout
    fitted = run("fit", tmp_path / "corpus", "-k", 3, "-o", tmp_path / "model", "--preset", "paper")
    assert fitted.returncode == 0, fitted.stderr
    assert "written to" in fitted.stdout
    model = aw.load_model(tmp_path / "model")
    assert model.text_rule_.lowercase is True
    expected = model.transform(aw.open_corpus(tmp_path / "corpus"))
    # The same documents from the corpus and from the text, which is split as it was for the fit.
    for name, source, options in (
        ("a.csv", tmp_path / "corpus", []),
        ("b.tsv", sources / "docs.tsv.gz", ["--text-column", 2, "--id-column", 1]),
    ):
        done = run("transform", tmp_path / "model", source, "-o", tmp_path / name, *options)
        assert done.returncode == 0, done.stderr
        lines = (tmp_path / name).read_text().splitlines()
        separator = "," if name.endswith("csv") else "\t"
        assert lines[0].split(separator) == ["document", "topic_0", "topic_1", "topic_2"]
        assert lines[1].split(separator)[0] == "id0"
        weights = np.array([line.split(separator)[1:] for line in lines[1:]], dtype=float)
        np.testing.assert_allclose(weights, expected, atol=1e-6)  # six digits
    run("transform", tmp_path / "model", tmp_path / "corpus", "-o", tmp_path / "c.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), expected)
    shown = run("transform", tmp_path / "model", "-", "--json", "-q", input="A lion and a tiger hunt the zebra\n\n")
    records = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [record["document"] for record in records] == ["1", "2"]
    assert max(records[0]["topics"]) > 0.8  # four words of animals; the prior has a token too
    np.testing.assert_allclose(records[1]["topics"], model.topic_prevalence_, atol=1e-6)
    assert run("transform", tmp_path / "model", tmp_path / "corpus", "-o", tmp_path / "x.pdf").returncode == 2
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.tsv", "c.npy", "corpus", "model"]


def test_matrices_keep_their_own_words(sources, tmp_path):
    run("fit", sources / "docs.txt", "-k", 3, "-q", "-o", tmp_path / "model")
    model = aw.load_model(tmp_path / "model")
    words = model.model_.vocabulary[::-1]
    (tmp_path / "vocab.a.txt").write_text("\n".join(words))
    lion = words.index("lion") + 1
    (tmp_path / "docword.a.txt").write_text(f"1\n{len(words)}\n1\n1 {lion} 9\n")
    done = run("transform", tmp_path / "model", tmp_path / "docword.a.txt", "--json")
    expected = model.transform(aw.read_corpus(["lion " * 9], vocabulary=model.model_.vocabulary))[0]
    np.testing.assert_allclose(json.loads(done.stdout)["topics"], expected, atol=1e-6)


def test_what_cannot_be_said_of_a_corpus_is_refused(sources, tmp_path):
    run("import", sources / "docs.txt", "-o", tmp_path / "corpus")
    for option in (["--ngrams", 2], ["--keep-case"], ["--text-column", 2]):
        done = run("fit", tmp_path / "corpus", "-k", 3, *option)
        assert done.returncode == 2
        assert "counted already" in done.stderr


def test_standard_input_must_be_utf8_and_hold_something():
    done = run("fit", "-", "-k", 2, input="good line\ncaf\xe9\n".encode("latin-1"))
    assert done.returncode == 1
    assert "standard input, line 2: not UTF-8" in done.stderr
    assert "standard input holds no documents" in run("fit", "-", "-k", 2, input="").stderr


def test_standard_input_is_split_and_limited_as_a_file_is(tmp_path, monkeypatch):
    raw = b"\xef\xbb\xbfone two\r\nthree four\r\n"
    run("import", "-", "-o", tmp_path / "a", input=raw)
    (tmp_path / "a.txt").write_bytes(raw)
    assert aw.open_corpus(tmp_path / "a").vocabulary == aw.read_corpus(tmp_path / "a.txt").vocabulary
    run("import", "-", "-o", tmp_path / "b", input=b"one two\rthree four\r")
    assert aw.open_corpus(tmp_path / "b").n_docs == 2
    monkeypatch.setattr(files, "_LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(files, "_CHUNK", 1 << 16)
    done = run("import", "-", "-o", tmp_path / "c", input=b"word " * (1 << 19))
    assert done.returncode == 1
    assert "standard input has a line longer than 1 MiB" in done.stderr


def test_standard_input_that_cannot_be_read_is_one_sentence(tmp_path):
    command = [sys.executable, "-m", "anchorwords", "import", "-", "-o", tmp_path / "a"]
    done = subprocess.run(["sh", "-c", 'exec "$@" 0> /dev/null', "sh", *command], capture_output=True, text=True)
    assert done.returncode == 1
    assert "standard input cannot be read (Bad file descriptor)" in done.stderr
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True, text=True)
    assert done.returncode == 1
    assert "standard input holds no documents" in done.stderr


@pytest.mark.parametrize(
    "command", [["import", "-o", "new"], ["fit", "-k", "2"], ["scan", "-k", "2"], ["evaluate", "m"]]
)
def test_an_empty_source_is_not_the_current_folder(sources, tmp_path, command):
    run("import", sources / "docs.txt", "-o", tmp_path / "corpus")
    name, *options = command
    arguments = [*options, ""] if name == "evaluate" else ["", *options]
    done = run(name, *arguments, cwd=tmp_path / "corpus")
    assert done.returncode == 2
    assert "is empty: name a file or a folder" in done.stderr


def test_a_model_of_a_sketch_splits_text_as_the_sketch_did(sources, tmp_path):
    run("sketch", "build", sources / "docs.txt", "-k", 3, "--keep-case", "-o", tmp_path / "s")
    run("fit", tmp_path / "s", "-k", 3, "-o", tmp_path / "model", "-q")
    assert aw.load_model(tmp_path / "model").text_rule_.lowercase is False


def test_a_tokenizer_of_ones_own_is_asked_for_again(sources, tmp_path):
    (tmp_path / "mine.py").write_text("def words(text):\n    return [w for w in text.split() if len(w) > 3]\n")
    options = ["--tokenizer", "mine:words"]
    fitted = run("fit", sources / "docs.txt", "-k", 3, "-o", "model", *options, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    missing = run("transform", "model", sources / "docs.txt", cwd=tmp_path)
    assert missing.returncode == 1
    assert "mine:words: give it again" in missing.stderr
    assert run("transform", "model", sources / "docs.txt", *options, cwd=tmp_path).returncode == 0
    for wrong in ("mine", ":words", "mine:nothing", "nowhere:words"):
        assert run("fit", sources / "docs.txt", "--tokenizer", wrong, cwd=tmp_path).returncode == 2


def test_sketches_on_the_command_line(sources, tmp_path):
    for method in ("linear", "incremental"):
        for half in ("half1", "half2"):
            done = run(
                "sketch", "build", sources / f"{half}.txt", "-k", 3, "--sketch-columns", 24, "--method", method,
                "-o", tmp_path / half, "--json",
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["documents"] == 200
        merged = run("sketch", "merge", tmp_path / "half1", tmp_path / "half2", "-o", tmp_path / "both")
        assert "400 documents (0 too short), 30 words" in merged.stdout
        fitted = run("fit", tmp_path / "both", "-k", 3, "--json", "-q")
        topics_are_readable(json.loads(fitted.stdout)["table"])
        rest = run("sketch", "subtract", tmp_path / "both", tmp_path / "half2", "-o", tmp_path / "rest")
        if method == "linear":
            assert rest.returncode == 0
            info = json.loads(run("sketch", "info", tmp_path / "rest", "--json").stdout)
            assert (info["documents"], info["method"], info["columns"]) == (200, "linear", 24)
        else:
            assert rest.returncode == 1
            assert "cannot forget documents" in rest.stderr


def test_sketches_of_different_rules_do_not_merge(sources, tmp_path):
    run("sketch", "build", sources / "half1.txt", "-k", 3, "-o", tmp_path / "a")
    run("sketch", "build", sources / "half2.txt", "-k", 3, "-o", tmp_path / "b", "--stop-words", "none")
    (tmp_path / "words.txt").write_text("\n".join(ANIMALS))
    run("sketch", "build", sources / "half2.txt", "-k", 3, "-o", tmp_path / "c", "--vocabulary", tmp_path / "words.txt")
    for other, message in (("b", "different rules of what a word is"), ("c", "different rules of what a word is")):
        done = run("sketch", "merge", tmp_path / "a", tmp_path / other, "-o", tmp_path / "out")
        assert done.returncode == 1
        assert message in done.stderr
        assert not (tmp_path / "out").exists()
    refused = run("fit", tmp_path / "a", "--max-df", 0.2)
    assert refused.returncode == 2
    assert "chosen when it was built" in refused.stderr


@pytest.mark.parametrize("command", [["import"], ["fit"], ["transform"], ["sketch", "build"], ["sketch", "merge"],
                                     ["sketch", "subtract"], ["sketch", "info"]])  # fmt: skip
def test_help_has_an_example(command):
    text = runner.invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
    assert text.exit_code == 0
    assert f"Example: anchorwords {' '.join(command)}" in text.output


def test_completion_is_offered():
    assert "--install-completion" in run("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["import", "nowhere.txt", "-o", "c"], 1, "nowhere.txt does not exist"),
        (["import", "SOURCE"], 2, "--output"),
        (["import", "SOURCE", "-o", "."], 1, "nothing was written"),
        (["import", "SOURCE", "-o", "c", "--text-column", "9"], 1, "from 1 to 2"),
        (["import", "SOURCE", "-o", "c", "--format", "magic"], 2, "magic"),
        (["import", "SOURCE", "-o", "c", "--jobs", "0"], 2, "must not be 0"),
        (["fit", "SOURCE", "--seed", "5000000000"], 2, "--seed"),
        (["sketch", "merge", "nowhere", "-o", "s"], 1, "not a sketch folder"),
        (
            ["sketch", "build", "SOURCE", "-o", "s", "-k", "5", "--sketch-columns", "2", "--text-column", "2"],
            1,
            "n_columns",
        ),
        (["transform", "nowhere", "SOURCE"], 1, "not a model folder"),
        (["fit", "SOURCE", "--text-column", "2", "--stop-words", "portugese"], 2, "did you mean portuguese?"),
    ],
)
def test_errors_are_one_line(sources, tmp_path, arguments, code, message):
    (tmp_path / "keep.txt").write_text("x")
    arguments = [str(sources / "docs.tsv.gz") if a == "SOURCE" else a for a in arguments]
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    if code == 1:
        assert [line for line in done.stderr.splitlines() if line.startswith("error: ")] == [
            done.stderr.splitlines()[-1]
        ]
    assert os.listdir(tmp_path) == ["keep.txt"]


def test_progress_bars_of_reading_and_sketching(sources, monkeypatch):
    from rich.console import Console

    from anchorwords.cli import console as module

    screen = Console(force_terminal=True, width=120, record=True, file=io.StringIO())
    monkeypatch.setattr(module, "error_console", lambda: screen)
    with module.reading_progress(quiet=False) as progress:
        aw.read_corpus(sources / "docs.txt", progress=progress)
    with module.document_progress("Sketching", quiet=False) as progress:
        progress(7, None)
    text = screen.export_text()
    assert "Reading" in text
    assert "400 documents" in text
    assert "/s" in text
    assert "Sketching" in text


# ---- Killed at any moment.


def start(*arguments):
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "anchorwords", *map(str, arguments)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("command", ["import", "sketch", "fit"])
def test_killed_at_any_moment_nothing_wrong_is_left(sources, tmp_path, command):
    arguments, opener = {
        "import": (["import", sources / "docs.txt"], aw.open_corpus),
        "sketch": (["sketch", "build", sources / "docs.txt", "-k", "3"], aw.load_sketch),
        "fit": (["fit", sources / "docs.txt", "-k", "3"], aw.load_model),
    }[command]
    target = tmp_path / "out"
    begin = time.perf_counter()
    assert start(*arguments, "-o", target).wait() == 0
    usual = time.perf_counter() - begin
    before = {file.name: file.read_bytes() for file in target.iterdir()}
    rng = random.Random(command)
    for _ in range(4):
        process = start(*arguments, "-o", target)
        time.sleep(rng.uniform(0.4, 1.05) * usual)
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait()
        # Whatever happened, what opens is whole, and the same as ever: the same data and seed.
        opener(target)
        assert {file.name: file.read_bytes() for file in target.iterdir()} == before
    assert start(*arguments, "-o", target).wait() == 0
    assert os.listdir(tmp_path) == ["out"]

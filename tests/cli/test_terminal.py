"""What a stranger has put into words, labels, ids and file names never reaches the terminal as anything but text."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

# Reads FORCE_COLOR when it is imported, so it must not be imported while a test sets that variable.
import typer.rich_utils  # noqa: F401

import anchorwords as aw
from anchorwords.cli import main
from anchorwords.datasets import make_topics
from anchorwords.storage.model_folder import write_model
from tests.storage.test_model_folder import manifest_of, reseal

# Sets the title of a window, clears the screen, 8-bit CSI, an override of the direction, a delete, a carriage return, line
# and paragraph separators, a hyperlink, markup of rich, emoji codes.
HOSTILE = (
    "\x1b]0;pwned\x07", "\x1b[2J", "\x9b35;5m", "\u202egnp.exe", "\x7f\x7f", "\rhidden", "two\nlines", "\u2028", "\u2029",
    "\x85", "\x1b]8;;http://x.invalid\x1b\\", "[red]red[/red]", "[/]", ":bomb:", "[link=http://x.invalid]x[/link]",
    "\ud800", "\u2066isolate", "\x00", "\x08\x08", "\U000e0041",
)  # fmt: skip
# File names may hold all of these but a slash and a NUL.
NAME = "\x1b]0;pwned\x07\x1b[2J\x9b35;5m\u202e\r\n[red]x"


def words_of(n):
    return [f"{HOSTILE[i % len(HOSTILE)]}{i}" for i in range(n)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, a corpus and files whose every name is hostile."""
    folder = tmp_path_factory.mktemp("hostile") / NAME
    folder.mkdir()
    corpus = make_topics(n_docs=150, n_words=60, n_topics=4, doc_length=40, random_state=3).corpus
    ids = [f"{word} {i}" for i, word in enumerate(words_of(150))]
    table = {
        "[red]kind": [HOSTILE[i % 7] for i in range(150)],
        "title": words_of(150),
        "[red]year\x1b[2J": [i % 9 for i in range(150)],
    }
    hostile = aw.Corpus(corpus.counts, words_of(60), ids, documents=table, title="title")
    hostile.save(folder / "corpus")
    fitted = aw.AnchorTopicModel.from_preset("readers", 4).fit(hostile)
    fitted.measure_stability(hostile, n_replicates=2)
    fitted.model_ = fitted.model_.with_labels(words_of(4))
    fitted.save(folder / "model")
    spectral = aw.AnchorTopicModel(3).fit(hostile)
    spectral.save(folder / "other")
    lines = [" ".join(f"word{j}" for j in np.random.default_rng(i).integers(30, size=20)) for i in range(60)]
    (folder / "docs.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "reproduce").mkdir()
    made = spectral.model_.provenance.with_changes(
        reading=aw.corpus.text_rule.TextRule(tokenizer="\x1b[2J\x9b35;5mx:y")
    )
    write_model(folder / "tokenizer", dataclasses.replace(spectral.model_, provenance=made))
    fitted.save(folder / "parameters")
    manifest = manifest_of(folder / "parameters")
    manifest["provenance"]["parameters"]["\x1b[2J\x9b35;5m"] = 1
    reseal(folder / "parameters", manifest)
    fitted.save(folder / "version")
    reseal(folder / "version", manifest_of(folder / "version") | {"format_version": "\x1b[2J\x9b35;5m"})
    return folder


COMMANDS = {
    "import": (0, ["import", "{docs.txt}", "-o", "{new/corpus}"]),
    "import a corpus": (0, ["import", "{corpus}", "-o", "{new/corpus}", "--json"]),
    "fit": (0, ["fit", "{corpus}", "-k", "3", "-o", "{new/model}"]),
    "fit and show": (0, ["fit", "{corpus}", "-k", "3"]),
    "fit as json": (0, ["fit", "{corpus}", "-k", "3", "--json"]),
    "fit, unknown words": (
        0,
        ["fit", "{corpus}", "-k", "3", "--anchor", "\x1b[2J\x9b35;5m", "--forbid", "\x1b]0;x\x07"],
    ),
    "fit, kept words": (
        0,
        ["fit", "{corpus}", "-k", "3", "--keep-word", "\x1b[2J1", "--keep-word", "\x1b]0;pwned\x070"],
    ),
    "scan": (0, ["scan", "{corpus}", "-k", "2,3"]),
    "scan as json": (0, ["scan", "{corpus}", "-k", "2,3", "--json"]),
    "topics": (0, ["topics", "{model}", "-n", "30", "--anchors", "--common-words", "9"]),
    "topics of documents": (0, ["topics", "{model}", "--corpus", "{corpus}", "--documents", "3", "--anchors"]),
    "topics as in the paper": (0, ["topics", "{other}", "--style", "paper"]),
    "topics as markdown": (0, ["topics", "{model}", "--style", "markdown", "--common-words", "9"]),
    "topics as json": (0, ["topics", "{model}", "--json", "--corpus", "{corpus}", "--documents", "3"]),
    "explore": (0, ["explore", "{model}", "-o", "{new/page.html}", "--corpus", "{corpus}", "--title", "\x1b[2J"]),
    "explore as json": (0, ["explore", "{model}", "--json", "--corpus", "{corpus}"]),
    "transform": (0, ["transform", "{model}", "{corpus}"]),
    "transform as json": (0, ["transform", "{model}", "{corpus}", "--json"]),
    "transform to a file": (0, ["transform", "{model}", "{corpus}", "-o", "{new/x.csv}", "--perplexity"]),
    "transform, summary as json": (0, ["transform", "{model}", "{corpus}", "-o", "{new/x.jsonl}", "--json"]),
    "evaluate": (0, ["evaluate", "{model}", "{corpus}", "--per-topic"]),
    "evaluate as json": (0, ["evaluate", "{model}", "{corpus}", "--json"]),
    "compare": (0, ["compare", "{model}", "{other}"]),
    "compare as markdown": (0, ["compare", "{model}", "{other}", "--style", "markdown"]),
    "compare as json": (0, ["compare", "{model}", "{other}", "--json"]),
    "groups": (0, ["groups", "{model}", "{corpus}", "--by", "[red]kind"]),
    "groups as json": (0, ["groups", "{model}", "{corpus}", "--by", "[red]kind", "--json"]),
    "groups to a file": (0, ["groups", "{model}", "{corpus}", "--by", "[red]kind", "-o", "{new/x.csv}"]),
    "trends": (0, ["trends", "{model}", "{corpus}", "--by", "[red]year\x1b[2J"]),
    "trends as json": (0, ["trends", "{model}", "{corpus}", "--by", "[red]year\x1b[2J", "--json"]),
    "trends to a file": (0, ["trends", "{model}", "{corpus}", "--by", "[red]year\x1b[2J", "-o", "{new/x.csv}"]),
    "trends of a wrong column": (1, ["trends", "{model}", "{corpus}", "--by", "[red]kind"]),
    "export to gensim": (0, ["export", "{model}", "--to", "gensim", "-o", "{new/x.txt}"]),
    "export a graph": (0, ["export", "{model}", "--to", "gexf", "-o", "{new/x.gexf}"]),
    "export to pyldavis": (0, ["export", "{model}", "{corpus}", "--to", "pyldavis", "-o", "{new/x.json}"]),
    "sketch": (0, ["sketch", "build", "{corpus}", "-k", "3", "-o", "{new/sketch}"]),
    "sketch as json": (0, ["sketch", "build", "{corpus}", "-k", "3", "-o", "{new/sketch}", "--json"]),
    "no model": (1, ["topics", "{nowhere}"]),
    "no documents": (1, ["fit", "{nowhere.txt}"]),
    "no sketch": (1, ["sketch", "info", "{nowhere}"]),
    "merge nothing": (1, ["sketch", "merge", "{nowhere}", "{nowhere}", "-o", "{new/sketch}"]),
    "subtract nothing": (1, ["sketch", "subtract", "{nowhere}", "{nowhere}", "-o", "{new/sketch}"]),
    "a hostile tokenizer": (1, ["transform", "{tokenizer}", "{docs.txt}"]),
    "a hostile parameter": (1, ["transform", "{parameters}", "{docs.txt}"]),
    "a hostile version": (1, ["topics", "{version}"]),
    "no corpora": (1, ["reproduce", "--data", "{reproduce}", "-o", "{new/report}"]),
    "a wrong suffix": (2, ["transform", "{model}", "{corpus}", "-o", "{new/x}"]),
    "a wrong choice": (2, ["topics", "{model}", "--style", "\x1b[2J\x9b35;5m"]),
    "a wrong option": (2, ["topics", "{model}", "--\x1b[2J\x9b35;5m"]),
    "a wrong command": (2, ["\x1b[2J\x9b35;5m"]),
    "a wrong sketch command": (2, ["sketch", "\x1b[2J\x9b35;5m"]),
    "a wrong tokenizer": (2, ["fit", "{docs.txt}", "--tokenizer", "\x1b[2J\x9b35;5m:x"]),
    "a wrong metric": (2, ["evaluate", "{model}", "{corpus}", "-m", "\x1b[2J\x9b35;5m"]),
    "options of a corpus": (2, ["fit", "{corpus}", "--keep-case"]),
}


def called(monkeypatch, capsys, arguments):
    """Exit code, standard output and standard error of the command line in this process."""
    monkeypatch.setattr(sys, "argv", ["anchorwords", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return (stopped.value.code or 0, *capsys.readouterr())


def paths_filled(arguments, folder, tmp_path):
    new = tmp_path / NAME
    new.mkdir()
    places = {"new": new}

    def path(match):
        first, _, rest = match[1].partition("/")
        return str(places[first] / rest if first in places else folder / match[1])

    return [re.sub(r"^\{(.*)\}$", path, argument) for argument in arguments]


def controls(text):
    """Characters of a text that a terminal does not show: control, format and surrogate characters, other line ends."""
    return sorted({
        ascii(char) for char in text
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\n\t\u200c\u200d"
    })  # fmt: skip


@pytest.mark.parametrize("how", COMMANDS)
@pytest.mark.filterwarnings("ignore")
def test_nothing_hostile_reaches_a_terminal(how, folder, tmp_path, monkeypatch, capsys):
    code, arguments = COMMANDS[how]
    # A terminal that knows no colours and no cursor: whatever control character comes is not ours.
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    found, out, err = called(monkeypatch, capsys, paths_filled(arguments, folder, tmp_path))
    assert found == code, err
    assert controls(out) == []
    assert controls(err) == []
    if how.endswith("as json") and "transform" not in how:
        json.loads(out)


def test_the_name_of_a_column_is_no_markup(folder, tmp_path, monkeypatch, capsys):
    code, out, _ = called(monkeypatch, capsys, paths_filled(COMMANDS["trends"][1], folder, tmp_path))
    assert code == 0
    assert "per [red]year" in " ".join(out.split())


@pytest.mark.parametrize("how", ["topics", "topics of documents", "topics as in the paper", "compare", "no model"])
def test_a_terminal_with_colours_gets_ours_only(how, folder, tmp_path, monkeypatch, capsys):
    code, arguments = COMMANDS[how]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    found, out, err = called(monkeypatch, capsys, paths_filled(arguments, folder, tmp_path))
    assert found == code
    assert "\x1b[" in out + err  # bold, dim or red
    ours = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\r?\x1b\[2K|\x1b\[1A")  # styles, and bars of progress
    assert controls(ours.sub("", out)) == []
    assert controls(ours.sub("", err)) == []
    assert "\x1b[2J" not in out + err
    if how == "topics":
        assert "[red]red[/red]" in out  # markup of rich is text
        assert ":bomb:" in out


def test_a_pipe_gets_every_character(folder, monkeypatch, capsys):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    code, out, _ = called(monkeypatch, capsys, ["transform", str(folder / "model"), str(folder / "corpus"), "-q"])
    assert code == 0
    assert "\x1b]0;pwned\x070 0," in out
    code, out, _ = called(
        monkeypatch, capsys, ["transform", str(folder / "model"), str(folder / "corpus"), "--json", "-q"]
    )
    ids = aw.open_corpus(folder / "corpus").doc_ids
    assert tuple(json.loads(line)["document"] for line in out.splitlines()) == ids


def test_json_holds_every_character_and_shows_none_that_is_invisible(folder, monkeypatch, capsys):
    code, out, _ = called(monkeypatch, capsys, ["topics", str(folder / "model"), "--json"])
    assert code == 0
    assert controls(out) == []
    found = {word for row in json.loads(out) for word in row["prominent"]}
    assert found <= set(words_of(60))
    assert any("\x9b" in word for word in found)


def test_errors_and_warnings_of_python_show_no_control_characters(folder):
    with pytest.raises(aw.exceptions.ModelFormatError) as caught:
        aw.load_model(folder / "parameters")
    assert controls(str(caught.value)) == []
    with pytest.raises(aw.exceptions.InputError) as caught:
        aw.load_model(folder / "tokenizer").text_rule_.with_tokenizer(None)
    assert controls(str(caught.value)) == []
    corpus = aw.open_corpus(folder / "corpus")
    with pytest.warns(aw.exceptions.UnknownWordWarning) as warned:
        aw.AnchorTopicModel(3, anchors=["\x1b[2Jnowhere"]).fit(corpus)
    assert [controls(str(one.message)) for one in warned] == [[]] * len(warned)


def test_the_hostile_folder_is_hostile(folder):
    """Otherwise the tests above would show nothing."""
    assert "\x1b" in str(folder)
    assert Path(folder / "model").is_dir()
    assert any("\x1b" in word for word in aw.load_model(folder / "model").model_.vocabulary)

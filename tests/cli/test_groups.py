"""``anchorwords groups``."""

from __future__ import annotations

import csv
import gzip
import json
import os

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.cli.groups import read_labels

from .test_text import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    """A model; its documents; their labels, by the largest of their true topics, in several kinds of files."""
    folder = tmp_path_factory.mktemp("grouped")
    aw.AnchorTopicModel(5).fit(sampled.corpus).save(folder / "model")
    sampled.corpus.save(folder / "corpus")
    labels = [f"kind {k}" for k in sampled.compositions.argmax(axis=1)]
    labels[3] = ""
    (folder / "labels.txt").write_text("\n".join(labels) + "\n")
    (folder / "labels.tsv").write_text("".join(f"{m}\t{label}\n" for m, label in enumerate(labels)))
    table = "number,label\n" + "".join(f'{m},"{label}"\n' for m, label in enumerate(labels))
    (folder / "labels.csv.gz").write_bytes(gzip.compress(table.encode()))
    return folder


def groups(folder, *arguments, code=0, labels="labels.txt"):
    done = run("groups", folder / "model", folder / "corpus", "--labels", folder / labels, *arguments)
    assert done.returncode == code, done.stderr
    return done


def expected(folder, **options):
    given = [label or None for label in (folder / "labels.txt").read_text().splitlines()]
    return aw.prevalence_by(aw.load_model(folder / "model"), aw.open_corpus(folder / "corpus"), given, **options)


def test_json_holds_every_group_and_topic(folder):
    told = json.loads(groups(folder, "--json").stdout)
    assert told["rows"] == expected(folder).rows()
    assert (told["level"], told["documents_without_label"], told["documents_without_known_words"]) == (0.9, 1, 0)
    told = json.loads(groups(folder, "--json", "--level", 0.5, "--by-tokens").stdout)
    assert told["rows"] == expected(folder, level=0.5, by_tokens=True).rows()


def test_labels_from_any_file(folder):
    plain = groups(folder, "--json").stdout
    assert groups(folder, "--json", "--label-column", 2, labels="labels.tsv").stdout == plain
    assert groups(folder, "--json", "--label-column", "label", labels="labels.csv.gz").stdout == plain


def test_years_are_numbers_and_codes_are_not(tmp_path):
    (tmp_path / "years.txt").write_text("2001\n999\n\n2001\n")
    assert read_labels(tmp_path / "years.txt", None) == [2001, 999, None, 2001]
    (tmp_path / "codes.txt").write_text("007\n12\n")
    assert read_labels(tmp_path / "codes.txt", None) == ["007", "12"]


def test_the_table_shows_what_stands_out(folder, sampled):
    found = expected(folder)
    done = groups(folder, "--top", 1, "-n", 3)
    lines = done.stdout.splitlines()[1:]
    assert len(lines) == len(found.groups)
    everywhere = found.n_docs @ found.prevalence / found.n_docs.sum()
    words = aw.prominent_words(aw.load_model(folder / "model"), 3)
    for g, line in enumerate(lines):
        k = int(np.argmax(found.prevalence[g] - everywhere))
        assert line.split()[:4] == ["kind", str(g), str(found.n_docs[g]), f"{100 * found.prevalence[g, k]:.1f}%"]
        assert line.split()[-4:] == [str(k), *words[k]]
    # Each kind of document has a topic that stands out in no other.
    assert len({line.split()[-4] for line in lines}) == 5
    assert "left out: 1 documents without a label, 0 without a known word" in done.stderr
    assert len(groups(folder, "--top", 2).stdout.splitlines()) == 1 + 2 * 5


def test_a_table_for_other_programs(folder, tmp_path):
    for name, separator in (("shares.csv", ","), ("shares.tsv", "\t")):
        done = groups(folder, "-o", tmp_path / name)
        assert done.stdout == ""
        with (tmp_path / name).open(newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter=separator))
        for row, right in zip(rows, expected(folder).rows(), strict=True):
            assert row == {column: str(value) for column, value in right.items()}


def test_a_group_of_one_document_has_no_interval(folder, tmp_path):
    labels = ["most"] * 599 + ["[bold]alone"]
    (tmp_path / "labels.txt").write_text("\n".join(labels))
    arguments = ("groups", folder / "model", folder / "corpus", "--labels", tmp_path / "labels.txt")
    alone = [row for row in json.loads(run(*arguments, "--json").stdout)["rows"] if row["group"] == "[bold]alone"]
    assert all(row["low"] is None and row["high"] is None and row["n_docs"] == 1 for row in alone)
    assert "[bold]alone" in run(*arguments).stdout
    run(*arguments, "-o", tmp_path / "shares.csv")
    with (tmp_path / "shares.csv").open(newline="") as stream:
        assert {row["low"] for row in csv.DictReader(stream) if row["group"] == "[bold]alone"} == {""}


@pytest.mark.parametrize(
    ("labels", "arguments", "code", "message"),
    [
        ("labels.tsv", [], 2, "say which column holds the labels, with --label-column"),
        ("labels.txt", ["--label-column", "2"], 2, "--label-column belongs to a table"),
        ("labels.tsv", ["--label-column", "3"], 1, "--label-column must be a column"),
        (
            "labels.csv.gz",
            ["--label-column", "2"],
            1,
            "601 labels for 600 documents: does its first line name the columns?",
        ),
        ("nowhere.txt", [], 1, "nowhere.txt"),
        ("labels.txt", ["--level", "1"], 2, "--level must be between 0 and 1"),
        ("labels.txt", ["-o", "shares.xls"], 2, "--output must end in .csv or .tsv, but is shares.xls"),
        ("short.txt", [], 1, "has 2 labels for 600 documents: there must be one for each"),
        ("empty.txt", [], 1, "every label is missing"),
    ],
)
def test_what_does_not_go_is_said_in_a_line(folder, tmp_path, labels, arguments, code, message):
    (folder / "short.txt").write_text("a\nb\n")
    (folder / "empty.txt").write_text("\n" * 600)
    done = run(
        "groups", folder / "model", folder / "corpus", "--labels", folder / labels, *arguments, cwd=tmp_path
    )  # fmt: skip
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


def test_help_has_examples():
    assert run("groups", "--help").stdout.count("Example: anchorwords groups") == 2

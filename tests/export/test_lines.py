"""Tables: exact for programs, and without formulas for spreadsheets."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export import write_compositions
from anchorwords.export.lines import separated
from tests.cli.test_text import run

FORMULAS = [
    "=1+1", "=cmd|' /C calc'!A0", "+1+2", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1", "-", "+", "=", "-1,5",
    "=HYPERLINK(\"http://x.invalid\")",
]  # fmt: skip
HARMLESS = ["word", "1", "-1", "+1", "-1.5", "a=b", "x-1", "", " =1", "'=1", "語"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
@pytest.mark.parametrize("cell", FORMULAS + HARMLESS)
def test_cells(suffix, cell):
    def read(line):
        return next(csv.reader([line], delimiter="," if suffix == ".csv" else "\t", strict=True))

    if "\n" not in cell and "\r" not in cell:
        assert read(separated([cell, 0.5], suffix)) == [cell, "0.5"]  # as it is, for whatever reads it
        expected = f"'{cell}" if cell in FORMULAS else cell
        assert read(separated([cell, 0.5], suffix, spreadsheet=True)) == [expected, "0.5"]
    guarded = separated([cell, -0.5], suffix, spreadsheet=True)
    assert guarded.lstrip('"').startswith("'") == (cell in FORMULAS or cell.startswith("'"))
    assert guarded.rstrip("\n").endswith("-0.5")  # numbers are numbers


@pytest.fixture(scope="module")
def fitted(sampled):
    ids = [f"{FORMULAS[i % len(FORMULAS)]} {i}" for i in range(sampled.corpus.n_docs)]
    corpus = aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, ids)
    return aw.AnchorTopicModel(3).fit(corpus), corpus


def test_names_come_back_by_default(fitted, tmp_path):
    model, corpus = fitted
    write_compositions(model, corpus, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as stream:
        names = [row[0] for row in csv.reader(stream)][1:]
    assert tuple(names) == corpus.doc_ids


def test_no_name_is_a_formula_in_a_table_for_spreadsheets(fitted, tmp_path):
    model, corpus = fitted
    write_compositions(model, corpus, tmp_path / "x.tsv", spreadsheet=True)
    with (tmp_path / "x.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t"))[1:]
    assert [row[0] for row in rows] == [f"'{name}" for name in corpus.doc_ids]
    np.testing.assert_allclose([[float(x) for x in row[1:]] for row in rows], model.transform(corpus), atol=1e-6)
    with pytest.raises(InputError, match="spreadsheet is about tables"):
        write_compositions(model, corpus, tmp_path / "x.npy", spreadsheet=True)


def test_from_the_command_line(fitted, tmp_path):
    model, corpus = fitted
    model.save(tmp_path / "model")
    labels = ["=1+1" if i % 2 else "@x" for i in range(corpus.n_docs)]
    aw.Corpus(corpus.counts, corpus.vocabulary, corpus.doc_ids, documents={"label": labels}).save(tmp_path / "corpus")
    groups = ["groups", tmp_path / "model", tmp_path / "corpus", "--by", "label"]
    for options, begin in (([], ("=1+1,", "@x,")), (["--spreadsheet"], ("'=1+1,", "'@x,"))):
        done = run(*groups, "-o", tmp_path / "x.csv", *options)
        assert done.returncode == 0, done.stderr
        lines = (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()[1:]
        assert all(line.startswith(begin) for line in lines)
    done = run("transform", tmp_path / "model", tmp_path / "corpus", "--spreadsheet")
    assert done.stdout.splitlines()[1].startswith("'=1+1 0,")
    assert run("transform", tmp_path / "model", tmp_path / "corpus", "--spreadsheet", "--json").returncode == 2
    assert run(*groups, "--spreadsheet").returncode == 2

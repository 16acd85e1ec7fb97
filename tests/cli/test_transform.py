"""``anchorwords transform``: every format, what it tells, and files that are whole or not there."""

from __future__ import annotations

import csv
import json
import os
import sys

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import UnknownWordWarning
from anchorwords.infer import compose

from .test_text import run

NAMES = ["plain", "with, comma", 'with "quotes"', "two words", "café", "line\nend", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    """A model; its documents with strange names, two of them without a word the model knows; the same without names."""
    folder = tmp_path_factory.mktemp("documents")
    aw.AnchorTopicModel(4).fit(sampled.corpus).save(folder / "model")
    counts = sampled.corpus.counts[:300].toarray()
    more = np.zeros((300, 1))
    more[:100] = 2.0
    counts[7] = counts[8] = 0.0  # one of strange words alone, one of nothing
    more[8] = 0.0
    names = [*NAMES, *(f"d{m}" for m in range(len(NAMES), 300))]
    corpus = aw.Corpus(np.hstack([more, counts]), ["strange", *sampled.corpus.vocabulary], names)
    corpus.save(folder / "named")
    aw.Corpus(corpus.counts, corpus.vocabulary).save(folder / "numbered")
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    return aw.load_model(folder / "model").transform(aw.open_corpus(folder / "named"))


@pytest.fixture(params=["one block", "many blocks"])
def blocks(request, monkeypatch):
    """Documents in one block, or fifty at a time."""
    if request.param == "many blocks":
        monkeypatch.setattr(compose, "_SHARES", 4 * 50)
    return request.param


def written(folder, path, *arguments, source="named"):
    done = run("transform", folder / "model", folder / source, "-o", path, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def test_an_archive_holds_weights_and_ids(folder, expected, tmp_path, blocks):
    written(folder, tmp_path / "w.npz")
    with np.load(tmp_path / "w.npz", allow_pickle=False) as archive:
        assert set(archive) == {"weights", "ids", "topics"}
        np.testing.assert_array_equal(archive["weights"], expected)
        assert archive["ids"].tolist() == [*NAMES, *(f"d{m}" for m in range(len(NAMES), 300))]
    written(folder, tmp_path / "n.npz", source="numbered")
    with np.load(tmp_path / "n.npz") as archive:
        assert archive["ids"].tolist() == [str(m) for m in range(1, 301)]


def test_parquet_has_a_column_a_topic(folder, expected, tmp_path, blocks):
    pq = pytest.importorskip("pyarrow.parquet")
    written(folder, tmp_path / "w.parquet")
    file = pq.ParquetFile(tmp_path / "w.parquet")
    assert file.num_row_groups == (6 if blocks == "many blocks" else 1)
    table = file.read()
    assert table.column_names == ["document", "topic_0", "topic_1", "topic_2", "topic_3"]
    assert table["document"].to_pylist()[: len(NAMES)] == NAMES
    np.testing.assert_array_equal(np.column_stack([table[f"topic_{k}"].to_numpy() for k in range(4)]), expected)


def test_tables_and_lines_have_six_digits(folder, expected, tmp_path, blocks):
    for suffix, separator in ((".csv", ","), (".tsv", "\t")):
        written(folder, tmp_path / f"w{suffix}")
        with (tmp_path / f"w{suffix}").open(newline="", encoding="utf-8") as stream:
            head, *rows = csv.reader(stream, delimiter=separator)
        assert head == ["document", "topic_0", "topic_1", "topic_2", "topic_3"]
        assert [row[0] for row in rows][: len(NAMES)] == NAMES
        np.testing.assert_allclose(np.array([row[1:] for row in rows], dtype=float), expected, atol=6e-7)
    written(folder, tmp_path / "w.jsonl")
    records = [json.loads(line) for line in (tmp_path / "w.jsonl").read_text(encoding="utf-8").split("\n")[:-1]]
    assert [record["document"] for record in records][: len(NAMES)] == NAMES
    np.testing.assert_allclose([record["topics"] for record in records], expected, atol=6e-7)
    written(folder, tmp_path / "w.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "w.npy"), expected)


def test_what_was_not_known_is_told(folder, sampled, tmp_path):
    done = written(folder, tmp_path / "w.csv", "--json")
    corpus = aw.open_corpus(folder / "named")
    strange = int(corpus.term_frequencies[corpus.vocabulary.index("strange")])
    assert json.loads(done.stdout) == {
        "model": str(folder / "model"), "topics": 4, "method": "posterior-mean", "written": str(tmp_path / "w.csv"),
        "documents": 300,
        "tokens": corpus.n_tokens, "left_out_tokens": 0, "unknown_tokens": strange, "documents_without_known_words": 2,
    }  # fmt: skip
    assert strange > 0
    told = written(folder, tmp_path / "w.csv").stderr
    assert f"{strange:,} of {corpus.n_tokens:,} (" in told
    assert "are of words that the model does not know" in told
    assert "2 documents hold no known word and get the prevalence of the topics" in told
    assert written(folder, tmp_path / "w.csv", "-q").stderr == ""
    shown = run("transform", folder / "model", folder / "named")
    assert shown.stdout == (tmp_path / "w.csv").read_text(encoding="utf-8")
    assert "2 documents hold no known word" in shown.stderr


def test_unknown_words_of_text_are_counted_too(tmp_path):
    lines = ["cats purr and cats sleep at home"] * 6 + ["dogs bark and dogs run at night"] * 6
    (tmp_path / "pets.txt").write_text("\n".join(lines))
    aw.AnchorTopicModel(2).fit(aw.read_corpus(tmp_path / "pets.txt")).save(tmp_path / "model")
    (tmp_path / "other.txt").write_text("cats bark\nwolves howl loudly\n\nwolves run\n")
    with pytest.warns(UnknownWordWarning, match="does not know most of the words"):
        done = run("transform", tmp_path / "model", tmp_path / "other.txt", "-o", tmp_path / "w.npy", "--json")
    told = json.loads(done.stdout)
    assert (told["documents"], told["tokens"], told["unknown_tokens"]) == (4, 7, 4)
    assert told["documents_without_known_words"] == 2
    weights = np.load(tmp_path / "w.npy")
    prevalence = aw.load_model(tmp_path / "model").topic_prevalence_
    np.testing.assert_array_equal(weights[1:3], [prevalence, prevalence])
    # A file, or a pipe, without a single word is no mistake here.
    (tmp_path / "blank.txt").write_text("\n\n")
    blank = run("transform", tmp_path / "model", tmp_path / "blank.txt", "--json")
    piped = run("transform", tmp_path / "model", "-", "--json", input="\n\n")
    assert blank.returncode == piped.returncode == 0
    assert blank.stdout == piped.stdout
    np.testing.assert_allclose(json.loads(blank.stdout.splitlines()[1])["topics"], prevalence, atol=1e-6)


def test_perplexity_is_that_of_the_model(folder, tmp_path):
    told = json.loads(written(folder, tmp_path / "w.npy", "--perplexity", "--json").stdout)
    model, corpus = aw.load_model(folder / "model"), aw.open_corpus(folder / "named")
    assert told["perplexity"] == pytest.approx(model.perplexity(corpus), rel=1e-12)
    assert f"perplexity of every second token: {told['perplexity']:,.1f}" in written(
        folder, tmp_path / "w.npy", "--perplexity"
    ).stderr  # fmt: skip


def test_commands_compose_documents_as_the_model_was_told(sampled, tmp_path):
    corpus = sampled.corpus
    aware = aw.AnchorTopicModel(5, composition="prior-aware").fit(corpus)
    aware.save(tmp_path / "model")
    corpus.save(tmp_path / "corpus")
    rows = json.loads(
        run("topics", tmp_path / "model", "--corpus", tmp_path / "corpus", "--documents", 4, "--json", "-q").stdout
    )
    expected = aw.top_documents(aware, corpus, 4, method="prior-aware")
    for row in rows:
        listed = [(entry["row"], entry["share"]) for entry in row["documents"]]
        assert listed == [(entry["row"], entry["share"]) for entry in expected[row["topic"]]]
    arguments = ("transform", tmp_path / "model", tmp_path / "corpus", "-o", tmp_path / "w.npy", "--perplexity")
    told = json.loads(run(*arguments, "--method", "posterior-mean", "--json").stdout)
    assert told["perplexity"] == pytest.approx(aware.perplexity(corpus, "posterior-mean"), rel=1e-12)
    with pytest.warns(FutureWarning, match="now called 'posterior-mean'") as caught:
        assert json.loads(run(*arguments, "--method", "map", "--json").stdout) == told
    assert told["method"] == "posterior-mean"
    assert [warning.category for warning in caught].count(FutureWarning) == 1
    told = json.loads(run(*arguments, "--json").stdout)
    assert (told["method"], told["perplexity"]) == ("prior-aware", None)  # JSON knows no infinity
    done = run(*arguments, "--method", "prior-aware")
    assert "perplexity of every second token: infinite, as these proportions give some word no" in done.stderr


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet", ".npy"])
def test_a_file_is_whole_or_not_there(folder, tmp_path, failing_compositions, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    failing_compositions(OSError("the disk is gone"))
    path = tmp_path / f"w{suffix}"
    for before in (None, b"precious"):
        if before is not None:
            path.write_bytes(before)
        done = run("transform", folder / "model", folder / "named", "-o", path)
        assert done.returncode == 1
        assert "error: the disk is gone" in done.stderr
        assert os.listdir(tmp_path) == ([] if before is None else [path.name])
    assert path.read_bytes() == b"precious"


def test_parquet_without_its_package_is_refused_at_once(folder, tmp_path, monkeypatch):
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    done = run("transform", folder / "model", "nowhere", "-o", tmp_path / "w.parquet")
    assert done.returncode == 1
    assert "pip install 'anchorwords[io]'" in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "w.pdf"], 2, "--output must end in .csv, .tsv, .jsonl, .npy, .npz or .parquet, but is"),
        (["-o", "w.csv", "--method", "prior-aware"], 2, "was fitted without --prior-aware"),
        (["-o", "w.csv", "--method", "guess"], 2, "guess"),
        (["-o", "nowhere/w.csv"], 1, "error: "),
        (["-o", "w.npz", "--columns", "year"], 2, "--columns needs a file that holds columns, .csv, .tsv, .jsonl or"),
        (["-o", "w.csv", "--columns", "document"], 1, "the column 'document' of the documents cannot be written"),
        (["-o", "w.csv", "--columns", "topic_3"], 1, "the column 'topic_3' of the documents cannot be written"),
        (["-o", "w.jsonl", "--columns", "topics"], 1, "the column 'topics' of the documents cannot be written"),
        (["-o", "w.csv", "--columns", "year"], 1, "the documents have no column 'year': they have none"),
    ],
)
def test_what_does_not_go_is_said_in_a_line(folder, tmp_path, arguments, code, message):
    done = run("transform", folder / "model", folder / "named", *arguments, cwd=tmp_path)
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


# ---- Columns of the documents.

DOCUMENTS = [
    {"text": "cats purr and cats sleep", "year": 2001, "tags": ["pets", "home, sweet"], "note": "=1+1", "half": 0.5},
    {"text": "dogs bark and dogs run", "year": None, "tags": [], "note": None, "half": 2.0},
    {"text": "cats sleep", "year": 2003, "tags": ["pets"], "note": 'a "b"\nc', "half": None},
]  # fmt: skip


@pytest.fixture(scope="module")
def pets(tmp_path_factory):
    """A model, and three documents with columns."""
    folder = tmp_path_factory.mktemp("pets")
    lines = ["cats purr and cats sleep at home"] * 6 + ["dogs bark and dogs run at night"] * 6
    (folder / "pets.txt").write_text("\n".join(lines))
    aw.AnchorTopicModel(2).fit(aw.read_corpus(folder / "pets.txt")).save(folder / "model")
    (folder / "pets.jsonl").write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS))
    aw.import_corpus(folder / "pets.jsonl", folder / "corpus", columns="all")
    return folder


def plain_and_with_columns(pets, tmp_path, suffix, *options):
    """What is written without and with columns."""
    for name, more in (("plain", ()), ("more", ("--columns", "year,tags", "--columns", "note,half", *options))):
        done = run("transform", pets / "model", pets / "pets.jsonl", "-o", tmp_path / f"{name}{suffix}", *more)
        assert done.returncode == 0, done.stderr
    return tmp_path / f"plain{suffix}", tmp_path / f"more{suffix}"


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t")])
def test_tables_have_the_columns_that_are_named(pets, tmp_path, suffix, separator):
    plain, more = plain_and_with_columns(pets, tmp_path, suffix)
    with plain.open(newline="") as one, more.open(newline="") as other:
        bare, rows = list(csv.reader(one, delimiter=separator)), list(csv.reader(other, delimiter=separator))
    assert [row[1:5] for row in rows] == [
        ["year", "tags", "note", "half"], ["2001", "pets;home, sweet", "=1+1", "0.5"], ["", "", "", "2"],
        ["2003", "pets", 'a "b"\nc', ""],
    ]  # fmt: skip
    assert [[row[0], *row[5:]] for row in rows] == bare
    shown = run("transform", pets / "model", pets / "pets.jsonl", "--columns", "year,tags,note,half")
    assert suffix == ".tsv" or shown.stdout == more.read_text()
    _, safe = plain_and_with_columns(pets, tmp_path, suffix, "--spreadsheet")
    with safe.open(newline="") as stream:
        assert [row[3] for row in csv.reader(stream, delimiter=separator)] == ["note", "'=1+1", "", 'a "b"\nc']


def test_lines_and_parquet_keep_the_types_of_columns(pets, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    names = ("year", "tags", "note", "half")
    right = [{name: document[name] for name in names} for document in DOCUMENTS]
    plain, more = plain_and_with_columns(pets, tmp_path, ".jsonl")
    records = [json.loads(line) for line in more.read_text().splitlines()]
    assert [list(record) for record in records] == [["document", *names, "topics"]] * 3
    assert [{name: record[name] for name in names} for record in records] == right
    assert [{name: record[name] for name in ("document", "topics")} for record in records] == [
        json.loads(line) for line in plain.read_text().splitlines()
    ]
    plain, more = plain_and_with_columns(pets, tmp_path, ".parquet")
    found = pq.read_table(more)
    assert found.column_names == ["document", *names, "topic_0", "topic_1"]
    assert found.select(names).to_pylist() == right
    assert found.drop_columns(list(names)) == pq.read_table(plain)


def test_columns_of_a_corpus_folder_are_written_if_named(pets, folder):
    def head(*options):
        done = run("transform", pets / "model", pets / "corpus", *options)
        return done.stdout.splitlines()[0] if done.returncode == 0 else done.stderr

    assert head() == "document,topic_0,topic_1"
    assert head("--columns", "note,year") == "document,note,year,topic_0,topic_1"
    assert head("--columns", "all") == "document,year,tags,note,half,topic_0,topic_1"
    assert "the documents have no column 'colour': they have 'year', 'tags'" in head("--columns", "colour")
    assert "belongs to its import" in head("--columns", "year", "--keep-case")


def test_a_clash_of_names_is_found_before_documents_are_read(pets, tmp_path, monkeypatch):
    def read(*arguments, **options):
        raise AssertionError("documents are read")

    monkeypatch.setattr(aw, "import_corpus", read)
    (tmp_path / "t.csv").write_text("text,document,year\ncats purr,1,2001\n")
    for columns in ("document", "year,document", "all"):
        done = run("transform", pets / "model", tmp_path / "t.csv", "--columns", columns)
        assert done.returncode == 1
        assert "the column 'document' of the documents cannot be written, because a column of the file" in done.stderr
    for options in (("--id-column", "document"), ("--id-column", "2")):
        with pytest.raises(AssertionError, match="documents are read"):
            run("transform", pets / "model", tmp_path / "t.csv", "--columns", "all", *options)

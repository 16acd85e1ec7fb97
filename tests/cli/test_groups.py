"""``anchorwords groups``."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import pytest

import anchorwords as aw

from .test_text import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    """A model; its documents with labels, by the largest of their true topics; and the labels in a table of their own."""
    folder = tmp_path_factory.mktemp("grouped")
    aw.AnchorTopicModel(5).fit(sampled.corpus).save(folder / "model")
    labels = [f"kind {k}" for k in sampled.compositions.argmax(axis=1)]
    labels[3] = ""
    table = {
        "label": [label or None for label in labels],
        "kinds": [[label, "any"] if label else [] for label in labels],
        "none": [None] * len(labels),
        "alone": ["[bold]alone" if i == 599 else "most" for i in range(600)],
    }
    aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, documents=table).save(folder / "corpus")
    rows = [[(f"w{j:03d}", int(count)) for j, count in zip(row.indices, row.data, strict=True)] for row in
            (sampled.corpus.counts[[i]] for i in range(600))]  # fmt: skip
    with (folder / "documents.jsonl").open("w") as stream:
        for row, label in zip(rows, labels, strict=True):
            tokens = [word for word, count in row for _ in range(count)]
            stream.write(json.dumps({"text": tokens, "label": label or None}) + "\n")
    with (folder / "baskets.txt").open("w") as stream:
        for row in rows:
            stream.write("\t".join(word for word, count in row for _ in range(count)) + "\n")
    (folder / "labels.csv").write_text("number,label\n" + "".join(f'{m},"{one}"\n' for m, one in enumerate(labels)))
    (folder / "labels.tsv").write_text("".join(f"{m}\t{one}\n" for m, one in enumerate(labels)))
    return folder


def groups(folder, *arguments, code=0, source="corpus", by="label"):
    done = run("groups", folder / "model", folder / source, "--by", by, *arguments)
    assert done.returncode == code, done.stderr
    return done


def expected(folder, by="label", **options):
    return aw.prevalence_by(aw.load_model(folder / "model"), aw.open_corpus(folder / "corpus"), by, **options)


def test_json_holds_every_group_and_topic(folder):
    told = json.loads(groups(folder, "--json").stdout)
    assert told["rows"] == expected(folder).rows()
    assert (told["level"], told["documents_without_label"], told["documents_without_known_words"]) == (0.9, 1, 0)
    told = json.loads(groups(folder, "--json", "--level", 0.5, "--by-tokens").stdout)
    assert told["rows"] == expected(folder, level=0.5, by_tokens=True).rows()


def test_a_document_with_several_labels_counts_in_each_group(folder):
    told = json.loads(groups(folder, "--json", by="kinds").stdout)
    assert told["rows"] == expected(folder, "kinds").rows()
    assert {row["group"] for row in told["rows"]} == {"any", *(f"kind {k}" for k in range(5))}


def test_a_column_of_the_documents_needs_no_other_option(folder):
    assert groups(folder, "--json", source="documents.jsonl").stdout == groups(folder, "--json").stdout


def test_a_table_for_documents_without_columns(folder):
    plain = groups(folder, "--json").stdout
    for table, by in (("labels.csv", "label"), ("labels.tsv", "2")):
        options = ("--json", "--format", "baskets", "--table", folder / table)
        assert groups(folder, *options, source="baskets.txt", by=by).stdout == plain


def test_the_table_shows_what_stands_out(folder, sampled):
    found = expected(folder, order="natural")
    done = groups(folder, "--top", 1, "-n", 3, "--order", "natural")
    lines = done.stdout.splitlines()[1:]
    assert len(lines) == len(found.groups)
    everywhere = found.n_docs @ found.prevalence / found.n_docs.sum()
    words = aw.prominent_words(aw.load_model(folder / "model"), 3)
    assert done.stdout.splitlines()[0].split()[-3:] == ["topic", "label", "words"]
    for g, line in enumerate(lines):
        k = int(np.argmax(found.prevalence[g] - everywhere))
        assert line.split()[:4] == ["kind", str(g), str(found.n_docs[g]), f"{100 * found.prevalence[g, k]:.1f}%"]
        assert " ".join(line.split()).endswith(f" {k} {found.labels[k]} {' '.join(words[k])}")
    # Each kind of document has a topic that stands out in no other.
    assert len({line.split()[-7] for line in lines}) == 5
    assert "left out: 1 document without a group\n" in done.stderr
    assert len(groups(folder, "--top", 2).stdout.splitlines()) == 1 + 2 * 5


def test_some_topics(folder, tmp_path):
    rows = [row for row in expected(folder).rows() if row["topic"] in (1, 3)]
    assert json.loads(groups(folder, "--topics", "3,1", "--json").stdout)["rows"] == rows
    lines = groups(folder, "--topics", "3,1").stdout.splitlines()[1:]
    assert len(lines) == 2 * 5
    for group in range(5):
        pair = "\n".join(" ".join(line.split()) for line in lines[2 * group : 2 * group + 2])
        assert all(f" {k} {expected(folder).labels[k]} " in pair for k in (1, 3))
    assert len(groups(folder, "--topics", "3,1", "--top", 1).stdout.splitlines()) == 1 + 5
    done = groups(folder, "--topics", "3,1", "-o", tmp_path / "shares.csv")
    assert "5 groups x 2 topics written" in " ".join(done.stderr.split())
    assert "there is no topic 9" in groups(folder, "--topics", "9", code=1).stderr


def test_a_table_for_other_programs(folder, tmp_path):
    for name, separator in (("shares.csv", ","), ("shares.tsv", "\t")):
        done = groups(folder, "-o", tmp_path / name)
        assert done.stdout == ""
        with (tmp_path / name).open(newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter=separator))
        for row, right in zip(rows, expected(folder).rows(), strict=True):
            assert row == {column: str(value) for column, value in right.items()}


def test_a_group_of_one_document_has_no_interval(folder, tmp_path):
    told = json.loads(groups(folder, "--json", "--min-docs", 1, by="alone").stdout)["rows"]
    alone = [row for row in told if row["group"] == "[bold]alone"]
    assert all(row["low"] is None and row["high"] is None and row["n_docs"] == 1 for row in alone)
    assert "[bold]alone" in groups(folder, "--min-docs", 1, by="alone").stdout
    groups(folder, "-o", tmp_path / "shares.csv", "--min-docs", 1, by="alone")
    with (tmp_path / "shares.csv").open(newline="") as stream:
        assert {row["low"] for row in csv.DictReader(stream) if row["group"] == "[bold]alone"} == {""}


def test_small_groups_are_left_out_and_said(folder):
    done = groups(folder, by="alone")
    assert "[bold]alone" not in done.stdout
    assert "1 group of fewer than 5 documents, with 1 document in no other group" in " ".join(done.stderr.split())
    told = json.loads(groups(folder, "--json", by="alone").stdout)
    assert (told["min_docs"], told["small_groups"], told["documents_in_small_groups"]) == (5, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["corpus", "--by", "colour"],
            1,
            "the documents have no column 'colour': they have 'label', 'kinds',",
        ),
        (["documents.jsonl", "--by", "colour"], 1, "documents.jsonl has a member 'colour': check its name"),
        (["baskets.txt", "--format", "baskets", "--by", "label"], 1, "which has no columns, but a column was named"),
        (
            ["corpus", "--by", "label", "--table", "{labels.csv}"],
            2,
            "is a corpus, whose words are counted already: --table",
        ),
        (
            ["baskets.txt", "--format", "baskets", "--by", "2", "--table", "{labels.csv}"],
            1,
            "labels.csv has 601 rows for 600 documents: there must be one for each, in their order. Say whether",
        ),
        (["corpus", "--by", "none"], 1, "no document has a value in the column"),
        (["corpus", "--by", "label", "--split", ""], 2, "--split must be at least one character"),
        (["corpus", "--by", "label", "--min-docs", "9999"], 1, "keep smaller groups too, or choose a column"),
        (["corpus", "--by", "label", "--level", "1"], 2, "--level must be between 0 and 1"),
        (["corpus", "--by", "label", "--plot", "shares.bmp"], 2, "--plot must end in .svg, .png or .pdf"),
        (["corpus", "--by", "label", "-o", "shares.xls"], 2, "--output must end in .csv or .tsv, but is shares.xls"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(folder, tmp_path, arguments, code, message):
    source, *options = [str(folder / one[1:-1]) if one.startswith("{") else one for one in arguments]
    done = run("groups", folder / "model", folder / source, *options, cwd=tmp_path)
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


def test_a_figure_and_the_table(folder, tmp_path):
    done = groups(folder, "--plot", tmp_path / "new" / "groups.svg")
    assert "figure written to" in done.stderr
    assert (tmp_path / "new" / "groups.svg").read_text().count("<svg") == 1
    assert done.stdout == groups(folder).stdout


def test_help_has_examples():
    assert run("groups", "--help").stdout.count("Example: anchorwords groups") == 4


# ---- Saved tables of topic proportions.


@pytest.fixture(scope="module")
def saved(tmp_path_factory, sampled):
    """A model, documents with columns of every kind, and their topic proportions in every format that has columns."""
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("saved")
    aw.AnchorTopicModel(5).fit(sampled.corpus).save(folder / "model")
    counts = sampled.corpus.counts.tolil()
    counts[7] = counts[8] = 0
    names = [f"kind {k}" for k in sampled.compositions.argmax(axis=1)]
    table = {
        "year": [None if m == 5 else 2001 + m % 4 for m in range(600)],
        "label": [None if m == 3 else f'={name}, "so"\tcalled' for m, name in enumerate(names)],
        "kinds": [[name, "any"] if m != 3 else [] for m, name in enumerate(names)],
        "day": [f"2021-06-{1 + m % 3:02d}" for m in range(600)],
    }
    aw.Corpus(counts.tocsr(), sampled.corpus.vocabulary, documents=table).save(folder / "corpus")
    for suffix in ("csv", "tsv", "jsonl", "parquet"):
        run("transform", folder / "model", folder / "corpus", "--columns", "all", "-o", folder / f"topics.{suffix}")
    return folder


@pytest.mark.parametrize("by", ["year", "label", "kinds", "day"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_saved_proportions_give_the_groups_of_the_documents(saved, suffix, by):
    split = ("--split", ";") if by == "kinds" and suffix in ("csv", "tsv") else ()
    done = groups(saved, "--json", *split, source=f"topics.{suffix}", by=by)
    assert f"topic proportions are those of {saved / f'topics.{suffix}'}" in " ".join(done.stderr.split())
    told, right = json.loads(done.stdout), json.loads(groups(saved, "--json", by=by).stdout)
    assert [{**row, "n_tokens": None} for row in right["rows"]] == [
        {**row, **{name: pytest.approx(row[name], abs=2e-6) for name in ("prevalence", "low", "high")}}
        for row in told["rows"]
    ]
    assert told["rows"][0]["n_tokens"] is None
    assert {name: value for name, value in told.items() if name != "rows"} == {
        name: value for name, value in right.items() if name != "rows"
    }
    assert told["documents_without_known_words"] == 2


def test_saved_proportions_as_a_listing_a_table_and_a_figure(saved, tmp_path):
    shown = groups(saved, source="topics.csv", by="year")
    assert shown.stdout == groups(saved, by="year").stdout
    assert "left out: 1 document without a group, 2 documents without a known word" in " ".join(shown.stderr.split())
    assert groups(saved, "-q", source="topics.csv", by="year").stderr == ""
    options = ("-o", tmp_path / "groups.csv", "--plot", tmp_path / "groups.svg", "--topics", "1")
    groups(saved, *options, source="topics.csv", by="year")
    with (tmp_path / "groups.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["group"], row["topic"], row["n_tokens"]) for row in rows] == [
        (f"{2001 + m}", "1", "") for m in range(4)
    ]
    assert (tmp_path / "groups.svg").stat().st_size > 0


def test_lists_are_split_at_a_separator_of_their_own(saved, tmp_path):
    text = (saved / "topics.csv").read_text(encoding="utf-8").replace(";", "|")
    (tmp_path / "topics.csv").write_text(text, encoding="utf-8")
    done = run(
        "groups", saved / "model", tmp_path / "topics.csv", "--by", "kinds", "--list-column", "kinds=|", "--json"
    )
    right = groups(saved, "--json", "--split", ";", source="topics.csv", by="kinds")
    assert done.stdout == right.stdout


GOOD = "0.2,0.2,0.2,0.2,0.2"
HEAD = "document,year,topic_0,topic_1,topic_2,topic_3,topic_4"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a,2001,0.2,x,0.2,0.2,0.2", "row 3: topic proportions must be numbers, but one is 'x'."),
        ("a,2001,0.2,,0.2,0.2,0.2", "row 3: topic proportions must be numbers, but one is ''."),
        (
            "a,2001,0.2,nan,0.2,0.2,0.2",
            "row 3: topic proportions must hold a number for each topic, but one is missing",
        ),
        ("a,2001,-0.2,0.6,0.2,0.2,0.2", "row 3: topic proportions must be 0 or more, but one is -0.2."),
        ("a,2001,0.2,0.3,0.2,0.2,0.2", "row 3: topic proportions must sum to 1, but sum to 1.1."),
        ("a,2001,0.2,0.2,0.2,0.2", "line 4: 6 columns, but the first line has 7"),
    ],
)
def test_wrong_rows_are_named(saved, tmp_path, line, message):
    rows = [f"{m},2001,{GOOD}" for m in range(6)]
    (tmp_path / "t.csv").write_text("\n".join([HEAD, *rows[:2], line, *rows]) + "\n")
    done = run("groups", saved / "model", tmp_path / "t.csv", "--by", "year")
    assert done.returncode == 1
    assert f"{tmp_path / 't.csv'}, {message}" in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_rounded_rows_are_scaled(saved, tmp_path):
    rows = [f"{m},2001,0.1,0.1,0.1,0.1,{0.6004 if m % 2 else 0.6}" for m in range(6)]
    (tmp_path / "t.csv").write_text("\n".join([HEAD, *rows]) + "\n")
    told = json.loads(run("groups", saved / "model", tmp_path / "t.csv", "--by", "year", "--json").stdout)["rows"]
    assert sum(row["prevalence"] for row in told) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--by", "year", "--by-tokens"], 2, "--by-tokens needs the documents, because"),
        (["--by", "colour"], 1, "has no column 'colour': it has 1 'document', 2 'year'"),
        (["--by", "year", "--keep-case"], 2, "holds topic proportions, but --keep-case says how documents are read"),
        (["--by", "year", "--topics", "9"], 1, "there is no topic 9"),
    ],
)
def test_what_saved_proportions_cannot_do_is_said(saved, arguments, code, message):
    done = run("groups", saved / "model", saved / "topics.csv", *arguments)
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_proportions_of_another_model_are_refused(saved, tmp_path):
    for head, message in (
        (HEAD.replace("topic_4", "topic_7"), "has topic proportions, but no column topic_4: write it again"),
        (f"{HEAD},topic_9", "but a column topic_9, a topic that the model does not have"),
    ):
        (tmp_path / "t.csv").write_text(f"{head}\n")
        done = run("groups", saved / "model", tmp_path / "t.csv", "--by", "year")
        assert done.returncode == 1
        assert message in " ".join(done.stderr.split())
    (tmp_path / "t.jsonl").write_text('{"document": "a", "year": 2001, "topics": [0.5, 0.5]}\n')
    done = run("groups", saved / "model", tmp_path / "t.jsonl", "--by", "year")
    assert "t.jsonl, row 1: must hold 5 topic proportions, one for each topic of the model" in " ".join(
        done.stderr.split()
    )


def test_documents_with_such_a_column_are_still_documents(saved, tmp_path):
    lines = [f"w00{m % 5} w01{m % 5},{m % 2},{m}" for m in range(20)]
    for head, options in (("text,topic_1,n", ()), ("words,topic_1,n", ("--text-column", "words"))):
        (tmp_path / "t.csv").write_text("\n".join([head, *lines]) + "\n")
        done = run("groups", saved / "model", tmp_path / "t.csv", "--by", "topic_1", "--json", *options)
        assert done.returncode == 0, done.stderr
        assert {row["group"] for row in json.loads(done.stdout)["rows"]} == {0, 1}

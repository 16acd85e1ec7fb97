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
    assert run("groups", "--help").stdout.count("Example: anchorwords groups") == 3

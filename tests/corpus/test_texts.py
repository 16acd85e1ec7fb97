"""The k-th text is that of the k-th row, whatever the source: its words, counted again, are the row."""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
from collections import Counter

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.corpus import readers as documents
from anchorwords.corpus.texts import texts_at
from anchorwords.exceptions import CorpusFormatError, InputError

WORDS = ["lion", "Tiger", "zebra", "größe", "дом", "flour", "butter", "oven", "a1", "don", "rocket", "orbit"]


def made(n=40, seed=3):
    """Documents of their own words, some of them empty or blank, with marks between the words."""
    rng = random.Random(seed)
    texts = []
    for m in range(n):
        words = [f"w{m}x", *rng.choices(WORDS, k=rng.randrange(12))]
        rng.shuffle(words)
        texts.append("".join(word + rng.choice([" ", ", ", "  ", " – ", '" ']) for word in words))
    for m in (0, 7, 8, n - 1):
        texts[m] = ""
    texts[11] = "   "
    return texts


TEXTS = made()


def written(folder, kind):
    """A source of the texts, and how to read it."""
    path = folder / f"documents.{kind}"
    lines = "\n".join(TEXTS) + "\n"
    if kind in ("txt", "txt.gz", "bom.txt", "crlf.txt"):
        text = lines.replace("\n", "\r\n") if kind == "crlf.txt" else lines
        raw = text.encode("utf-8-sig" if kind == "bom.txt" else "utf-8")
        path.write_bytes(gzip.compress(raw) if kind.endswith("gz") else raw)
        return path, {}
    if kind == "csv":  # a header, names, blank lines between rows, and documents over several lines
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["name", "text", "year"])
            for m, text in enumerate(TEXTS):
                writer.writerow([f"d{m}", text.replace("  ", "\n\n"), 1900 + m])
                if m % 5 == 0:
                    file.write("\r\n")
        return path, {"id_column": "name"}
    if kind == "semicolon.csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";").writerows([[m, text] for m, text in enumerate(TEXTS)])
        return path, {"text_column": 2, "separator": ";", "header": False}
    if kind == "tsv":
        path.write_text("".join(f"d{m}\t{text}\n" for m, text in enumerate(TEXTS)), encoding="utf-8")
        return path, {"text_column": "2", "id_column": "1"}
    if kind in ("jsonl", "tokens.jsonl"):  # missing values, and blank lines between
        with path.open("w", encoding="utf-8") as file:
            for m, text in enumerate(TEXTS):
                value = (text.split() if kind.startswith("tokens") else text) if text else None
                file.write(json.dumps({"id": m, "body": value}) + "\n" + "\n" * (m % 3 == 0))
        return path, {"text_column": "body", "id_column": "id"}
    if kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.table({"text": [text or None for text in TEXTS], "id": list(range(len(TEXTS)))})
        pq.write_table(table, path, row_group_size=9)
        return path, {"id_column": "id"}
    if kind == "baskets":
        path.write_text("".join("\t".join(text.split()) + "\n" for text in TEXTS), encoding="utf-8")
        return path, {"format": "baskets"}
    assert kind == "folder"
    inner = folder / "documents"
    for m, text in enumerate(TEXTS):  # in an order that is not that of their numbers, and in folders within
        file = inner / f"{m % 3}" / f"{m}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace(" ", "\n"), encoding="utf-8")
    (inner / "notes.md").write_text("no document")
    return inner, {}


KINDS = [
    "txt", "txt.gz", "bom.txt", "crlf.txt", "csv", "semicolon.csv", "tsv", "jsonl", "tokens.jsonl", "parquet", "baskets",
    "folder",
]  # fmt: skip


def counted(text, kind):
    """The words of a text and their numbers, by other means than the package's."""
    if kind == "baskets":
        return Counter(item for item in text.split(", ") if item)
    if kind == "tokens.jsonl":
        return Counter(text.split(" ")) if text else Counter()
    return Counter(word for word in re.findall(r"\w+", text.lower()) if len(word) >= 2)


def row_of(corpus, m):
    row = corpus.counts[[m]].toarray().ravel()
    return {corpus.vocabulary[j]: int(row[j]) for j in np.flatnonzero(row)}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_those_of_the_rows(tmp_path, kind):
    source, reading = written(tmp_path, kind)
    corpus = aw.import_corpus(source, tmp_path / "corpus", **reading)
    assert corpus.n_docs == len(TEXTS)
    texts = texts_at(source, range(len(TEXTS)), longest=10**6, **reading)
    assert list(texts) == list(range(len(TEXTS)))
    for m, text in texts.items():
        assert counted(text, kind) == row_of(corpus, m)
    assert sum(map(bool, texts.values())) == len(TEXTS) - 5  # those without words are without text

    rows = [33, 2, 7, 20]
    assert texts_at(source, rows, longest=10**6, **reading) == {m: texts[m] for m in sorted(rows)}
    assert texts_at(source, np.array(rows), longest=9, **reading) == {m: texts[m][:9].rstrip() for m in sorted(rows)}
    assert texts_at(str(source), [], **reading) == {}
    assert list(texts_at(source, [3, len(TEXTS), 10**9, -1], **reading)) == [3]


def test_frames_and_lists(tmp_path):
    corpus = aw.read_corpus(TEXTS)
    for m, text in texts_at(TEXTS, range(40), longest=10**6).items():
        assert counted(text, "txt") == row_of(corpus, m)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": [text or None for text in TEXTS], "n": range(40)}, index=range(100, 140))
    assert texts_at(frame, range(40)) == texts_at(TEXTS, range(40))


def test_what_has_no_text(tmp_path):
    (tmp_path / "docword.toy.txt").write_text("2\n2\n2\n1 1 2\n2 2 1\n")
    (tmp_path / "vocab.toy.txt").write_text("alpha\nbeta\n")
    corpus = aw.import_corpus(tmp_path / "docword.toy.txt", tmp_path / "corpus")
    np.save(tmp_path / "counts.npy", corpus.counts.toarray())
    for source in (tmp_path, tmp_path / "docword.toy.txt", tmp_path / "corpus", tmp_path / "counts.npy"):
        assert texts_at(source, [0, 1]) == {}
    passing = iter(TEXTS)
    assert texts_at(passing, [0, 1]) == {}
    assert next(passing) == TEXTS[0]  # it is not touched


def test_only_the_beginning_is_kept(tmp_path):
    book = " \n" * 5000 + "It was \t the best of times. " * 20000
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "book.txt").write_text(book)
    text = texts_at(tmp_path / "books", [0])[0]
    assert 395 < len(text) <= 400
    assert " ".join(book.split()).startswith(text)
    tokens = texts_at([["word"] * 10**6, ["7"] * 10**6], [0, 1], longest=30)
    assert tokens == {0: " ".join(["word"] * 6), 1: " ".join("7" * 15)}


def test_reading_ends_at_the_last_row(tmp_path, monkeypatch):
    passed = []
    right = documents.lines_of

    def watched(*arguments):
        try:
            for entry in right(*arguments):
                passed.append(entry)
                yield entry
        finally:
            passed.append("closed")

    monkeypatch.setattr(documents, "lines_of", watched)
    source, _ = written(tmp_path, "txt")
    texts = texts_at(source, [5, 2])
    assert list(texts) == [2, 5]
    assert len(passed) == 7
    assert passed[-1] == "closed"


def test_progress_is_told(tmp_path):
    (tmp_path / "many.txt").write_text("some words\n" * 20000)
    told = []
    texts_at(tmp_path / "many.txt", [19999], progress=lambda *report: told.append(report))
    assert [n for n, _ in told] == [8192, 16384]
    assert all(0.0 < share <= 1.0 for _, share in told)


@pytest.mark.parametrize("longest", [0, -1, 1.5, None])
def test_what_is_no_length(longest):
    with pytest.raises(InputError, match="longest must be a positive whole number"):
        texts_at(TEXTS, [0], longest=longest)


def test_a_source_that_is_gone(tmp_path):
    with pytest.raises(CorpusFormatError, match=r"gone\.txt does not exist"):
        texts_at(tmp_path / "gone.txt", [0])

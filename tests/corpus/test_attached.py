"""A table of documents in a file of its own, for sources without columns."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import CorpusFormatError, InputError

COUNTS = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 0], [0, 0, 4]])
WORDS = ["apple", "boat", "cloud"]
ROWS = [("a", 2019, "x"), ("b", 2020, "y"), ("c", 2019, None), ("d", 2021, "x")]
YEARS, KINDS = [2019, 2020, 2019, 2021], ["x", "y", None, "x"]
TEXTS = [" ".join(word for word, n in zip(WORDS, row, strict=True) for _ in range(n)) for row in COUNTS]


@pytest.fixture(params=["uci", "unordered uci", "mtx", "npz", "npy", "text", "baskets"])
def source(request, tmp_path):
    """The documents in a format that has no columns, with options to read it."""
    entries = [(d + 1, w + 1, n) for (d, w), n in np.ndenumerate(COUNTS) if n]
    if request.param == "unordered uci":
        entries = entries[::-1]
    vocabulary = tmp_path / "vocab.x.txt"
    vocabulary.write_text("\n".join(WORDS) + "\n")
    if request.param.endswith("uci"):
        path = tmp_path / "docword.x.txt"
        path.write_text(f"4\n3\n{len(entries)}\n" + "".join(f"{d} {w} {n}\n" for d, w, n in entries))
        return path, {}
    if request.param == "mtx":
        path = tmp_path / "counts.mtx"
        head = f"%%MatrixMarket matrix coordinate integer general\n4 3 {len(entries)}\n"
        path.write_text(head + "".join(f"{d} {w} {n}\n" for d, w, n in entries))
        return path, {"vocabulary": vocabulary}
    if request.param == "npz":
        sp.save_npz(tmp_path / "counts.npz", sp.csr_array(COUNTS))
        return tmp_path / "counts.npz", {"vocabulary": vocabulary}
    if request.param == "npy":
        np.save(tmp_path / "counts.npy", COUNTS)
        return tmp_path / "counts.npy", {"vocabulary": vocabulary}
    path = tmp_path / "documents.txt"
    path.write_text("\n".join(TEXTS if request.param == "text" else [text.replace(" ", "\t") for text in TEXTS]))
    return path, {} if request.param == "text" else {"format": "baskets"}


@pytest.fixture(params=["csv", "tsv", "jsonl", "parquet", "frame", "mapping", "dicts"])
def table(request, tmp_path):
    names = ("name", "year", "kind")
    path = tmp_path / f"about.{request.param}"
    if request.param in ("csv", "tsv"):
        mark = "," if request.param == "csv" else "\t"
        path.write_text("\n".join(mark.join("" if v is None else str(v) for v in row) for row in (names, *ROWS)))
        return path
    records = [dict(zip(names, row, strict=True)) for row in ROWS]
    if request.param == "jsonl":
        path.write_text("\n".join(map(json.dumps, records)))
        return path
    if request.param == "mapping":
        return {name: [record[name] for record in records] for name in names}
    if request.param == "dicts":
        return records
    frame = pytest.importorskip("pandas").DataFrame(records)
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
        return path
    return frame


@pytest.fixture(params=["in memory", "on disk"])
def read(request, tmp_path):
    def on_disk(source, **options):
        return aw.import_corpus(source, tmp_path / "corpus", **options)

    return aw.read_corpus if request.param == "in memory" else on_disk


def test_every_table_fits_every_source(source, table, read):
    path, options = source
    corpus = read(path, table=table, id_column="name", title_column="kind", **options)
    assert corpus.documents["year"].tolist() == YEARS
    assert corpus.documents["kind"].tolist() == KINDS
    assert set(corpus.documents) == {"year", "kind"}
    assert list(corpus.doc_ids) == ["a", "b", "c", "d"]
    assert corpus[1].title == "y"
    plain = aw.read_corpus(path, **options)
    assert corpus.vocabulary == plain.vocabulary
    np.testing.assert_array_equal(corpus.counts.toarray(), plain.counts.toarray())


def test_columns_may_be_chosen(tmp_path, table):
    (tmp_path / "docs.txt").write_text("\n".join(TEXTS))
    assert list(aw.read_corpus(tmp_path / "docs.txt", table=table, columns="kind").documents) == ["kind"]
    assert list(aw.read_corpus(tmp_path / "docs.txt", table=table).documents) == ["name", "year", "kind"]


def test_lists_and_numbers_of_columns(tmp_path):
    (tmp_path / "docs.txt").write_text("\n".join(TEXTS))
    (tmp_path / "tags.tsv").write_text("1\ta;b\n2\t\n3\tb\n4\ta\n")
    corpus = aw.read_corpus(tmp_path / "docs.txt", table=tmp_path / "tags.tsv", columns=2)
    assert corpus.documents["2"].tolist() == ["a;b", None, "b", "a"]
    (tmp_path / "tags.csv").write_text("number,tags\n1,a;b\n2,\n3,b\n4,a\n")
    corpus = aw.read_corpus(tmp_path / "docs.txt", table=tmp_path / "tags.csv", list_columns={"tags": ";"})
    assert corpus.documents["tags"].tolist() == [("a", "b"), (), ("b",), ("a",)]
    assert list(corpus.documents) == ["tags"]


def test_files_of_a_folder_are_found_by_name(tmp_path, read):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in zip("abcd", TEXTS, strict=True):
        (folder / f"{name}.txt").write_text(text)
    table = {"file": ["d.txt", "a.txt", "z.txt", "c.txt", "b.txt"], "year": [4, 1, 26, 3, 2]}
    corpus = read(folder, table=table, id_column="file")
    assert list(corpus.doc_ids) == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert corpus.documents["year"].tolist() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="by the names of the files: name the column"):
        read(folder, table=table)
    short = {"file": ["a.txt", "d.txt"], "year": [1, 4]}
    with pytest.raises(InputError, match=r"no row with the id 'b\.txt', and 1 further documents have none either"):
        read(folder, table=short, id_column="file")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"year": [1, 2, 3]}, {}, "has 3 rows for 4 documents: there must be one for each, in their order"),
        ({"year": [1, 2, 3, 4], "kind": ["x"]}, {}, "must have one value for each document"),
        ({"year": YEARS}, {"columns": "colour"}, "no document of the source has a member 'colour'"),
        ({"name": list("aabb")}, {"id_column": "name"}, "gives the id 'a' to a second document"),
        ("documents.txt", {}, "table must be a table"),
        ("nowhere.csv", {}, "does not exist"),
        ("empty.csv", {}, "holds no"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path, read, table, options, message):
    (tmp_path / "documents.txt").write_text("\n".join(TEXTS))
    (tmp_path / "empty.csv").write_text("year\n")
    given = tmp_path / table if isinstance(table, str) else table
    with pytest.raises((InputError, CorpusFormatError), match=message):
        read(tmp_path / "documents.txt", table=given, **options)


def test_texts_in_a_list_take_a_table(read):
    corpus = read(TEXTS, table={"year": YEARS, "kind": KINDS}, columns="year")
    assert corpus.documents["year"].tolist() == YEARS
    tokens = read([text.split() for text in TEXTS], table={"year": YEARS})
    assert tokens.documents["year"].tolist() == YEARS


def test_a_table_whose_columns_are_given_by_number_has_no_header(tmp_path):
    (tmp_path / "docs.txt").write_text("\n".join(TEXTS))
    (tmp_path / "about.tsv").write_text("".join(f"{name}\t{year}\n" for name, year, _ in ROWS))
    corpus = aw.read_corpus(tmp_path / "docs.txt", table=tmp_path / "about.tsv", title_column=1)
    assert corpus[3].title == "d"
    assert corpus.documents["2"].tolist() == YEARS


def test_sources_with_columns_take_no_table(tmp_path):
    (tmp_path / "documents.csv").write_text("text,year\none two,1\n")
    with pytest.raises(InputError, match=r"which has columns of its own: name those to keep \(columns, --columns\)"):
        aw.read_corpus(tmp_path / "documents.csv", table={"kind": ["x"]})
    aw.read_corpus(["one two"]).save(tmp_path / "corpus")
    with pytest.raises(InputError, match="is a corpus, whose words are counted already"):
        aw.read_corpus(tmp_path / "corpus", table={"kind": ["x"]})

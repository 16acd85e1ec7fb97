"""Every way in leads to the same corpus."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
import zstandard

import anchorwords as aw
from anchorwords.corpus import readers as documents
from anchorwords.exceptions import CorpusFormatError, InputError

TEXTS = ["red apple, green apple", 'he said "no"\tnothing', "", "straße und café", "a, b; red"]
IDS = ["d1", "d2", "d3", "d4", "d5"]
LINES = [text.replace("\t", " ") for text in TEXTS]
TOKENS = [text.lower().replace(",", "").split() for text in TEXTS]


def same(a, b):
    assert a.vocabulary == b.vocabulary
    assert (a.counts != b.counts).nnz == 0


@pytest.fixture
def expected():
    return aw.read_corpus(LINES)


def as_text(folder):
    (folder / "docs.txt").write_text("\n".join(LINES) + "\n")
    return folder / "docs.txt", {}


def as_windows_text(folder):
    (folder / "docs.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(LINES).encode())
    return folder / "docs.txt", {}


def as_gzip(folder):
    (folder / "docs.txt.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    return folder / "docs.txt.gz", {}


def as_zstd(folder):
    (folder / "docs.txt.zst").write_bytes(zstandard.ZstdCompressor().compress("\n".join(LINES).encode()))
    return folder / "docs.txt.zst", {}


def as_folder(folder):
    for name, text in zip(IDS, TEXTS, strict=True):
        (folder / "docs" / name[0]).mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name[0] / f"{name}.txt").write_text(text)
    return folder / "docs", {}


def as_csv(folder):
    frame = pd.DataFrame({"name": IDS, "text": TEXTS})
    frame.to_csv(folder / "docs.csv", index=False)
    return folder / "docs.csv", {"id_column": "name"}


def as_csv_by_number(folder):
    pd.DataFrame({"name": IDS, "body": TEXTS}).to_csv(folder / "docs.csv", index=False, header=False)
    return folder / "docs.csv", {"text_column": 2, "id_column": 1}


def as_tsv(folder):
    (folder / "docs.tsv").write_text("\n".join(f"{name}\t{line}" for name, line in zip(IDS, LINES, strict=True)))
    return folder / "docs.tsv", {"text_column": 2, "id_column": 1}


def as_tsv_with_header(folder):
    lines = ["id\tbody", *(f"{name}\t{line}" for name, line in zip(IDS, LINES, strict=True))]
    (folder / "docs.tsv").write_text("\n".join(lines))
    return folder / "docs.tsv", {"text_column": "2", "header": True}


def as_json_lines(folder):
    records = [{"id": name, "body": text} for name, text in zip(IDS, TEXTS, strict=True)]
    (folder / "docs.jsonl").write_text("\n".join(json.dumps(record) for record in records) + "\n\n")
    return folder / "docs.jsonl", {"text_column": "body", "id_column": "id"}


def as_json_strings(folder):
    (folder / "docs.ndjson").write_text("\n".join(json.dumps(text) for text in TEXTS))
    return folder / "docs.ndjson", {}


def as_parquet(folder):
    pq.write_table(pa.table({"id": IDS, "text": TEXTS}), folder / "docs.parquet", row_group_size=2)
    return folder / "docs.parquet", {"id_column": "id"}


def as_forced(folder):
    (folder / "docs.xyz").write_text("\n".join(LINES))
    return folder / "docs.xyz", {"format": "text"}


TEXT_FORMATS = [
    as_text, as_windows_text, as_gzip, as_zstd, as_folder, as_csv, as_csv_by_number, as_tsv, as_tsv_with_header,
    as_json_lines, as_json_strings, as_parquet, as_forced,
]  # fmt: skip


@pytest.mark.parametrize("make", TEXT_FORMATS, ids=lambda make: make.__name__)
def test_text_formats(tmp_path, expected, make):
    path, options = make(tmp_path)
    corpus = aw.read_corpus(path, **options)
    same(corpus, expected)
    if options.get("id_column"):
        assert corpus.doc_ids == tuple(IDS)
    stored = aw.import_corpus(path, tmp_path / "corpus", **options)
    same(stored, expected)
    assert stored.doc_ids == corpus.doc_ids
    assert stored.text_rule == corpus.text_rule
    same(aw.read_corpus(tmp_path / "corpus"), expected)


def test_other_separators(tmp_path, expected):
    frame = pd.DataFrame({"name": IDS, "text": TEXTS})
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";")
    same(aw.read_corpus(tmp_path / "a.csv", separator=";", id_column="name"), expected)
    records = [json.dumps({"text": text}) for text in TEXTS]
    (tmp_path / "b.json").write_text("\n".join(records))
    same(aw.read_corpus(tmp_path / "b.json"), expected)


def test_folders_of_other_kinds_are_named(tmp_path, sampled):
    aw.AnchorTopicModel(2).fit(sampled.corpus).save(tmp_path / "m")
    with pytest.raises(CorpusFormatError, match="is a model folder"):
        aw.read_corpus(tmp_path / "m")
    sampled.corpus.save(tmp_path / "c")
    (tmp_path / "c" / "corpus.json").write_text("{")
    with pytest.raises(CorpusFormatError, match="damaged"):
        aw.read_corpus(tmp_path / "c")


def test_files_of_a_folder_are_named_by_their_path(tmp_path):
    path, _ = as_folder(tmp_path)
    assert aw.read_corpus(path).doc_ids == tuple(f"d/{name}.txt" for name in IDS)
    (path / "notes.md").write_text("other words")
    assert aw.read_corpus(path, pattern="*.md").doc_ids == ("notes.md",)
    assert aw.read_corpus(path, format="folder", pattern="*.md").n_docs == 1


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"id": IDS, "text": TEXTS}),
        pl.DataFrame({"id": IDS, "text": TEXTS}),
        pa.table({"id": IDS, "text": TEXTS}),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_frames(frame, expected):
    corpus = aw.read_corpus(frame, id_column="id")
    same(corpus, expected)
    assert corpus.doc_ids == tuple(IDS)
    same(aw.read_corpus(frame, text_column=2), expected)
    with pytest.raises(InputError, match=r"no column 'body'.*1 'id', 2 'text'"):
        aw.read_corpus(frame, text_column="body")


@pytest.mark.parametrize("make", [pd.Series, pl.Series, tuple, np.array, iter], ids=str)
def test_iterables_of_text(make, expected):
    same(aw.read_corpus(make(TEXTS)), expected)


@pytest.fixture
def expected_tokens():
    return aw.read_corpus(TOKENS)


@pytest.mark.parametrize("how", ["jsonl", "json lists", "parquet", "pandas", "polars", "arrow", "baskets"])
def test_lists_of_tokens(tmp_path, expected_tokens, how):
    options = {}
    if how == "jsonl":
        source = tmp_path / "d.jsonl"
        source.write_text("\n".join(json.dumps({"text": tokens or None}) for tokens in TOKENS))
    elif how == "json lists":
        source = tmp_path / "d.jsonl"
        source.write_text("\n".join(json.dumps(tokens) for tokens in TOKENS))
    elif how == "parquet":
        source = tmp_path / "d.parquet"
        pq.write_table(pa.table({"items": [tokens or None for tokens in TOKENS]}), source)
    elif how == "pandas":
        source = pd.DataFrame({"text": TOKENS})
    elif how == "polars":
        source = pl.DataFrame({"text": TOKENS})
    elif how == "arrow":
        source = pa.table({"text": TOKENS})
    else:
        source = tmp_path / "baskets.txt"
        source.write_text("\n".join("|".join(tokens) for tokens in TOKENS) + "\n")
        options = {"format": "baskets", "separator": "|"}
    same(aw.read_corpus(source, **options), expected_tokens)


def test_missing_values_are_empty_documents():
    frame = pd.DataFrame({"text": ["one two", None, float("nan"), "two"]})
    assert aw.read_corpus(frame).counts.sum(axis=1).tolist() == [2, 0, 0, 1]
    assert aw.read_corpus([None, ["a"], None]).counts.sum(axis=1).tolist() == [0, 1, 0]


def test_a_corpus_cannot_be_split_into_words_again(tmp_path):
    aw.read_corpus(LINES).save(tmp_path / "c")
    for options in ({"ngrams": (1, 2)}, {"stop_words": "english"}, {"vocabulary": ["a"]}, {"text_column": 2}):
        with pytest.raises(InputError, match="counted already"):
            aw.read_corpus(tmp_path / "c", **options)
        with pytest.raises(InputError, match="counted already"):
            aw.import_corpus(tmp_path / "c", tmp_path / "d", **options)


def test_only_text_has_a_rule(tmp_path):
    assert aw.read_corpus(LINES).text_rule is not None
    assert aw.read_corpus(TOKENS).text_rule is None
    assert aw.read_corpus(LINES, tokenizer=str.split).text_rule is not None
    plain, fixed = aw.read_corpus(LINES), aw.read_corpus(LINES, vocabulary=["red", "green"])
    assert plain.text_rule != fixed.text_rule


def test_a_given_vocabulary_is_the_columns(tmp_path, expected):
    words = ["green", "never", "apple"]
    corpus = aw.read_corpus(LINES, vocabulary=words)
    assert corpus.vocabulary == tuple(words)
    assert corpus.counts.toarray()[0].tolist() == [1, 0, 2]
    (tmp_path / "words.txt").write_text("\n".join(words))
    stored = aw.import_corpus(LINES, tmp_path / "c", vocabulary=tmp_path / "words.txt")
    same(stored, corpus)


def test_matrices_by_content(tmp_path):
    counts = sp.csr_matrix([[1, 0, 2], [0, 3, 0]])
    scipy.io.mmwrite(tmp_path / "m.mtx", counts)
    sp.save_npz(tmp_path / "m.npz", counts)
    np.save(tmp_path / "m.npy", counts.toarray())
    (tmp_path / "m.mtx.gz").write_bytes(gzip.compress((tmp_path / "m.mtx").read_bytes()))
    for name in ("m.mtx", "m.npz", "m.npy", "m.mtx.gz"):
        plain = tmp_path / name.replace(".", "_")
        plain.write_bytes((tmp_path / name).read_bytes())
        for path in (tmp_path / name, plain):
            np.testing.assert_array_equal(aw.read_corpus(path).counts.toarray(), counts.toarray())
            stored = aw.import_corpus(path, tmp_path / "c")
            np.testing.assert_array_equal(stored.counts.toarray(), counts.toarray())


def test_uci_in_any_order_and_in_small_pieces(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    counts = sp.coo_array(rng.integers(0, 3, (40, 9)) * (rng.random((40, 9)) < 0.3))
    counts = sp.coo_array(sp.csr_array(counts))
    lines = [f"{i + 1} {j + 1} {v}" for i, j, v in zip(counts.row, counts.col, counts.data, strict=True)]
    (tmp_path / "vocab.a.txt").write_text("\n".join(f"w{i}" for i in range(9)))
    path = tmp_path / "docword.a.txt"
    for order in (np.arange(len(lines)), rng.permutation(len(lines))):
        path.write_text("\n".join(["40", "9", str(len(lines)), *(lines[i] for i in order)]))
        for size in (1 << 22, 12, 30):
            monkeypatch.setattr("anchorwords.corpus.files._CHUNK", size)
            for read in (aw.read_corpus, lambda p: aw.import_corpus(p, tmp_path / "c")):
                np.testing.assert_array_equal(read(path).counts.toarray(), counts.toarray())


def test_uci_is_known_by_how_it_begins(tmp_path):
    path = tmp_path / "anything.txt"
    path.write_text("2\n2\n2\n1 1 4\n2 2 1\n")
    assert aw.read_corpus(path, vocabulary=["x", "y"]).counts.toarray().tolist() == [[4, 0], [0, 1]]
    path.write_text("10\n20\n30\nnot a triple\nred apple\n")  # three numbers do not make a UCI file
    assert "apple" in aw.read_corpus(path).vocabulary


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("a.csv", "x,y\n1,2\n", {}, r"several columns.*1 'x', 2 'y'"),
        ("a.csv", "x,y\n1,2\n", {"text_column": "z"}, r"no column 'z'"),
        ("a.csv", "x,y\n1,2\n", {"text_column": 3}, r"from 1 to 2, but is 3"),
        ("a.tsv", "x\ty\none\n", {"text_column": 2}, r"line 2: 1 columns, but the first line has 2"),
        ("a.jsonl", '{"text": "a b"}\n{"body": 1}\n', {}, r"line 2: no member 'text': it has 'body'"),
        ("a.jsonl", '{"text": "a"}\n{"text"', {}, r"line 2: not JSON"),
        ("a.jsonl", '{"text": 7}\n', {}, r"line 1: expected a text or a list of tokens, but found int 7"),
        ("a.jsonl", '{"text": [["a"]]}\n', {}, r"line 1: tokens must be words or numbers"),
        ("a.jsonl", '"a b"\n["a"]\n', {}, r"all texts or all lists of tokens, but document 2 is a list after a str"),
        ("a.jsonl", "[" * 100_000, {}, r"line 1: not JSON"),
        ("a.txt", "", {}, r"holds no documents"),
        ("a.csv", "", {}, r"holds no documents"),
        ("a.csv", "a,b\n1,one two\n2,three, four\n", {"text_column": "b"}, r"line 3: 3 columns, but the first line has 2"),
        ("a.csv", "id;body\n1;one two\n", {}, r"first line holds ';'.*--separator"),
        ("a.csv", "id;body\n1;one two\n", {"text_column": "body"}, r"first line holds ';'"),
        ("plain", "x\tone two\n", {"text_column": 2}, r"is read as text, which has no columns"),
        ("a.json", '[\n {"text": "one"}\n]\n', {}, r"one JSON value over several lines"),
        ("a.txt", "one two", {"tokenizer": lambda _: 1 / 0}, r"tokenizer failed on the document 'one two': ZeroDivision"),
        ("a.txt", "one two", {"tokenizer": lambda _: 7}, r"tokenizer failed"),
        ("a.tsv", "", {"text_column": 2}, r"holds no documents"),
        ("a.txt", "!! ??\n..\n", {}, r"holds no word in 2 documents"),
        ("a.txt", "good\nl\xe9gume\n".encode("latin-1"), {}, r"line 2: not UTF-8 text \(byte 0xe9\)"),
        ("a.txt", "hello".encode("utf-16"), {}, r"not UTF-8|null byte"),
        ("a.parquet", "PAR1 but no more", {}, r"not a whole Parquet file"),
        ("a.txt", "x", {"format": "magic"}, r"format must be one of auto, text"),
        ("a.txt", "x", {"format": "baskets", "separator": ""}, r"separator"),
    ],
)  # fmt: skip
def test_errors_say_what_and_where(tmp_path, name, content, options, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for read in (aw.read_corpus, lambda p, **o: aw.import_corpus(p, tmp_path / "c", **o)):
        with pytest.raises(InputError, match=message) as caught:
            read(path, **options)
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "c").exists()


def test_what_is_no_source():
    for source in (7, b"bytes", {"text": "x"}, None):
        with pytest.raises(InputError, match="a path, a frame or an iterable"):
            aw.read_corpus(source)
    with pytest.raises(InputError, match="bytes, which must be decoded first"):
        aw.read_corpus([b"raw"])
    with pytest.raises(CorpusFormatError, match="does not exist"):
        aw.read_corpus("no/such/file.txt")


def test_empty_folders_and_wrong_patterns(tmp_path):
    with pytest.raises(CorpusFormatError, match="it is empty"):
        aw.read_corpus(tmp_path)
    (tmp_path / "a.md").write_text("words")
    with pytest.raises(CorpusFormatError, match=r"its files end in \.md; name a pattern"):
        aw.read_corpus(tmp_path)
    with pytest.raises(CorpusFormatError, match="is a folder"):
        aw.read_corpus(tmp_path, format="csv")


def test_progress_tells_documents_and_share(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "BATCH_DOCUMENTS", 2)
    path, _ = as_text(tmp_path)
    seen = []
    aw.read_corpus(path, progress=lambda n, share: seen.append((n, share)))
    assert [n for n, _ in seen] == [2, 4, 5]
    assert seen[-1][1] == 1.0
    seen.clear()
    aw.read_corpus(LINES, progress=lambda n, share: seen.append((n, share)))
    assert seen[-1] == (5, None)


@pytest.mark.parametrize("package", ["pyarrow", "zstandard"])
def test_a_missing_package_is_named(tmp_path, monkeypatch, package):
    path = as_parquet(tmp_path)[0] if package == "pyarrow" else as_zstd(tmp_path)[0]
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(CorpusFormatError, match=r"pip install 'anchorwords\[io\]'"):
        aw.read_corpus(path)

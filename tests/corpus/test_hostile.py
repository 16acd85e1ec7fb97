"""Files made to hurt: each gives the right corpus, or one sentence, in time and within memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import socket
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zstandard

import anchorwords as aw
from anchorwords.corpus import files
from anchorwords.corpus.formats import FORMATS
from anchorwords.exceptions import InputError, TooLargeError

FILE_FORMATS = [kind for kind in FORMATS if kind not in ("folder", "corpus")]


@pytest.fixture(params=["read", "import"])
def read(request, tmp_path):
    """Both ways in."""
    if request.param == "read":
        return aw.read_corpus
    return lambda source, **options: aw.import_corpus(source, tmp_path / "imported", **options)


def refused(read, source, match, **options):
    with pytest.raises(InputError, match=match) as caught:
        read(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 2000


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ---- Text.


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (bytes(range(256)) * 20, r"line \d+: not UTF-8 text"),
        (b"\x7fELF\x02\x01\x01\0\0\0", "line 1: a null byte"),
        (b"good line\nbad \0 line\n", "line 2: a null byte"),
        ("hello world\nmore".encode("utf-16"), "not UTF-8 text"),
        ("hello world\nmore".encode("utf-16-le"), "a null byte.*UTF-16"),
        (b"good\n\xed\xa0\x80\n", "line 2: not UTF-8"),  # a surrogate
        (b"good\n\xc0\xaf\n", "line 2: not UTF-8"),  # a slash, spelt too long
        (b"good\n\xf5\x80\x80\x80\n", "line 2: not UTF-8"),  # beyond Unicode
        (b"good\nend \xe2\x82", "line 2: not UTF-8"),  # cut inside a character
    ],
)
def test_what_is_not_text_names_the_line(tmp_path, read, content, match):
    refused(read, written(tmp_path / "a.txt", content), match)
    if b"\0" not in content or content[0] == 0xFF:
        folder = tmp_path / "docs"
        folder.mkdir()
        written(folder / "b.txt", content)
        written(folder / "a.txt", "fine words")
        refused(read, folder, r"b\.txt, line \d+: not UTF-8")


def test_characters_that_meet_the_end_of_a_piece_are_read_whole(tmp_path, read, monkeypatch):
    path = written(tmp_path / "a.txt", "straße 日本語 und\ncafé 🙂 noch\n" * 5)
    expected = aw.read_corpus(path).counts.toarray()
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(files, "_CHUNK", size)
        np.testing.assert_array_equal(read(path).counts.toarray(), expected)


@pytest.mark.slow
def test_a_line_of_100_megabytes_is_a_document(tmp_path, read):
    path = written(tmp_path / "a.txt", b"first one\n" + b"red apple pear " * 7_000_000 + b"\nlast one")
    corpus = read(path)
    assert corpus.vocabulary == ("apple", "first", "last", "one", "pear", "red")
    million = 7_000_000
    assert corpus.counts.toarray().tolist() == [
        [0, 1, 0, 1, 0, 0],
        [million, 0, 0, 0, million, million],
        [0, 0, 1, 1, 0, 0],
    ]


def test_a_line_without_end_is_refused(tmp_path, read, monkeypatch):
    monkeypatch.setattr(files, "_LONGEST_LINE", 1 << 20)
    monkeypatch.setattr(files, "_CHUNK", 1 << 16)
    refused(read, written(tmp_path / "a.txt", b"word " * (1 << 19)), "a line longer than 1 MiB")


@pytest.mark.slow
def test_two_million_distinct_words(tmp_path):
    # Of letters, as numbers are not words.
    letters = np.frombuffer(b"abcdefghijklmnop", dtype=np.uint8)
    numbers = np.arange(2_000_000)
    text = np.full((2_000_000, 7), ord(" "), dtype=np.uint8)
    for place in range(6):
        text[:, place] = letters[numbers >> 4 * place & 15]
    text[999::1000, 6] = ord("\n")
    corpus = aw.import_corpus(written(tmp_path / "a.txt", text.tobytes()), tmp_path / "c")
    assert (corpus.n_docs, corpus.n_words, corpus.n_tokens) == (2000, 2_000_000, 2_000_000)
    assert (corpus.document_frequencies == 1).all()


def test_words_longer_than_words_are_passed_over(tmp_path, read):
    path = written(tmp_path / "a.txt", "x" * 10_000_000 + " good " + "\u0301" * 1000 + " word")
    assert read(path).vocabulary == ("good", "word")


def test_documents_with_nothing_in_them_are_no_corpus(tmp_path, read):
    refused(read, written(tmp_path / "a.txt", "\n\n \n"), "holds no word in 3 documents")
    refused(read, written(tmp_path / "b.txt", ""), "holds no documents")
    refused(read, written(tmp_path / "a.jsonl", '""\nnull\n[]\n'), "holds no word in 3 documents")
    refused(read, ["", None, []], "holds no word in 3 documents")
    refused(read, [], "holds no documents")
    refused(read, pd.DataFrame({"text": []}), "holds no documents")
    (tmp_path / "docs").mkdir()
    written(tmp_path / "docs" / "a.txt", "")
    refused(read, tmp_path / "docs", "holds no word in 1 documents")


# ---- Tables.


def duplicates(kind, folder):
    names, texts = ["a", "b", "a"], ["one two", "three", "four"]
    frame = pd.DataFrame({"id": names, "text": texts})
    if kind == "csv":
        frame.to_csv(folder / "d.csv", index=False)
    elif kind == "tsv":
        frame.to_csv(folder / "d.tsv", index=False, sep="\t")
    elif kind == "jsonl":
        frame.to_json(folder / "d.jsonl", orient="records", lines=True)
    elif kind == "parquet":
        frame.to_parquet(folder / "d.parquet")
    else:
        return {"pandas": frame, "polars": pl.DataFrame(frame.to_dict("list")), "arrow": pa.table(frame)}[kind]
    return folder / f"d.{kind}"


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "pandas", "polars", "arrow"])
def test_an_id_that_comes_twice_is_named(tmp_path, read, kind):
    refused(read, duplicates(kind, tmp_path), "gives the id 'a' to a second document, number 3", id_column="id")


def test_an_id_that_is_a_book_is_named_in_short(tmp_path, read):
    path = written(tmp_path / "a.jsonl", "\n".join([json.dumps({"id": "x" * 100_000, "text": "one"})] * 2))
    refused(read, path, "gives the id 'xxx", id_column="id")


def test_a_quote_that_is_never_closed_is_named(tmp_path, read):
    rows = 'id,text\n1,"one, two"\n2,"three\n3,four\n4,five\n'
    refused(read, written(tmp_path / "a.csv", rows), "line 3: a quote is opened here, but never closed")
    refused(read, written(tmp_path / "b.csv", '"text\none\n'), "line 1: a quote is opened")
    # Line ends inside of quotes, and quotes inside of fields, are nothing to complain of.
    path = written(tmp_path / "c.csv", 'text\n"one\n\ntwo"\nsay "three" now\n"four ""five"""')
    assert read(path).counts.sum(axis=1).tolist() == [2, 3, 2]


def test_fields_of_a_megabyte_are_documents(tmp_path, read):
    path = written(tmp_path / "a.csv", "id,text\n1," + "word " * 200_000 + '\n2,"' + "more\n" * 200_000 + '"\n')
    assert read(path, id_column="id").counts.toarray().tolist() == [[0, 200_000], [200_000, 0]]


def test_null_characters_in_tables_are_refused(tmp_path, read):
    for name in ("a.csv", "a.tsv", "a.jsonl"):
        refused(read, written(tmp_path / name, "text\none\nt\0wo\n"), "line 3: a null byte")


def test_columns_beyond_counting_are_shown_in_part(tmp_path, read):
    header = ",".join("c" * 5000 + str(i) for i in range(500))
    refused(read, written(tmp_path / "a.csv", header + "\n"), "several columns")
    refused(read, written(tmp_path / "a.jsonl", json.dumps(dict.fromkeys(header.split(","), 1))), "no member 'text'")
    pq.write_table(pa.table({name: [1] for name in header.split(",")[:50]}), tmp_path / "a.parquet")
    refused(read, tmp_path / "a.parquet", "several columns")
    refused(read, tmp_path / "a.parquet", "no column", text_column="x" * 5000)


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("[" * 200_000 + "]" * 200_000, "line 1: not JSON"),
        ('{"text":' * 100_000, "line 1: not JSON"),
        ('{"text": ' + "[" * 500 + "]" * 500 + "}", "line 1: tokens must be words or numbers"),
        ('{"text": ' + "9" * 5000 + "}", "line 1: not JSON"),
        ('{"text": ' + "9" * 4000 + "}", "line 1: expected a text .* found int 999"),
        ('{"text": 1e999}', "line 1: expected a text .* found float inf"),
        ('{"text": Infinity}', "found float inf"),
        ('{"text": {"a": 1}}', "found dict"),
        ('{"text": true}', "found bool True"),
        ('{"text": "a\nb"}', "line 1: not JSON"),
        ("{'text': 'a'}", "line 1: not JSON"),
        ('{"a": 1}', "no member 'text': it has 'a'"),
        ("{}", "no member 'text': it has none"),
    ],
)
def test_hostile_json_gets_one_sentence(tmp_path, read, line, match):
    refused(read, written(tmp_path / "a.jsonl", line), match)


def test_odd_json_is_read(tmp_path, read):
    lines = [
        '{"text": "lone \\ud800 half"}',
        '{"text": NaN}',
        '{"text": null}',
        '{"text": "a\\u0000b two"}',
        '"\\ud83d\\ude42 ok"',
    ]
    corpus = read(written(tmp_path / "a.jsonl", "\n".join(lines)))
    assert corpus.vocabulary == ("half", "lone", "ok", "two")
    assert corpus.counts.sum(axis=1).tolist() == [2, 0, 0, 1, 1]
    tokens = read(written(tmp_path / "b.jsonl", '["\\ud800", "", 9999999999999999999999, 1.5, null, NaN, true]'))
    assert tokens.vocabulary == ("", "1.5", "9999999999999999999999", "True", "nan", "\ud800")


def test_json_without_an_id_where_one_is_asked_for(tmp_path, read):
    path = written(tmp_path / "a.jsonl", '{"id": 1, "text": "one"}\n"two"\n')
    refused(read, path, "line 2: no member 'id'", id_column="id")
    refused(read, written(tmp_path / "b.jsonl", '{"text": "one"}\n'), "line 1: no member 'id'", id_column="id")


def test_odd_frames(read):
    assert read(pd.DataFrame([["one two"], ["two"]])).n_tokens == 3  # columns that are numbers
    assert read(pd.DataFrame({7: ["a", "b"], 8: ["one", "two"]}), text_column="8", id_column=1).doc_ids == ("a", "b")
    missing = pd.DataFrame({"text": pd.array(["one", pd.NA, pd.NaT, None], dtype=object)})
    assert read(missing).counts.sum(axis=1).tolist() == [1, 0, 0, 0]
    assert read([np.str_("one"), "two", None]).n_docs == 3
    twice = pd.DataFrame([["one", "two"]], columns=["text", "text"])
    refused(read, twice, "several columns called 'text'")
    refused(read, pa.table([["a"], ["b"]], names=["text", "text"]), "several columns called 'text'")
    refused(read, pd.DataFrame({"text": [np.ones((3, 3))]}), "row 1: expected a text or a list")
    refused(read, pd.DataFrame({"text": [b"raw"]}), "bytes, which must be decoded")
    refused(read, pd.DataFrame(), "several columns")


# ---- Counts.

VOCABULARY = {"vocabulary": ["a", "b"]}


def test_counts_beyond_32_bits_are_exact(tmp_path, read):
    path = written(tmp_path / "docword.a.txt", f"1\n2\n2\n1 1 {2**40 + 1}\n1 2 {10**15}\n")
    assert read(path, **VOCABULARY).counts.toarray().tolist() == [[2**40 + 1, 10**15]]
    for dtype in (np.int64, np.uint64, np.float64):
        counts = np.array([[2**53, 2**32], [1, 0]], dtype=dtype)
        sp.save_npz(tmp_path / "a.npz", sp.csr_array(counts))
        np.save(tmp_path / "a.npy", counts)
        for name in ("a.npz", "a.npy"):
            corpus = read(tmp_path / name)
            assert corpus.counts.toarray().tolist() == [[2**53, 2**32], [1, 0]]
            assert corpus.n_tokens == 2**53 + 2**32 + 1 - 1  # the sum is a float: its last bit is gone


def test_counts_that_cannot_be_exact_are_refused(tmp_path, read):
    for count in (10**15 + 1, 2**53 + 1, 2**63, 10**30):
        path = written(tmp_path / "docword.a.txt", f"1\n2\n2\n1 1 {count}\n1 2 1\n")
        refused(read, path, "line 4: expected three whole numbers", **VOCABULARY)
    for dtype in (np.int64, np.uint64):
        counts = np.array([[2**53 + 1, 1]], dtype=dtype)
        sp.save_npz(tmp_path / "a.npz", sp.csr_array(counts))
        np.save(tmp_path / "a.npy", counts)
        for name in ("a.npz", "a.npy"):
            refused(read, tmp_path / name, r"the count 9007199254740993 is beyond 2\^53")
    mtx = "%%MatrixMarket matrix coordinate integer general\n1 2 1\n1 1 {}\n"
    refused(read, written(tmp_path / "a.mtx", mtx.format(2**53 + 1)), r"beyond 2\^53")
    refused(read, written(tmp_path / "a.mtx", mtx.format(10**30)), "is not a Matrix Market file")


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_counts_that_are_none_are_refused(tmp_path, read, value):
    counts = np.array([[value, 1]])
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(counts))
    np.save(tmp_path / "a.npy", counts)
    written(tmp_path / "a.mtx", f"%%MatrixMarket matrix array real general\n1 2\n{value}\n1\n")
    for name in ("a.npz", "a.npy", "a.mtx"):
        refused(read, tmp_path / name, "Negative values|finite")


@pytest.mark.parametrize(
    "array",
    [
        np.array([["a", "b"]]), np.array([[1j, 2]]), np.array([["2020-01-01"]], dtype="M8[D]"), np.zeros((2, 2), "f8,f8"),
        np.array(5), np.ones(3), np.ones((2, 2, 2)), np.zeros((0, 3)), np.zeros((3, 0)),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_that_are_no_counts_are_refused(tmp_path, read, array):
    np.save(tmp_path / "a.npy", array)
    refused(read, tmp_path / "a.npy", "a.npy")


def test_pickles_are_never_opened(tmp_path, read):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    np.save(tmp_path / "a.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", data=np.array([Trap()], dtype=object), format=np.array([Trap()], dtype=object))
    for name in ("a.npy", "a.npz"):
        refused(read, tmp_path / name, "is not a")


@pytest.mark.parametrize(
    "arrays",
    [
        {"indices": [0, 10**6], "indptr": [0, 1, 2]},
        {"indices": [0, -5], "indptr": [0, 1, 2]},
        {"indices": [0, 1], "indptr": [0, 10**9, 2]},
        {"indices": [0, 1], "indptr": [0, -(10**9), 2]},
        # Differences that overflow are all positive.
        {"indices": [0, 1, 0], "indptr": [0, 2**62, 2**63 - 1, -(2**62), 2]},
        {"indices": [0], "indptr": [0, 1, 2]},
        {"indices": [0, 1], "indptr": []},
    ],
    ids=str,
)
@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_sparse_matrices_that_point_outside_are_refused(tmp_path, read, arrays, layout):
    # Unchecked they would make compiled code write anywhere.
    size = max(len(arrays["indptr"]) - 1, 2)
    data = np.ones(len(arrays["indices"])) if layout != "bsr" else np.ones((len(arrays["indices"]), 1, 1))
    np.savez(tmp_path / "a.npz", format=layout.encode(), shape=[size, size], data=data, **arrays)
    refused(read, tmp_path / "a.npz", "a.npz")


@pytest.mark.parametrize("offsets", [[0, 10**9], [2**62, -(2**62)], [0, 0], [0.5, 1]], ids=str)
def test_diagonals_that_point_outside_are_harmless(tmp_path, offsets):
    np.savez(tmp_path / "a.npz", format=b"dia", shape=[2, 2], data=np.ones((2, 2)), offsets=offsets)
    try:
        corpus = aw.read_corpus(tmp_path / "a.npz")
    except InputError:
        return
    assert corpus.counts.toarray().sum() <= 4


# ---- Sizes that are not there.


def test_headers_that_announce_the_impossible_allocate_nothing(tmp_path, read):
    before = peak_bytes()
    huge = 10**12
    uci = tmp_path / "docword.a.txt"
    refused(read, written(uci, f"3\n2\n{huge}\n1 1 1\n"), "announces 1000000000000 entries, but holds 1", **VOCABULARY)
    refused(read, written(uci, f"{huge}\n2\n1\n1 1 1\n"), "more than can be held", **VOCABULARY)
    refused(read, written(uci, "1000000000\n2\n1\n1 1 1\n"), "the header is wrong|more than can be held", **VOCABULARY)
    refused(read, written(uci, f"3\n{huge}\n1\n1 1 1\n"), "more than can be held", **VOCABULARY)
    mtx = tmp_path / "a.mtx"
    for sizes in (
        f"3 2 {huge}",
        f"{huge} 2 1",
        f"3 {huge} 1",
        "1000000000 2 1",
        "3 1000000000 1",
        f"{huge} {huge} {huge}",
    ):
        text = f"%%MatrixMarket matrix coordinate integer general\n{sizes}\n1 1 1\n"
        refused(read, written(mtx, text), "a.mtx")
    for sizes in (f"{huge} {huge}", f"{huge} 1"):
        refused(read, written(mtx, f"%%MatrixMarket matrix array real general\n{sizes}\n1\n"), "a.mtx")
    for shape in ((huge, huge), (huge, 0), (0, huge), (3, huge), (10**30, 1), (-1, 3)):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
        refused(read, written(tmp_path / "a.npy", header.getvalue() + bytes(64)), "a.npy")
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
            archive.writestr("data.npy", header.getvalue() + bytes(64))
        refused(read, tmp_path / "a.npz", "a.npz")
    for shape in ([huge, 2], [2, huge], [2**62, 2**62]):
        for layout in (b"coo", b"csr"):
            parts = {"row": [0], "col": [0]} if layout == b"coo" else {"indices": [0], "indptr": [0, 1, 1]}
            np.savez(tmp_path / "b.npz", format=layout, shape=shape, data=[1], **parts)
            refused(read, tmp_path / "b.npz", "b.npz")
    assert peak_bytes() - before < 500 << 20


# ---- Bombs.


LINE = b" " * ((1 << 20) - 1) + b"\n"


@pytest.mark.parametrize("kind", ["text", "csv", "tsv", "jsonl", "baskets", "uci", "mtx"])
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gzip", "zstd"])
def test_bombs_are_refused(tmp_path, read, monkeypatch, kind, pack):
    monkeypatch.setattr("anchorwords.storage.holes.BOMB_BYTES", 1 << 20)
    monkeypatch.setattr(files, "_CHUNK", 1 << 16)
    path = written(tmp_path / "a", pack((b"1\n1\n1\n" if kind == "uci" else b"") + LINE * 4))
    refused(read, path, "zip bomb|is not a Matrix", format=kind, vocabulary=["a"])
    written(tmp_path / "words.gz", pack(LINE * 4))
    refused(read, written(tmp_path / "b.txt", "text"), "zip bomb", vocabulary=tmp_path / "words.gz")


def test_an_archive_that_is_a_bomb_is_refused(tmp_path, read, monkeypatch):
    monkeypatch.setattr("anchorwords.storage.holes.BOMB_BYTES", 1 << 20)
    sp.save_npz(tmp_path / "a.npz", sp.csr_array((1 << 18, 3)))
    refused(read, tmp_path / "a.npz", "zip bomb")


def test_real_bombs_take_no_memory(tmp_path, read):
    before = peak_bytes()
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wb") as stream:
        for _ in range(300):
            stream.write(LINE)
    refused(read, path, "unpacks to more than 200 times its size and 32 MiB")
    with zstandard.open(tmp_path / "b.txt.zst", "wb") as stream:
        for _ in range(300):
            stream.write(LINE)
    refused(read, tmp_path / "b.txt.zst", "zip bomb")
    folder = tmp_path / "docs"
    folder.mkdir()
    path.rename(folder / path.name)
    refused(read, folder, "zip bomb")
    assert peak_bytes() - before < 300 << 20  # a document of 32 MiB that a folder holds is in memory once or twice


def test_honest_files_are_no_bombs(tmp_path, read, monkeypatch):
    monkeypatch.setattr("anchorwords.storage.holes.BOMB_BYTES", 1 << 16)
    text = "\n".join(" ".join(row) for row in np.random.default_rng(0).choice(["red", "green", "blue"], (5000, 20)))
    for name, pack in (("a.txt.gz", gzip.compress), ("a.txt.zst", zstandard.ZstdCompressor().compress)):
        assert read(written(tmp_path / name, pack(text.encode()))).n_tokens == 100_000


# ---- Files cut short.


def whole_files(folder):
    rng = np.random.default_rng(0)
    text = "\n".join(" ".join(rng.choice(["red", "green", "blue"], 9)) for _ in range(4000)).encode()
    compressor = zstandard.ZstdCompressor(write_content_size=False)
    written(folder / "a.txt.gz", gzip.compress(text))
    written(folder / "b.txt.zst", zstandard.ZstdCompressor().compress(text))
    written(folder / "c.txt.zst", compressor.compress(text))  # as a stream is compressed: its size is not in the file
    written(folder / "d.txt.zst", compressor.compress(text[:9000]) + compressor.compress(text[9000:]))
    pq.write_table(pa.table({"text": text.decode().split("\n")}), folder / "e.parquet")
    sp.save_npz(folder / "f.npz", sp.random_array((300, 300), density=0.1, random_state=rng))
    np.save(folder / "g.npy", rng.random((30, 30)))
    return sorted(folder.iterdir())


def test_files_cut_short_are_noticed_wherever_the_cut_is(tmp_path, read):
    home = tmp_path / "files"
    home.mkdir()
    for path in whole_files(home):
        raw = path.read_bytes()
        assert read(path).n_docs > 0
        for keep in (len(raw) - 1, len(raw) - 9, len(raw) // 2, len(raw) // 3, 100, 20, 5):
            path.write_bytes(raw[:keep])
            refused(read, path, "not a whole|is not a|null byte|not UTF-8")


def test_frames_of_zstd_one_after_the_other_are_one_file(tmp_path, read):
    compress = zstandard.ZstdCompressor().compress
    pieces = [compress(b"one two\nthree "), compress(b""), compress(b"four\nfive"), compress(b" six\n")]
    corpus = read(written(tmp_path / "a.txt.zst", b"".join(pieces)))
    assert corpus.counts.sum(axis=1).tolist() == [2, 2, 2]
    refused(read, written(tmp_path / "b.txt.zst", pieces[0] + b"garbage"), "not a whole zstd file")
    refused(read, written(tmp_path / "b.txt.gz", gzip.compress(b"one") + b"garbage"), "not a whole gzip file")


# ---- Things that are no files.


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.fixture
def listening(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        yield tmp_path / "socket"


@pytest.mark.parametrize("kind", FILE_FORMATS)
def test_pipes_and_devices_are_refused_at_once(read, pipe, listening, kind):
    for path in (pipe, listening, Path("/dev/zero"), Path("/dev/null")):
        refused(read, path, "is a pipe or a device, not a file", format=kind)
    # Other files that are asked for on the way.
    for path in (pipe, "/dev/zero"):
        refused(read, ["text"], "is a pipe or a device", vocabulary=path)
        refused(read, ["text"], "is a pipe or a device", stop_words=path)


def test_pipes_in_a_folder_are_passed_over(tmp_path, read):
    folder = tmp_path / "docs"
    folder.mkdir()
    os.mkfifo(folder / "a.txt")
    (folder / "b.txt").symlink_to("/dev/zero")
    (folder / "c.txt").symlink_to("nowhere")
    (folder / "d.txt").symlink_to("d.txt")
    (folder / "e.txt").mkdir()
    written(folder / "f.txt", "good words")
    assert read(folder).doc_ids == ("f.txt",)


def test_a_folder_that_holds_itself_is_read_once(tmp_path, read):
    folder = tmp_path / "docs"
    folder.mkdir()
    written(folder / "a.txt", "good words")
    (folder / "again").symlink_to(folder)
    assert read(folder).doc_ids == ("a.txt",)
    (folder / "sub").mkdir()
    written(folder / "sub" / "b.txt", "more words")
    (folder / "sub" / "back").symlink_to(folder)
    (folder / "up").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    for pattern, expected in (
        (None, ["a.txt", "sub/b.txt"]),
        ("**/*.txt", ["a.txt", "sub/b.txt"]),
        ("*/*.txt", ["again/a.txt", "sub/b.txt"]),
        ("*/*/*.txt", ["again/again/a.txt", "again/sub/b.txt"]),
    ):
        assert sorted(read(folder, pattern=pattern).doc_ids) == expected
    (tmp_path / "outside.txt").write_text("other words")
    for pattern in ("../*.txt", "sub/../../*.txt", ".."):
        refused(read, folder, "pattern must name files inside of the folder", pattern=pattern)


def test_paths_that_lead_nowhere_are_refused(tmp_path, read):
    (tmp_path / "broken").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path / "broken", tmp_path / "loop", tmp_path / "none", "", "a\0b"):
        refused(read, path, "does not exist|cannot be read|is a folder|holds|embedded null")
    # A text in place of a path.
    refused(read, "some words " * 500, "cannot be read.*name too long")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_refused(tmp_path, read):
    path = written(tmp_path / "a.txt", "words")
    path.chmod(0)
    for kind in FILE_FORMATS:
        refused(read, path, "ermission denied", format=kind)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_files_that_do_not_know_their_size_are_read(read):
    assert "vmpeak" in read("/proc/self/status", format="text").vocabulary


def test_names_of_files_may_be_anything(tmp_path, read):
    folder = tmp_path / "docs"
    folder.mkdir()
    names = [
        "a\nb.txt",
        " .txt",
        "*.txt",
        "[x].txt",
        "日本.txt",
        "-r.txt",
        os.fsdecode(b"\xff\xfe.txt"),
        "a" * 240 + ".txt",
    ]
    for name in names:
        written(folder / name, "good words")
    assert set(read(folder).doc_ids) == set(names)
    for name in names:
        assert read(folder / name).n_tokens == 2
        written(folder / name, b"\xff")
        refused(read, folder, "not UTF-8")
        written(folder / name, "good words")
    (folder / "sub").mkdir()
    written(folder / "sub" / "x.m\nd", "words")
    refused(read, folder / "sub", "holds no file", format="folder")


def test_a_vocabulary_that_names_a_word_twice_names_the_line(tmp_path, read):
    words = written(tmp_path / "words.txt", "one\ntwo\n" + "x" * 10_000 + "\ntwo\n")
    refused(read, ["one two"], "line 4: the word 'two' is there already", vocabulary=words)


# ---- Too much for the memory.


def test_what_does_not_fit_in_memory_is_one_sentence(tmp_path, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    path = written(tmp_path / "a.txt", "one two\n")
    monkeypatch.setattr("anchorwords.corpus.counting.DocumentCounter.parts", full)
    with pytest.raises(TooLargeError, match=r"a\.txt does not fit in memory: import it into a corpus folder") as caught:
        aw.read_corpus(path)
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(TooLargeError, match="its vocabulary or one of its documents is too large"):
        aw.import_corpus(path, tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()
    np.save(tmp_path / "a.npy", np.ones((2, 2)))
    monkeypatch.setattr("anchorwords.corpus.matrices.check_counts", full)
    with pytest.raises(TooLargeError, match=r"a\.npy does not fit in memory"):
        aw.read_corpus(tmp_path / "a.npy")
    pq.write_table(pa.table({"text": ["one"]}), tmp_path / "a.parquet")
    monkeypatch.undo()
    monkeypatch.setattr("anchorwords.corpus.parquet.arrow_rows", full)
    with pytest.raises(TooLargeError, match=r"a\.parquet does not fit in memory"):
        aw.read_corpus(tmp_path / "a.parquet")


@pytest.mark.slow
def test_documents_that_are_nearly_all_empty_are_refused_on_the_way(tmp_path, read):
    before = peak_bytes()
    refused(
        read,
        written(tmp_path / "a.txt.gz", gzip.compress(b"one\n" + b"\n" * (30 << 20))),
        "so that nearly all are empty",
    )
    written(tmp_path / "a.jsonl.gz", gzip.compress(b"null\n" * (5 << 20)))
    refused(read, tmp_path / "a.jsonl.gz", "holds 0 words in its first .* documents")
    assert peak_bytes() - before < 300 << 20
    assert read(written(tmp_path / "b.txt", b"one\n" + b"\n" * 100_000)).n_docs == 100_001


def test_a_line_of_json_with_millions_of_values_is_refused_before_they_are_made(tmp_path, read):
    before = peak_bytes()
    refused(
        read, written(tmp_path / "a.jsonl.gz", gzip.compress(b"[" + b"[]," * 9_000_000 + b"[]]")), "values in one line"
    )
    refused(
        read, written(tmp_path / "a.jsonl.gz", gzip.compress(b"[" + b"{}," * 9_000_000 + b"{}]")), "values in one line"
    )
    assert peak_bytes() - before < 400 << 20
    # What is in a text is no value, however it is quoted.
    text = json.dumps({"text": '[[, "quoted" \\ ' * 2_000_000})
    assert read(written(tmp_path / "b.jsonl", text)).n_tokens == 2_000_000


def test_many_small_bombs_are_a_large_one(tmp_path, read, monkeypatch):
    monkeypatch.setattr("anchorwords.storage.holes.BOMB_BYTES", 1 << 20)
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(8):
        written(folder / f"{number}.txt.gz", gzip.compress(b" " * (900 << 10)))
    refused(read, folder, "docs unpacks to more than 200 times its size")


def test_tokens_that_cannot_be_written_are_refused(read):
    class Bad:
        def __str__(self):
            raise RuntimeError("no name")

    refused(read, [["one", Bad()]], "a token of a document cannot be written as text .RuntimeError: no name")
    refused(read, [[10**5000]], "a token of a document cannot be written as text .ValueError")
    refused(read, [10**5000], "document 1: expected a text or a list of tokens, but found int a value of type int")
    refused(read, [["one", [10**5000]]], "tokens must be words or numbers")
    for bad in (10**5000, Bad()):
        frame = pd.DataFrame({"id": pd.Series([bad], dtype=object), "text": ["one two"]})
        refused(read, frame, "row 1: .* cannot be written as text", id_column="id")


# ---- Arguments.


def test_batches_and_lazy_frames(read):
    assert read(pa.record_batch({"text": ["one two"], "id": ["a"]}), id_column="id").doc_ids == ("a",)
    refused(read, pl.LazyFrame({"text": ["one"]}), r"a lazy frame has no rows yet: give what its collect\(\) returns")
    refused(read, np.array("abc"), "not from ndarray")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (
            {"text_column": 1.5},
            "text_column must be the name of a column, its number from 1, or a list of them, but is 1.5",
        ),
        ({"id_column": ["id"]}, "id_column must be the name"),
        ({"pattern": 5}, "pattern must be a text, but is 5"),
        ({"separator": b","}, "separator must be a text"),
        ({"vocabulary": 5}, "vocabulary must be a file or a sequence of words, but is 5"),
        ({"vocabulary": [10**5000]}, "vocabulary: .* cannot be written as text"),
        ({"text_column": "9" * 5000}, "has no column"),
    ],
    ids=lambda value: "".join(value)[:30],
)
def test_arguments_of_the_wrong_type_are_refused(tmp_path, read, options, match):
    path = written(tmp_path / "a.csv", "text,id\none two,1\n")
    refused(read, path, match, **{"text_column": "text", **options})
    if "9" * 5000 in options.values():
        refused(read, pd.DataFrame({"text": ["one"]}), match, **options)


def test_sizes_of_a_uci_file_are_digits_alone(tmp_path, read):
    for size in ("1_0", "+1", "٣", "9" * 5000):
        refused(
            read, written(tmp_path / "docword.a.txt", f"{size}\n2\n1\n1 1 1\n"), "must start with three", **VOCABULARY
        )

"""Bytes and lines of files: line ends, frames, holes, and files that change while they are read."""

from __future__ import annotations

import os
import struct

import numpy as np
import pytest
import scipy.sparse as sp
import zstandard

import anchorwords as aw
from anchorwords.corpus import files
from anchorwords.corpus.files import lines, short
from anchorwords.exceptions import CorpusFormatError, InputError

from .test_hostile import peak_bytes, read, refused, written

__all__ = ["read"]  # a fixture


# ---- Line ends.


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"one two\rthree\rfour", ["one two", "three", "four"]),
        (b"one two\rthree\r", ["one two", "three"]),
        (b"one\r\rtwo", ["one", "", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\rstill one\ntwo", ["one\rstill one", "two"]),
        (b"one\r", ["one"]),
        (b"\r", [""]),
        (b"\n\r", ["", ""]),
        (b"\xef\xbb\xbfone\rtwo", ["one", "two"]),
        (b"", []),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 1 << 22])
def test_carriage_returns_end_lines_where_there_are_no_line_feeds(tmp_path, monkeypatch, raw, expected, size):
    monkeypatch.setattr(files, "_CHUNK", size)
    assert [line for _, line in lines(written(tmp_path / "a", raw))] == expected


def test_a_long_file_of_carriage_returns_is_split_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LOOKAHEAD", 64)
    monkeypatch.setattr(files, "_CHUNK", 16)
    monkeypatch.setattr(files, "_LONGEST_LINE", 128)
    path = written(tmp_path / "a", b"some words\r" * 1000)
    assert [line for _, line in lines(path)] == ["some words"] * 1000
    with pytest.raises(CorpusFormatError, match="CR alone, but later ones in LF: convert"):
        list(lines(written(tmp_path / "b", b"some words\r" * 1000 + b"and\nmore")))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "red apple\ngreen pear\n"),
        ("a.csv", 'id,text\n1,red apple\n2,"green pear"\n'),
        ("a.tsv", "id\ttext\n1\tred apple\n2\tgreen pear\n"),
        ("a.jsonl", '{"text": "red apple"}\n{"text": "green pear"}\n'),
    ],
)
def test_formats_do_not_depend_on_line_ends(tmp_path, read, name, content):
    for end in ("\n", "\r\n", "\r"):
        corpus = read(written(tmp_path / name, content.replace("\n", end)))
        assert corpus.vocabulary == ("apple", "green", "pear", "red")
        assert corpus.n_docs == 2


def test_counts_do_not_depend_on_line_ends(tmp_path, read):
    for end in ("\n", "\r\n", "\r"):
        written(tmp_path / "vocab.a.txt", f"red{end}green{end}")
        path = written(tmp_path / "docword.a.txt", f"2{end}2{end}2{end}1 1 3{end}2 2 1{end}")
        assert read(path).counts.toarray().tolist() == [[3, 0], [0, 1]]


# ---- Frames of zstd that are to be skipped.


def test_skippable_frames_are_skipped(tmp_path, read):
    compress = zstandard.ZstdCompressor().compress
    for number in (0x184D2A50, 0x184D2A5F):
        frame = struct.pack("<II", number, 5) + b"about"
        for raw in (
            frame + compress(b"red apple\ngreen pear\n"),
            compress(b"red apple\n") + frame + frame + compress(b"green pear\n"),
            compress(b"red apple\ngreen pear\n") + frame,
        ):
            assert read(written(tmp_path / "a.txt.zst", raw)).counts.sum(axis=1).tolist() == [2, 2]
        refused(read, written(tmp_path / "a.txt.zst", frame), "holds no documents")
        refused(read, written(tmp_path / "a.txt.zst", frame[:-1]), "not a whole zstd file")


# ---- Files that change.


def changing(path, monkeypatch, change):
    """Change a file after the first piece of it has been read."""
    monkeypatch.setattr(files, "_CHUNK", 1 << 10)
    done = []

    def watch(_):
        if not done:
            done.append(change(path))

    return watch


def truncate(path):
    os.truncate(path, path.stat().st_size // 2 // 12 * 12)  # at a line end: nothing else would tell


def append(path):
    with path.open("ab") as stream:
        stream.write(b"one more\n")


def overwrite(path):
    with path.open("r+b") as stream:
        stream.seek(60_000)
        stream.write(b"other words\n")
    os.utime(path, (1, 1))


@pytest.mark.parametrize("change", [truncate, append, overwrite])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, change):
    path = written(tmp_path / "a.txt", b"some words.\n" * 10_000)
    with pytest.raises(CorpusFormatError, match=r"a\.txt was changed while it was read"):
        list(lines(path, changing(path, monkeypatch, change)))


def test_a_text_file_truncated_during_import_leaves_nothing(tmp_path, monkeypatch):
    path = written(tmp_path / "a.txt", b"some words.\n" * 10_000)
    done = []

    def progress(*_):
        if not done:
            done.append(truncate(path))

    monkeypatch.setattr(files, "_CHUNK", 1 << 16)
    with pytest.raises(CorpusFormatError, match="was changed while it was read"):
        aw.import_corpus(path, tmp_path / "corpus", progress=progress)
    assert not (tmp_path / "corpus").exists()


def test_a_file_that_is_replaced_by_another_is_read_to_its_end(tmp_path, monkeypatch):
    path = written(tmp_path / "a.txt", b"some words.\n" * 10_000)
    written(tmp_path / "b.txt", b"others\n")
    watch = changing(path, monkeypatch, (tmp_path / "b.txt").replace)
    assert len(list(lines(path, watch))) == 10_000


# ---- Holes and other sizes.


def hollow(path, start, size):
    path.write_bytes(start)
    os.truncate(path, size)
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("a file system without holes")
    return path


@pytest.mark.parametrize("kind", ["text", "csv", "tsv", "jsonl", "baskets", "uci", "mtx", "npy", "npz", "parquet"])
def test_files_that_consist_of_holes_are_refused(tmp_path, read, kind):
    header = b""
    if kind == "npy":
        np.save(tmp_path / "a.npy", np.zeros((1, 1), dtype=np.uint8))
        raw = (tmp_path / "a.npy").read_bytes()[:128]
        header = raw.replace(b"(1, 1), ", b"(3000000, 1000), ".ljust(8)).replace(b" " * 9 + b"\n", b"\n")
    before = peak_bytes()
    path = hollow(tmp_path / "a", header, 3 << 30)
    refused(read, path, "are stored and the rest is a hole", format=kind, vocabulary=["a"])
    assert peak_bytes() - before < 200 << 20


def test_a_line_of_null_bytes_is_refused_before_it_is_held(tmp_path, read):
    with (tmp_path / "a.txt").open("wb") as stream:
        stream.write(b"good\n")
        for _ in range(200):
            stream.write(bytes(1 << 20))
    before = peak_bytes()
    refused(read, tmp_path / "a.txt", "line 2: a null byte")
    assert peak_bytes() - before < 100 << 20


def test_a_document_that_is_a_file_is_as_long_as_a_line_may_be(tmp_path, read, monkeypatch):
    monkeypatch.setattr(files, "_LONGEST_LINE", 1 << 20)
    (tmp_path / "docs").mkdir()
    written(tmp_path / "docs" / "a.txt", b"some words\n" * 200_000)
    refused(read, tmp_path / "docs", "has more than 1 MiB, but is read as one document")


def test_a_vocabulary_of_line_ends_is_refused_at_once(tmp_path, read, monkeypatch):
    path = written(tmp_path / "words.txt.zst", zstandard.ZstdCompressor().compress(b"\n" * (100 << 20)))
    before = peak_bytes()
    refused(read, ["text"], "line 2: the word '' is there already", vocabulary=path)
    assert peak_bytes() - before < 200 << 20


def test_names_with_null_characters_are_refused(tmp_path, read):
    refused(read, ["text"], "cannot be read", vocabulary="a\0b")


def test_what_is_shown_of_a_large_value_takes_no_memory():
    before = peak_bytes()
    assert len(short(["word"] * 20_000_000)) <= 60
    assert len(short("word" * 50_000_000)) <= 60
    assert peak_bytes() - before < 600 << 20


# ---- Other ways in.


def test_the_current_folder_is_never_meant_by_an_empty_path(tmp_path, monkeypatch):
    aw.Corpus(sp.csr_array(np.ones((2, 2))), ["a", "b"]).save(tmp_path / "corpus")
    monkeypatch.chdir(tmp_path / "corpus")
    for function in (aw.read_corpus, aw.open_corpus):
        with pytest.raises(InputError, match="an empty path"):
            function("")

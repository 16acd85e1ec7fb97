from __future__ import annotations

import gzip
import os

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.corpus import files
from anchorwords.exceptions import CorpusFormatError, InputError

GOOD = "3\n2\n4\n1 1 2\n1 2 1\n3 1 5\n3 2 7\n"
WORDS = "alpha\nbeta\n"
EXPECTED = [[2, 1], [0, 0], [5, 7]]


def write(folder, text=GOOD, words=WORDS, name="docword.toy.txt"):
    (folder / "vocab.toy.txt").write_bytes(words if isinstance(words, bytes) else words.encode())
    raw = text if isinstance(text, bytes) else text.encode()
    path = folder / name
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


@pytest.mark.parametrize("name", ["docword.toy.txt", "docword.toy.txt.gz", "docword.zipped.without.suffix"])
def test_plain_and_gzip(tmp_path, name):
    path = write(tmp_path, name=name)
    if name.endswith("suffix"):
        path.write_bytes(gzip.compress(GOOD.encode()))
    corpus = aw.read_corpus(path, vocabulary=tmp_path / "vocab.toy.txt")
    np.testing.assert_array_equal(corpus.counts.toarray(), EXPECTED)
    assert corpus.vocabulary == ("alpha", "beta")


@pytest.mark.parametrize(
    "text", [GOOD.rstrip("\n"), GOOD.replace("\n", "\r\n"), GOOD + "\n\n", GOOD.replace(" ", "\t")]
)
def test_line_ends_and_white_space(tmp_path, text):
    np.testing.assert_array_equal(aw.read_corpus(write(tmp_path, text)).counts.toarray(), EXPECTED)


@pytest.mark.parametrize("words", ["alpha\nbeta", "alpha\r\nbeta\r\n"])
def test_vocabulary_with_and_without_final_newline(tmp_path, words):
    assert aw.read_corpus(write(tmp_path, words=words)).vocabulary == ("alpha", "beta")


def test_a_folder_with_one_file(tmp_path):
    write(tmp_path)
    assert aw.read_corpus(tmp_path).n_docs == 3
    write(tmp_path, name="docword.other.txt")
    with pytest.raises(CorpusFormatError, match="holds 2"):
        aw.read_corpus(tmp_path)


def test_vocabulary_as_a_list(tmp_path):
    assert aw.read_corpus(write(tmp_path), vocabulary=["x", "y"]).vocabulary == ("x", "y")


def test_small_chunks_read_the_same(tmp_path, monkeypatch):
    path = write(tmp_path)
    for size in (8, 9, 16):  # the header must lie in the first piece, which ends at a line end
        monkeypatch.setattr(files, "_CHUNK", size)
        np.testing.assert_array_equal(aw.read_corpus(path).counts.toarray(), EXPECTED)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must start with three lines"),
        ("3\n2\n", "must start with three lines"),
        ("three\n2\n4\n", "must start with three lines"),
        ("0\n2\n0\n", "nothing to read"),
        (GOOD.replace("\n4\n", "\n5\n", 1), "announces 5 entries, but holds 4"),
        (GOOD.replace("\n4\n", "\n3\n", 1), "announces 3 entries, but holds 4"),
        ("2\n2\n4\n" + GOOD[6:], "document 3, but announces documents 1 to 2"),
        ("3\n2\n1\n1 3 1\n", "word 3, but announces words 1 to 2"),
        ("3\n2\n1\n0 1 1\n", "document 0"),
        ("3\n2\n1\n1 1 0\n", "count 0"),
        ("3\n2\n1\n1 1 -2\n", "line 4: expected three whole numbers"),
        ("3\n2\n2\n1 1 1\n1 x 1\n", r"line 5: .*'1 x 1'"),
        ("3\n2\n2\n1 1 1\n1 2\n", r"line 5: .*'1 2'"),
        ("3\n2\n1\n1 1 1 1\n", "line 4"),
        ("3\n2\n1\n1 1 99999999999999999999\n", "line 4"),
        ("3\n2\n2\n1 1 1\n1 1 4\n", "1 entries for a document and word that it already had"),
        ("10000000000000\n2\n1\n1 1 1\n", "more than can be held"),
        ("3\n99999999999999999999\n1\n1 1 1\n", "more than can be held"),
        ("3\n7\n1\n1 1 1\n", "announces 7 words, but the vocabulary has 2"),
    ],
)
def test_lying_and_damaged_files_get_one_sentence(tmp_path, text, message):
    with pytest.raises(CorpusFormatError, match=message) as caught:
        aw.read_corpus(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_truncated_gzip(tmp_path):
    path = write(tmp_path, GOOD * 50, name="docword.toy.txt.gz")
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(CorpusFormatError, match="not a whole gzip file"):
        aw.read_corpus(path)


def test_missing_and_unreadable(tmp_path):
    with pytest.raises(CorpusFormatError, match="does not exist"):
        aw.read_corpus(tmp_path / "nothing")
    path = write(tmp_path)
    (tmp_path / "vocab.toy.txt").unlink()
    with pytest.raises(CorpusFormatError, match="no vocabulary was found"):
        aw.read_corpus(path)
    with pytest.raises(CorpusFormatError, match="cannot be read"):
        aw.read_corpus(path, vocabulary=tmp_path / "missing.txt")
    with pytest.raises(InputError, match="format must be one of"):
        aw.read_corpus(path, format="xml")


def test_vocabulary_that_is_not_utf8_names_the_line(tmp_path):
    with pytest.raises(CorpusFormatError, match=r"line 2: not UTF-8 text"):
        aw.read_corpus(write(tmp_path, words=b"alpha\nb\xff\n"))
    with pytest.raises(CorpusFormatError, match="holds no words"):
        aw.read_corpus(write(tmp_path, words=""))


@pytest.mark.parametrize("suffix", [".npz", ".npy", ".mtx"])
def test_saved_matrices(tmp_path, suffix):
    path = tmp_path / f"counts{suffix}"
    matrix = sp.csr_matrix(EXPECTED)
    save = {".npz": sp.save_npz, ".npy": lambda p, m: np.save(p, m.toarray()), ".mtx": scipy.io.mmwrite}[suffix]
    save(path, matrix)
    corpus = aw.read_corpus(path)
    np.testing.assert_array_equal(corpus.counts.toarray(), EXPECTED)
    assert corpus.vocabulary == ("0", "1")
    assert aw.read_corpus(path, vocabulary=["a", "b"]).vocabulary == ("a", "b")
    path.write_bytes(b"not a matrix")
    with pytest.raises(CorpusFormatError, match="is not a"):
        aw.read_corpus(path)


@pytest.mark.data
@pytest.mark.parametrize(("name", "shape", "tokens"), [("kos", (3430, 6906), 467_714), ("ml1m", (6040, 3260), 998_539)])
def test_real_files(data_folder, name, shape, tokens):
    corpus = aw.read_corpus(os.fspath(data_folder / name))
    assert corpus.counts.shape == shape
    assert corpus.n_tokens == tokens

"""Matrix Market files: what they say is what is read, or they are refused."""

from __future__ import annotations

import gzip

import pytest

import anchorwords as aw

from .test_hostile import peak_bytes, read, refused, written

__all__ = ["read"]  # a fixture


def mtx(field, entries, layout="coordinate", sizes="2 2 2", symmetry="general"):
    return f"%%MatrixMarket matrix {layout} {field} {symmetry}\n% a comment 5.5\n{sizes}\n{entries}"


@pytest.mark.parametrize(
    ("field", "entries", "expected"),
    [
        ("integer", "1 1 5\n2 2 1\n", [[5, 0], [0, 1]]),
        ("integer", "\n  1\t1  5 \n\n2 2 1", [[5, 0], [0, 1]]),
        ("integer", "1 1 5\r\n2 2 1\r\n", [[5, 0], [0, 1]]),
        ("integer", "1 1 5\n1 1 2\n", [[7, 0], [0, 0]]),
        ("unsigned-integer", "1 1 5\n2 2 1\n", [[5, 0], [0, 1]]),
        ("real", "1 1 5.5\n2 2 1e2\n", [[5.5, 0], [0, 100]]),
        ("real", "1 1 .5\n2 2 1.\n", [[0.5, 0], [0, 1]]),
        ("pattern", "1 1\n2 2\n", [[1, 0], [0, 1]]),
    ],
)
def test_entries_are_read_as_they_are(tmp_path, read, field, entries, expected):
    for pack in (bytes, gzip.compress):
        path = written(tmp_path / "a.mtx", pack(mtx(field, entries).encode()))
        assert read(path).counts.toarray().tolist() == expected
    text = mtx(field, entries).replace("\r\n", "\n").replace("\n", "\r")
    assert read(written(tmp_path / "a.mtx", text)).counts.toarray().tolist() == expected


@pytest.mark.parametrize(
    ("field", "entries", "found"),
    [
        ("integer", "1 1 5.5\n2 2 1\n", "line 4: expected row, column and a whole number, but found '1 1 5.5'"),
        ("integer", "1 1 5\n2 2 5.0\n", "line 5: expected row, column and a whole number"),
        ("integer", "1 1 5 junk\n2 2 1\n", "line 4: .*junk"),
        ("integer", "1 1 5\n2 2 1e3\n", "line 5"),
        ("integer", "1.5 1 5\n2 2 1\n", "line 4"),
        ("integer", "1 1\n2 2\n", "line 4"),
        ("real", "1 1 5.5xyz\n2 2 1\n", "line 4: expected row, column and a number"),
        ("real", "1 1 5.5 2 2 1\n2 2 1\n", "line 4"),
        ("real", "1 1 1d3\n2 2 1\n", "line 4"),
        ("real", "1 1 0x10\n2 2 1\n", "line 4"),
        ("pattern", "1 1 5\n2 2 9\n", "line 4: expected row and column, but found '1 1 5'"),
        ("complex", "1 1 5 1\n2 2 9 1\n", "complex"),
        ("integer", "1 1 5\n% more\n2 2 1\n", "line 5"),
        ("integer", "1 1 5\n", "is not a Matrix Market file"),
        ("integer", "1 1 5\n2 2 1\n2 1 1\n", "is not a Matrix Market file"),
        ("integer", "1 1 5\n3 2 1\n", "is not a Matrix Market file"),
        ("integer", "0 1 5\n2 2 1\n", "is not a Matrix Market file"),
    ],
)
def test_entries_that_are_none_name_their_line(tmp_path, read, field, entries, found):
    refused(read, written(tmp_path / "a.mtx", mtx(field, entries)), found)


def test_arrays_are_checked_too(tmp_path, read):
    path = written(tmp_path / "a.mtx", mtx("integer", "1\n2\n3\n4\n", "array", "2 2"))
    assert read(path).counts.toarray().tolist() == [[1, 3], [2, 4]]
    refused(read, written(path, mtx("integer", "1\n2\n3.7\n4\n", "array", "2 2")), "line 6: expected a whole number")
    refused(read, written(path, mtx("integer", "1 2\n3\n4\n", "array", "2 2")), "line 4: expected a whole number")
    path = written(tmp_path / "a.mtx", mtx("real", "1.5\n2\n3\n", "array", "2 2", "symmetric"))
    assert read(path).counts.toarray().tolist() == [[1.5, 2], [2, 3]]


@pytest.mark.parametrize("sizes", ["2.5 2 2", "2 2", "2 2 2 2", "-2 2 2", "two", "2 2 99999999999999999999", ""])
def test_sizes_that_are_none_are_refused(tmp_path, read, sizes):
    refused(read, written(tmp_path / "a.mtx", mtx("integer", "1 1 5\n2 2 1\n", sizes=sizes)), r"a\.mtx")


@pytest.mark.parametrize(
    ("layout", "sizes"),
    [
        ("coordinate", "1 16777216 1"),
        ("coordinate", "1 100000000 1"),
        ("coordinate", "100000000 1 1"),
        ("coordinate", "3 3 100000000"),
        ("array", "20000 10000"),
        ("array", "100000000 1"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_headers_of_80_bytes_take_no_memory(tmp_path, read, layout, sizes, pack):
    text = mtx("integer", "1 1 1\n" if layout == "coordinate" else "1\n", layout, sizes)
    before = peak_bytes()
    refused(read, written(tmp_path / "a.mtx", pack(text.encode())), r"a\.mtx")
    assert peak_bytes() - before < 300 << 20


def test_columns_without_entries_are_kept_within_reason(tmp_path, read):
    path = written(tmp_path / "a.mtx", mtx("integer", "1 1 5\n2 2 1\n", sizes="2 100000 2"))
    assert read(path).n_words == 100_000


def test_the_limit_of_columns_is_one_of_every_matrix(tmp_path, read):
    import scipy.sparse as sp

    sp.save_npz(tmp_path / "a.npz", sp.csr_array(([1.0], ([0], [0])), shape=(1, 16_777_216)))
    refused(read, tmp_path / "a.npz", "16777216 words for 1 entries")
    assert aw.Corpus(sp.csr_array((1, 10)), [str(i) for i in range(10)]).n_words == 10

"""Arrays as .npy files: read as NumPy reads them, and refused if they are not whole."""

from __future__ import annotations

import io
import os

import numpy as np
import pytest

from anchorwords.storage.arrays import put_npy, read_npy, read_npy_head

ARRAYS = {
    "numbers": np.arange(12.0).reshape(3, 4),
    "columns first": np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
    "big-endian": np.arange(5, dtype=">f4"),
    "booleans": np.array([True, False]),
    "no rows": np.zeros((0, 3)),
    "no dimensions": np.array(7, dtype=np.uint8),
    "texts": np.array(["a", "été"]),
}


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)], ids=str)
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_as_numpy_reads_them(tmp_path, name, version):
    with (tmp_path / "a.npy").open("wb") as stream:
        np.lib.format.write_array(stream, ARRAYS[name], version=version)
    with (tmp_path / "a.npy").open("rb") as stream:
        found = read_npy(stream, read_npy_head(stream))
    expected = np.load(tmp_path / "a.npy")
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_other_versions_of_the_format_are_refused_where_only_ours_is_known(tmp_path):
    with (tmp_path / "a.npy").open("wb") as stream:
        np.lib.format.write_array(stream, np.arange(5.0), version=(2, 0))
    with (tmp_path / "a.npy").open("rb") as stream, pytest.raises(ValueError, match="version"):
        read_npy_head(stream, versions=[(1, 0)])


def test_what_is_written_is_read(tmp_path):
    rows = np.random.default_rng(0).random((10, 3))
    with (tmp_path / "a.npy").open("wb") as stream:
        put_npy(stream, "f8", rows.shape, np.split(rows, 5))
    with (tmp_path / "a.npy").open("rb") as stream:
        np.testing.assert_array_equal(read_npy(stream, read_npy_head(stream)), rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: raw[:-1], "more than follow"),
        (lambda raw: raw[:6] + b"\x09" + raw[7:], "version"),
        (lambda raw: raw.replace(b"'<f8'", b"'|O' "), "objects"),
        (lambda raw: b"PK" + raw, "magic"),
    ],
)
def test_what_is_not_whole_is_refused(tmp_path, change, message):
    np.save(tmp_path / "a.npy", np.arange(5.0))
    (tmp_path / "a.npy").write_bytes(change((tmp_path / "a.npy").read_bytes()))
    with (tmp_path / "a.npy").open("rb") as stream, pytest.raises(ValueError, match=message):
        read_npy(stream, read_npy_head(stream))


def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.arange(5.0))
    with (tmp_path / "a.npy").open("rb+") as stream:
        size = os.fstat(stream.fileno())
        stream.truncate(140)
        monkeypatch.setattr(os, "fstat", lambda _: size)
        with pytest.raises(ValueError, match="it ends too soon"):
            read_npy(stream, read_npy_head(stream))


def test_an_interruption_does_not_become_an_error(tmp_path, monkeypatch):
    # NumPy asks os.PathLike about the file, and has lost an interruption there: a sound file was called damaged.
    class Stream(io.BufferedReader):
        pass

    def interrupted(_, __):
        raise KeyboardInterrupt

    np.save(tmp_path / "a.npy", np.arange(5.0))
    with Stream((tmp_path / "a.npy").open("rb", buffering=0)) as stream:
        monkeypatch.setattr(os.PathLike, "__subclasshook__", classmethod(interrupted))
        found = read_npy(stream, read_npy_head(stream))
        monkeypatch.undo()
    np.testing.assert_array_equal(found, np.arange(5.0))

"""A disk that fills up while compositions are written: one error, nothing left behind, and no signal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export.weights import write_weights
from tests.small_disk import small_disk

ROOT = Path(__file__).resolve().parents[2]
# In a process of its own: what has been mapped and cannot be stored ends it by SIGBUS.
WRITING = """
import sys
from pathlib import Path
import numpy as np
from anchorwords.export.weights import write_weights
from anchorwords.storage.writing import file_written_whole

path = Path(sys.argv[1])
blocks = (np.random.default_rng(i).random((1000, 20)) for i in range(20))  # 3.2 MB
try:
    with file_written_whole(path) as partial:
        write_weights(partial, path.suffix, blocks, lambda: map(str, range(20_000)), (20_000, 20))
except OSError as error:
    print(type(error).__name__, error)
"""
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n" + WRITING


def written(path, script=WRITING):
    return subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False, cwd=ROOT
    )


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".jsonl", ".parquet"])
def test_a_full_disk_is_an_error(suffix, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    with small_disk(tmp_path / "disk") as disk:
        (disk / f"w{suffix}").write_bytes(b"old")
        done = written(disk / f"w{suffix}")
        assert done.returncode == 0, done.returncode
        assert "No space left on device" in done.stdout
        assert done.stderr == ""
        assert os.listdir(disk) == [f"w{suffix}"]
        assert (disk / f"w{suffix}").read_bytes() == b"old"


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv"])
def test_a_file_that_grows_too_large_is_an_error(suffix, tmp_path):
    pytest.importorskip("resource")
    done = written(tmp_path / f"w{suffix}", LIMITED)
    assert done.returncode == 0, done.returncode
    assert "File too large" in done.stdout
    assert os.listdir(tmp_path) == []


def test_transform_on_a_full_disk_is_one_sentence(tmp_path, sampled):
    aw.AnchorTopicModel(4).fit(sampled.corpus).save(tmp_path / "model")
    sampled.corpus.save(tmp_path / "corpus")
    with small_disk(tmp_path / "disk", "16k") as disk:
        command = [
            sys.executable,
            "-m",
            "anchorwords",
            "transform",
            tmp_path / "model",
            tmp_path / "corpus",
            "-q",
            "-o",
        ]
        done = subprocess.run([*command, disk / "x.npy"], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        assert "No space left on device" in done.stderr
        assert os.listdir(disk) == []


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("n_docs", [1, 3])
def test_documents_that_do_not_add_up_are_an_error(suffix, n_docs, tmp_path):
    with pytest.raises(InputError, match=f"{n_docs} documents were announced, but 2 came"):
        write_weights(tmp_path / f"w{suffix}", suffix, iter([np.eye(2)]), lambda: map(str, range(n_docs)), (n_docs, 2))


def test_the_array_is_what_numpy_saves(tmp_path):
    whole = np.random.default_rng(0).random((7, 3))
    write_weights(tmp_path / "w.npy", ".npy", iter([whole[:4], whole[4:]]), lambda: map(str, range(7)), (7, 3))
    np.save(tmp_path / "same.npy", whole)
    assert (tmp_path / "w.npy").read_bytes() == (tmp_path / "same.npy").read_bytes()

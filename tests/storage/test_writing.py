"""Written whole or not at all: what is replaced, what is refused, and what is never touched."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import CorpusFormatError, OutputError
from anchorwords.storage import replacing, writing
from anchorwords.storage.folders import checksum
from anchorwords.storage.sketch_folder import FORMAT
from anchorwords.storage.temporary import beside
from anchorwords.storage.writing import file_written_whole, require_writable_file, scratch_folder, written_whole

TEXTS = ["one two three", "two three four"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# ---- Files.


def fail_after_writing(partial: Path) -> None:
    partial.write_text("half")
    raise RuntimeError


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    target = tmp_path / "table.csv"
    with file_written_whole(target) as partial:
        partial.write_text("old")
    with pytest.raises(RuntimeError), file_written_whole(target) as partial:
        fail_after_writing(partial)
    assert target.read_text() == "old"
    with file_written_whole(target) as partial:
        partial.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_permissions_are_those_of_the_umask(tmp_path, umask):
    script = f"""
import os, sys
import anchorwords as aw
from anchorwords.storage.writing import file_written_whole
os.umask({umask})
aw.read_corpus({TEXTS!r}).save("corpus")
with file_written_whole("table.csv") as partial:
    partial.write_text("x")
assert os.umask(0) == {umask}
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    assert mode(tmp_path / "corpus") == 0o777 & ~umask
    assert mode(tmp_path / "table.csv") == 0o666 & ~umask


def test_the_umask_of_the_process_is_never_changed(tmp_path, monkeypatch):
    # It is that of all threads: one that creates a file at that moment would open it to everyone.
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was changed"))
    aw.read_corpus(TEXTS).save(tmp_path / "corpus")
    with file_written_whole(tmp_path / "table.csv") as partial:
        partial.write_text("x")


def test_what_is_replaced_leaves_its_permissions(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("old")
    secret.chmod(0o600)
    with file_written_whole(secret) as partial:
        partial.write_text("new")
    assert mode(secret) == 0o600
    corpus = aw.read_corpus(TEXTS)
    corpus.save(tmp_path / "corpus")
    (tmp_path / "corpus").chmod(0o750)
    corpus.save(tmp_path / "corpus")
    assert mode(tmp_path / "corpus") == 0o750
    assert aw.open_corpus(tmp_path / "corpus").n_docs == 2


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_root_replaces_stays_its_owners(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("old")
    os.chown(file, 1234, 1234)
    with file_written_whole(file) as partial:
        partial.write_text("new")
    corpus = aw.read_corpus(TEXTS)
    corpus.save(tmp_path / "corpus")
    for path in (tmp_path / "corpus", *(tmp_path / "corpus").iterdir()):
        os.chown(path, 1234, 1234)
    corpus.save(tmp_path / "corpus")
    owners = {path.stat().st_uid for path in (file, tmp_path / "corpus", *(tmp_path / "corpus").iterdir())}
    assert owners == {1234}


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "disk").mkdir()
    real = tmp_path / "disk" / "table.csv"
    real.write_text("old")
    link = tmp_path / "table.csv"
    link.symlink_to(real)
    with file_written_whole(link) as partial:
        partial.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    real.unlink()
    with file_written_whole(link) as partial:
        partial.write_text("again")
    assert real.read_text() == "again"
    corpus = aw.read_corpus(TEXTS)
    (tmp_path / "corpus").symlink_to(tmp_path / "disk" / "corpus", target_is_directory=True)
    for _ in range(2):
        corpus.save(tmp_path / "corpus")
        assert (tmp_path / "corpus").is_symlink()
        assert aw.open_corpus(tmp_path / "disk" / "corpus").n_docs == 2


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def make_device(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a device")
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


def make_link_to_device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize("make", [make_fifo, make_socket, make_device, make_link_to_device], ids=lambda f: f.__name__)
def test_what_is_not_a_plain_file_is_never_replaced(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)  # sockets have short names
    target = Path("x.csv")
    make(target)
    before = os.lstat(target)
    with pytest.raises(OutputError, match=r"device, a pipe or a socket.*nothing was written") as caught:
        require_writable_file(target)
    assert "\n" not in str(caught.value)
    with pytest.raises(OutputError), file_written_whole(target):
        pytest.fail("there was work")
    with pytest.raises(CorpusFormatError, match="nothing was written"):
        aw.read_corpus(TEXTS).save(target)
    assert os.path.samestat(os.lstat(target), before)
    assert os.listdir() == ["x.csv"]


def test_what_is_put_there_while_a_file_is_written_is_not_replaced(tmp_path):
    target = tmp_path / "x.csv"
    with pytest.raises(OutputError, match="a pipe"), file_written_whole(target):
        os.mkfifo(target)
    assert stat.S_ISFIFO(target.stat().st_mode)


# ---- What cannot be written, said before the work.


def places(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    return {
        "a file as parent": tmp_path / "file" / "out.csv",
        "a name too long": tmp_path / ("x" * 300 + ".csv"),
        "a loop of links": tmp_path / "loop",
        "a loop of links as parent": tmp_path / "loop" / "out.csv",
    }


@pytest.mark.parametrize(
    "what", ["a file as parent", "a name too long", "a loop of links", "a loop of links as parent"]
)
def test_places_that_cannot_be_written_are_refused_before_the_work(tmp_path, what):
    target = places(tmp_path)[what]
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(OutputError) as caught, file_written_whole(target):
        pytest.fail("there was work")
    assert "\n" not in str(caught.value)

    def documents():
        pytest.fail("there was work")
        yield ""

    with pytest.raises((OutputError, CorpusFormatError)) as caught:
        aw.import_corpus(documents(), target)
    assert "\n" not in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_mount_point_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(writing.os.path, "ismount", lambda path: Path(path) == tmp_path / "disk")
    (tmp_path / "disk").mkdir()
    with pytest.raises(OutputError, match="mount point"):
        aw.import_corpus(TEXTS, tmp_path / "disk")


def test_a_folder_that_may_not_be_written_to_is_refused_before_the_work(tmp_path, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)  # permissions do not bind root
    for write in (lambda: aw.import_corpus(TEXTS, tmp_path / "c"), lambda: require_writable_file(tmp_path / "c")):
        with pytest.raises(OutputError, match=r"Permission denied.*choose another") as caught:
            write()
        assert str(tmp_path / "c") in str(caught.value)
        assert "partial" not in str(caught.value)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_is_one_sentence_that_names_the_target(tmp_path, number):
    target = tmp_path / "x.csv"
    target.write_text("old")
    told = pytest.raises(OutputError, match=r"x\.csv could not be written .*unchanged")
    with told as caught, file_written_whole(target):
        raise OSError(number, os.strerror(number))
    assert caught.value.errno == number
    assert target.read_text() == "old"
    with pytest.raises(OutputError), written_whole(tmp_path / "folder"):
        raise OSError(number, os.strerror(number))
    assert os.listdir(tmp_path) == ["x.csv"]


def test_errors_of_what_is_read_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), file_written_whole(tmp_path / "x.csv"):
        Path("elsewhere").read_text()


# ---- Folders that change places.


@pytest.fixture(params=["exchange", "moves"])
def way(request, monkeypatch):
    """How a folder is replaced: in one step, or in two where the system cannot."""
    if request.param == "moves":
        monkeypatch.setattr(replacing, "_exchange_function", lambda: None)
    return request.param


def test_what_somebody_makes_at_the_target_during_a_run_is_kept(tmp_path, way):
    target = tmp_path / "corpus"

    def documents():
        yield "one two"
        target.mkdir()
        (target / "thesis.txt").write_text("precious")

    with pytest.raises(CorpusFormatError, match="nothing was written"):
        aw.import_corpus(documents(), target)
    assert os.listdir(tmp_path) == ["corpus"]
    assert (target / "thesis.txt").read_text() == "precious"


@pytest.mark.parametrize("kind", ["folder", "file", "fifo"])
def test_what_somebody_makes_at_the_last_moment_is_put_back(tmp_path, monkeypatch, way, kind):
    target = tmp_path / "corpus"
    aw.read_corpus(TEXTS).save(target)
    ours, moved = aw.read_corpus(["new words here"]), []
    rename, exchanged = os.rename, replacing.exchanged

    def swap_in():
        """Between the check and the exchange."""
        if not moved:
            moved.append(True)
            rename(target, tmp_path / "gone")
            {"folder": target.mkdir, "file": target.touch, "fifo": lambda: os.mkfifo(target)}[kind]()
            if kind == "folder":
                (target / "thesis.txt").write_text("precious")

    def late_exchange(one, other):
        if Path(other) == target:
            swap_in()
        return exchanged(one, other)

    monkeypatch.setattr(replacing, "exchanged", late_exchange)
    with pytest.raises((CorpusFormatError, OSError)):
        ours.save(target)
    monkeypatch.undo()
    assert sorted(os.listdir(tmp_path)) == ["corpus", "gone"]
    if kind == "folder":
        assert (target / "thesis.txt").read_text() == "precious"
    else:
        assert not target.is_dir()


def test_a_failed_replacement_leaves_the_old_folder(tmp_path, monkeypatch, way):
    target = tmp_path / "corpus"
    aw.read_corpus(TEXTS).save(target)
    rename = os.rename
    for failure in (OSError(errno.EIO, "disk gone"), KeyboardInterrupt()):

        def failing(one, other, failure=failure):
            if Path(other) == target and ".partial-" in Path(one).name:
                raise failure
            return rename(one, other)

        monkeypatch.setattr(os, "rename", failing)
        with pytest.raises(type(failure)):
            aw.read_corpus(["new"]).save(target)
        monkeypatch.undo()
        assert os.listdir(tmp_path) == ["corpus"]
        assert aw.open_corpus(target).n_docs == 2


def test_folders_are_replaced_where_the_file_system_cannot_exchange(tmp_path, monkeypatch):
    def cannot(one, other):
        replacing.ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(replacing, "_exchange_function", lambda: cannot)
    for texts in (TEXTS, ["new"]):
        aw.read_corpus(texts).save(tmp_path / "corpus")
        assert aw.open_corpus(tmp_path / "corpus").n_docs == len(texts)
    assert os.listdir(tmp_path) == ["corpus"]


def test_an_exchange_that_fails_is_an_error_and_not_a_second_way(tmp_path, monkeypatch):
    def busy(one, other):
        replacing.ctypes.set_errno(errno.EBUSY)
        return -1

    aw.read_corpus(TEXTS).save(tmp_path / "corpus")
    monkeypatch.setattr(replacing, "_exchange_function", lambda: busy)
    with pytest.raises(OSError, match="could not be written"):
        aw.read_corpus(["new"]).save(tmp_path / "corpus")
    monkeypatch.undo()
    assert aw.open_corpus(tmp_path / "corpus").n_docs == 2
    assert os.listdir(tmp_path) == ["corpus"]


def test_systems_without_locks_and_exchange_work_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(replacing, "_exchange_function", lambda: None)
    for texts in (TEXTS, ["new"]):
        aw.read_corpus(texts).save(tmp_path / "corpus")
        assert aw.open_corpus(tmp_path / "corpus").n_docs == len(texts)
    with scratch_folder() as folder:
        (folder / "x").write_text("y")
    assert os.listdir(tmp_path) == ["corpus"]


def test_a_writer_clears_what_a_killed_one_left_in_the_temporary_folder(tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    beside(writing.scratch_target(), "partial").mkdir()
    aw.read_corpus(TEXTS).save(tmp_path / "corpus")
    assert os.listdir(tmp_path / "tmp") == []


# ---- Finds of the campaign.


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_an_array_that_a_full_disk_cuts_short_is_an_error(tmp_path):
    # np.save loses the error of its last write: a sketch was saved in part, with a checksum that fitted it.
    (tmp_path / "S.npy").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        FORMAT.write_array(tmp_path, "S", np.arange(10.0))


def test_the_checksum_of_an_array_is_that_of_its_file(tmp_path):
    for array in (np.arange(10.0), np.arange(12).reshape(3, 4)[:, ::2], np.empty(0, dtype=np.uint8), np.arange(6).T):
        assert FORMAT.write_array(tmp_path, "S", array) == checksum(tmp_path / "S.npy")
        np.testing.assert_array_equal(np.load(tmp_path / "S.npy"), array)


def test_a_manifest_takes_no_more_memory_than_its_size(tmp_path):
    aw.read_corpus(TEXTS).save(tmp_path / "corpus")
    aw.open_corpus(tmp_path / "corpus")
    tracemalloc.start()
    aw.open_corpus(tmp_path / "corpus")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6  # a buffer for the longest manifest is 268 MB


def test_too_little_memory_is_not_taken_for_damage(tmp_path, monkeypatch):
    aw.read_corpus(TEXTS).save(tmp_path / "corpus")

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("anchorwords.storage.folders.json.loads", fail)
    with pytest.raises(MemoryError):
        aw.open_corpus(tmp_path / "corpus")
    with pytest.raises(MemoryError):
        aw.read_corpus(TEXTS).save(tmp_path / "corpus")


def test_a_file_system_without_permissions_is_written_to(tmp_path, monkeypatch):
    target = tmp_path / "x.csv"
    target.write_text("old")
    target.chmod(0o640)

    def refuse(*_, **__):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    with file_written_whole(target) as partial:
        partial.write_text("new")
    assert target.read_text() == "new"

"""Temporary folders: owned while their process lives, removed when it does not, and nobody else's business."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from anchorwords.storage import temporary
from anchorwords.storage.temporary import PARTIAL, REPLACED, beside, clear_abandoned, held, temporary_folder
from anchorwords.storage.writing import scratch_folder

fcntl = pytest.importorskip("fcntl", reason="the system has no locks")


def test_a_folder_lives_as_long_as_its_block(tmp_path):
    with temporary_folder(tmp_path / "model") as folder:
        assert folder.is_dir()
        assert folder.parent == tmp_path
        (folder / "file").write_text("x")
    assert os.listdir(tmp_path) == []
    with pytest.raises(KeyboardInterrupt), temporary_folder(tmp_path / "model"):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_a_living_process_keeps_its_folder_and_a_dead_one_does_not(tmp_path):
    target = tmp_path / "model"
    abandoned = beside(target, PARTIAL)
    abandoned.mkdir()
    with temporary_folder(target) as mine, temporary_folder(target) as other:
        assert not abandoned.exists()
        clear_abandoned(target)
        assert mine.is_dir()
        assert other.is_dir()


def test_a_folder_taken_for_abandoned_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    # The defect: between the creation of a folder and its lock, another process saw a folder without an owner.
    target, locked, made = tmp_path / "model", temporary._locked, []

    def slowly_locked(folder, *, wait):
        if wait and len(made) < 3:
            made.append(folder)
            monkeypatch.setattr(temporary, "_locked", locked)
            clear_abandoned(target)  # as the other process does
            monkeypatch.setattr(temporary, "_locked", slowly_locked)
            assert not folder.exists()
        return locked(folder, wait=wait)

    monkeypatch.setattr(temporary, "_locked", slowly_locked)
    with temporary_folder(target) as folder:
        assert len(made) == 3
        assert folder not in made
        (folder / "file").write_text("there")
    assert os.listdir(tmp_path) == []


def test_a_lock_that_is_probed_at_the_wrong_moment_is_taken_all_the_same(tmp_path, monkeypatch):
    # The defect: while another process held the lock to look at it, the owner silently went without.
    target, locked = tmp_path / "model", temporary._locked

    def probed(folder, *, wait):
        if wait:
            monkeypatch.setattr(temporary, "_locked", locked)
            probe = subprocess.Popen(
                [sys.executable, "-c", PROBE, str(folder)], stdout=subprocess.PIPE, stdin=subprocess.PIPE
            )
            assert probe.stdout.readline() == b"probing\n"
            probe.stdin.close()
            probe.stdout.close()
            lock = locked(folder, wait=True)
            assert probe.wait() == 0
            return lock
        return locked(folder, wait=wait)

    monkeypatch.setattr(temporary, "_locked", probed)
    with temporary_folder(target) as folder:
        clear_abandoned(target)
        assert folder.is_dir()


PROBE = """
import fcntl, os, sys, time
descriptor = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(descriptor, fcntl.LOCK_EX)
print("probing", flush=True)
time.sleep(0.2)
"""


def test_only_our_own_folders_are_looked_at(tmp_path, monkeypatch):
    # What somebody may put into a shared temporary folder: opening the pipe would wait for ever.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stem = ".anchorwords-scratch.partial-"
    os.mkfifo(tmp_path / f"{stem}a")
    (tmp_path / f"{stem}b").write_text("a file")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (tmp_path / f"{stem}c").symlink_to(tmp_path / "precious", target_is_directory=True)
    (tmp_path / f"{stem}d").symlink_to(tmp_path / "nowhere")
    (tmp_path / f"{stem}e.txt").mkdir()  # not a name we give
    (tmp_path / f"{stem}f").mkdir()
    if os.geteuid() == 0:
        os.chown(tmp_path / f"{stem}f", 65534, 65534)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    before = sorted(os.listdir(tmp_path))
    with scratch_folder() as folder:
        assert folder.is_dir()
    assert sorted(os.listdir(tmp_path)) == before
    assert (tmp_path / "precious" / "file").read_text() == "x"


def test_a_folder_of_another_target_is_not_ours(tmp_path):
    # "a.replaced-b" is a fine name for a model; its temporary folders must not become the model "a".
    other = beside(tmp_path / "a.replaced-b", PARTIAL)
    other.mkdir()
    clear_abandoned(tmp_path / "a")
    assert other.is_dir()
    assert not (tmp_path / "a").exists()


def test_an_old_result_that_was_only_half_replaced_comes_back(tmp_path):
    target = tmp_path / "model"
    aside = beside(target, REPLACED)
    aside.mkdir()
    (aside / "file").write_text("old")
    clear_abandoned(target)
    assert (target / "file").read_text() == "old"
    aside.mkdir()
    clear_abandoned(target)
    assert os.listdir(tmp_path) == ["model"]


def test_without_locks_a_day_decides(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    target = tmp_path / "model"
    fresh, old = beside(target, PARTIAL), beside(target, PARTIAL)
    fresh.mkdir()
    old.mkdir()
    now = time.time()
    monkeypatch.setattr(temporary, "_last_change", lambda folder: now - (100_000 if folder == old else 3600))
    with temporary_folder(target) as folder:
        assert folder.is_dir()
        assert fresh.is_dir()
        assert not old.exists()
    monkeypatch.undo()
    assert abs(temporary._last_change(fresh) - now) < 60.0


def test_long_names_have_temporary_folders_too(tmp_path):
    for name in ("x" * 255, "é" * 127):
        with temporary_folder(tmp_path / name) as folder:
            assert folder.is_dir()
            clear_abandoned(tmp_path / name)
            assert folder.is_dir()
        beside(tmp_path / name, PARTIAL).mkdir()
        clear_abandoned(tmp_path / name)
        assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_child_does_not_keep_a_lock(tmp_path):
    target = tmp_path / "model"
    (until, done), (ready, forked) = os.pipe(), os.pipe()
    with temporary_folder(target) as folder:
        child = os.fork()
        if child == 0:
            os.close(done)
            os.write(forked, b"x")
            os.read(until, 1)  # until the parent closes its end
            os._exit(0)
        os.read(ready, 1)
        kept = folder
        kept.rename(tmp_path / "kept")
    (tmp_path / "kept").rename(kept)
    clear_abandoned(target)
    assert not kept.exists()
    os.close(done)
    os.waitpid(child, 0)
    for end in (until, ready, forked):
        os.close(end)


def test_one_process_at_a_time_holds_a_result(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "_PATIENCE", 0.05)
    with pytest.raises(FileNotFoundError), held(tmp_path / "nothing"):
        pass
    (tmp_path / "model").mkdir()
    with held(tmp_path / "model"), pytest.raises(OSError, match="holds a lock"), held(tmp_path / "model"):
        pass
    with held(tmp_path / "model"):
        pass


@pytest.mark.parametrize("when", ["mkdir", "after mkdir", "rmtree"])
def test_an_interruption_at_any_moment_leaves_nothing(tmp_path, monkeypatch, when):
    # A find of the campaign: Ctrl-C between the creation of a folder and the note that it has to be removed.
    mkdir, rmtree, interrupted = Path.mkdir, shutil.rmtree, []

    def interrupting_mkdir(self, *arguments, **options):
        if when == "after mkdir":
            mkdir(self, *arguments, **options)
        raise KeyboardInterrupt

    def interrupting_rmtree(path, **options):
        if not interrupted:
            interrupted.append(path)
            raise KeyboardInterrupt
        rmtree(path, **options)

    if when == "rmtree":
        monkeypatch.setattr(shutil, "rmtree", interrupting_rmtree)
    else:
        monkeypatch.setattr(Path, "mkdir", interrupting_mkdir)
    with pytest.raises(KeyboardInterrupt), temporary_folder(tmp_path / "model"):
        pass
    assert os.listdir(tmp_path) == []
    assert not temporary._OWN


def test_what_is_left_at_the_end_of_a_program_is_removed(tmp_path):
    script = f"""
from pathlib import Path
from anchorwords.storage import temporary
folder = temporary.temporary_folder(Path({str(tmp_path)!r}) / "model")
folder.__enter__()
temporary.shutil.rmtree, keep = lambda *_, **__: None, temporary.shutil.rmtree
del folder
assert list(Path({str(tmp_path)!r}).iterdir())
temporary._OWN.update(Path({str(tmp_path)!r}).iterdir())
temporary.shutil.rmtree = keep
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    assert os.listdir(tmp_path) == []


def test_an_interruption_while_a_folder_is_removed_is_not_lost(tmp_path, monkeypatch):
    """As it happens in shutil.rmtree: the interruption comes after a descriptor is closed, which is then closed again."""

    def interrupted(folder, ignore_errors):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.close(descriptor)
            raise KeyboardInterrupt
        finally:
            os.close(descriptor)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        temporary.remove_folder(tmp_path)


def test_a_folder_that_cannot_be_removed_is_left(tmp_path, monkeypatch):
    def refused(folder, ignore_errors):
        raise OSError("busy")

    monkeypatch.setattr(shutil, "rmtree", refused)
    temporary.remove_folder(tmp_path)
    assert tmp_path.is_dir()

"""Temporary folders that belong to a living process, and the removal of those whose process is gone.

A process marks a folder as its own by a lock that the system releases when the process ends, however it ends. A folder is
used only once it is locked *and* still there: one that another process took for abandoned, in the moment before it was
locked, is given up and made again. Where the system has no such locks, a folder counts as abandoned after a day.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import secrets
import shutil
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

# What a folder is: a result in the making, or an old result that a new one has replaced.
PARTIAL, REPLACED = "partial", "replaced"
# Without locks: longer than any step of ours leaves a folder untouched.
_ABANDONED_AFTER = 24 * 3600.0
# File systems allow names of 255 bytes, of which some are needed for the mark.
_LONGEST_NAME = 200
_ATTEMPTS = 100
# Seconds to wait for the lock of a folder that another process is replacing, which takes it a moment.
_PATIENCE = 30.0
# Descriptors of locks, for a forked child to close: it would hold the locks for as long as it lives.
_LOCKS: set[int] = set()
# Temporary folders of this process that are not removed yet.
_OWN: set[Path] = set()


def beside(target: Path, mark: str) -> Path:
    """A new name in the folder of a target for something that belongs to it."""
    return target.parent / f"{_prefix(target.name, mark)}{secrets.token_hex(6)}"


def _prefix(name: str, mark: str) -> str:
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = f"{name[:40]}-{zlib.crc32(os.fsencode(name)):08x}"
    return f".{name}.{mark}-"


@contextmanager
def temporary_folder(target: Path, *, private: bool = False) -> Iterator[Path]:
    """Folder of this process next to a target, removed when the block ends, however it ends.

    Parameters
    ----------
    target : Path
        What the folder is for. Abandoned folders for the same target are removed first.
    private : bool
        Whether other users are kept out, whatever the umask says.
    """
    clear_abandoned(target)
    with ExitStack() as stack:
        yield _locked_folder(target, 0o700 if private else 0o777, stack)


def _locked_folder(target: Path, mode: int, stack: ExitStack) -> Path:
    for _ in range(_ATTEMPTS):
        folder = beside(target, PARTIAL)
        # Before it is there: an interruption may come between any two instructions.
        stack.callback(_remove_own, folder)
        _OWN.add(folder)
        folder.mkdir(mode)  # the system applies the umask
        with suppress(FileNotFoundError):
            lock = _locked(folder, wait=True)
            stack.callback(_release, lock)
            if _is_still(folder, lock):
                stack.callback(_remove_own, folder)  # before the lock is released
                return folder
    raise OSError(f"no temporary folder for {target.name} could be made in {target.parent}")


def _is_still(folder: Path, lock: int | None) -> bool:
    """Whether a folder that was opened is still the one of that name."""
    try:
        found = folder.stat()
    except OSError:
        return False
    return lock is None or os.path.samestat(found, os.fstat(lock))


def clear_abandoned(target: Path) -> None:
    """Remove what ended processes have left next to a target; put back an old result that was only half replaced.

    Only folders of this user are looked at: in a shared temporary folder, anyone may create entries with our names.
    """
    for mark in (REPLACED, PARTIAL):
        for folder in _marked(target, mark):
            with suppress(OSError):
                _clear(folder, target if mark == REPLACED else None)


def is_being_replaced(target: Path) -> bool:
    """Whether an old result lies next to a target, moved there by a process that is about to put a new one in place."""
    return bool(_marked(target, REPLACED))


def _marked(target: Path, mark: str) -> list[Path]:
    pattern = re.compile(re.escape(_prefix(target.name, mark)) + r"[0-9a-z_-]+")  # no dot: that is another target's
    try:
        with os.scandir(target.parent) as entries:
            return [Path(entry.path) for entry in entries if pattern.fullmatch(entry.name)]
    except OSError:
        return []


def _clear(folder: Path, put_back_as: Path | None) -> None:
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or (hasattr(os, "geteuid") and about.st_uid != os.geteuid()):
        return
    try:
        lock = _locked(folder, wait=False)
    except BlockingIOError:  # its process lives
        return
    try:
        if not _is_still(folder, lock) or (lock is None and time.time() - _last_change(folder) < _ABANDONED_AFTER):
            return
        if put_back_as is not None and not os.path.lexists(put_back_as):
            os.rename(folder, put_back_as)  # fails where another process was faster
        else:
            remove_folder(folder)
    finally:
        _release(lock)


def _last_change(folder: Path) -> float:
    """Time of the last change, a change of its name included."""
    found = [entry.stat(follow_symlinks=False) for entry in (folder, *folder.iterdir())]
    return max(max(about.st_mtime, about.st_ctime) for about in found)


def _locked(folder: Path, *, wait: bool) -> int | None:
    """Descriptor that holds the lock of a folder, or None where there are no locks; BlockingIOError if it is taken."""
    try:
        import fcntl
    except ImportError:
        return None
    # Neither a link nor a pipe of that name is opened: the one leads elsewhere, the other would wait for a writer.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:  # a file system without locks
        os.close(descriptor)
        return None
    _LOCKS.add(descriptor)
    return descriptor


def _release(lock: int | None) -> None:
    if lock is not None:
        _LOCKS.discard(lock)
        os.close(lock)


def _forget() -> None:
    """In a forked child: locks and folders are the parent's."""
    _OWN.clear()
    while _LOCKS:
        os.close(_LOCKS.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _remove_own(folder: Path) -> None:
    remove_folder(folder)
    _OWN.discard(folder)


@atexit.register
def _remove_all_own() -> None:
    """Remove what an interruption in the midst of a removal has left."""
    while _OWN:
        _remove_own(next(iter(_OWN)))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the lock of a result that is about to be replaced: one process at a time, and nobody takes it for abandoned."""
    begin = time.monotonic()
    while True:
        with suppress(BlockingIOError):  # another process is replacing it
            lock = _locked(folder, wait=False)
            if _is_still(folder, lock):
                break
            _release(lock)
        if not folder.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        if time.monotonic() - begin > _PATIENCE:
            raise OSError(errno.EBUSY, "another program holds a lock on it", str(folder))
        time.sleep(0.001)
    try:
        yield
    finally:
        _release(lock)


def remove_folder(folder: Path) -> None:
    """Remove a folder as far as it can be removed, also one that says it may not be written to."""
    with suppress(OSError):
        folder.chmod(0o700, follow_symlinks=False) if os.chmod in os.supports_follow_symlinks else folder.chmod(0o700)
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        # Interrupted right after it has closed a descriptor, rmtree closes it again, and this error takes the place of the
        # interruption.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None

"""Results that are written whole or not at all: folders, files, and scratch folders for what does not stay.

Whatever ends the process, and whenever, a target is what it was before or complete. What processes that were killed have
left behind is removed by the next one that writes there.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..exceptions import OutputError
from .replacing import put_in_place
from .temporary import clear_abandoned, temporary_folder

_SCRATCH = "anchorwords-scratch"
_STREAMS = ("/dev/", "/proc/")
# Errors of a disk, not of the data that is being written to it.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


@contextmanager
def written_whole(
    path: str | os.PathLike[str], require_replaceable: Callable[[Path], None] = lambda _: None
) -> Iterator[Path]:
    """Folder to fill, which takes the place of ``path`` when the block ends, and vanishes if the block fails.

    Parameters
    ----------
    path : path
        Where a link leads to a folder, that folder is replaced and the link stays.
    require_replaceable : callable
        Raises unless what is at a path may be replaced.
    """
    target = real_path(path)
    with _telling_of(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_abandoned(scratch_target())
        with temporary_folder(target) as partial:
            yield partial
            _keep_access(partial, target)
            for file in partial.iterdir():
                _sync(file)
            _sync(partial)
            put_in_place(partial, target, require_replaceable)
            _sync(target.parent)


@contextmanager
def file_written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """File to fill, which takes the place of ``path`` when the block ends, and vanishes if the block fails.

    A file that is replaced leaves its permissions to the new one; where a link leads to a file, that file is replaced. What
    is not a plain file, such as a device or a pipe, is refused before any work.
    """
    target = require_writable_file(path)
    with _telling_of(target):
        clear_abandoned(scratch_target())
        with temporary_folder(target, private=True) as folder:
            partial = folder / target.name
            yield partial
            _require_plain_file(target)
            _keep_access(partial, target)
            _sync(partial)
            os.replace(partial, target)
            _sync(target.parent)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Folder in the system's temporary folder for what does not stay."""
    target = scratch_target()
    with _telling_of(target.parent), temporary_folder(target, private=True) as folder:
        yield folder


def scratch_target() -> Path:
    """What scratch folders are named after."""
    return Path(tempfile.gettempdir()) / _SCRATCH


def real_path(path: str | os.PathLike[str]) -> Path:
    """The path without links, whether or not there is anything."""
    return Path(os.path.realpath(path))


def require_writable_file(path: str | os.PathLike[str]) -> Path:
    """Raise OutputError unless a file can be written there; return its path without links."""
    target = real_path(path)
    if os.path.abspath(path).startswith(_STREAMS) and not os.path.abspath(path).startswith("/dev/shm/"):
        # Links such as /dev/stdout may lead to a file that has no name any more.
        raise OutputError(f"{path} is a device or a stream, not a file: choose another name; nothing was written.")
    with _telling_of(target):
        _require_plain_file(target)
        if not target.parent.is_dir():
            raise OutputError(f"{target} is in a folder that does not exist: create {target.parent}, or name another.")
        require_place(target)
    return target


def require_place(target: Path) -> None:
    """Raise OSError or OutputError unless a folder or file of this name could be put there, by trying to."""
    if os.path.ismount(target):
        raise OutputError(f"{target} is a mount point, which cannot be replaced: name a folder inside it.")
    with suppress(FileNotFoundError):
        target.lstat()  # says if the name is too long, or a part of the path is not a folder
    above = target.parent
    while not above.exists():
        above = above.parent
    if not above.is_dir():
        raise OutputError(f"{target} cannot be written, as {above} is not a folder: choose another name.")
    with temporary_folder(above / target.name):
        pass


def _require_plain_file(target: Path) -> None:
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
        raise OutputError(f"{target} is {what}, not a file: choose another name; nothing was written.")


@contextmanager
def _telling_of(target: Path) -> Iterator[None]:
    """Errors of the disk as one sentence that names the target, not a file that nobody knows."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        ours = isinstance(error.filename, str) and str(target.parent) in (
            error.filename,
            os.path.dirname(error.filename),
        )
        if not ours and error.errno not in _DISK:
            raise
        told = OutputError(
            f"{target} could not be written ({error.strerror or error}): what was there is unchanged; choose another place, "
            "or make room."
        )
        told.errno = error.errno
        raise told from error


def _keep_access(partial: Path, target: Path) -> None:
    """Give a result the owner and the permissions of what it replaces."""
    try:
        old = target.stat()
    except OSError:
        return
    for path in (partial, *(partial.iterdir() if partial.is_dir() else ())):
        now = path.stat()
        if hasattr(os, "chown") and (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid):
            with suppress(OSError):  # only root may give files away
                os.chown(path, old.st_uid, old.st_gid)
    if stat.S_IMODE(partial.stat().st_mode) != stat.S_IMODE(old.st_mode):
        with suppress(PermissionError):  # a file system without permissions
            partial.chmod(stat.S_IMODE(old.st_mode))


def _sync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # a system that opens no folders
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno in _DISK:  # the data did not reach the disk
            raise
    finally:
        os.close(descriptor)

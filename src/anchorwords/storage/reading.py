"""Folders read as one version of themselves, also while another process replaces them."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Self, TypeVar

from .holes import is_bomb, stored_bytes
from .temporary import clear_abandoned, is_being_replaced

T = TypeVar("T")

# With descriptors of folders, all files come from the folder that was opened, whatever becomes of its name.
_PINS = hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd and os.listdir in os.supports_fd
_PLAIN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# A folder that is replaced more often than this while it is read: something other than replacement is wrong.
_ATTEMPTS = 1000


class OpenFolder:
    """A folder whose files are opened by name.

    Parameters
    ----------
    path : Path

    Raises
    ------
    OSError
        If it is not a folder that can be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._size = self._stored = 0  # bytes of the files that were opened, with and without holes
        if _PINS:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        elif not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        self._about = os.stat(path) if self._descriptor is None else os.fstat(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def open(self, name: str) -> BinaryIO:
        """Open a plain file; OSError for anything else, such as a pipe, on which reading would wait for ever."""
        stream = open(self._place(name), "rb", opener=self._opened)  # noqa: SIM115
        try:
            about = os.fstat(stream.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise OSError(errno.EINVAL, "not a plain file", name)
            self._size += about.st_size
            self._stored += stored_bytes(stream.fileno(), about.st_size)
            if is_bomb(self._size, self._stored):
                raise OSError(errno.EFBIG, "it consists of holes: almost nothing of its size is stored", name)
        except BaseException:
            stream.close()
            raise
        return stream

    def _place(self, name: str) -> str:
        return str(self.path / name) if self._descriptor is None else name

    def _opened(self, place: str, _: int) -> int:
        return os.open(place, _PLAIN, dir_fd=self._descriptor)

    def names(self) -> list[str]:
        """Names of what is in the folder, sorted."""
        return sorted(os.listdir(self.path if self._descriptor is None else self._descriptor))

    def is_replaced(self) -> bool:
        """Whether another folder, or none, has this path by now."""
        try:
            return not os.path.samestat(self._about, os.stat(self.path))
        except OSError:
            return True


def read_as_one(path: Path, read: Callable[[OpenFolder], T]) -> T:
    """What a function reads from a folder, all of it from one version.

    A folder that is replaced is removed, file by file: where that makes reading fail, the new folder is read.
    """
    for _ in range(_ATTEMPTS):
        try:
            folder = OpenFolder(path)
        except FileNotFoundError:
            target = Path(os.path.realpath(path))
            clear_abandoned(target)  # puts back what a killed process has moved away
            if not is_being_replaced(target) and not target.exists():
                raise
            time.sleep(0.001)
            continue
        with folder:
            try:
                return read(folder)
            except Exception:
                if not folder.is_replaced():
                    raise
    raise OSError(errno.EBUSY, "it is replaced faster than it can be read", str(path))

"""A finished folder takes the place of an old one, in one step where the system can exchange two names."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .temporary import REPLACED, beside, held, remove_folder

# What renaming a folder says where something is in the way; Windows says it of an empty folder too.
_IN_THE_WAY = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EACCES)
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
# Writers of the same folder get in each other's way for an instant; more often than this something else is wrong.
_ATTEMPTS = 1000


def put_in_place(finished: Path, target: Path, require_replaceable: Callable[[Path], None]) -> None:
    """Rename a folder to its target, in place of what may be replaced there.

    Parameters
    ----------
    finished : Path
        The new folder. After a replacement, the old one may be found there.
    target : Path
    require_replaceable : callable
        Raises unless what is at a path may be replaced. It is also asked once the old folder is out of the way, so that
        what somebody puts there at the last moment is never lost: it is put back.
    """
    for _ in range(_ATTEMPTS):
        try:
            os.rename(finished, target)  # nothing is there, or an empty folder
        except OSError as error:
            if error.errno not in _IN_THE_WAY or not os.path.lexists(target):
                if error.errno in _IN_THE_WAY[:2]:  # it was there until now
                    continue
                raise
        else:
            return
        require_replaceable(target)
        try:
            with held(target):
                if _replaced(finished, target, require_replaceable):
                    return
        except FileNotFoundError:  # another writer moved the old folder away at this moment
            continue
    raise OSError(errno.EBUSY, "other programs keep changing it", str(target))


def _replaced(finished: Path, target: Path, require_replaceable: Callable[[Path], None]) -> bool:
    """Replace the target; False if something new is there, so that it has to be tried again."""
    if exchanged(finished, target):
        try:
            require_replaceable(finished)  # which is now what was there
        except BaseException:
            exchanged(finished, target)
            raise
        return True
    aside = beside(target, REPLACED)
    os.rename(target, aside)
    try:
        require_replaceable(aside)
        os.rename(finished, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in _IN_THE_WAY and os.path.lexists(target):
            remove_folder(aside)  # another writer has replaced it already
            return False
        os.rename(aside, target)
        raise
    remove_folder(aside)
    return True


def exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system cannot."""
    exchange = _exchange_function()
    if exchange is None or exchange(os.fsencode(one), os.fsencode(other)) != 0:
        number = 0 if exchange is None else ctypes.get_errno()
        if exchange is None or number in _CANNOT:
            return False
        raise OSError(number, os.strerror(number), str(other))
    return True


def _exchange_function() -> Callable[[bytes, bytes], Any] | None:
    """The system's own: ``renameat2`` of Linux or ``renamex_np`` of macOS."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
    except (OSError, TypeError):  # Windows
        return None
    if (linux := getattr(library, "renameat2", None)) is not None:
        here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        return lambda one, other: linux(here, one, here, other, exchange)
    if (macos := getattr(library, "renamex_np", None)) is not None:
        return lambda one, other: macos(one, other, 2)  # RENAME_SWAP
    return None

"""Folders of ours: a manifest in JSON and files of numbers, written whole or not at all, checked when they are read.

Models, corpora and sketches are such folders; each says by a :class:`FolderFormat` what its own is called.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..exceptions import InputError

_PARTIAL, _REPLACED = "partial", "replaced"
_SCRATCH = "anchorwords-scratch"


@dataclass(frozen=True)
class FolderFormat:
    """A kind of folder.

    Parameters
    ----------
    what : str
        "model", "corpus" or "sketch".
    version : int
        Of the layout that is written; versions other than this and the older ones are refused.
    again : str
        What to do about a damaged one, for messages.
    error : type
        What is raised.
    older : tuple of int
        Earlier versions of the layout that can still be read.
    """

    what: str
    version: int
    again: str
    error: type[InputError]
    older: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Mark in the manifest."""
        return f"anchorwords-{self.what}"

    @property
    def manifest(self) -> str:
        """File that describes the others."""
        return f"{self.what}.json"

    def is_here(self, folder: Path) -> bool:
        """Whether the folder says that it is one."""
        try:
            return json.loads((folder / self.manifest).read_text(encoding="utf-8")).get("format") == self.name
        except (OSError, ValueError, AttributeError, RecursionError):
            return False

    def require_writable(self, path: str | os.PathLike[str], files: Iterable[str]) -> None:
        """Raise unless one may be written there: nothing, an empty folder, or one of these files and no more."""
        target = Path(path)
        if not target.exists():
            return
        if target.is_dir():
            names = {entry.name for entry in target.iterdir()}
            if not names or (names <= {self.manifest, *files} and self.is_here(target)):
                return
        raise self.error(
            f"{target} exists and is not a {self.what} folder, or holds more than one: choose another name, nothing was "
            "written."
        )

    def write_manifest(self, folder: Path, content: dict[str, Any]) -> None:
        """Write the manifest, with a checksum of its own."""
        about = {"format": self.name, "format_version": self.version, "written_by": f"anchorwords {__version__}"}
        whole = about | content
        text = json.dumps(whole | {"checksum": _text_checksum(whole)}, indent=1)
        (folder / self.manifest).write_text(text, encoding="utf-8")

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """The manifest, if it is ours, of this version and undamaged."""
        file = folder / self.manifest
        try:
            manifest = json.loads(file.read_text(encoding="utf-8"))
        except OSError:
            why = f"it holds no readable {self.manifest}" if folder.exists() else "it does not exist"
            raise self.error(f"{folder} is not a {self.what} folder: {why}.") from None
        except (ValueError, RecursionError):
            raise self.error(f"{file} is damaged: it is not JSON; {self.again}.") from None
        if not isinstance(manifest, dict) or manifest.get("format") != self.name:
            raise self.error(f"{file} does not describe an anchorwords {self.what}.")
        version = manifest.get("format_version")
        if type(version) is not int or version not in (self.version, *self.older):
            older = type(version) is int and version < self.version
            raise self.error(
                f"{folder} has {self.what} format {version!r:.50}, but this version reads {self.version}: "
                f"{'' if older else 'upgrade anchorwords, or '}{self.again}."
            )
        try:
            right = manifest.pop("checksum", None) == _text_checksum(manifest)
        except RecursionError:  # nested so deeply that it can be read, but not written
            right = False
        if not right:
            raise self.error(f"{file} is damaged: its checksum is wrong; {self.again}.")
        return manifest

    def write_array(self, folder: Path, name: str, array: Any) -> str:
        """Write NAME.npy; returns its checksum."""
        file = folder / f"{name}.npy"
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        return checksum(file)

    def read_array(self, folder: Path, name: str, expected: Any) -> Any:
        """Read NAME.npy and check it."""
        file = folder / f"{name}.npy"
        try:
            if checksum(file) != expected:
                raise self.error(f"{file} is damaged: its checksum is wrong; {self.again}.")
            with file.open("rb") as stream:  # not np.load, which opens archives and pickles too
                return np.lib.format.read_array(stream, allow_pickle=False)
        except self.error:
            raise
        except (OSError, ValueError, EOFError, MemoryError) as error:
            raise self.error(f"{file} cannot be read ({error}): {self.again}.") from error


def packed_strings(strings: Iterable[str]) -> tuple[Any, Any]:
    """Strings one after the other, as UTF-8, and where each ends."""
    raw = [string.encode("utf-8", "surrogatepass") for string in strings]
    return np.frombuffer(b"".join(raw), dtype=np.uint8), np.cumsum([len(one) for one in raw], dtype=np.int64)


def unpacked_strings(text: Any, ends: Any) -> list[str]:
    """What :func:`packed_strings` packed; ValueError where the two do not fit, or it is not UTF-8."""
    raw, bounds = text.tobytes(), [0, *ends.tolist()]
    if any(b < a for a, b in pairwise(bounds)) or bounds[-1] != len(raw):
        raise ValueError("strings do not fit their ends")
    return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


def checksum(file: Path) -> str:
    """CRC-32 of a file."""
    value = 0
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            value = zlib.crc32(piece, value)
    return crc_text(value)


def crc_text(value: int) -> str:
    """A CRC-32 as it stands in a manifest."""
    return f"crc32:{value:08x}"


def _text_checksum(content: dict[str, Any]) -> str:
    return crc_text(zlib.crc32(json.dumps(content, sort_keys=True).encode()))


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Folder to fill, which takes the place of ``path`` when the block ends, and vanishes where it fails.

    Whatever ends the process, and whenever, ``path`` is what it was before or complete. What killed processes have left
    behind is cleared away by the next one that writes there.
    """
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(target)
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.{_PARTIAL}-{os.getpid()}-", dir=target.parent))
    try:
        with _owned(partial):
            yield partial
            partial.chmod(0o777 & ~_umask())
            for file in partial.iterdir():
                _sync(file)
            _sync(partial)
            _put(partial, target)
            _sync(target.parent)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def file_written_whole(path: Path) -> Iterator[Path]:
    """File to fill, which takes the place of ``path`` when the block ends, and vanishes where it fails."""
    target = path.absolute()
    _clear_leftovers(target)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.{_PARTIAL}-{os.getpid()}-", dir=target.parent) as folder:
        partial = Path(folder) / target.name
        with _owned(Path(folder)):
            yield partial
            os.replace(partial, target)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Folder for what is not to stay; what killed processes have left of theirs is cleared away first."""
    root = Path(tempfile.gettempdir())
    _clear_leftovers(root / _SCRATCH)
    prefix = f".{_SCRATCH}.{_PARTIAL}-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, dir=root) as folder, _owned(Path(folder)):
        yield Path(folder)


def _clear_leftovers(target: Path) -> None:
    for mark in (_REPLACED, _PARTIAL):
        prefix = f".{target.name}.{mark}-"
        for entry in target.parent.glob(glob.escape(prefix) + "*"):
            if _has_owner(entry, entry.name.removeprefix(prefix).split("-")[0]):
                continue
            if mark == _REPLACED and not target.exists():  # killed between the two moves of _put
                entry.rename(target)
            else:
                shutil.rmtree(entry, ignore_errors=True)


@contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, which ends with the process however that ends."""
    descriptor = None
    with suppress(ImportError, OSError):  # a system without locks, or without folders that can be opened
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _has_owner(folder: Path, process: str) -> bool:
    """Whether a process works on a folder: by its lock, or by its number where there are no locks."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return not process.isdecimal() or _alive(int(process))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return not process.isdecimal() or _alive(int(process))
    finally:
        os.close(descriptor)
    return False


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _put(partial: Path, target: Path) -> None:
    """Rename; where a folder is in the way, exchange the two at once or, where the system cannot, in two moves."""
    if not target.exists():
        partial.rename(target)
    elif not _exchanged(partial, target):
        aside = target.with_name(partial.name.replace(f".{_PARTIAL}-", f".{_REPLACED}-"))
        target.rename(aside)
        try:
            partial.rename(target)
        except BaseException:
            aside.rename(target)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step (Linux)."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    at_cwd, exchange = -100, 2
    return bool(renameat2(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0)


def _sync(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # a system that opens no folders
        return
    try:
        os.fsync(descriptor)
    except OSError:  # a file system that cannot
        pass
    finally:
        os.close(descriptor)


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value

"""Folders of ours: a manifest in JSON and files of numbers, written whole or not at all, checked when they are read.

Models, corpora and sketches are such folders; each says by a :class:`FolderFormat` what its own is called.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from .._version import __version__
from ..exceptions import InputError, OutputError
from .arrays import read_npy, read_npy_head
from .reading import OpenFolder, read_as_one
from .writing import real_path, require_place, written_whole

T = TypeVar("T")

# Of a manifest: room for a vocabulary of ten million words, which a sketch may hold.
_LONGEST_MANIFEST = 1 << 28


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
    files : tuple of str
        Names of all files that one may hold, next to the manifest.
    older : tuple of int
        Earlier versions of the layout that can still be read.
    """

    what: str
    version: int
    again: str
    error: type[InputError]
    files: tuple[str, ...]
    older: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Mark in the manifest."""
        return f"anchorwords-{self.what}"

    @property
    def manifest(self) -> str:
        """File that describes the others."""
        return f"{self.what}.json"

    def is_here(self, path: Path) -> bool:
        """Whether a folder says that it is one."""
        try:
            return bool(read_as_one(path, self._marked))
        except (OSError, ValueError, AttributeError, RecursionError):
            return False

    def _marked(self, folder: OpenFolder) -> bool:
        with folder.open(self.manifest) as stream:
            return json.loads(_text(stream)).get("format") == self.name

    def require_writable(self, path: str | os.PathLike[str]) -> None:
        """Raise unless one can be written there: found out before there is any work whose result could be lost."""
        target = real_path(path)
        try:
            self._require_replaceable(target)
            require_place(target)
        except OutputError:
            raise
        except OSError as error:
            raise OutputError(
                f"{target} cannot be written ({error.strerror or error}): choose another place; nothing was written."
            ) from None

    def _require_replaceable(self, target: Path) -> None:
        """Raise unless there is nothing, an empty folder, or one of this kind and nothing else."""
        if not os.path.lexists(target):
            return
        if target.is_dir():
            names = set(os.listdir(target))
            if not names or (names <= {self.manifest, *self.files} and self.is_here(target)):
                return
        raise self.error(
            f"{target} exists and is not a {self.what} folder, or holds more than one: choose another name, nothing was "
            "written."
        )

    @contextmanager
    def written(self, path: str | os.PathLike[str]) -> Iterator[Path]:
        """Folder to fill, which takes the place of one of this kind, or of nothing, when the block ends."""
        self.require_writable(path)
        with written_whole(path, self._require_replaceable) as folder:
            yield folder

    def write_manifest(self, folder: Path, content: dict[str, Any]) -> None:
        """Write the manifest, with a checksum of its own."""
        about = {"format": self.name, "format_version": self.version, "written_by": f"anchorwords {__version__}"}
        whole = about | content
        text = json.dumps(whole | {"checksum": _text_checksum(whole)}, indent=1).encode()
        if len(text) > _LONGEST_MANIFEST:
            raise self.error(f"this {self.what} has too many words or labels to be saved; nothing was written.")
        (folder / self.manifest).write_bytes(text)

    def read(self, path: Path, take: Callable[[OpenFolder, dict[str, Any]], T]) -> T:
        """What ``take`` makes of a folder and its manifest, all of it from one version of the folder."""
        try:
            return read_as_one(path, lambda folder: take(folder, self._manifest(folder)))
        except OSError as error:
            why = "it does not exist" if isinstance(error, FileNotFoundError) else (error.strerror or str(error))
            raise self.error(f"{path} is not a {self.what} folder: {why}.") from None

    def _manifest(self, opened: OpenFolder) -> dict[str, Any]:
        """The manifest, if it is ours, of this version and undamaged."""
        folder = opened.path
        file = folder / self.manifest
        try:
            with opened.open(self.manifest) as stream:
                manifest = json.loads(_text(stream))
        except OSError:
            raise self.error(f"{folder} is not a {self.what} folder: it holds no readable {self.manifest}.") from None
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
            seal = _text_checksum({name: value for name, value in manifest.items() if name != "checksum"})
        except RecursionError:  # nested so deeply that it can be read, but not written
            seal = ""
        if manifest.get("checksum") != seal:
            raise self.error(f"{file} is damaged: its checksum is wrong; {self.again}.")
        return manifest

    def write_array(self, folder: Path, name: str, array: Any) -> str:
        """Write NAME.npy; returns its checksum."""
        # Not by np.save, which loses the error of its last write, and the checksum not from the file: both would take a file
        # that a full disk has cut short for whole.
        plain, head = np.ascontiguousarray(array), io.BytesIO()
        np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(plain))
        raw = plain.reshape(-1).view(np.uint8).data
        with (folder / f"{name}.npy").open("wb") as stream:
            stream.write(head.getvalue())
            stream.write(raw)
        return crc_text(zlib.crc32(raw, zlib.crc32(head.getvalue())))

    def read_array(self, folder: OpenFolder, name: str, expected: Any) -> Any:
        """Read NAME.npy and check it: what is read is what was checked, from one descriptor."""
        file = folder.path / f"{name}.npy"
        try:
            with folder.open(file.name) as stream:
                if _checksum(stream) != expected:
                    raise self.error(f"{file} is damaged: its checksum is wrong; {self.again}.")
                stream.seek(0)
                return _array(stream)
        except self.error:
            raise
        except (OSError, ValueError, EOFError) as error:
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
    with file.open("rb") as stream:
        return _checksum(stream)


def _checksum(stream: BinaryIO) -> str:
    value = 0
    while piece := stream.read(1 << 20):
        value = zlib.crc32(piece, value)
    return crc_text(value)


def _array(stream: BinaryIO) -> Any:
    """The array of a .npy file; ValueError, before there is memory for it, if it is not as large as the file says."""
    head = read_npy_head(stream, versions=[(1, 0)])  # ours
    if head.nbytes != os.fstat(stream.fileno()).st_size - stream.tell():
        raise ValueError("its size is not that of its array")
    return read_npy(stream, head)


def _text(stream: BinaryIO) -> str:
    """The text of a manifest; ValueError if it is longer than any of ours."""
    size = os.fstat(stream.fileno()).st_size  # not the limit itself, for which memory would be asked for
    if size > _LONGEST_MANIFEST:
        raise ValueError("too long")
    raw = stream.read(size)
    return raw.decode("utf-8")


def crc_text(value: int) -> str:
    """A CRC-32 as it stands in a manifest."""
    return f"crc32:{value:08x}"


def _text_checksum(content: dict[str, Any]) -> str:
    return crc_text(zlib.crc32(json.dumps(content, sort_keys=True).encode()))

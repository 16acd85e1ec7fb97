"""Bytes and lines of files, plain or compressed, within limits that no honest file meets."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from ..exceptions import CorpusFormatError

# Called with the share of a file that has been read.
Watch: TypeAlias = Callable[[float], None]

_CHUNK = 1 << 22
# Text shrinks to a tenth, counts to a twentieth. What unpacks to more than both of these was made to fill a disk.
_BOMB_BYTES = 1 << 28
_BOMB_RATIO = 200
_LONGEST_LINE = 1 << 29
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ENDINGS = (".gz", ".zst")


def bare_name(path: Path) -> str:
    """Name of a file in small letters, without the ending of a compressed one."""
    name = path.name.lower()
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def chunks(path: Path, watch: Watch | None = None) -> Iterator[bytes]:
    """The bytes of a file, unpacked."""
    try:
        packed = path.stat().st_size
        with path.open("rb") as raw:
            magic = raw.read(4)
            raw.seek(0)
            compressed = magic.startswith(_GZIP) or magic == _ZSTD
            unpacked = 0
            with _unpacked(path, raw, magic) as stream:
                while piece := stream.read(_CHUNK):
                    unpacked += len(piece)
                    if compressed and unpacked > max(_BOMB_BYTES, _BOMB_RATIO * packed):
                        raise CorpusFormatError(
                            f"{path} unpacks to more than {_BOMB_RATIO} times its size and {_BOMB_BYTES >> 20} MiB: if it "
                            "is not a zip bomb, unpack it first."
                        )
                    if watch is not None:
                        watch(min(raw.tell() / packed, 1.0))
                    yield piece
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CorpusFormatError(f"{path} is not a whole gzip file ({error}): download or compress it again.") from error
    except OSError as error:
        raise CorpusFormatError(f"{path} cannot be read ({error.strerror or error}).") from error


@contextmanager
def _unpacked(path: Path, raw: IO[bytes], magic: bytes) -> Iterator[Any]:
    if magic.startswith(_GZIP):
        with gzip.GzipFile(fileobj=raw) as stream:
            yield stream
    elif magic == _ZSTD:
        try:
            import zstandard
        except ImportError:
            raise CorpusFormatError(
                f"{path} is compressed by zstd, which needs one more package: pip install 'anchorwords[io]'."
            ) from None
        try:
            with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as reader:
                yield _Complete(reader, path)
        except zstandard.ZstdError as error:
            raise CorpusFormatError(f"{path} is not a whole zstd file ({error}): compress it again.") from error
    else:
        yield raw


class _Complete:
    """A zstd reader that notices a file cut short, which the package takes for the end."""

    def __init__(self, reader: Any, path: Path) -> None:
        self._reader = reader
        self._path = path
        self._size = 0

    def read(self, size: int) -> bytes:
        piece: bytes = self._reader.read(size)
        self._size += len(piece)
        if not piece:
            import zstandard

            with self._path.open("rb") as raw:
                announced = zstandard.frame_content_size(raw.read(64))
            if announced > self._size:
                raise CorpusFormatError(f"{self._path} is not a whole zstd file: download or compress it again.")
        return piece


def line_chunks(path: Path, watch: Watch | None = None) -> Iterator[bytes]:
    """The bytes of a file in pieces that end at line ends."""
    pending: list[bytes] = []
    held = 0
    for piece in chunks(path, watch):
        cut = piece.rfind(b"\n") + 1
        if cut == 0:
            pending.append(piece)
            held += len(piece)
            if held > _LONGEST_LINE:
                raise CorpusFormatError(
                    f"{path} has a line longer than {_LONGEST_LINE >> 20} MiB: is it text with one document a line?"
                )
            continue
        yield b"".join([*pending, piece[:cut]])
        pending, held = [piece[cut:]], len(piece) - cut
    rest = b"".join(pending)
    if rest:
        yield rest


def text_chunks(path: Path, watch: Watch | None = None) -> Iterator[tuple[int, str]]:
    """The text of a file in pieces that end at line ends, each with the number of its first line."""
    line = 1
    for number, chunk in enumerate(line_chunks(path, watch)):
        yield line, decoded(path, chunk.removeprefix(b"\xef\xbb\xbf") if number == 0 else chunk, line)
        line += chunk.count(b"\n")


def lines(path: Path, watch: Watch | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a file, without their ends, and their numbers."""
    for first, text in text_chunks(path, watch):
        split = text.split("\n")
        if split[-1] == "":
            split.pop()
        for number, line in enumerate(split, start=first):
            yield number, line.removesuffix("\r")


def whole_text(path: Path) -> str:
    """The text of a file."""
    return "".join(text for _, text in text_chunks(path))


def decoded(path: Path, raw: bytes, line: int = 1) -> str:
    """UTF-8 as text; CorpusFormatError names the line that is not."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = line + raw[: error.start].count(b"\n")
        raise CorpusFormatError(
            f"{path}, line {wrong}: not UTF-8 text (byte 0x{raw[error.start]:02x}): convert the file to UTF-8."
        ) from error
    if "\0" in text:
        wrong = line + text[: text.index("\0")].count("\n")
        raise CorpusFormatError(
            f"{path}, line {wrong}: a null byte, which text does not have: is it a binary file, or UTF-16? Convert it to "
            "UTF-8."
        )
    return text


def beginning(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file, unpacked."""
    found = b""
    for piece in chunks(path):
        found += piece
        if len(found) >= size:
            break
    return found[:size]


class Unpacked(io.RawIOBase):
    """The unpacked bytes of a file, for a reader of another package that wants a file to read from."""

    def __init__(self, path: Path) -> None:
        self._pieces = chunks(path)
        self._rest = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or as much of it as there is."""
        if not self._rest:
            self._rest = next(self._pieces, b"")
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

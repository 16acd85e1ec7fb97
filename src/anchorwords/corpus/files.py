"""Bytes and lines of files, plain or compressed, within limits that no honest file meets."""

from __future__ import annotations

import gzip
import io
import os
import reprlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from ..exceptions import CorpusFormatError
from ..storage import holes

# Called with the share of a file that has been read.
Watch: TypeAlias = Callable[[float], None]

_CHUNK = 1 << 22
_LONGEST_LINE = 1 << 29
# Characters that are split into lines at once, at least.
_SPLIT_AT_ONCE = 1 << 16
# If the first bytes of a file, up to this number, hold carriage returns but no line feed, lines end in carriage returns.
_LOOKAHEAD = 1 << 22
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# Frames that readers of zstd have to skip begin with any of sixteen numbers, whose first bytes are 0x50 to 0x5f.
_ZSTD_SKIPPABLE = b"\x2a\x4d\x18"
_MARK = b"\xef\xbb\xbf"
_ENDINGS = (".gz", ".zst")


def bare_name(path: Path) -> str:
    """Name of a file in small letters, without the ending of a compressed one."""
    name = path.name.lower()
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def short(value: Any) -> str:
    """A value as it is shown in a message: in one line, and no long one."""
    # Not repr of the whole: a value that is refused for its size would take as much memory once more.
    try:
        text = " ".join((repr(value[:100]) if isinstance(value, str) else reprlib.repr(value)).split())
    except Exception:  # of an object's own, or of a number with more digits than Python writes
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def shown(path: object) -> str:
    """The name of a file as it is shown in a message: names found in a folder may hold line ends, or no Unicode."""
    text = str(path)
    return text if text.isprintable() else repr(text)


def sentence(error: BaseException) -> str:
    """The message of another package's error, in one line, and no long one."""
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else text[:297] + "..."


def require_file(path: Path) -> None:
    """Refuse pipes and devices, which may have no end and cannot be read twice."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise CorpusFormatError(
            f"{shown(path)} is a pipe or a device, not a file: write what it gives to a file first."
        )


def refuse_holes(path: Path) -> None:
    """Refuse a file that is large and consists of holes, which take no space on a disk, but as much memory as they say."""
    with path.open("rb", buffering=0) as raw:
        announced = os.fstat(raw.fileno()).st_size
        stored = holes.stored_bytes(raw.fileno(), announced)
    if holes.is_bomb(announced, stored):
        raise CorpusFormatError(
            f"{shown(path)} says that it has {announced >> 20} MiB, but {stored >> 10} KiB are stored and the rest is a "
            "hole: is it damaged, or a download that is not complete?"
        )


def refuse_bomb(path: Path, packed: int, unpacked: int) -> None:
    """Refuse a compressed file that unpacks to more than any honest one."""
    if holes.is_bomb(unpacked, packed):
        raise CorpusFormatError(
            f"{shown(path)} unpacks to more than {holes.BOMB_RATIO} times its size and {holes.BOMB_BYTES >> 20} MiB: if it "
            "is not a zip bomb, unpack it first."
        )


def most_unpacked(path: Path) -> int:
    """Bytes that a file can have at most, unpacked."""
    size = path.stat().st_size
    with path.open("rb") as raw:
        return max(holes.BOMB_BYTES, holes.BOMB_RATIO * size) if _is_compressed(raw.read(4)) else size


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise CorpusFormatError if the file at a path is not the same, unchanged, when the block has been left."""
    before = path.stat()
    yield
    _require_same(path, before, path.stat())


def _require_same(path: Path, before: os.stat_result, after: os.stat_result) -> None:
    if not before.st_size and not after.st_size:  # files of /proc, which never say their size
        return
    if _state(before) != _state(after):
        raise CorpusFormatError(f"{shown(path)} was changed while it was read: read it again when it is complete.")


def _state(file: os.stat_result) -> tuple[int, ...]:
    return file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns


def chunks(path: Path, watch: Watch | None = None) -> Iterator[bytes]:
    """The bytes of a file, unpacked; a file that changes on the way is an error."""
    try:
        require_file(path)
        refuse_holes(path)
        with path.open("rb") as raw:
            before = os.fstat(raw.fileno())
            packed = before.st_size
            magic = raw.read(4)
            raw.seek(0)
            compressed = _is_compressed(magic)
            unpacked = 0
            with _unpacked(path, raw, magic) as stream:
                while piece := stream.read(_CHUNK):
                    unpacked += len(piece)
                    if compressed:
                        refuse_bomb(path, packed, unpacked)
                    if watch is not None:
                        watch(min(raw.tell() / max(packed, 1), 1.0))  # files of /proc say that they are empty
                    yield piece
            _require_same(path, before, os.fstat(raw.fileno()))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CorpusFormatError(
            f"{shown(path)} is not a whole gzip file ({error}): download or compress it again."
        ) from error
    except OSError as error:
        raise CorpusFormatError(f"{shown(path)} cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        if isinstance(error, CorpusFormatError):
            raise
        raise CorpusFormatError(f"{shown(path)} cannot be read ({error}).") from None  # a null character in the name


def _is_compressed(magic: bytes) -> bool:
    return magic.startswith(_GZIP) or _is_zstd(magic)


def _is_zstd(magic: bytes) -> bool:
    return magic == _ZSTD or (magic[1:] == _ZSTD_SKIPPABLE and 0x50 <= magic[0] <= 0x5F)


@contextmanager
def _unpacked(path: Path, raw: IO[bytes], magic: bytes) -> Iterator[Any]:
    if magic.startswith(_GZIP):
        with gzip.GzipFile(fileobj=raw) as stream:
            yield stream
    elif _is_zstd(magic):
        try:
            import zstandard
        except ImportError:
            raise CorpusFormatError(
                f"{shown(path)} is compressed by zstd, which needs one more package: pip install 'anchorwords[io]'."
            ) from None
        try:
            yield _ZstdReader(raw, path, zstandard.ZstdDecompressor())
        except zstandard.ZstdError as error:
            raise CorpusFormatError(f"{shown(path)} is not a whole zstd file ({error}): compress it again.") from error
    else:
        yield raw


class _ZstdReader:
    """Reads frame after frame; a file cut short, which the package's own reader takes for the end, is an error."""

    # Input at once: a byte of a bomb unpacks to 32 KiB.
    _INPUT = 1 << 7

    def __init__(self, raw: IO[bytes], path: Path, decompressor: Any) -> None:
        self._raw = raw
        self._path = path
        self._decompressor = decompressor
        self._frame: Any = None
        self._rest = b""  # of the input, after the end of a frame

    def read(self, size: int) -> bytes:
        """About so many bytes; none at the end."""
        pieces: list[bytes] = []
        held = 0
        while held < size and (packed := self._rest or self._raw.read(self._INPUT)):
            self._rest = b""
            self._frame = self._frame or self._decompressor.decompressobj()
            pieces.append(self._frame.decompress(packed))
            held += len(pieces[-1])
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        if held == 0 and self._frame is not None:
            raise CorpusFormatError(f"{shown(self._path)} is not a whole zstd file: download or compress it again.")
        return b"".join(pieces)


def line_chunks(path: Path, watch: Watch | None = None) -> Iterator[bytes]:
    """The bytes of a file in pieces that end at line ends, which are line feeds or carriage returns before them."""
    return _without_mark(_at_line_ends(chunks(path, watch), path))


def _at_line_ends(pieces: Iterable[bytes], name: Path | str) -> Iterator[bytes]:
    """Pieces that end at line ends; where carriage returns alone end lines, they become line feeds.

    They do in a file that holds no line feed. That is known at its end, or is decided after `_LOOKAHEAD` bytes; then a line
    feed that follows is an error.
    """
    pending: list[bytes] = []
    held, last = 0, b""
    returns_end_lines: bool | None = None
    has_return = False  # that no line feed follows at once
    for piece in pieces:
        feed = piece.rfind(b"\n")
        if returns_end_lines is None:
            has_return = has_return or b"\r" in last + piece[:-1]
            if feed >= 0:
                returns_end_lines = False
            elif has_return and held + len(piece) >= _LOOKAHEAD:
                returns_end_lines = True
                pending = [_with_feeds(one) for one in pending]
            last = piece[-1:]
        if returns_end_lines:
            if feed >= 0:
                raise CorpusFormatError(
                    f"{shown(name)} ends its first lines in CR alone, but later ones in LF: convert all line ends to LF."
                )
            piece = _with_feeds(piece)
            feed = piece.rfind(b"\n")
        if feed < 0 and b"\0" not in piece:  # null bytes are not kept, but refused at once by what decodes them
            pending.append(piece)
            held += len(piece)
            if held > _LONGEST_LINE:
                raise CorpusFormatError(
                    f"{shown(name)} has a line longer than {_LONGEST_LINE >> 20} MiB: is it text with one document a line?"
                )
            continue
        cut = feed + 1 if feed >= 0 else len(piece)
        yield b"".join([*pending, piece[:cut]])
        pending, held = [piece[cut:]], len(piece) - cut
    rest = b"".join(pending)
    if rest:
        yield _with_feeds(rest) if returns_end_lines is None else rest


def _without_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces without the byte order mark with which some editors begin a file."""
    first = next(pieces, b"").removeprefix(_MARK)
    if first:
        yield first
    yield from pieces


def _with_feeds(piece: bytes) -> bytes:
    return piece.replace(b"\r", b"\n")


def with_line_feeds(start: bytes) -> bytes:
    """The beginning of a file without a byte order mark, and with line feeds where carriage returns alone end its lines."""
    start = start.removeprefix(_MARK)
    return start if b"\n" in start else _with_feeds(start)


def text_chunks(path: Path, watch: Watch | None = None) -> Iterator[tuple[int, str]]:
    """The text of a file in pieces that end at line ends, each with the number of its first line."""
    return _decoded_chunks(line_chunks(path, watch), path)


def _decoded_chunks(pieces: Iterable[bytes], name: Path | str) -> Iterator[tuple[int, str]]:
    line = 1
    for chunk in pieces:
        yield line, decoded(name, chunk, line)
        line += chunk.count(b"\n")


def lines(path: Path, watch: Watch | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a file, without their ends, and their numbers."""
    return _split_lines(text_chunks(path, watch))


def _split_lines(pieces: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for number, text in pieces:
        begin = 0
        while begin < len(text):
            # Not all at once: a string of two characters takes thirty times their memory.
            end = text.find("\n", begin + _SPLIT_AT_ONCE) + 1 or len(text)
            split = text[begin:end].split("\n")
            if split[-1] == "":
                split.pop()
            for line in split:
                yield number, line.removesuffix("\r")
                number += 1
            begin = end


def stream_lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, str]]:
    """The lines of an open stream, such as standard input, without their ends, and their numbers."""
    pieces = _without_mark(_at_line_ends(_stream_chunks(stream, name), name))
    return _split_lines(_decoded_chunks(pieces, name))


def _stream_chunks(stream: IO[bytes], name: str) -> Iterator[bytes]:
    try:
        while piece := stream.read(_CHUNK):
            yield piece
    except OSError as error:
        raise CorpusFormatError(f"{name} cannot be read ({error.strerror or error}).") from error


def whole_text(path: Path) -> str:
    """The text of a file, of the size of one document."""
    pieces: list[str] = []
    held = 0
    for _, text in text_chunks(path):
        pieces.append(text)
        held += len(text)
        if held > _LONGEST_LINE:
            raise CorpusFormatError(
                f"{shown(path)} has more than {_LONGEST_LINE >> 20} MiB, but is read as one document: is it text with one "
                "document a line?"
            )
    return "".join(pieces)


def decoded(path: Path | str, raw: bytes, line: int = 1) -> str:
    """UTF-8 as text; CorpusFormatError names the line that is not."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = line + raw[: error.start].count(b"\n")
        raise CorpusFormatError(
            f"{shown(path)}, line {wrong}: not UTF-8 text (byte 0x{raw[error.start]:02x}): convert the file to UTF-8."
        ) from error
    if "\0" in text:
        wrong = line + text[: text.index("\0")].count("\n")
        raise CorpusFormatError(
            f"{shown(path)}, line {wrong}: a null byte, which text does not have: is it a binary file, or UTF-16? Convert "
            "it to UTF-8."
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
    """Pieces of bytes, for a reader of another package that wants a file to read from."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, or as much of it as there is."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

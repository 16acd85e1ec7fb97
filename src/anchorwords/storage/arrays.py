"""Arrays as .npy files, written and read plainly.

Not written through a mapping of the file: a file that is mapped before it has room on the disk is full of holes, and the
process that fills one on a full disk is killed by a signal (SIGBUS). A plain write is an OSError.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..exceptions import InputError

# Of the format, as NumPy writes them.
_VERSIONS = ((1, 0), (2, 0), (3, 0))
_NO_ROOM = {getattr(errno, name, None) for name in ("ENOSPC", "EFBIG", "EDQUOT")} - {None}


def put_npy(stream: IO[bytes], dtype: Any, shape: tuple[int, ...], blocks: Iterable[Any]) -> None:
    """Write an array of this type and shape to a stream, in C order, from blocks of consecutive rows."""
    head = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, head)
    done = 0
    for block in blocks:
        done += len(block)
        stream.write(np.ascontiguousarray(block, dtype=dtype).tobytes())
    if done != shape[0]:
        raise InputError(
            f"{shape[0]} documents were announced, but {done} came: give the same documents each time they are read."
        )


def write_npy(path: Path, dtype: Any, shape: tuple[int, ...], blocks: Iterable[Any]) -> None:
    """Write an array to a file; where there is no room for it, the OSError names the file."""
    try:
        with path.open("wb") as stream:
            put_npy(stream, dtype, shape, blocks)
    except OSError as error:
        if error.errno not in _NO_ROOM:  # of the source of the blocks, perhaps
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


class NpyHead(NamedTuple):
    """What a .npy file says of its array."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_npy_head(stream: IO[bytes], versions: Collection[tuple[int, int]] = _VERSIONS) -> NpyHead:
    """Read the head of a .npy file, at whose end its numbers begin; ValueError if it has none or holds objects."""
    version = np.lib.format.read_magic(stream)
    if version not in versions:
        raise ValueError(f"version {version} of the format is not known")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    head = NpyHead(*read(stream))
    if head.dtype.hasobject:
        raise ValueError("it holds Python objects, which could only be unpickled")
    return head


def read_npy(stream: IO[bytes], head: NpyHead) -> Any:
    """Read the array whose head has been read; ValueError, before there is memory for it, if the file is too short."""
    if head.nbytes > os.fstat(stream.fileno()).st_size - stream.tell():
        raise ValueError(f"it announces {head.nbytes} bytes, more than follow")
    # Not by NumPy, which here turns an interruption into a TypeError: the file would be called damaged.
    array = np.empty(head.shape[::-1] if head.fortran_order else head.shape, head.dtype)
    raw, done = array.reshape(-1).view(np.uint8).data, 0
    while done < len(raw):
        if not (read := stream.readinto(raw[done:])):  # type: ignore[attr-defined]
            raise ValueError("it ends too soon")
        done += read
    return array.T if head.fortran_order else array

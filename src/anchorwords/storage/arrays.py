"""Arrays as .npy files, written plainly, block after block.

Not through a mapping of the file: a file that is mapped before it has room on the disk is full of holes, and the process
that fills one on a full disk is killed by a signal (SIGBUS). A plain write is an OSError.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..exceptions import InputError

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

"""Files that are mostly holes, which take no space on a disk but as much memory as their size says."""

from __future__ import annotations

import errno
import os

# Compression shrinks text to a tenth and counts to a twentieth. A file, or what it unpacks to, that is larger than both of
# these, in bytes and in multiples of what is stored, was made to fill a disk or the memory.
BOMB_BYTES = 1 << 25
BOMB_RATIO = 200


def stored_bytes(descriptor: int, size: int) -> int:
    """Bytes of a file without its holes; all of them where the file system does not know of holes."""
    if not hasattr(os, "SEEK_DATA"):
        return size
    stored = end = 0
    try:
        while end < size:
            begin = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, begin, os.SEEK_HOLE)
            stored += end - begin
    except OSError as error:
        if error.errno != errno.ENXIO:  # ENXIO: no data follow
            stored = size
    os.lseek(descriptor, 0, os.SEEK_SET)
    return stored


def is_bomb(size: int, stored: int) -> bool:
    """Whether something large is out of all proportion to what is stored of it."""
    return size > max(BOMB_BYTES, BOMB_RATIO * stored)

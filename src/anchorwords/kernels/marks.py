"""Which marks each document holds: one compiled pass over their bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import BYTES, INDICES, READ_INDICES, VOID, compiled


def marks_in(text: bytes, bounds: npt.NDArray[np.int64], marks: tuple[bytes, ...]) -> npt.NDArray[np.int64]:
    """For each document text[bounds[i]:bounds[i + 1]], a number whose bit m is 1 if it holds mark m."""
    found = np.zeros(bounds.size - 1, dtype=np.int64)
    first = np.zeros(256, dtype=np.uint8)
    first[[mark[0] for mark in marks]] = 1
    ends = np.cumsum([0, *map(len, marks)], dtype=np.int64)
    letters = np.frombuffer(b"".join(marks), dtype=np.uint8)
    _find_marks(np.frombuffer(text, dtype=np.uint8), bounds, letters, ends, first, found)
    return found


@compiled(VOID, BYTES, READ_INDICES, BYTES, READ_INDICES, BYTES, INDICES)
def _find_marks(text, bounds, marks, ends, first, found):  # type: ignore[no-untyped-def]
    """Set bits of found[i] for the marks marks[ends[m]:ends[m + 1]] of document i; ``first`` flags their first bytes."""
    for document in range(bounds.size - 1):
        p = bounds[document]
        stop = bounds[document + 1]
        bits = np.int64(0)
        while p < stop:
            # Nearly all bytes begin no mark: a loop that does nothing but pass over them halves the time.
            while p < stop and first[text[p]] == 0:
                p += 1
            for m in range(ends.size - 1):
                q = 0
                size = ends[m + 1] - ends[m]
                while q < size and p + q < stop and text[p + q] == marks[ends[m] + q]:
                    q += 1
                if q == size:
                    bits |= np.int64(1) << m
            p += 1
        found[document] = bits

"""Lines of three whole numbers, as in files of the UCI bag-of-words format."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import BYTES, INT_MATRIX, INT_PAIR_AND_FLAG, compiled


def parse_triples(text: bytes) -> tuple[npt.NDArray[np.int64], int, bool]:
    """The triples, the complete lines, and whether a line is faulty."""
    out = np.empty((text.count(b"\n") + 1, 3), dtype=np.int64)
    n_entries, n_lines, fault = _parse_triples(np.frombuffer(text, dtype=np.uint8), out)
    return out[:n_entries], n_lines, fault


@compiled(INT_PAIR_AND_FLAG, BYTES, INT_MATRIX)
def _parse_triples(buffer, out):  # type: ignore[no-untyped-def]
    """Parse lines of three non-negative integers; returns entries, complete lines, and whether a line is faulty."""
    n_entries = 0
    n_lines = 0
    fields = 0
    value = 0
    in_number = False
    newline = np.int64(10)
    for position in range(buffer.size + 1):
        byte = np.int64(buffer[position]) if position < buffer.size else newline
        if 48 <= byte <= 57:
            if not in_number:
                if fields == 3:
                    return n_entries, n_lines, True
                in_number = True
                value = 0
            value = value * 10 + (byte - 48)  # type: ignore[assignment]
            if value > 1000000000000000:
                return n_entries, n_lines, True
        elif byte == 32 or byte == 9 or byte == 13 or byte == 10:
            if in_number:
                out[n_entries, fields] = value
                fields += 1
                in_number = False
            if byte == 10:
                if fields == 3:
                    n_entries += 1
                elif fields != 0:
                    return n_entries, n_lines, True
                fields = 0
                if position < buffer.size:
                    n_lines += 1
        else:
            return n_entries, n_lines, True
    return n_entries, n_lines, False

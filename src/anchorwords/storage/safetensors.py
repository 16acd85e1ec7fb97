"""Arrays in one file, in the safetensors format: plain numbers behind a header, nothing that could be run.

A file is eight bytes (length of the header, little-endian), the header (JSON: type, shape and place of each array, and
``__metadata__``, strings by name), and the numbers, little-endian, in C order, one array after the other. Any reader of
safetensors reads what is written here, and the other way round. The format is small enough to need no dependency, and
a reader of our own refuses whatever the format does not allow.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._memory import available_bytes
from ..exceptions import TooLargeError

_METADATA = "__metadata__"
_CODES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "F16": "<f2", "U32": "<u4", "I32": "<i4",
    "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
_TYPES = {name: np.dtype(code) for name, code in _CODES.items()}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
# Of a header: the format allows a hundred times as much, which is room for a million arrays.
_LONGEST_HEADER = 1 << 20
# Bytes to read at once: they are still in the cache when their checksum is computed.
_PIECE = 1 << 18
# NumPy's least: more are refused before they are multiplied.
_MOST_DIMENSIONS = 32


def write_tensors(file: Path, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> str:
    """Write arrays to a file.

    Parameters
    ----------
    file : Path
    tensors : dict of arrays by name
        Of any order in memory; they come back in C order.
    metadata : dict of strings, optional

    Returns
    -------
    str
        SHA-256 of the file, as hexadecimal digits.
    """
    # Largest items first: each array then starts at a multiple of the size of its items.
    names = sorted(tensors, key=lambda name: (-np.asarray(tensors[name]).itemsize, name))
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    end = 0
    for name in names:
        array = np.asarray(tensors[name])
        start, end = end, end + array.nbytes
        header[name] = {"dtype": _type_name(name, array), "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _LONGEST_HEADER:
        raise ValueError(f"{len(names)} arrays need a header of more than {_LONGEST_HEADER} bytes")
    digest = hashlib.sha256()
    with file.open("wb") as stream:
        _put(stream, digest, len(text).to_bytes(8, "little") + text)
        for name in names:
            _put(stream, digest, _as_bytes(np.asarray(tensors[name])))
    return digest.hexdigest()


def _type_name(name: str, array: Any) -> str:
    if name == _METADATA or array.dtype.newbyteorder("<") not in _NAMES:
        raise ValueError(f"{name!r} of type {array.dtype} has no place in a file of arrays")
    return _NAMES[array.dtype.newbyteorder("<")]


def _as_bytes(array: Any) -> Any:
    plain = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return plain.reshape(-1).view(np.uint8)


def _put(stream: BinaryIO, digest: Any, piece: Any) -> None:
    digest.update(piece)
    stream.write(piece)


def read_tensors(file: Path, sha256: str | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the arrays of a file; see :func:`tensors_of`."""
    if not file.is_file():  # also a pipe, on which reading would wait for ever
        raise ValueError(f"{file.name} is missing or not a plain file")
    with file.open("rb") as stream:
        return tensors_of(stream, file.name, sha256)


def tensors_of(stream: BinaryIO, name: str, sha256: str | None = None) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the arrays of an open file into memory, in one pass: what is checked is what is returned.

    Parameters
    ----------
    stream : binary file at its beginning
    name : str
        For messages.
    sha256 : str, optional
        What the checksum must be, as :func:`write_tensors` returns it.

    Returns
    -------
    tensors : dict of arrays by name
        Views of one block of memory, read-only.
    metadata : dict of strings

    Raises
    ------
    ValueError
        Where the file is not what the format or the checksum says, in words that follow "it is damaged".
    """
    whole, digest = _read_whole(stream, name)
    return _tensors_in(whole, name, digest, sha256)


def tensors_in(whole: Any, name: str, sha256: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arrays of a file that has been read into an array of bytes; see :func:`tensors_of`."""
    whole.setflags(write=False)
    return _tensors_in(whole, name, hashlib.sha256(whole.data).hexdigest(), sha256)


def _tensors_in(whole: Any, name: str, digest: str, sha256: str | None) -> tuple[dict[str, Any], dict[str, str]]:
    if sha256 is not None and digest != sha256:
        raise ValueError(f"the checksum of {name} is wrong")
    header, start = _read_header(whole, name)
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError(f"the metadata of {name} are not strings by name")
    places = {array: _place(array, entry) for array, entry in header.items()}
    _require_no_gaps(places, whole.size - start)
    return {array: _array(array, whole[start:], *place) for array, place in places.items()}, metadata


def _read_whole(stream: BinaryIO, name: str) -> tuple[Any, str]:
    """All bytes of a file, and their SHA-256."""
    size = os.fstat(stream.fileno()).st_size
    available = available_bytes()
    if available is not None and size > available:
        raise TooLargeError(
            f"{name} takes {size >> 20} MiB of memory, but {available >> 20} MiB are available: free some memory."
        )
    whole, digest, done = np.empty(size, dtype=np.uint8), hashlib.sha256(), 0
    while done < size:
        piece = whole[done : done + _PIECE]
        if not (read := stream.readinto(piece.data)):  # type: ignore[attr-defined]
            raise ValueError(f"{name} ends too soon")
        digest.update(piece[:read].data)
        done += read
    whole.setflags(write=False)
    return whole, digest.hexdigest()


def _read_header(whole: Any, name: str) -> tuple[dict[str, Any], int]:
    """The header, and where the numbers start."""
    raw = whole[:8].tobytes()
    length = int.from_bytes(raw, "little")
    if len(raw) < 8 or not 2 <= length <= _LONGEST_HEADER:
        raise ValueError(f"{name} has no header, or one of more than {_LONGEST_HEADER} bytes")
    text = whole[8 : 8 + length].tobytes()
    if len(text) < length:
        raise ValueError(f"{name} ends within its header")
    if not text.startswith(b"{") or not text.rstrip(b" ").endswith(b"}"):
        raise ValueError(f"the header of {name} is not an object in JSON")
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the header of {name} is not JSON: {str(error)[:100]}") from None
    return header, 8 + length


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name is there twice")
    return content


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _place(name: str, entry: Any) -> tuple[Any, tuple[int, ...], int, int]:
    """Type, shape, start and end of an array, if they fit each other."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"array {name[:100]!r} is not described by a type, a shape and a place")
    dtype = _TYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        raise ValueError(f"array {name[:100]!r} is of a type this version does not know")
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _sizes(shape) or len(shape) > _MOST_DIMENSIONS or not _sizes(offsets) or len(offsets) != 2:
        raise ValueError(f"array {name[:100]!r} has a shape or a place that cannot be")
    start, end = offsets
    if math.prod(shape) * dtype.itemsize != end - start:
        raise ValueError(f"array {name[:100]!r} has a place that does not fit its shape")
    return dtype, tuple(shape), start, end


def _sizes(value: Any) -> bool:
    """Whether a value is a list of whole numbers that can count bytes; True and 1.0 are none."""
    return isinstance(value, list) and all(type(one) is int and 0 <= one < 2**63 for one in value)


def _require_no_gaps(places: dict[str, Any], size: int) -> None:
    """Raise ValueError unless the arrays follow each other and fill all of the size."""
    at = 0
    for start, end in sorted(place[2:] for place in places.values()):
        if start != at:
            raise ValueError("its arrays overlap or leave gaps")
        at = end
    if at != size:
        raise ValueError(f"its arrays need {at} bytes, but {size} are there")


def _array(name: str, numbers: Any, dtype: Any, shape: tuple[int, ...], start: int, end: int) -> Any:
    part = numbers[start:end]
    if dtype.kind == "b" and part.max(initial=0) > 1:
        raise ValueError(f"array {name[:100]!r} holds what is neither true nor false")
    view = part.view(dtype).reshape(shape)
    # A copy only of what another program has put at an odd place, or on a machine of the other byte order.
    array = np.require(view, dtype=dtype.newbyteorder("="), requirements=["ALIGNED"])
    array.setflags(write=False)
    return array

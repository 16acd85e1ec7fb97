"""The folder of a sketch: plain arrays and JSON. Its size depends on words and columns alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..exceptions import SketchFormatError
from .folders import FolderFormat
from .reading import OpenFolder

# Sums that every sketch keeps of each word, and the arrays of each method.
BY_WORD = ("d", "squares", "df")
ARRAYS = {"linear": ("S",), "incremental": ("U", "theta", "n_blocks")}
_COMMON = ("words", "words.ends", *BY_WORD)
FORMAT = FolderFormat(
    "sketch", 1, "build the sketch again", SketchFormatError,
    files=tuple(f"{name}.npy" for name in (*_COMMON, *ARRAYS["linear"], *ARRAYS["incremental"])),
)  # fmt: skip


def is_sketch_folder(path: Path) -> bool:
    """Whether a folder says that it is a sketch."""
    return FORMAT.is_here(path)


def require_writable_sketch(path: str | os.PathLike[str]) -> None:
    """Raise unless a sketch may be written there."""
    FORMAT.require_writable(path)


def write_sketch(path: str | os.PathLike[str], manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a sketch folder, whole or not at all."""
    with FORMAT.written(path) as folder:
        checksums = {name: FORMAT.write_array(folder, name, array) for name, array in arrays.items()}
        FORMAT.write_manifest(folder, manifest | {"arrays": checksums})


def read_arrays(folder: OpenFolder, manifest: dict[str, Any], method: str) -> dict[str, Any]:
    """The arrays of a sketch folder, each checked against its checksum."""
    wanted = (*_COMMON, *ARRAYS[method])
    return {name: FORMAT.read_array(folder, name, manifest["arrays"].get(name)) for name in wanted}

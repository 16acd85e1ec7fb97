"""Sketches to disk and back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import SketchFormatError
from ..storage.folders import packed_strings, unpacked_strings
from ..storage.reading import OpenFolder
from ..storage.sketch_folder import BY_WORD, FORMAT, read_arrays, write_sketch
from .sketch import CooccurrenceSketch


def save_sketch(path: str | os.PathLike[str], sketch: CooccurrenceSketch) -> None:
    """Write a sketch."""
    words, ends = packed_strings(sketch._places)
    arrays = {
        "words": words,
        "words.ends": ends,
        **{name: getattr(sketch._sums, name) for name in BY_WORD},
        **sketch._part.arrays(sketch.n_jobs),
    }
    manifest = {
        "n_components": sketch.n_components, "method": sketch.method, "n_columns": sketch.n_columns,
        "random_state": sketch.random_state, "rule": sketch.rule, "named": sketch._named,
        "fixed_words": None if sketch.fixed_words is None else sorted(sketch.fixed_words),
        "totals": sketch._sums.totals(), "n_features": sketch.n_features,
    }  # fmt: skip
    write_sketch(path, manifest, arrays)


def load_sketch(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> CooccurrenceSketch:
    """Read a sketch that :meth:`CooccurrenceSketch.save` or ``anchorwords sketch`` wrote."""
    return FORMAT.read(Path(path), lambda folder, manifest: _loaded(folder, manifest, n_jobs))


def _loaded(folder: OpenFolder, manifest: dict[str, Any], n_jobs: int | None) -> CooccurrenceSketch:
    try:
        sketch = CooccurrenceSketch(
            manifest["n_components"], method=manifest["method"], n_columns=manifest["n_columns"], rule=manifest["rule"],
            vocabulary=manifest["fixed_words"], random_state=manifest["random_state"], n_jobs=n_jobs,
        )  # fmt: skip
        _restore(sketch, manifest, read_arrays(folder, manifest, sketch.method))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, SketchFormatError):
            raise
        raise SketchFormatError(f"{folder.path} is damaged ({error}): {FORMAT.again}.") from error
    return sketch


def _restore(sketch: CooccurrenceSketch, manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Fill a sketch; ValueError where the arrays are not those of one."""
    names = unpacked_strings(arrays["words"], arrays["words.ends"])
    named = manifest["named"]
    if len(set(names)) != len(names) or (named is False and not all(name.isdecimal() for name in names)):
        raise ValueError("a word is there twice, or a nameless column is no number")
    for name in BY_WORD:
        if arrays[name].shape != (len(names),) or arrays[name].dtype.kind != ("i" if name == "df" else "f"):
            raise ValueError(f"{name} has shape {arrays[name].shape} and type {arrays[name].dtype}")
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name} is not finite")
    if (arrays["df"] < 1).any():
        raise ValueError("a word is in no document")
    sketch._named = None if named is None else bool(named)
    sketch._places = {name: row for row, name in enumerate(names)}
    for name in BY_WORD:
        setattr(sketch._sums, name, arrays[name])
    for name, value in sketch._sums.totals().items():
        setattr(sketch._sums, name, type(value)(manifest["totals"][name]))
    sketch.n_features = int(manifest["n_features"])
    if named is False and max(map(int, names), default=-1) >= sketch.n_features:
        raise ValueError("a nameless column lies beyond the others")
    sketch._part.restore(names, arrays)

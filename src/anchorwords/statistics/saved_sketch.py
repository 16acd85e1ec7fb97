"""Sketches to disk and back."""

from __future__ import annotations

import os
import reprlib
from pathlib import Path
from typing import Any

import numpy as np

from .._validation import check_n_jobs
from ..exceptions import SketchFormatError
from ..storage.folders import packed_strings, unpacked_strings
from ..storage.reading import OpenFolder
from ..storage.sketch_folder import ARRAYS, BY_WORD, FORMAT, read_arrays, write_sketch
from .sketch import CooccurrenceSketch, require_rule_of_text

# Types of arrays other than float64.
_TYPES = {
    "words": np.dtype(np.uint8), "words.ends": np.dtype(np.int64), "df": np.dtype(np.int64), "n_blocks": np.dtype(np.int64),
}  # fmt: skip


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
    jobs = check_n_jobs(n_jobs)
    return FORMAT.read(Path(path), lambda folder, manifest: _loaded(folder, manifest, jobs))


def _loaded(folder: OpenFolder, manifest: dict[str, Any], jobs: int | None) -> CooccurrenceSketch:
    try:
        sketch = _described(manifest, jobs)
        _restore(sketch, manifest, read_arrays(folder, manifest, sketch.method))
    except _DAMAGE as error:
        if isinstance(error, SketchFormatError):
            raise
        raise SketchFormatError(f"{folder.path} is damaged ({_why(error)}): {FORMAT.again}.") from error
    return sketch


# What a wrong value leads to, whoever wrote it.
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, MemoryError, RecursionError)
# Columns of a sketch from a file: sixteen thousand topics' worth.
_MOST_COLUMNS = 1 << 17
# What a document adds to an entry: at most twice the largest entry of the probe, 8.6, to S, and less to other arrays.
_MOST_A_DOCUMENT = 20.0
# What sums over documents may be off by, beside rounding.
_SLACK = 1e-6


def _why(error: BaseException) -> str:
    named = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return " ".join(named.split())[:300]


def _described(manifest: dict[str, Any], n_jobs: int | None) -> CooccurrenceSketch:
    """An empty sketch as the manifest describes it; ValueError where it describes none."""
    wanted: dict[str, Any] = {
        "n_components": int, "n_columns": int, "random_state": int, "method": str, "rule": str | None,
        "named": bool | None, "fixed_words": list | None, "n_features": int, "totals": dict, "arrays": dict,
    }  # fmt: skip
    for name, kinds in wanted.items():
        if not isinstance(manifest[name], kinds) or (kinds is int and isinstance(manifest[name], bool)):
            raise ValueError(f"{name} is {reprlib.repr(manifest[name])}")
    if manifest["method"] not in ARRAYS or not manifest["n_columns"] <= _MOST_COLUMNS:
        raise ValueError(f"it has {manifest['n_columns']} columns, or an unknown method")
    fixed = manifest["fixed_words"]
    if fixed is not None and not all(isinstance(word, str) for word in fixed):
        raise ValueError("a fixed word is no text")
    require_rule_of_text(manifest["rule"])
    return CooccurrenceSketch(
        manifest["n_components"], method=manifest["method"], n_columns=manifest["n_columns"], rule=manifest["rule"],
        vocabulary=fixed, random_state=manifest["random_state"], n_jobs=n_jobs,
    )  # fmt: skip


def _restore(sketch: CooccurrenceSketch, manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Fill a sketch; ValueError where the arrays are not those of one."""
    for name, array in arrays.items():
        if array.dtype.newbyteorder("=") != _TYPES.get(name, np.dtype(np.float64)):
            raise ValueError(f"{name} is of type {array.dtype}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} is not finite")
    arrays = {name: np.asarray(array, dtype=array.dtype.newbyteorder("=")) for name, array in arrays.items()}
    names = unpacked_strings(arrays["words"].reshape(-1), arrays["words.ends"].reshape(-1))
    for name in BY_WORD:
        if arrays[name].shape != (len(names),):
            raise ValueError(f"{name} has shape {arrays[name].shape}, but there are {len(names)} words")
    sketch._named = manifest["named"]
    _check_names(names, sketch, manifest["n_features"])
    _restore_totals(sketch, manifest["totals"], arrays["df"])
    for name in (*BY_WORD, "S", "theta"):
        if name in arrays and np.abs(arrays[name]).max(initial=0) > _MOST_A_DOCUMENT * (sketch.n_docs + 1.0):
            raise ValueError(f"{name} is larger than so many documents can make it")
    sketch._places = {name: row for row, name in enumerate(names)}
    for name in BY_WORD:
        setattr(sketch._sums, name, arrays[name])
    sketch.n_features = manifest["n_features"]
    sketch._part.restore(names, arrays)


def _check_names(names: list[str], sketch: CooccurrenceSketch, n_features: int) -> None:
    if len(set(names)) != len(names):
        raise ValueError("a word is there twice")
    if sketch.fixed_words is not None and not sketch.fixed_words.issuperset(names):
        raise ValueError("a word is there that is not among the fixed ones")
    if not 0 <= n_features < 2**31:
        raise ValueError(f"it has {n_features} columns of data")
    if sketch._named is False:
        for name in names:
            if not (name.isascii() and name.isdecimal() and str(int(name)) == name and int(name) < n_features):
                raise ValueError("a nameless column is no number, or lies beyond the others")


def _restore_totals(sketch: CooccurrenceSketch, totals: dict[str, Any], df: Any) -> None:
    sums = sketch._sums
    for name, default in sums.totals().items():
        if type(totals[name]) is not type(default) or not -1.0 < totals[name] < 2**63:
            raise ValueError(f"the total {name} is {reprlib.repr(totals[name])}")
        setattr(sums, name, totals[name])
    n_docs = sums.n_docs
    if (df < 1).any() or df.max(initial=0) > n_docs or int(df.sum()) < n_docs or n_docs > 2**53:
        raise ValueError("the documents of the words contradict their number")
    # Every document adds n / (n - 1) to the mass, and has at least two tokens; subtraction leaves rounding.
    least, most = (1.0 - _SLACK) * n_docs - 0.5, (2.0 + _SLACK) * n_docs + 0.5
    if not least <= sums.mass <= most or sums.n_tokens < 2.0 * least:
        raise ValueError("the totals contradict the number of documents")

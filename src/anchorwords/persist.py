"""Save and load a TopicModel: a folder of plain arrays and JSON, written whole or not at all. Never pickle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._folders import FolderFormat, written_whole
from .exceptions import ModelFormatError
from .model import TopicModel

# Version 2: the manifest has a checksum of its own.
_FORMAT = FolderFormat("model", 2, "fit and save the model again", ModelFormatError)
_ARRAYS = ("B", "A", "anchors", "word_topics", "word_probs", "Y")
_ROWS = ("data", "indices", "indptr")


def write_model(path: str | os.PathLike[str], model: TopicModel, metadata: dict[str, Any] | None = None) -> None:
    """Write a model folder; an existing model there is replaced, anything else is left alone.

    Parameters
    ----------
    path : path
        Folder to create.
    model : TopicModel
    metadata : dict, optional
        Anything JSON can hold; returned by :func:`read_model`.
    """
    require_writable_target(path)
    with written_whole(path) as folder:
        _fill(folder, model, metadata or {})


def require_writable_target(path: str | os.PathLike[str]) -> None:
    """Raise ModelFormatError unless a model may be written there: nothing, an empty folder, or a model and no more."""
    _FORMAT.require_writable(path, [f"{name}.npy" for name in _known_arrays()])


def _known_arrays() -> list[str]:
    return [*_ARRAYS, *(f"anchor_rows.{part}" for part in _ROWS)]


def _fill(folder: Path, model: TopicModel, metadata: dict[str, Any]) -> None:
    arrays = {name: getattr(model, name) for name in _ARRAYS if getattr(model, name) is not None}
    if model.anchor_rows is not None:
        rows = sp.csr_array(model.anchor_rows)
        arrays |= {f"anchor_rows.{part}": getattr(rows, part) for part in _ROWS}
    manifest = {
        "n_words": model.n_words,
        "n_components": model.n_components,
        "A_raw_sum": model.A_raw_sum,
        "vocabulary": None if model.vocabulary is None else list(model.vocabulary),
        "arrays": {name: _FORMAT.write_array(folder, name, array) for name, array in arrays.items()},
        "metadata": metadata,
    }
    _FORMAT.write_manifest(folder, manifest)


def read_model(path: str | os.PathLike[str]) -> tuple[TopicModel, dict[str, Any]]:
    """Read a model folder; returns the model and its metadata."""
    folder = Path(path)
    manifest = _read_manifest(folder)
    arrays = {name: _read_array(folder, name, checksum) for name, checksum in manifest["arrays"].items()}
    rows = None
    try:
        N, K = int(manifest["n_words"]), int(manifest["n_components"])
        if "anchor_rows.data" in arrays:
            rows = sp.csr_array(tuple(arrays.pop(f"anchor_rows.{part}") for part in _ROWS), shape=(K, N))
            rows.check_format(full_check=True)
        _check_arrays(arrays, N, K)
        model = TopicModel(
            A_raw_sum=float(manifest["A_raw_sum"]), vocabulary=manifest["vocabulary"], anchor_rows=rows, **arrays
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFormatError(f"{folder} is damaged ({error}): fit and save the model again.") from error
    metadata = manifest.get("metadata", {})
    return model, metadata if isinstance(metadata, dict) else {}


def _check_arrays(arrays: dict[str, Any], N: int, K: int) -> None:
    """Raise ValueError unless the arrays are those of a model of N words and K topics."""
    shapes = {"B": (N, K), "A": (K, K), "anchors": (K,), "word_topics": (N, K), "word_probs": (N,), "Y": (N, K)}
    for name, array in arrays.items():
        kind = "iu" if name == "anchors" else "f"
        if array.shape != shapes[name] or array.dtype.kind not in kind or not np.isfinite(array).all():
            raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}, or is not finite")
    if arrays["anchors"].min() < 0 or arrays["anchors"].max() >= N:
        raise ValueError("an anchor lies outside the vocabulary")


def _read_manifest(folder: Path) -> dict[str, Any]:
    manifest = _FORMAT.read_manifest(folder)
    if not isinstance(manifest.get("arrays"), dict):
        raise ModelFormatError(f"{folder / _FORMAT.manifest} is damaged: it lists no arrays; {_FORMAT.again}.")
    return manifest


def _read_array(folder: Path, name: str, checksum: Any) -> Any:
    if name not in _known_arrays():
        raise ModelFormatError(f"{folder} is damaged: it lists an unknown array {name!r}.")
    return _FORMAT.read_array(folder, name, checksum)

"""Save and load a TopicModel: a folder of plain arrays and JSON, written whole or not at all. Never pickle."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._version import __version__
from .exceptions import ModelFormatError
from .model import TopicModel

_FORMAT = "anchorwords-model"
_FORMAT_VERSION = 1
_MANIFEST = "model.json"
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
    target = Path(path)
    if target.exists() and not (target / _MANIFEST).is_file() and (not target.is_dir() or any(target.iterdir())):
        raise ModelFormatError(f"{target} exists and is not a model folder: choose another name, nothing was written.")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _fill(partial, model, metadata or {})
        partial.chmod(0o755)
        _swap(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _fill(folder: Path, model: TopicModel, metadata: dict[str, Any]) -> None:
    arrays = {name: getattr(model, name) for name in _ARRAYS if getattr(model, name) is not None}
    if model.anchor_rows is not None:
        rows = sp.csr_array(model.anchor_rows)
        arrays |= {f"anchor_rows.{part}": getattr(rows, part) for part in _ROWS}
    checksums = {}
    for name, array in arrays.items():
        file = folder / f"{name}.npy"
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        checksums[name] = _checksum(file)
    manifest = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
        "written_by": f"anchorwords {__version__}",
        "n_words": model.n_words,
        "n_components": model.n_components,
        "A_raw_sum": model.A_raw_sum,
        "vocabulary": None if model.vocabulary is None else list(model.vocabulary),
        "arrays": checksums,
        "metadata": metadata,
    }
    (folder / _MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")


def _swap(partial: Path, target: Path) -> None:
    """Put the finished folder in place; the old one is there until the new one is."""
    if not target.exists():
        partial.rename(target)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(aside / "model")
    try:
        partial.rename(target)
    except OSError:
        (aside / "model").rename(target)
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def read_model(path: str | os.PathLike[str]) -> tuple[TopicModel, dict[str, Any]]:
    """Read a model folder; returns the model and its metadata."""
    folder = Path(path)
    manifest = _read_manifest(folder)
    arrays = {name: _read_array(folder, name, checksum) for name, checksum in manifest["arrays"].items()}
    rows = None
    try:
        if "anchor_rows.data" in arrays:
            parts = tuple(arrays.pop(f"anchor_rows.{part}") for part in _ROWS)
            rows = sp.csr_array(parts, shape=(manifest["n_components"], manifest["n_words"]))
        model = TopicModel(
            A_raw_sum=float(manifest["A_raw_sum"]),
            vocabulary=manifest["vocabulary"],
            anchor_rows=rows,
            **arrays,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFormatError(f"{folder} is damaged ({error}): fit and save the model again.") from error
    return model, manifest.get("metadata", {})


def _read_manifest(folder: Path) -> dict[str, Any]:
    file = folder / _MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise ModelFormatError(f"{folder} is not a model folder: it holds no readable {_MANIFEST}.") from None
    except ValueError:
        raise ModelFormatError(f"{file} is damaged: it is not JSON; fit and save the model again.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise ModelFormatError(f"{file} does not describe an anchorwords model.")
    if manifest.get("format_version") != _FORMAT_VERSION:
        raise ModelFormatError(
            f"{folder} has model format {manifest.get('format_version')!r}, but this version reads {_FORMAT_VERSION}: "
            "upgrade anchorwords."
        )
    if not isinstance(manifest.get("arrays"), dict):
        raise ModelFormatError(f"{file} is damaged: it lists no arrays; fit and save the model again.")
    return manifest


def _read_array(folder: Path, name: str, checksum: Any) -> Any:
    if name not in _ARRAYS and name not in {f"anchor_rows.{part}" for part in _ROWS}:
        raise ModelFormatError(f"{folder} is damaged: it lists an unknown array {name!r}.")
    file = folder / f"{name}.npy"
    try:
        if _checksum(file) != checksum:
            raise ModelFormatError(f"{file} is damaged: its checksum is wrong; fit and save the model again.")
        return np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        if isinstance(error, ModelFormatError):
            raise
        raise ModelFormatError(f"{file} cannot be read ({error}): fit and save the model again.") from error


def _checksum(file: Path) -> str:
    value = 0
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            value = zlib.crc32(piece, value)
    return f"crc32:{value:08x}"

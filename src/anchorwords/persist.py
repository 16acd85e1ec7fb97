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
    target = Path(path).resolve()
    require_writable_target(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _fill(partial, model, metadata or {})
        partial.chmod(0o777 & ~_umask())
        _swap(partial, target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def require_writable_target(path: str | os.PathLike[str]) -> None:
    """Raise ModelFormatError unless a model may be written there: nothing, an empty folder, or a model and no more."""
    target = Path(path)
    if not target.exists():
        return
    if target.is_dir():
        names = {entry.name for entry in target.iterdir()}
        ours = {_MANIFEST, *(f"{name}.npy" for name in _known_arrays())}
        if not names or (names <= ours and _is_ours(target)):
            return
    raise ModelFormatError(
        f"{target} exists and is not a model folder, or holds more than one: choose another name, nothing was written."
    )


def _is_ours(folder: Path) -> bool:
    try:
        return json.loads((folder / _MANIFEST).read_text(encoding="utf-8")).get("format") == _FORMAT
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def _known_arrays() -> list[str]:
    return [*_ARRAYS, *(f"anchor_rows.{part}" for part in _ROWS)]


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value


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
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _swap(partial: Path, target: Path) -> None:
    """Put the finished folder in place. Whatever interrupts it, one of the two models is there in the end."""
    if not target.exists():
        partial.rename(target)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent)) / "model"
    try:
        target.rename(aside)
        partial.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise
    finally:
        if target.exists():
            shutil.rmtree(aside.parent, ignore_errors=True)


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
    file = folder / _MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise ModelFormatError(f"{folder} is not a model folder: it holds no readable {_MANIFEST}.") from None
    except (ValueError, RecursionError):
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
    if name not in _known_arrays():
        raise ModelFormatError(f"{folder} is damaged: it lists an unknown array {name!r}.")
    file = folder / f"{name}.npy"
    try:
        if _checksum(file) != checksum:
            raise ModelFormatError(f"{file} is damaged: its checksum is wrong; fit and save the model again.")
        with file.open("rb") as stream:  # not np.load, which opens archives and pickles too
            return np.lib.format.read_array(stream, allow_pickle=False)
    except ModelFormatError:
        raise
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise ModelFormatError(f"{file} cannot be read ({error}): fit and save the model again.") from error


def _checksum(file: Path) -> str:
    value = 0
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            value = zlib.crc32(piece, value)
    return f"crc32:{value:08x}"

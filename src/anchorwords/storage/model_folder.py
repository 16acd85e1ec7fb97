"""Save and load a TopicModel: a folder of safetensors and JSON, written whole or not at all. Never pickle.

``model.json``
    What a person may want to read: format and version, who wrote it with which libraries, the sizes, ``A_raw_sum``,
    the numbers of the stability, the metadata of the caller, SHA-256 of the other file and a checksum of its own.
``model.safetensors``
    Every array of the record under its own name; rows of anchors, groups of anchors and the stability as
    ``anchor_rows.data``, ``anchor_groups.ends``, ``stability.similarity`` and so on. The words stand there too, as
    ``vocabulary.text`` (UTF-8, one after the other) and ``vocabulary.ends``: a word may hold anything, line ends and
    lone surrogates included, a million of them would drown the JSON, and one checksum holds for words and numbers.

Documents are never saved. Reading runs nothing that is in the folder, and believes nothing that it can check.
"""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata as packages
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..exceptions import InputError, ModelFormatError
from ..model import Edit, Parts, Stability, TopicModel
from ..provenance import Provenance
from ..topic_flag import flags_from
from .folders import FolderFormat, packed_strings, unpacked_strings
from .reading import OpenFolder
from .safetensors import tensors_of, write_tensors

# Version 2 was a folder of .npy files; none was ever released. Version 3, that of the first release, has what an estimator
# noted down under "metadata"; version 4 has the model's provenance, labels and ids; version 5 also holds edited models,
# and version 6 keyword weights, a background and flags.
_TENSORS = "model.safetensors"
_FORMAT = FolderFormat("model", 6, "fit and save the model again", ModelFormatError, files=(_TENSORS,), older=(3, 4, 5))
_LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn")

# Array -> type and shape: N words, K topics, k one more than K, P parts of topics, R the rank of Y, * any length.
_LAYOUT: dict[str, tuple[Any, str]] = {
    "B": (np.floating, "NK"),
    "A": (np.floating, "KK"),
    "anchors": (np.signedinteger, "K"),
    "word_topics": (np.floating, "NK"),
    "word_probs": (np.floating, "N"),
    "Y": (np.floating, "NR"),
    "composition_dual": (np.floating, "KK"),
    "log_likelihood": (np.floating, "*"),
    "left_out": (np.int32, "*"),
    "keyword_weights": (np.floating, "NK"),
    "anchor_rows.data": (np.floating, "*"),
    "anchor_rows.indices": (np.signedinteger, "*"),
    "anchor_rows.indptr": (np.signedinteger, "k"),
    "anchor_groups.indices": (np.signedinteger, "*"),
    "anchor_groups.ends": (np.signedinteger, "K"),
    "parts.topic_of": (np.signedinteger, "P"),
    "parts.B": (np.floating, "NP"),
    "parts.A": (np.floating, "PP"),
    "parts_dual": (np.floating, "PP"),
    "vocabulary.text": (np.uint8, "*"),
    "vocabulary.ends": (np.int64, "N"),
    "stability.similarity": (np.floating, "K"),
    "stability.words": (np.floating, "K"),
    "stability.anchor": (np.floating, "K"),
    "stability.prevalence_low": (np.floating, "K"),
    "stability.prevalence_high": (np.floating, "K"),
    "stability.correlation_low": (np.floating, "KK"),
    "stability.correlation_high": (np.floating, "KK"),
}
_ALWAYS = frozenset({"B", "A", "anchors", "word_topics", "word_probs"})
# Optional arrays that are attributes of the record.
_PLAIN = ("Y", "composition_dual", "left_out", "keyword_weights")
_STABILITY_NUMBERS = {"level": float, "n_replicates": int, "n_shards": int}
# What a sum may be off by, beside rounding: far above what solvers leave, far below what anyone would see in a topic.
_SLACK = 1e-6


def write_model(path: str | os.PathLike[str], model: TopicModel) -> None:
    """Write a model folder; an existing model there is replaced, anything else is left alone.

    A model loaded from the folder that is replaced stays what it is.

    Parameters
    ----------
    path : path
        Folder to create.
    model : TopicModel
        Checked as :func:`read_model` checks it: what could not be loaded is not written.
    """
    _FORMAT.require_writable(path)
    tensors, facts = _tensors_of(model), _facts_of(model)
    try:  # there and back: what is not a string, as a key, becomes one before the checksum is taken
        facts["provenance"] = json.loads(json.dumps(facts["provenance"], allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the provenance of a model must be what JSON can hold, but is not ({error}).") from error
    try:
        _check(tensors, facts)
        Provenance.from_dict(facts["provenance"])
    except ValueError as error:
        raise ModelFormatError(f"this model cannot be saved ({error}): fit it again, nothing was written.") from error
    with _FORMAT.written(path) as folder:
        digest = write_tensors(folder / _TENSORS, tensors, {"format": _FORMAT.name})
        content = {"libraries": _libraries(), **facts, "checksums": {_TENSORS: f"sha256:{digest}"}}
        _FORMAT.write_manifest(folder, content)


def require_writable_target(path: str | os.PathLike[str]) -> None:
    """Raise unless a model can be written there, in place of nothing, of an empty folder, or of a model."""
    _FORMAT.require_writable(path)


def read_model(path: str | os.PathLike[str]) -> TopicModel:
    """Read a model folder. Its arrays are read into memory, so that nothing done to the files can change a loaded model."""
    return _FORMAT.read(Path(path), _read)


def _read(folder: OpenFolder, manifest: dict[str, Any]) -> TopicModel:
    try:
        _require_no_more(folder)
        checksums = manifest.get("checksums")
        digest = checksums.get(_TENSORS) if isinstance(checksums, dict) else None
        if not isinstance(digest, str):
            raise ValueError(f"{_FORMAT.manifest} lacks the checksum of {_TENSORS}")
        with folder.open(_TENSORS) as stream:
            tensors, _ = tensors_of(stream, _TENSORS, digest.removeprefix("sha256:"))
        _check(tensors, manifest)
        return _model_of(tensors, manifest)
    except FileNotFoundError:
        why = f"{_TENSORS} is missing"
    except OSError as error:
        why = f"{_TENSORS} cannot be read: {error.strerror or error}"
    except ValueError as error:
        why = str(error)[:300]
    raise ModelFormatError(f"{folder.path} is damaged ({why}): {_FORMAT.again}.")


def _provenance_of(manifest: dict[str, Any]) -> Provenance:
    if manifest["format_version"] != 3:
        return Provenance.from_dict(manifest.get("provenance"))
    metadata = manifest.get("metadata")
    if not isinstance(metadata, dict):
        raise ValueError(f"{_FORMAT.manifest} lacks metadata")
    return Provenance.from_first_release(metadata)


def _require_no_more(folder: OpenFolder) -> None:
    """Raise ValueError where files lie in the folder that are not the model's, but for those systems hide there."""
    known = (_FORMAT.manifest, *_FORMAT.files)
    more = [name for name in folder.names() if name not in known and not name.startswith(".")]
    if more:
        raise ValueError(f"{more[0]!r} is no part of a model")


def _libraries() -> dict[str, str]:
    """Versions of what computed the model, without importing any of it."""
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            versions[name] = packages.version(name)
        except packages.PackageNotFoundError:
            continue
    return versions


# ---- The record as arrays and numbers, and back.


def _tensors_of(model: TopicModel) -> dict[str, Any]:
    plain = (*sorted(_ALWAYS), *_PLAIN)
    tensors = {name: getattr(model, name) for name in plain if getattr(model, name) is not None}
    if model.log_likelihood is not None:
        tensors["log_likelihood"] = np.array(model.log_likelihood, dtype=np.float64)
    if model.anchor_rows is not None:
        rows = sp.csr_array(model.anchor_rows)
        tensors |= {f"anchor_rows.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
    if model.anchor_groups is not None:
        tensors["anchor_groups.indices"] = np.array([i for group in model.anchor_groups for i in group], dtype=np.int64)
        tensors["anchor_groups.ends"] = np.cumsum([len(group) for group in model.anchor_groups], dtype=np.int64)
    if model.parts is not None:
        tensors |= {f"parts.{name}": getattr(model.parts, name) for name in ("B", "A", "topic_of")}
        if model.parts.composition_dual is not None:
            tensors["parts_dual"] = model.parts.composition_dual
    if model.vocabulary is not None:
        tensors["vocabulary.text"], tensors["vocabulary.ends"] = packed_strings(model.vocabulary)
    if model.stability is not None:
        names = [name.removeprefix("stability.") for name in _LAYOUT if name.startswith("stability.")]
        tensors |= {f"stability.{name}": np.asarray(getattr(model.stability, name)) for name in names}
    return tensors


def _facts_of(model: TopicModel) -> dict[str, Any]:
    numbers = None
    if model.stability is not None:
        numbers = {name: kind(getattr(model.stability, name)) for name, kind in _STABILITY_NUMBERS.items()}
    return {
        "n_words": model.n_words,
        "n_components": model.n_components,
        "A_raw_sum": float(model.A_raw_sum),
        "stability": numbers,
        "labels": None if model.labels is None else list(model.labels),
        "ids": list(model.ids),
        "background": None if model.parts is None else model.parts.background,
        "edits": [
            {
                "action": edit.action,
                "topics": list(edit.topics),
                "result": list(edit.result),
                "labels": list(edit.labels),
            }
            for edit in model.edits
        ],
        "flags": [
            flag._asdict() | {"topics": list(flag.topics), "words": [list(group) for group in flag.words]}
            for flag in model.flags
        ],
        "provenance": model.provenance.to_dict(),
    }


def _model_of(tensors: dict[str, Any], facts: dict[str, Any]) -> TopicModel:
    """The record, of what has been checked."""
    N, K = facts["n_words"], facts["n_components"]
    optional: dict[str, Any] = {}
    if "vocabulary.text" in tensors:
        optional["vocabulary"] = unpacked_strings(tensors["vocabulary.text"], tensors["vocabulary.ends"])
    if "anchor_rows.data" in tensors:
        optional["anchor_rows"] = rows = sp.csr_array((K, N), dtype=tensors["anchor_rows.data"].dtype)
        for part in ("data", "indices", "indptr"):  # not by the constructor, which copies long indices to short ones
            setattr(rows, part, tensors[f"anchor_rows.{part}"])
    if "anchor_groups.ends" in tensors:
        groups = np.split(tensors["anchor_groups.indices"], tensors["anchor_groups.ends"][:-1])
        optional["anchor_groups"] = tuple(tuple(group.tolist()) for group in groups)
    if "parts.B" in tensors:
        own = {name: tensors[f"parts.{name}"] for name in ("B", "A", "topic_of")}
        dual, background = tensors.get("parts_dual"), facts.get("background")
        optional["parts"] = Parts(**own, composition_dual=dual, background=background)
    optional["edits"] = tuple(
        Edit(edit["action"], *(tuple(edit[name]) for name in ("topics", "result", "labels")))
        for edit in facts.get("edits", ())
    )
    if "log_likelihood" in tensors:
        optional["log_likelihood"] = tuple(tensors["log_likelihood"].tolist())
    if "stability.similarity" in tensors:
        names = [name for name in tensors if name.startswith("stability.")]
        arrays = {name.removeprefix("stability."): tensors[name] for name in names}
        optional["stability"] = Stability(**arrays, **{name: facts["stability"][name] for name in _STABILITY_NUMBERS})
    plain = {name: tensors[name] for name in (*_ALWAYS, *_PLAIN) if name in tensors}
    return TopicModel(
        A_raw_sum=facts["A_raw_sum"], labels=facts.get("labels"), ids=facts.get("ids", ()),
        flags=flags_from(facts.get("flags", []), N), provenance=_provenance_of(facts), **plain, **optional,
    )  # fmt: skip


# ---- What the record promises. Each check raises ValueError.


def _check(tensors: dict[str, Any], facts: dict[str, Any]) -> None:
    """Raise ValueError unless arrays and numbers are those of a model, whoever wrote them."""
    N, K = _whole(facts, "n_words"), _whole(facts, "n_components")
    raw_sum = facts.get("A_raw_sum")
    if not isinstance(raw_sum, float) or not 0.0 <= raw_sum < np.inf:
        raise ValueError("A_raw_sum is not a finite number from 0 on")
    _check_layout(tensors, N, K)
    for name, axis in (("B", 0), ("word_topics", 1), ("word_probs", 0), ("A", None)):
        _check_probabilities(name, tensors[name], axis)
    _check_symmetric("A", tensors["A"])
    _check_within("anchors", tensors["anchors"], 0, N - 1)
    if "Y" in tensors:
        _check_finite("Y", tensors["Y"])
    if "composition_dual" in tensors:
        _check_finite("composition_dual", tensors["composition_dual"])
        _check_symmetric("composition_dual", tensors["composition_dual"])
    if "log_likelihood" in tensors and tensors["log_likelihood"].size:
        _check_finite("log_likelihood", tensors["log_likelihood"])
    if "keyword_weights" in tensors:
        _check_probabilities("keyword_weights", tensors["keyword_weights"], 0)
    if "left_out" in tensors and (np.diff(tensors["left_out"]) <= 0).any():
        raise ValueError("left_out is not in ascending order")
    if "anchor_rows.data" in tensors:
        _check_rows(N, *(tensors[f"anchor_rows.{part}"] for part in ("data", "indices", "indptr")))
    if "anchor_groups.ends" in tensors:
        _check_groups(tensors["anchor_groups.indices"], tensors["anchor_groups.ends"], tensors["anchors"], N)
    _check_stability(tensors, facts.get("stability"))
    _check_parts(tensors, K)
    _check_background(tensors.get("parts.topic_of"), facts.get("background"))
    _check_edits(facts.get("edits", []))
    flags_from(facts.get("flags", []), N)
    _check_names(facts.get("labels"), facts.get("ids", list(range(K))), K)


def _check_names(labels: Any, ids: Any, K: int) -> None:
    """Labels are K strings and ids K distinct numbers, where they are there; format 3 had neither."""
    if labels is not None and not (_is_list_of(str, labels) and len(labels) == K):
        raise ValueError("the labels do not name each topic once")
    if not (_is_list_of(int, ids) and len(set(ids)) == len(ids) == K and min(ids) >= 0 and max(ids) < 2**63):
        raise ValueError("the ids do not number each topic once")


def _check_parts(tensors: dict[str, Any], K: int) -> None:
    """Parts are probabilities of their own, and each topic has at least one."""
    if "parts_dual" in tensors:
        if "parts.B" not in tensors:
            raise ValueError("there is a dual matrix of parts, but there are no parts")
        _check_finite("parts_dual", tensors["parts_dual"])
        _check_symmetric("parts_dual", tensors["parts_dual"])
    if "parts.B" not in tensors:
        return
    _check_probabilities("parts.B", tensors["parts.B"], 0)
    _check_probabilities("parts.A", tensors["parts.A"], None)
    _check_symmetric("parts.A", tensors["parts.A"])
    _check_within("parts.topic_of", tensors["parts.topic_of"], -1, K - 1)
    if np.setdiff1d(np.arange(K), tensors["parts.topic_of"]).size:
        raise ValueError("a topic has no parts")


def _check_background(topic_of: Any, background: Any) -> None:
    """The background is one of the parts, and no topic's."""
    if background is None:
        return
    if topic_of is None or type(background) is not int or not 0 <= background < topic_of.size:
        raise ValueError("the background is none of the parts")
    if topic_of[background] != -1:
        raise ValueError("the background belongs to a topic")


def _check_edits(edits: Any) -> None:
    """The history of edits is a list of actions with the ids of topics and labels."""
    fine = isinstance(edits, list) and all(
        isinstance(edit, dict)
        and edit.keys() == {"action", "topics", "result", "labels"}
        and edit["action"] in ("rename", "merge", "drop", "split", "reorder")
        and all(
            _is_list_of(int, edit[name]) and all(0 <= x < 2**63 for x in edit[name]) for name in ("topics", "result")
        )
        and _is_list_of(str, edit["labels"])
        for edit in edits
    )
    if not fine:
        raise ValueError("the history of edits does not tell which topics were changed")


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(type(one) is kind for one in value)


def _whole(facts: dict[str, Any], name: str) -> int:
    value = facts.get(name)
    if type(value) is not int or value < 1:
        raise ValueError(f"{name} is not a positive whole number")
    return value


def _check_layout(tensors: dict[str, Any], N: int, K: int) -> None:
    """The arrays are those of a model, none missing, of right types and shapes."""
    for name in tensors:
        if name not in _LAYOUT:
            raise ValueError(f"{name[:100]!r} is no array of a model")
    begun = {name.split(".")[0] for name in tensors} | _ALWAYS
    P = max(1, tensors["parts.topic_of"].size) if "parts.topic_of" in tensors else 0
    for name, (kind, letters) in _LAYOUT.items():
        if name not in tensors:
            if name.split(".")[0] in begun:
                raise ValueError(f"{name} is missing")
            continue
        width = tensors[name].shape[-1] if tensors[name].ndim else 0
        sizes = {"N": N, "K": K, "k": K + 1, "P": P, "R": max(width, 1), "*": tensors[name].size}
        shape = tuple(sizes[letter] for letter in letters)
        found = tensors[name].dtype
        # Nothing computes with smaller types, and sums of float16 are too rough to be checked.
        fits = np.issubdtype(found, kind) and (kind is np.uint8 or found.itemsize in (4, 8))
        if tensors[name].shape != shape or not fits:
            raise ValueError(f"{name} has shape {tensors[name].shape} and type {found}")


def _check_probabilities(name: str, array: Any, axis: int | None) -> None:
    """Non-negative, and sums along an axis are one."""
    terms = array.size if axis is None else array.shape[axis]
    slack = _SLACK + terms * float(np.finfo(array.dtype).eps)  # rounding of a sum is at most that, term by term
    _check_within(name, array, 0.0, 1.0 + slack)
    worst = float(np.abs(array.sum(axis=axis, dtype=np.float64) - 1.0).max())
    if not worst <= slack:
        raise ValueError(f"{name} sums to one only within {worst:.1g}")


def _check_within(name: str, array: Any, low: float, high: float) -> None:
    """All entries lie between two numbers; NaN does not."""
    if not (array.min() >= low and array.max() <= high):
        raise ValueError(f"{name} has entries that are not from {low:g} to {high:.6g}")


def _check_finite(name: str, array: Any) -> None:
    if not (np.isfinite(array.min()) and np.isfinite(array.max())):  # without an array of answers
        raise ValueError(f"{name} is not finite")


def _check_symmetric(name: str, array: Any) -> None:
    scale = max(float(array.max()), -float(array.min()))
    if scale > 0.0 and np.abs(array / scale - array.T / scale).max() > _SLACK:
        raise ValueError(f"{name} is not symmetric")


def _check_rows(N: int, data: Any, indices: Any, indptr: Any) -> None:
    """A CSR matrix of rows that sum to one, or hold nothing: an anchor may occur in no pair."""
    fits = indptr[0] == 0 and indptr[-1] == data.size == indices.size and (indptr[1:] >= indptr[:-1]).all()
    if not fits or indices.dtype != indptr.dtype or indices.dtype.itemsize not in (4, 8):
        raise ValueError("anchor_rows are no sparse rows")
    if data.size:
        _check_within("anchor_rows.indices", indices, 0, N - 1)
        _check_within("anchor_rows.data", data, 0.0, 1.0 + _SLACK)
    for start, end in pairwise(indptr.tolist()):
        if end > start:
            _check_probabilities("anchor_rows", data[start:end], 0)


def _check_groups(indices: Any, ends: Any, anchors: Any, N: int) -> None:
    """Words of each topic, of which the first is its anchor."""
    starts = np.concatenate([[0], ends[:-1]])
    if not (ends > starts).all() or ends[-1] != indices.size:
        raise ValueError("anchor_groups do not fit their ends")
    _check_within("anchor_groups", indices, 0, N - 1)
    if (indices[starts] != anchors).any():
        raise ValueError("anchor_groups do not begin with the anchors")


def _check_stability(tensors: dict[str, Any], numbers: Any) -> None:
    names = [name for name in tensors if name.startswith("stability.")]
    if not names and numbers is None:
        return
    if not names or not isinstance(numbers, dict):
        raise ValueError("the stability has arrays without numbers, or numbers without arrays")
    level = numbers.get("level")
    if not isinstance(level, float) or not 0.0 < level < 1.0:
        raise ValueError("the level of the stability is not between 0 and 1")
    _whole(numbers, "n_replicates"), _whole(numbers, "n_shards")
    for name in names:
        _check_within(name, tensors[name], -_SLACK, 1.0 + _SLACK)
    for of in ("prevalence", "correlation"):
        if (tensors[f"stability.{of}_low"] > tensors[f"stability.{of}_high"]).any():
            raise ValueError(f"the intervals of {of} in the stability end before they begin")

"""Folders from a stranger: manifests and arrays changed at will, with right checksums, then loaded and used.

Damage is caught by checksums; whoever forges a folder makes these right. A value of a manifest becomes any other JSON value,
an array one of another type, shape or content. What is then loaded is used as a person would: tables, proportions of
documents, the explorer's page, a fit, commands.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
import unicodedata
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import AnchorwordsError, CorpusFormatError, ModelFormatError, SketchFormatError
from anchorwords.exploring.data import explorer_data
from anchorwords.exploring.page import rendered
from anchorwords.storage.safetensors import read_tensors, write_tensors

from .campaign import Area, Trial

# Beyond what a worker has when it begins to use a folder of some hundred kilobytes.
_MEMORY = 1 << 30
_HOSTILE = (
    "\x1b[2J", "\x9b31m", "\x1b]0;title\x07", "\u202eback", "\r\n", "\x00", "\ud800", "[red]x[/red]", "</script><script>",
    "=1+1", "../../etc/passwd", "/dev/stdin", "os:system", "x" * 5000, "",
)  # fmt: skip


# ---- Forging.


def _any_value(rng: np.random.Generator, canary: str, depth: int = 0) -> Any:
    """Any JSON value, with a preference for numbers at the edges of types and for strings that mean something elsewhere."""
    kinds = (
        ["number", "string", "constant", "list", "object", "deep"] if depth < 3 else ["number", "string", "constant"]
    )
    kind = rng.choice(kinds)
    if kind == "number":
        numbers = [
            0, 1, -1, 2, 7, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 10**9, 10**30, 10**400, 0.5, -0.0, 1e-320, 1e308,
            float("nan"), float("inf"), -float("inf"),
        ]  # fmt: skip
        return numbers[rng.integers(len(numbers))]
    if kind == "string":
        strings = [*_HOSTILE, canary, "english", "linear", "enn", "readers", "auto", "1", "0.5"]
        return strings[rng.integers(len(strings))]
    if kind == "constant":
        return [None, True, False][rng.integers(3)]
    if kind == "list":
        return [_any_value(rng, canary, depth + 1) for _ in range(rng.integers(4))]
    if kind == "object":
        return {str(_any_value(rng, canary, 3)): _any_value(rng, canary, depth + 1) for _ in range(rng.integers(4))}
    nested: Any = 1
    for _ in range(rng.integers(2, 300)):
        nested = [nested] if rng.random() < 0.5 else {"text_rule": nested}
    return nested


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to everything within a JSON value, but for the rest of long lists."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key)
            yield from _places(part, (*path, key))
    elif isinstance(value, list):
        for number, part in list(enumerate(value))[:5]:
            yield (*path, number)
            yield from _places(part, (*path, number))


def _changed_value(rng: np.random.Generator, value: Any, canary: str) -> Any:
    """Another value in place of one: near it, or any."""
    if isinstance(value, str) and value[:1] == "{" and rng.random() < 0.7:  # JSON within JSON
        with contextlib.suppress(ValueError):
            inner = json.loads(value)
            _change_manifest(rng, inner, canary)
            return json.dumps(inner)
    if type(value) in (int, float) and rng.random() < 0.5:
        near = [value + 1, value - 1, -value, value * 1000, float(min(value, 1e300)), str(value), value * 10**9]
        return near[rng.integers(len(near))]
    if isinstance(value, list) and rng.random() < 0.4:
        return [value[:-1], value + value[:1], value[::-1], value * 50][rng.integers(4)]
    return _any_value(rng, canary)


def _change_manifest(rng: np.random.Generator, manifest: Any, canary: str) -> None:
    for _ in range(rng.integers(1, 4)):
        places = list(_places(manifest))
        if not places:
            return
        *path, last = places[rng.integers(len(places))]
        parent = manifest
        for key in path:
            parent = parent[key]
        if rng.random() < 0.1:
            del parent[last]
        elif isinstance(parent, dict) and rng.random() < 0.1:
            parent[str(_any_value(rng, canary, 3))] = _any_value(rng, canary)
        else:
            parent[last] = _changed_value(rng, parent[last], canary)


def _change_array(rng: np.random.Generator, array: Any) -> Any:
    changed = np.array(array)
    types = ("<f8", "<f4", "<f2", "<i8", "<i4", "<u8", "|u1", "|b1", "<i2")
    kind = rng.integers(8)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == 0:
            return changed.astype(types[rng.integers(len(types))])
        if kind == 1:
            return changed.reshape(-1)[: rng.integers(changed.size + 1)]
        if kind == 2:
            return changed.T.copy() if changed.ndim > 1 else changed[:, None]
        if kind == 3:
            return np.concatenate([changed, changed])
        if kind == 4 and changed.size:
            return changed[rng.permutation(len(changed))]
        if changed.size:
            values = [
                0,
                1,
                -1,
                2,
                255,
                np.nan,
                np.inf,
                -np.inf,
                1e308,
                1e-320,
                2**31,
                2**62,
                len(changed),
                0.5,
                1.0 + 1e-9,
            ]
            flat = changed.reshape(-1)
            for _ in range(rng.integers(1, 4)):
                value = values[rng.integers(len(values))]
                with contextlib.suppress(OverflowError, ValueError):
                    flat[rng.integers(flat.size)] = value
            if (
                kind == 5 and changed.dtype.kind == "f" and changed.ndim == 2
            ):  # still distributions: the rest must notice
                changed = np.abs(np.nan_to_num(changed, posinf=1.0, neginf=1.0)) % 2.0
                axis = int(rng.integers(2))
                changed /= np.maximum(changed.sum(axis=axis, keepdims=True), 1e-12)
        return changed


def _seal(folder: Path, name: str, manifest: dict[str, Any]) -> None:
    """Write a manifest with a right checksum, as whoever forges one does."""
    manifest.pop("checksum", None)
    with contextlib.suppress(RecursionError):
        text = json.dumps(manifest, sort_keys=True)
        manifest["checksum"] = f"crc32:{zlib.crc32(text.encode()):08x}"
        (folder / name).write_text(json.dumps(manifest), encoding="utf-8")


def _crc(raw: bytes) -> str:
    return f"crc32:{zlib.crc32(raw):08x}"


# ---- What may happen meanwhile.

_OPENED: list[str] | None = None
_HOOKED = False


def _watch_opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _OPENED is not None and isinstance(arguments[0], (str, bytes, os.PathLike)):
        _OPENED.append(os.fsdecode(arguments[0]))


@contextlib.contextmanager
def _watched(trial: Trial, folder: Path) -> Iterator[None]:
    """Files that are opened lie in the folder, were named by the caller, are scratch, or belong to Python and the system."""
    global _HOOKED, _OPENED
    if not _HOOKED:
        sys.addaudithook(_watch_opened)
        _HOOKED = True
    _OPENED = []
    try:
        yield
    finally:
        opened, _OPENED = _OPENED, None
    scratch = Path(tempfile.gettempdir()) / ".anchorwords-scratch"
    allowed = [
        str(folder), str(trial.folder / "out"), str(trial.shared), str(scratch), sys.prefix, sys.base_prefix,
        str(Path(aw.__file__).parent),
        str(Path(__file__).parent), "/proc/", "/sys/", "/usr/", "/etc/localtime", os.path.expanduser("~/.cache"),
        os.environ.get("NUMBA_CACHE_DIR", sys.prefix), *(entry for entry in sys.path if entry),
    ]  # fmt: skip
    strange = [path for path in opened if path.startswith(os.sep) and not path.startswith(tuple(allowed))]
    assert not strange, f"opened {strange[:5]}"


@contextlib.contextmanager
def _bounded_memory() -> Iterator[None]:
    """An allocation far beyond the size of the folder is a MemoryError, which is no answer."""
    import resource  # not on Windows

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _needs() -> str | None:
    return None if sys.platform == "linux" else "bounds of memory and /proc are those of Linux"


def _call(*arguments: Any) -> str:
    """A command in this process, as on a terminal without colours: its output, which must be free of control characters."""
    from anchorwords.cli import main

    out, err, argv, environment = io.StringIO(), io.StringIO(), sys.argv, dict(os.environ)
    os.environ.update(FORCE_COLOR="1", TERM="dumb", COLUMNS="120")
    sys.argv = ["anchorwords", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code: Any = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv = argv
        os.environ.clear()
        os.environ.update(environment)
    said = out.getvalue() + err.getvalue()
    odd = {
        ascii(c)
        for c in said
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t\u200c\u200d"
    }
    assert not odd, f"{arguments[0]} printed {sorted(odd)}"
    assert code in (0, 1, 2), code
    assert "Traceback" not in said
    return said


def _forged(trial: Trial, kind: str, forge: Callable[..., None], use: Callable[[Trial, Path], str], error: Any) -> str:
    original = trial.once("original", _make)
    folder = shutil.copytree(original / kind, trial.folder / kind)
    canary = original / "canary.txt"
    (trial.folder / "out").mkdir()
    forge(trial.rng, folder, str(canary))
    warm = trial.shared / "warm"
    if not warm.exists():  # kernels are compiled and modules loaded before files and memory are watched
        warm.touch()
        use(Trial(trial.number, trial.rng, trial.folder, trial.shared), original / kind)
        shutil.rmtree(trial.folder / "out")
        (trial.folder / "out").mkdir()
    with warnings.catch_warnings(), _watched(trial, folder), _bounded_memory():
        warnings.simplefilter("ignore")
        try:
            return use(trial, folder)
        except error:
            return "refused"
        except MemoryError as no_room:
            if isinstance(no_room, AnchorwordsError):
                return "refused as too large"
            raise AssertionError(f"memory ran out: {no_room}") from no_room
        except AnchorwordsError:
            return "refused in use"


# ---- Folders of each kind, and what is done with them.


def _make(path: Path) -> None:
    path.mkdir()
    words = [f"word{i:02d}" for i in range(40)]
    data = make_topics(n_docs=120, n_words=40, n_topics=3, doc_length=30, random_state=5).corpus
    lines = []
    for row in range(data.n_docs):
        counts = data.counts[[row]].tocoo()
        lines.append(" ".join(words[j] for j, n in zip(counts.col, counts.data, strict=True) for _ in range(int(n))))
    (path / "docs.txt").write_text("\n".join(lines), encoding="utf-8")
    (path / "canary.txt").write_text("a stop word of the victim", encoding="utf-8")
    corpus = aw.read_corpus(path / "docs.txt", stop_words=["the"]).prune(stop_words="english")
    model = aw.AnchorTopicModel.from_preset("readers", 3, composition="prior-aware", anchors=[["word00", "word01"]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(corpus)
        model.measure_stability(corpus, n_replicates=2)
    model.model_ = model.model_.with_labels(["one", "two", "three"])
    model.save(path / "model")
    aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(stop_words=["english", "word39"])).fit(lines).save(
        path / "text-model"
    )
    n_docs = corpus.n_docs
    table = {
        "day": np.arange(n_docs).astype("datetime64[D]"), "score": np.arange(n_docs) / 3, "n": np.arange(n_docs),
        "kind": [None if i % 7 == 0 else "ab"[i % 2] for i in range(n_docs)],
        "tags": [["x", "y"][: i % 3] for i in range(n_docs)],
    }  # fmt: skip
    named = aw.Corpus(
        corpus.counts, corpus.vocabulary, [f"doc {i}" for i in range(n_docs)], documents=table, title="kind",
        text_rule=corpus.text_rule,
    )  # fmt: skip
    named.save(path / "corpus")
    from anchorwords.statistics.sketch import rule_of_text

    for method in ("linear", "incremental"):
        sketch = aw.CooccurrenceSketch(3, method=method, rule=rule_of_text(corpus.text_rule))
        sketch.update(corpus).save(path / f"sketch-{method}")
    aw.CooccurrenceSketch(3).update(corpus.counts).save(path / "sketch-nameless")


def _forge_model(rng: np.random.Generator, folder: Path, canary: str) -> None:
    manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    if rng.random() < 0.7:
        checksums = copy.deepcopy(manifest["checksums"])
        _change_manifest(rng, manifest, canary)
        if rng.random() < 0.9:
            manifest["checksums"] = checksums
    if rng.random() < 0.4:
        tensors = {name: array.copy() for name, array in read_tensors(folder / "model.safetensors")[0].items()}
        for _ in range(rng.integers(1, 3)):
            name = sorted(tensors)[rng.integers(len(tensors))]
            if rng.random() < 0.1:
                del tensors[name]
            else:
                tensors[name] = _change_array(rng, tensors[name])
        (folder / "model.safetensors").unlink()
        write_tensors(folder / "model.safetensors", tensors)
        digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
        manifest["checksums"] = {"model.safetensors": f"sha256:{digest}"}
    _seal(folder, "model.json", manifest)


def _use_model(trial: Trial, folder: Path) -> str:
    shared, out = trial.shared / "original", trial.folder / "out"
    try:
        model = aw.load_model(folder)
    except ModelFormatError:
        _call("topics", folder)
        raise
    aw.topic_table(model, 5)
    aw.anchor_table(model)
    aw.common_words(model, 3)
    counts = np.random.default_rng(0).poisson(0.5, size=(5, model.model_.n_words))
    weights = model.transform(counts)
    assert weights.shape == (5, model.model_.n_components)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
    page = rendered(explorer_data(model))
    assert page.count("</script>") == rendered_scripts(page)
    command = [
        ("topics", folder, "--style", "paper"),
        ("topics", folder, "--json", "--common-words", 3),
        ("transform", folder, shared / "docs.txt"),
        ("explore", folder, "-o", out / "page.html"),
        ("export", folder, "--to", "gexf", "-o", out / "x.gexf"),
        ("compare", folder, folder),
        ("evaluate", folder, shared / "docs.txt"),
        ("export", folder, shared / "corpus", "--to", "pyldavis", "-o", out / "x.json"),
    ][trial.rng.integers(8)]
    _call(*command)
    return "works"


def _use_text_model(trial: Trial, folder: Path) -> str:
    shared, out = trial.shared / "original", trial.folder / "out"
    try:
        model = aw.load_model(folder)
    except ModelFormatError:
        _call("transform", folder, shared / "docs.txt")
        raise
    if isinstance(model, aw.TextTopicModel) and not isinstance(model.text_rule_.tokenizer, str):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weights = model.transform(["word01 word02 word03", "", "the"])
        assert weights.shape == (3, model.n_components)
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-6)
        model.save(out / "copy")
        assert aw.load_model(out / "copy").get_params().keys() == model.get_params().keys()
    _call("transform", folder, shared / "docs.txt")
    return "works"


def rendered_scripts(page: str) -> int:
    """Script elements of a page: as many as end."""
    return page.count("<script")


def _forge_corpus(rng: np.random.Generator, folder: Path, canary: str) -> None:
    manifest = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
    if rng.random() < 0.5:
        names = sorted(path.name for path in folder.glob("*.bin"))
        name = names[rng.integers(len(names))]
        types = {
            "indptr": "<i8",
            "indices": "<i4",
            "counts": manifest["count_type"],
            "words": "|u1",
            "ids": "|u1",
            "tf": "<f8",
        }
        array = np.fromfile(folder / name, dtype=types.get(name.removesuffix(".bin"), "<i8"))
        changed = _change_array(rng, array)
        if rng.random() < 0.7:
            changed = changed.reshape(-1).astype(array.dtype)
        (folder / name).write_bytes(changed.tobytes())
        for key in manifest["checksums"].keys() - {"documents"}:
            manifest["checksums"][key] = _crc((folder / f"{key}.bin").read_bytes())
        parts = [np.fromfile(folder / f"{part}.bin", dtype=types[part]) for part in ("indptr", "indices", "counts")]
        manifest["blocks"] = [[manifest["n_docs"], manifest["n_entries"], *(_crc(part.tobytes()) for part in parts)]]
    if rng.random() < 0.3:
        tensors = {name: array.copy() for name, array in read_tensors(folder / "documents.safetensors")[0].items()}
        name = sorted(tensors)[rng.integers(len(tensors))]
        tensors[name] = _change_array(rng, tensors[name])
        (folder / "documents.safetensors").unlink()
        write_tensors(folder / "documents.safetensors", tensors)
        manifest["checksums"]["documents"] = _crc((folder / "documents.safetensors").read_bytes())
    if rng.random() < 0.7:
        _change_manifest(rng, manifest, canary)
    _seal(folder, "corpus.json", manifest)


def _use_corpus(trial: Trial, folder: Path) -> str:
    shared, out = trial.shared / "original", trial.folder / "out"
    try:
        corpus = aw.open_corpus(folder)
        words, ids = corpus.vocabulary, corpus.doc_ids
    except CorpusFormatError:
        _call("fit", folder, "-k", 2, "-o", out / "model")
        raise
    assert len(words) == corpus.n_words
    assert ids is None or len(ids) == corpus.n_docs
    try:
        assert all(len(corpus.documents[name]) == corpus.n_docs for name in corpus.documents)
    except CorpusFormatError:  # a table is read when it is first asked for
        _call("topics", shared / "model", "--corpus", folder, "--documents", 3)
        raise
    assert sum(block.shape[0] for block in corpus.blocks()) == corpus.n_docs
    aw.load_model(shared / "model").transform(corpus)
    corpus.prune(min_df=2, stop_words="english").save(out / "pruned")
    command = [
        ("topics", shared / "model", "--corpus", folder, "--documents", 3),
        ("transform", shared / "model", folder),
        ("explore", shared / "model", "-o", out / "page.html", "--corpus", folder),
        ("fit", folder, "-k", 2, "--preset", "paper"),
        ("sketch", "build", folder, "-k", 2, "-o", out / "sketch"),
        ("import", folder, "-o", out / "copy"),
    ][trial.rng.integers(6)]
    _call(*command)
    return "works"


def _forge_sketch(rng: np.random.Generator, folder: Path, canary: str) -> None:
    manifest = json.loads((folder / "sketch.json").read_text(encoding="utf-8"))
    if rng.random() < 0.5:
        for _ in range(rng.integers(1, 3)):
            name = sorted(manifest["arrays"])[rng.integers(len(manifest["arrays"]))]
            np.save(folder / f"{name}.npy", _change_array(rng, np.load(folder / f"{name}.npy", allow_pickle=False)))
            manifest["arrays"][name] = _crc((folder / f"{name}.npy").read_bytes())
    if rng.random() < 0.7:
        arrays = copy.deepcopy(manifest["arrays"])
        _change_manifest(rng, manifest, canary)
        if rng.random() < 0.9:
            manifest["arrays"] = arrays
    _seal(folder, "sketch.json", manifest)


def _use_sketch(trial: Trial, folder: Path) -> str:
    out = trial.folder / "out"
    try:
        sketch = aw.load_sketch(folder)
    except SketchFormatError:
        _call("sketch", "info", folder)
        raise
    except AnchorwordsError as error:
        raise AssertionError(f"a sketch is refused by {type(error).__name__}: {error}") from error
    twice = sketch + sketch
    assert twice.n_docs == 2 * sketch.n_docs
    twice.save(out / "sketch")
    counts = np.random.default_rng(0).poisson(0.5, size=(5, 20))
    sketch.copy().update(counts, [f"word{i:02d}" for i in range(20)] if sketch.named else None)
    command = [
        ("sketch", "info", folder),
        ("sketch", "info", folder, "--json"),
        ("sketch", "merge", folder, folder, "-o", out / "merged"),
        ("fit", folder, "-k", 2),
    ][trial.rng.integers(4)]
    _call(*command)
    model = aw.AnchorTopicModel(2).fit(sketch).model_
    assert np.isfinite(model.B).all()
    return "works"


def forged_model(trial: Trial) -> str:
    """A model folder."""
    return _forged(trial, "model", _forge_model, _use_model, ModelFormatError)


def forged_text_model(trial: Trial) -> str:
    """A model folder that says how text is read."""
    return _forged(trial, "text-model", _forge_model, _use_text_model, ModelFormatError)


def forged_corpus(trial: Trial) -> str:
    """A corpus folder."""
    return _forged(trial, "corpus", _forge_corpus, _use_corpus, CorpusFormatError)


def forged_sketch(trial: Trial) -> str:
    """A sketch folder, of each method in turn."""
    kind = ("sketch-linear", "sketch-incremental", "sketch-nameless")[trial.number % 3]
    return _forged(trial, kind, _forge_sketch, _use_sketch, SketchFormatError)


_PROMISE = (
    "is refused with an error of ours or works; opens no other file, prints no control character, in bounded memory"
)
AREAS: tuple[Area, ...] = (
    Area("forged models", f"A forged model folder {_PROMISE}.", forged_model, short=40, needs=_needs),
    Area(
        "forged text models", f"A forged model folder of texts {_PROMISE}.", forged_text_model, short=40, needs=_needs
    ),
    Area("forged corpora", f"A forged corpus folder {_PROMISE}.", forged_corpus, short=40, needs=_needs),
    Area("forged sketches", f"A forged sketch folder {_PROMISE}.", forged_sketch, short=40, needs=_needs),
)

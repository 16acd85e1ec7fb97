"""Damage: every file of models, corpora and sketches, changed in the ways that disks, copies and people change files."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .campaign import Area, Trial
from .concurrency import _corpus, table_of
from .forked import Child, needs_fork

# ---- Folders, and what is read from them.


def _make_folders(folder: Path) -> None:
    """Two of each kind, so that files of one can be put into the other."""
    import anchorwords as aw
    import anchorwords.storage.corpus_writer as corpora

    folder.mkdir()
    docs_per_block, corpora.BLOCK_DOCS = corpora.BLOCK_DOCS, 20
    try:
        for number in (0, 1):
            _corpus(number).save(folder / f"corpus-{number}")
    finally:
        corpora.BLOCK_DOCS = docs_per_block
    for number in (0, 1):
        model = aw.AnchorTopicModel(3, random_state=number, n_jobs=1).fit(_corpus(number))
        model.measure_stability(_corpus(number), n_replicates=4, n_jobs=1)
        model.save(folder / f"model-{number}")
        for method in ("linear", "incremental"):
            sketch = aw.CooccurrenceSketch(3, method=method, n_jobs=1)
            for block in _corpus(number).blocks():
                sketch.update(block, _corpus(number).vocabulary)
            sketch.save(folder / f"{method}-{number}")


def _digest(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return digest.hexdigest()


def _use_model(path: Path) -> str:
    import anchorwords as aw

    loaded = aw.load_model(path)
    return _use_loaded_model(loaded)


def _use_loaded_model(loaded: Any) -> str:
    model = loaded.model_
    arrays = [np.asarray(getattr(model, name)) for name in ("B", "A", "anchors", "word_topics", "word_probs")]
    stable = model.stability
    arrays += [np.asarray(stable.similarity), np.asarray(stable.correlation_low)]
    weights = loaded.transform(_corpus(2).counts[:10])
    return _digest(*arrays, np.asarray(weights), tuple(model.vocabulary), model.provenance.to_dict(), model.labels)


def _use_corpus(path: Path) -> str:
    import anchorwords as aw

    return _use_open_corpus(aw.open_corpus(path))


def _use_open_corpus(corpus: Any) -> str:
    blocks = [part for block in corpus.blocks() for part in (block.data, block.indices, block.indptr)]
    about = (corpus.document_frequencies, np.asarray(corpus.term_frequencies), corpus.vocabulary, corpus.doc_ids)
    sizes = (corpus.n_docs, corpus.n_words, corpus.n_tokens, corpus.n_entries)
    rule = None if corpus.text_rule is None else corpus.text_rule.to_dict()
    return _digest(*blocks, *about, *sizes, *table_of(corpus), rule)


def _use_sketch(path: Path) -> str:
    import anchorwords as aw

    sketch = aw.load_sketch(path)
    sums, arrays = sketch._sums, sketch._part.arrays(1)
    about = (sketch.n_components, sketch.method, sketch.n_columns, sketch.random_state, sketch.rule, sketch.n_features)
    return _digest(
        tuple(sketch._places), sums.d, sums.squares, sums.df, sums.totals(), about, *(arrays[n] for n in sorted(arrays))
    )


_KINDS: tuple[tuple[str, Callable[[Path], str]], ...] = (
    ("model", _use_model),
    ("corpus", _use_corpus),
    ("linear", _use_sketch),
    ("incremental", _use_sketch),
)

# ---- Damages: each changes a file of the folder and says how; None, where it changed nothing.

_Damage = Callable[[Path, Path, np.random.Generator], str | None]


def _flip_bits(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    raw = bytearray(file.read_bytes())
    if not raw:
        return None
    places = rng.integers(8 * len(raw), size=1 if rng.random() < 0.7 else rng.integers(2, 20))
    for place in places:
        raw[place // 8] ^= 1 << (place % 8)
    file.write_bytes(raw)
    return f"bits {places.tolist()} flipped"


def _set_bytes(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    raw = bytearray(file.read_bytes())
    if not raw:
        return None
    at = int(rng.integers(len(raw)))
    some = rng.bytes(int(rng.integers(1, 17)))
    raw[at : at + len(some)] = some
    file.write_bytes(raw)
    return f"bytes from {at} set to {some!r}"


def _truncate(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    size = file.stat().st_size
    if not size:
        return None
    left = 0 if rng.random() < 0.1 else int(rng.integers(size))
    os.truncate(file, left)
    return f"cut to {left} of {size} bytes"


def _extend(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    number = int(rng.integers(1, 5000))
    with file.open("ab") as stream:
        stream.write(rng.bytes(number) if rng.random() < 0.5 else bytes(number))
    return f"{number} bytes appended"


def _zero_range(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    size = file.stat().st_size
    if not size:
        return None
    first, last = sorted(int(place) for place in rng.integers(size + 1, size=2))
    with file.open("r+b") as stream:
        stream.seek(first)
        stream.write(bytes(last - first))
    return f"zeros from {first} to {last}"


def _move_range(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    raw = bytearray(file.read_bytes())
    if len(raw) < 2:
        return None
    length = int(rng.integers(1, min(len(raw), 512)))
    source, target = (int(place) for place in rng.integers(len(raw) - length + 1, size=2))
    raw[target : target + length] = raw[source : source + length]
    file.write_bytes(raw)
    return f"{length} bytes from {source} also at {target}"


def _remove_range(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    raw = file.read_bytes()
    first, last = sorted(int(place) for place in rng.integers(len(raw) + 1, size=2))
    file.write_bytes(raw[:first] + raw[last:])
    return f"bytes {first} to {last} cut out"


def _swap(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    files = sorted(one for one in file.parent.iterdir() if one != file)
    second = files[rng.integers(len(files))]
    first_raw, second_raw = file.read_bytes(), second.read_bytes()
    file.write_bytes(second_raw)
    second.write_bytes(first_raw)
    return f"exchanged with {second.name}"


def _take_from_other(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    if not (other / file.name).exists():
        return None
    shutil.copyfile(other / file.name, file)
    return "that of another one of its kind"


def _remove(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    file.unlink()
    return "removed"


def _blow_up(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    size = 1 << int(rng.integers(24, 43))
    os.truncate(file, size)
    return f"grown to {size} bytes, without taking any room"


def _replace(file: Path, other: Path, rng: np.random.Generator) -> str | None:
    what = ("folder", "pipe", "socket", "zeros", "loop", "nothing", "full")[rng.integers(7)]
    file.unlink()
    if what == "folder":
        file.mkdir()
    elif what == "pipe":
        os.mkfifo(file)
    elif what == "socket":
        here = os.getcwd()
        os.chdir(file.parent)
        try:
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(file.name)
        finally:
            os.chdir(here)
    else:
        file.symlink_to({"zeros": "/dev/zero", "loop": str(file), "nothing": "/nonexistent", "full": "/dev/full"}[what])
    return f"replaced by a {what}" if what in ("folder", "pipe", "socket") else f"a link to {what}"


_CHANGES: tuple[_Damage, ...] = (
    _flip_bits, _set_bytes, _truncate, _extend, _zero_range, _move_range, _remove_range, _swap, _take_from_other, _remove,
    _blow_up, _replace,
)  # fmt: skip
# Memory that may be asked for in a trial: far more than these folders need, far less than a size bomb asks for.
_MEMORY = 1 << 30
_SECONDS = 20


@contextmanager
def _bounded() -> Iterator[None]:
    """Bound memory and time of what runs in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MEMORY, hard))
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _too_long(*_: Any) -> None:
    raise AssertionError(f"not done after {_SECONDS} seconds")


_RIGHT: dict[tuple[Path, str], str] = {}


def _copied(trial: Trial, folders: Path, name: str, use: Any) -> tuple[Path, Path]:
    """A copy of a folder, and one of its files; what the folder holds is read once, for comparison."""
    if (folders, name) not in _RIGHT:
        _RIGHT[folders, name] = use(folders / f"{name}-0")
    folder = trial.folder / name
    shutil.copytree(folders / f"{name}-0", folder)
    files = sorted(folder.iterdir())
    return folder, files[trial.rng.integers(len(files))]


def _damage_a_file(trial: Trial) -> str:
    """Damage a file, then load the folder and use all that it holds."""
    from anchorwords.exceptions import AnchorwordsError

    name, use = _KINDS[trial.number % len(_KINDS)]
    folders = trial.once("folders", _make_folders)
    folder, file, rng = *_copied(trial, folders, name, use), trial.rng
    change = _CHANGES[rng.integers(len(_CHANGES))]
    done = change(file, folders / f"{name}-1", rng)
    what = f"{name}: {file.name} {done}"
    try:
        with _bounded():
            found = use(folder)
    except AnchorwordsError:
        return f"{name}: refused"
    except BaseException as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    assert found == _RIGHT[folders, name], f"wrong numbers: {what}"
    return f"{name}: right"


def _truncate_while_open(trial: Trial) -> str:
    """Cut a file of a folder that is open already, then use all that it holds; in a child, which may die."""
    import anchorwords as aw

    folders = trial.once("folders", _make_folders)
    name, use = _KINDS[trial.number % 2]
    folder, file, rng = *_copied(trial, folders, name, use), trial.rng
    left = int(rng.integers(file.stat().st_size)) if file.stat().st_size else 0

    def run() -> None:
        opened = aw.load_model(folder) if name == "model" else aw.open_corpus(folder)
        os.truncate(file, left)
        try:
            found = _use_loaded_model(opened) if name == "model" else _use_open_corpus(opened)
        except aw.exceptions.AnchorwordsError:
            print("refused", end="")
            return
        assert found == _RIGHT[folders, name], "wrong numbers"
        print("right", end="")

    ran = Child(partial(run)).wait()
    assert ran.code == 0, f"{name}: {file.name} cut to {left} bytes after it was opened: {ran}"
    return f"{name}: {ran.out}"


AREAS: tuple[Area, ...] = (
    Area(
        "damaged folders",
        "refused with an error of ours, or read exactly as it was written",
        _damage_a_file,
        short=150,
        limit=60.0,
        weight=3.0,
        needs=needs_fork,
    ),
    Area(
        "files cut while open",
        "refused with an error of ours, or read exactly as it was written; never a signal",
        _truncate_while_open,
        short=8,
        limit=60.0,
        weight=0.5,
        needs=needs_fork,
    ),
)

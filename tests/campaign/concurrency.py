"""Many at once: writers and readers of one target, runs that share a temporary directory, and strangers in the way."""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import signal
import socket
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .campaign import Area, Trial
from .forked import Child, Ran, needs_fork, needs_strace
from .writers import WRITERS, Place, assert_one_sentence, stage_of

# ---- Versions of each kind of result: no two have a file in common, so that a mixture shows.

_VERSIONS = 5


@dataclass(frozen=True)
class _Kind:
    """A kind of result: how a version is written, and what a reader finds, as a digest."""

    target: str
    write: Callable[[int, Path], object]
    read: Callable[[Path, float], str]


@cache
def _corpus(version: int) -> Any:
    import scipy.sparse as sp

    import anchorwords as aw

    rng = np.random.default_rng(version)
    dense = (version + 1) * rng.integers(0, 3, size=(60 + version, 30))
    dense[:, 0] = version + 1
    words = [f"v{version}w{i}" for i in range(30)]
    n_docs = 60 + version
    table = {"year": np.arange(n_docs) + version, "kind": [f"v{version}k{m % 3}" for m in range(n_docs)]}
    return aw.Corpus(sp.csr_array(dense), words, [f"v{version}d{m}" for m in range(n_docs)], documents=table)


@cache
def _model(version: int) -> Any:
    import anchorwords as aw

    return aw.AnchorTopicModel(3, random_state=version, n_jobs=1).fit(_corpus(version))


@cache
def _sketch(version: int) -> Any:
    import anchorwords as aw

    sketch = aw.CooccurrenceSketch(3, method=("linear", "incremental")[version % 2], n_jobs=1)
    for block in _corpus(version).blocks():
        sketch.update(block, _corpus(version).vocabulary)
    return sketch


def _write_corpus(version: int, path: Path) -> None:
    _corpus(version).save(path)


def _write_model(version: int, path: Path) -> None:
    _model(version).save(path)


def _write_sketch(version: int, path: Path) -> None:
    _sketch(version).save(path)


def _write_graph(version: int, path: Path) -> None:
    import anchorwords as aw

    aw.export.write_graph(_model(version), path)


def _digest(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        array = np.ascontiguousarray(part) if isinstance(part, np.ndarray) else None
        digest.update(repr(part).encode() if array is None else array.tobytes())
    return digest.hexdigest()


def table_of(corpus: Any) -> list[Any]:
    """The documents table, for a digest."""
    return [(name, kind, corpus.documents[name].tolist()) for name, kind in corpus.documents.kinds.items()]


def _read_corpus(path: Path, pause: float) -> str:
    import anchorwords as aw

    corpus = aw.open_corpus(path)
    time.sleep(pause)  # another one takes its place meanwhile
    blocks = [(block.data, block.indices, block.indptr) for block in corpus.blocks()]
    time.sleep(pause)
    about = (corpus.document_frequencies, np.asarray(corpus.term_frequencies, dtype=float), *table_of(corpus))
    return _digest(*about, corpus.vocabulary, corpus.doc_ids, *(part for block in blocks for part in block))


def _read_model(path: Path, pause: float) -> str:
    import anchorwords as aw

    model = aw.load_model(path).model_
    time.sleep(pause)
    arrays = [np.asarray(getattr(model, name)) for name in ("B", "A", "anchors", "word_topics", "word_probs")]
    return _digest(*arrays, tuple(model.vocabulary))


def _read_sketch(path: Path, pause: float) -> str:
    import anchorwords as aw

    sketch = aw.load_sketch(path)
    time.sleep(pause)
    sums = sketch._sums
    arrays = sketch._part.arrays(1)
    return _digest(tuple(sketch._places), sums.d, sums.squares, sums.df, *(arrays[name] for name in sorted(arrays)))


def _read_graph(path: Path, _: float) -> str:
    return _digest(path.read_bytes())


_KINDS = (
    _Kind("model", _write_model, _read_model),
    _Kind("corpus", _write_corpus, _read_corpus),
    _Kind("sketch", _write_sketch, _read_sketch),
    _Kind("graph.graphml", _write_graph, _read_graph),
)
_DIGESTS: dict[tuple[str, int], str] = {}


def _known(trial: Trial, kind: _Kind) -> dict[str, int]:
    """The digest of each version, by writing it undisturbed; this also compiles what is needed."""
    for version in range(_VERSIONS):
        if (kind.target, version) not in _DIGESTS:
            path = trial.shared / "alone" / str(version) / kind.target
            path.parent.mkdir(parents=True, exist_ok=True)
            kind.write(version, path)
            _DIGESTS[kind.target, version] = kind.read(path, 0.0)
    found = {_DIGESTS[kind.target, version]: version for version in range(_VERSIONS)}
    assert len(found) == _VERSIONS
    return found


def _assert_all_well(children: Sequence[Child], seconds: float = 60.0) -> list[Ran]:
    ended = [child.wait(seconds=seconds) for child in children]
    for ran in ended:
        assert ran.code == 0, f"a process failed: {ran}"
    return ended


def _write_and_read(trial: Trial) -> str:
    """Writers replace one target over and over while readers load it."""
    kind = _KINDS[trial.number % len(_KINDS)]
    known = _known(trial, kind)
    target, done = trial.folder / "here" / kind.target, trial.folder / "done"
    target.parent.mkdir()
    kind.write(0, target)
    seeds = trial.rng.integers(2**31, size=8)
    n_writers, n_readers = int(trial.rng.integers(1, 4)), int(trial.rng.integers(1, 4))

    def write(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(12):
            kind.write(int(rng.integers(_VERSIONS)), target)

    def read(seed: int) -> None:
        rng, number = np.random.default_rng(seed), 0
        while not done.exists():
            found = kind.read(target, 0.01 * rng.random() * rng.integers(2))
            assert found in known, "a mixture of versions was read"
            number += 1
        print(number)

    readers = [Child(partial(read, int(seed))) for seed in seeds[:n_readers]]
    try:
        _assert_all_well([Child(partial(write, int(seed))) for seed in seeds[4 : 4 + n_writers]])
    finally:
        done.touch()
        ended = [reader.wait() for reader in readers]
    for ran in ended:
        assert ran.code == 0, f"a reader of a {kind.target} failed: {ran}"
    assert kind.read(target, 0.0) in known
    left = [entry.name for entry in target.parent.iterdir() if entry.name != kind.target]
    assert not left, f"left over: {left}"
    return f"{kind.target}: every load one version"


def _write_first(trial: Trial) -> str:
    """Processes write a target that does not exist yet, at the same moment."""
    kind = _KINDS[trial.number % len(_KINDS)]
    known = _known(trial, kind)
    n_writers = int(trial.rng.integers(2, 7))
    targets = [trial.folder / str(round_) / kind.target for round_ in range(8)]
    for target in targets:
        if trial.rng.random() < 0.5 or target.suffix:
            target.parent.mkdir()
    begin = time.monotonic() + 0.05

    def write(version: int) -> None:
        for round_, target in enumerate(targets):
            time.sleep(max(begin + 0.03 * round_ - time.monotonic(), 0.0))
            kind.write(version % _VERSIONS, target)

    _assert_all_well([Child(partial(write, version)) for version in range(n_writers)])
    for target in targets:
        assert kind.read(target, 0.0) in known
        left = [entry.name for entry in target.parent.iterdir() if entry.name != kind.target]
        assert not left, f"left over: {left}"
    return f"{kind.target}: all written"


# ---- Runs side by side in one temporary directory.


def _run_side_by_side(trial: Trial) -> str:
    """Commands that keep scratch folders run at once, while others are killed, and each has its own result."""
    stage = stage_of(trial)
    writers = [writer for writer in WRITERS if writer.scratch and writer.name != "scan --plot"]
    rng, tmp = trial.rng, trial.folder / "tmp"
    tmp.mkdir()
    chosen = [writers[i] for i in rng.integers(len(writers), size=4)]
    places = [stage.place(trial.folder / str(number), writer, old=False) for number, writer in enumerate(chosen)]

    def run(place: Place) -> None:
        for _ in range(3):
            ran = Child(place.write, folder=place.folder, tmp=tmp).wait()
            assert ran.code == 0, f"{place.writer.name}: {ran}"
            assert place.found() == "new"

    def killed(place: Place, seed: int) -> None:
        own = np.random.default_rng(seed)
        for _ in range(5):
            Child(place.write, folder=place.folder, tmp=tmp).wait((signal.SIGKILL, float(own.random() * 0.2)))

    bystander = stage.place(trial.folder / "killed", chosen[0], old=False)
    killer = Child(partial(killed, bystander, int(rng.integers(2**31))))
    try:
        _assert_all_well([Child(partial(run, place)) for place in places])
    finally:
        killer.wait()
    bystander.tmp.rmdir()
    bystander.tmp.symlink_to(tmp)
    bystander.run_clean()
    left = [entry.name for entry in tmp.iterdir()]
    assert not left, f"left over: {left}"
    return "each its own result"


# ---- Strangers: a folder of somebody else's appears where the result is to be.


def _renameat2(one: Path, other: Path, flags: int) -> bool:
    renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    return bool(renameat2(-100, os.fsencode(one), -100, os.fsencode(other), flags) == 0)


def _put_a_folder_in_the_way(trial: Trial) -> str:
    """Put a folder at the target at a random time, also while the system call that puts the result there is delayed."""
    stage = stage_of(trial)
    writers = [writer for writer in WRITERS if writer.writes_folder and not writer.scratch]
    writer = writers[trial.number % len(writers)]
    old = bool(trial.rng.integers(2))
    place = stage.place(trial.folder / "trial", writer, old=old)
    if writer.name not in stage.usual:
        stage.usual[writer.name] = stage.place(trial.folder / "usual", writer, old=old).run_clean().seconds
    theirs = place.folder / "theirs"
    theirs.mkdir()
    (theirs / "mine").write_text("mine", encoding="utf-8")
    delay = ["-o", "/dev/null", "-e", "trace=?rename,?renameat,renameat2"]
    delay += ["-e", "inject=?rename,?renameat,renameat2:delay_enter=100000"]
    child = place.start(strace=delay)
    time.sleep(float(trial.rng.random()) * (stage.usual[writer.name] + 0.15))
    # One step each, so that there is no doubt whether the folder was there: 2 exchanges, 1 moves where nothing is.
    placed = _renameat2(theirs, place.target, 2) if old else _renameat2(theirs, place.target, 1)
    ran = child.wait()
    mine = list(place.folder.rglob("mine"))
    assert len(mine) == 1, (
        f"{writer.name}: a folder that somebody put there {'was' if placed else 'was not'} lost: {ran}"
    )
    assert mine[0].parent in (place.target, theirs), f"{writer.name}: it was moved to {mine[0]}: {ran}"
    if ran.code == 0:
        if mine[0].parent == theirs:
            assert place.found() == "new"
    else:
        assert_one_sentence(ran, f"{writer.name}, a folder in the way")
    left = {entry.name for entry in place.folder.iterdir()} - {writer.target, "theirs"}
    assert not left, f"left over: {left}"
    return "not placed" if not placed else "refused" if ran.code else "placed before or after"


def _change_the_target_meanwhile(trial: Trial) -> str:
    """Something comes to the target while documents are read."""
    import anchorwords as aw

    stage_of(trial)
    case = ("folder", "file", "one more file", "empty folder", "link", "model")[trial.number % 6]
    target = trial.folder / "here" / "corpus"
    target.parent.mkdir()
    if case == "one more file":
        _corpus(0).save(target)

    def documents() -> Any:
        yield from ["one two three"] * 3
        if case == "folder":
            target.mkdir()
            (target / "mine").write_text("mine", encoding="utf-8")
        elif case == "file":
            target.write_text("mine", encoding="utf-8")
        elif case == "one more file":
            (target / "mine").write_text("mine", encoding="utf-8")
        elif case == "empty folder":
            target.mkdir()
        elif case == "link":
            (trial.folder / "elsewhere").mkdir()
            (trial.folder / "elsewhere" / "mine").write_text("mine", encoding="utf-8")
            target.symlink_to(trial.folder / "elsewhere")
        else:
            _model(0).save(target)
        yield from ["two three four"] * 3

    refused = False
    try:
        aw.import_corpus(documents(), target, n_jobs=1)
    except aw.exceptions.InputError:
        refused = True
    left = [entry.name for entry in target.parent.iterdir() if entry.name != "corpus"]
    assert not left, f"left over: {left}"
    if case == "empty folder":
        assert refused != (aw.open_corpus(target).n_docs == 6 if not refused else False)
    elif case == "model":
        aw.load_model(target)
    else:
        kept = target if case == "file" else target / "mine"
        assert kept.read_text(encoding="utf-8") == "mine", f"{case}: what came there meanwhile was lost"
    return "refused" if refused else "written"


# ---- Hostile temporary directories and target folders.


def _meet_hostile_entries(trial: Trial) -> str:
    """Run a writer where others have made entries that are called like ours."""
    from anchorwords.storage.writing import scratch_folder

    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    rng = trial.rng
    place = stage.place(trial.folder / "trial", writer, old=bool(rng.integers(2)))
    with scratch_folder() as folder:
        example = folder.name
    precious = trial.folder / "precious"
    precious.mkdir()
    (precious / "mine").write_text("mine", encoding="utf-8")
    precious.chmod(0o777)
    prefix = example[: example.index("partial-") + len("partial-")]
    ours = writer.scratch and bool(rng.integers(2))
    where = place.tmp if ours else place.folder
    if not ours:
        prefix = prefix.replace("anchorwords-scratch", writer.target)
    foreign = os.getuid() == 0 and bool(rng.integers(2))  # of root, met by somebody else
    made: list[tuple[Path, int]] = []
    locks = []
    for number in range(int(rng.integers(1, 6))):
        process = ("1", "4194304", str(os.getppid()), "99999999999999999999", "", "x")[rng.integers(6)]
        path = where / f"{prefix}{process}-hostile{number}"
        keep, lock = _ENTRIES[rng.integers(len(_ENTRIES))](path, precious, rng)
        if lock is not None:
            locks.append(lock)
        if keep or foreign:
            made.append((path, path.lstat().st_ino))
    if rng.random() < 0.1:
        for number in range(2000):
            (where / f"{prefix}4194304-many{number}").mkdir()
    before = len(list(precious.iterdir()))
    if foreign:
        _open_to_all(trial)
        where.chmod(0o1777)
        place.folder.chmod(0o1777)
        place.tmp.chmod(0o1777)
    ran = place.start(limits=_become_nobody if foreign else None).wait(seconds=20.0)
    for lock in locks:
        lock()
    told = f"{writer.name}, hostile entries {[path.name for path, _ in made]}, foreign {foreign}"
    if not (foreign and place.old is not None):  # the old result is root's, in a folder with the sticky bit
        assert ran.code == 0, f"{told}: {ran}"
        assert place.found() == "new", told
    for path, inode in made:
        assert os.path.lexists(path), f"removed: {path.name}; {told}"
        assert path.lstat().st_ino == inode, f"replaced: {path.name}; {told}"
    assert len(list(precious.iterdir())) == before, f"removed from elsewhere: {told}"
    return "passed over, as another user" if foreign else "passed over"


_Lock = Callable[[], object] | None


def _pipe(path: Path, precious: Path, rng: np.random.Generator) -> tuple[bool, _Lock]:
    os.mkfifo(path)
    return True, None


def _link(path: Path, precious: Path, rng: np.random.Generator) -> tuple[bool, _Lock]:
    path.symlink_to((precious, path, Path("/nonexistent"), Path("/dev/zero"))[rng.integers(4)])
    return True, None


def _file(path: Path, precious: Path, rng: np.random.Generator) -> tuple[bool, _Lock]:
    path.write_text("mine", encoding="utf-8")
    return False, None


def _socket(path: Path, precious: Path, rng: np.random.Generator) -> tuple[bool, _Lock]:
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)
    return True, None


def _folder(path: Path, precious: Path, rng: np.random.Generator) -> tuple[bool, _Lock]:
    path.mkdir(mode=(0o700, 0o755, 0o000)[rng.integers(3)])
    if os.getuid() == 0:
        (path / "link").symlink_to(precious)
        (path / "deep").mkdir()
        (path / "deep" / "mine").write_text("mine", encoding="utf-8")
    return False, None


def _locked_folder(path: Path, precious: Path, rng: np.random.Generator) -> tuple[bool, _Lock]:
    path.mkdir()
    (path / "mine").write_text("mine", encoding="utf-8")
    descriptor = os.open(path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return True, partial(os.close, descriptor)


def _device(path: Path, precious: Path, rng: np.random.Generator) -> tuple[bool, _Lock]:
    if os.getuid() != 0:
        return _pipe(path, precious, rng)
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    return True, None


_ENTRIES = (_pipe, _link, _file, _socket, _folder, _locked_folder, _device)


def _open_to_all(trial: Trial) -> None:
    for folder in (trial.folder, trial.folder / "trial", trial.shared, *trial.shared.rglob("*")):
        folder.chmod(0o755 if folder.is_dir() else 0o644)


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


AREAS: tuple[Area, ...] = (
    Area(
        "writers and readers of one target",
        "each load is one of the versions written, whole; no writer fails; nothing is left over",
        _write_and_read,
        short=4,
        limit=120.0,
        weight=3.0,
        needs=needs_fork,
    ),
    Area(
        "first writers of a target",
        "no writer fails, the target is one of the versions, and nothing is left over",
        _write_first,
        short=4,
        limit=120.0,
        weight=2.0,
        needs=needs_fork,
    ),
    Area(
        "runs side by side",
        "runs that share a temporary directory, while others are killed, have their own results; nothing is left over",
        _run_side_by_side,
        short=1,
        limit=180.0,
        weight=2.0,
        needs=needs_fork,
    ),
    Area(
        "a folder in the way",
        "a folder that somebody puts at the target during a run is not lost",
        _put_a_folder_in_the_way,
        short=7,
        limit=120.0,
        needs=needs_strace,
    ),
    Area(
        "targets changed meanwhile",
        "what comes to the target while documents are read is not lost",
        _change_the_target_meanwhile,
        short=6,
        limit=60.0,
        weight=0.2,
    ),
    Area(
        "hostile entries",
        "entries of others that are called like ours are neither removed nor waited for, and no run fails",
        _meet_hostile_entries,
        short=8,
        limit=120.0,
        needs=needs_fork,
    ),
)

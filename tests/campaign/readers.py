"""Readers of documents: what is written is read exactly, what is damaged or made to hurt is read or refused."""

from __future__ import annotations

import os
import resource
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import anchorwords as aw
from anchorwords.exceptions import AnchorwordsError
from tests.corpus.bombs import BOMBS, is_hollow
from tests.corpus.damage import changed, drawn_changes, one_sentence, sound
from tests.corpus.generated import FORMATS, Case, check_exact, some

from .campaign import Area, Trial

# Memory that reading may take beyond what the process has: of a file of some kilobytes, and of a bomb, which may be a corpus
# of up to 32 MiB of text before it is one.
# A packed file may hold 32 MiB of lines of two characters: ten million documents, each of which takes some thirty bytes.
_SMALL, _BOMB = 1 << 29, 3 << 29
# Bombs are taken so far apart, so that the few of the short form are of several kinds: a prime that is no factor.
_STRIDE = 13
_STRANGE: list[Any] = [
    None, float("nan"), pd.NA, pd.NaT, 0, -1, 1e400, 10**5000, True, b"raw", "", "\ud800", "\0", "x" * 100_000, [], [[]], {},
    {"a": 1}, set(), object(), np.float64(5), np.array([]), np.ones((2, 2)), ["a", None], ["\ud800"], [b"raw"], (1, 2),
    range(3), np.ma.masked_array(["a", "b"], [0, 1]), type, lambda: None,
]  # fmt: skip


def _peak() -> int:
    """Most memory that this process has had since :func:`_forget_peak`."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) << 10
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _forget_peak() -> None:
    with suppress(OSError):  # then the peak is that of the process, and says less
        Path("/proc/self/clear_refs").write_text("5")


def _within(limit: int, work: Callable[[], str]) -> str:
    """What comes of the work, which must not take more memory than this."""
    _forget_peak()
    before = _peak()
    outcome = work()
    taken = _peak() - before
    assert taken < limit, f"{taken >> 20} MiB were taken ({outcome})"
    return outcome


def _read(source: Any, trial: Trial, options: dict[str, Any]) -> Any:
    """Read, or import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scripts without spaces, old headers of numpy
        if trial.rng.random() < 0.5:
            return aw.import_corpus(source, trial.folder / "corpus", **options)
        return aw.read_corpus(source, **options)


def _read_or_refused(source: Any, trial: Trial, options: dict[str, Any]) -> str:
    try:
        sound(_read(source, trial, options))
    except AnchorwordsError as error:
        one_sentence(error)
        assert not (trial.folder / "corpus").exists(), "a folder was left by an import that failed"
        return "refused"
    return "read"


def _drawn(trial: Trial) -> Case:
    """A case of the format whose turn it is."""
    make = list(FORMATS.values())[trial.number % len(FORMATS)]
    return make(trial.rng, trial.folder)


# ---- What is tried.


def valid(trial: Trial) -> str:
    """Documents of any format are read as a plain count has them."""
    case = _drawn(trial)
    check_exact(_read(case.source, trial, case.options), case)
    return "read exactly"


def damaged(trial: Trial) -> str:
    """A file is changed, or replaced by a mixture of two."""
    case = _drawn(trial)
    if not case.files:
        return _within(_SMALL, lambda: _read_or_refused(_strange(trial, case), trial, case.options))
    path = some(trial.rng, case.files)
    raw = path.read_bytes()
    if trial.rng.random() < 0.2:  # the beginning of this, and the end of another format
        other = trial.folder / "other"
        other.mkdir()
        more = FORMATS[some(trial.rng, list(FORMATS)[:11])](trial.rng, other).files[0].read_bytes()
        raw = raw[: int(trial.rng.integers(0, len(raw) + 1))] + more[int(trial.rng.integers(0, len(more) + 1)) :]
    else:
        raw = changed(raw, drawn_changes(trial.rng, len(raw)))
    path.write_bytes(raw)
    return _within(_SMALL, lambda: _read_or_refused(case.source, trial, case.options))


def _strange(trial: Trial, case: Case) -> Any:
    """A frame or a list with values that are no documents."""
    values = [some(trial.rng, _STRANGE) for _ in range(trial.rng.integers(1, 4))] + ["one two", ["one", "two"]]
    rows = [values[i] for i in trial.rng.permutation(len(values))]
    if trial.rng.random() < 0.5:
        return rows
    data = {"id": range(len(rows)), "text": rows}
    try:
        frame = some(trial.rng, [pd.DataFrame, pl.DataFrame, pa.table])(data)
    except Exception:  # what the library of frames does not take
        return pd.DataFrame(data)
    case.options["id_column"] = "id"
    return frame


def changing(trial: Trial) -> str:
    """A file is cut, grows or is overwritten while it is read: what is read is the whole of it, or it is refused."""
    path = trial.folder / some(trial.rng, ["a.txt", "a.csv", "a.tsv", "a.jsonl"])
    line = {"a.jsonl": b'"some words"\n'}.get(path.name, b"some words\n")
    size = int(trial.rng.integers(500_000, 1_000_000))
    path.write_bytes((b"text\n" if path.suffix in (".csv", ".tsv") else b"") + line * size)
    how = some(trial.rng, ["cut", "grown", "overwritten"])
    when = int(trial.rng.integers(0, 20))
    calls = []

    def progress(*_: Any) -> None:
        calls.append(None)
        if len(calls) != when + 1:
            return
        if how == "cut":
            os.truncate(path, len(line) * int(trial.rng.integers(0, size)))
        elif how == "grown":
            with path.open("ab") as stream:
                stream.write(line)
        else:
            with path.open("r+b") as stream:
                stream.seek(len(line) * int(trial.rng.integers(0, size)))
                stream.write(b"other words\n")

    try:
        corpus = aw.import_corpus(path, trial.folder / "corpus", progress=progress)
    except AnchorwordsError as error:
        one_sentence(error)
        return f"{how}, refused" if "changed while it was read" in str(error) else f"{how}, refused for its content"
    assert corpus.n_docs == size
    assert corpus.vocabulary == ("some", "words")
    assert len(calls) <= when, "the change was not noticed"
    return "read before the change"


def bomb(trial: Trial) -> str:
    """A file of some kilobytes that would take gigabytes."""
    number = trial.number * _STRIDE % len(BOMBS)
    name, make, arguments = BOMBS[number]

    def fill(folder: Path) -> None:
        folder.mkdir()
        made = make(folder / "bomb", *arguments)
        (folder / "name").write_text(made.name)

    folder = trial.once(f"bomb {number}", fill)
    path = folder / (folder / "name").read_text()
    if "hole" in name and not is_hollow(path):
        return "no holes here"
    return _within(_BOMB, lambda: f"{name.split()[0]} {_read_or_refused(path, trial, {})}")


AREAS: tuple[Area, ...] = (
    Area("readers, valid", "documents in every format are read exactly", valid, short=320, weight=1.5),
    Area(
        "readers, damaged",
        f"damaged documents are read or refused in one sentence, within {_SMALL >> 20} MiB",
        damaged,
        short=480,
        weight=3.0,
    ),
    Area("readers, changing files", "a file that changes while it is read is refused", changing, short=6),
    Area("readers, size bombs", f"small files never take more than {_BOMB >> 20} MiB", bomb, short=10, limit=180.0),
)

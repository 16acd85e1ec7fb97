"""Commands under the environments that people have: locales, masks, clocks, folders, streams and switches of Python.

Each trial runs one command in a process of its own, under a few changes drawn at random, and compares what it wrote with
what the same command wrote under a plain environment: all bytes of it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import anchorwords
from anchorwords.cli.app import app

from .campaign import Area, Trial

# The arguments of a command; what starts with "@" is a file of the inputs, "OUT" what the command writes.
COMMANDS: dict[str, tuple[str, ...]] = {
    "import": ("import", "@documents.txt", "-o", "OUT", "-q"),
    "fit": ("fit", "@documents.txt", "-k", "3", "-o", "OUT", "-q"),
    "fit, from disk": ("fit", "@corpus", "-k", "3", "-o", "OUT", "-q"),
    "transform": ("transform", "@model", "@documents.txt", "-o", "OUT.csv", "-q"),
    "transform, printed": ("transform", "@model", "@documents.txt", "-q"),
    "export": ("export", "@model", "--to", "graphml", "-o", "OUT.graphml"),
    "explore": ("explore", "@model", "--corpus", "@documents.txt", "-o", "OUT.html", "-q"),
    "groups": ("groups", "@model", "@documents.txt", "--table", "@labels.csv", "--by", "label", "-o", "OUT.csv", "-q"),
    "topics": ("topics", "@model", "--json"),
    "topics, as a table": ("topics", "@model"),
    "sketch": ("sketch", "build", "@documents.txt", "-k", "3", "-o", "OUT", "-q"),
    "scan": ("scan", "@documents.txt", "-k", "2,3", "--json", "-q"),
    "help": ("fit", "--help"),
    "a mistake": ("fit", "@no-such-file.txt", "-q"),
}
# Those that print results, the same in any terminal.
PRINTED = {"transform, printed", "topics", "scan"}
PLAIN = {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC"}
# Spaces, other scripts, half a character, a line break, markup, a long name and a long path.
FOLDERS = (
    "two words", "naïve-日本語-🦁", "caf\udce9", "line\nbreak", "%s {0} [bold]", "x" * 200, "/".join(["deep" * 10] * 12),
)  # fmt: skip
# A folder in which nobody can make anything, not even root.
NOWHERE = "/proc/1/none"

START = "import sys; sys.path[:0] = {path!r}; sys.argv[0] = 'anchorwords'; from anchorwords.cli import main; main()"


@dataclass
class Run:
    """How a command is run."""

    variables: dict[str, str] = field(default_factory=lambda: dict(PLAIN))
    switches: list[str] = field(default_factory=list)
    umask: int = 0o022
    folder: str = "plain"
    current: str | None = None
    file_time: float | None = None
    closed: int | None = None
    stdout: str = "whole"
    # Names of what was changed, for the report.
    changes: list[str] = field(default_factory=list)


def _variable(name: str, *values: str | None) -> Callable[[Run, Any], None]:
    """A change of one variable of the environment; None unsets it."""

    def change(run: Run, rng: Any) -> None:
        value = values[rng.integers(len(values))]
        run.variables.pop(name, None)
        if value is not None:
            run.variables[name] = value
        run.changes.append(f"{name}={value!r}")

    return change


def _locale(run: Run, rng: Any) -> None:
    for name in ("LC_ALL", "LANG", "LC_CTYPE", "LC_NUMERIC"):
        run.variables.pop(name, None)
        value = [None, "", "C", "POSIX", "C.UTF-8", "de_DE.UTF-8", "tr_TR.ISO-8859-9", "no_such_locale"][
            rng.integers(8)
        ]
        if value is not None:
            run.variables[name] = value
            run.changes.append(f"{name}={value!r}")


def _switch(run: Run, rng: Any) -> None:
    switches = (
        ["-O"], ["-OO"], ["-I"], ["-X", "dev"], ["-W", "error"], ["-bb"], ["-u"], ["-B"], ["-X", "utf8=0"], ["-E"],
    )  # fmt: skip
    chosen = switches[rng.integers(len(switches))]
    run.switches += chosen
    run.changes.append(" ".join(chosen))


def _umask(run: Run, rng: Any) -> None:
    run.umask = (0o000, 0o002, 0o022, 0o027, 0o077)[rng.integers(5)]
    run.changes.append(f"umask {run.umask:03o}")


def _folder(run: Run, rng: Any) -> None:
    run.folder = FOLDERS[rng.integers(len(FOLDERS))]
    run.changes.append(f"folder {run.folder[:20]!r}")


def _current(run: Run, rng: Any) -> None:
    run.current = "/proc/self"
    run.changes.append("a current folder that takes no files")


def _file_time(run: Run, rng: Any) -> None:
    run.file_time = (-1e9, 0.0, 4e9, 2.0**33)[rng.integers(4)]
    run.changes.append(f"files of the time {run.file_time}")


def _closed(run: Run, rng: Any) -> None:
    run.closed = int(rng.integers(3))
    run.changes.append(f"descriptor {run.closed} closed")


def _stdout(run: Run, rng: Any) -> None:
    run.stdout = ("a pipe that closes early", "a full device")[rng.integers(2)]
    run.changes.append(f"standard output is {run.stdout}")


CHANGES: tuple[Callable[[Run, Any], None], ...] = (
    _locale,
    _switch,
    _umask,
    _folder,
    _current,
    _file_time,
    _closed,
    _stdout,
    _variable("PYTHONUTF8", "0", "1"),
    _variable("PYTHONHASHSEED", "0", "1", "4294967295", "random"),
    _variable("PYTHONIOENCODING", "ascii", "latin-1", "utf-8:strict", "utf-16"),
    _variable("TZ", None, "", "Pacific/Kiritimati", "America/St_Johns", ":no/such/zone"),
    _variable("SOURCE_DATE_EPOCH", "0", "99999999999"),
    _variable("HOME", None, "", NOWHERE, "/no/such/home"),
    _variable("XDG_CACHE_HOME", NOWHERE, ""),
    _variable("MPLCONFIGDIR", NOWHERE),
    _variable("TMPDIR", "TMP two words", "TMP naïve-日本語", ""),
    _variable("TMPDIR", NOWHERE, "/no/such/folder"),
    _variable("COLUMNS", None, "0", "1", "7", "-3", "100000", "wide"),
    _variable("TERM", None, "", "dumb", "xterm-256color", "no-such-terminal"),
    _variable("NO_COLOR", None, "", "1"),
    _variable("FORCE_COLOR", "1", "0"),
    _variable("OMP_NUM_THREADS", "", "0", "1", "2", "3,1", "-1", "many", "10000"),
    _variable("OPENBLAS_NUM_THREADS", "", "0", "1", "3", "many"),
    _variable("NUMBA_CACHE_DIR", NOWHERE),
    _variable("PYTHONWARNINGS", "error", "ignore", "no such filter"),
    _variable("PYTHONDONTWRITEBYTECODE", "1"),
    _variable("PYTHONMALLOC", "debug", "malloc"),
    _variable("PYTHONDEVMODE", "1"),
)


def _inputs(partial: Path) -> None:
    """Documents, a corpus folder and a model."""
    partial.mkdir()
    chance = random.Random(0)
    subjects = {
        "animals": "lion tiger zebra gorille girafe safari savanne prédateur troupeau jungle",
        "kitchen": "mehl butter ofen zucker rezept teig gebäck schneebesen zimt bäckerei",
        "space": "орбита ракета планета комета телескоп галактика космонавт запуск притяжение луна",
    }
    labels = [chance.choice(sorted(subjects)) for _ in range(240)]
    words = {label: text.split() for label, text in subjects.items()}
    lines = [" ".join(chance.choices(words[label], k=9) + chance.choices(words["space"], k=3)) for label in labels]
    (partial / "documents.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (partial / "labels.csv").write_text("label\n" + "\n".join(labels) + "\n", encoding="utf-8")
    for command, name in (("import", "corpus"), ("fit", "model")):
        _expect(COMMANDS[command], partial, partial, name)


def _expected(name: str, inputs: Path, folder: Path) -> None:
    folder.mkdir()
    (folder / "stdout").write_bytes(_expect(COMMANDS[name], inputs, folder))


def _expect(command: tuple[str, ...], inputs: Path, folder: Path, name: str = "out") -> bytes:
    """Run a command in this process, which is faster, under the environment that the campaign has."""
    done = CliRunner().invoke(app, [os.fsdecode(word) for word in _arguments(command, inputs, folder, name)])
    assert done.exit_code == (0 if command != COMMANDS["a mistake"] else 1), done.output
    return done.stdout_bytes


def _arguments(command: tuple[str, ...], inputs: Path, folder: Path, name: str) -> list[bytes]:
    places = {"@": lambda word: inputs / word[1:], "O": lambda word: folder / word.replace("OUT", name)}
    return [os.fsencode(places[word[0]](word) if word[0] in places else word) for word in command]


def _call(command: tuple[str, ...], run: Run, inputs: Path, folder: Path, name: str = "out") -> Any:
    """Run a command with its output in a folder."""
    arguments = _arguments(command, inputs, folder, name)
    # Not by PYTHONPATH, which -I and -E ignore.
    path = [str(Path(anchorwords.__file__).parents[1])]
    whole = [sys.executable, *run.switches, "-c", START.format(path=path), *arguments]
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    variables = kept | {"HOME": str(folder), "TMPDIR": str(folder)} | run.variables
    if "HOME" not in run.variables and any(change.startswith("HOME=") for change in run.changes):
        del variables["HOME"]

    def before() -> None:
        if run.closed is not None:
            os.close(run.closed)

    stdout: Any = subprocess.PIPE
    if run.stdout == "a full device":
        stdout = os.open("/dev/full", os.O_WRONLY)
    elif run.stdout == "a pipe that closes early":
        reading, stdout = os.pipe()
        os.close(reading)
    try:
        return subprocess.run(
            whole, env=variables, cwd=run.current or folder, umask=run.umask, preexec_fn=before, stdin=subprocess.DEVNULL,
            stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=100,
        )  # fmt: skip
    finally:
        if isinstance(stdout, int) and stdout > 2:
            os.close(stdout)


def _draw(trial: Trial) -> Run:
    """A run with one to four changes; the first goes through all of them in order."""
    run = Run()
    CHANGES[trial.number % len(CHANGES)](run, trial.rng)
    for i in trial.rng.permutation(len(CHANGES))[: trial.rng.integers(4)]:
        CHANGES[i](run, trial.rng)
    return run


def _environment(trial: Trial) -> str:
    inputs = trial.once("inputs", _inputs)
    name = sorted(COMMANDS)[trial.rng.integers(len(COMMANDS))]
    run = _draw(trial)
    folder = trial.folder / run.folder
    folder.mkdir(parents=True)
    given = folder / "given"
    _link(inputs, given, run.file_time)
    if str(run.variables.get("TMPDIR", "")).startswith("TMP"):
        run.variables["TMPDIR"] = str(folder / run.variables["TMPDIR"])
        os.mkdir(run.variables["TMPDIR"])
    elsewhere = folder / "written"
    elsewhere.mkdir()
    done = _call(COMMANDS[name], run, given, elsewhere)
    about = f"{name}: {'; '.join(run.changes)}: exit code {done.returncode}\n{done.stderr.decode('utf-8', 'replace')}"
    assert b"Traceback" not in done.stderr, about
    assert b"Exception ignored" not in done.stderr, about
    assert done.returncode in (0, 1, 2), about
    expected = trial.once(f"expected {name}", lambda folder: _expected(name, inputs, folder))
    _same_or_nothing(name, run, done, expected, elsewhere, about)
    return "the same result" if done.returncode == 0 else "refused"


def _link(inputs: Path, given: Path, time: float | None) -> None:
    """The inputs under another path, and of another time."""
    given.mkdir()
    for path in inputs.rglob("*"):
        relative = path.relative_to(inputs)
        if path.is_dir():
            (given / relative).mkdir()
        else:
            (given / relative).write_bytes(path.read_bytes())
            if time is not None:
                os.utime(given / relative, (time, time))


def _same_or_nothing(name: str, run: Run, done: Any, expected: Path, written: Path, about: str) -> None:
    wanted = _files(expected)
    stdout = wanted.pop("stdout")
    found = {path: content for path, content in _files(written).items() if path.split("/")[0].split(".")[0] == "out"}
    if done.returncode != 0:
        # One sentence, or what click says of the usage; nothing half-written.
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        assert name == "a mistake" or run.stdout != "whole" or run.closed is not None or len(lines) == 1, about
        assert not found or found == wanted, f"{about}\nsomething was left: {sorted(found)}"
        return
    assert name != "a mistake", about
    assert found.keys() == wanted.keys(), f"{about}\nwritten: {sorted(found)}"
    different = [path for path in wanted if found[path] != wanted[path]]
    assert not different, f"{about}\nother bytes: {different}"
    if name in PRINTED and run.stdout == "whole" and run.closed != 1 and "PYTHONIOENCODING" not in run.variables:
        assert _words(done.stdout) == _words(stdout), f"{about}\nprinted {done.stdout[:300]!r}"
    for path in written.rglob("out*"):
        allowed = (0o777 if path.is_dir() else 0o666) & ~run.umask
        assert path.stat().st_mode & 0o777 == allowed, f"{about}\n{path.name} has mode {path.stat().st_mode & 0o777:o}"


def _words(printed: bytes) -> list[bytes]:
    """Letters that an encoding does not have are question marks."""
    return [word for word in printed.split() if word.isascii() and b"?" not in word and b"\\u" not in word]


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "TMP" not in path.as_posix()
    }


def _not_posix() -> str | None:
    return (
        None if os.name == "posix" and Path("/dev/full").exists() else "needs a POSIX system with /dev/full and /proc"
    )


AREAS: tuple[Area, ...] = (
    Area(
        "environment",
        "Under any locale, mask, clock, folder, stream or switch of Python: the same bytes, or one sentence.",
        _environment,
        short=5,
        limit=180.0,
        needs=_not_posix,
    ),
)

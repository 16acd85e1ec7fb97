"""Everything that writes: each command and each Python call, with small inputs and the results that it must give.

Variants 1 and 2 of an input give different results, so that the old one and the new one can be told apart.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .calls import Call
from .campaign import Trial
from .forked import Child, Ran

Content = dict[str, bytes] | bytes | None


@dataclass(frozen=True)
class Writer:
    """A command or a call that writes.

    Parameters
    ----------
    name : str
    target : str
        How what is written is called; a name without a suffix is a folder.
    run : callable
        Given the inputs, the number of the variant and the target, runs it.
    scratch : bool
        Whether it keeps something in the directory for temporary files while it runs.
    """

    name: str
    target: str
    run: Callable[[Path, int, Path], object]
    scratch: bool = False

    @property
    def writes_folder(self) -> bool:
        """Whether what it writes is a folder."""
        return not Path(self.target).suffix


class Command:
    """A command line, run in this process."""

    def __init__(self, *words: str, option: str = "-o") -> None:
        self._words, self._option = words, option

    def __call__(self, inputs: Path, variant: int, target: Path) -> None:
        run_command(*self.words(inputs, variant), self._option, str(target))

    def words(self, inputs: Path, variant: int) -> list[str]:
        """The words of the command, without the target; ``@name`` is an input."""
        return [f"{inputs}/{word[1:]}".replace("#", str(variant)) if word[0] == "@" else word for word in self._words]

    def line(self, inputs: Path, variant: int, target: Path) -> list[str]:
        """The command, for a new process."""
        return [sys.executable, "-m", "anchorwords", *self.words(inputs, variant), self._option, str(target)]


def run_command(*words: str) -> None:
    """Run the command line in this process, as the console script does."""
    from anchorwords.cli import main

    sys.argv = ["anchorwords", *words]
    main()


def _reported(call: Callable[[Path, int, Path], object]) -> Callable[[Path, int, Path], object]:
    """A Python call as a program: errors that it may raise are one sentence, all others a traceback."""

    def run(inputs: Path, variant: int, target: Path) -> None:
        from anchorwords.exceptions import AnchorwordsError

        try:
            call(inputs, variant, target)
        except (AnchorwordsError, OSError, MemoryError) as error:
            # Without rich, which needs memory that may not be there.
            os.write(2, f"error: {type(error).__name__}: {' '.join(str(error).split())}\n".encode())
            sys.exit(1)
        except KeyboardInterrupt:
            os.write(2, b"interrupted\n")
            sys.exit(130)

    return run


def _save_model(inputs: Path, variant: int, target: Path) -> None:
    import anchorwords as aw

    aw.load_model(inputs / f"model-{variant}").save(target)


def _save_corpus(inputs: Path, variant: int, target: Path) -> None:
    import anchorwords as aw

    aw.read_corpus(inputs / f"docs-{variant}.txt").save(target)


def _import_again(inputs: Path, variant: int, target: Path) -> None:
    import anchorwords as aw

    aw.import_corpus(inputs / f"corpus-{variant}", target)


def _save_sketch(inputs: Path, variant: int, target: Path) -> None:
    import anchorwords as aw

    aw.load_sketch(inputs / f"sketch-{variant}").save(target)


_QUIET = ("--jobs", "1", "-q")
_FIT = ("--topics", "3", "--min-df", "1", *_QUIET)
_LABELS = ("--table", "@labels.csv", "--by", "label")
_YEARS = ("--table", "@labels.csv", "--by", "year")
_COLUMNS = (
    "--text-column", "text", "--columns", "day,score", "--list-column", "tags=;", "--title-column", "heading",
)  # fmt: skip
_LDAVIS = ("--to", "pyldavis", *_QUIET)
_SCAN = ("-k", "2,3", "--min-df", "1", *_QUIET)
_TRANSFORM = ("transform", "@model-#", "@many.txt", *_QUIET)
WRITERS: tuple[Writer, ...] = (
    Writer("import", "corpus", Command("import", "@docs-#.txt", *_QUIET)),
    Writer("import columns", "corpus", Command("import", "@table-#.csv", *_COLUMNS, *_QUIET)),
    Writer("fit text", "model", Command("fit", "@docs-#.txt", *_FIT), scratch=True),
    Writer("transform .npy", "topics.npy", Command(*_TRANSFORM), scratch=True),
    Writer("model.save", "model", _reported(_save_model)),
    Writer("sketch build", "sketch", Command("sketch", "build", "@docs-#.txt", "-k", "3", *_QUIET), scratch=True),
    Writer("explore", "page.html", Command("explore", "@model-#", "--corpus", "@docs-2.txt", *_QUIET), scratch=True),
    Writer("transform .csv", "topics.csv", Command(*_TRANSFORM), scratch=True),
    Writer("corpus.save", "corpus", _reported(_save_corpus)),
    Writer("groups", "groups.csv", Command("groups", "@model-#", "@docs-2.txt", *_LABELS, *_QUIET), scratch=True),
    Writer("trends", "trends.csv", Command("trends", "@model-#", "@docs-2.txt", *_YEARS, *_QUIET), scratch=True),
    Writer("export graphml", "graph.graphml", Command("export", "@model-#", "--to", "graphml", "-q")),
    Writer("transform .npz", "topics.npz", Command(*_TRANSFORM), scratch=True),
    Writer("sketch merge", "sketch", Command("sketch", "merge", "@sketch-#", "@sketch-2")),
    Writer("sketch.save", "sketch", _reported(_save_sketch)),
    Writer("fit corpus", "model", Command("fit", "@corpus-#", *_FIT), scratch=True),
    Writer("transform .parquet", "topics.parquet", Command(*_TRANSFORM), scratch=True),
    Writer("fit sketch", "model", Command("fit", "@sketch-#", "--topics", "3", *_QUIET)),
    Writer("export pyldavis", "ldavis.json", Command("export", "@model-#", "@docs-2.txt", *_LDAVIS), scratch=True),
    Writer("sketch subtract", "sketch", Command("sketch", "subtract", "@whole-#", "@linear-2")),
    Writer("explore --json", "page.json", Command("explore", "@model-#", "--json", *_QUIET)),
    Writer("transform .jsonl", "topics.jsonl", Command(*_TRANSFORM), scratch=True),
    Writer("transform .tsv", "topics.tsv", Command(*_TRANSFORM), scratch=True),
    Writer("export gensim", "topics.txt", Command("export", "@model-#", "--to", "gensim", "-q")),
    Writer("export gexf", "graph.gexf", Command("export", "@model-#", "--to", "gexf", "-q")),
    Writer("import a corpus", "corpus", _reported(_import_again)),
    Writer("scan --plot", "scan.svg", Command("scan", "@docs-#.txt", *_SCAN, option="--plot"), scratch=True),
)  # fmt: skip


def make_inputs(folder: Path) -> None:
    """Documents, corpora, sketches and models of two variants."""
    folder.mkdir()
    words = [f"{first}{rest}" for first in "bdfgklmnprst" for rest in ("ana", "elo", "iro", "osu")]
    for variant in (1, 2):
        rng = np.random.default_rng(variant)
        topics = rng.dirichlet(np.full(len(words), 0.1), size=3)
        weights = rng.dirichlet(np.full(3, 0.3), size=80)
        lines = [" ".join(rng.choice(words, size=20, p=w @ topics / (w @ topics).sum())) for w in weights]
        (folder / f"docs-{variant}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        rows = [f"{line},{2000 + i}-01-0{1 + i % 9},{i / 4},a;{i % 3},Text {i}" for i, line in enumerate(lines)]
        (folder / f"table-{variant}.csv").write_text(
            "\n".join(["text,day,score,tags,heading", *rows]), encoding="utf-8"
        )
        made = folder / f"docs-{variant}.txt"
        run_quietly("import", str(made), "-o", str(folder / f"corpus-{variant}"), *_QUIET)
        run_quietly("fit", str(made), *_FIT, "-o", str(folder / f"model-{variant}"))
        for name, method in (("sketch", "incremental"), ("linear", "linear")):
            options = ("--method", method, "--topics", "3", *_QUIET)
            run_quietly("sketch", "build", str(made), *options, "-o", str(folder / f"{name}-{variant}"))
    # Results of several pages: a disk may be full in the midst of them.
    (folder / "many.txt").write_text(
        "\n".join(" ".join(row) for row in rng.choice(words, size=(1500, 4))) + "\n", encoding="utf-8"
    )
    labels = [f"{'early' if i % 2 == 0 else 'late'},{2000 + i % 8}" for i in range(80)]
    (folder / "labels.csv").write_text("\n".join(["label,year", *labels]) + "\n", encoding="utf-8")
    for variant in (1, 2):
        parts = [str(folder / f"linear-{part}") for part in (variant, 2)]
        run_quietly("sketch", "merge", *parts, "-o", str(folder / f"whole-{variant}"))


def run_quietly(*words: str) -> None:
    """Run a command in this process; RuntimeError if it fails."""
    with quietly():
        run_command(*words)


@contextmanager
def quietly() -> Iterator[io.StringIO]:
    """Run a command in this process without a word, unless it fails; the worker's settings stay as they are."""
    printed, argv, show = io.StringIO(), sys.argv, warnings.showwarning
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            yield printed
    except SystemExit as stop:
        if stop.code:
            raise RuntimeError(f"a clean run failed with exit code {stop.code}:\n{printed.getvalue()}") from None
    finally:
        sys.argv, warnings.showwarning = argv, show


def content_of(path: Path) -> Content:
    """The bytes of a file or of each file of a folder, None if there is nothing; of an archive those of its members."""
    if path.is_dir():
        return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if not file.is_dir()}
    if not path.exists():
        return None
    if path.suffix == ".npz" and zipfile.is_zipfile(path):  # which notes the time
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    return path.read_bytes()


@dataclass
class Stage:
    """Inputs and expected results, made once per worker, and a place for a trial."""

    inputs: Path
    results: Path

    def __post_init__(self) -> None:
        self._expected: dict[tuple[str, int], Content] = {}
        self.usual: dict[str, float] = {}
        self.calls: dict[tuple[str, bool], list[Call]] = {}

    def expected(self, writer: Writer, variant: int) -> Content:
        """What a clean run gives; the first one is run in this process, which compiles what it needs."""
        key = (writer.name, variant)
        if key not in self._expected:
            target = self.result(writer, variant)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                with quietly():
                    writer.run(self.inputs, variant, target)
            self._expected[key] = content_of(target)
            assert self._expected[key] is not None, f"{writer.name} wrote nothing"
        return self._expected[key]

    def result(self, writer: Writer, variant: int) -> Path:
        """Where the result of a clean run lies."""
        return self.results / f"{writer.name}-{variant}".replace(" ", "-") / writer.target

    def place(self, folder: Path, writer: Writer, *, old: bool) -> Place:
        """A folder for a trial of a writer, with an old result or without."""
        expected = [self.expected(writer, variant) for variant in (1, 2)]
        place = Place(self, writer, folder / "here", folder / "tmp", expected[0] if old else None, expected[1])
        for made in (place.folder, place.tmp):
            made.mkdir(parents=True, exist_ok=True)
        if old:
            copy(self.result(writer, 1), place.target)
        return place


_STAGES: dict[Path, Stage] = {}


def stage_of(trial: Trial) -> Stage:
    """The stage of this worker."""
    if trial.shared not in _STAGES:
        inputs = trial.once("inputs", make_inputs)
        (trial.shared / "results").mkdir(exist_ok=True)
        _STAGES[trial.shared] = Stage(inputs, trial.shared / "results")
    return _STAGES[trial.shared]


def copy(source: Path, target: Path) -> None:
    """Copy a file, or a folder of files."""
    if not source.is_dir():
        target.write_bytes(source.read_bytes())
        return
    target.mkdir()
    for file in source.iterdir():
        (target / file.name).write_bytes(file.read_bytes())


@dataclass
class Place:
    """Where a trial writes, and what may be found there afterwards."""

    stage: Stage
    writer: Writer
    folder: Path
    tmp: Path
    old: Content
    new: Content

    @property
    def target(self) -> Path:
        """What is written."""
        return self.folder / self.writer.target

    def start(self, **options: Any) -> Child:
        """Start the writer in a child."""
        return Child(self.write, folder=self.folder, tmp=self.tmp, **options)

    def write(self) -> None:
        """Run the writer, in this process."""
        self.writer.run(self.stage.inputs, 2, self.target)

    def found(self) -> str:
        """What is at the target: AssertionError unless it is the old result or the new one, bit for bit."""
        found = content_of(self.target)
        if found == self.new:
            return "new"
        if found == self.old:
            return "old"
        raise AssertionError(
            f"{self.writer.name}: the target is neither the old result nor the new one: {_told(found)}"
        )

    def left_over(self) -> list[str]:
        """Entries that do not belong in the target's folder or in the directory for temporary files."""
        here = [entry.name for entry in self.folder.iterdir() if entry.name != self.writer.target]
        return here + [f"tmp: {entry.name}" for entry in self.tmp.iterdir()]

    def assert_clean(self, after: str) -> None:
        """AssertionError if anything is left over."""
        left = self.left_over()
        assert not left, f"{self.writer.name}: left over after {after}: {left}"

    def take_what_was_saved_elsewhere(self, ran: Ran) -> None:
        """Remove a result that a failed run has saved in another place, as it says; AssertionError if it is not whole."""
        if (match := re.search(r"was saved in (\S+) instead", ran.err)) is not None:
            elsewhere = Path(match[1])
            # Python's own choice is the second one: that of a directory in which there is no room for a single byte.
            assert elsewhere.parent in (self.tmp, Path(tempfile.gettempdir())), f"saved in {elsewhere}: {ran}"
            assert content_of(elsewhere) == self.new, f"what was saved elsewhere is not whole: {ran}"
            shutil.rmtree(elsewhere)

    def run_clean(self) -> Ran:
        """Run once more, undisturbed; AssertionError unless the result is right and nothing is left over."""
        ran = self.start().wait()
        assert ran.code == 0, f"{self.writer.name}: the next run failed: {ran}"
        assert self.found() == "new"
        self.assert_clean("the next clean run")
        return ran


def assert_one_sentence(ran: Ran, what: str) -> None:
    """AssertionError unless a failed run ended with one error message and no traceback."""
    assert ran.code in (1, 2), f"{what}: {ran}"
    assert "Traceback" not in ran.err, f"{what}: {ran}"
    lines = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1 or (ran.code == 2 and "Error" in ran.err), f"{what}: {ran}"


def _told(content: Content) -> str:
    if content is None:
        return "nothing"
    if isinstance(content, bytes):
        return f"a file of {len(content)} bytes"
    return "a folder of " + ", ".join(f"{name} ({len(raw)} bytes)" for name, raw in content.items())
